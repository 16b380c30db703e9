use super::header::{Head, Mark};
use super::number::grouped;
use super::panel::{Panel, right_room};
use super::scale::Scale;
use super::style::{AXIS_LINE, BLUE, Colour, INK, MUTED, VERMILION, WHITE};
use super::{Canvas, Figure, PlotError, Table};
use replay_engine::metrics::SizeChange;

/// Quantity on the x axis of an [`Improvement`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Job size in processors (Johnson, Bunde, Leung, Figs. 9, 11, 13).
    Size,
    /// Rank of the job size by number of jobs (Figs. 10, 12, 14).
    Rank,
}

/// Improvement of the mean pairwise L1 relative to a baseline, by job size. Bars from the zero line show the
/// improvement. Crosses on a second, logarithmic axis show the number of jobs of each size.
#[derive(Clone, PartialEq, Debug)]
pub struct Improvement {
    /// Clauses of the subtitle, which state the trace, machine, scheduler and the compared strategies.
    pub subtitle: Vec<String>,
    /// Quantity on the x axis.
    pub order: Order,
    /// Changes by job size.
    pub changes: Vec<SizeChange>,
    /// Half the width of each confidence interval, in the order of `changes`; empty if there are no intervals.
    pub half_widths: Vec<f64>,
    /// Range in percent that the y axis must include, so that compared figures share one scale.
    pub reach: [f64; 2],
}

impl Improvement {
    fn x(&self, change: &SizeChange) -> f64 {
        f64::from(match self.order {
            Order::Size => change.size,
            Order::Rank => change.size_rank,
        })
    }

    fn title(&self) -> &'static str {
        match self.order {
            Order::Size => "Improvement by job size",
            Order::Rank => "Improvement by rank of job size",
        }
    }

    /// Returns the CSV column and the title of the x axis.
    fn x_axis(&self) -> (&'static str, &'static str) {
        match self.order {
            Order::Size => ("size", "Job size (processors)"),
            Order::Rank => ("size_rank", "Rank of the job size by number of jobs"),
        }
    }

    /// Returns the scales of the x axis, of the improvement and of the number of jobs.
    fn scales(&self) -> [Scale; 3] {
        let [low, high] = self.extremes();
        let (low, high) = (low.min(self.reach[0]), high.max(self.reach[1]));
        let most = self.changes.iter().map(|c| c.jobs).max().unwrap_or(1) as f64;
        let last = self.changes.iter().map(|c| self.x(c)).max_by(f64::total_cmp).unwrap_or(1.0);
        let pad = last * 0.01 + 0.5;
        let first = match self.order {
            Order::Size => -pad,
            // Rank 0 does not exist and has no label.
            Order::Rank => 1.0 - pad.min(0.9),
        };
        [
            Scale::linear(first, last + pad),
            Scale::round(low, high, 7),
            // Extend the axis, so that the crosses of single jobs and of the most frequent size are not at the edges.
            Scale::log(0.7, (most * 1.5).max(10.0)),
        ]
    }

    /// Returns the lowest and the highest value of the bars and intervals; the range includes 0.
    pub fn extremes(&self) -> [f64; 2] {
        let low = self.with_intervals().map(|it| ends(it)[0]).fold(0.0, f64::min);
        [low, self.with_intervals().map(|it| ends(it)[1]).fold(0.0, f64::max)]
    }

    fn full_subtitle(&self) -> Vec<String> {
        let mut subtitle = self.subtitle.clone();
        subtitle.extend(self.fixed());
        subtitle
    }

    /// Returns the changes, each with half the width of its interval if present.
    fn with_intervals(&self) -> impl Iterator<Item = (&SizeChange, Option<f64>)> {
        let half_widths = self.half_widths.iter().copied().map(Some);
        self.changes.iter().zip(half_widths.chain(std::iter::repeat(None)))
    }

    /// Returns a subtitle clause with the share of the jobs whose distance does not depend on the allocator.
    fn fixed(&self) -> Option<String> {
        let jobs = |fixed: bool| {
            self.changes.iter().filter(|c| c.fixed || !fixed).map(|c| c.jobs).sum::<u64>() as f64
        };
        (jobs(true) > 0.0).then(|| {
            let percent = grouped(100.0 * jobs(true) / jobs(false), 1);
            format!(
                "{percent} % of jobs cannot change (they have one processor or the whole machine)"
            )
        })
    }
}

const Y_TITLE: &str = "Improvement of mean pairwise L₁ (%)";
const JOBS: &str = "Jobs of this size";

/// Radius of the mark for a size without a change.
const UNCHANGED: f64 = 3.5;

fn is_unchanged(change: &SizeChange) -> bool {
    change.fixed || change.improvement_percent == 0.0
}

/// Returns whether a single job determines the bar of a size.
fn is_single(change: &SizeChange) -> bool {
    change.jobs == 1
}

fn pale(colour: Colour) -> Colour {
    colour.towards(WHITE, 0.6)
}

/// Returns the ends of the interval of a change; without an interval, both ends equal the change itself.
fn ends((change, half): (&SizeChange, Option<f64>)) -> [f64; 2] {
    let half = half.unwrap_or(0.0);
    [change.improvement_percent - half, change.improvement_percent + half]
}

impl Figure for Improvement {
    fn head(&self) -> Head {
        let any = |is: &dyn Fn(&SizeChange) -> bool| self.changes.iter().any(is);
        let shown = [
            (true, Mark::Box(BLUE), "closer together (left axis)"),
            (true, Mark::Box(VERMILION), "farther apart (left axis)"),
            (
                any(&|c| is_single(c) && !is_unchanged(c)),
                Mark::Box(pale(BLUE)),
                "pale: a single job",
            ),
            (any(&|c| is_unchanged(c) && !c.fixed), Mark::Disc(MUTED), "no change"),
            (any(&|c| c.fixed), Mark::Circle(MUTED), "cannot change"),
            (true, Mark::Cross(INK), "jobs of this size (right axis)"),
        ];
        let shown = shown.into_iter().filter(|entry| entry.0);
        Head::new(self.title(), &self.full_subtitle())
            .legend(shown.map(|(_, mark, label)| (mark, label.to_string())))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let percent = |c: &SizeChange| c.improvement_percent;
        let [x, y, jobs] = self.scales();
        let mut xs: Vec<f64> = self.changes.iter().map(|c| self.x(c)).collect();
        xs.sort_by(f64::total_cmp);
        let last = xs.last().copied().unwrap_or(1.0);
        let titles = [self.x_axis().1, Y_TITLE];
        let panel = Panel::of_page(canvas, top, [x, y], titles)?;
        let room = right_room(JOBS, jobs, panel.bottom - panel.top)?;
        let panel = Panel { right: canvas.width() - room, ..panel };
        let gap = xs.windows(2).map(|pair| pair[1] - pair[0]).fold(last.max(1.0), f64::min);
        let half = ((panel.at_x(gap) - panel.at_x(0.0)) * 0.35).clamp(0.8, 9.0);

        panel.grid_y(canvas)?;
        for change in &self.changes {
            let (x, y) = panel.at(self.x(change), percent(change));
            let colour = if percent(change) < 0.0 { VERMILION } else { BLUE };
            let colour = if is_single(change) { pale(colour) } else { colour };
            if !is_unchanged(change) {
                canvas.rectangle((x - half, panel.at_y(0.0)), (x + half, y), colour)?;
            }
        }
        for (change, half) in self.with_intervals().filter(|it| it.1.is_some_and(|half| half > 0.0))
        {
            let x = panel.at_x(self.x(change));
            let [low, high] = ends((change, half)).map(|end| panel.at_y(end));
            canvas.line(&[(x, low), (x, high)], AXIS_LINE, INK)?;
        }
        canvas.line(
            &[panel.at(panel.x.range().0, 0.0), panel.at(panel.x.range().1, 0.0)],
            AXIS_LINE,
            INK,
        )?;
        // Mark sizes without a change, to distinguish them from sizes without jobs.
        for change in self.changes.iter().filter(|change| is_unchanged(change)) {
            let centre = panel.at(self.x(change), 0.0);
            canvas.disc(centre, UNCHANGED, MUTED)?;
            if change.fixed {
                canvas.disc(centre, UNCHANGED - 1.5, WHITE)?;
            }
        }
        // Draw all white edges first, so that no edge covers a neighbouring cross.
        for (arm, half, colour) in [(5.0, 1.75, WHITE), (4.0, 0.75, INK)] {
            for change in &self.changes {
                let centre = (panel.at_x(self.x(change)), panel.y_on(jobs, change.jobs as f64));
                canvas.cross(centre, arm, half, colour)?;
            }
        }
        panel.axis_bottom(canvas, self.x_axis().1)?;
        panel.axis_left(canvas, Y_TITLE)?;
        panel.axis_right(canvas, jobs, JOBS)
    }

    fn table(&self) -> Table {
        let columns = ["size", "size_rank", "jobs", "improvement_percent", "fixed", "half_width"];
        let shown = if self.half_widths.is_empty() { 5 } else { 6 };
        let mut table = Table::new(&columns[..shown]);
        let mut changes: Vec<_> = self.with_intervals().collect();
        changes.sort_by(|(a, _), (b, _)| self.x(a).total_cmp(&self.x(b)));
        for (c, half_width) in changes {
            let row = [
                c.size.to_string(),
                c.size_rank.to_string(),
                c.jobs.to_string(),
                c.improvement_percent.to_string(),
                c.fixed.to_string(),
                half_width.map_or(String::new(), |half_width| half_width.to_string()),
            ];
            table.row(&row[..shown]);
        }
        table
    }
}
