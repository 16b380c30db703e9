//! `replay completions` and `replay man`.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command};
use clap_complete::Shell;

use super::complete::lists;
use super::exit::{Exit, Failure};
use super::list::{Listing, names};
use super::write::{OutputFile, finish_all};
use crate::cli::terminal::stdout;
use replay_engine::registries::Registries;

/// Arguments of `replay completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay completions bash > ~/.local/share/bash-completion/completions/replay
  replay completions zsh > ~/.zfunc/_replay
  replay completions fish > ~/.config/fish/completions/replay.fish")]
pub struct CompletionArgs {
    /// Shell of the script.
    shell: Shell,
}

/// Prints a completion script.
pub fn completions(
    registries: &Registries,
    args: &CompletionArgs,
    command: Command,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut offering(registries, command), "replay", &mut script);
    script.extend_from_slice(lists(args.shell).as_bytes());
    write(&script)
}

/// Adds names as possible values of options, for completion only. The parser cannot check these values, because names
/// have parameters and most options accept lists.
fn offering(registries: &Registries, command: Command) -> Command {
    let command = command.mut_args(|arg| offered(registries, arg));
    command.mut_subcommands(|command| offering(registries, command))
}

fn offered(registries: &Registries, arg: Arg) -> Arg {
    let listing = match arg.get_id().as_str() {
        "alloc" => Listing::Allocators,
        "sched" => Listing::Schedulers,
        "policy" => Listing::Policies,
        "model" => Listing::Generators,
        "sides" => Listing::Sides,
        "service" => Listing::Services,
        "pattern" => Listing::Patterns,
        "network" => Listing::Networks,
        "suites" => Listing::Suites,
        "traces" => Listing::Traces,
        _ => return arg,
    };
    // Leak the texts, because the parser needs static texts and the program ends after printing them.
    let value =
        |(name, about): (String, String)| PossibleValue::new(&*name.leak()).help(&*about.leak());
    let values: Vec<_> =
        names(registries, listing).unwrap_or_default().into_iter().map(value).collect();
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Text near the beginning of every manual page of this program.
const PAGE_MARK: &str = "\n.TH replay";
/// Number of bytes that contain [`PAGE_MARK`].
const MARK_WITHIN: u64 = 200;

/// Arguments of `replay man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay man | man -l -
  replay man --all share/man/man1")]
pub struct ManArgs {
    /// Write the page of the program and of each subcommand into this folder.
    #[arg(long, value_name = "DIR")]
    all: Option<PathBuf>,
}

/// Prints the manual page of the program, or writes all pages.
pub fn man(args: &ManArgs, mut command: Command) -> Result<Exit, Failure> {
    let Some(dir) = &args.all else {
        return write(&page(command)?);
    };
    // This call sets the full names of subcommands.
    command.build();
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    let mut pages: Vec<(String, Command)> = subcommands
        .map(|sub| {
            let name = format!("replay-{}", sub.get_name());
            // Leak the texts, because the parser needs static texts and the program ends after printing them.
            let sub = sub.clone().name(&*name.clone().leak()).version(env!("CARGO_PKG_VERSION"));
            (name, sub)
        })
        .collect();
    pages.insert(0, ("replay".to_string(), command));
    let mut written = String::new();
    let mut files = Vec::new();
    for (name, command) in pages {
        let path = dir.join(format!("{name}.1"));
        replaces_only_a_page(&path)?;
        let mut file = OutputFile::create(&path)?;
        file.write_all(&page(command)?).map_err(|e| file.failed(e))?;
        files.push(file);
        written += &format!("{}\n", path.display());
    }
    finish_all(files)?;
    write(written.as_bytes())
}

/// Returns an error if the file exists and is not a manual page of this program.
fn replaces_only_a_page(path: &Path) -> Result<(), Failure> {
    let begin = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => File::open(path).and_then(|file| {
            let mut begin = Vec::new();
            file.take(MARK_WITHIN).read_to_end(&mut begin).map(|_| begin)
        }),
        Ok(_) => Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
    };
    let begin = begin.map_err(|e| Failure::output(path.display(), e))?;
    match String::from_utf8_lossy(&begin).contains(PAGE_MARK) {
        true => Ok(()),
        false => Err(Failure::usage_message(format!(
            "{}: was not written by replay; move it away, or choose another folder",
            path.display()
        ))),
    }
}

/// Renders a manual page as roff.
fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map(|()| page).map_err(|e| Failure::output("the manual page", e))
}

fn write(bytes: &[u8]) -> Result<Exit, Failure> {
    let mut out = stdout();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map(|()| Exit::Done).map_err(Failure::stdout)
}
