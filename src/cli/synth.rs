use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure};
use crate::workload::lublin::{LublinFeitelson, write_swf};

/// Arguments of `replay synth`.
#[derive(Clone, Debug, Args)]
pub struct SynthArgs {
    /// Number of jobs.
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    jobs: u64,

    /// Processors of the machine; no job is larger.
    #[arg(long, value_name = "N", default_value_t = 100)]
    processors: u32,

    /// Offered load: processor-seconds asked for over those there are [default: the model's].
    #[arg(long, value_name = "FRACTION")]
    load: Option<f64>,

    /// Seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// File to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Makes a trace by the model of Lublin and Feitelson.
pub fn run(args: &SynthArgs) -> Result<Exit, Failure> {
    let mut model = LublinFeitelson::batch_and_interactive(args.processors);
    if let Some(load) = args.load {
        model = model.with_load(load);
    }
    let jobs = model.generate(args.jobs as usize, args.seed).map_err(Failure::usage)?;
    let load = args.load.map_or("as the model gives it".to_string(), |load| load.to_string());
    let note = format!(
        "Synthetic: {} jobs of the Lublin-Feitelson model (batch and interactive), seed {}, offered load {load}",
        args.jobs, args.seed
    );
    let command = format!(
        "replay synth --jobs {} --processors {} --seed {}{}",
        args.jobs,
        args.processors,
        args.seed,
        args.load.map_or(String::new(), |load| format!(" --load {load}"))
    );
    let fields = [("Computer", "none"), ("Note", note.as_str()), ("Note", command.as_str())];
    match &args.write {
        Some(path) => {
            let file = File::create(path).map_err(|e| Failure::output(path.display(), e))?;
            write_swf(&jobs, args.processors, &fields, BufWriter::new(file))
                .map_err(|e| Failure::output(path.display(), e))?;
        }
        None => write_swf(&jobs, args.processors, &fields, BufWriter::new(io::stdout().lock()))
            .map_err(|e| Failure::output("standard output", e))?,
    }
    Ok(Exit::Done)
}
