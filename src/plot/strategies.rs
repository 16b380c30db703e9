use plotters::prelude::DrawingBackend;

use super::header::header;
use super::number::significant;
use super::panel::BOTTOM_ROOM;
use super::rows::{self, Rows};
use super::scale::Scale;
use super::style::{BLUE, GRID_LINE, MUTED};
use super::{Canvas, Figure, PlotError, Table};

/// Mean pairwise L1 by strategy as bars, best first (Johnson, Bunde, Leung, Fig. 18).
///
/// Bars begin at 0. If all are within 15 % of the largest, a second panel shows the same
/// values as dots on an axis that does not.
#[derive(Clone, PartialEq, Debug)]
pub struct StrategyBars {
    /// Trace, machine, scheduler.
    pub subtitle: Vec<String>,
    /// The strategies in any order.
    pub strategies: Vec<StrategyBar>,
}

/// One bar of [`StrategyBars`].
#[derive(Clone, PartialEq, Debug)]
pub struct StrategyBar {
    /// Allocator and tie vector.
    pub name: String,
    /// Mean over jobs of the pairwise L1 sum in hops; over several seeds, their mean.
    pub mean_pairwise_l1: f64,
    /// Half the width of its interval, if it is a mean over shaken copies.
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
}

/// Spread below which bars from 0 all look the same.
const ZOOM_BELOW: f64 = 0.15;

impl Figure for StrategyBars {
    fn height(&self) -> f64 {
        rows::height(self.strategies.len())
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let sorted = self.sorted();
        let value = |strategy: Option<&&StrategyBar>| strategy.map_or(0.0, |s| s.mean_pairwise_l1);
        let (least, most) = (value(sorted.first()), value(sorted.last()));
        let zoomed = least < most && most - least < ZOOM_BELOW * most;
        let mut subtitle = self.subtitle.clone();
        if zoomed {
            subtitle.push("right: the same values enlarged, the axis does not begin at 0".into());
        }
        let top = header(canvas, "Mean pairwise L₁ by strategy", &subtitle, &[])? - 8.0;
        let names: Vec<_> = sorted.iter().map(|strategy| strategy.name.clone()).collect();
        let rows = Rows::draw(canvas, top, self.height() - BOTTOM_ROOM, &names)?;
        let title = "Mean pairwise L₁ per job (hops)";

        let panel = rows.panel(0, 1 + usize::from(zoomed), rows::with_room(most));
        panel.grid_x(canvas)?;
        for (row, strategy) in sorted.iter().enumerate() {
            let value = strategy.mean_pairwise_l1;
            rows.bar(canvas, &panel, row, value, &significant(value), BLUE)?;
            if let Some(interval) = strategy.interval() {
                rows.interval(canvas, &panel, row, interval)?;
            }
        }
        rows.axes(canvas, &panel, title)?;
        if zoomed {
            let room = 0.15 * (most - least);
            let panel = rows.panel(1, 2, Scale::linear(least - room, most + 1.5 * room));
            panel.grid_x(canvas)?;
            for (row, strategy) in sorted.iter().enumerate() {
                let (x, y) = (panel.at_x(strategy.mean_pairwise_l1), rows.middle(row));
                canvas.dashes((panel.left, y), (x, y), GRID_LINE, MUTED)?;
                canvas.disc((x, y), 5.0, BLUE)?;
                if let Some(interval) = strategy.interval() {
                    rows.interval(canvas, &panel, row, interval)?;
                }
            }
            panel.axis_bottom(canvas, title)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let shaken = self.strategies.iter().any(|strategy| strategy.half_width.is_some());
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
