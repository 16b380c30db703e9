//! Any strategy, any small machine and any jobs: allocated processors are free, distinct, and at least as many
//! as requested.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use replay_engine::allocator::{Capabilities, MachineEvent, Refusal, Request, RunSetup};
use replay_engine::machine::Machine;
use replay_engine::naming::StrategyName;
use replay_engine::topology::Topology;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    strategy: u8,
    parameters: &'a str,
    torus: bool,
    sides: [u8; 3],
    seed: u64,
    count_ties: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Arrive { size: u8, shape: Option<[u8; 3]> },
    End { which: u8 },
    Reset,
}

/// Number of processors of the largest machine, which is enough for levels and midplanes.
const MOST: usize = 1024;

fn machine(input: &Input<'_>) -> Option<Topology> {
    let sides: Vec<String> = input.sides.iter().map(|&s| (s % 33).to_string()).collect();
    let sides = sides.iter().take_while(|side| *side != "0").cloned().collect::<Vec<_>>();
    let kind = if input.torus { "torus:" } else { "" };
    let name = match &sides[..] {
        [one] => format!("hypercube:{one}"),
        sides => format!("{kind}{}", sides.join("x")),
    };
    // The number of nodes is known before memory is allocated.
    name.parse().ok().filter(|machine: &Topology| machine.processors() <= MOST)
}

fuzz_target!(|input: Input<'_>| {
    let Some(topology) = machine(&input) else { return };
    let all = replay_strategies::standard().allocators.descriptions();
    let name = &all[usize::from(input.strategy) % all.len()].name;
    let Ok(spec) = replay_strategies::allocator(&format!("{name}{}", input.parameters)) else { return };
    // Strategies that replay recorded placements need a log.
    if spec.recorded() {
        return;
    }
    // Greedy strategies are slow on large machines.
    if spec.to_string().contains("greedy") && topology.processors() > 64 {
        return;
    }
    let Ok(mut allocator) = spec.build(&topology, input.seed) else { return };
    let setup = RunSetup { count_ties: input.count_ties, ..RunSetup::default() };
    allocator.begin(&setup).expect("the allocator can begin a run");
    let Capabilities { keeps_schedule, folds, .. } = allocator.capabilities();
    let mut machine = Machine::new(topology);
    let mut held: Vec<Vec<_>> = Vec::new();
    for step in input.steps.iter().take(200) {
        match *step {
            Step::Arrive { size, shape } => {
                let mut request = Request::of_size(1 + u32::from(size));
                if let Some(shape) = shape {
                    request.shape = Some(shape.map(|side| 1 + u16::from(side % 16)));
                    request.size = request.shape.iter().flatten().map(|&s| u32::from(s)).product();
                }
                if request.size as usize > machine.processors() {
                    continue;
                }
                let mut chosen = Vec::new();
                match allocator.allocate(&machine, request, &mut chosen) {
                    Ok(()) => {
                        assert!(folds || chosen.len() >= request.size as usize);
                        assert!(chosen.iter().all(|&node| machine.is_free(node)));
                        let mut distinct = chosen.clone();
                        distinct.sort_unstable();
                        distinct.dedup();
                        assert_eq!(distinct.len(), chosen.len());
                        machine.occupy(&chosen);
                        held.push(chosen);
                    }
                    Err(refusal) => {
                        assert!(chosen.is_empty());
                        let few = machine.free_count() < request.size as usize;
                        assert!(few || !keeps_schedule, "{spec}: {refusal}");
                        assert!(!few || refusal == Refusal::TooFewFree, "{spec}: {refusal}");
                    }
                }
            }
            Step::End { .. } if held.is_empty() => {}
            Step::End { which } => {
                let nodes = held.swap_remove(usize::from(which) % held.len());
                machine.release(&nodes);
                allocator.on_event(&machine, MachineEvent::Released(&nodes));
            }
            Step::Reset => {
                machine = Machine::new(machine.topology().clone());
                held.clear();
                allocator.begin(&setup).expect("the allocator can begin a run");
            }
        }
    }
    // A name without parameters is a name.
    let _ = spec.name().to_string().parse::<StrategyName>().expect("a name");
});
