//! `replay synth`: synthetic traces.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Args;

use super::args::{QuietArg, SeedArg, WriteArg};
use super::exit::{Exit, Failure, eprint_line};
use super::side_files::SideFiles;
use super::terminal::stdout;
use super::write::{OutputFile, check_apart};
use replay_engine::naming::StrategyName;
use replay_engine::workload::lublin::{LublinFeitelson, write_swf};
use replay_engine::workload::stochastic::shapes_path;
use replay_engine::workload::synthetic::{SyntheticTrace, generate};

/// Arguments of `replay synth`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay synth --jobs 2000 --load 0.8 --write out/lublin.swf
  replay synth 'stream[machine=16x16,arrivals=5,jobs=500]' --write out/stream.swf
  replay list generators")]
pub struct SynthArgs {
    /// Generate by this model: stream[KEY=VALUE,..] or lublin[KEY=VALUE,..] (replay list generators).
    ///
    /// The default is lublin with the options below.
    #[arg(value_name = "MODEL", conflicts_with_all = ["jobs", "processors", "load", "seed"])]
    model: Option<StrategyName>,

    /// Generate N jobs.
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    jobs: u64,

    /// Set the number of processors of the machine.
    ///
    /// No job is larger than the machine.
    #[arg(long, value_name = "N", default_value_t = 100)]
    processors: u32,

    /// Offer this load, the share of the machine's processor time that jobs request [default: the model's].
    #[arg(long, value_name = "LOAD")]
    load: Option<f64>,

    #[command(flatten)]
    seed: SeedArg,

    #[command(flatten)]
    write: WriteArg,

    #[command(flatten)]
    pub quiet: QuietArg,
}

const ABOUT_WRITE: &str = "Write to this file [default: standard output].

If the model gives jobs shapes, the shapes are written to FILE.shapes.csv beside FILE.swf, where replay finds this file.";

/// Adapts the help of shared options to this command.
pub fn adapted(command: clap::Command) -> clap::Command {
    command.mut_arg("write", |arg| arg.long_help(ABOUT_WRITE))
}

/// Generates a trace.
pub fn run(args: &SynthArgs) -> Result<Exit, Failure> {
    let made = match &args.model {
        Some(model) => generate(model).map_err(Failure::usage)?,
        None => by_options(args)?,
    };
    let Some(path) = args.write.file() else {
        let mut out = stdout();
        out.write_all(&made.swf).and_then(|()| out.flush()).map_err(Failure::stdout)?;
        return Ok(Exit::Done);
    };
    let written = |path: &Path, bytes: &[u8]| {
        let mut file = OutputFile::create(path)?;
        file.write_all(bytes).map_err(|e| file.failed(e)).map(|()| file)
    };
    // A device or a pipe has no side files.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        written(path, &made.swf)?.finish()?;
        return Ok(Exit::Done);
    }
    let side_files = SideFiles::new(path)?;
    check_apart([""; 0], &side_files.outputs())?;
    let shapes = made.shapes.as_ref().map(|shapes| written(&shapes_path(path), shapes));
    let (trace, shapes) = (written(path, &made.swf)?, shapes.transpose()?);
    let digest = blake3::hash(&made.swf).to_hex();
    // Shapes that were written by hand for a model without shapes are kept.
    let beside = shapes.as_ref().map(|shapes| shapes.path().to_path_buf());
    side_files.finish(trace, &digest, shapes.into_iter().collect(), true, args.quiet.quiet)?;
    if let Some(path) = beside.filter(|_| !args.quiet.quiet) {
        eprint_line(format_args!("shapes: {}", path.display()));
    }
    Ok(Exit::Done)
}

/// Generates a trace by the Lublin-Feitelson model with the parameters given by separate options.
fn by_options(args: &SynthArgs) -> Result<SyntheticTrace, Failure> {
    let mut model = LublinFeitelson::batch_and_interactive(args.processors);
    if let Some(load) = args.load {
        model = model.with_load(load);
    }
    let jobs = model.generate(args.jobs as usize, args.seed.seed).map_err(Failure::usage)?;
    let load = args.load.map_or("as the model gives it".to_string(), |load| load.to_string());
    let note = format!(
        "Synthetic: {} jobs of the Lublin-Feitelson model (batch and interactive), seed {}, offered load {load}",
        args.jobs, args.seed.seed
    );
    let command = format!(
        "replay synth --jobs {} --processors {} --seed {}{}",
        args.jobs,
        args.processors,
        args.seed.seed,
        args.load.map_or(String::new(), |load| format!(" --load {load}"))
    );
    let fields = [("Computer", "none"), ("Note", note.as_str()), ("Note", command.as_str())];
    let mut swf = Vec::new();
    write_swf(&jobs, args.processors, &fields, &mut swf)
        .map_err(|e| Failure::output("the trace", e))?;
    Ok(SyntheticTrace { name: StrategyName::plain("lublin"), swf, shapes: None })
}
