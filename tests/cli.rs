//! Tests of the command line: exit codes, standard output, standard error and output files.
//!
//! Every test runs the binary in a temporary directory; see [`cli::dir`]. A test that needs
//! something absent (a trace of the archive, Python) is listed as ignored, with the reason in
//! brackets.

use std::process::ExitCode;

use libtest_mimic::Arguments;

mod cli {
    #[macro_use]
    pub mod dir;
    pub mod ask;
    pub mod begin;
    pub mod check_topology;
    pub mod compare;
    pub mod down;
    pub mod explain;
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
    pub mod parted;
    pub mod place;
    pub mod placed;
    pub mod placements;
    pub mod python;
    pub mod replaced;
    pub mod report;
    pub mod resume;
    pub mod search;
    pub mod shake;
    pub mod shards;
    pub mod show;
    pub mod sidecars;
    pub mod site_ids;
    pub mod stochastic;
    pub mod streams;
    pub mod sweep;
    pub mod swf_variants;
    pub mod synth;
    pub mod traces;
    pub mod tree_samples;
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = [
        cli::begin::trials(),
        cli::input::trials(),
        cli::swf_variants::trials(),
        cli::down::trials(),
        cli::placed::trials(),
        cli::placements::trials(),
        cli::held_out::trials(),
        cli::names::trials(),
        cli::machine::trials(),
        cli::folding::trials(),
        cli::streams::trials(),
        cli::search::trials(),
        cli::replaced::trials(),
        cli::report::trials(),
        cli::shake::trials(),
        cli::ask::trials(),
        cli::grid::trials(),
        cli::out::trials(),
        cli::figures::trials(),
        cli::files::trials(),
        cli::sweep::trials(),
        cli::resume::trials(),
        cli::shards::trials(),
        cli::show::trials(),
        cli::sidecars::trials(),
        cli::site_ids::trials(),
        cli::explain::trials(),
        cli::compare::trials(),
        cli::intervals::trials(),
        cli::listing::trials(),
        cli::synth::trials(),
        cli::import::trials(),
        cli::traces::trials(),
        cli::tree_samples::trials(),
        cli::stochastic::trials(),
        cli::network::trials(),
        cli::parted::trials(),
        cli::place::trials(),
        cli::check_topology::trials(),
        cli::python::trials(&arguments),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}
