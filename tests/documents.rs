//! The README and the pages of the book tell the truth.
//!
//! * Every command of their `sh` blocks runs and succeeds, line by line as it stands, those of
//!   one page in order in one folder. A `text` block right after a `sh` block is what its last
//!   command prints, and a picture of the book is what the command above it draws.
//! * What a bare machine cannot do (fetch over the network, replay a trace that is not here) is
//!   reported as ignored with the reason.
//! * Links lead somewhere, every strategy is named, Rust blocks stand in `examples/`.
//! * Pages of `docs/src/reference` are what the program lists.
//! * Pages below `results` are those that scripts write, and show every figure there.
//!
//! With `REPLAY_WRITE_BOOK=1` pictures and pages of reference are written instead of compared.

mod documents {
    pub mod links;
    pub mod page;
    mod published;
    pub mod reference;
    pub mod results;
    pub mod run;
}

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::Arguments;

use documents::{links, page, reference, results, run};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = page::all(root).expect("the pages can be read");
    let mut trials = Vec::new();
    for page in &pages {
        trials.extend(run::trials(root, page));
    }
    trials.extend(reference::trials(root));
    trials.extend(results::trials(root));
    trials.extend(links::trials(root, pages));
    // Commands of a page follow on each other, and the pages of reference must stand before
    // links to them are followed.
    let arguments = Arguments { test_threads: Some(1), ..arguments };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether the book is to be written rather than compared.
fn writes() -> bool {
    std::env::var_os("REPLAY_WRITE_BOOK").is_some()
}
