//! Figures of stochastic streams: a metric against load, or against the machine's size.

use crate::experiment::stream::{Estimates, Life, Metric, Point};
use crate::plot::{self, Line, Lines};

/// What is the same at all points, and what has to be told apart.
struct Varied {
    machines: bool,
    schedulers: bool,
    loads: bool,
}

impl Varied {
    fn of(results: &[(Point, Estimates)]) -> Self {
        let any = |differs: &dyn Fn(&Point, &Point) -> bool| {
            results.windows(2).any(|pair| differs(&pair[0].0, &pair[1].0))
        };
        Self {
            machines: any(&|a, b| a.topology != b.topology),
            schedulers: any(&|a, b| a.scheduler != b.scheduler),
            loads: any(&|a, b| a.load() != b.load()),
        }
    }

    /// Several machines at one load are drawn by their size.
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

/// A metric against load, a line for every strategy and machine; or against the number of
/// processors if there are several machines and one load. `None` if no strategy has the metric
/// or there is nothing to see.
pub fn figure(metric: Metric, results: &[(Point, Estimates)]) -> Option<Lines> {
    let (first, _) = results.first()?;
    let varied = Varied::of(results);
    let mut lines: Vec<Line> = Vec::new();
    for (point, estimates) in results {
        let name = varied.line(point);
        let x = match varied.against_size() {
            true => point.topology.processors() as f64,
            false => point.load(),
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
    // Where jobs live by their messages a time unit is a cycle.
    let time_unit = match first.life {
        Life::RunTimes => "time unit",
        Life::Messages(_) => "cycle",
    };
    let axis = metric.caption().axis.replace("time unit", time_unit);
    let title = axis.split(" (").next().unwrap_or(&axis);
    let (against, x_title) = match varied.against_size() {
        true => ("machine size", "Processors".to_string()),
        false => ("load", format!("Load (arrivals per {time_unit})")),
    };
    Some(Lines {
        title: format!("{title} against {against}"),
        subtitle: subtitle(first, &varied),
        x_title,
        y_title: axis.clone(),
        log_x: varied.against_size(),
        log_y: false,
        lines,
    })
}

/// What all points have in common.
fn subtitle(first: &Point, varied: &Varied) -> Vec<String> {
    let mut jobs = match varied.machines {
        true => format!("Sides {}", first.stream.sides),
        false => format!("{}, sides {}", first.topology, first.stream.sides),
    };
    if varied.against_size() {
        jobs.push_str(&format!(", load {}", first.load()));
    }
    let life = match &first.life {
        Life::RunTimes => format!("service {}", first.stream.service),
        Life::Messages(messages) => {
            format!("{}, packets of {} flits", messages.program.pattern(), messages.options.flits)
        }
    };
    vec![jobs, format!("{life}, {} jobs, bars: 95 %", first.stream.jobs)]
}
