//! `replay synth`: synthetic traces.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Args;

use super::args::{QuietArg, SeedArg, WriteArg};
use super::exit::{Exit, Failure, eprint_line};
use replay_core::naming::StrategyName;
use replay_core::workload::lublin::{LublinFeitelson, write_swf};
use replay_core::workload::sidecar::check_file;
use replay_core::workload::stochastic::{ids_path, nodes_path, shapes_path};
use replay_core::workload::synthetic::{SyntheticTrace, generate};
use replay_experiment::files::AtomicFile;
use std::io::stdout;

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
    // A device or a pipe has no side files.
    let is_file = fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    let shapes = made.shapes.as_ref().filter(|_| is_file).map(|shapes| (shapes_path(path), shapes));
    if is_file {
        refuse_others(path, &made)?;
    }
    let begin = |path: &Path, bytes: &[u8]| {
        let begin = || {
            let mut file = AtomicFile::create(path)?;
            file.write_all(bytes)?;
            file.flush().map(|()| file)
        };
        begin().map_err(|e| Failure::output(path.display(), e))
    };
    // The trace and the file of shapes are both complete before they are renamed. If the program ends between the two
    // renames, the shapes file has the digest of the new trace, and readers refuse to use it with the old trace.
    let beside = shapes.map(|(path, bytes)| begin(&path, bytes).map(|file| (path, file)));
    let swf = begin(path, &made.swf)?;
    if let Some((path, file)) = beside.transpose()? {
        file.finish().map_err(|e| Failure::output(path.display(), e))?;
        if !args.quiet.quiet {
            eprint_line(format_args!("shapes: {}", path.display()));
        }
    }
    swf.finish().map_err(|e| Failure::output(path.display(), e))?;
    Ok(Exit::Done)
}

/// Returns an error if there are side files of another trace, because they would be read together with the new trace.
fn refuse_others(path: &Path, made: &SyntheticTrace) -> Result<(), Failure> {
    let replaced = made.shapes.is_some().then(|| shapes_path(path));
    let digest = blake3::hash(&made.swf).to_hex();
    let beside = [shapes_path(path), nodes_path(path), ids_path(path)];
    for file in beside.iter().filter(|file| replaced.as_ref() != Some(file)) {
        check_file(file, &path.display().to_string(), &digest).map_err(|other| {
            Failure::usage_message(format!(
                "{}: belongs to a trace other than --write {}; move the file away",
                other.file, other.trace
            ))
        })?;
    }
    Ok(())
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
