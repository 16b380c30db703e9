//! Figures of stochastic streams: a metric against load, or against the machine's size.

use std::collections::{BTreeMap, BTreeSet};

use replay_engine::metrics::comparable;
use replay_engine::number::counted;
use replay_experiment::stream::{Life, Metric, Point, StreamRow};
use replay_output::plot::{self, FileNames, Line, Lines, joined};

/// Returns the file name of a figure without its extension: metric, sizes of jobs, machines, schedulers, the allocator
/// if there is only one, and the load if the figure has one.
pub fn stem(shown: &str, results: &[StreamRow], load: Option<f64>) -> String {
    let different = |text: fn(&Point) -> String, what: &str| {
        joined(results.iter().map(|StreamRow(point, _)| text(point)), what)
    };
    let mut parts = vec![
        shown.to_string(),
        different(|point| point.stream.sides.to_string(), "sides"),
        different(|point| point.topology.to_string(), "machines"),
        different(|point| point.scheduler.to_string(), "schedulers"),
    ];
    let mut allocators = results.iter().map(|StreamRow(point, _)| point.allocator.to_string());
    if let Some(first) = allocators.next().filter(|first| allocators.all(|other| other == *first)) {
        parts.push(first);
    }
    parts.extend(load.map(|load| load.to_string()));
    FileNames::default().unique(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The properties in which points differ.
struct Varied {
    machines: bool,
    schedulers: bool,
    loads: bool,
}

impl Varied {
    fn of(results: &[StreamRow]) -> Self {
        let any = |differs: &dyn Fn(&Point, &Point) -> bool| {
            results.windows(2).any(|pair| differs(&pair[0].0, &pair[1].0))
        };
        Self {
            machines: any(&|a, b| a.topology != b.topology),
            schedulers: any(&|a, b| a.scheduler != b.scheduler),
            loads: any(&|a, b| a.arrivals() != b.arrivals()),
        }
    }

    /// Returns whether the x axis is the machine size. The x axis is the machine size if there are several machines and
    /// one load.
    fn against_size(&self) -> bool {
        self.machines && !self.loads
    }

    fn line(&self, point: &Point) -> String {
        let mut name = point.allocator.to_string();
        if self.schedulers {
            name.push_str(&format!(" ({})", point.scheduler));
        }
        if self.machines && !self.against_size() {
            name.push_str(&format!(" {}", point.topology));
        }
        name
    }
}

/// Returns the figure of a metric with a line for each strategy and machine. The x axis is the offered load if
/// `offered` is true, or else the arrivals. If there are several machines and one load, the x axis is the number of
/// processors. Returns `None` if no strategy has the metric, or if all values are 0.
pub fn figure(metric: Metric, results: &[StreamRow], offered: bool, most: usize) -> Option<Lines> {
    let StreamRow(first, _) = results.first()?;
    let varied = Varied::of(results);
    let apart = match comparable::is_distance(metric.caption().column) {
        true => unranked(results, &varied),
        false => BTreeSet::new(),
    };
    let mut lines: Vec<Line> = Vec::new();
    for StreamRow(point, estimates) in results {
        let name = varied.line(point);
        if apart.contains(&name) {
            continue;
        }
        let x = match varied.against_size() {
            true => point.topology.processors() as f64,
            false => load(point, offered),
        };
        let estimate = estimates.of(metric);
        let mut at = plot::Point::new(x, estimate.mean);
        at.error = estimate.half_width.is_finite().then(|| estimate.interval().into());
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(at),
            None => lines.push(Line { name, points: vec![at] }),
        }
    }
    let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.y);
    if !values().any(|value| value.is_finite() && value != 0.0) {
        return None;
    }
    // With messages, a time unit is a cycle.
    let time_unit = match first.life {
        Life::RunTimes => "time unit",
        Life::Messages(_) => "cycle",
    };
    let axis = metric.caption().axis.replace("time unit", time_unit);
    let title = axis.split(" (").next().unwrap_or(&axis);
    let (against, x_title) = match varied.against_size() {
        true => ("machine size", "Processors".to_string()),
        false if offered => ("load", "Offered load (share of the machine)".to_string()),
        false => ("arrivals", format!("Arrivals (per {time_unit})")),
    };
    let mut subtitle = subtitle(first, &varied);
    subtitle.extend(truncate(&mut lines, most));
    if !apart.is_empty() {
        let folding = counted(apart.len() as u64, "line");
        subtitle.push(format!("not shown: {folding} of strategies that fold jobs"));
    }
    Some(Lines {
        title: format!("{title} against {against}"),
        subtitle,
        x_title,
        y_title: axis.clone(),
        log_x: varied.against_size(),
        log_y: false,
        plain: false,
        lines,
    })
}

/// Returns the names of the lines that are not [ranked](comparable::ranked) by distance, because they have a point that
/// folds jobs.
fn unranked(results: &[StreamRow], varied: &Varied) -> BTreeSet<String> {
    let mut lines: BTreeMap<String, bool> = BTreeMap::new();
    for StreamRow(point, estimates) in results {
        *lines.entry(varied.line(point)).or_default() |= estimates.folds();
    }
    let folds: Vec<bool> = lines.values().copied().collect();
    let ranked = comparable::ranked(&folds);
    let apart = lines.into_keys().zip(ranked).filter(|(_, ranked)| !ranked);
    apart.map(|(name, _)| name).collect()
}

/// Keeps the first lines. Returns the subtitle text about the omitted lines, if there are any.
fn truncate(lines: &mut Vec<Line>, most: usize) -> Option<String> {
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    plot::not_shown(more)
}

/// Returns the load or arrival rate as typed.
fn load(point: &Point, offered: bool) -> f64 {
    match point.offered_load().filter(|_| offered) {
        // Remove the rounding error of the conversion to arrivals and back.
        Some(share) => (share * 1e9).round() / 1e9,
        None => point.arrivals(),
    }
}

/// Returns the figures of turnaround against job size. There is a figure for each load.
pub fn by_size(results: &[StreamRow], offered: bool, most: usize) -> Vec<(f64, Lines)> {
    let Some(StreamRow(first, _)) = results.first() else { return Vec::new() };
    let varied = Varied { loads: true, ..Varied::of(results) };
    let mut figures: Vec<(f64, Lines)> = Vec::new();
    for StreamRow(point, estimates) in results {
        let load = load(point, offered);
        let points = estimates.by_size().into_iter().map(|of| {
            let mut at = plot::Point::new(f64::from(of.size), of.turnaround.mean);
            at.error =
                of.turnaround.half_width.is_finite().then(|| of.turnaround.interval().into());
            at
        });
        let line = Line { name: varied.line(point), points: points.collect() };
        match figures.iter_mut().find(|(known, _)| *known == load) {
            Some((_, figure)) => figure.lines.push(line),
            None => {
                let mut subtitle = subtitle(first, &varied);
                if let Some(jobs) = subtitle.first_mut() {
                    let what = if offered { "load" } else { "arrivals" };
                    jobs.push_str(&format!(", {what} {load}"));
                }
                let figure = Lines {
                    title: "Turnaround against job size".to_string(),
                    subtitle,
                    x_title: "Processors asked for".to_string(),
                    y_title: Metric::Turnaround.caption().axis.to_string(),
                    log_x: true,
                    log_y: true,
                    plain: false,
                    lines: vec![line],
                };
                figures.push((load, figure));
            }
        }
    }
    for (_, figure) in &mut figures {
        figure.subtitle.extend(truncate(&mut figure.lines, most));
    }
    figures
}

/// Returns the properties that all points share, for the subtitle.
fn subtitle(first: &Point, varied: &Varied) -> Vec<String> {
    let mut jobs = match varied.machines {
        true => format!("Sides {}", first.stream.sides),
        false => format!("{}, sides {}", first.topology, first.stream.sides),
    };
    if varied.against_size() {
        jobs.push_str(&format!(", {} arrivals", first.arrivals()));
    }
    let life = match &first.life {
        Life::RunTimes => format!("service {}", first.stream.service),
        Life::Messages(messages) => {
            format!("{}, packets of {} flits", messages.program.pattern(), messages.options.flits)
        }
    };
    vec![jobs, format!("{life}, {} jobs, bars: 95 %", first.stream.jobs)]
}
