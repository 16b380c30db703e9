//! What a listing says of the patterns.

use super::names::*;
use super::*;
use crate::naming::{Description, Parameter};

/// The patterns with their parameters, for a listing. Defaults are those of the preset `lo`.
pub fn descriptions() -> Vec<Description> {
    NAMES.into_iter().filter_map(describe).collect()
}

fn describe(name: &str) -> Option<Description> {
    let kind = Kind::usual(name, Preset::Lo)?;
    let (about, source) = about(&kind);
    let mut parameters = own_parameters(&kind);
    parameters.extend(discipline(&Discipline::usual(&kind, Preset::Lo)));
    Some(Description {
        name: name.to_string(),
        aliases: ALIASES.iter().filter(|(_, own)| *own == name).map(|&(alias, _)| alias).collect(),
        about: about.to_string(),
        source,
        parameters,
    })
}

fn about(kind: &Kind) -> (&'static str, &'static str) {
    const LO: &str = "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11";
    const BOTH: &str =
        "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11; Bani-Mohammad, PhD thesis, chapter 4";
    match kind {
        Kind::AllToAll { .. } => (
            "Every process sends to every other. Under bani-mohammad: order=lexicographic, \
             sends=at-once, barrier=none.",
            BOTH,
        ),
        Kind::OneToAll { .. } => (
            "One process sends to every other. Under bani-mohammad: targets=cyclic, \
             sends=sequential, barrier=none.",
            BOTH,
        ),
        Kind::NBody => {
            ("A ring: n/2 steps to the next process, then one step back over n/2 processes.", LO)
        }
        Kind::Fft2d { .. } => (
            "A butterfly: log2 n steps to the process whose rank differs in one bit. Processes \
             over the largest power of two stay idle.",
            LO,
        ),
        Kind::Multigrid { .. } => (
            "Neighbours on a periodic 3D grid of processes, at strides 1, 2, 4, ... Processes \
             over the largest power of two stay idle.",
            LO,
        ),
        Kind::NearestNeighbour { .. } => {
            ("Neighbours on a grid of processes with sides as equal as can be.", "")
        }
        Kind::Random { .. } => {
            ("Pairs of processes, uniformly drawn.", "Bani-Mohammad, PhD thesis, chapter 4")
        }
        Kind::Matrix { .. } => (
            "What rank i sends to rank j stands in row i, column j of a CSV file without a \
             header. A job with more processes leaves the last of them idle; in one with fewer, n, \
             rank r of N runs on process floor(r n / N), and what processes send themselves is \
             left out.",
            "",
        ),
        Kind::Phases { .. } => (
            "Steps from a CSV file with the header phase,src_rank,dst_rank,packets, in ascending \
             order of phase; processes as for matrix.",
            "",
        ),
    }
}

fn own_parameters(kind: &Kind) -> Vec<Parameter> {
    let file = || Parameter {
        key: "file",
        values: "a file".to_string(),
        default: "none",
        about: "the CSV file to read",
    };
    match kind {
        Kind::NBody => vec![],
        Kind::AllToAll { order } => vec![choice(
            "order",
            &ORDERS,
            order,
            "receivers 0,1,.. for all; i+1,i+2,.. for process i; or 0,1,.. from one process after the \
             other",
        )],
        Kind::OneToAll { root, targets } => vec![
            choice("root", &ROOTS, root, "the sender: drawn once for each job, or rank 0"),
            choice("targets", &TARGETS, targets, "receivers 0,1,.. or root+1,root+2,.."),
        ],
        Kind::Fft2d { strides } => {
            vec![choice("strides", &STRIDES, strides, "largest or smallest stride first")]
        }
        Kind::Multigrid { cycle } => {
            vec![choice("cycle", &CYCLES, cycle, "strides ascending, or ascending and back")]
        }
        Kind::NearestNeighbour { dimensions, wrap } => vec![
            choice("dimensions", &DIMENSIONS, dimensions, "dimensions of the grid of processes"),
            choice("wrap", &WRAPS, wrap, "whether axes longer than two wrap around"),
        ],
        Kind::Random { source } => vec![choice(
            "source",
            &SOURCES,
            source,
            "senders: drawn for each packet, or every process once per iteration",
        )],
        Kind::Matrix { values, .. } => vec![
            file(),
            choice(
                "values",
                &VALUES,
                values,
                "packets per iteration, or weights by which the pair of each packet is drawn",
            ),
        ],
        Kind::Phases { .. } => vec![file()],
    }
}

fn discipline(usual: &Discipline) -> [Parameter; 4] {
    [
        choice(
            "sends",
            &SENDS,
            &usual.sends,
            "the next packet when the one before is delivered, has left its sender, or at once",
        ),
        choice(
            "stream",
            &STREAMS,
            &usual.stream,
            "the next packet of each process, or of the whole job",
        ),
        choice(
            "barrier",
            &BARRIERS,
            &usual.barrier,
            "where the job waits until all it has sent is delivered",
        ),
        choice(
            "preset",
            &Preset::ALL,
            &Preset::Lo,
            "the paper whose choices are the defaults of all other parameters",
        ),
    ]
}

fn choice<T: PartialEq>(
    key: &'static str,
    choices: &[(&'static str, T)],
    default: &T,
    about: &'static str,
) -> Parameter {
    let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
    Parameter { key, values: names.join("|"), default: text(choices, default), about }
}
