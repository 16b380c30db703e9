use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::Watch;
use crate::contention::{Messages, TraceRun, isolate, run_trace};
use replay_core::topology::Topology;
use replay_core::workload::Job;
use replay_network::traffic::Preset;

/// Jobs with these gaps before them, run times and sizes.
fn jobs(of: &[(i64, i64, u32)]) -> Vec<Job> {
    let mut submit = 0;
    let job = |(number, &(gap, run, size)): (i64, &(i64, i64, u32))| {
        submit += gap;
        let estimate = 2 * run;
        Job { number, submit, run, estimate, size, line: 0, shape: None, limit: None }
    };
    (1..).zip(of).map(job).collect()
}

struct Setting {
    topology: Topology,
    messages: Messages,
    jobs: Vec<Job>,
    stop: Stop,
}

impl Setting {
    fn new(machine: &str, preset: Preset, pattern: &str, of: &[(i64, i64, u32)]) -> Self {
        let pattern = pattern.parse().expect("a pattern");
        Self {
            topology: machine.parse().expect("a machine"),
            messages: Messages::new(preset, pattern).expect("no file"),
            jobs: jobs(of),
            stop: Stop::new(),
        }
    }

    fn stage(&self) -> Stage<'_> {
        let Self { topology, messages, jobs, stop } = self;
        Stage { jobs, topology, messages, watch: Watch::new(stop) }
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// All that is known of a run.
fn all(ran: &Ran) -> String {
    let Ran { seen: Seen { recorder, overhead, placements, nodes }, sent, busy, now } = ran;
    format!("{recorder:?}\n{overhead:?}\n{placements:?}\n{nodes:?}\n{sent:?}\n{busy:?}\n{now}")
}

/// A run in one piece, and cut before some jobs, by several threads; in how many parts, and what was in
/// vain.
fn both(
    setting: &Setting,
    scheduler: &str,
    allocator: &str,
    cuts: &[usize],
    threads: usize,
) -> (String, String, usize, u64) {
    let isolation = isolate(setting.stage(), 1.0, 7).expect("it runs");
    let (scheduler, allocator) =
        (scheduler.parse().expect("a name"), allocator.parse().expect("a name"));
    let strategies = Strategies { scheduler: &scheduler, allocator: &allocator, seed: 7 };
    let course = || Course::new(setting.stage(), &isolation, strategies);
    let one = course().in_one_piece().expect("it runs");
    let whole = pool(threads).install(|| course().in_parts(cuts)).expect("it runs");
    let (parts, wasted) = (whole.parts.len(), whole.wasted);
    let ran = whole.parts.into_iter().reduce(Ran::append).expect("a part");
    (all(&one), all(&ran), parts, wasted)
}

/// The first of the jobs that come together, as far as they are chosen.
fn cuts(jobs: &[Job], chosen: &[bool]) -> Vec<usize> {
    let later = (1..jobs.len()).filter(|&i| chosen[i] && jobs[i - 1].submit < jobs[i].submit);
    [0].into_iter().chain(later).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Wherever it is cut, rightly or not, a run is the same.
    #[test]
    fn parts_are_the_whole(
        of in proptest::collection::vec(
            (prop_oneof![Just(0), 1i64..500, 3_000i64..6_000, Just(100_000)], 1i64..1_500, 1u32..17), 2..14,
        ),
        chosen in proptest::collection::vec(any::<bool>(), 14),
        machine in proptest::sample::select(vec!["4x4", "8x4", "torus:4x5", "4x2x3"]),
        preset in proptest::sample::select(vec![Preset::Lo, Preset::BaniMohammad]),
        pattern in proptest::sample::select(vec!["n-body", "all-to-all", "random", "one-to-all"]),
        scheduler in proptest::sample::select(vec!["fcfs", "easy", "easy[guard=place]", "ssd", "out-of-order", "lazy", "fchp"]),
        allocator in proptest::sample::select(vec![
            "mc1x1", "mc1x1[tie=2,13,20,6]", "mm", "hilbert-best-fit", "mbs", "gabl", "paging[size=1]", "first-fit",
        ]),
        threads in 1usize..4,
    ) {
        let setting = Setting::new(machine, preset, pattern, &of);
        let works = allocator.parse::<replay_core::allocator::registry::AllocatorSpec>().expect("a name").build(&setting.topology, 7);
        // Some work on meshes only, or with orders of the queue that ask for no copies.
        let Ok(works) = works else { return Ok(()) };
        prop_assume!(works.capabilities().keeps_schedule || works.try_clone().is_some());
        prop_assert!(works.capabilities().forgets_when_empty);
        let setting = Setting { jobs: setting.jobs.into_iter().filter(|job| {
            let mut works = allocator.parse::<replay_core::allocator::registry::AllocatorSpec>().expect("a name").build(&setting.topology, 7).expect("it works");
            works.bounds(replay_core::allocator::Request::of_size(job.size)).servable
        }).collect(), ..setting };
        prop_assume!(!setting.jobs.is_empty());
        let cuts = cuts(&setting.jobs, &chosen);
        let (one, parts, count, _) = both(&setting, scheduler, allocator, &cuts, threads);
        prop_assert_eq!(one, parts);
        // Behind such a gap nothing can be left.
        let certain = cuts.iter().skip(1).filter(|&&cut| {
            setting.jobs[cut].submit - setting.jobs[cut - 1].submit == 100_000
        });
        prop_assert!(count > certain.count());
    }
}

/// Four jobs apart from each other and one that comes before the last of them has ended.
fn five() -> Setting {
    let of = [(0, 900, 9), (50_000, 900, 16), (50_000, 900, 5), (50_000, 900, 16), (10, 900, 16)];
    Setting::new("4x4", Preset::Lo, "all-to-all", &of)
}

#[test]
fn a_run_is_cut_where_the_machine_is_empty_and_nowhere_else() {
    for threads in [1, 2, 3] {
        let (one, parts, count, wasted) = both(&five(), "fcfs", "mc1x1", &[0, 1, 2, 3, 4], threads);
        assert_eq!((&one, count), (&parts, 4), "{threads} threads");
        // Whoever is alone guesses nothing.
        assert!(threads > 1 || wasted == 0, "{wasted}");
    }
}

/// A job that comes in the very cycle in which the last one ends does not find an empty machine.
#[test]
fn an_end_at_the_same_instant_is_not_before_it() {
    let end = |gap| {
        let setting = Setting::new("4x4", Preset::Lo, "all-to-all", &[(0, 900, 9), (gap, 900, 9)]);
        let isolation = isolate(setting.stage(), 1.0, 7).expect("it runs");
        let (one, parts, count, _) = both(&setting, "fcfs", "first-fit", &[0, 1], 2);
        assert_eq!(one, parts);
        (isolation.service[0] as i64, count)
    };
    let (service, _) = end(1);
    // Alone in its box, as first-fit puts it.
    assert_eq!([service - 1, service].map(|gap| end(gap).1), [1, 1]);
    assert_eq!(end(service + 100).1, 2);
}

#[test]
fn guesses_are_where_nothing_is_in_the_system() {
    let setting = five();
    let isolation = isolate(setting.stage(), 1.0, 7).expect("it runs");
    let guess = |parts| cuts::guess(&isolation, 16, parts, &setting.stop);
    assert_eq!(guess(100), [0, 1, 2, 3]);
    assert_eq!((guess(1), guess(2).len()), (vec![0], 2));
    // A job that does not fit the machine is the run's to tell.
    assert_eq!(cuts::guess(&isolation, 8, 100, &setting.stop), [0]);
}

fn run(setting: &Setting, allocator: &str, threads: usize, watch: Watch<'_>) -> TraceRun {
    let stage = Stage { watch, ..setting.stage() };
    let isolation = isolate(setting.stage(), 1.0, 7).expect("it runs");
    let (fcfs, allocator) = ("fcfs".parse().expect("a name"), allocator.parse().expect("a name"));
    let run = || run_trace(stage, &isolation, &fcfs, &allocator, 7);
    pool(threads).install(run).expect("it runs")
}

/// Those who look on hear of every job once, though some run twice.
#[test]
fn any_number_of_threads_comes_to_the_same_and_tells_the_same() {
    let told = |allocator, threads| {
        let (setting, heard) = (five(), AtomicU64::new(0));
        let jobs_done = |jobs| {
            heard.fetch_add(jobs, Ordering::Relaxed);
        };
        let watch = Watch { jobs_done: &jobs_done, ..Watch::new(&setting.stop) };
        let run = run(&setting, allocator, threads, watch);
        assert_eq!(heard.into_inner(), 5);
        serde_json::to_string(&run).expect("it can be written")
    };
    for allocator in ["mbs", "random", "mc1x1[tie=auto]"] {
        let one = told(allocator, 1);
        assert!([2, 4].into_iter().all(|threads| told(allocator, threads) == one), "{allocator}");
    }
}

#[test]
fn errors_and_stops_are_those_of_one_piece() {
    let error = |threads: usize, of: &[(i64, i64, u32)], stop: bool| {
        let setting = Setting::new("4x4", Preset::Lo, "n-body", of);
        let isolation = isolate(setting.stage(), 1.0, 7).expect("it runs");
        if stop {
            setting.stop.raise();
        }
        let (fcfs, alloc) = ("fcfs".parse().expect("one"), "first-fit".parse().expect("one"));
        let run = || run_trace(setting.stage(), &isolation, &fcfs, &alloc, 7);
        pool(threads).install(run).map(|run| run.jobs.len()).map_err(|error| error.to_string())
    };
    // No frame of 11 fits a mesh of side 4.
    let never = [(0, 900, 4), (90_000, 900, 4), (90_000, 900, 11), (90_000, 900, 4)];
    let one = error(1, &never, false);
    assert_eq!(error(3, &never, false), one);
    assert_eq!(error(3, &never[..2], true), Err("interrupted".to_string()));
}
