//! No text may break the grammar of strategies or machines, and what parses must print
//! and parse again to the same thing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use replay::allocator::registry::AllocatorSpec;
use replay::naming::{StrategyName, split_list};
use replay::scheduler::registry::SchedulerSpec;
use replay::topology::Topology;

fuzz_target!(|text: &str| {
    for part in split_list(text) {
        if let Ok(name) = part.parse::<StrategyName>() {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        if let Ok(spec) = part.parse::<AllocatorSpec>() {
            let again: AllocatorSpec = spec.to_string().parse().expect("canonical names parse");
            assert_eq!(again.to_string(), spec.to_string());
        }
        if let Ok(spec) = part.parse::<SchedulerSpec>() {
            assert_eq!(spec.to_string().parse(), Ok(spec));
        }
        if let Ok(topology) = part.parse::<Topology>() {
            assert_eq!(topology.to_string().parse(), Ok(topology));
        }
    }
});
