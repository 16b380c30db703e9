//! The entry point of simulations selects replay or coupled simulation.

use replay_engine::allocator::Allocator;
use replay_engine::cancel::CancelToken;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::outages::Window;
use replay_engine::simulation::{
    Decision, Observer, Outages, RunTimes, Simulation, Starts, Timeline,
};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{Job, JobId};

/// Records events until a given number of jobs have started.
#[derive(Default)]
struct Record {
    limit: usize,
    is_scheduled: bool,
    starts: Vec<(JobId, i64)>,
    ends: Vec<(JobId, i64)>,
}

impl Observer for Record {
    fn scheduled(&mut self, _: &Timeline) {
        self.is_scheduled = true;
    }

    fn is_done(&self) -> bool {
        self.starts.len() >= self.limit
    }

    fn started(&mut self, Decision { job, now, .. }: Decision<'_>) {
        self.starts.push((job, now));
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.ends.push((job, now));
    }
}

fn run(simulation: Simulation<'_>, allocator: &mut dyn Allocator, limit: usize) -> Record {
    let mut fcfs = SchedulerSpec::fcfs().build(16);
    let mut record = Record { limit, ..Record::default() };
    let starts = Starts::Scheduler(fcfs.as_mut());
    simulation.run(starts, allocator, &mut record).expect("a successful run");
    record
}

#[test]
fn a_run_selects_replay_or_coupling_and_ends_when_its_observer_is_done() {
    let jobs =
        [Job::exact(0, 10, 12), Job::exact(1, 5, 8), Job::exact(2, 5, 4), Job::exact(3, 1, 4)];
    let (topology, stop): (Topology, _) = ("4x4".parse().expect("a mesh"), CancelToken::new());
    let windows = vec![Window { from: 90, until: None, nodes: vec![NodeId(3)] }];
    let outages = Outages { windows, ..Outages::NONE };
    let mut service = RunTimes::default();
    let plain = || Simulation::new(&jobs, &topology, &stop);
    for (allocator, simulation, is_coupled) in [
        ("mc1x1", plain(), false),
        ("mc1x1", plain().with_every_event(), true),
        ("mc1x1", plain().with_outages(&outages), true),
        ("mc1x1", plain().with_service(&mut service), true),
        ("hilbert-best-fit", plain(), false),
        // The runs with these two strategies are coupled: `first-fit` may refuse jobs, and `mbs` allocates whole
        // units.
        ("first-fit", plain(), true),
        ("mbs", plain(), true),
    ] {
        let spec = replay_strategies::allocator(allocator).expect("a strategy");
        let mut built = spec.build(&topology, 0).expect("a supported machine");
        assert_eq!(simulation.is_coupled(built.as_ref()), is_coupled, "{allocator}");
        let record = run(simulation, built.as_mut(), 9);
        assert_eq!(record.is_scheduled, !is_coupled, "{allocator}");
        let starts = [(0, 0), (1, 10), (2, 10), (3, 10)].map(|(job, at)| (JobId(job), at));
        let ends = [(0, 10), (3, 11), (1, 15), (2, 15)].map(|(job, at)| (JobId(job), at));
        assert_eq!((&record.starts[..], &record.ends[..]), (&starts[..], &ends[..]));
        let first = run(plain(), built.as_mut(), 2);
        assert_eq!((&first.starts[..], &first.ends[..]), (&starts[..2], &ends[..1]));
    }
}
