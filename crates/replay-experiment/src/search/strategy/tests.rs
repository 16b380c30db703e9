use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::files::Dir;
use crate::journal::{JOURNAL_FILE, Journal};
use crate::search::*;
use crate::{Cell, Measure, RunContext, Trace, Watch, run_cell};
use replay_engine::cancel::CancelToken;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::workload::{Policy, Window, Workload};

const SWF: &[u8] = include_bytes!("../../../../../traces/lublin-10x10.swf");

fn trace(jobs: usize) -> Arc<Trace> {
    let window = Window { jobs: Some(jobs), ..Window::ALL };
    let read = Workload::from_reader(SWF, "own.swf", &Policy::JOHNSON, &window, Default::default());
    let workload = Arc::new(read.expect("the trace that comes with the project"));
    let machine = "10x10".parse().expect("a mesh");
    Arc::new(Trace::new(workload, machine, "johnson", &[SchedulerSpec::easy()]))
}

fn problem(traces: &[Arc<Trace>], objective: &str, constraints: &[&str]) -> Problem {
    let objective: Objective = objective.parse().expect("an objective");
    let part = |trace: &Arc<Trace>| {
        SearchTrace::new(
            "own".to_string(),
            trace.clone(),
            &SchedulerSpec::easy(),
            &objective,
            &CancelToken::new(),
        )
    };
    let parts: Vec<SearchTrace> = traces.iter().map(part).collect::<Result<_, _>>().expect("parts");
    let constraints = constraints.iter().map(|text| text.parse().expect("a constraint")).collect();
    let allocator = replay_strategies::allocator("mc1x1").expect("an allocator");
    Problem::new(
        parts,
        allocator,
        objective.clone(),
        constraints,
        RunContext::new(&CancelToken::new()),
    )
    .expect("a problem")
}

fn small() -> Space {
    Space {
        scan_radii: "1..2".parse().expect("a range"),
        factors: ["0..2"; 3].map(|text| text.parse().expect("a range")),
        largest: 20,
        ..Space::johnson()
    }
}

/// Adds a second slack to the space.
fn slackened(space: Space) -> Space {
    Space { slacks: ["0", "0.2"].map(|text| text.parse().expect("a slack")).to_vec(), ..space }
}

fn run_search(
    problem: &Problem,
    strategy: &mut dyn SearchStrategy,
    archive: &mut Archive,
    evaluations: Option<u64>,
    keep: Option<usize>,
) -> End {
    let stop = CancelToken::new();
    let watch = RunContext::new(&stop);
    let control = Control { evaluations, keep, cache: None, watch, progress: &|_| {} };
    search(problem, strategy, archive, control).expect("a search")
}

fn searched(
    problem: &Problem,
    mut strategy: impl SearchStrategy,
    evaluations: Option<u64>,
    keep: Option<usize>,
) -> Archive {
    let mut archive = Archive::default();
    run_search(problem, &mut strategy, &mut archive, evaluations, keep);
    archive
}

#[test]
fn exhaustive_search_equals_a_plain_loop() {
    let trace = trace(300);
    let mut plain: Vec<(u64, String)> = Vec::new();
    for (slack, sr) in [("0", 1), ("0", 2), ("0.2", 1), ("0.2", 2)] {
        for (a, w, b) in (0..27).map(|i| (i / 9, i / 3 % 3, i % 3)) {
            let allocator = format!("mc1x1[tie={sr},{a},{w},{b},slack={slack}]");
            let allocator = replay_strategies::allocator(&allocator).expect("an allocator");
            let cell =
                Cell { trace: trace.clone(), scheduler: SchedulerSpec::easy(), allocator, seed: 0 };
            let sum = run_cell(0, &cell, Measure::default(), RunContext::new(&CancelToken::new()))
                .expect("a run")
                .metrics
                .pairwise
                .total_pairwise_l1;
            plain.push((sum, format!("{sr},{a},{w},{b}@{slack}")));
        }
    }
    let problem = problem(&[trace], "total_pairwise_l1", &[]);
    let archive = searched(&problem, List::new(slackened(small()).grid()), None, None);
    let best = archive.best().expect("a vector");
    let least = plain.iter().map(|(sum, _)| *sum).min().expect("sums");
    assert_eq!(best.values, [least as f64]);
    // The weighted sum of every vector equals that of the reduced vector with the same ratio.
    for (sum, text) in plain {
        let one: Candidate = text.parse().expect("a vector");
        if !one.vector.is_indifferent() {
            let known = archive.get(one).expect("every ratio");
            assert_eq!(known.values, [sum as f64], "{text}");
        }
    }
    assert_eq!(archive.evaluations().len(), 2 * 38);
}

#[test]
fn stopping_early_does_not_change_the_best() {
    let problem = problem(&[trace(400), trace(150)], "mean_pairwise_l1[weights=size]", &[]);
    let space = Space {
        factors: ["0..3"; 3].map(|text| text.parse().expect("a range")),
        ..Space::johnson()
    };
    let whole = searched(&problem, List::new(space.grid()), None, None);
    let with_stopping = searched(&problem, List::new(space.grid()), None, Some(5));
    let top = |archive: &Archive| archive.ranked().into_iter().take(5).cloned().collect::<Vec<_>>();
    assert_eq!(top(&whole), top(&with_stopping));
    let count = with_stopping.skipped_work(problem.decisions());
    assert!(count.stopped > 100, "{count:?}");
    assert_eq!(whole.decisions() - with_stopping.decisions(), count.stopped_decisions);
    for one in with_stopping.evaluations().iter().filter(|one| one.extent == Extent::Stopped) {
        let known = whole.get(one.candidate).expect("the same vectors");
        assert!(known.improvement_percent <= one.improvement_percent);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let problem = problem(&[trace(200)], "mean_pairwise_l1", &["worst-class[jobs=5]<=5"]);
    type Make = fn() -> Box<dyn SearchStrategy>;
    let makes: [(Make, u64); 5] = [
        (|| Box::new(List::new(Space::johnson().grid())), 700),
        (|| Box::new(Random::new(Space::johnson(), 3)), 150),
        (|| Box::new(Local::new(Space::johnson(), 3)), 150),
        (|| Box::new(Random::new(slackened(Space::johnson()), 3)), 150),
        (|| Box::new(Local::new(slackened(Space::johnson()), 3)), 150),
    ];
    for (make, evaluations) in makes {
        let run = |threads: usize| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let mut archive = Archive::default();
            pool.install(|| {
                let mut strategy = make();
                run_search(&problem, strategy.as_mut(), &mut archive, Some(evaluations), Some(3));
            });
            archive
        };
        let (one, three) = (run(1), run(3));
        assert!(!one.evaluations().is_empty());
        assert_eq!(one.evaluations(), three.evaluations());
    }
}

#[test]
fn local_search_is_never_worse_than_its_start() {
    let problem = problem(&[trace(400)], "mean_pairwise_l1", &[]);
    let mut archive = searched(&problem, List::new(small().grid()), None, None);
    let start = archive.best().expect("a start").improvement_percent;
    let end = run_search(
        &problem,
        &mut Local::new(Space::johnson(), 1),
        &mut archive,
        Some(200),
        Some(10),
    );
    assert_eq!((end, archive.evaluations().len()), (End::Evaluations, 238));
    assert!(archive.best().expect("an end").improvement_percent >= start);

    // The search improves a bad starting vector.
    let bad = vec!["1,0,0,1".parse().expect("a vector")];
    let mut archive = searched(&problem, List::new(bad), None, None);
    let start = archive.best().expect("a start").improvement_percent;
    run_search(&problem, &mut Local::new(Space::johnson(), 1), &mut archive, Some(100), Some(10));
    assert!(archive.best().expect("an end").improvement_percent > start);
}

/// Exactly the slacks of the space are tried.
#[test]
fn strategies_try_all_slacks_of_the_space() {
    let problem = problem(&[trace(60)], "mean_pairwise_l1", &[]);
    let slacks = ["0.05", "0.1", "0.3", "0.5"].map(|text| text.parse().expect("a slack"));
    let space = Space { slacks: slacks.to_vec(), ..Space::johnson() };
    let strategies: [Box<dyn SearchStrategy>; 2] =
        [Box::new(Local::new(space.clone(), 0)), Box::new(Random::new(space, 0))];
    for mut strategy in strategies {
        let mut archive = Archive::default();
        run_search(&problem, strategy.as_mut(), &mut archive, Some(200), None);
        let tried = |slack| archive.evaluations().iter().any(|one| one.candidate.slack == slack);
        assert!(slacks.into_iter().all(tried));
        assert!(archive.evaluations().iter().all(|one| slacks.contains(&one.candidate.slack)));
    }
}

#[test]
fn an_exhausted_space_ends_every_search() {
    let problem = problem(&[trace(30)], "mean_pairwise_l1", &[]);
    let tiny = Space { scan_radii: "2".parse().expect("a range"), largest: 1, ..Space::johnson() };
    let strategies: [Box<dyn SearchStrategy>; 2] =
        [Box::new(Local::new(tiny.clone(), 0)), Box::new(Random::new(tiny, 0))];
    for mut strategy in strategies {
        let mut archive = Archive::default();
        let end = run_search(&problem, strategy.as_mut(), &mut archive, None, None);
        // There are 7 combinations of three factors that are 0 or 1, not counting the combination of zeros.
        assert_eq!((end, archive.evaluations().len()), (End::Exhausted, 7));
    }
}

#[test]
fn constraints_rank_feasible_vectors_first() {
    let trace = trace(500);
    let free = problem(std::slice::from_ref(&trace), "mean_pairwise_l1", &[]);
    let bound =
        problem(&[trace], "mean_pairwise_l1", &["worst-class[jobs=10]<=1", "mean_components<=0"]);
    let grid = Space {
        factors: ["0..4"; 3].map(|text| text.parse().expect("a range")),
        ..Space::johnson()
    }
    .grid();
    let free = searched(&free, List::new(grid.clone()), None, None);
    let bound = searched(&bound, List::new(grid), None, None);
    let feasible: Vec<_> = bound.ranked().into_iter().filter(|one| one.is_feasible()).collect();
    assert!(!feasible.is_empty() && feasible.len() < bound.ranked().len() / 2);
    let (first, best) = (feasible[0], free.best().expect("a vector"));
    assert!(first.improvement_percent < best.improvement_percent);
    assert!(!bound.get(best.candidate).expect("the same grid").is_feasible());
}

#[test]
fn rejects_problems_without_anything_to_search() {
    let objective: Objective = "mean_pairwise_l1[weights=99:1]".parse().expect("an objective");
    let part = SearchTrace::new(
        "own".to_string(),
        trace(50),
        &SchedulerSpec::easy(),
        &objective,
        &CancelToken::new(),
    );
    let made = |allocator: &str| {
        let allocator = replay_strategies::allocator(allocator).expect("an allocator");
        let parts = vec![part.as_ref().expect("a part").clone()];
        Problem::new(
            parts,
            allocator,
            objective.clone(),
            Vec::new(),
            RunContext::new(&CancelToken::new()),
        )
        .err()
        .map(|e| e.to_string())
    };
    assert!(made("mc1x1").is_some_and(|e| e.contains("nothing to improve")));
    for none in ["mc1x1[tie=1,1,1,1]", "hilbert-best-fit"] {
        assert!(made(none).is_some_and(|e| e.contains("has no tie vector")), "{none}");
    }
}

/// One request contains all candidates, and the evaluation of this request takes longer than the deadline allows.
#[test]
fn a_grid_is_evaluated_in_small_parts_before_a_deadline() {
    let problem = problem(&[trace(50)], "mean_pairwise_l1", &[]);
    /// Cancels after this number of jobs.
    struct Stop<'a>(&'a CancelToken, u64, AtomicU64);
    impl Watch for Stop<'_> {
        fn jobs_done(&self, jobs: u64) {
            if self.2.fetch_add(jobs, Ordering::Relaxed) + jobs > self.1 {
                self.0.raise();
            }
        }
    }
    let stop = CancelToken::new();
    let timed = stop.until(Instant::now() + Duration::from_secs(3600));
    let after = Stop(&stop, 300 * problem.decisions(), AtomicU64::new(0));
    let (mut all, mut archive) = (List::new(Space::johnson().grid()), Archive::default());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let end = pool.install(|| {
        let watch = RunContext { watch: &after, ..RunContext::new(&timed) };
        let control =
            Control { evaluations: None, keep: None, cache: None, watch, progress: &|_| {} };
        search(&problem, &mut all, &mut archive, control)
    });
    assert_eq!(end.ok(), Some(End::Halted));
    let kept = archive.evaluations().len();
    assert!((200..=400).contains(&kept), "{kept}");
}

#[test]
fn a_cancelled_search_keeps_finished_evaluations() {
    let problem = problem(&[trace(50)], "mean_pairwise_l1", &[]);
    let stop = CancelToken::new();
    let enough = |archive: &Archive| {
        if archive.evaluations().len() >= 100 {
            stop.raise();
        }
    };
    let control = Control {
        evaluations: None,
        keep: None,
        cache: None,
        watch: RunContext::new(&stop),
        progress: &enough,
    };
    let mut archive = Archive::default();
    let end = search(&problem, &mut Random::new(Space::johnson(), 0), &mut archive, control);
    assert_eq!(end.ok(), Some(End::Halted));
    assert!((100..200).contains(&archive.evaluations().len()));
}

/// After truncation of the journal to any number of records, every strategy finds the same result, and no candidate is
/// evaluated twice.
#[test]
fn a_search_resumes_from_its_journal() {
    let trace = trace(120);
    let problem = problem(&[trace], "mean_pairwise_l1", &["worst-class<=1"]);
    let space = slackened(small());
    type Make = fn(&Space) -> Box<dyn SearchStrategy>;
    let strategies: [Make; 3] = [
        |space| Box::new(List::new(space.grid())),
        |space| Box::new(Local::new(space.clone(), 3)),
        |space| Box::new(Random::new(space.clone(), 3)),
    ];
    for (number, strategy) in strategies.iter().enumerate() {
        for keep in [None, Some(5)] {
            let folder = tempfile::tempdir().expect("a folder");
            let dir = Dir::open(folder.path()).expect("a folder");
            let run = || {
                let journal = Mutex::new(Journal::open(&dir, true).expect("a journal"));
                let before = journal.lock().expect("a journal").len();
                let cache = EvaluationCache::new(&problem, std::slice::from_ref(&journal), true);
                let stop = CancelToken::new();
                let control = Control {
                    evaluations: Some(70),
                    keep,
                    cache: Some(&cache),
                    watch: RunContext::new(&stop),
                    progress: &|_| {},
                };
                let mut archive = Archive::default();
                let end = search(&problem, strategy(&space).as_mut(), &mut archive, control);
                end.expect("a search");
                let after = journal.lock().expect("a journal").len();
                (archive.evaluations().to_vec(), after - before)
            };
            let (all, answered) = run();
            assert!(answered > 30 && answered == all.len(), "{number}: {answered}");
            assert_eq!(searched_by(&problem, strategy(&space).as_mut(), keep), all);
            let path = folder.path().join(JOURNAL_FILE);
            let text = std::fs::read_to_string(&path).expect("a journal");
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            for cut in [1, 2, lines.len() / 2, lines.len() - 1, lines.len()] {
                std::fs::write(&path, lines[..cut].concat()).expect("a journal");
                let (again, answered) = run();
                assert_eq!(again, all, "{number} after {cut}");
                assert_eq!(answered, lines.len() - cut);
            }
        }
    }
}

fn searched_by(
    problem: &Problem,
    strategy: &mut dyn SearchStrategy,
    keep: Option<usize>,
) -> Vec<Evaluation> {
    let mut archive = Archive::default();
    run_search(problem, strategy, &mut archive, Some(70), keep);
    archive.evaluations().to_vec()
}

/// The requests that are computed beforehand equal the requests of a search.
#[test]
fn questions_are_the_requests_of_the_search() {
    let problem = problem(&[trace(60)], "mean_pairwise_l1", &[]);
    for most in [None, Some(0), Some(7), Some(100), Some(400)] {
        let grid = || List::new(slackened(small()).grid());
        let random = || Random::new(Space { largest: 3, ..small() }, 1);
        let asked = |strategy: &mut dyn SearchStrategy| questions(strategy, most).expect("vectors");
        let of = |archive: Archive| -> Vec<Candidate> {
            archive.evaluations().iter().map(|one| one.candidate).collect()
        };
        assert_eq!(asked(&mut grid()), of(searched(&problem, grid(), most, None)));
        assert_eq!(asked(&mut random()), of(searched(&problem, random(), most, None)), "{most:?}");
    }
}

#[test]
fn splits_a_trace_by_time() {
    let whole = trace(300);
    let [before, after] = split(&whole, &SchedulerSpec::easy(), 0.25).expect("two sides");
    let jobs = |trace: &Trace| trace.workload.jobs.clone();
    let (first, last) = (whole.workload.jobs[0].submit, whole.workload.jobs[299].submit);
    let cut = first as f64 + 0.25 * (last - first) as f64;
    assert!(jobs(&before).iter().all(|job| (job.submit as f64) < cut));
    assert!(jobs(&after).iter().all(|job| job.submit as f64 >= cut));
    assert_eq!([jobs(&before), jobs(&after)].concat(), jobs(&whole));
    let none = split(&whole, &SchedulerSpec::easy(), 1e-9);
    assert!(none.is_ok_and(|sides| !sides[0].workload.jobs.is_empty()));
    assert!(split(&trace(1), &SchedulerSpec::easy(), 0.5).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// For any threshold, the improvement of a stopped vector is below the threshold. A vector that is not stopped has
    /// the same value as without a threshold.
    #[test]
    fn a_threshold_stops_only_vectors_below_it(
        sr in 1u32..6, a in 0i32..8, w in 0i32..8, b in 0i32..8, slack in 0u32..5,
        threshold in -10.0f64..10.0,
    ) {
        let problem = problem(&[trace(120), trace(60)], "mean_pairwise_l1", &[]);
        let text = format!("{sr},{a},{w},{b}@{}", f64::from(slack) / 10.0);
        let candidate: Candidate = text.parse().expect("a candidate");
        let plain = problem.evaluate(candidate, None, RunContext::new(&CancelToken::new())).expect("a value");
        let barred = problem.evaluate(candidate, Some(threshold), RunContext::new(&CancelToken::new())).expect("a value");
        if barred.extent == Extent::Stopped {
            prop_assert!(plain.improvement_percent < threshold);
        } else {
            prop_assert_eq!(plain, barred);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Candidates have the same results whether they are evaluated together or separately. The results also agree if a
    /// threshold stops the evaluations.
    #[test]
    fn joint_evaluation_equals_separate_evaluation(
        drawn in proptest::collection::vec((1u32..4, 0i32..4, 0i32..4, 0i32..4, 0u32..3), 2..20),
        threshold in proptest::option::of(-10.0f64..10.0),
    ) {
        let problem = problem(&[trace(120), trace(60)], "mean_pairwise_l1", &["worst-class<=5"]);
        let candidates: Vec<Candidate> = drawn.into_iter().map(|(sr, a, w, b, slack)| {
            let text = format!("{sr},{a},{w},{b}@{}", f64::from(slack) / 10.0);
            text.parse().expect("a candidate")
        }).collect();
        let stop = CancelToken::new();
        let watch = RunContext::new(&stop);
        let together = problem.evaluate_all(&candidates, threshold, watch).expect("values");
        prop_assert_eq!(together.len(), candidates.len());
        for (candidate, together) in candidates.into_iter().zip(together) {
            let alone = problem.evaluate(candidate, threshold, watch).expect("a value");
            prop_assert_eq!(alone, together);
        }
    }
}
