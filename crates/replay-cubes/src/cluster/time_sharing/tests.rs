use crate::cluster::time_sharing::*;
use crate::elmer::{Elmer, HostSelection, Pick};
use proptest::prelude::*;
use replay_engine::allocator::{Allocator, Refusal, Request};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Decision, Observer, RunTimes, Simulation, Starts};
use replay_engine::topology::Topology;

#[derive(Default)]
struct Log {
    starts: Vec<(u32, i64, Vec<u32>)>,
    ends: Vec<(u32, i64)>,
}

impl Observer for Log {
    fn started(&mut self, Decision { job, now, nodes, .. }: Decision<'_>) {
        self.starts.push((job.0, now, nodes.iter().map(|node| node.0).collect()));
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.ends.push((job.0, now));
    }
}

fn run(
    machine: &str,
    jobs: &[Job],
    allocator: &mut dyn Allocator,
    service: Option<&mut dyn Service>,
) -> Log {
    let topology: Topology = machine.parse().expect("a cluster");
    let stop = CancelToken::new();
    let mut scheduler = SchedulerSpec::fcfs().build(topology.processors() as u32);
    let mut log = Log::default();
    let cluster = topology.cluster().expect("a cluster");
    let mut own = TimeSharing::new(cluster, Sharing::PLAIN, &[]);
    let simulation = Simulation::new(jobs, &topology, &stop);
    let simulation = simulation.with_service(service.unwrap_or(&mut own));
    let starts = Starts::Scheduler(scheduler.as_mut());
    simulation.run(starts, allocator, &mut log).expect("all jobs fit");
    log
}

fn elmer(machine: &str, guarded: bool) -> Elmer {
    let topology: Topology = machine.parse().expect("a cluster");
    let selection = HostSelection { threshold: None, guarded, pick: Pick::Lowest };
    Elmer::new(topology.cluster().expect("a cluster"), selection, Hosts::PLAIN, 0)
}

/// Returns the service of a cluster on which starts and ends have costs, in ticks of a millisecond.
fn with_costs(hosts: u32, levels: u32) -> TimeSharing<'static> {
    let sharing = Sharing {
        hosts: Hosts { costs: true, ..Hosts::PLAIN },
        ticks_per_second: 1000.0,
        ..Sharing::PLAIN
    };
    TimeSharing::new(Cluster::new(hosts, levels).expect("small"), sharing, &[])
}

/// Returns jobs that request 4, 3, 2, 4 and 1 of six hosts, in this order.
fn vector() -> Vec<Job> {
    vec![
        Job::exact(0, 100, 4),
        Job::exact(1, 200, 3),
        Job::exact(2, 300, 2),
        Job::exact(3, 400, 4),
        Job::exact(4, 500, 1),
    ]
}

#[test]
fn jobs_move_up_when_one_ends_and_the_head_of_the_queue_starts() {
    let log = run("cluster:6x2", &vector(), &mut elmer("cluster:6x2", false), None);
    let starts: Vec<_> =
        log.starts.iter().map(|(job, now, hosts)| (*job, *now, &hosts[..])).collect();
    assert_eq!(
        starts[..4],
        [
            (0, 0, &[0, 1, 2, 3][..]),
            (1, 1, &[0, 1, 2]),
            (2, 2, &[4, 5]),
            // The fourth job blocks the fifth, although the fifth job would fit.
            (3, 100, &[0, 1, 2, 3]),
        ]
    );
    // The fifth job gets the slot above the fourth job. It is a flaw of the literal algorithm that
    // the fifth job gets the slot above the fourth job.
    assert_eq!(starts[4], (4, 100, &[3][..]));
    // The second job gets no processor time while it is below the first job; from tick 100 on, it
    // runs for 200 ticks. The fourth job then waits for the second job on hosts 0 to 2 until 300,
    // and for the fifth job on host 3 until 600.
    assert_eq!(log.ends, [(0, 100), (1, 300), (2, 302), (4, 600), (3, 1000)]);
}

#[test]
fn the_guard_keeps_the_fifth_job_below_the_fourth() {
    let log = run("cluster:6x2", &vector(), &mut elmer("cluster:6x2", true), None);
    let ends: Vec<_> = log.ends.iter().map(|&(job, _)| job).collect();
    let place = |job: u32| log.starts.iter().find(|start| start.0 == job).expect("a start");
    // Hosts 4 and 5 are idle.
    assert_eq!(place(1).2, [4, 5, 0]);
    assert_eq!(place(2).2, [1, 2]);
    assert!(
        ends.iter().position(|&job| job == 3) < ends.iter().position(|&job| job == 4),
        "{ends:?}"
    );
}

#[test]
fn start_and_end_costs_delay_work_and_release() {
    let mut service = with_costs(6, 1);
    let jobs = [Job::exact(0, 1000, 6), Job::exact(0, 1000, 1)];
    let log = run("cluster:6", &jobs, &mut elmer("cluster:6", true), Some(&mut service));
    // The first job takes 103 ms to start, 1 s to run and 57 ms to end. The second job takes 59 ms
    // to start, 1 s to run and 13 ms to end.
    assert_eq!(log.ends, [(0, 1160), (1, 1160 + 1072)]);
}

#[test]
fn a_starting_job_uses_no_processor() {
    let mut service = with_costs(1, 2);
    let jobs = [Job::exact(0, 100, 1), Job::exact(0, 100, 1)];
    let log = run("cluster:1x2", &jobs, &mut elmer("cluster:1x2", true), Some(&mut service));
    // Both jobs are ready at 59, but the slot of the second job is below the slot of the first job.
    // The first job stops computing at 159, and its slot becomes free at 59 + 100 + 13.
    assert_eq!(log.ends, [(0, 172), (1, 159 + 100 + 13)]);
}

#[test]
fn version_2_avoids_busy_hosts() {
    let selection = HostSelection { threshold: Some(0.8), guarded: true, pick: Pick::Lowest };
    let cluster = Cluster::new(2, 2).expect("small");
    let mut allocator = Elmer::new(cluster, selection, Hosts::PLAIN, 0);
    let half = Application::Even { demand: 0.5 };
    let applications = [Application::BUSY, half, Application::BUSY, Application::BUSY];
    let mut service = TimeSharing::new(cluster, Sharing::PLAIN, &applications);
    let jobs =
        [Job::exact(0, 100, 1), Job::exact(0, 100, 1), Job::exact(1, 10, 1), Job::exact(2, 10, 1)];
    let log = run("cluster:2x2", &jobs, &mut allocator, Some(&mut service));
    // The second job uses half of the processor of host 1. The third job shares host 1 and uses the
    // other half of the processor, so the job takes 20 ticks. The fourth job waits for the third
    // job.
    let hosts: Vec<_> = log.starts.iter().map(|(job, now, hosts)| (*job, *now, hosts[0])).collect();
    assert_eq!(hosts, [(0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 21, 1)]);
    assert_eq!(log.ends, [(2, 21), (3, 41), (0, 100), (1, 100)]);
}

/// Space sharing: hosts have one slot each, and are assigned in scan order.
struct SpaceSharing;

impl Allocator for SpaceSharing {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        if request.size as usize > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        chosen.extend(machine.free_nodes().take(request.size as usize));
        Ok(())
    }
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    proptest::collection::vec((0..8i64, 0..40i64, 1..=6u32), 1..40).prop_map(|jobs| {
        let mut now = 0;
        jobs.into_iter()
            .map(|(gap, time, size)| {
                now += gap;
                Job::exact(now, time, size)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn one_level_equals_space_sharing(jobs in jobs()) {
        let shared = run("cluster:6", &jobs, &mut elmer("cluster:6", true), None);
        let plain = run("cluster:6", &jobs, &mut SpaceSharing, Some(&mut RunTimes::default()));
        prop_assert_eq!(shared.ends, plain.ends);
    }

    /// With a guard, jobs that arrive later do not delay earlier jobs, for any number of levels.
    #[test]
    fn later_jobs_do_not_delay_earlier_jobs(jobs in jobs(), levels in 2..4u32, cut in 1..20usize) {
        let machine = format!("cluster:6x{levels}");
        let all = run(&machine, &jobs, &mut elmer(&machine, true), None);
        let early = &jobs[..cut.min(jobs.len())];
        let some = run(&machine, early, &mut elmer(&machine, true), None);
        for end in &some.ends {
            prop_assert!(all.ends.contains(end), "{:?} {:?}", end, all.ends);
        }
    }
}
