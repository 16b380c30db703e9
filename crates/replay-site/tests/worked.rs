//! Small replays whose starts and plans are known: one rule of the main loop or of the backfill each.
//!
//! Jobs are (submission, nodes, limit in minutes, priority) and run for their limit; numbers of jobs begin with 1.

use replay_engine::topology::NodeId;
use replay_site::job::SiteJob;
use replay_site::node_set::NodeSet;
use replay_site::reason::{LimitReason, Reason};
use replay_site::replay::{LimitRule, Replay};
use replay_site::scheduler::{Controller, JobState, StartedBy};
use replay_site::site::{Partition, Site};
use replay_site::tres::Tres;

const MAIN: StartedBy = StartedBy::Main;
const BACKFILL: StartedBy = StartedBy::Backfill;

fn job(number: i64, submit: i64, nodes: u32, minutes: u32, priority: u32) -> SiteJob {
    SiteJob {
        number,
        submit,
        eligible: submit,
        run: i64::from(minutes) * 60,
        nodes,
        cpus: None,
        limit: Some(minutes),
        estimate: None,
        association: 0,
        qos: 0,
        partitions: vec![0],
        nice: 0,
        priority: Some(priority),
    }
}

fn jobs(all: &[(i64, u32, u32, u32)]) -> Vec<SiteJob> {
    let numbered = (1..).zip(all);
    numbered
        .map(|(number, &(at, nodes, limit, priority))| job(number, at, nodes, limit, priority))
        .collect()
}

/// A machine of `nodes` nodes with one partition.
fn site(nodes: usize) -> Site {
    Site::of_machine(nodes, None)
}

/// Returns the states of the jobs after the instant `until`.
fn states(site: &Site, jobs: &[SiteJob], until: i64) -> Vec<JobState> {
    let mut replay = Replay::new(site, jobs, LimitRule::Kill).expect("a replay");
    while replay.next_instant().is_some_and(|at| at <= until) {
        replay.step();
    }
    replay.controller().states().to_vec()
}

/// Returns the start of each job, with its nodes and the loop.
fn starts(site: &Site, jobs: &[SiteJob]) -> Vec<(i64, String, StartedBy)> {
    let states = states(site, jobs, i64::MAX);
    let start = |state: JobState| {
        let start = state.start.expect("a start");
        (start.at, start.nodes.ranges(), start.by)
    };
    states.into_iter().map(start).collect()
}

fn instants(site: &Site, jobs: &[SiteJob]) -> Vec<i64> {
    starts(site, jobs).into_iter().map(|(at, ..)| at).collect()
}

/// Returns the planned start of a job, and the nodes that the plan reserves.
fn planned(state: &JobState) -> Option<(i64, Option<String>)> {
    let planned = state.planned.as_ref()?;
    Some((planned.at, planned.nodes.as_ref().map(NodeSet::ranges)))
}

fn reserved(at: i64, nodes: &str) -> Option<(i64, Option<String>)> {
    Some((at, Some(nodes.to_string())))
}

#[test]
fn the_main_loop_never_backfills() {
    let jobs = jobs(&[(0, 3, 100, 9), (10, 4, 60, 8), (10, 1, 60, 7)]);
    let starts = starts(&site(4), &jobs);
    assert_eq!(starts[2], (30, "3".to_string(), BACKFILL));
    assert_eq!([starts[0].0, starts[1].0], [0, 6000]);
}

#[test]
fn a_plan_is_not_a_promise() {
    let jobs = jobs(&[(0, 3, 100, 5), (10, 4, 60, 4), (500, 4, 60, 9)]);
    let site = site(4);
    assert_eq!(planned(&states(&site, &jobs, 499)[1]), reserved(6000, "0-3"));
    assert_eq!(instants(&site, &jobs), [0, 9600, 6000]);
    // The second job waits for nodes until the third arrives, for the start of the third, and for its nodes.
    let waits = states(&site, &jobs, i64::MAX)[1].waits;
    assert_eq!(waits, [490 + 3600, 5500, 0, 0]);
}

#[test]
fn every_planned_job_is_protected() {
    let with_limit =
        |limit| jobs(&[(0, 2, 100, 9), (10, 3, 60, 8), (10, 4, 60, 7), (10, 1, limit, 6)]);
    assert_eq!(instants(&site(4), &with_limit(300)), [0, 6000, 9600, 13_200]);
    let starts = starts(&site(4), &with_limit(150));
    assert_eq!(starts[3], (30, "3".to_string(), BACKFILL));
}

#[test]
fn ends_within_a_span_are_seen_together() {
    let jobs = jobs(&[(0, 2, 11, 9), (10, 2, 10, 8), (20, 2, 60, 5), (20, 2, 9, 4)]);
    let states = states(&site(4), &jobs, 59);
    assert_eq!(planned(&states[2]), reserved(660, "0-1"));
    assert_eq!(planned(&states[3]), reserved(660, "2-3"));
}

/// A machine of 4 nodes with a partition of all nodes and a partition of nodes 0 and 1 with a higher tier.
fn two_partitions() -> Site {
    let mut site = site(4);
    let nodes = NodeSet::of(4, [NodeId(0), NodeId(1)]);
    site.partitions.push(Partition { tier: 2, ..Partition::new("pb", nodes, &site.cpus) });
    site
}

#[test]
fn a_blocked_partition_closes_its_nodes_to_others() {
    let site = two_partitions();
    let mut all = jobs(&[(0, 1, 100, 5), (20, 2, 60, 1), (20, 1, 60, 900), (20, 2, 60, 800)]);
    all[1].partitions = vec![1];
    let state = states(&site, &all, 59);
    let start = |at: usize| state[at].start.as_ref().map(|s| (s.at, s.nodes.ranges(), s.by));
    assert_eq!(start(2), Some((20, "2".to_string(), MAIN)));
    assert_eq!(start(3), Some((30, "1,3".to_string(), BACKFILL)));
    assert_eq!(planned(&state[1]), reserved(6000, "0-1"));

    let mut all = jobs(&[(0, 1, 100, 5), (20, 2, 60, 1), (20, 3, 60, 900), (20, 1, 60, 800)]);
    all[1].partitions = vec![1];
    let state = states(&site, &all, 59);
    let start = |at: usize| state[at].start.as_ref().map(|s| (s.at, s.nodes.ranges(), s.by));
    assert_eq!(start(2), Some((30, "1-3".to_string(), BACKFILL)));
    assert_eq!(planned(&state[3]), reserved(3660, "2"));
}

#[test]
fn reservations_are_lost_by_priority_and_window() {
    let all = jobs(&[(0, 2, 100, 500), (20, 4, 60, 400), (20, 2, 300, 300)]);
    let state = states(&site(4), &all, 59);
    assert_eq!(planned(&state[1]), reserved(6000, "0-3"));
    assert_eq!(planned(&state[2]).map(|(at, _)| at), Some(9600));

    let mut low = site(4);
    low.scheduler.min_priority = 500;
    let state = states(&low, &all, 59);
    let start = state[2].start.as_ref().map(|s| (s.at, s.nodes.ranges(), s.by));
    assert_eq!(start, Some((20, "2-3".to_string(), MAIN)));
    assert_eq!(planned(&state[1]), None);

    let mut short = site(4);
    short.scheduler.window = 60;
    let state = states(&short, &all, 59);
    let start = state[2].start.as_ref().map(|s| (s.nodes.ranges(), s.by));
    assert_eq!(start, Some(("2-3".to_string(), BACKFILL)));
    assert_eq!(planned(&state[1]), Some((6000, None)));
}

#[test]
fn the_resolution_rounds_reservations() {
    let all = |first: i64| {
        let mut all = jobs(&[(0, 1, 60, 10), (20, 2, 60, 9), (20, 1, 59, 8), (20, 1, 58, 7)]);
        // The first job ends by its limit at 3590.
        (all[0].submit, all[0].eligible) = (first, first);
        all
    };
    let mut site = site(2);
    let state = states(&site, &all(-10), 59);
    assert_eq!(state[3].start.as_ref().map(|s| s.by), Some(BACKFILL));
    assert_eq!(planned(&state[2]).map(|(at, _)| at), Some(7200));
    site.scheduler.resolution = 1;
    let state = states(&site, &all(-10), 59);
    assert_eq!(state[2].start.as_ref().map(|s| s.by), Some(BACKFILL));
    assert_eq!(planned(&state[3]).map(|(at, _)| at), Some(7190));
}

#[test]
fn a_job_held_by_a_limit_does_not_block() {
    let mut site = site(4);
    site.enforces_limits = true;
    let mut qos = site.qos[0].clone();
    qos.name = "q".to_string();
    qos.max_tres_pu = Tres { node: Some(3), cpu: None };
    site.qos.push(qos);
    let mut all = jobs(&[(0, 2, 100, 10), (20, 4, 60, 9), (20, 2, 300, 8)]);
    all[1].qos = 1;
    let state = states(&site, &all, i64::MAX);
    let start = state[2].start.as_ref().map(|s| (s.at, s.nodes.ranges(), s.by));
    assert_eq!(start, Some((20, "2-3".to_string(), MAIN)));
    assert_eq!(state[1].start, None);
    assert_eq!(state[1].reason, Reason::Limit(LimitReason::QosMaxNodePerUser));
}

#[test]
fn the_number_of_slots_ends_a_pass() {
    let mut site = site(4);
    site.scheduler.test = 2;
    let all = jobs(&[(0, 2, 100, 10), (20, 4, 60, 9), (20, 4, 60, 8), (20, 1, 10, 7)]);
    let state = states(&site, &all, 59);
    assert_eq!(planned(&state[1]), reserved(6000, "0-3"));
    assert_eq!(planned(&state[2]), Some((9600, None)));
    assert_eq!((planned(&state[3]), &state[3].start), (None, &None));
}

#[test]
fn a_user_at_the_limit_blocks_with_a_plan_on_the_own_nodes() {
    // The second job of the user waits for the nodes of the first: the limit after placement does not count these nodes
    // once, so the job has the reason Resources and blocks its partition.
    let mut site = site(4);
    site.enforces_limits = true;
    site.qos[0].max_tres_pu = Tres { node: Some(3), cpu: None };
    let all = jobs(&[(0, 3, 100, 10), (20, 3, 60, 9)]);
    let state = states(&site, &all, 25);
    assert_eq!(state[1].reason, Reason::Limit(LimitReason::QosMaxNodePerUser));
    let starts = instants(&site, &all);
    assert_eq!(starts, [0, 6000]);
}

#[test]
fn a_controller_begins_with_running_jobs() {
    // The plan of `ends_within_a_span_are_seen_together`, from the state at its begin.
    let jobs = jobs(&[(0, 2, 11, 9), (10, 2, 10, 8), (20, 2, 60, 5), (20, 2, 9, 4), (0, 2, 5, 1)]);
    let site = site(4);
    let mut controller = Controller::new(&site, &jobs, 20).expect("a controller");
    let nodes = |all: [u32; 2]| NodeSet::of(4, all.map(NodeId));
    assert_eq!(controller.resume(0, 0, 0, nodes([0, 1])), Ok(()));
    assert_eq!(controller.resume(1, 10, 0, nodes([2, 3])), Ok(()));
    let taken = controller.resume(4, 10, 0, nodes([1, 2]));
    assert_eq!(taken, Err("job 5 runs on a node that another job holds".to_string()));
    assert!(controller.resume(0, 0, 0, nodes([0, 1])).is_err());
    assert!(controller.arrive(2) && controller.arrive(3));
    assert_eq!(controller.main_pass(50, true).started, [0; 0]);
    assert_eq!(controller.backfill_pass(50).started, [0; 0]);
    assert_eq!(planned(&controller.states()[2]), reserved(660, "0-1"));
    assert_eq!(planned(&controller.states()[3]), reserved(660, "2-3"));
    controller.set_priority(3, 6);
    controller.backfill_pass(50);
    assert_eq!(planned(&controller.states()[3]), reserved(660, "0-1"));
    controller.end(0, 60);
    assert_eq!((controller.main_pass(60, true).started, controller.running()), (vec![3], 2));
}
