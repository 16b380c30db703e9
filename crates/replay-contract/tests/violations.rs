//! The bench names every violation of the contract.

use std::panic::{AssertUnwindSafe, catch_unwind};

use replay_contract::{Bench, Reference};
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, Stats,
};
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    ChoosesBusy,
    ChoosesTwice,
    ChoosesTooFew,
    ChoosesMore,
    RefusesWithNodes,
    RefusesUndeclared,
    RefusesOnce,
    ExceedsBounds,
    ServesUnservable,
    MiscountsUnits,
    LosesUnits,
}

/// Allocates the first free processors, with one fault.
struct Faulty {
    fault: Fault,
    calls: u32,
    census: Census,
}

impl Allocator for Faulty {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.calls += 1;
        let size = request.size as usize;
        if size > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        let refuses_once = self.fault == Fault::RefusesOnce && self.calls.is_multiple_of(2);
        if refuses_once || self.fault == Fault::RefusesUndeclared {
            return Err(Refusal::Fragmented);
        }
        chosen.extend(machine.free_nodes().take(size));
        match self.fault {
            Fault::ChoosesBusy => chosen[0] = NodeId(0),
            Fault::ChoosesTwice => chosen[0] = chosen[1],
            Fault::ChoosesTooFew => chosen.truncate(1),
            Fault::ChoosesMore => chosen.extend(machine.free_nodes().nth(size)),
            Fault::RefusesWithNodes => return Err(Refusal::Fragmented),
            _ => {}
        }
        self.census.add_job(1);
        self.census.busy_list += u32::from(self.fault == Fault::MiscountsUnits);
        Ok(())
    }

    fn on_event(&mut self, _: &Machine, event: MachineEvent<'_>) {
        if self.fault != Fault::LosesUnits && matches!(event, MachineEvent::Released(_)) {
            self.census.busy_list -= 1;
        }
    }

    fn capabilities(&self) -> Capabilities {
        match self.fault {
            Fault::RefusesWithNodes | Fault::RefusesOnce => Capabilities::coupled(),
            _ => Capabilities::default(),
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        match self.fault {
            Fault::ExceedsBounds => Bounds { max_processors: 1, ..Bounds::exact(request) },
            Fault::ServesUnservable => Bounds { servable: false, ..Bounds::exact(request) },
            _ => Bounds::exact(request),
        }
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }
}

fn faulty(fault: Fault) -> Faulty {
    Faulty { fault, calls: 0, census: Census::default() }
}

fn bench(fault: Fault) -> Bench<Faulty> {
    Bench::new(Machine::new("4x4".parse().expect("a mesh")), faulty(fault)).named("faulty")
}

/// Returns the message of the panic of `run`; `None` if it does not panic.
fn message(run: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
}

#[test]
fn every_violation_is_named() {
    for (fault, expected) in [
        (Fault::None, None),
        (Fault::ChoosesBusy, Some("is not free")),
        (Fault::ChoosesTwice, Some("chosen twice")),
        (Fault::ChoosesTooFew, Some("only 1 processors")),
        (Fault::ChoosesMore, Some("rounds up")),
        (Fault::RefusesWithNodes, Some("a refused request gets processors")),
        (Fault::RefusesUndeclared, Some("Fragmented")),
        (Fault::RefusesOnce, Some("repeated")),
        (Fault::ExceedsBounds, Some("exceed")),
        (Fault::ServesUnservable, Some("not servable")),
        (Fault::MiscountsUnits, Some("busy list")),
        (Fault::LosesUnits, Some("busy list after an end")),
    ] {
        let found = message(|| {
            let mut bench = bench(fault);
            let first = bench.serve(Request::of_size(3));
            let _ = bench.start(Request::of_size(2));
            assert_eq!(bench.start(Request::of_size(12)), Err(Refusal::TooFewFree));
            bench.end(&first);
            bench.gets_whole(None);
        });
        let is_named = match (&found, expected) {
            (Some(found), Some(expected)) => found.contains(expected) && found.contains("faulty"),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(is_named, "{fault:?}: {found:?}, but expected {expected:?}");
    }
}

#[test]
fn a_different_choice_or_reason_is_named() {
    let last = |machine: &Machine, request: Request| -> Option<Vec<NodeId>> {
        let mut free: Vec<NodeId> = machine.free_nodes().collect();
        free.reverse();
        free.get(..request.size as usize).map(<[NodeId]>::to_vec)
    };
    let start = |size| {
        message(|| {
            let _ = bench(Fault::None).with_oracle(last).start(Request::of_size(size));
        })
    };
    assert!(start(3).is_some_and(|message| message.contains("but expected Nodes")));
    assert_eq!(start(17), None);
    let mut bench = bench(Fault::None).with_oracle(Reference(faulty(Fault::RefusesUndeclared)));
    assert_eq!(bench.start(Request::of_size(17)), Err(Refusal::TooFewFree));
    let found = message(|| drop(bench.start(Request::of_size(1))));
    assert!(found.is_some_and(|message| message.contains("but expected Refused")));
}
