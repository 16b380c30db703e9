//! Comparison of planned starts with those that `squeue --start -o "%i|%S|%Y"` prints.

use std::collections::HashMap;

use replay_engine::sanitize::{BYTE_ORDER_MARK, excerpt};
use replay_engine::table::{Align, Column, Sheet, Table};

use super::clock::instant;
use super::when::WhenRow;
use crate::error::SiteError;

/// The command that makes the file.
const COMMAND: &str = "squeue --start -o \"%i|%S|%Y\"";

/// Numbers of waiting jobs by the comparison of their planned starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// The same start, or no start in both.
    pub agreeing: u64,
    /// The plan is earlier than the file.
    pub earlier: u64,
    /// The plan is later than the file.
    pub later: u64,
    /// The file has a start, the plan has none.
    pub missing: u64,
    /// The plan has a start, the file has none.
    pub additional: u64,
    /// Of the agreeing starts, those on other nodes.
    pub other_nodes: u64,
    /// Jobs of the file that do not wait in `jobs.txt`.
    pub unknown: u64,
}

impl Table for Agreement {
    const NAME: &'static str = "agreement";
    const ROW: &'static str =
        "numbers of waiting jobs by the comparison of planned starts with squeue --start";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new("agreeing", "", "the same start, or no start in both", |row: &Self| row.agreeing),
            Column::new("earlier", "", "the plan is earlier than the file", |row: &Self| row.earlier),
            Column::new("later", "", "the plan is later than the file", |row: &Self| row.later),
            Column::new("missing", "", "the file has a start, the plan has none", |row: &Self| row.missing),
            Column::new("additional", "", "the plan has a start, the file has none", |row: &Self| row.additional),
            Column::new("other_nodes", "", "agreeing starts on other nodes", |row: &Self| row.other_nodes),
            Column::new("unknown", "", "jobs of the file that do not wait in jobs.txt", |row: &Self| row.unknown),
        ]
    }
}

impl Agreement {
    /// Returns the printed table.
    pub fn sheet(&self) -> Sheet {
        let names =
            ["agreeing", "earlier", "later", "missing", "additional", "other nodes", "unknown"];
        let mut sheet = Sheet::new(&names.map(|name| (name, Align::Right)));
        let numbers = [
            self.agreeing,
            self.earlier,
            self.later,
            self.missing,
            self.additional,
            self.other_nodes,
            self.unknown,
        ];
        sheet.push(numbers.map(|number| number.to_string()).to_vec());
        sheet
    }
}

/// Compares the rows of waiting jobs with a file. A waiting array is compared by its first task.
///
/// # Errors
/// [`SiteError`] with the line.
pub fn compare(
    rows: &[WhenRow],
    text: &str,
    file: &str,
    same_nodes: impl Fn(&str, &str) -> bool,
) -> Result<Agreement, SiteError> {
    let mut first: HashMap<&str, &WhenRow> = HashMap::new();
    for row in rows {
        first.entry(&row.job).or_insert(row);
        let array = row.job.split_once('_').map_or(&row.job[..], |(array, _)| array);
        first.entry(array).or_insert(row);
    }
    let mut found = Agreement::default();
    let lines = (1..).zip(text.trim_start_matches(BYTE_ORDER_MARK).lines());
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        let fields: Vec<&str> = text.split('|').map(str::trim).collect();
        let failed = |problem: String| SiteError::new(file, line, problem);
        let [id, start, nodes] = fields[..] else {
            let problem = format!(
                "{} fields separated by \"|\", not 3; make the file with {COMMAND}",
                fields.len()
            );
            return Err(failed(problem));
        };
        if id.eq_ignore_ascii_case("JOBID") {
            continue;
        }
        let id = id.split_once("_[").map_or(id, |(array, _)| array);
        if !id.starts_with(|letter: char| letter.is_ascii_digit()) {
            return Err(failed(format!(
                "\"{}\" is not a job; make the file with {COMMAND}",
                excerpt(id)
            )));
        }
        let start = instant(start).map_err(failed)?.map(|(at, _)| at);
        let Some(row) = first.get(id) else {
            found.unknown += 1;
            continue;
        };
        match (row.plan, start) {
            (None, None) => found.agreeing += 1,
            (Some(_), None) => found.additional += 1,
            (None, Some(_)) => found.missing += 1,
            (Some(plan), Some(start)) if plan < start => found.earlier += 1,
            (Some(plan), Some(start)) if plan > start => found.later += 1,
            _ => {
                found.agreeing += 1;
                let has_nodes = !nodes.is_empty() && nodes != "(null)" && nodes != "N/A";
                let plan = row.plan_node_names.as_deref().unwrap_or_default();
                found.other_nodes += u64::from(has_nodes && !same_nodes(plan, nodes));
            }
        }
    }
    Ok(found)
}
