//! Published tables whose columns are known, described by column maps like those that users write.

use super::map::ColumnMap;
use super::zone::Zone;
use super::{ImportError, Kind};

/// Map for the jobs of Fugaku.
const FDATA: &str = r#"
[columns]
id = "jid"
submit = "adt"
start = "sdt"
end = "edt"
size = "nnumr"
estimate = { column = "elpl", unit = "minutes or seconds" }
user = "usr"
[columns.status]
column = "exit state"
ok = ["completed", "COMPLETED"]
failed = ["failed", "FAILED"]
cancelled = ["cancelled", "canceled", "CANCELLED"]
"#;

/// Map for the jobs of Marconi100.
const PM100: &str = r#"
[columns]
id = "job_id"
submit = "submit_time"
start = "start_time"
end = "end_time"
size = "num_nodes_alloc"
estimate = { column = "time_limit", unit = "minutes or seconds" }
status = { column = "job_state", slurm = true }
user = "user_id"
queue = "partition"
nodes = "nodes"
"#;

/// Map for the Grid Workloads Format, whose columns are declared by [`GWF_COLUMNS`].
const GWF: &str = r##"
separator = " "
comment = "#"
time = "unix"
none = ["-1"]
[columns]
id = "JobID"
submit = "SubmitTime"
wait = "WaitTime"
run = "RunTime"
size = "NProcs"
requested = "ReqNProcs"
estimate = "ReqTime"
user = "UserID"
group = "GroupID"
queue = "QueueID"
status = { column = "Status", ok = ["1"], failed = ["0"], cancelled = ["5"] }
"##;

/// The fields of the Grid Workloads Format. Files in this format have no header, apart from comments.
pub(super) const GWF_COLUMNS: [&str; 29] = [
    "JobID",
    "SubmitTime",
    "WaitTime",
    "RunTime",
    "NProcs",
    "AverageCPUTimeUsed",
    "UsedMemory",
    "ReqNProcs",
    "ReqTime",
    "ReqMemory",
    "Status",
    "UserID",
    "GroupID",
    "ExecutableID",
    "QueueID",
    "PartitionID",
    "OrigSiteID",
    "LastRunSiteID",
    "JobStructure",
    "JobStructureParams",
    "UsedNetwork",
    "UsedLocalDiskSpace",
    "UsedResources",
    "ReqPlatform",
    "ReqNetwork",
    "ReqLocalDiskSpace",
    "ReqResources",
    "VOID",
    "ProjectID",
];

/// Map for the job tables of Batsim and evalys. The names in capitals are replaced by those of [`simulated`].
const SIMULATED: &str = r#"
time = "TIME"
none = ["nan", "NaN", "inf"]
[columns]
id = "JOB"
submit = "submission_time"
start = { column = "starting_time", none = ["-1"] }
end = { column = "finish_time", none = ["-1", "-2"] }
requested = "requested_number_of_UNITS"
nodes = "allocated_UNITS"
estimate = { column = "requested_time", none = ["-1"] }
"#;

/// Statuses of jobs in the tables of Batsim, by their names, or by whether they succeeded.
const STATUSES: [&str; 2] = [
    r#"
[columns.status]
column = "final_state"
ok = ["COMPLETED_SUCCESSFULLY"]
failed = ["COMPLETED_FAILED", "COMPLETED_WALLTIME_REACHED"]
cancelled = ["COMPLETED_KILLED", "REJECTED"]
running = ["NOT_SUBMITTED", "IN_SUBMISSION", "SUBMITTED", "RUNNING", "IN_KILLING"]
"#,
    r#"
[columns.status]
column = "success"
ok = ["1", "True", "true", "1.0"]
failed = ["0", "False", "false", "0.0"]
"#,
];

/// Returns the maps of the job tables of Batsim and evalys, whose versions have different column names.
fn simulated(kind: Kind) -> Vec<String> {
    // The times of evalys may be seconds since 1970; the sink decides by their size.
    let time = if kind == Kind::Batsim { "seconds" } else { "unix" };
    let mut maps = Vec::new();
    for status in STATUSES {
        for job in ["job_id", "jobID"] {
            for (requested, allocated) in [
                ("resources", "resources"),
                ("processors", "processors"),
                ("processors", "resources"),
            ] {
                let map = SIMULATED.replace("TIME", time).replace("JOB", job);
                let map = map.replace("of_UNITS", &format!("of_{requested}"));
                maps.push(
                    map.replace("allocated_UNITS", &format!("allocated_{allocated}")) + status,
                );
            }
        }
    }
    maps
}

/// Returns the column maps of a kind of log whose columns are known, in order of preference. All maps of a kind have the
/// same separator.
pub(super) fn layouts(kind: Kind, zone: &Zone) -> Result<Vec<ColumnMap>, ImportError> {
    let texts = match kind {
        Kind::Fdata => vec![FDATA.to_string()],
        Kind::Pm100 => vec![PM100.to_string()],
        Kind::Gwf => vec![GWF.to_string()],
        Kind::Batsim | Kind::Evalys => simulated(kind),
        _ => Vec::new(),
    };
    let map = |text: String| ColumnMap::parse(&format!("zone = \"{zone}\"\n{text}"), "its map");
    texts.into_iter().map(map).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_maps_are_valid() {
        for (kind, maps) in [(Kind::Gwf, 1), (Kind::Batsim, 12), (Kind::Evalys, 12), (Kind::Csv, 0)]
        {
            let all = layouts(kind, &Zone::default()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(all.len(), maps, "{kind:?}");
        }
    }
}
