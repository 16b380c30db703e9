//! False positive rate of verdicts between two seeds of one strategy, on a real log.
//!
//! `random` under FCFS never changes the schedule, so two seeds differ only by chance. Any significant difference
//! between the mean pairwise distances of two seeds is therefore a false positive. At a level of 5 %, about one
//! comparison in twenty must be a false positive.

use std::sync::Arc;

use libtest_mimic::Trial;
use replay::cancel::CancelToken;
use replay::experiment::Trace;
use replay::metrics::Locality;
use replay::metrics::blocks::{Blocks, LEVEL};
use replay::scheduler::registry::SchedulerSpec;
use replay::simulation::{Decision, Decisions, Starts};
use replay::workload::{Manifest, Policy, SearchPath, Window, Workload};

use super::dir::ignored;

const DAY: i64 = 86_400;
const PAIRS: u64 = 200;

/// Number of blocks, length of a block in days, and number of windows of the log in which each pair
/// of seeds is compared.
const LENGTHS: [(usize, i64, usize); 4] = [(5, 1, 10), (8, 7, 5), (20, 7, 2), (49, 7, 1)];

/// Returns the test of this file, ignored if the log is not on the search path.
pub fn trials() -> Vec<Trial> {
    const NAME: &str = "false_verdicts_between_seeds_have_the_nominal_rate";
    let manifest = Manifest::embedded().expect("the list of traces");
    let found = SearchPath::from_env().resolve("KTH-SP2-1996-2", &manifest);
    vec![match found {
        Ok(file) => Trial::test(format!("intervals::{NAME}"), move || {
            false_verdicts_between_seeds_have_the_nominal_rate(&file.display().to_string());
            Ok(())
        }),
        Err(_) => ignored(module_path!(), NAME, "trace absent"),
    }]
}

fn false_verdicts_between_seeds_have_the_nominal_rate(file: &str) {
    let jobs = Workload::load(file, &Policy::JOHNSON, &Window::ALL, Default::default());
    let fcfs = replay::strategies::scheduler("fcfs").expect("a scheduler");
    let machine = "10x10".parse().expect("a mesh");
    let trace = Trace::new(
        Arc::new(jobs.expect("the log")),
        machine,
        "johnson",
        std::slice::from_ref(&fcfs),
    );
    let distances = |seed: u64| pairwise(&trace, &fcfs, seed);
    let mut different = [0u32; LENGTHS.len()];
    for pair in 0..PAIRS {
        let [a, b] = [distances(2 * pair), distances(2 * pair + 1)];
        let submits = trace.workload.jobs.iter().map(|job| job.submit);
        let all: Vec<(i64, [f64; 2])> =
            submits.zip(a.iter().zip(&b).map(|(&a, &b)| [a as f64, b as f64])).collect();
        for (count, &(blocks, days, windows)) in different.iter_mut().zip(&LENGTHS) {
            for place in 0..windows {
                let window = window(&all, blocks, days, (pair as usize, place, windows));
                *count += u32::from(window.gain().p < LEVEL);
            }
        }
    }
    for (count, (blocks, _, windows)) in different.iter().zip(LENGTHS) {
        let percent = 100.0 * f64::from(*count) / (PAIRS as usize * windows) as f64;
        println!("false verdicts over {blocks} blocks: {percent} %");
        assert!(
            (3.0..=8.0).contains(&percent),
            "{percent} % of {PAIRS} pairs of seeds have a verdict over {blocks} blocks"
        );
    }
}

/// Returns `blocks` blocks of the log; each block has `days` days. A pair of seeds has `windows` windows, and `place`
/// selects a window. The positions of the windows differ between pairs. If the log has at most `blocks` blocks, a
/// window is the whole log.
fn window(
    all: &[(i64, [f64; 2])],
    blocks: usize,
    days: i64,
    (pair, place, windows): (usize, usize, usize),
) -> Blocks {
    let (first, last) = (all[0].0, all[all.len() - 1].0);
    let span = blocks as i64 * days * DAY;
    let room = (last - first - span).max(0);
    // Days without submissions form no block. If there are too few blocks, the next position is tried.
    (0..1000)
        .map(|step| {
            let at = (200 * place / windows + 37 * pair + step) % 200;
            let from = first + room * at as i64 / 200;
            let within = |job: &&(i64, [f64; 2])| (from..from + span).contains(&job.0);
            Blocks::new(all.iter().filter(within).copied())
        })
        .find(|found| found.len() == blocks)
        .expect("a window with this number of blocks")
}

/// Returns the pairwise L1 of each job, in hops.
fn pairwise(trace: &Trace, scheduler: &SchedulerSpec, seed: u64) -> Vec<u64> {
    let (stop, topology) = (CancelToken::new(), &trace.topology);
    let jobs = &trace.workload.jobs;
    let schedule = trace.schedule(scheduler, &stop).expect("a schedule");
    let random = replay::strategies::allocator("random").expect("an allocator");
    let mut allocator = random.build(topology, seed).expect("an allocator for a mesh");
    let mut locality = Locality::new(topology);
    let mut sums = vec![0; jobs.len()];
    let decisions = &mut Decisions(|Decision { job, nodes, .. }: Decision<'_>| {
        sums[job.index()] = locality.pairwise_l1(nodes);
    });
    let starts = Starts::Timeline(&schedule.timeline);
    trace.simulation(&stop).run(starts, allocator.as_mut(), decisions).expect("a replay");
    sums
}
