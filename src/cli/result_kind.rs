//! Kinds of results.

/// Command that wrote results. A sweep and a merge of its shards write the same kind of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Run,
    Sweep,
    Search,
    Stream,
    Contend,
    Show,
    Explain,
    Site,
}

/// Tables of runs and sweeps.
const OF_RUNS: [&str; 8] = [
    "runs.parquet",
    "runs.csv",
    "by_size.parquet",
    "by_size.csv",
    "shaken.parquet",
    "shaken.csv",
    "placements.parquet",
    "jobs.parquet",
];

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Run,
        Kind::Sweep,
        Kind::Search,
        Kind::Stream,
        Kind::Contend,
        Kind::Show,
        Kind::Explain,
        Kind::Site,
    ];

    /// Returns the kind with this name in manifests.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Sweep => "sweep",
            Kind::Search => "search",
            Kind::Stream => "stream",
            Kind::Contend => "contend",
            Kind::Show => "show",
            Kind::Explain => "explain",
            Kind::Site => "site",
        }
    }

    /// Returns the names of the tables that the command may write. Before any work, the output folder is checked for
    /// these tables.
    pub const fn tables(self) -> &'static [&'static str] {
        match self {
            Kind::Run | Kind::Sweep => &OF_RUNS,
            Kind::Search => &[
                "search.parquet",
                "search.csv",
                "spared.parquet",
                "spared.csv",
                "portability.parquet",
                "portability.csv",
            ],
            Kind::Stream => &[
                "stream.parquet",
                "stream.csv",
                "saturated.parquet",
                "saturated.csv",
                "saturated_search.parquet",
                "saturated_search.csv",
            ],
            Kind::Show => &[
                "held.parquet",
                "held.csv",
                "candidates.parquet",
                "candidates.csv",
                "placements.parquet",
                "placements.csv",
                "fragmentation.parquet",
                "fragmentation.csv",
            ],
            Kind::Explain => &["steps.parquet", "steps.csv"],
            Kind::Site => {
                &["site_runs.parquet", "site_runs.csv", "site_jobs.parquet", "site_jobs.csv"]
            }
            Kind::Contend => &[
                "contend.parquet",
                "contend.csv",
                "contend_jobs.parquet",
                "contend_jobs.csv",
                "correlations.parquet",
                "correlations.csv",
                "shaken.parquet",
                "shaken.csv",
            ],
        }
    }
}
