//! `replay fetch`: traces of the Parallel Workloads Archive, downloaded or copied, and verified.

mod check;
mod download;
mod part;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use rustix::fs::{Access, access};

use super::args::QuietArg;
use super::exit::{Exit, Failure, eprint_line};
use check::{Checked, Mismatch, check};
use download::{DownloadError, download};
use part::{Part, PartError};
use replay_engine::lines;
use replay_engine::naming::nearest_few;
use replay_engine::workload::{KnownTrace, Manifest, SearchPath};

/// Arguments of `replay fetch`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay fetch KTH-SP2
  replay fetch KTH-SP2 NASA-iPSC --from /media/usb/traces
  replay fetch --all --to traces")]
#[command(after_long_help = "Examples:
  replay fetch KTH-SP2
  replay fetch KTH-SP2 NASA-iPSC --from /media/usb/traces
  replay fetch --all --to traces

A download is written to NAME.swf.gz.part. After an interruption the same command resumes the download. The file gets its final name NAME.swf.gz only if its SHA-256 is correct, or its number of records if no SHA-256 is known. A part that is complete but not correct is deleted. An existing file is verified and never replaced.

Proxies: ALL_PROXY, HTTPS_PROXY, HTTP_PROXY, NO_PROXY.

Exit codes: 0 all traces are present and verified; 1 some traces are not, with a message for each; 2 usage or unknown names; 130 interrupted.")]
pub struct FetchArgs {
    /// Fetch the traces with these names or aliases (replay list traces).
    ///
    /// Case, .swf and .gz are ignored. If several traces have an alias, the command takes the first that is present, or
    /// else the first that the archive contains.
    #[arg(value_name = "NAME")]
    traces: Vec<String>,

    /// Fetch every trace in the archive or, with --from, every known trace in the folder.
    #[arg(long, conflicts_with = "traces")]
    all: bool,

    /// Write to this folder [default: the folder in which replay looks for traces first].
    ///
    /// The default is the first folder of $REPLAY_TRACES, traces/ and the traces/ of the checkout that exists and can
    /// be written. If there is none, a folder of $REPLAY_TRACES or traces/ is created. A trace that is present in one
    /// of these folders is not fetched again.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Copy from this folder instead of the network.
    ///
    /// The folder contains the files of the archive, NAME.swf.gz.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,

    /// Give up if the server does not connect, or sends nothing, for this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// Read names, addresses and digests from this file instead of the list in the program.
    ///
    /// The file has the format of traces/manifest.toml, for example with the addresses of a mirror.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    #[command(flatten)]
    pub quiet: QuietArg,
}

/// Outcome of fetching a trace.
enum Fetched {
    /// The file did not exist and has been written.
    New(Checked),
    /// The file existed.
    Present(Checked),
    /// The trace comes with the program.
    Shipped,
}

/// Error: a trace was not fetched.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error(
        "{0}\nthe file is not replaced: move it away and run the command again, or select another \
         folder with --to DIR"
    )]
    Existing(Mismatch),
    #[error("{0}")]
    Unreadable(io::Error),
    #[error("not in the archive; copy it from a folder with --from DIR")]
    NotInArchive,
    #[error("no {file} in {}", .dir.display())]
    NotInFolder { file: String, dir: PathBuf },
    #[error("cannot copy {}: {source}", .file.display())]
    Copy { file: PathBuf, source: io::Error },
    #[error(transparent)]
    Part(#[from] PartError),
    #[error("cannot fetch {url}: {source}\n{}", .advice)]
    Download { url: String, source: DownloadError, advice: String },
    #[error("{0}\nthe download is deleted: the server, or a proxy, sends another file")]
    Downloaded(Mismatch),
    #[error("{0}\nit is not copied")]
    Source(Mismatch),
}

/// The traces to choose from and the folders to use.
struct Fetcher<'a> {
    args: &'a FetchArgs,
    manifest: &'a Manifest,
    /// Folders in which a trace may be present.
    dirs: Vec<PathBuf>,
    /// Folder for new files.
    to: PathBuf,
}

/// Fetches traces.
///
/// # Errors
/// A usage error for an unknown name or an absent folder.
pub fn run(args: &FetchArgs) -> Result<Exit, Failure> {
    let manifest = match &args.manifest {
        None => Manifest::embedded().map_err(Failure::usage)?,
        Some(path) => read_manifest(path)?,
    };
    if let Some(from) = args.from.as_ref().filter(|from| !from.is_dir()) {
        let from = from.display();
        return Err(Failure::usage_message(format!("--from {from}: no such directory")));
    }
    let search = SearchPath::from_env();
    let dirs = args.to.as_ref().map_or_else(|| search.dirs().to_vec(), |to| vec![to.clone()]);
    let to = destination(&dirs);
    let fetcher = Fetcher { args, manifest: &manifest, dirs, to };
    let wanted = fetcher.wanted()?;
    let mut exit = Exit::Done;
    for trace in wanted {
        let name = &trace.name;
        match fetcher.fetch(trace) {
            Ok((fetched, file)) => fetcher.print(name, &fetched, &file)?,
            Err(error) => {
                eprint_line(format_args!("replay: {name}: {error}"));
                exit = Exit::Differs;
            }
        }
    }
    Ok(exit)
}

fn read_manifest(path: &Path) -> Result<Manifest, Failure> {
    let within = |failure: Failure| failure.within(format!("--manifest {}", path.display()));
    let text = File::open(path).and_then(lines::whole).map_err(|e| within(Failure::usage(e)))?;
    let manifest = Manifest::parse(&text).map_err(|e| within(Failure::usage(e)))?;
    // A name becomes the name of a file in the folder.
    let is_file_name = |name: &str| !name.is_empty() && !name.contains(['/', '\0']);
    match manifest.traces.iter().find(|trace| !is_file_name(&trace.name)) {
        Some(KnownTrace { name, .. }) => {
            Err(within(Failure::usage_message(format!("\"{name}\" is not the name of a file"))))
        }
        None => Ok(manifest),
    }
}

/// Returns the folder for new files: the first existing folder that can be written, or else the first folder that does
/// not exist. If every folder exists and none can be written, returns the first one.
fn destination(dirs: &[PathBuf]) -> PathBuf {
    let is_writable =
        |dir: &&PathBuf| dir.is_dir() && access(*dir, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let is_absent = |dir: &&PathBuf| fs::symlink_metadata(dir).is_err();
    let chosen = dirs.iter().find(is_writable).or_else(|| dirs.iter().find(is_absent));
    chosen.or(dirs.first()).cloned().unwrap_or_default()
}

/// Returns the name of the file of a trace.
fn file_name(trace: &KnownTrace) -> String {
    format!("{}.swf.gz", trace.name)
}

impl Fetcher<'_> {
    /// Returns the traces to fetch.
    fn wanted(&self) -> Result<Vec<&KnownTrace>, Failure> {
        if self.args.all {
            let is_source = |trace: &&KnownTrace| match &self.args.from {
                Some(from) => from.join(file_name(trace)).is_file(),
                None => trace.url.is_some(),
            };
            let all: Vec<_> = self.manifest.traces.iter().filter(is_source).collect();
            return match (all.is_empty(), &self.args.from) {
                (true, Some(from)) => Err(Failure::usage_message(format!(
                    "--from {}: no file of a known trace (NAME.swf.gz, see replay list traces)",
                    from.display()
                ))),
                _ => Ok(all),
            };
        }
        if self.args.traces.is_empty() {
            let message = "no trace named; name traces of replay list traces, or use --all";
            return Err(Failure::usage_message(message));
        }
        self.args.traces.iter().map(|name| self.resolve(name)).collect()
    }

    /// Returns the first trace with this name or alias that is present or in the folder of `--from`, or else the first
    /// trace in the archive.
    fn resolve(&self, name: &str) -> Result<&KnownTrace, Failure> {
        let candidates: Vec<_> = self.manifest.matching(name).collect();
        let is_copy = |trace: &KnownTrace| {
            self.args.from.as_ref().is_some_and(|from| from.join(file_name(trace)).is_file())
        };
        let here = candidates.iter().find(|t| self.existing(t).is_some() || is_copy(t));
        let found = here.or_else(|| candidates.iter().find(|trace| trace.url.is_some()));
        found.or(candidates.first()).copied().ok_or_else(|| {
            let near = nearest_few(name, self.manifest.names().into_iter(), 3).join(", ");
            let hint = match near.as_str() {
                "" => String::new(),
                near => format!("; did you mean {near}?"),
            };
            let known = "known traces: replay list traces";
            Failure::usage_message(format!("unknown trace \"{name}\"{hint}\n{known}"))
        })
    }

    /// Returns the existing file of a trace, which may be incorrect.
    fn existing(&self, trace: &KnownTrace) -> Option<PathBuf> {
        let files = self.dirs.iter().map(|dir| dir.join(file_name(trace)));
        files.into_iter().find(|file| fs::symlink_metadata(file).is_ok())
    }

    /// Fetches a trace unless it is present. Returns the path of the file.
    fn fetch(&self, trace: &KnownTrace) -> Result<(Fetched, PathBuf), FetchError> {
        if let Some(file) = self.existing(trace) {
            let checked = check(&file, trace).map_err(FetchError::Unreadable)?;
            return Ok((Fetched::Present(checked.map_err(FetchError::Existing)?), file));
        }
        let name = file_name(trace);
        let file = self.to.join(&name);
        if trace.shipped {
            return Ok((Fetched::Shipped, file));
        }
        let part = match (&self.args.from, &trace.url) {
            (Some(from), _) => self.copy(&from.join(&name), &name, from)?,
            (None, Some(url)) => self.download(trace, url, &file)?,
            (None, None) => return Err(FetchError::NotInArchive),
        };
        match check(part.path(), trace).map_err(FetchError::Unreadable)? {
            Ok(checked) => {
                part.finish()?;
                Ok((Fetched::New(checked), file))
            }
            Err(mismatch) => {
                // The next download must not resume an incorrect file.
                part.delete()?;
                Err(match &self.args.from {
                    Some(from) => FetchError::Source(mismatch.of(from.join(&name))),
                    None => FetchError::Downloaded(mismatch),
                })
            }
        }
    }

    /// Copies a file into a new part.
    fn copy(&self, from: &Path, name: &str, dir: &Path) -> Result<Part, FetchError> {
        let failed = |source| FetchError::Copy { file: from.to_path_buf(), source };
        if !from.is_file() {
            return Err(FetchError::NotInFolder { file: name.to_string(), dir: dir.into() });
        }
        let mut source = fs::File::open(from).map_err(failed)?;
        let mut part = Part::open(&self.to, name)?;
        part.restart()?;
        io::copy(&mut source, part.file()).map_err(failed)?;
        Ok(part)
    }

    /// Completes the part of a trace by a download.
    fn download(&self, trace: &KnownTrace, url: &str, file: &Path) -> Result<Part, FetchError> {
        let mut part = Part::open(&self.to, &file_name(trace))?;
        // A server refuses to resume a complete file.
        let is_complete = part.len()? > 0 && matches!(check(part.path(), trace), Ok(Ok(_)));
        if is_complete {
            return Ok(part);
        }
        let patience = Duration::from_secs(self.args.timeout);
        let done = download(url, &mut part, &trace.name, patience, self.args.quiet.quiet);
        match done {
            Ok(()) => Ok(part),
            Err(DownloadError::Part(error)) => Err(error.into()),
            Err(source) => {
                let resume = match part.len()? {
                    0 => "",
                    _ => "run the command again to resume the download\n",
                };
                let advice = format!(
                    "{resume}without a connection: download the address by other means to {}, or copy the file from a \
                     folder with --from DIR; the command then verifies it",
                    file.display()
                );
                Err(FetchError::Download { url: url.to_string(), source, advice })
            }
        }
    }

    /// Prints the outcome of a trace. The path is printed unless the user named the folder.
    fn print(&self, name: &str, fetched: &Fetched, file: &Path) -> Result<(), Failure> {
        let place = match self.args.to {
            Some(_) => String::new(),
            None => format!(": {}", file.display()),
        };
        let line = match fetched {
            Fetched::New(checked) => format!("{name}: fetched and {checked}{place}"),
            Fetched::Present(checked) => format!("{name}: already present and {checked}{place}"),
            Fetched::Shipped => format!("{name}: comes with the program"),
        };
        writeln!(io::stdout(), "{line}").map_err(Failure::stdout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_go_to_the_first_folder_that_exists_or_can_be_created() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("exists")).expect("a folder");
        fs::write(at("file"), "").expect("a file");
        assert_eq!(destination(&[at("absent"), at("exists")]), at("exists"));
        assert_eq!(destination(&[at("file"), at("absent"), at("later")]), at("absent"));
        assert_eq!(destination(&[at("file")]), at("file"));
    }
}
