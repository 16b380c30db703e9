use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure, tell};
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
    /// What to make: stream[KEY=VALUE,..] or lublin[KEY=VALUE,..] (replay list generators)
    /// [default: lublin, by the options below].
    #[arg(value_name = "MODEL", conflicts_with_all = ["jobs", "processors", "load", "seed"])]
    model: Option<StrategyName>,

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

    /// File to write [default: standard output]. Shapes, if the jobs have any, go to
    /// FILE.shapes.csv (for FILE.swf) beside it and are found there again.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Makes a trace by a model.
pub fn run(args: &SynthArgs) -> Result<Exit, Failure> {
    let made = match &args.model {
        Some(model) => generate(model).map_err(Failure::usage)?,
        None => by_options(args)?,
    };
    let Some(path) = &args.write else {
        let mut out = stdout();
        out.write_all(&made.swf)
            .and_then(|()| out.flush())
            .map_err(|e| Failure::output("standard output", e))?;
        return Ok(Exit::Done);
    };
    // A device or a pipe has nothing beside it.
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
    // A trace and its shapes belong together: neither has its name before both are written. Should the program end
    // between the two names, the shapes name the new trace, and readers refuse them beside the old one.
    let beside = shapes.map(|(path, bytes)| begin(&path, bytes).map(|file| (path, file)));
    let swf = begin(path, &made.swf)?;
    if let Some((path, file)) = beside.transpose()? {
        file.finish().map_err(|e| Failure::output(path.display(), e))?;
        tell(format_args!("shapes: {}", path.display()));
    }
    swf.finish().map_err(|e| Failure::output(path.display(), e))?;
    Ok(Exit::Done)
}

/// Refuses to write a trace beside a file that names another one and would be taken for a part of it.
fn refuse_others(path: &Path, made: &SyntheticTrace) -> Result<(), Failure> {
    let replaced = made.shapes.is_some().then(|| shapes_path(path));
    let digest = blake3::hash(&made.swf).to_hex();
    let beside = [shapes_path(path), nodes_path(path), ids_path(path)];
    for file in beside.iter().filter(|file| replaced.as_ref() != Some(file)) {
        check_file(file, &path.display().to_string(), &digest).map_err(|other| {
            Failure::usage_message(format!(
                "{}: belongs to another trace than the one to be written to {}; move it away",
                other.file, other.trace
            ))
        })?;
    }
    Ok(())
}

/// The Lublin-Feitelson model by the single options.
fn by_options(args: &SynthArgs) -> Result<SyntheticTrace, Failure> {
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
    let mut swf = Vec::new();
    write_swf(&jobs, args.processors, &fields, &mut swf)
        .map_err(|e| Failure::output("the trace", e))?;
    Ok(SyntheticTrace { name: StrategyName::plain("lublin"), swf, shapes: None })
}
