use std::sync::Arc;

use super::*;
use crate::experiment::contention::Messages;
use crate::experiment::contention::isolate;
use crate::network::Settings;
use crate::network::traffic::{Demand, Preset, Program, Quota, Traffic, TrafficOptions};
use crate::stop::Stop;
use crate::topology::Topology;

fn job(submit: i64, run: i64, size: u32) -> Job {
    Job { number: 0, submit, run, estimate: run, size, line: 0, shape: None }
}

fn run(machine: &str, jobs: &[Job], stop: bool) -> Result<TraceRun, TraceError> {
    let topology = machine.parse().expect("a machine");
    let messages = Messages::new(Preset::Lo, "n-body".parse().expect("a pattern")).expect("fine");
    let (flag, topology, messages) = (Stop::new(), &topology, &messages);
    let watch = Watch::new(&flag);
    let stage = Stage { jobs, topology, messages, watch };
    let isolation = isolate(stage, 1.0, 0)?;
    if stop {
        flag.raise();
    }
    let allocator = "first-fit".parse().expect("an allocator");
    run_trace(stage, &isolation, &SchedulerSpec::fcfs(), &allocator, 0)
}

/// Jobs of one processor hold it for their run time, so that others wait as in the trace.
#[test]
fn jobs_that_send_nothing_take_their_time() {
    let jobs = [job(0, 700, 1), job(0, 400, 1), job(0, 5000, 4), job(10, 50, 1)];
    let run = run("2x2", &jobs, false).expect("it runs");
    let times = |i: usize| (run.jobs[i].wait, run.jobs[i].service, run.jobs[i].packets);
    assert_eq!((times(0), times(1)), ((0, 700, 0), (0, 400, 0)));
    // The machine is free at 700; the last job waits for all of it.
    assert_eq!(run.jobs[2].wait, 700);
    assert_eq!((run.jobs[2].service, run.jobs[2].stretch()), (run.jobs[2].isolated, Some(1.0)));
    assert_eq!(times(3), (690 + run.jobs[2].service, 50, 0));
    assert_eq!(run.jobs[0].stretch(), None);
}

#[test]
fn a_raised_flag_ends_a_run() {
    let error = run("4x4", &[job(0, 90_000, 9)], true).expect_err("interrupted");
    assert!(matches!(error, TraceError::Stopped(_)), "{error}");
}

/// A packet one way round a ring goes by either virtual channel; a link is one link.
#[test]
fn the_lanes_of_a_link_are_one_link() {
    let share = |machine: &str| {
        let topology: Topology = machine.parse().expect("a machine");
        let options = TrafficOptions::default();
        let mut traffic = Traffic::new(&topology, Settings::BANI_MOHAMMAD, options).expect("fine");
        let program = Program::load("one-to-all".parse().expect("a pattern")).expect("no file");
        let demand = Demand { program: Arc::new(program), quota: Quota::fixed(1), seed: 0 };
        traffic.start(0, &[NodeId(1), NodeId(2)], &demand).expect("nodes");
        traffic.advance(None, &mut Vec::new()).expect("no deadlock");
        link_use(traffic.network(), 5).iter().sum::<f64>()
    };
    // One link of two to neighbours, on the mesh as on the torus.
    assert!(share("5x1") > 0.0);
    assert_eq!(share("5x1"), share("torus:5x1"));
}
