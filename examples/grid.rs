//! Runs a grid and queries its results with polars.
//!
//! `cargo run --release --example grid`

use std::error::Error;

use polars::prelude::*;
use replay::results::{GridSpec, RunOptions};

const GRID: &str = r#"
schedulers = ["fcfs", "easy"]
allocator = ["mc1x1", "random"]
window = { jobs = 1000 }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let options = RunOptions { jobs: true, ..RunOptions::default() };
    let results = GridSpec::parse(GRID)?.run(replay::strategies::standard(), &options)?;
    let runs = results.runs()?;

    #[expect(deprecated)]
    // The lazy form needs the query planner of polars, which this program does not link.
    let waits = runs.group_by_stable(["scheduler"])?.select(["mean_wait"]).mean()?;
    let [names, means] = ["scheduler", "mean_wait_mean"].map(|name| waits.column(name));
    for (name, mean) in names?.str()?.iter().zip(means?.f64()?.iter()) {
        println!("{}: {:.0} s", name.unwrap_or_default(), mean.unwrap_or_default());
    }

    // Each job with the allocator and the mean distance of its run.
    let of_runs = runs.select(["run", "allocator", "mean_pairwise_l1"])?;
    let jobs = results.jobs()?.inner_join(&of_runs, ["run"], ["run"])?;
    println!("{} jobs of {} runs", jobs.height(), runs.height());
    Ok(())
}
