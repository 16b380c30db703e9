use crate::contiguous::reference::machine;
use proptest::prelude::*;
use replay_contract::Bench;
use replay_engine::allocator::submesh::volume;
use replay_engine::allocator::{Census, MachineEvent, Refusal, Request, RunSetup};
use replay_engine::machine::Machine;

fn request(sides: [u16; 3]) -> Request {
    Request::shaped(volume(sides) as u32, Some(sides))
}

/// First Fit counts the processors that the published loops touch.
#[test]
fn first_fit_counts_operations() {
    let mut machine = Machine::new("3x3".parse().expect("a mesh"));
    let spec = super::allocator("first-fit").expect("a published procedure");
    let mut allocator = spec.build(machine.topology(), 0).expect("a mesh");
    let mut chosen = Vec::new();
    allocator.allocate(&machine, request([2, 2, 1]), &mut chosen).expect("all is free");
    machine.occupy(&chosen);
    // The nine operations are one base, four processors of its frame, and four marked processors.
    assert_eq!(allocator.stats().census.expect("units").operations, 9);
    let refused = allocator.allocate(&machine, request([2, 2, 1]), &mut Vec::new());
    assert_eq!(refused, Err(Refusal::Fragmented));
    // There are nine bases. Five of the nine bases are free; the frames at these bases are cut to 2, 2, 2, 2 and 1
    // processors.
    assert_eq!(allocator.stats().census.expect("units").operations, 9 + 9 + 9);
    machine.release(&chosen);
    allocator.on_event(&machine, MachineEvent::Released(&chosen));
    assert_eq!(allocator.stats().census.expect("units").operations, 9 + 9 + 9 + 9);
    allocator.begin(&RunSetup::default()).expect("it works");
    assert_eq!(allocator.stats().census, Some(Census::default()));
}

proptest! {
    #[test]
    fn first_fit_chooses_as_the_strategy_does(
        topology in proptest::sample::select(vec!["6x6", "7x5", "12x9", "3x4x5", "5x5x2"]),
        busy in proptest::collection::vec(proptest::bool::weighted(0.3), 128),
        sides in proptest::array::uniform3(1u16..5),
        turn: bool,
        size in 1u32..40,
    ) {
        let name = if turn { "turning-first-fit" } else { "first-fit" };
        let machine = machine(topology, &busy);
        let flat = machine.topology().grid().expect("a grid").dimensions() == 2;
        let sides = if flat { [sides[0], sides[1], 1] } else { sides };
        let specs = [crate::allocator(name), super::allocator(name)];
        let choices = specs.map(|spec| {
            let spec = spec.expect("a strategy");
            [request(sides), Request::of_size(size)].map(|request| {
                let allocator = spec.build(machine.topology(), 0).expect("a mesh");
                Bench::boxed(machine.clone(), allocator).start(request)
            })
        });
        prop_assert_eq!(&choices[0], &choices[1]);
    }
}
