use super::figure_style::Page;
use super::header::Head;
use super::number::significant;
use super::rows::{self, Rows, VALUE_ROOM};
use super::scale::Scale;
use super::style::{BLUE, GRID_LINE, MUTED};
use super::{Canvas, Figure, PlotError, Table};

/// Mean pairwise L1 by strategy as bars, in ascending order (Johnson, Bunde, Leung, Fig. 18).
///
/// Bars begin at 0 and have no intervals, which would be too short to see. If there are intervals, or if all values are
/// within 15 % of the largest, a second panel shows the values as dots on an axis that does not begin at 0.
#[derive(Clone, PartialEq, Debug)]
pub struct StrategyBars {
    /// Clauses of the subtitle, which state the trace, machine and scheduler.
    pub subtitle: Vec<String>,
    /// Strategies in any order.
    pub strategies: Vec<StrategyBar>,
}

/// A bar of [`StrategyBars`].
#[derive(Clone, PartialEq, Debug)]
pub struct StrategyBar {
    /// Allocator and tie vector.
    pub name: String,
    /// Mean, over all jobs, of the pairwise L1 sum in hops; averaged over seeds if there are several seeds.
    pub mean_pairwise_l1: f64,
    /// Half the width of the confidence interval if the value is a mean over perturbed copies.
    pub half_width: Option<f64>,
}

impl StrategyBar {
    fn interval(&self) -> Option<[f64; 2]> {
        let (mean, half) = (self.mean_pairwise_l1, self.half_width?);
        Some([mean - half, mean + half])
    }
}

impl StrategyBars {
    fn sorted(&self) -> Vec<&StrategyBar> {
        let mut sorted: Vec<_> = self.strategies.iter().collect();
        sorted.sort_by(|a, b| {
            a.mean_pairwise_l1.total_cmp(&b.mean_pairwise_l1).then_with(|| a.name.cmp(&b.name))
        });
        sorted
    }

    /// Returns a scale from 0 and, if the bars on this scale would look equal, an enlarged scale.
    fn scales(&self) -> Vec<Scale> {
        let sorted = self.sorted();
        let value = |strategy: Option<&&StrategyBar>| strategy.map_or(0.0, |s| s.mean_pairwise_l1);
        let (least, most) = (value(sorted.first()), value(sorted.last()));
        let ends = sorted.iter().map(|one| one.mean_pairwise_l1);
        let mut scales = vec![rows::bar_scale(ends, X_TITLE)];
        if least < most && (most - least < ZOOM_BELOW * most || self.has_intervals()) {
            let intervals = || sorted.iter().filter_map(|one| one.interval()).flatten();
            let least = intervals().fold(least, f64::min);
            let most = intervals().fold(most, f64::max);
            let room = 0.15 * (most - least);
            scales.push(Scale::linear(least - room, most + 1.5 * room));
        }
        scales
    }

    fn full_subtitle(&self, zoomed: bool) -> Vec<String> {
        let mut subtitle = self.subtitle.clone();
        if zoomed {
            subtitle.push("dots: the same values enlarged; the axis does not begin at 0".into());
        }
        subtitle
    }

    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        let names: Vec<_> = self.sorted().iter().map(|strategy| strategy.name.clone()).collect();
        Rows::new(&names, self.scales().len(), width)
    }

    fn has_intervals(&self) -> bool {
        self.strategies.iter().any(|strategy| strategy.half_width.is_some())
    }
}

const TITLE: &str = "Mean pairwise L₁ by strategy";
const X_TITLE: &str = "Mean pairwise L₁ per job (hops)";
/// Minimum relative range of the values at which bars that begin at 0 look different.
const ZOOM_BELOW: f64 = 0.15;

impl Figure for StrategyBars {
    fn head(&self) -> Head {
        Head::new(TITLE, &self.full_subtitle(self.scales().len() > 1))
    }

    fn usual_height(&self, page: &Page) -> f64 {
        self.layout(page.width).map_or(page.width, |rows| rows.usual_height())
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width)?.least_height())
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let sorted = self.sorted();
        let scales = self.scales();
        let layout = self.layout(canvas.width())?;
        let top = self.head().draw(canvas)? - 8.0;
        let (rows, panel) = layout.draw(canvas, top, 0, scales[0])?;
        panel.grid_x(canvas)?;
        for (row, strategy) in sorted.iter().enumerate() {
            let value = strategy.mean_pairwise_l1;
            rows.bar_between(canvas, row, [panel.left, panel.at_x(value)], BLUE)?;
            rows.value(canvas, panel.at_x(value), row, &significant(value))?;
        }
        rows.axes(canvas, &panel, X_TITLE)?;
        if let Some(&scale) = scales.get(1) {
            let (rows, panel) = layout.draw(canvas, top, 1, scale)?;
            panel.grid_x(canvas)?;
            for (row, strategy) in sorted.iter().enumerate() {
                let (x, y) = (panel.at_x(strategy.mean_pairwise_l1), rows.middle(row));
                canvas.dashes((panel.left, y), (x, y), GRID_LINE, MUTED)?;
                canvas.disc((x, y), 5.0, BLUE)?;
                if let Some(interval) = strategy.interval() {
                    rows.interval(canvas, &panel, row, interval)?;
                }
            }
            panel.axis_bottom_within(canvas, X_TITLE, panel.right - panel.left + VALUE_ROOM)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let shaken = self.has_intervals();
        let columns = ["strategy", "mean_pairwise_l1", "half_width"];
        let shown = if shaken { 3 } else { 2 };
        let mut table = Table::new(&columns[..shown]);
        for StrategyBar { name, mean_pairwise_l1, half_width } in self.sorted() {
            let half_width = half_width.map_or(String::new(), |half_width| half_width.to_string());
            let row = [name.clone(), mean_pairwise_l1.to_string(), half_width];
            table.row(&row[..shown]);
        }
        table
    }
}
