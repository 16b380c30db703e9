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

/// Returns the column map of a kind of log whose columns are known.
pub(super) fn layout(kind: Kind, zone: Zone) -> Option<Result<ColumnMap, ImportError>> {
    let text = match kind {
        Kind::Fdata => FDATA,
        Kind::Pm100 => PM100,
        _ => return None,
    };
    Some(ColumnMap::parse(&format!("zone = \"{zone}\"\n{text}"), "its map"))
}
