//! Results that are in a folder before a command writes to it.

use std::fs::File;

use serde::Serialize;

use super::journal;
use super::result_kind::Kind;
use replay_engine::number::{counted, grouped};
use replay_experiment::files::{Dir, ResultFolder};
use replay_experiment::journal::JOURNAL_FILE;
use replay_import::columns::Footer;
use replay_output::report::manifest::StoredManifest;

/// Maximum number of characters of a command line in a message.
const COMMAND: usize = 300;

/// Returns the hexadecimal BLAKE3 digest of a configuration as JSON. The configuration determines the numbers of the
/// results and the set of tables. Threads, host, time, and options for printing and drawing are not part of the
/// configuration.
///
/// # Errors
/// If `configuration` has no JSON form.
pub fn digest(kind: Kind, configuration: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(&(kind.name(), configuration))?;
    Ok(blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// Describes the results in a folder for messages: "the results of a run of KTH-SP2 (96 rows in runs.csv), written
/// 2026-01-31 12:00 UTC by \"replay --jobs 10\"".
pub fn description(dir: &Dir) -> String {
    let folder = ResultFolder::open(dir.path()).ok();
    let manifest = folder.and_then(|folder| StoredManifest::of(&folder).ok().flatten());
    let Some(StoredManifest { kind, command, started_unix, configuration, .. }) = manifest else {
        let kind = journal::journal_of(dir).unwrap_or_default();
        return format!("an unfinished {kind} ({JOURNAL_FILE})");
    };
    let mut text = format!("the results of a {kind}");
    let traces = configuration.traces.iter().map(|trace| trace.name.as_str());
    let mut traces: Vec<&str> = traces.collect();
    traces.dedup();
    match traces[..] {
        [] => {}
        [one] => text += &format!(" of {one}"),
        [first, .., last] if traces.len() > 3 => {
            text += &format!(" of {} traces, {first} to {last}", grouped(traces.len() as u64));
        }
        _ => text += &format!(" of {}", traces.join(", ")),
    }
    let tables = Kind::of(&kind).map_or(&[][..], Kind::tables);
    let rows = tables.iter().filter(|name| name.ends_with(".csv")).find_map(|name| {
        let path = dir.path().join(name).with_extension("parquet");
        let rows = Footer::read(&mut File::open(path).ok()?).ok()?.rows();
        Some(format!(" ({} in {name})", counted(rows as u64, "row")))
    });
    text += &rows.unwrap_or_default();
    if let Ok(time) = jiff::Timestamp::from_second(started_unix) {
        text += &format!(", written {}", time.strftime("%Y-%m-%d %H:%M UTC"));
    }
    if !command.is_empty() {
        let command = command.join(" ");
        let quoted: String = command.chars().take(COMMAND).collect();
        let more = if quoted.len() < command.len() { "..." } else { "" };
        text += &format!(" by \"{quoted}{more}\"");
    }
    text
}
