//! What every command with results does beside computing them.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::{OutputArgs, ProcessArgs};
use super::earlier;
use super::exit::{Failure, tell};
use super::journal;
use super::print::{FormatArg, TableArgs};
use super::result_kind::Kind;
use replay_core::number::counted;
use replay_experiment::files::{
    Dir, Folder, FolderError, InputRecord, Recovered, Results, Staging,
};
use replay_experiment::journal::JOURNAL_FILE;
use replay_output::plot::FigureStyle;
use replay_output::report::manifest::{Host, Origin};

/// A command at work: its threads, its words, and the folder that it holds.
#[derive(Debug)]
pub struct Session {
    kind: Kind,
    origin: Origin,
    quiet: bool,
    table: TableArgs,
    plots: bool,
    style: FigureStyle,
    /// Whether the results are those of an interrupted command.
    partial: bool,
    /// If a journal is kept, how the command goes on by it.
    goes_on: Option<String>,
    /// Files that were read.
    inputs: Vec<PathBuf>,
    /// Digest of the configuration, once it is known.
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
    pub fn begin(kind: Kind, args: &OutputArgs, command: &[OsString]) -> Result<Self, Failure> {
        let OutputArgs { table, out, force, process, figures, .. } = args;
        let style = figures.style()?;
        let mut session = Self::within(kind, out.as_deref(), *force, process, command)?;
        (session.table, session.plots, session.style) = (*table, !args.no_plots, style);
        Ok(session)
    }

    /// In which format to print.
    pub fn format(&self) -> FormatArg {
        self.table.format
    }

    /// Sets how to print tables.
    pub fn set_table(&mut self, table: TableArgs) {
        self.table = table;
    }

    /// How to print tables.
    pub fn table(&self) -> TableArgs {
        self.table
    }

    /// How figures look.
    pub fn style(&self) -> FigureStyle {
        self.style
    }

    /// Whether to draw.
    pub fn plots(&self) -> bool {
        self.plots
    }

    /// Begins a command whose results go into `out`. Whatever is wrong with the folder is
    /// found before any work is done. Results of another command are not replaced, unless by
    /// `force`; nor are those of another configuration, see [`configure`](Self::configure).
    pub fn within(
        kind: Kind,
        out: Option<&Path>,
        force: bool,
        process: &ProcessArgs,
        command: &[OsString],
    ) -> Result<Self, Failure> {
        let origin = Origin::begin(
            kind.name(),
            crate::cli::build::this(),
            crate::cli::build::COMPILER,
            command,
        );
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
            goes_on: None,
            inputs: Vec::new(),
            configuration: None,
            place,
        })
    }

    /// A line on standard error, unless the user wants quiet.
    pub fn say(&self, line: impl Display) {
        if !self.quiet {
            tell(line);
        }
    }

    /// Says which files were read, for the manifest.
    pub fn reads(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            if !self.inputs.contains(&path) {
                self.inputs.push(path);
            }
        }
    }

    /// Declares what decides the numbers of the results, and which tables there are. Every command
    /// calls this once, before its computation: results of another configuration stay, unless the
    /// user gives them up with `--force`.
    ///
    /// # Errors
    /// If other results stand in the folder.
    pub fn configure(&mut self, configuration: &impl Serialize) -> Result<(), Failure> {
        self.configure_growing(configuration, |_| None)
    }

    /// Does what [`configure`](Self::configure) does, for a command that may add to what stands in
    /// its folder: `includes` says whether it includes all that the folder is for, `None` if the
    /// folder does not record that.
    ///
    /// # Errors
    /// If other results stand in the folder.
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
                self.say(format_args!("replay: --force replaces in {out} {standing}"));
            }
            if let Some(figures) = folder.earlier().map(figures).filter(|count| *count > 0)
                && !self.plots
                && !folder.is_forced()
            {
                return Err(Failure::usage_message(format!(
                    "--no-plots: {} has {} of the same results, which would be deleted; leave out --no-plots to \
                     draw them again, or delete them with --force",
                    folder.path().display(),
                    counted(figures as u64, "figure file")
                )));
            }
        }
        self.configuration = Some(digest);
        Ok(())
    }

    /// What the results are of.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the user wants quiet.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The folder for a journal of this command's cells, which goes when their results come; `None`
    /// without a folder, or if it has a journal of another command, which only the new results may
    /// replace. With `--force` it is begun anew.
    pub fn keep_journal(&mut self) -> Result<Option<Dir>, Failure> {
        let Place::Claimed(folder) = &self.place else { return Ok(None) };
        let dir = folder.dir();
        let own = journal::journal_of(dir).is_none_or(|command| command == self.kind.name());
        if !own {
            return Ok(None);
        }
        if folder.is_forced() {
            journal::discard(dir)?;
        } else {
            journal::other_builds(dir, None)?;
        }
        let path = dir.path().join(JOURNAL_FILE);
        // The same command would begin anew.
        let command = match folder.is_forced() {
            true => "the same command without --force",
            false => "the same command",
        };
        self.goes_on = Some(format!("{command} goes on from {}", path.display()));
        let opened = Dir::open(dir.path());
        opened.map(Some).map_err(|e| Failure::output(dir.path().display(), e))
    }

    /// By what an interrupted command goes on; `None` if by nothing.
    pub fn goes_on(&self) -> Option<&str> {
        self.goes_on.as_deref()
    }

    /// The journal stays when results come: they are not all that was to be.
    pub fn keep_going(&mut self) {
        self.goes_on = None;
    }

    /// The folder of the results until they are [begun](Self::stage).
    pub fn folder(&mut self) -> Option<&mut Folder> {
        match &mut self.place {
            Place::Claimed(folder) => Some(folder),
            _ => None,
        }
    }

    /// The results are a part: they do not take the place of earlier ones, unless by `--force`.
    pub fn interrupted(&mut self) {
        self.partial = true;
    }

    /// Whether writing has begun.
    pub fn is_staged(&self) -> bool {
        matches!(self.place, Place::Staged(_))
    }

    /// Where to write results; `None` if the user wants no files.
    pub fn stage(&mut self) -> Result<Option<&Path>, Failure> {
        if self.configuration.is_none() && matches!(self.place, Place::Claimed(_)) {
            let undeclared = anyhow::anyhow!("{} declares no configuration", self.kind.name());
            return Err(Failure::output("results", undeclared));
        }
        let done = self.goes_on.is_some() && !self.partial;
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
            Place::Staged(staging) => Some(staging.path()),
            _ => None,
        })
    }

    /// Gives up what was begun to be written: there are no results.
    pub fn abandon(&mut self) {
        if let Place::Staged(staging) = std::mem::replace(&mut self.place, Place::Nowhere) {
            staging.abandon();
        }
    }

    /// Lets the files written take their places, with a manifest that says what decides their
    /// numbers (`configuration`), what else there is to say (`details`) and what failed.
    /// Returns where they are.
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
            tell("replay: the earlier results stay (with --force these would take their place)");
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

/// A folder that results cannot be written into.
fn unwritable(out: &Path, error: FolderError) -> Failure {
    match error {
        // The error names the folder and the remedy.
        held @ FolderError::Held { .. } => Failure::usage(held),
        error => Failure::output(format!("into --out {}", out.display()), error),
    }
}

/// Files of figures among results.
fn figures(earlier: &Results) -> usize {
    earlier.files.iter().filter(|file| file.name.starts_with("plots/")).count()
}

/// Says where results are that did not get into their places.
fn unfinished(place: &Path) {
    if std::fs::read_dir(place).is_ok_and(|mut files| files.next().is_some()) {
        tell(format_args!("replay: what was completed is in {}", place.display()));
    }
}

fn claim(out: &Path, kind: Kind, force: bool) -> Result<Folder, FolderError> {
    let holder = format!("{} on {}", std::process::id(), Host::this().name);
    let mut folder = Folder::claim(out, &holder, force, |recovered| match recovered {
        Recovered::Finished => tell(format_args!(
            "{}: the results of an earlier command, which was killed, are now in their places",
            out.display()
        )),
        Recovered::Undone(why) => tell(format_args!(
            "{}: the results of an earlier command, which was killed, could not take their places ({why}); \
             those from before are back",
            out.display()
        )),
    })?;
    let earlier = folder.earlier().map(|earlier| earlier.kind.clone());
    let earlier = earlier.or_else(|| journal::journal_of(folder.dir()));
    if earlier.is_some_and(|earlier| earlier != kind.name()) {
        if !force {
            return Err(FolderError::Other(earlier::description(folder.dir())));
        }
        // They go with the results, when others are there.
        journal::schedule_removal(&mut folder)?;
    }
    folder.check(kind.tables())?;
    Ok(folder)
}
