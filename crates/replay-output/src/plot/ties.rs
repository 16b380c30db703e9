use super::figure_style::Page;
use super::header::{Head, Mark};
use super::number::grouped;
use super::rows::{self, Rows};
use super::scale::Scale;
use super::style::{Colour, PALETTE};
use super::{Canvas, Figure, PlotError, Table};
use replay_engine::metrics::TieMetrics;

/// Frequency and size of ties for the best score (Johnson, Bunde, Leung, Fig. 4): the percentage of tied decisions, and
/// the mean number of distinct best sets of a tied decision.
#[derive(Clone, PartialEq, Debug)]
pub struct Ties {
    /// Subtitle clauses common to all rows.
    pub subtitle: Vec<String>,
    /// Rows from top to bottom.
    pub rows: Vec<TieRow>,
}

/// A row of [`Ties`].
#[derive(Clone, PartialEq, Debug)]
pub struct TieRow {
    /// Name of the trace, and any other fields that distinguish the rows.
    pub label: String,
    /// Name of the scheduler, which determines the colour.
    pub scheduler: String,
    /// Tie counts of the run.
    pub ties: TieMetrics,
}

const TITLE: &str = "Ties of the best score";
const MEAN_TIED: &str = "Mean number of tied sets";

impl Ties {
    /// Returns the schedulers in order of first appearance, with their colours.
    fn schedulers(&self) -> Vec<(String, Colour)> {
        let mut schedulers: Vec<(String, Colour)> = Vec::new();
        for row in &self.rows {
            if !schedulers.iter().any(|(name, _)| *name == row.scheduler) {
                let colour = PALETTE[schedulers.len() % PALETTE.len()];
                schedulers.push((row.scheduler.clone(), colour));
            }
        }
        schedulers
    }

    /// Returns the column, scale and title of each panel.
    fn panels(&self) -> [(&'static str, Scale, &'static str); 2] {
        let widest = self.rows.iter().map(|row| row.ties.mean_tied).fold(0.0, f64::max);
        [
            ("tied_percent", Scale::linear(0.0, 100.0), "Tied decisions (%)"),
            ("mean_tied", rows::bar_scale([0.0, widest].into_iter(), MEAN_TIED), MEAN_TIED),
        ]
    }
}

impl Ties {
    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        // Equal labels of consecutive rows are printed once.
        let mut labels: Vec<String> = self.rows.iter().map(|row| row.label.clone()).collect();
        for i in (1..labels.len()).rev() {
            if labels[i] == labels[i - 1] {
                labels[i].clear();
            }
        }
        Rows::new(&labels, 2, width)
    }
}

impl Figure for Ties {
    fn head(&self) -> Head {
        let mark = |(name, colour): (String, Colour)| (Mark::Box(colour), name);
        Head::new(TITLE, &self.subtitle).legend(self.schedulers().into_iter().map(mark))
    }

    fn usual_height(&self, page: &Page) -> f64 {
        self.layout(page.width).map_or(page.width, |rows| rows.usual_height())
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width)?.least_height())
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let schedulers = self.schedulers();
        let colour = |scheduler: &str| {
            schedulers.iter().find(|(name, _)| name == scheduler).map_or(PALETTE[0], |it| it.1)
        };
        let top = self.head().draw(canvas)? - 6.0;
        let layout = self.layout(canvas.width())?;
        for (i, (_, scale, title)) in self.panels().into_iter().enumerate() {
            let (rows, panel) = layout.draw(canvas, top, i, scale)?;
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
