use plotters::prelude::DrawingBackend;

use super::header::{Mark, header};
use super::panel::{BOTTOM_ROOM, LEFT_ROOM, Panel};
use super::scale::Scale;
use super::style::{AXIS_LINE, DATA_LINE, MUTED, PAGE, PALETTE};
use super::{Canvas, Figure, PlotError, Table};

/// How searches got better: the best so far by number of evaluations, as steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Convergence {
    /// What else a reader must know.
    pub subtitle: Vec<String>,
    /// The searches.
    pub climbs: Vec<Climb>,
    /// Values to compare with, as dashed lines.
    pub references: Vec<(String, f64)>,
}

/// One search of a [`Convergence`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Climb {
    /// Its name in the legend.
    pub name: String,
    /// Number of evaluations, from 1, and best improvement in percent, wherever it grew.
    pub steps: Vec<(u64, f64)>,
    /// Evaluations of the whole search.
    pub evaluations: u64,
}

impl Convergence {
    fn scales(&self) -> (Scale, Scale) {
        let values = self.climbs.iter().flat_map(|climb| climb.steps.iter().map(|step| step.1));
        let values = values.chain(self.references.iter().map(|reference| reference.1));
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        // How bad the very first vectors were is of no interest.
        let low = if high > 0.0 { low.max(-0.2 * high) } else { low };
        let y = if low <= high { Scale::round(low, high, 7) } else { Scale::linear(0.0, 1.0) };
        let most = self.climbs.iter().map(|climb| climb.evaluations).max().unwrap_or(1).max(2);
        (Scale::log(0.95, most as f64 * 1.08), y)
    }
}

impl Figure for Convergence {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let colour = |i: usize| PALETTE[i % PALETTE.len()];
        let searches = self.climbs.iter().enumerate();
        let mut legend: Vec<_> =
            searches.map(|(i, climb)| (Mark::Line(colour(i)), climb.name.clone())).collect();
        for (name, _) in &self.references {
            legend.push((Mark::Dashes(MUTED), name.clone()));
        }
        let top = header(canvas, "Best vector so far", &self.subtitle, &legend)?;
        let (x, y) = self.scales();
        let (right, bottom) = (PAGE.0 - 40.0, self.height() - BOTTOM_ROOM);
        let panel = Panel { left: LEFT_ROOM, top, right, bottom, x, y };
        panel.grid_x(canvas)?;
        panel.grid_y(canvas)?;
        panel.axis_bottom(canvas, "Evaluations")?;
        panel.axis_left(canvas, "Improvement on no tie-breaking (%)")?;
        for &(_, value) in self.references.iter().filter(|reference| reference.1.is_finite()) {
            let height = panel.at_y(value);
            canvas.dashes((panel.left, height), (panel.right, height), AXIS_LINE * 1.5, MUTED)?;
        }
        for (i, climb) in self.climbs.iter().enumerate() {
            let mut line: Vec<(f64, f64)> = Vec::new();
            for &(number, value) in climb.steps.iter().filter(|step| step.1.is_finite()) {
                let at = panel.at(number as f64, value.max(y.range().0));
                // The best so far holds until a better one comes.
                line.extend(line.last().map(|last| (at.0, last.1)));
                line.push(at);
            }
            let end = panel.at_x(climb.evaluations.max(1) as f64);
            line.extend(line.last().map(|last| (end, last.1)));
            canvas.line(&line, DATA_LINE, colour(i))?;
            if let Some(&last) = line.last() {
                canvas.disc(last, 4.0, colour(i))?;
            }
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["search", "evaluation", "improvement_percent"]);
        for climb in &self.climbs {
            for (number, value) in &climb.steps {
                table.row(&[climb.name.clone(), number.to_string(), value.to_string()]);
            }
        }
        for (name, value) in &self.references {
            table.row(&[name.clone(), String::new(), value.to_string()]);
        }
        table
    }
}
