use super::*;
use crate::cancel::Cancelled;
use crate::registries::Registries;
use crate::scheduler::registry::SchedulerSpec;
use proptest::prelude::*;

fn job(submit: i64, run: i64, estimate: i64, size: u32) -> Job {
    Job { estimate, ..Job::exact(submit, run, size) }
}

fn starts(scheduler: &str, processors: u32, jobs: &[Job]) -> Vec<i64> {
    let spec = Registries::new().schedulers.read(scheduler).expect("known");
    let timeline =
        Timeline::compute(jobs, processors, spec.build(processors).as_mut(), &CancelToken::new());
    timeline.expect("schedulable").starts().to_vec()
}

#[test]
fn fcfs_does_not_overtake_and_easy_does() {
    // The second job must wait for the first; the third fits alongside the first.
    let jobs = [job(0, 10, 10, 3), job(1, 10, 10, 4), job(2, 5, 5, 1)];
    assert_eq!(starts("fcfs", 4, &jobs), [0, 10, 20]);
    assert_eq!(starts("easy", 4, &jobs), [0, 10, 2]);
    assert_eq!(starts("conservative", 4, &jobs), [0, 10, 2]);
}

/// Jobs exceed their estimates. A reservation becomes due before its processors are free and waits
/// for a completion. Job 2 starts at time 22, when its reservation is due, although no other event
/// occurs at this time.
#[test]
fn a_slipped_reservation_does_not_delay_others() {
    let jobs = [job(0, 31, 4, 2), job(0, 7, 30, 1), job(2, 29, 9, 2), job(2, 9, 9, 3)];
    assert_eq!(starts("conservative", 4, &jobs)[2], 22);
}

#[test]
fn easy_may_delay_the_second_job_and_conservative_does_not() {
    // Job 3 is backfilled because it fits alongside the head at the head's shadow time. Job 3
    // delays job 2.
    let jobs = [job(0, 10, 10, 2), job(0, 10, 10, 3), job(0, 10, 10, 4), job(0, 100, 100, 1)];
    assert_eq!(starts("easy", 4, &jobs), [0, 10, 100, 0]);
    assert_eq!(starts("conservative", 4, &jobs), [0, 10, 20, 30]);
}

#[test]
fn completions_come_before_arrivals_and_arrivals_before_the_round() {
    // At time 10, the machine becomes free, and both jobs that arrive at this time compete for it.
    let jobs = [job(0, 10, 10, 4), job(10, 5, 5, 1), job(10, 5, 5, 4)];
    assert_eq!(starts("largest", 4, &jobs), [0, 15, 10]);
}

#[test]
fn a_job_of_run_time_0_frees_its_processors_immediately() {
    let jobs = [job(0, 0, 0, 4), job(0, 7, 7, 4)];
    assert_eq!(starts("fcfs", 4, &jobs), [0, 0]);
    let timeline =
        Timeline::compute(&jobs, 4, SchedulerSpec::fcfs().build(4).as_mut(), &CancelToken::new());
    let (a, b) = (JobId(0), JobId(1));
    let expected = [Event::Start(a), Event::End(a), Event::Start(b), Event::End(b)];
    assert_eq!(timeline.expect("schedulable").events(), expected);
}

#[test]
fn priority_orders_sort_the_queue() {
    let jobs = [job(0, 10, 10, 4), job(1, 3, 3, 1), job(1, 9, 9, 2), job(1, 5, 5, 4)];
    assert_eq!(starts("largest", 4, &jobs), [0, 15, 15, 10]);
    assert_eq!(starts("smallest", 4, &jobs), [0, 10, 10, 19]);
    assert_eq!(starts("longest", 4, &jobs), [0, 24, 10, 19]);
    assert_eq!(starts("shortest", 4, &jobs), [0, 10, 18, 13]);
}

#[test]
fn rejects_a_job_larger_than_the_machine() {
    let jobs = [Job { number: 17, line: 42, ..job(0, 1, 1, 5) }];
    let error =
        Timeline::compute(&jobs, 4, SchedulerSpec::fcfs().build(4).as_mut(), &CancelToken::new());
    assert_eq!(
        error.expect_err("too large").to_string(),
        "job 17 (line 42) needs 5 processors, but the machine has 4"
    );
}

fn workloads() -> impl Strategy<Value = Vec<Job>> {
    let one = (0i64..4, 0i64..12, 0i64..6, 1u32..9);
    proptest::collection::vec(one, 1..60).prop_map(|jobs| {
        let mut now = 0;
        jobs.into_iter()
            .map(|(gap, run, over, size)| {
                now += gap;
                job(now, run, run + over, size)
            })
            .collect()
    })
}

#[test]
fn cancellation_ends_the_computation() {
    let jobs: Vec<Job> = (0..50).map(|i| job(i, 10, 10, 1)).collect();
    let stop = CancelToken::new();
    stop.raise();
    let mut scheduler = SchedulerSpec::easy().build(4);
    let cancelled = Timeline::compute(&jobs, 4, scheduler.as_mut(), &stop);
    assert_eq!(cancelled, Err(TimelineError::Cancelled(Cancelled)));
}

proptest! {
    #[test]
    fn no_schedule_uses_too_many_processors(jobs in workloads(), name in proptest::sample::select(vec!["fcfs", "easy", "conservative", "largest", "shortest", "easy[order=shortest]", "conservative[order=smallest]"])) {
        let starts = starts(name, 8, &jobs);
        for (job, &start) in jobs.iter().zip(&starts) {
            prop_assert!(start >= job.submit);
            let busy: u32 = jobs.iter().zip(&starts)
                .filter(|(other, other_start)| **other_start <= start && start < **other_start + other.run)
                .map(|(other, _)| other.size).sum();
            prop_assert!(busy <= 8);
        }
    }

    /// With exact estimates, no job starts later under conservative backfilling than under FCFS.
    /// Under FCFS, every job waits for all earlier jobs.
    #[test]
    fn conservative_delays_no_job_beyond_fcfs(jobs in workloads()) {
        let exact: Vec<_> = jobs.iter().map(|j| Job { run: j.run.max(1), estimate: j.run.max(1), ..*j }).collect();
        let (fcfs, conservative) = (starts("fcfs", 8, &exact), starts("conservative", 8, &exact));
        for (a, b) in conservative.iter().zip(&fcfs) {
            prop_assert!(a <= b);
        }
    }
}
