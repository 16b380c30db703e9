//! Tests of jobs on their network: the packets that are sent, their times, and the totals of jobs.

mod barriers;
mod jobs;
mod order;

use std::sync::Arc;

use super::*;
use crate::{Port, Settings};
use replay_engine::topology::{NodeId, Topology};

fn machine(text: &str) -> Topology {
    text.parse().expect("a machine")
}

fn demand(pattern: &str, quota: Quota) -> Demand {
    let program = Program::load(pattern.parse().expect("a pattern")).expect("no file");
    Demand { program: Arc::new(program), quota, seed: 1 }
}

fn nodes(range: std::ops::Range<u32>) -> Vec<NodeId> {
    range.map(NodeId).collect()
}

fn traffic(machine_text: &str, settings: Settings) -> Traffic {
    let options = TrafficOptions::default();
    Traffic::new(&machine(machine_text), settings, options).expect("a preset")
}

/// Runs until all jobs have ended. Returns the jobs in the order of their ends.
fn finish(traffic: &mut Traffic) -> Vec<JobTraffic> {
    let (mut all, mut ended) = (Vec::new(), Vec::new());
    while let Some(cycle) = traffic.advance(None, &mut ended).expect("no deadlock") {
        assert!(ended.iter().all(|job| job.end == cycle));
        all.append(&mut ended);
    }
    assert_eq!((traffic.running(), traffic.network().in_flight()), (0, 0));
    all
}
