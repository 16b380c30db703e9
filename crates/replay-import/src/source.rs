//! The kinds of log and what each can be told.

use std::fmt;
use std::sync::LazyLock;

use super::ColumnMap;
use super::zone::Zone;
use replay_core::naming::{Description, Entry, NameError, Table, kind};

/// A kind of log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Slurm's `sacct -P`.
    Sacct,
    /// Cobalt's jobs as the Argonne Leadership Computing Facility publishes them.
    Cobalt,
    /// Accounting records of Torque or PBS.
    Torque,
    /// CSV of DIR-LAB's Gen-Parallel-Workloads.
    Dirlab,
    /// CSV of RFold.
    Rfold,
    /// Any table of text, by a [`ColumnMap`].
    Csv,
    /// F-DATA: jobs of Fugaku, Parquet.
    Fdata,
    /// PM100: jobs of Marconi100, Parquet.
    Pm100,
    /// Any table as Parquet, by a [`ColumnMap`].
    Parquet,
}

impl Kind {
    /// Whether its times say when, not only how long after the first job.
    pub(super) fn has_dates(self, map: Option<&ColumnMap>) -> bool {
        match self {
            Kind::Sacct | Kind::Cobalt | Kind::Torque | Kind::Fdata | Kind::Pm100 => true,
            Kind::Dirlab | Kind::Rfold => false,
            Kind::Csv | Kind::Parquet => map.is_some_and(ColumnMap::has_dates),
        }
    }

    /// Whether it is a file in Parquet, which has rows and no lines.
    pub fn is_parquet(self) -> bool {
        matches!(self, Kind::Fdata | Kind::Pm100 | Kind::Parquet)
    }
}

/// What counts as the size of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Its nodes.
    Nodes,
    /// Its cores.
    Cores,
}

/// When a job counts as submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submit {
    /// When it was.
    Submitted,
    /// When nothing but the machine kept it waiting, if that was later.
    Eligible,
}

/// What limits of run times are told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Minutes, unless too many jobs that came to their end ran longer: then seconds.
    Auto,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
}

/// A kind of log with its settings, named like a strategy: `sacct[submit=eligible]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The kind.
    pub kind: Kind,
    /// What counts as size.
    pub size: Unit,
    /// What counts as submission.
    pub submit: Submit,
    /// Zone of times that name none.
    pub zone: Zone,
    /// Whether jobs that still ran are kept, with what they had run.
    pub running: bool,
    /// Whether sizes with a fraction are rounded up, not dropped.
    pub round_up: bool,
    /// Whether all rows with one id are one job.
    pub join: bool,
    /// What limits are told in, of kinds that are not certain.
    pub limit: Limit,
}

const UNITS: &[(&str, Limit)] =
    &[("auto", Limit::Auto), ("minutes", Limit::Minutes), ("seconds", Limit::Seconds)];

static TABLE: LazyLock<Table<Source>> = LazyLock::new(|| {
    let of = |kind| Source {
        kind,
        size: Unit::Nodes,
        submit: Submit::Submitted,
        zone: Zone::default(),
        running: false,
        round_up: false,
        join: false,
        limit: Limit::Auto,
    };
    let sized = |entry: Entry<Source>| {
        entry
            .param(
                "size",
                kind::one_of(&[("nodes", Unit::Nodes), ("cores", Unit::Cores)]),
                "what counts as the size of a job",
                |source| &mut source.size,
            )
            .param(
                "submit",
                kind::one_of(&[("submitted", Submit::Submitted), ("eligible", Submit::Eligible)]),
                "when a job counts as submitted: when it was, or when neither hold nor dependency kept it",
                |source| &mut source.submit,
            )
    };
    let zoned = |entry: Entry<Source>| {
        let zone = kind::told("UTC|+HH:MM|-HH:MM|Europe/Prague|..");
        entry.param("zone", zone, "zone of times that name none", |source| &mut source.zone)
    };
    let rounded = |entry: Entry<Source>| {
        let about = "round sizes with a fraction up; such jobs are dropped else";
        entry.param("round-up", kind::yes_no(), about, |source| &mut source.round_up)
    };
    let limited = |entry: Entry<Source>| {
        let about = "what time limits are told in; auto: minutes, unless too many jobs that came to their end \
                     ran longer, then seconds. Where limits are long that cannot be seen";
        entry.param("limit", kind::one_of(UNITS), about, |source| &mut source.limit)
    };
    let joined = |entry: Entry<Source>| {
        let about = "make one job of all rows with one id, from the first start to the last end; all jobs \
                     are then kept in memory";
        entry.param("join", kind::yes_no(), about, |source| &mut source.join)
    };
    let sacct = Entry::new("sacct", of(Kind::Sacct))
        .about(
            "Slurm's sacct -P: columns named in the first line, in any order. Needs JobID, Submit, Start, \
             State, End or Elapsed, and AllocNodes, NNodes or AllocCPUS.",
        )
        .source("sacct(1)");
    let sacct = zoned(sized(sacct)).param(
        "running",
        kind::yes_no(),
        "keep jobs that still ran, with the time they had run",
        |source| &mut source.running,
    );
    let cobalt = Entry::new("cobalt", of(Kind::Cobalt))
        .aliases(&["alcf"])
        .about(
            "Jobs of Cobalt, DIM_JOB_COMPOSITE, as CSV. LOCATION of a Blue Gene/Q becomes a box in five \
             dimensions, on Theta a list of nodes.",
        )
        .source("Argonne Leadership Computing Facility, public data");
    let torque = Entry::new("torque", of(Kind::Torque))
        .aliases(&["pbs"])
        .about("Accounting records of Torque or PBS: a job is a line of type E.")
        .source("Torque manual, accounting records");
    let dirlab = Entry::new("dirlab", of(Kind::Dirlab))
        .about("CSV of Gen-Parallel-Workloads: submissions by the interval since the last one; no waits.")
        .source("github.com/DIR-LAB/Gen-Parallel-Workloads");
    let rfold = Entry::new("rfold", of(Kind::Rfold))
        .about("CSV of RFold: jobs with the shape they ask for; no waits, no estimates.")
        .source("github.com/shuoshuc/RFold");
    let csv = Entry::new("csv", of(Kind::Csv))
        .about("Any table of text; --map says which column is what.");
    let fdata = Entry::new("fdata", Source { limit: Limit::Seconds, ..of(Kind::Fdata) })
        .about("Parquet of F-DATA, jobs of Fugaku: sizes in nodes, adt, sdt and edt.")
        .source("F-DATA, a workload dataset of Fugaku (Antici et al., 2024)");
    let pm100 = Entry::new("pm100", of(Kind::Pm100))
        .about("Parquet of PM100, jobs of Marconi100, with their nodes.")
        .source("PM100, a job power consumption dataset (Antici et al., 2023)");
    let parquet = Entry::new("parquet", of(Kind::Parquet)).about(
        "Any table in Parquet; --map says which column is what. Columns of dates and of spans are what \
         they are, whatever the map says of text and numbers.",
    );
    Table::new(
        "source",
        [
            sacct,
            joined(rounded(zoned(cobalt))),
            sized(torque),
            rounded(dirlab),
            rounded(rfold),
            joined(rounded(csv)),
            limited(zoned(fdata)),
            limited(zoned(pm100)),
            joined(rounded(parquet)),
        ],
    )
});

/// Every source's entry in a listing.
pub fn descriptions() -> Vec<Description> {
    TABLE.descriptions()
}

impl std::str::FromStr for Source {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Source, NameError> {
        TABLE.read(text)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TABLE.name(self).fmt(f)
    }
}
