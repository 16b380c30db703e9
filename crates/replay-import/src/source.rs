//! The kinds of logs and their settings.

use std::sync::LazyLock;

use super::ColumnMap;
use super::zone::Zone;
use replay_workload::naming::{Description, Entry, Table, kind, spelled};

/// 1990-01-01, in seconds since 1970. No log that contains seconds since 1970 is older, and no log that contains
/// seconds since its beginning is as long.
const DATES: i64 = 631_152_000;

/// A kind of log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Slurm's `sacct -P`.
    Sacct,
    /// Slurm's `sacct --json`.
    SacctJson,
    /// Jobs of Cobalt, in the format in which the Argonne Leadership Computing Facility publishes
    /// these jobs.
    Cobalt,
    /// Accounting records of Torque or PBS.
    Torque,
    /// Accounting records of LSF, `lsb.acct`.
    Lsf,
    /// Accounting records of Grid Engine.
    Sge,
    /// The format of the Grid Workloads Archive.
    Gwf,
    /// Job tables of Batsim.
    Batsim,
    /// Job tables of evalys.
    Evalys,
    /// CSV of DIR-LAB's Gen-Parallel-Workloads.
    Dirlab,
    /// CSV of RFold.
    Rfold,
    /// Any text table, read with a [`ColumnMap`].
    Csv,
    /// F-DATA, which contains jobs of Fugaku, in Parquet files.
    Fdata,
    /// PM100, which contains jobs of Marconi100, in Parquet files.
    Pm100,
    /// Any table in Parquet, read with a [`ColumnMap`].
    Parquet,
}

impl Kind {
    /// Returns whether the times of a log are dates. If the times are not dates, they are offsets
    /// from an arbitrary origin. `first` is the time of the first submission; in formats that permit both, it is a date
    /// if it is after [`DATES`].
    pub(super) fn has_dates(self, map: Option<&ColumnMap>, first: i64) -> bool {
        match self {
            Kind::Sacct
            | Kind::SacctJson
            | Kind::Cobalt
            | Kind::Torque
            | Kind::Lsf
            | Kind::Sge
            | Kind::Fdata
            | Kind::Pm100 => true,
            Kind::Gwf | Kind::Evalys => first >= DATES,
            Kind::Batsim | Kind::Dirlab | Kind::Rfold => false,
            Kind::Csv | Kind::Parquet => map.is_some_and(ColumnMap::has_dates),
        }
    }

    /// Returns whether logs of this kind may contain several records of one run, of which the last record is right.
    pub(super) fn has_repeated_runs(self) -> bool {
        matches!(self, Kind::Torque | Kind::Lsf | Kind::Sge)
    }

    /// Returns whether logs of this kind are Parquet files, which have rows instead of lines.
    pub fn is_parquet(self) -> bool {
        matches!(self, Kind::Fdata | Kind::Pm100 | Kind::Parquet)
    }
}

/// The unit of the size of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nodes.
    Nodes,
    /// Cores.
    Cores,
}

/// The time that is used as the submit time of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submit {
    /// The time at which the job was submitted.
    Submitted,
    /// The time at which the job became eligible to run, if this time is later than the submission.
    Eligible,
}

/// The unit of limits of run times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Minutes. If more than 5% of the completed jobs would have exceeded their limit in minutes,
    /// the unit is seconds.
    Auto,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
}

/// A kind of log with its settings, written in the notation of strategies:
/// `sacct[submit=eligible]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Kind of the log.
    pub kind: Kind,
    /// Unit of sizes.
    pub size: Unit,
    /// Time of submission.
    pub submit: Submit,
    /// Zone of times that are written without a zone.
    pub zone: Zone,
    /// Whether jobs that were still running when the log was written are kept, with their run time
    /// up to that point.
    pub running: bool,
    /// Whether fractional sizes are rounded up; if not, jobs with a fractional size are dropped.
    pub round_up: bool,
    /// Whether all rows with the same id are merged into one job.
    pub join: bool,
    /// Unit of limits, for kinds of logs that do not specify the unit.
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
                "what is used as the size of a job",
                |source| &mut source.size,
            )
            .param(
                "submit",
                kind::one_of(&[("submitted", Submit::Submitted), ("eligible", Submit::Eligible)]),
                "submit time: the time of submission, or the time at which the job became eligible (no hold or dependency delays it)",
                |source| &mut source.submit,
            )
    };
    let zoned = |entry: Entry<Source>| {
        let zone = kind::parsed("UTC|+HH:MM|-HH:MM|Europe/Prague|..");
        entry.param("zone", zone, "zone of times that are written without a zone", |source| {
            &mut source.zone
        })
    };
    let rounded = |entry: Entry<Source>| {
        let about = "round fractional sizes up; otherwise such jobs are dropped";
        entry.param("round-up", kind::yes_no(), about, |source| &mut source.round_up)
    };
    let limited = |entry: Entry<Source>| {
        let about = "unit of time limits; auto: minutes, or seconds if too many completed jobs ran longer than limits \
            in minutes. If limits are long, auto cannot detect seconds";
        entry.param("limit", kind::one_of(UNITS), about, |source| &mut source.limit)
    };
    let joined = |entry: Entry<Source>| {
        let about = "merge all rows with the same id into one job, from the first start to the last end; keeps \
                     all jobs in memory";
        entry.param("join", kind::yes_no(), about, |source| &mut source.join)
    };
    let sacct = Entry::new("sacct", of(Kind::Sacct))
        .about(
            "Slurm's sacct -P: columns in any order, named in the first line. Needs JobID, Submit, Start, \
             State, End or Elapsed, and AllocNodes, NNodes or AllocCPUS.",
        )
        .source("sacct(1)");
    let running = |entry: Entry<Source>| {
        let about = "keep jobs that were still running, with their run time so far";
        entry.param("running", kind::yes_no(), about, |source| &mut source.running)
    };
    let sacct = running(zoned(sized(sacct)));
    let sacct_json = Entry::new("sacct-json", of(Kind::SacctJson))
        .aliases(&["slurm-json"])
        .about(
            "Slurm's sacct --json, and the ended jobs of scontrol show jobs --json and squeue --json. A file may have \
             several documents.",
        )
        .source("Slurm, data_parser v0.0.37 to v0.0.43");
    let cobalt = Entry::new("cobalt", of(Kind::Cobalt))
        .aliases(&["alcf"])
        .about(
            "Jobs of Cobalt, DIM_JOB_COMPOSITE, as CSV. LOCATION becomes a box in five dimensions on a Blue \
             Gene/Q, and a list of nodes on Theta.",
        )
        .source("Argonne Leadership Computing Facility, public data");
    let torque = Entry::new("torque", of(Kind::Torque))
        .aliases(&["pbs"])
        .about("Accounting records of Torque or PBS: a job is a line of type E.")
        .source("Torque manual, accounting records");
    let lsf = Entry::new("lsf", Source { size: Unit::Cores, ..of(Kind::Lsf) })
        .about(
            "lsb.acct of LSF: a job is a record JOB_FINISH. Sizes are slots, because jobs of LSF share hosts; \
                size=nodes uses the number of hosts.",
        )
        .source("IBM Spectrum LSF, configuration reference, lsb.acct");
    let sge = Entry::new("sge", Source { size: Unit::Cores, ..of(Kind::Sge) })
        .aliases(&["uge"])
        .about(
            "Accounting file of Grid Engine (SGE, UGE): a job or a task of an array is a line. Sizes are slots; \
                the file does not list the hosts of parallel jobs.",
        )
        .source("Grid Engine, accounting(5)");
    let gwf = Entry::new("gwf", of(Kind::Gwf))
        .about("Traces of the Grid Workloads Archive: 29 fields by position, -1 is unknown, no header.")
        .source("Grid Workloads Archive, Grid Workload Format (Iosup et al., 2008)");
    let batsim = Entry::new("batsim", of(Kind::Batsim))
        .about("Job table of Batsim, out_jobs.csv, with the resources of each job.")
        .source("Batsim, output files: jobs");
    let evalys = Entry::new("evalys", of(Kind::Evalys))
        .about(
            "Job table of evalys, jobs.csv, with the processors of each job; also tables of OAR.",
        )
        .source("github.com/oar-team/evalys, jobset.py");
    let dirlab = Entry::new("dirlab", of(Kind::Dirlab))
        .about("CSV of Gen-Parallel-Workloads: submit times as intervals since the previous job; no waits.")
        .source("github.com/DIR-LAB/Gen-Parallel-Workloads");
    let rfold = Entry::new("rfold", of(Kind::Rfold))
        .about("CSV of RFold: jobs with their requested shapes; no waits, no estimates.")
        .source("github.com/shuoshuc/RFold");
    let csv = Entry::new("csv", of(Kind::Csv)).about("Any text table; --map assigns the columns.");
    let fdata = Entry::new("fdata", Source { limit: Limit::Seconds, ..of(Kind::Fdata) })
        .about("Parquet of F-DATA, jobs of Fugaku: sizes in nodes, adt, sdt and edt.")
        .source("F-DATA, a workload dataset of Fugaku (Antici et al., 2024)");
    let pm100 = Entry::new("pm100", of(Kind::Pm100))
        .about("Parquet of PM100, jobs of Marconi100, with their nodes.")
        .source("PM100, a job power consumption dataset (Antici et al., 2023)");
    let parquet = Entry::new("parquet", of(Kind::Parquet)).about(
        "Any table in Parquet; --map assigns the columns. Columns with declared dates or durations are read as \
            declared, regardless of the map.",
    );
    Table::new(
        "source",
        [
            sacct,
            running(sized(sacct_json)),
            joined(rounded(zoned(cobalt))),
            sized(torque),
            sized(lsf),
            sge,
            rounded(gwf),
            rounded(batsim),
            rounded(evalys),
            rounded(dirlab),
            rounded(rfold),
            joined(rounded(csv)),
            limited(zoned(fdata)),
            limited(zoned(pm100)),
            joined(rounded(parquet)),
        ],
    )
});

/// Describes every source, for listings.
pub fn descriptions() -> Vec<Description> {
    TABLE.descriptions()
}

spelled!(Source, TABLE);
