//! Tests that ids of every kind do not change, so that journals of earlier builds remain valid.

use std::fmt::Write;
use std::sync::Arc;

use super::contention::{Messages, contended_id};
use super::grid::ParameterGrid;
use super::search::{Objective, Problem, Question, SearchTrace};
use super::stream::{Counting, Life, Metric, Point};
use super::sweep::Plan;
use super::{Cell, RunContext, Trace};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::estimate::StopRule;
use replay_engine::workload::stochastic::StochasticStream;
use replay_engine::workload::{Policy, Shake, Window, Workload};
use replay_network::traffic::Preset;

/// The ids that this build must produce. A changed id invalidates every existing journal. If the change is intended,
/// increase the format number in the text of the id, and mention the change in the CHANGELOG.
const PINNED: &str = include_str!("../../../tests/golden/ids.txt");

const SWF: &str = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n3 9 -1 10 6\n4 11 -1 10 3\n";

fn trace() -> Arc<Trace> {
    let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
    let jobs =
        Workload::from_reader(SWF.as_bytes(), "tiny.swf", policy, window, Default::default());
    let schedulers = ["fcfs", "easy", "recorded"]
        .map(|name| replay_strategies::scheduler(name).expect("a scheduler"));
    let machine = "4x4".parse().expect("a machine");
    Arc::new(Trace::new(Arc::new(jobs.expect("jobs")), machine, "johnson", &schedulers))
}

fn messages(preset: Preset, pattern: &str) -> Messages {
    Messages::new(preset, pattern.parse().expect("a pattern")).expect("no file")
}

#[test]
fn ids_match_earlier_builds() {
    let mut text = String::new();
    let trace = trace();
    let shake = Shake::of(3);

    let grids = [
        "schedulers = ['fcfs', 'easy', 'recorded']\nseeds = '0..1'\n\
         allocator = ['random', { name = 'mc1x1', tie = ['none', '1,2,3,4', '5,0,-1,7'] }]",
        "ties = true\nallocator = ['mc1x1', 'first-fit', 'paging', 'hilbert-best-fit']",
        "shake = { copies = 2 }\nallocator = ['mc1x1[slack=0.1,tie=2,13,20,6]']",
    ];
    for (i, grid) in grids.iter().enumerate() {
        let grid =
            ParameterGrid::parse(grid, "grid.toml", replay_strategies::standard()).expect("a grid");
        let plan = Plan::new(grid, std::slice::from_ref(&trace)).expect("a plan");
        for run in 0..plan.len() {
            writeln!(text, "cell {i}.{run} {}", plan.id(run).expect("a cell")).expect("memory");
        }
        writeln!(text, "plan {i} {}", plan.digest().expect("a plan")).expect("memory");
    }

    let lives = [
        ("run-times", Life::RunTimes),
        ("all-to-all", Life::Messages(messages(Preset::Lo, "all-to-all"))),
        ("n-body", Life::Messages(messages(Preset::BaniMohammad, "n-body"))),
    ];
    for (name, life) in lives {
        let point = Point {
            topology: "8x8".parse().expect("a machine"),
            stream: StochasticStream::new([8, 8, 1]),
            scheduler: replay_strategies::scheduler("ssd").expect("a scheduler"),
            allocator: replay_strategies::allocator("gabl").expect("an allocator"),
            life,
            counting: Counting { warm_up: 10, by_size: true, completions: None },
        };
        let watched = [Metric::FinishTime, Metric::Utilization];
        writeln!(text, "stream {name} {}", point.id(7, &StopRule::default(), &watched))
            .expect("memory");
    }

    for (pattern, preset, copy) in
        [("fft-2d", Preset::Lo, 0), ("one-to-all", Preset::BaniMohammad, 2)]
    {
        let cell = Cell {
            trace: trace.shaken(&shake, copy),
            scheduler: replay_strategies::scheduler("easy").expect("a scheduler"),
            allocator: replay_strategies::allocator("mc1x1[tie=2,13,20,6]").expect("an allocator"),
            seed: 1,
        };
        let digest = messages(preset, pattern).digest();
        let id = contended_id("jobs", &cell, Some(&shake), &digest, 1.5);
        writeln!(text, "contention {pattern} {id}").expect("memory");
    }

    let objective: Objective = "mean_pairwise_l1".parse().expect("an objective");
    let part = |name: &str| {
        let scheduler = replay_strategies::scheduler(name).expect("a scheduler");
        SearchTrace::new(name.into(), trace.clone(), &scheduler, &objective, &CancelToken::new())
            .expect("a part")
    };
    let parts = vec![part("fcfs"), part("easy")];
    let allocator = replay_strategies::allocator("mc1x1").expect("an allocator");
    let stop = CancelToken::new();
    let watch = RunContext::new(&stop);
    let problem = Problem::new(parts, allocator, objective.clone(), Vec::new(), watch);
    let identity = problem.expect("a problem").identity();
    for candidate in ["1,2,3,4", "2,13,20,6@0.1"] {
        let question = Question::whole(candidate.parse().expect("a candidate"));
        writeln!(text, "search {candidate} {}", question.id(&identity)).expect("memory");
    }
    // The crate of backlogs checks its own ids.
    let pinned = PINNED.split_inclusive('\n').filter(|line| !line.starts_with("backlog "));
    let pinned: String = pinned.collect();
    assert_eq!(text, pinned, "the ids have changed; the new ids are\n{text}");
}
