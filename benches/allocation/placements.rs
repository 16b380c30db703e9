//! Measures the decisions per second of the placement rules. The machine is a torus of 16 x 16 x 16 with a saturated
//! queue, and the menu consists of the slices of TPU v4 pods (61 placements with 15,810 anchors).
//!
//! The number of decisions, including those without a free box, is divided by the time of the run (decisions, starts,
//! ends). The fastest of three streams is reported.
//!
//! `cargo bench --bench allocation -- placements`

use std::time::Instant;

use super::common::Failure;
use replay::backlog::{Bench, Estimates, Mix, Rule};
use replay::cancel::CancelToken;
use replay::experiment::RunContext;
use replay::slurm::placement::menu::{Anchors, Menu};
use replay::topology::Topology;

const JOBS: usize = 8_000;
const STREAMS: u64 = 3;

/// Measures all rules.
pub fn run(_: &[String]) -> Result<(), Failure> {
    let topology: Topology = "torus:16x16x16".parse()?;
    println!("anchors   window  rule     decisions   decisions/s");
    for (spacing, anchors) in Anchors::ALL.iter().take(2) {
        let bench = Bench::new(&topology, &Menu::TpuV4, *anchors, false)?;
        for window in [1, 16] {
            for (name, rule) in Rule::ALL.iter().filter(|(_, rule)| *rule != Rule::Count) {
                let (mut most, mut all) = (0.0f64, 0);
                for stream in 0..STREAMS {
                    let jobs = Mix::ALL[0].1.draw(bench.torus(), JOBS, Estimates::Exact, stream)?;
                    let begin = Instant::now();
                    let (_, decisions) =
                        bench.decide(&jobs, *rule, window, RunContext::new(&CancelToken::new()))?;
                    most = most.max(decisions as f64 / begin.elapsed().as_secs_f64());
                    all += decisions;
                }
                println!("{spacing:<8} {window:>7}  {name:<7} {all:>10} {most:>13.0}");
            }
        }
    }
    Ok(())
}
