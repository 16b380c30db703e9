use plotters::prelude::DrawingBackend;

use super::header::{Mark, header};
use super::number::grouped;
use super::panel::BOTTOM_ROOM;
use super::rows::{self, Rows};
use super::scale::Scale;
use super::style::PALETTE;
use super::{Canvas, Figure, PlotError, Table};
use crate::metrics::TieMetrics;

/// How often and how widely the best score is shared (Johnson, Bunde, Leung, Fig. 4):
/// tied decisions in percent, and the mean number of distinct best sets over them.
#[derive(Clone, PartialEq, Debug)]
pub struct Ties {
    /// What the rows have in common.
    pub subtitle: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<TieRow>,
}

/// One row of [`Ties`].
#[derive(Clone, PartialEq, Debug)]
pub struct TieRow {
    /// Trace, and what else tells the rows apart.
    pub label: String,
    /// Scheduler, which is the colour.
    pub scheduler: String,
    /// What was counted.
    pub ties: TieMetrics,
}

impl Figure for Ties {
    fn height(&self) -> f64 {
        rows::height(self.rows.len())
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let mut schedulers: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !schedulers.contains(&row.scheduler.as_str()) {
                schedulers.push(&row.scheduler);
            }
        }
        let colour = |scheduler: &str| {
            let place = schedulers.iter().position(|&s| s == scheduler).unwrap_or(0);
            PALETTE[place % PALETTE.len()]
        };
        let legend: Vec<_> =
            schedulers.iter().map(|&s| (Mark::Box(colour(s)), s.to_string())).collect();
        let top = header(canvas, "Ties of the best score", &self.subtitle, &legend)? - 6.0;
        // A label above the first row of its kind is enough.
        let mut labels: Vec<String> = self.rows.iter().map(|row| row.label.clone()).collect();
        for i in (1..labels.len()).rev() {
            if labels[i] == labels[i - 1] {
                labels[i].clear();
            }
        }
        let rows = Rows::draw(canvas, top, self.height() - BOTTOM_ROOM, &labels)?;

        let widest = self.rows.iter().map(|row| row.ties.mean_tied).fold(0.0, f64::max);
        let panels = [
            (Scale::linear(0.0, 115.0), "Tied decisions (%)"),
            (rows::with_room(widest), "Mean number of tied sets"),
        ];
        for (i, (scale, title)) in panels.into_iter().enumerate() {
            let panel = rows.panel(i, 2, scale);
            panel.grid_x(canvas)?;
            for (place, row) in self.rows.iter().enumerate() {
                let value = if i == 0 { row.ties.tied_percent } else { row.ties.mean_tied };
                let text = grouped(value, 1);
                rows.bar(canvas, &panel, place, value, &text, colour(&row.scheduler))?;
            }
            rows.axes(canvas, &panel, title)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let columns = ["label", "scheduler", "tied_decisions", "tied_percent", "mean_tied"];
        let mut table = Table::new(&columns);
        for row in &self.rows {
            table.row(&[
                row.label.clone(),
                row.scheduler.clone(),
                row.ties.tied_decisions.to_string(),
                row.ties.tied_percent.to_string(),
                row.ties.mean_tied.to_string(),
            ]);
        }
        table
    }
}
