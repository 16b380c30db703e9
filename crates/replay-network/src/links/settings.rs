//! Models of a network and their notation.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::{Settings, settings};
use replay_engine::naming::{Description, Entry, NameError, Registry, Table, kind};

/// A model of a network: flits, or link loads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Model {
    /// Every flit of every packet is simulated.
    Flits(Settings),
    /// Each job is simulated flit by flit, without other jobs. The contention of jobs is computed
    /// from the loads of their links.
    Links(Links),
}

/// Parameters of the model of link loads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Links {
    /// Number of cycles for which a job is simulated without other jobs. A shorter job is simulated
    /// to its end.
    pub window: u64,
    /// The network on which each job is simulated without other jobs; `None` selects the network of
    /// the preset.
    pub timing: Option<Settings>,
}

impl Default for Links {
    fn default() -> Self {
        Self { window: 4096, timing: None }
    }
}

static TABLE: LazyLock<Table<Links>> = LazyLock::new(table);

fn table() -> Table<Links> {
    let links = Entry::new("links", Links::default())
        .about(
            "Simulates each job without other jobs, flit by flit, for a window of its time. The slowdown of each job \
                is then computed from the loads of shared links whenever a job starts or ends (contend only).",
        )
        .source("mean value analysis: Reiser, Lavenberg, JACM 27(2), 1980; Adve, Vernon, IEEE TPDS 5(3), 1994")
        .param("window", kind::integer(1..=1 << 30), "cycles for which each job is simulated without other jobs", |l| {
            &mut l.window
        })
        .param(
            "timing",
            kind::typed("lo or bani-mohammad, with their parameters").or("the preset's"),
            "the network on which each job is simulated without other jobs",
            |l| &mut l.timing,
        );
    Table::new("network", [links])
}

static NAMES: LazyLock<Registry<Model>> = LazyLock::new(|| {
    Registry::new("network")
        .with(settings::table(), |table, name| table.parse(name).map(Model::Flits))
        .with(table(), |table, name| table.parse(name).map(Model::Links))
});

impl FromStr for Model {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        NAMES.read(text)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flits(settings) => settings.fmt(f),
            Self::Links(links) => TABLE.name(links).fmt(f),
        }
    }
}

/// Returns descriptions of the models and their parameters.
pub fn descriptions() -> Vec<Description> {
    NAMES.descriptions()
}
