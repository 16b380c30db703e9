//! A strategy outside the project joins the strategies of the project with one call.

use proptest::prelude::*;

use replay_contract::{Bench, history};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, Refusal, Request, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::registries::Registries;
use replay_engine::topology::{NodeId, Topology};
use replay_strategies::standard;

/// Allocates the first processors in a row that begin at a multiple of `step`.
#[derive(Clone, PartialEq)]
struct Stride {
    step: u32,
}

impl Allocator for Stride {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        require_free(machine, request.size.into())?;
        let end = machine.processors() as u32;
        let mut rows = (0..end)
            .step_by(self.step as usize)
            .filter(|first| first + request.size <= end)
            .map(|first| (first..first + request.size).map(NodeId));
        let free = rows.find(|row| row.clone().all(|node| machine.is_free(node)));
        chosen.extend(free.ok_or(Refusal::Fragmented)?);
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { refusals_last: true, supports_outages: true, ..Capabilities::coupled() }
    }
}

impl AllocatorOptions for Stride {
    fn build(&self, _machine: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(self.clone()))
    }
}

/// Returns the strategies of the project and `stride`, which is added after the decorators.
fn registries() -> Registries {
    let stride = Entry::new("stride", Stride { step: 1 })
        .about("The first free processors in a row.")
        .param("step", kind::integer(1..=8), "distance between first processors", |s| &mut s.step);
    let table = Table::new("allocator", [stride]);
    standard().clone().with_allocators(|all| all.with(table, AllocatorSpec::parse))
}

fn canonical(text: &str) -> Result<String, String> {
    let spec = registries().allocators.read(text);
    spec.map(|spec| spec.to_string()).map_err(|error| error.to_string())
}

#[test]
fn one_call_adds_a_strategy_to_lists_hints_and_decorators() {
    let all = registries().allocators;
    assert!(all.names().eq(standard().allocators.names().chain(["stride"])));
    assert_eq!(canonical("STRIDE[step=1]").as_deref(), Ok("stride"));
    assert_eq!(canonical("rsr[inner=stride]").as_deref(), Ok("rsr[inner=stride]"));
    let nested = "limit[k=3,inner=stride[step=4]]";
    assert_eq!(canonical(nested).as_deref(), Ok(nested));
    assert!(canonical("strid").expect_err("misspelled").contains("did you mean \"stride\"?"));
    let inner = canonical("rsr[inner=strid]").expect_err("misspelled");
    assert!(inner.contains("did you mean \"stride\"?"), "{inner}");
    assert!(canonical("rsr[inner=stride[step=9]]").is_err());
    // The strategies of the project alone do not know the name.
    assert!(replay_strategies::allocator("rsr[inner=stride]").is_err());
}

/// Processors 2 to 4 of twelve are busy: a job of eight processors is folded to four.
#[test]
fn a_decorator_folds_the_jobs_of_an_added_strategy() {
    let topology: Topology = "4x3".parse().expect("a mesh");
    let start = |name: &str| {
        let spec = registries().allocators.read(name).expect("a strategy");
        let allocator = spec.build(&topology, 0).expect("a supported machine");
        let mut machine = Machine::new(topology.clone());
        let busy: Vec<NodeId> = (2..5).map(NodeId).collect();
        machine.occupy(&busy);
        Bench::boxed(machine, allocator).named(name).start(Request::of_size(8))
    };
    assert_eq!(start("stride"), Err(Refusal::Fragmented));
    assert_eq!(start("rsr[inner=stride]"), Ok((5..9).map(NodeId).collect()));
}

proptest! {
    /// The added strategy keeps the contract, alone and in decorators.
    #[test]
    fn an_added_strategy_keeps_the_contract(
        name in proptest::sample::select(vec![
            "stride", "stride[step=2]", "rsr[inner=stride]", "greedy-limit[inner=stride[step=2]]", "limit[k=2,inner=stride]",
        ]),
        history in history(1..60),
    ) {
        let topology: Topology = "6x4".parse().expect("a mesh");
        let spec = registries().allocators.read(name).expect("a strategy");
        let allocator = spec.build(&topology, 0).expect("a supported machine");
        let mut bench = Bench::boxed(Machine::new(topology), allocator).named(name);
        bench.run(&history, |_, a, _| Request::of_size(1 + (24.0 * a * a) as u32), |_| ());
        bench.gets_whole(None);
    }
}
