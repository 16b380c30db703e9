//! A run cut in two where nothing is in the system.

use super::*;
use crate::metrics::SystemRecorder;
use crate::simulation::simulate_from;

/// Ends a simulation before a job, or notes before whom it could have been ended.
#[derive(Default)]
struct Cut {
    at: Option<JobId>,
    places: Vec<JobId>,
}

impl Observer for Cut {
    fn empty(&mut self, next: JobId, _now: i64) -> bool {
        self.places.push(next);
        self.at != Some(next)
    }
}

type Told = ((SystemRecorder, Cut), Overhead);

/// The jobs from `first` on, but not those from `at` on.
fn between(
    jobs: &[Job],
    topology: &Topology,
    (scheduler, allocator): (&SchedulerSpec, &AllocatorSpec),
    first: JobId,
    at: Option<JobId>,
) -> Option<Told> {
    let scene = Scene { jobs, topology, timed: false, stop: &Stop::new() };
    let mut scheduler = scheduler.build(topology.processors() as u32);
    let mut allocator = allocator.build(topology, 5).ok()?;
    if !scheduler.capabilities().forgets_when_empty || !allocator.capabilities().forgets_when_empty
    {
        return None;
    }
    let cut = Cut { at, ..Cut::default() };
    let mut observers = (SystemRecorder::new(jobs.len()), cut);
    let service = &mut RunTimes::default();
    let (scheduler, allocator) = (scheduler.as_mut(), allocator.as_mut());
    let overhead = simulate_from(scene, first, scheduler, allocator, service, &mut observers);
    // Not all go together.
    Some((observers, overhead.ok()?))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The two parts are the whole, with every scheduler and strategy that says so.
    #[test]
    fn what_forgets_can_be_cut(
        jobs in jobs(16),
        machine in proptest::sample::select(vec!["4x4", "torus:4x5", "4x2x2", "hypercube:4"]),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        let schedulers = crate::scheduler::registry::standard().names();
        let variants = ["easy[guard=place]", "easy[order=largest]", "ssd", "out-of-order[order=smallest]", "lazy[patience=0]"];
        for scheduler in schedulers.chain(variants) {
            let scheduler: SchedulerSpec = scheduler.parse().expect("a scheduler");
            for allocator in ["mc1x1", "gabl", "mbs", "first-fit", "paging[size=1]", "buddy", "best-fit"] {
                let pair = (&scheduler, &allocator.parse().expect("a strategy"));
                let run = |first, at| between(&jobs, &topology, pair, JobId(first), at);
                let Some(((whole, cut), overhead)) = run(0, None) else { continue };
                for at in cut.places.into_iter().filter(|at| at.0 > 0) {
                    let ((early, _), mut cost) = run(0, Some(at)).expect("it runs");
                    let ((late, _), later) = run(at.0, None).expect("it runs");
                    let mut parts = early.only(&(0..at.index()));
                    parts.append(late.only(&(at.index()..jobs.len())));
                    cost.append(later);
                    prop_assert_eq!(format!("{parts:?}"), format!("{whole:?}"), "{:?} {:?}", pair, at);
                    prop_assert_eq!(cost, overhead, "{:?} {:?}", pair, at);
                }
            }
        }
    }
}

/// Places there are: not where a job ends at the instant of an arrival, nor behind the first of two.
#[test]
fn a_machine_is_empty_before_an_arrival() {
    let jobs =
        [job(0, 10, 10, 2), job(10, 5, 5, 2), job(20, 5, 5, 2), job(20, 1, 1, 2), job(30, 1, 1, 2)];
    let topology = "4x4".parse().expect("a mesh");
    let first_fit = "first-fit".parse().expect("a strategy");
    let fcfs = SchedulerSpec::fcfs();
    let told = between(&jobs, &topology, (&fcfs, &first_fit), JobId(0), None);
    let ((_, cut), _) = told.expect("it runs");
    assert_eq!(cut.places, [0, 2, 4].map(JobId));
}

/// Who goes on with the next queue, or keeps reservations, is run in one piece.
#[test]
fn not_all_schedulers_forget() {
    let forgets = |name: &str| {
        name.parse::<SchedulerSpec>()
            .expect("a scheduler")
            .build(16)
            .capabilities()
            .forgets_when_empty
    };
    assert!(["fcfs", "easy", "ssd", "out-of-order", "lazy", "fchp"].into_iter().all(forgets));
    assert!(!["scan", "conservative", "recorded"].into_iter().any(forgets));
}
