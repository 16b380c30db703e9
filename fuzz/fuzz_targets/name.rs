//! Any text as every kind of name: no panic, and a name that parses prints to a name that parses to the same value.

#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use replay_engine::allocator::ties::{Slack, TieRule, TieVector};
use replay_experiment::grid::Values;
use replay_experiment::search::{Candidate, Constraint, Objective, Range};
use replay_experiment::sweep::{CellId, Shard};
use replay_engine::naming::{StrategyName, split_list};
use replay_network::Settings;
use replay_network::traffic::{Mapping, Pattern, Quota};
use replay_engine::topology::Topology;
use replay_engine::workload::stochastic::{Arrivals, Interval, Service, Sides};
use replay_engine::workload::{Policy, Start};

/// Parses a text, prints the value, parses this again, and compares both printed values.
fn round_trip<T: FromStr<Err: Debug + Display> + Display>(text: &str) {
    round_trip_by(text, str::parse::<T>);
}

fn round_trip_by<T: Display, E: Debug + Display>(text: &str, parse: impl Fn(&str) -> Result<T, E>) {
    match parse(text) {
        Ok(value) => {
            let printed = value.to_string();
            let again = parse(&printed).expect("canonical names parse");
            assert_eq!(again.to_string(), printed);
        }
        // Messages have a limited length, because they quote at most the text.
        Err(error) => assert!(error.to_string().len() < 4096 + 4 * text.len()),
    }
}

fuzz_target!(|text: &str| {
    for part in split_list(text).into_iter().chain([text]) {
        round_trip::<StrategyName>(part);
        round_trip_by(part, replay_strategies::allocator);
        round_trip_by(part, replay_strategies::scheduler);
        round_trip::<Topology>(part);
        round_trip::<Settings>(part);
        round_trip::<Pattern>(part);
        round_trip::<Quota>(part);
        round_trip::<Mapping>(part);
        round_trip::<Sides>(part);
        round_trip::<Interval>(part);
        round_trip::<Service>(part);
        round_trip::<Arrivals>(part);
        round_trip::<TieVector>(part);
        round_trip::<TieRule>(part);
        round_trip::<Slack>(part);
        round_trip::<Candidate>(part);
        round_trip::<Objective>(part);
        round_trip::<Constraint>(part);
        round_trip::<Range>(part);
        round_trip::<Shard>(part);
        round_trip::<CellId>(part);
        let _ = part.parse::<Start>();
        let _ = Policy::by_name(part);
        let _ = Values::listed(part).integers::<u64>();
        let _ = Values::listed(part).texts();
    }
});
