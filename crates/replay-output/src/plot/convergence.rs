use super::header::{Head, Mark};
use super::panel::Panel;
use super::scale::Scale;
use super::style::{AXIS_LINE, Colour, DATA_LINE, PALETTE};
use super::{Canvas, Figure, PlotError, Table};

/// Convergence of searches: for each search, a step line that shows how the best improvement found so far grows with
/// the work done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Convergence {
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// One curve per search.
    pub curves: Vec<ConvergenceCurve>,
}

/// Curve of one search in a [`Convergence`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConvergenceCurve {
    /// Name in the legend.
    pub name: String,
    /// Points at which the best improvement grew: the work done so far, in units of one whole evaluation, and the
    /// improvement in percent.
    pub steps: Vec<(f64, f64)>,
    /// Work of the whole search, in units of one whole evaluation.
    pub work: f64,
    /// Named improvements in percent, drawn as dashed lines for comparison.
    pub references: Vec<(String, f64)>,
}

impl ConvergenceCurve {
    /// Returns the name of a reference in the CSV.
    fn reference(&self, name: &str) -> String {
        format!("{name}: {}", self.name)
    }
}

const TITLE: &str = "Best vector so far";
const X_TITLE: &str = "Work (whole evaluations)";
const Y_TITLE: &str = "Improvement over no tie-breaking (%)";

impl Convergence {
    fn scales(&self) -> (Scale, Scale) {
        let values = self.curves.iter().flat_map(|curve| {
            let references = curve.references.iter().map(|reference| reference.1);
            curve.steps.iter().map(|step| step.1).chain(references)
        });
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        // Clip the axis, because the first vectors may be very poor.
        let low = if high > 0.0 { low.max(-0.2 * high) } else { low };
        let y = if low <= high { Scale::round(low, high, 7) } else { Scale::linear(0.0, 1.0) };
        let work = self.curves.iter().map(|curve| curve.work).filter(|work| work.is_finite());
        let firsts = self.curves.iter().filter_map(|curve| curve.steps.first());
        let first = firsts.map(|step| step.0).filter(|work| *work >= 1.0);
        let first = first.fold(f64::INFINITY, f64::min);
        let first = if first.is_finite() { first } else { 1.0 };
        let most = work.fold(first + 1.0, f64::max);
        // A logarithmic axis of less than a decade has too few labels.
        let x = if most > 10.0 * first {
            Scale::log(0.95 * first, most * 1.08)
        } else {
            let room = 0.03 * (most - first);
            Scale::linear(first - room, most + room)
        };
        (x, y)
    }
}

fn colour(i: usize) -> Colour {
    PALETTE[i % PALETTE.len()]
}

impl Figure for Convergence {
    fn head(&self) -> Head {
        let searches = self.curves.iter().enumerate();
        let mut legend: Vec<_> =
            searches.map(|(i, curve)| (Mark::Line(colour(i)), curve.name.clone())).collect();
        for (i, curve) in self.curves.iter().enumerate() {
            for (name, _) in &curve.references {
                legend.push((Mark::Dashes(colour(i)), name.clone()));
            }
        }
        Head::new(TITLE, &self.subtitle).legend(legend)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let (x, y) = self.scales();
        let panel = Panel::of_page(canvas, top, [x, y], [X_TITLE, Y_TITLE])?;
        panel.grid_x(canvas)?;
        panel.grid_y(canvas)?;
        panel.axis_bottom(canvas, X_TITLE)?;
        panel.axis_left(canvas, Y_TITLE)?;
        for (i, curve) in self.curves.iter().enumerate() {
            for &(_, value) in curve.references.iter().filter(|reference| reference.1.is_finite()) {
                let height = panel.at_y(value.max(y.range().0));
                let (left, right) = ((panel.left, height), (panel.right, height));
                canvas.dashes(left, right, 1.5 * AXIS_LINE, colour(i))?;
            }
            let mut line: Vec<(f64, f64)> = Vec::new();
            let finite = |step: &&(f64, f64)| step.0.is_finite() && step.1.is_finite();
            for &(work, value) in curve.steps.iter().filter(finite) {
                let at = panel.at(work.max(x.range().0), value.max(y.range().0));
                // The best improvement is constant until a better vector is found.
                line.extend(line.last().map(|last| (at.0, last.1)));
                line.push(at);
            }
            let end = panel.at_x(curve.work.max(1.0));
            line.extend(line.last().map(|last| (end, last.1)));
            canvas.line(&line, DATA_LINE, colour(i))?;
            if let Some(&last) = line.last() {
                canvas.disc(last, 4.0, colour(i))?;
            }
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["search", "whole_evaluations", "improvement_percent"]);
        for curve in &self.curves {
            for (work, value) in &curve.steps {
                table.row(&[curve.name.clone(), work.to_string(), value.to_string()]);
            }
            for (name, value) in &curve.references {
                table.row(&[curve.reference(name), String::new(), value.to_string()]);
            }
        }
        table
    }
}
