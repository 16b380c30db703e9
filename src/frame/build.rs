use polars::prelude::{Column as Values, DataFrame, PolarsResult};

use super::column::{Column, Get};
use super::{by_size, jobs, runs};
use crate::experiment::RunResult;

/// The frame of `columns` over `rows`.
pub(super) fn frame<Row>(
    columns: &[Column<Row>],
    rows: &[(&RunResult, &Row)],
) -> PolarsResult<DataFrame> {
    fn collect<'a, Row, T>(
        rows: &[(&'a RunResult, &'a Row)],
        get: impl Fn(&'a RunResult, &'a Row) -> Option<T>,
    ) -> Vec<Option<T>> {
        rows.iter().map(|&(run, row)| get(run, row)).collect()
    }
    let values = |column: &Column<Row>| {
        let name = column.name.into();
        match column.get {
            Get::Text(get) => Values::new(name, collect(rows, get)),
            Get::U64(get) => Values::new(name, collect(rows, get)),
            Get::I64(get) => Values::new(name, collect(rows, get)),
            Get::F64(get) => Values::new(name, collect(rows, get)),
        }
    };
    DataFrame::new(rows.len(), columns.iter().map(values).collect())
}

/// The rows of the runs table.
pub(super) fn run_rows(results: &[RunResult]) -> Vec<(&RunResult, &())> {
    results.iter().map(|run| (run, &())).collect()
}

/// The rows of one of the tables with many rows per run.
pub(super) fn inner_rows<Row>(
    results: &[RunResult],
    rows: impl Fn(&RunResult) -> &[Row],
) -> Vec<(&RunResult, &Row)> {
    results.iter().flat_map(|run| rows(run).iter().map(move |row| (run, row))).collect()
}

/// The runs table of `results`: one row each, in their order.
///
/// # Errors
/// Only if polars refuses the columns.
pub fn runs_frame(results: &[RunResult]) -> PolarsResult<DataFrame> {
    frame(runs::COLUMNS, &run_rows(results))
}

/// The table of job sizes: for each of `results` one row per size, ascending.
///
/// # Errors
/// Only if polars refuses the columns.
pub fn by_size_frame(results: &[RunResult]) -> PolarsResult<DataFrame> {
    frame(by_size::COLUMNS, &inner_rows(results, |run| &run.by_size))
}

/// The table of jobs: for each of `results` the jobs it kept, in order of submission.
///
/// # Errors
/// Only if polars refuses the columns.
pub fn jobs_frame(results: &[RunResult]) -> PolarsResult<DataFrame> {
    frame(jobs::COLUMNS, &inner_rows(results, |run| &run.jobs))
}
