//! No text may break the grammar of any name, and what parses must print and parse again to
//! the same thing.

#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use replay_core::allocator::centre::{Slack, TieRule, TieVector};
use replay_core::allocator::registry::AllocatorSpec;
use replay_experiment::grid::Values;
use replay_experiment::search::{Candidate, Constraint, Objective, Range};
use replay_experiment::sweep::{CellId, Shard};
use replay_core::naming::{StrategyName, split_list};
use replay_network::Settings;
use replay_network::traffic::{Mapping, Pattern, Quota};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::topology::Topology;
use replay_core::workload::stochastic::{Arrivals, Interval, Service, Sides};
use replay_core::workload::{Policy, Start};

/// Parses, prints, parses and prints.
fn round<T: FromStr<Err: Debug + Display> + Display>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let printed = value.to_string();
            let again: T = printed.parse().expect("canonical names parse");
            assert_eq!(again.to_string(), printed);
        }
        // An error can be said, and not at greater length than what it is about.
        Err(error) => assert!(error.to_string().len() < 4096 + 4 * text.len()),
    }
}

fuzz_target!(|text: &str| {
    for part in split_list(text).into_iter().chain([text]) {
        round::<StrategyName>(part);
        round::<AllocatorSpec>(part);
        round::<SchedulerSpec>(part);
        round::<Topology>(part);
        round::<Settings>(part);
        round::<Pattern>(part);
        round::<Quota>(part);
        round::<Mapping>(part);
        round::<Sides>(part);
        round::<Interval>(part);
        round::<Service>(part);
        round::<Arrivals>(part);
        round::<TieVector>(part);
        round::<TieRule>(part);
        round::<Slack>(part);
        round::<Candidate>(part);
        round::<Objective>(part);
        round::<Constraint>(part);
        round::<Range>(part);
        round::<Shard>(part);
        round::<CellId>(part);
        let _ = part.parse::<Start>();
        let _ = Policy::by_name(part);
        let _ = Values::listed(part).integers::<u64>();
        let _ = Values::listed(part).texts();
    }
});
