//! Sessions of commands with results: threads, messages, and the output folder.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::{OutputArgs, ProcessArgs};
use super::earlier;
use super::exit::{Exit, Failure, eprint_line};
use super::journal;
use super::print::{FormatArg, TableArgs};
use super::program::Invocation;
use super::result_kind::Kind;
use replay_engine::number::counted;
use replay_experiment::files::{Dir, Folder, FolderError, InputRecord, Results, Staging};
use replay_experiment::journal::{HEADER, JOURNAL_FILE};
use replay_experiment::sweep::Build;
use replay_output::plot::FigureStyle;
use replay_output::report::manifest::{Host, Origin};

/// A running command with its output folder.
#[derive(Debug)]
pub struct Session {
    kind: Kind,
    origin: Origin,
    quiet: bool,
    table: TableArgs,
    plots: bool,
    style: FigureStyle,
    /// Whether the results are incomplete because of an interruption.
    partial: bool,
    /// The journal and the command that continues with it, if there is a journal.
    continuation: Option<(PathBuf, &'static str)>,
    /// Whether the journal remains when results are written.
    keeps_journal: bool,
    /// Path of the journal if the command runs a shard, which writes only a journal.
    shard_journal: Option<PathBuf>,
    /// Input files.
    inputs: Vec<PathBuf>,
    /// Digest of the configuration; `None` until the configuration is declared.
    configuration: Option<String>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Nowhere,
    Claimed(Folder),
    Staged(Staging),
}

impl Session {
    /// Begins a command with these options.
    ///
    /// # Errors
    /// The errors of [`within`](Self::within), and a usage error if the text of figures does not fit the size of
    /// figures.
    pub fn begin(kind: Kind, args: &OutputArgs, command: Invocation<'_>) -> Result<Self, Failure> {
        let OutputArgs { table, out, force, process, figures, .. } = args;
        let style = figures.style()?;
        let mut session = Self::within(kind, out.as_deref(), *force, process, command)?;
        (session.table, session.plots, session.style) = (*table, !args.no_plots, style);
        Ok(session)
    }

    /// Returns the format of printed tables.
    pub fn format(&self) -> FormatArg {
        self.table.format
    }

    /// Sets how to print tables.
    pub fn set_table(&mut self, table: TableArgs) {
        self.table = table;
    }

    /// Returns how to print tables.
    pub fn table(&self) -> TableArgs {
        self.table
    }

    /// Returns the style of figures.
    pub fn style(&self) -> FigureStyle {
        self.style
    }

    /// Returns whether to draw figures.
    pub fn plots(&self) -> bool {
        self.plots
    }

    /// Begins a command that writes results into `out`, and checks this folder before anything is computed. Results of
    /// another command or configuration are replaced only with `force`; see [`configure`](Self::configure).
    ///
    /// # Errors
    /// A usage error if the folder cannot be written, is in use, or has other results, or if threads cannot be started.
    pub fn within(
        kind: Kind,
        out: Option<&Path>,
        force: bool,
        process: &ProcessArgs,
        command: Invocation<'_>,
    ) -> Result<Self, Failure> {
        let build = command.program.build.clone();
        let origin = Origin::begin(kind.name(), build, command.arguments);
        process.set_threads()?;
        let place = match out {
            None => Place::Nowhere,
            Some(out) => Place::Claimed(claim(out, kind, force).map_err(|e| unwritable(out, e))?),
        };
        let (quiet, table) = (process.quiet, TableArgs::default());
        Ok(Self {
            kind,
            origin,
            quiet,
            table,
            plots: true,
            style: FigureStyle::default(),
            partial: false,
            continuation: None,
            keeps_journal: false,
            shard_journal: None,
            inputs: Vec::new(),
            configuration: None,
            place,
        })
    }

    /// Prints a line on standard error, unless the command is quiet.
    pub fn print_line(&self, line: impl Display) {
        if !self.quiet {
            eprint_line(line);
        }
    }

    /// Adds input files to the manifest.
    pub fn reads(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            if !self.inputs.contains(&path) {
                self.inputs.push(path);
            }
        }
    }

    /// Declares the configuration of this command. The configuration determines the numbers of the results and the set
    /// of tables. Every command calls this function once, before the computation. Results of another configuration are
    /// replaced only with `--force`.
    ///
    /// # Errors
    /// A usage error if the folder has other results.
    pub fn configure(&mut self, configuration: &impl Serialize) -> Result<(), Failure> {
        self.configure_growing(configuration, |_| None)
    }

    /// Declares the configuration as [`configure`](Self::configure) does, for a command that may extend the results in
    /// its folder. `includes` returns whether the command includes all cells of the folder, or `None` if the folder
    /// does not record its cells.
    ///
    /// # Errors
    /// A usage error if the folder has other results.
    pub fn configure_growing(
        &mut self,
        configuration: &impl Serialize,
        includes: impl FnOnce(&Folder) -> Option<bool>,
    ) -> Result<(), Failure> {
        let digest = earlier::digest(self.kind, configuration)
            .map_err(|e| Failure::output("the configuration", e))?;
        if let Place::Claimed(folder) = &self.place {
            let may_replace = match folder.earlier() {
                Some(earlier) if earlier.configuration_digest.as_ref() == Some(&digest) => true,
                Some(_) => includes(folder) == Some(true),
                None => includes(folder) != Some(false),
            };
            if !may_replace {
                let standing = earlier::description(folder.dir());
                if !folder.is_forced() {
                    return Err(unwritable(folder.path(), FolderError::Other(standing)));
                }
                let out = folder.path().display();
                self.print_line(format_args!("replay: in {out}, --force replaces {standing}"));
            }
            if let Some(figures) = folder.earlier().map(figures).filter(|count| *count > 0)
                && !self.plots
                && !folder.is_forced()
            {
                return Err(Failure::usage_message(format!(
                    "--no-plots: {} has {} of the same results, which would be deleted; omit --no-plots to draw \
                     the figures again, or delete the figures with --force",
                    folder.path().display(),
                    counted(figures as u64, "figure file")
                )));
            }
        }
        self.configuration = Some(digest);
        Ok(())
    }

    /// Returns the kind of the results.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the build of the program.
    pub fn build(&self) -> &Build {
        &self.origin.build
    }

    /// Returns whether the command is quiet.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns the folder for a journal of the cells of this command, and the other builds that ran its cells;
    /// [`other_builds`](journal::other_builds) explains `other_build`. The journal is removed when the results are
    /// written, unless `is_permanent` is true. Returns `None` if there is no folder, or if the folder has a journal of
    /// another command; only complete results replace a journal of another command. With `--force`, an existing journal
    /// is discarded.
    ///
    /// # Errors
    /// A usage error if another build began the journal or the folder cannot be opened.
    pub fn keep_journal(
        &mut self,
        is_permanent: bool,
        other_build: Option<bool>,
    ) -> Result<Option<(Dir, Vec<Build>)>, Failure> {
        let Place::Claimed(folder) = &self.place else { return Ok(None) };
        let (dir, is_forced) = (folder.dir(), folder.is_forced());
        let own = journal::journal_of(dir).is_none_or(|command| command == self.kind.name());
        if !own {
            return Ok(None);
        }
        // Omit --force from the command that continues, because --force would discard the journal.
        let (builds, command) = match is_forced {
            true => {
                journal::discard(dir)?;
                (Vec::new(), "the same command without --force")
            }
            false => (journal::other_builds(dir, self.build(), other_build)?, "the same command"),
        };
        let path = dir.path().join(JOURNAL_FILE);
        self.continuation = Some((path, command));
        self.keeps_journal = is_permanent;
        let opened = Dir::open(dir.path());
        let opened = opened.map_err(|e| Failure::output(dir.path().display(), e))?;
        Ok(Some((opened, builds)))
    }

    /// Returns a text that describes how to continue after an interruption; `None` without a journal, and if the journal
    /// has no record, because a journal without records is removed.
    pub fn continuation(&self) -> Option<String> {
        let (path, command) = self.continuation.as_ref()?;
        let has_records = fs::metadata(path).is_ok_and(|file| file.len() > HEADER.len() as u64);
        has_records.then(|| format!("{command} continues from {}", path.display()))
    }

    /// Declares that the command runs a shard with this journal; no results are written.
    pub fn run_shard(&mut self, journal: PathBuf) {
        self.shard_journal = Some(journal);
    }

    /// Returns the path of the journal if the command runs a shard.
    pub fn shard_journal(&self) -> Option<&Path> {
        self.shard_journal.as_deref()
    }

    /// Keeps the journal when the results are written, because the results of a failed command are incomplete.
    pub fn keep_journal_beside_results(&mut self) {
        self.keeps_journal = true;
    }

    /// Reports that a command was interrupted, with the cells that are left and how to continue.
    pub fn report_left(&self, left: &str) -> Exit {
        let how = self.continuation().map_or(String::new(), |how| format!("; {how}"));
        eprint_line(format_args!("replay: interrupted, {left} left{how}"));
        Exit::Interrupted
    }

    /// Returns the folder of the results, until writing [begins](Self::stage).
    pub fn folder(&mut self) -> Option<&mut Folder> {
        match &mut self.place {
            Place::Claimed(folder) => Some(folder),
            _ => None,
        }
    }

    /// Marks the results as incomplete. Incomplete results replace earlier results only with `--force`.
    pub fn interrupted(&mut self) {
        self.partial = true;
    }

    /// Returns whether writing has begun.
    pub fn is_staged(&self) -> bool {
        matches!(self.place, Place::Staged(_))
    }

    /// Begins to write results and returns the folder for the new files; `None` without `--out`.
    ///
    /// # Errors
    /// A usage error if the folder cannot be written, or if no configuration was declared.
    pub fn stage(&mut self) -> Result<Option<PathBuf>, Failure> {
        if self.configuration.is_none() && matches!(self.place, Place::Claimed(_)) {
            let undeclared = anyhow::anyhow!("{} declares no configuration", self.kind.name());
            return Err(Failure::output("results", undeclared));
        }
        let done = self.continuation.is_some() && !self.keeps_journal && !self.partial;
        self.place = match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Claimed(mut folder) => {
                if done {
                    journal::schedule_removal(&mut folder).map_err(Failure::usage)?;
                }
                let path = folder.path().display().to_string();
                Place::Staged(folder.stage().map_err(|e| Failure::output(path, e))?)
            }
            place => place,
        };
        Ok(match &self.place {
            Place::Staged(staging) => Some(staging.path().to_path_buf()),
            _ => None,
        })
    }

    /// Discards the files that this command has written so far.
    pub fn abandon(&mut self) {
        if let Place::Staged(staging) = std::mem::replace(&mut self.place, Place::Nowhere) {
            staging.abandon();
        }
    }

    /// Moves the written files to their final names, and adds a manifest with the configuration, further `details` and
    /// failures. Returns the paths of the files.
    ///
    /// # Errors
    /// A usage error if a file cannot be moved or an input cannot be read.
    pub fn commit(
        &mut self,
        files: &[PathBuf],
        configuration: &impl Serialize,
        details: &impl Serialize,
        failed: &[String],
    ) -> Result<Vec<PathBuf>, Failure> {
        let place = std::mem::replace(&mut self.place, Place::Nowhere);
        let Place::Staged(staging) = place else { return Ok(Vec::new()) };
        let path = staging.path().to_path_buf();
        if self.partial && staging.would_replace() {
            eprint_line("replay: the earlier results are kept (--force replaces the results)");
            unfinished(&path);
            return Ok(Vec::new());
        }
        let origin = &self.origin;
        let inputs = self.inputs.iter().map(|path| {
            InputRecord::of(path).map_err(|error| Failure::output(path.display(), error))
        });
        let inputs: Vec<InputRecord> =
            inputs.flat_map(Result::transpose).collect::<Result<_, _>>()?;
        let digest = self.configuration.as_deref();
        let manifest =
            |files: &_| origin.manifest(configuration, digest, details, failed, &inputs, files);
        staging.commit(files, manifest).map_err(|error| {
            unfinished(&path);
            Failure::output("results", error)
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Place::Staged(staging) = &self.place {
            unfinished(staging.path());
        }
    }
}

/// Returns the failure for a folder to which results cannot be written.
fn unwritable(out: &Path, error: FolderError) -> Failure {
    match error {
        // The error names the folder and the remedy.
        held @ FolderError::Held { .. } => Failure::usage(held),
        error => Failure::output(format!("into --out {}", out.display()), error),
    }
}

/// Returns the number of figure files among the files of results.
fn figures(earlier: &Results) -> usize {
    earlier.files.iter().filter(|file| file.name.starts_with("plots/")).count()
}

/// Reports the folder of results that could not be moved to their final names.
fn unfinished(place: &Path) {
    if fs::read_dir(place).is_ok_and(|mut files| files.next().is_some()) {
        eprint_line(format_args!("replay: the completed files are in {}", place.display()));
    }
}

fn claim(out: &Path, kind: Kind, force: bool) -> Result<Folder, FolderError> {
    let holder = format!("{} on {}", std::process::id(), Host::this().name);
    let mut folder = Folder::claim(out, &holder, force)?;
    if folder.has_recovered() {
        eprint_line(format_args!(
            "{}: completed the results of an earlier command that was killed",
            out.display()
        ));
    }
    let earlier = folder.earlier().map(|earlier| earlier.kind.clone());
    let earlier = earlier.or_else(|| journal::journal_of(folder.dir()));
    if earlier.is_some_and(|earlier| earlier != kind.name()) {
        if !force {
            return Err(FolderError::Other(earlier::description(folder.dir())));
        }
        // The journal of another command is removed when new results are written.
        journal::schedule_removal(&mut folder)?;
    }
    folder.check(kind.tables())?;
    Ok(folder)
}
