//! Tests of the README, the book and the pages of results.
//!
//! * Every command in a `sh` block, and every command in the last column of a table headed `type ...`, runs and succeeds.
//!   The commands of a page run in order in one directory. A `text` block after a `sh` block is the output of its last
//!   command, and each picture of the book equals the figure that a command of its page draws.
//! * Commands that a bare machine cannot run (network access, a trace that is absent), and commands that read what these
//!   would write, are reported as ignored with the reason.
//! * Links resolve, every strategy is described on a page, and Rust blocks are excerpts of `examples/`.
//! * The pages in `docs/src/reference` equal the listings of the program.
//! * The pages in `results` are exactly the pages that scripts write, and every figure in `results` is on a page.
//! * The README is short, and sources use plain words.
//!
//! With `REPLAY_WRITE_BOOK=1`, pictures and reference pages are written instead of compared.

mod documents {
    pub mod links;
    pub mod page;
    mod published;
    pub mod reference;
    pub mod results;
    pub mod run;
    pub mod style;
}

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::Arguments;

use documents::{links, page, reference, results, run, style};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = page::all(root).expect("the pages can be read");
    let mut trials = run::own_trials();
    // The first command of every page comes before the second of any: the first trial of a page runs the whole page.
    let mut commands: Vec<_> =
        pages.iter().map(|page| run::trials(root, page).into_iter()).collect();
    while commands.iter().any(|page| page.len() > 0) {
        trials.extend(commands.iter_mut().filter_map(Iterator::next));
    }
    trials.extend(reference::trials(root));
    trials.extend(results::trials(root));
    trials.extend(style::trials(root));
    trials.extend(links::trials(root, pages));
    // Reference pages must be written before links to them are checked.
    let test_threads = if writes() { Some(1) } else { arguments.test_threads };
    let arguments = Arguments { test_threads, ..arguments };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns whether the book is written instead of compared.
fn writes() -> bool {
    std::env::var_os("REPLAY_WRITE_BOOK").is_some()
}
