use std::sync::Arc;

use super::*;
use crate::{Measure, RunContext, RunResult, Trace, run_cell};
use replay_engine::allocator::candidate_set::{CandidateSet, ScoredCandidate, Term};
use replay_engine::allocator::explain::{LISTED, Part};
use replay_engine::scheduler::Reason;
use replay_engine::simulation::outages::{Outages, Window as OutageWindow};
use replay_engine::workload::{Notation, Policy, Window, Workload};

/// Generates jobs of all sizes, with a load at which jobs wait and are backfilled.
fn swf(jobs: u32, processors: u32, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut text = format!("; MaxProcs: {processors}\n");
    let mut submit = 0;
    for number in 1..=jobs {
        submit += draw(20);
        let run = draw(120);
        let size = 1 + draw(u64::from(processors) / 2).min(draw(u64::from(processors)));
        let estimate = run + draw(60);
        text += &format!("{number} {submit} -1 {run} {size} -1 -1 {size} {estimate}\n");
    }
    text
}

fn cell(swf: &str, machine: &str, scheduler: &str, allocator: &str) -> Cell {
    let options = Default::default();
    let workload =
        Workload::from_reader(swf.as_bytes(), "made.swf", &Policy::JOHNSON, &Window::ALL, options);
    let scheduler = replay_strategies::scheduler(scheduler).expect("a scheduler");
    let machine = machine.parse().expect("a machine");
    let schedulers = std::slice::from_ref(&scheduler);
    let trace = Trace::new(Arc::new(workload.expect("a trace")), machine, "johnson", schedulers);
    let allocator = replay_strategies::allocator(allocator).expect("a strategy");
    Cell { trace: Arc::new(trace), scheduler, allocator, seed: 5 }
}

fn run(cell: &Cell) -> RunResult {
    let measure = Measure { jobs: true, nodes: true, ..Measure::default() };
    run_cell(0, cell, measure, RunContext::new(&CancelToken::new())).expect("it runs")
}

/// Compares the explanations of the given jobs with the run, and returns the number of refusals.
fn agrees(cell: &Cell, numbers: impl Iterator<Item = i64>) -> usize {
    let run = run(cell);
    let mut refusals = 0;
    for number in numbers {
        let explained = explain(cell, number, &CancelToken::new()).expect("it runs").remove(0);
        let name = format!("{} {} {number}", cell.scheduler, cell.allocator);
        let allocation = run.allocations.iter().find(|one| one.job == number).expect("a row");
        assert_eq!(explained.nodes[..], allocation.nodes[..], "{name}");
        assert_eq!(explained.start, allocation.start, "{name}");
        let measures = run.jobs.iter().find(|job| job.number == number).expect("a row");
        assert_eq!(Some(explained.placement), measures.placement, "{name}");
        // The candidate that the definition selects is the same as the candidate that the optimized code selects.
        if let Some(mut winner) = explained.decision.explanation.winner.clone() {
            let mut nodes = explained.nodes.clone();
            winner.sort_unstable();
            nodes.sort_unstable();
            assert_eq!(winner, nodes, "{name}");
        }
        if cell.allocator.to_string() == WEIGHED {
            assert!(check_terms(&explained.decision), "{name}");
        }
        if let Some(candidates) = &explained.decision.explanation.candidates {
            check_candidates(candidates, &explained.decision, &explained.nodes);
        }
        if let Some(history) = &explained.history {
            let moment = history.named.as_ref().expect("it was named");
            assert_eq!(
                (moment.now, history.arrived.map(|at| at.0)),
                (measures.start, Some(measures.arrival))
            );
            let exact = cell.allocator.build(&cell.trace.topology, 0).expect("it works");
            check_reason(moment, exact.capabilities().keeps_schedule);
        }
        refusals += usize::from(
            explained.refusal.as_ref().is_some_and(|decision| decision.outcome.is_err()),
        );
        let parts = steps::parts(
            std::slice::from_ref(&explained),
            &cell.trace.topology,
            &Notation::default(),
        );
        assert!(steps::steps(&parts).iter().all(|step| !step.text.is_empty()), "{name}");
    }
    refusals
}

/// A strategy with a positive weight for every term of the weighted sum.
const WEIGHED: &str = "placements[tie=3,1,2,1,2,1]";

/// Checks that the terms of each candidate add up to the candidate's sum, and that the winner has the smallest sum.
fn check_terms(decision: &RecordedDecision) -> bool {
    let mut listings = decision.explanation.parts.iter().filter_map(|part| match part {
        Part::Listing(listing) if listing.columns.contains(&"sum") => Some(listing),
        _ => None,
    });
    let Some(listing) = listings.next() else { return false };
    assert_eq!(listing.columns, ["box", "at", "LF", "EQ", "NF", "WF", "EF", "DL", "sum"]);
    let number = |text: &String| text.parse::<i128>().expect("a number");
    let mut least = i128::MAX;
    for row in &listing.rows {
        let terms = row[2..8].iter().map(number).zip([3, 1, -2, -1, -2, 1]);
        let sum = terms.map(|(term, weight)| term * weight).sum::<i128>();
        assert_eq!(sum, number(&row[8]), "{row:?}");
        least = least.min(sum);
    }
    let names_least = |part: &Part| matches!(part, Part::Words(it) if it.starts_with("the winner") && it.ends_with(&format!(" = {least}")));
    assert!(listing.more > 0 || decision.explanation.parts.iter().any(names_least), "{least}");
    true
}

/// Checks that the run chose the first candidate, that no candidate has a better value, and that each value is the sum
/// of the listed weights.
fn check_candidates(candidates: &CandidateSet, decision: &RecordedDecision, nodes: &[NodeId]) {
    let sorted = |nodes: &[NodeId]| {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes
    };
    let key = |one: &ScoredCandidate| (one.tie, one.score, one.number);
    let first = &candidates.first[0];
    assert_eq!(sorted(&first.nodes), sorted(nodes));
    assert!(candidates.first.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
    for (place, one) in candidates.first.iter().enumerate() {
        assert!(one.nodes.iter().all(|node| decision.free.binary_search(node).is_ok()));
        // The weights of a box, if there are any, do not come from a tie vector.
        assert!(one.is_box() || one.tie.is_some() == candidates.vector.is_some());
        assert!(!one.is_box() || candidates.vector.is_none());
        let Some((vector, tie)) = candidates.vector.zip(one.tie) else { continue };
        let [free, wall, busy] = [Term::Free, Term::Wall, Term::Busy].map(|term| one.sum(term));
        let [af, wf, bf] = vector.factors().map(i64::from);
        assert_eq!(tie, af * free - wf * wall - bf * busy);
        // For candidates that are not listed, only the sums are kept.
        let weights = if place < LISTED { &one.weights[..] } else { &[] };
        for weight in weights {
            let (free, own) =
                (decision.free.binary_search(&weight.node), one.nodes.contains(&weight.node));
            let expected = match weight.term {
                Term::Free => free.is_ok() && !own,
                Term::Wall => own,
                Term::Busy => free.is_err(),
            };
            assert!(expected, "{weight:?}");
        }
    }
}

/// Checks the shadow time and the spare processors of a backfilled job by a direct loop over the running jobs.
fn check_reason(moment: &Moment, exact: bool) {
    let Some(Reason::Backfilled { head, shadow, extra: Some(extra) }) = moment.reason else {
        return;
    };
    let head = moment.before.iter().find(|job| job.id == head).expect("the head came before");
    let taken = |until: i64| {
        let ended = moment.running.iter().filter(|job| job.estimated_end <= until);
        moment.free + ended.map(|job| job.size).sum::<u32>()
    };
    let ends = moment.now + moment.job.estimate;
    assert!(ends <= shadow || moment.job.takes <= extra, "it may overtake");
    assert!(taken(shadow) >= head.takes && moment.job.size <= moment.free);
    if exact {
        let mut ends = moment.running.iter().map(|job| job.estimated_end);
        assert_eq!(ends.find(|&end| taken(end) >= head.takes), Some(shadow));
        assert_eq!(taken(shadow) - head.takes, extra);
        assert!(head.size > moment.free, "the head does not fit");
    }
}

/// Tests all strategies of the registry, each on a machine that the strategy supports.
#[test]
fn explanations_match_the_run_for_every_strategy() {
    let text = swf(90, 64, 3);
    let mut names: Vec<String> =
        replay_strategies::standard().allocators.names().map(str::to_string).collect();
    names.retain(|name| name != "recorded" && name != "slurm-torus3d");
    names.extend(
        [
            "mc1x1[tie=2,13,20,6]",
            "mm[tie=1,1,1,1,slack=0.1]",
            "mc1x1[tie=auto]",
            "gen-alg[tie=2,1,1,1]",
            "mc1x1[tie=1,0,1,0,order=greedy]",
            "paging[size=1]",
            "midplane[unit=2x2x2]",
            WEIGHED,
        ]
        .map(str::to_string),
    );
    let (mut explained, mut refusals) = (0, 0);
    for name in names {
        let machines =
            ["8x8", "hypercube:6", "4x4x4", "8x8x8", "cluster:64x2", "tree:2x4x8", "block:8x8"];
        let topology = machines.into_iter().find(|machine| {
            let machine = machine.parse().expect("a machine");
            let Ok(spec) = replay_strategies::allocator(&name) else {
                return false;
            };
            spec.build(&machine, 0).is_ok()
        });
        let Some(machine) = topology else {
            assert!(name.starts_with("midplane"), "{name} works nowhere");
            continue;
        };
        let cell = cell(&text, machine, "fcfs", &name);
        refusals += agrees(&cell, (1..=90).step_by(13));
        explained += 1;
    }
    assert!(explained > 50 && refusals > 5, "{explained} strategies, {refusals} refusals");
}

#[test]
fn explanations_match_the_run_for_every_scheduler() {
    for seed in 0..3 {
        let text = swf(120, 64, seed);
        for allocator in ["mc1x1[tie=2,13,20,6]", "first-fit", "mbs", "random"] {
            for scheduler in [
                "fcfs",
                "easy",
                "easy[guard=place]",
                "conservative",
                "out-of-order",
                "scan",
                "lazy",
                "shortest",
                "largest",
            ] {
                if scheduler == "conservative" && allocator == "first-fit" {
                    continue;
                }
                let cell = cell(&text, "8x8", scheduler, allocator);
                agrees(&cell, (1..=120).skip(seed as usize).step_by(9));
            }
        }
    }
}

#[test]
fn explains_a_backfilled_job() {
    // The second job waits until the first job ends. The third job fits beside the first job and ends in time.
    let text = "; MaxProcs: 16\n1 0 -1 100 8 -1 -1 8 100\n2 10 -1 50 16 -1 -1 16 50\n\
                3 20 -1 60 8 -1 -1 8 70\n4 21 -1 60 8 -1 -1 8 90\n";
    let of = |number| {
        let cell = cell(text, "4x4", "easy", "mc1x1");
        explain(&cell, number, &CancelToken::new()).expect("it runs").remove(0)
    };
    let third = of(3);
    let moment = third.history.as_ref().and_then(|history| history.named.as_ref()).expect("named");
    let expected = Reason::Backfilled { head: JobId(1), shadow: 100, extra: Some(0) };
    assert_eq!((moment.reason, moment.now, moment.before.len()), (Some(expected), 20, 1));
    let decision = steps::steps(&steps::parts(
        std::slice::from_ref(&third),
        &"4x4".parse().expect("a mesh"),
        &Notation::default(),
    ));
    let all: Vec<&str> = decision.iter().map(|step| step.text.as_str()).collect();
    let all = all.join("\n");
    assert!(all.contains("job 2, the first of the queue, fits at 100 s at the earliest"), "{all}");
    let second = of(2);
    let history = second.history.expect("a story");
    assert_eq!((history.after, history.before), (vec![JobId(2)], vec![]));
    assert_eq!(history.named.and_then(|m| m.reason), Some(Reason::First { promised: Some(100) }));
    let unknown = explain(&cell(text, "4x4", "easy", "mc1x1"), 9, &CancelToken::new());
    assert!(unknown.expect("it runs").is_empty());
}

/// The second job is the head and needs seven of eight nodes at 100. The third job would hold two of these nodes, so it
/// does not start when the scheduler first selects it, although the strategy has chosen nodes for it.
#[test]
fn explains_why_a_job_that_got_reserved_processors_does_not_start() {
    let text = "; MaxProcs: 8\n1 0 -1 100 2 -1 -1 2 100\n2 1 -1 50 7 -1 -1 7 50\n\
                3 12 -1 300 2 -1 -1 2 300\n";
    let cell = cell(text, "tree:2x4", "easy", "kueue[mode=required,level=1]");
    let starts = explain(&cell, 3, &CancelToken::new()).expect("it runs");
    assert_eq!(starts[0].start, 150);
    let refused = &starts[0].history.as_ref().expect("a history").refused;
    assert_eq!(refused[0].reserved_for, Some(JobId(1)), "{refused:?}");
    let steps = steps::steps(&steps::parts(&starts, &cell.trace.topology, &Notation::default()));
    let texts: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    for expected in [
        "1 time before, first at 12 s, but the job did not start: 1 time the strategy chose processors that are \
         reserved for the first of the queue",
        "it chooses 2 processors (2-3), but the job does not start: by its estimate, it would still hold them when \
         job 2, the first of the queue, needs them",
    ] {
        assert!(texts.iter().any(|text| text.contains(expected)), "{texts:#?}");
    }
    let data = data::data(&starts, &cell.trace.topology);
    assert_eq!(data["scheduler"]["refused"][0]["reserved_for"], 2);
}

/// Each row of an interrupted and requeued job in the run has one explained start, with the same start time and
/// processors.
#[test]
fn explains_every_start_of_an_interrupted_job() {
    let text = swf(90, 64, 3);
    for scheduler in ["fcfs", "easy"] {
        for allocator in ["mc1x1[tie=2,13,20,6]", "mbs"] {
            let mut cell = cell(&text, "8x8", scheduler, allocator);
            let window = |from| OutageWindow {
                from,
                until: Some(from + 40),
                nodes: (0..64).step_by(5).map(NodeId).collect(),
            };
            let windows = (1..9).map(|i| window(100 * i)).collect();
            let outages = Outages { windows, running: WhenDown::Requeue, walls: false };
            let trace = Arc::try_unwrap(cell.trace).expect("the only one");
            cell.trace = Arc::new(trace.with_outages(Arc::new(outages)));
            let run = run(&cell);
            let mut restarts = 0;
            for number in 1..=90 {
                let starts = explain(&cell, number, &CancelToken::new()).expect("it runs");
                let rows = run.allocations.iter().filter(|row| row.job == number);
                let rows: Vec<_> = rows.map(|row| (row.start, row.nodes.to_vec())).collect();
                let decision = starts.iter().map(|one| (one.start, one.nodes.clone()));
                assert_eq!(decision.collect::<Vec<_>>(), rows, "{scheduler} {allocator} {number}");
                for pair in starts.windows(2) {
                    let history = pair[1].history.as_ref().expect("a story");
                    // The job returns at the time of its interruption.
                    assert_eq!(history.arrived.map(|at| at.0), pair[0].cut);
                    assert_eq!(history.named.as_ref().map(|at| at.now), Some(pair[1].start));
                    assert_eq!(pair[1].decision.outcome.as_deref(), Ok(&pair[1].nodes[..]));
                }
                let data = data::data(&starts, &cell.trace.topology);
                assert_eq!(data["later"].as_array().map(Vec::len), Some(starts.len() - 1));
                let parts = steps::parts(&starts, &cell.trace.topology, &Notation::default());
                let results = parts.iter().filter(|(topic, _)| *topic == "result").count();
                assert_eq!(results, starts.len());
                restarts += starts.len() - 1;
            }
            assert!(restarts > 3, "{restarts} starts anew");
        }
    }
}
