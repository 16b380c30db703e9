//! `replay import`: converts logs of other formats to SWF.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;

use super::args::{QuietArg, WriteArg};
use super::exit::{Exit, Failure, eprint_line};
use super::side_files::{SideFiles, written_beside};
use super::write::{OutputFile, check_apart};
use crate::cli::terminal::stdout;
use replay_engine::{lines, swf};
use replay_experiment::files;
use replay_import::{
    ColumnMap, Import, ImportError, Input, Outputs, Report, Selection, Source, When, import_all,
};

/// Arguments of `replay import`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay import sacct sacct.txt --processors 1024 --write out/site.swf
  replay import 'sacct[zone=Europe/Prague]' sacct.txt --write out/site.swf
  replay import sacct-json sacct.json --partition batch --write out/site.swf
  replay import lsf lsb.acct --write out/site.swf
  replay import csv jobs.csv --map map.toml --write out/table.swf
  replay list sources")]
pub struct ImportArgs {
    /// Format of the log: sacct, sacct-json, cobalt, torque, lsf, sge, gwf, batsim, evalys, dirlab, rfold, csv, fdata,
    /// pm100 or parquet (replay list sources).
    ///
    /// A format may have settings, such as sacct[submit=eligible].
    #[arg(value_name = "SOURCE[..]")]
    source: Source,

    /// Files of the log, plain, packed by gzip, or Parquet; - is standard input.
    ///
    /// The log is read once, in constant memory.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    write: WriteArg,

    /// Read the meaning of columns from this TOML file; for the formats csv and parquet.
    ///
    /// The file may contain separator = "," (" " stands for any number of blanks); time = "iso", "unix", "unix-ms",
    /// "seconds" or a format such as "%m/%d/%Y %H:%M:%S" in the directives of strftime; zone = "UTC", "+01:00" or
    /// "Europe/Prague"; none = ["-1", "NULL"], the texts for missing values; and comment = "#". Dates are truncated to
    /// seconds; numbers are rounded to the nearest second. Under [columns], the file assigns columns of the log to the keys
    /// id, submit, start or wait, end or run, size, requested, estimate, status, user, group, queue, nodes. Without size, the
    /// size of a job is the number of its nodes, or its requested size. A column may have texts for missing values of its
    /// own: start = { column = "began", none = ["0"] }. A duration may have a unit: run = { column = "min", unit =
    /// "minutes" }; other units are hours, HH:MM:SS and seconds. The key status has the form status = { column = "s",
    /// ok = ["done"], failed = [..], cancelled = [..], running = [..] }; if the column contains Slurm's job states,
    /// slurm = true replaces the lists. Nodes may be n[1-4,7], 0-3,5 or 0 3-5.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Use these column names for a log without a header line, such as the output of sacct -n.
    ///
    /// The names are separated by commas, as in sacct -o, or by the separator of the log. A file that has a header line
    /// may have other columns.
    #[arg(long, value_name = "NAMES")]
    header: Option<String>,

    /// Import only the jobs of these partitions or queues.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', visible_alias = "queue")]
    partition: Vec<String>,

    /// Import only the jobs of these users.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    user: Vec<String>,

    /// Import only the jobs with these states, such as COMPLETED,TIMEOUT.
    ///
    /// The states are Slurm's words in any case, or their short names, such as CD,TO. If the log does not have Slurm's words, the
    /// states are completed, failed, cancelled, partial and unknown.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    state: Vec<String>,

    /// Import only jobs that were submitted at this time or later: YYYY-MM-DD[THH:MM:SS], or seconds as in the log.
    ///
    /// A date is in the zone of the log; a time may have an offset from UTC, such as +01:00.
    #[arg(long, value_name = "TIME")]
    from: Option<When>,

    /// Import only jobs that were submitted before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<When>,

    /// Set the number of processors of the machine.
    ///
    /// The number is written to the header of the trace, because logs do not record the number of processors.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    processors: Option<u32>,

    /// Skip up to this many malformed lines instead of stopping at the first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_errors: usize,

    #[command(flatten)]
    quiet: QuietArg,
}

const ABOUT_WRITE: &str = "Write to this file [default: standard output].

If the log names the nodes of jobs, replay writes the nodes to FILE.nodes.csv beside FILE.swf. Shapes are written to \
FILE.shapes.csv. Job ids of the log that are not 1, 2, 3, .. are written to FILE.ids.csv.";

/// Adapts the help of shared options to this command.
pub fn adapted(command: clap::Command) -> clap::Command {
    command.mut_arg("write", |arg| arg.long_help(ABOUT_WRITE))
}

/// Returns the files of the log; each file is opened only after the previous file has been read.
fn inputs(files: &[PathBuf]) -> impl Iterator<Item = (String, io::Result<Input<'static>>)> {
    files.iter().map(|path| match is_input(path) {
        true => ("stdin".to_string(), Ok(Input::Stream(Box::new(io::stdin().lock())))),
        false => (path.display().to_string(), open(path)),
    })
}

/// Returns whether a path stands for standard input.
fn is_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn open(path: &Path) -> io::Result<Input<'static>> {
    let file = File::open(path)?;
    let is_file = file.metadata()?.is_file();
    Ok(if is_file { Input::File(file) } else { Input::Stream(Box::new(file)) })
}

/// Imports a log.
pub fn run(args: &ImportArgs) -> Result<Exit, Failure> {
    let map = args.map.as_deref().map(read_map).transpose()?;
    if args.files.iter().filter(|path| is_input(path)).count() > 1 {
        return Err(Failure::usage_message(
            "standard input (-) is given twice; it can be read only once",
        ));
    }
    let write = args.write.file();
    let quiet = args.quiet.quiet;
    if let Some(path) = write
        && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"))
    {
        return Err(Failure::usage_message(format!(
            "--write {}: traces are written uncompressed; write {} and compress this file with gzip",
            path.display(),
            path.with_extension("").display()
        )));
    }
    // A device or a pipe has no side files.
    let beside = match write.filter(|path| fs::metadata(path).map_or(true, |meta| meta.is_file())) {
        Some(path) => Some(SideFiles::new(path)?),
        None => None,
    };
    let outputs = beside.as_ref().map_or_else(|| args.write.outputs(), SideFiles::outputs);
    check_apart(args.files.iter().chain(&args.map), &outputs)?;
    for (at, file) in args.files.iter().enumerate() {
        let read = if is_input(file) { Path::new("/dev/stdin") } else { file };
        // If a file were given twice, the trace would contain all jobs of the file twice.
        let is_same = |other: &&PathBuf| !is_input(other) && files::same_file(other, read);
        if let Some(other) = args.files[..at].iter().find(is_same) {
            let (file, other) = (file.display(), other.display());
            let message = match file.to_string() == other.to_string() {
                true => format!("{file}: this file is given twice"),
                false => format!("{file}: this is the same file as {other}"),
            };
            return Err(Failure::usage_message(message));
        }
        // Every file is checked before the first is read.
        if !is_input(file) {
            fs::metadata(file).map_err(|e| {
                let what = format!("cannot read {}", file.display());
                Failure::usage(anyhow::Error::new(e).context(what))
            })?;
        }
    }
    let name = args.files.first().map_or(String::new(), |file| file.display().to_string());
    let mut how = Import::new(args.source.clone(), name);
    (how.map, how.max_errors, how.processors) = (map, args.max_errors, args.processors);
    how.header = args.header.clone();
    how.select = Selection {
        partitions: args.partition.clone(),
        users: args.user.clone(),
        states: args.state.clone(),
        from: args.from,
        until: args.until,
    };
    let report = match write {
        None => {
            let mut out = BufWriter::new(stdout());
            let outputs = Outputs::trace(&mut out);
            import_all(inputs(&args.files), &how, outputs)
                .map_err(|e| failure(e, "standard output"))?
        }
        Some(path) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            how.scratch = folder.unwrap_or(Path::new(".")).to_path_buf();
            let mut trace = OutputFile::create(path)?;
            match &beside {
                Some(beside) => to_file(&args.files, &how, beside, trace, quiet)?,
                None => {
                    let report = import_all(inputs(&args.files), &how, Outputs::trace(&mut trace))
                        .map_err(|e| failure(e, path.display()))?;
                    trace.finish()?;
                    report
                }
            }
        }
    };
    if !quiet {
        eprint_line(&report);
        let beside = write.is_some_and(|path| fs::metadata(path).is_ok_and(|meta| meta.is_file()));
        if report.nodes > 0 && !beside {
            eprint_line(
                "the log names the nodes of jobs; --write FILE writes the nodes to FILE.nodes.csv",
            );
        }
        if args.processors.is_none() {
            eprint_line(
                "the trace does not have the size of the machine; give it by --processors N, or by --machine for each replay",
            );
        }
    }
    Ok(Exit::Done)
}

/// Imports a log into a file, and writes the side files of this file.
fn to_file(
    files: &[PathBuf],
    how: &Import,
    beside: &SideFiles,
    mut trace: OutputFile,
    quiet: bool,
) -> Result<Report, Failure> {
    let path = trace.path().to_path_buf();
    let [nodes, shapes, ids] = written_beside(&path);
    let [mut nodes, mut shapes, mut ids] =
        [OutputFile::create(&nodes)?, OutputFile::create(&shapes)?, OutputFile::create(&ids)?];
    let outputs = Outputs {
        swf: &mut trace,
        nodes: Some(&mut nodes),
        shapes: Some(&mut shapes),
        ids: Some(&mut ids),
    };
    let report = import_all(inputs(files), how, outputs).map_err(|e| failure(e, path.display()))?;
    let used = [report.nodes, report.shapes, report.renamed].map(|jobs| jobs > 0);
    let written = [nodes, shapes, ids].into_iter().zip(used);
    let written: Vec<_> = written.filter_map(|(file, is_used)| is_used.then_some(file)).collect();
    let paths: Vec<_> = written.iter().map(|file| file.path().to_path_buf()).collect();
    beside.finish(trace, &report.digest, written, false, quiet)?;
    if !quiet {
        paths.iter().for_each(|path| eprint_line(format_args!("side file: {}", path.display())));
    }
    Ok(report)
}

fn read_map(path: &Path) -> Result<ColumnMap, Failure> {
    let name = path.display().to_string();
    let text = File::open(path).and_then(lines::whole);
    let text = text.map_err(|e| {
        Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}")))
    })?;
    ColumnMap::parse(&text, &name).map_err(Failure::usage)
}

/// Converts an error. A log that cannot be read is a usage error; invalid content is a data error.
fn failure(error: ImportError, out: impl std::fmt::Display) -> Failure {
    match error {
        ImportError::Unreadable(swf::Error::Io { .. })
        | ImportError::Map(_)
        | ImportError::Usage(_)
        | ImportError::SameText { .. } => Failure::usage(error),
        ImportError::Output(cause) => Failure::output(out, cause),
        error => Failure::data(error),
    }
}
