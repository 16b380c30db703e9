//! Tests of the command line: exit codes, standard output, standard error and output files.
//!
//! Every test runs the binary in a temporary directory; see [`cli::dir`]. A test that needs
//! something absent (a trace of the archive, Python) is listed as ignored, with the reason in
//! brackets.

use std::fs;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

mod cli {
    #[macro_use]
    pub mod dir;
    pub mod ask;
    pub mod begin;
    pub mod check_topology;
    pub mod compare;
    pub mod down;
    pub mod estimates;
    pub mod explain;
    pub mod explore;
    pub mod fetch;
    pub mod figures;
    pub mod files;
    pub mod folding;
    pub mod grid;
    pub mod held_out;
    pub mod import;
    pub mod input;
    pub mod intervals;
    pub mod listing;
    pub mod machine;
    pub mod names;
    pub mod network;
    pub mod out;
    pub mod outputs;
    pub mod parted;
    pub mod partitions;
    pub mod place;
    pub mod placed;
    pub mod placements;
    pub mod python;
    pub mod replaced;
    pub mod report;
    pub mod resume;
    pub mod same_jobs;
    pub mod search;
    pub mod shake;
    pub mod shards;
    pub mod show;
    pub mod sidecars;
    pub mod site;
    pub mod site_ids;
    pub mod stochastic;
    pub mod streams;
    pub mod sweep;
    pub mod swf_variants;
    pub mod synth;
    pub mod traces;
    pub mod tree_samples;
    pub mod usage;
}

/// Defines `FILES`, the names of modules of [`cli`], and `trials()`, which returns their tests.
macro_rules! files {
    ($($name:ident),+ $(,)?) => {
        const FILES: &[&str] = &[$(stringify!($name)),+];

        fn trials() -> Vec<Trial> {
            [$(cli::$name::trials()),+].into_iter().flatten().collect()
        }
    };
}

files!(
    same_jobs,
    begin,
    input,
    swf_variants,
    down,
    placed,
    placements,
    held_out,
    names,
    machine,
    folding,
    streams,
    search,
    replaced,
    report,
    shake,
    ask,
    grid,
    out,
    outputs,
    figures,
    files,
    sweep,
    resume,
    shards,
    show,
    usage,
    sidecars,
    site,
    site_ids,
    estimates,
    explain,
    explore,
    fetch,
    compare,
    intervals,
    listing,
    synth,
    import,
    traces,
    tree_samples,
    stochastic,
    network,
    parted,
    partitions,
    place,
    check_topology,
);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = trials();
    trials.extend(cli::python::trials(&arguments));
    trials.push(Trial::test("every_file_is_named", || Ok(every_file_is_named()?)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Checks that the tests of every file in `tests/cli` run.
fn every_file_is_named() -> Result<(), String> {
    let folder = cli::dir::checkout().join("tests/cli");
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".rs").map(str::to_string)
    });
    // `dir` has no tests, and `python` takes the arguments.
    let is_named =
        |name: &String| FILES.contains(&name.as_str()) || name == "dir" || name == "python";
    let absent: Vec<String> = names.filter(|name| !is_named(name)).collect();
    match absent.is_empty() {
        true => Ok(()),
        false => Err(format!("the list in tests/cli.rs does not have {}", absent.join(", "))),
    }
}
