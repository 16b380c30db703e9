//! Runs as columns of the page: one list of jobs for all runs, and for each run the differences from this list.

use std::collections::HashMap;

use polars::prelude::{AnyValue, Column, DataFrame, DataType};
use serde_json::{Map, Value, json};

use crate::columns::Columns;
use crate::machine::Rows;
use crate::{PageError, RunTables};
use replay_engine::metrics::{Allocation, JobMeasures, Placement, Submitted};
use replay_engine::simulation::Outages;
use replay_engine::table::Table;
use replay_engine::workload::Notation;
use replay_experiment::{RunKey, RunResult};

/// The request of a job, which all runs have in common.
struct Job {
    number: i64,
    submit: i64,
    size: i64,
    run: i64,
    estimate: Option<i64>,
    labels: [Option<i64>; 4],
}

/// Names of the labels of a job.
const LABELS: [&str; 4] = [
    Submitted::USER.text(),
    Submitted::GROUP.text(),
    Submitted::QUEUE.text(),
    Submitted::PARTITION.text(),
];

/// Measures of the placement of a job.
pub const MEASURES: [&str; 3] =
    [Placement::PAIRWISE_L1.text(), Placement::COMPONENTS.text(), "leaves"];

/// Columns of a run that may be absent and are copied as they are.
const COPIED: [&str; 4] = [MEASURES[0], MEASURES[1], MEASURES[2], JobMeasures::TIED.text()];

/// Adds the columns of the runs, and returns a description of each run.
///
/// # Errors
/// [`PageError`] if a table lacks a column, or if the runs have different jobs.
pub fn describe(
    runs: &[RunTables],
    notation: &Notation,
    rows: &Rows,
    columns: &mut Columns,
) -> Result<(usize, Vec<Value>), PageError> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut index: HashMap<(i64, u32), usize> = HashMap::new();
    let mut places = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        places.push(merge(&mut jobs, &mut index, run, at)?);
    }
    // The list of jobs is in order of submission, also if a later run adds jobs.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&job| (jobs[job].submit, jobs[job].number, job));
    let mut rank = vec![0; jobs.len()];
    order.iter().enumerate().for_each(|(place, &job)| rank[job] = place);
    places.iter_mut().flatten().for_each(|place| *place = rank[*place]);
    let mut sorted: Vec<Option<Job>> = jobs.into_iter().map(Some).collect();
    let jobs: Vec<Job> = order.into_iter().filter_map(|job| sorted[job].take()).collect();

    let of = |get: &dyn Fn(&Job) -> i64| jobs.iter().map(get).collect::<Vec<_>>();
    columns.integers("job", &of(&|job| job.number));
    columns.integers("submit", &of(&|job| job.submit));
    columns.integers("size", &of(&|job| job.size));
    columns.integers("run", &of(&|job| job.run));
    // An estimate is at least the run time, and often equal to an earlier estimate.
    columns.optional("estimate", &jobs.iter().map(|job| job.estimate).collect::<Vec<_>>());
    for (label, name) in LABELS.into_iter().enumerate() {
        let values: Vec<_> = jobs.iter().map(|job| job.labels[label]).collect();
        if values.iter().any(Option::is_some) {
            columns.optional(name, &values);
        }
    }
    if let Some(ids) = &notation.ids {
        let ids: Vec<_> = jobs.iter().map(|job| ids.id(job.number)).collect();
        columns.json("ids", &ids)?;
    }
    let mut described = Vec::new();
    for ((at, run), places) in runs.iter().enumerate().zip(&places) {
        described.push(of_run(at, run, places, &jobs, rows, columns)?);
    }
    Ok((jobs.len(), described))
}

/// Adds the jobs of a run to the list; returns the index of each of its jobs.
fn merge(
    jobs: &mut Vec<Job>,
    index: &mut HashMap<(i64, u32), usize>,
    run: &RunTables,
    at: usize,
) -> Result<Vec<usize>, PageError> {
    let numbers = complete(&run.jobs, Submitted::JOB.text())?;
    let submits = complete(&run.jobs, Submitted::SUBMIT.text())?;
    let sizes = complete(&run.jobs, Submitted::SIZE.text())?;
    let lasts = complete(&run.jobs, JobMeasures::RUN_TIME.text())?;
    let estimates = integers(&run.jobs, Submitted::ESTIMATE.text())?;
    let labels = LABELS.map(|name| integers(&run.jobs, name));
    let [users, groups, queues, partitions] = labels;
    let labels = [users?, groups?, queues?, partitions?];
    let mut seen: HashMap<i64, u32> = HashMap::new();
    let mut places = Vec::with_capacity(numbers.len());
    for i in 0..numbers.len() {
        let occurrence = seen.entry(numbers[i]).or_default();
        let place = *index.entry((numbers[i], *occurrence)).or_insert_with(|| {
            jobs.push(Job {
                number: numbers[i],
                submit: submits[i],
                size: sizes[i],
                run: lasts[i],
                estimate: estimates[i],
                labels: [labels[0][i], labels[1][i], labels[2][i], labels[3][i]],
            });
            jobs.len() - 1
        });
        *occurrence += 1;
        if (jobs[place].submit, jobs[place].size) != (submits[i], sizes[i]) {
            return Err(PageError::OtherJobs { run: at, job: numbers[i] });
        }
        places.push(place);
    }
    Ok(places)
}

/// Adds the columns of a run, whose names begin with the number of the run.
fn of_run(
    at: usize,
    run: &RunTables,
    places: &[usize],
    jobs: &[Job],
    rows: &Rows,
    columns: &mut Columns,
) -> Result<Value, PageError> {
    let of = |name: &str| complete(&run.jobs, name);
    let starts = of(JobMeasures::START.text())?;
    let (arrivals, lasts) = (of("arrival")?, of(JobMeasures::RUN_TIME.text())?);
    let (held, served) = (of("held_size")?, of("served_size")?);
    let slowdowns = floats(&run.jobs, JobMeasures::BOUNDED_SLOWDOWN.text())?;
    let mut wait = vec![None; jobs.len()];
    let [mut late, mut longer, mut own, mut more, mut fewer] =
        [(); 5].map(|()| vec![0; jobs.len()]);
    for (i, &place) in places.iter().enumerate() {
        let job = &jobs[place];
        wait[place] = Some(starts[i] - arrivals[i]);
        late[place] = arrivals[i] - job.submit;
        longer[place] = lasts[i] - job.run;
        own[place] = own_run(starts[i] - arrivals[i] + lasts[i], lasts[i], slowdowns[i]) - lasts[i];
        more[place] = held[i] - job.size;
        fewer[place] = job.size - served[i];
    }
    columns.optional(format!("{at}.wait"), &wait);
    for (name, values) in
        [("late", &late), ("longer", &longer), ("own", &own), ("held", &more), ("fewer", &fewer)]
    {
        if values.iter().any(|&value| value != 0) {
            columns.integers(format!("{at}.{name}"), values);
        }
    }
    for name in COPIED {
        if run.jobs.column(name).is_err() {
            continue;
        }
        let values = integers(&run.jobs, name)?;
        if values.iter().any(Option::is_some) {
            let mut copied = vec![None; jobs.len()];
            places.iter().zip(&values).for_each(|(&place, value)| copied[place] = *value);
            columns.optional(format!("{at}.{name}"), &copied);
        }
    }
    if let Some(placements) = &run.placements {
        let table = Placements { at, starts: &starts, lasts: &lasts, places, jobs };
        table.add(placements, rows, columns)?;
    }
    if let Some(outages) = &run.outages {
        add_outages(at, outages, rows, columns);
    }
    let explained: Map<String, Value> =
        run.explained.iter().map(|one| (one.job.to_string(), json!(one.steps))).collect();
    let key = &run.key;
    Ok(json!({
        "label": format!("{}, {}", key.scheduler, key.strategy()),
        "scheduler": key.scheduler,
        "allocator": key.allocator,
        "tie": key.tie,
        "policy": key.policy,
        "seed": key.seed,
        "from": run.from,
        "placements": run.placements.is_some(),
        "metrics": metrics(&run.run),
        "explained": explained,
        "outages_known": run.outages.is_some(),
    }))
}

/// Returns the run time on the requested processors, from the slowdown, which is relative to it.
fn own_run(turnaround: i64, run: i64, slowdown: Option<f64>) -> i64 {
    let expected = |own: i64| (turnaround as f64 / own.max(10) as f64).max(1.0);
    match slowdown {
        Some(slowdown) if (expected(run) - slowdown).abs() > 1e-9 * slowdown => {
            (turnaround as f64 / slowdown).round() as i64
        }
        _ => run,
    }
}

/// The metrics of a run: name, unit, meaning and value.
fn metrics(run: &DataFrame) -> Vec<Value> {
    let mut metrics = Vec::new();
    for column in RunResult::columns() {
        if RunKey::NAMES.contains(&column.name) || column.name == RunResult::RUN {
            continue;
        }
        let Ok(values) = run.column(column.name.text()) else { continue };
        let value = values.get(0).unwrap_or(AnyValue::Null);
        if let Ok(value) = value.try_extract::<f64>() {
            metrics.push(json!([column.name.text(), column.unit, column.meaning, value]));
        }
    }
    metrics
}

/// What the allocations of a run refer to.
struct Placements<'a> {
    at: usize,
    starts: &'a [i64],
    lasts: &'a [i64],
    places: &'a [usize],
    jobs: &'a [Job],
}

impl Placements<'_> {
    /// Adds the allocations of a run in order of their starts: the job, its processors as ranges of rows, and times that
    /// differ from those of the job, because the job was interrupted.
    fn add(
        &self,
        placements: &DataFrame,
        rows: &Rows,
        columns: &mut Columns,
    ) -> Result<(), PageError> {
        let numbers = complete(placements, Submitted::JOB.text())?;
        let starts = complete(placements, JobMeasures::START.text())?;
        let ends = complete(placements, JobMeasures::END.text())?;
        let nodes = column(placements, Allocation::NODES.text())?;
        let nodes = nodes.list().map_err(|_| unusable(Allocation::NODES.text()))?;
        let mut of_number: HashMap<i64, Vec<usize>> = HashMap::new();
        for (i, &place) in self.places.iter().enumerate() {
            of_number.entry(self.jobs[place].number).or_default().push(i);
        }
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by_key(|&i| starts[i]);
        let mut all = vec![(0usize, Vec::new()); numbers.len()];
        for (i, list) in nodes.amortized_iter().enumerate() {
            let unknown = || PageError::UnknownJob { job: numbers[i] };
            let named = of_number.get(&numbers[i]).ok_or_else(unknown)?;
            let same = named.iter().find(|&&at| self.starts[at] == starts[i]);
            let at = *same.or(named.first()).ok_or_else(unknown)?;
            let list = list.ok_or_else(|| unusable(Allocation::NODES.text()))?;
            let values = list.as_ref().i64().map_err(|_| unusable(Allocation::NODES.text()))?;
            let mut on: Vec<u32> = Vec::with_capacity(values.len());
            for value in values.iter() {
                let number = value.unwrap_or(-1);
                let row = rows.of(number);
                on.push(row.ok_or(PageError::UnknownProcessor { job: numbers[i], number })?);
            }
            on.sort_unstable();
            on.dedup();
            all[i] = (at, on);
        }
        let [mut job, mut later, mut longer] = [(); 3].map(|()| Vec::new());
        let (mut busy, mut ranges) = (Vec::new(), Ranges::default());
        for i in order {
            let (at, on) = &mut all[i];
            rows.share_hosts(on, [starts[i], ends[i]], &mut busy);
            job.push(self.places[*at] as i64);
            later.push(starts[i] - self.starts[*at]);
            longer.push(ends[i] - starts[i] - self.lasts[*at]);
            ranges.push(on);
        }
        for (name, values) in [("of", &job), ("later", &later), ("extra", &longer)] {
            columns.integers(format!("{}.{name}", self.at), values);
        }
        ranges.add(&format!("{}.", self.at), columns);
        Ok(())
    }
}

/// Sets of rows as ranges.
#[derive(Default)]
struct Ranges {
    counts: Vec<i64>,
    gaps: Vec<i64>,
    lengths: Vec<i64>,
}

impl Ranges {
    /// Appends a set; `rows` must be in ascending order, without duplicates.
    fn push(&mut self, rows: &[u32]) {
        let (before, mut free) = (self.gaps.len(), 0);
        for range in rows.chunk_by(|a, b| a + 1 == *b) {
            self.gaps.push(i64::from(range[0]) - free);
            self.lengths.push(range.len() as i64 - 1);
            free = i64::from(range[0]) + range.len() as i64;
        }
        self.counts.push((self.gaps.len() - before) as i64);
    }

    /// Adds the columns, whose names begin with `prefix`.
    fn add(&self, prefix: &str, columns: &mut Columns) {
        for (name, values) in
            [("counts", &self.counts), ("gaps", &self.gaps), ("lengths", &self.lengths)]
        {
            columns.integers(format!("{prefix}{name}"), values);
        }
    }
}

/// Adds the windows in which processors are out of service, in order of their starts.
fn add_outages(at: usize, outages: &Outages, rows: &Rows, columns: &mut Columns) {
    if outages.is_empty() {
        return;
    }
    let mut windows: Vec<_> = outages.windows.iter().collect();
    windows.sort_by_key(|window| window.from);
    let mut ranges = Ranges::default();
    for window in &windows {
        let on = window.nodes.iter().filter_map(|node| rows.of(i64::from(node.0)));
        let mut on: Vec<u32> = on.collect();
        on.sort_unstable();
        ranges.push(&on);
    }
    let from: Vec<_> = windows.iter().map(|window| window.from).collect();
    let until: Vec<_> = windows.iter().map(|window| window.until).collect();
    columns.integers(format!("{at}.down_from"), &from);
    columns.optional(format!("{at}.down_until"), &until);
    ranges.add(&format!("{at}.down_"), columns);
}

fn column<'a>(table: &'a DataFrame, name: &str) -> Result<&'a Column, PageError> {
    table.column(name).map_err(|_| PageError::Column { what: format!("no column \"{name}\"") })
}

fn unusable(name: &str) -> PageError {
    PageError::Column { what: format!("column {name} has an unexpected type or a null") }
}

fn integers(table: &DataFrame, name: &str) -> Result<Vec<Option<i64>>, PageError> {
    let values = column(table, name)?.cast(&DataType::Int64).map_err(|_| unusable(name))?;
    Ok(values.i64().map_err(|_| unusable(name))?.iter().collect())
}

fn floats(table: &DataFrame, name: &str) -> Result<Vec<Option<f64>>, PageError> {
    let values = column(table, name)?.cast(&DataType::Float64).map_err(|_| unusable(name))?;
    Ok(values.f64().map_err(|_| unusable(name))?.iter().collect())
}

fn complete(table: &DataFrame, name: &str) -> Result<Vec<i64>, PageError> {
    let values: Option<Vec<i64>> = integers(table, name)?.into_iter().collect();
    values.ok_or_else(|| unusable(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_times_of_folded_jobs_follow_from_the_slowdown() {
        assert_eq!(own_run(100, 50, Some(2.0)), 50);
        assert_eq!(own_run(100, 5, Some(10.0)), 5);
        assert_eq!(own_run(100, 50, Some(4.0)), 25);
        assert_eq!(own_run(3, 3, Some(1.0)), 3);
    }
}
