use super::figure_style::Page;
use super::header::{Head, Mark};
use super::number::significant;
use super::panel::Panel;
use super::rows::{self, Band, Rows};
use super::scale::Scale;
use super::spread::not_shown;
use super::style::{AXIS_LINE, DATA_LINE, INK, MUTED, PALETTE, TICK, WHITE};
use super::{Canvas, Figure, PlotError, Table, Text};

/// Strategies compared by several measures: one row per strategy, one panel per measure.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Comparison {
    /// Clauses of the subtitle, which state the trace, machine and scheduler.
    pub subtitle: Vec<String>,
    /// Panel titles with units.
    pub measures: Vec<String>,
    /// Strategies from top to bottom, each with one value per measure; `None` if the strategy has no value of the
    /// measure.
    pub strategies: Vec<(String, Vec<Option<f64>>)>,
    /// Confidence intervals in the order of the values; empty if there are no intervals.
    pub intervals: Vec<Vec<Option<[f64; 2]>>>,
    /// For each measure, the value at which bars begin, such as an ideal value; 0 for measures without an entry.
    pub begins: Vec<f64>,
    /// Additional statistics of the distributions of the values, in the order of the values; empty if there are no such
    /// statistics.
    pub marks: Vec<Vec<Option<Marks>>>,
}

/// Statistics that are drawn in addition to a median.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Marks {
    /// Mean without the smallest and largest values; drawn as a ring.
    pub trimmed_mean: f64,
    /// 95th percentile; drawn as a cross.
    pub p95: f64,
}

const TITLE: &str = "Strategies compared";
/// Heading of the values that are printed to the right of all marks.
const MEDIAN: &str = "median";
const HEADING: f64 = 16.0;
/// Minimum length of an axis whose bars do not begin at 0, as a share of the value at which the bars begin.
const LEAST_SPAN: f64 = 0.02;
/// An axis whose bars do not begin at 0 is logarithmic if the ratio of the largest to the smallest value exceeds this
/// number.
const WIDE: f64 = 2.0;

impl Comparison {
    /// Keeps the first `most` strategies and adds a subtitle clause with the number of the omitted strategies.
    pub fn truncated(mut self, most: usize) -> Self {
        self.subtitle.extend(not_shown(self.strategies.len().saturating_sub(most)));
        self.strategies.truncate(most);
        self.intervals.truncate(most);
        self.marks.truncate(most);
        self
    }

    /// Removes the measures that have one value for all of several strategies, and adds a subtitle clause with the value.
    /// At least one measure is kept.
    pub fn merged(mut self) -> Self {
        for measure in (0..self.measures.len()).rev() {
            let values: Vec<Option<f64>> = self.values(measure).collect();
            let Some(&Some(first)) = values.first() else { continue };
            if values.iter().any(|&value| value != Some(first)) {
                continue;
            }
            if self.strategies.len() < 2 || self.measures.len() < 2 {
                break;
            }
            let title = self.measures.remove(measure);
            let clause = format!("{title} is {} under every strategy", significant(first));
            self.subtitle.push(clause);
            self.strategies.iter_mut().for_each(|(_, values)| {
                values.remove(measure);
            });
            for row in self.intervals.iter_mut().filter(|row| measure < row.len()) {
                row.remove(measure);
            }
            for row in self.marks.iter_mut().filter(|row| measure < row.len()) {
                row.remove(measure);
            }
            if measure < self.begins.len() {
                self.begins.remove(measure);
            }
        }
        self
    }

    /// Returns the values of one measure in the order of the strategies.
    fn values(&self, measure: usize) -> impl Iterator<Item = Option<f64>> + Clone {
        self.strategies.iter().map(move |(_, values)| values.get(measure).copied().flatten())
    }

    fn interval(&self, row: usize, measure: usize) -> Option<[f64; 2]> {
        self.intervals.get(row)?.get(measure).copied().flatten()
    }

    fn marks(&self, row: usize, measure: usize) -> Option<Marks> {
        self.marks.get(row)?.get(measure).copied().flatten()
    }

    fn has_marks(&self, measure: usize) -> bool {
        (0..self.marks.len()).any(|row| self.marks(row, measure).is_some())
    }

    fn begin(&self, measure: usize) -> f64 {
        self.begins.get(measure).copied().unwrap_or(0.0)
    }

    /// Returns the largest value that is drawn in a row of a panel, taken over the bar, the marks and the upper end of
    /// the interval.
    fn farthest(&self, row: usize, measure: usize, value: f64) -> f64 {
        let marks = self.marks(row, measure);
        let marks = marks.into_iter().flat_map(|marks| [marks.trimmed_mean, marks.p95]);
        let high = self.interval(row, measure).map(|[_, high]| high);
        marks.chain(high).chain([value]).filter(|value| value.is_finite()).fold(value, f64::max)
    }

    fn scale(&self, measure: usize) -> Scale {
        let begin = self.begin(measure);
        let drawn = || {
            let values = self.values(measure).enumerate();
            values.filter_map(|(row, value)| Some((row, value?)))
        };
        if begin == 0.0 {
            let ends: Vec<f64> = drawn()
                .flat_map(|(row, value)| {
                    let [low, _] = self.interval(row, measure).unwrap_or([value; 2]);
                    [low.max(0.0), self.farthest(row, measure, value)]
                })
                .collect();
            return rows::bar_scale(ends.into_iter(), &self.measures[measure]);
        }
        let farthest = |(row, value)| self.farthest(row, measure, value);
        let most = drawn().map(farthest).fold(begin, f64::max);
        let least = drawn().map(|(row, value)| {
            let low = self.interval(row, measure).map_or(value, |[low, _]| low.min(value));
            self.marks(row, measure).map_or(low, |marks| low.min(marks.trimmed_mean))
        });
        let least = least.filter(|value| value.is_finite()).fold(begin, f64::min);
        if least > 0.0 && most > WIDE * least {
            let span = (most / least).ln();
            return Scale::log(least * (-0.03 * span).exp(), most * (0.03 * span).exp());
        }
        let span = (most - least).max(LEAST_SPAN * begin.abs());
        Scale::linear(least - 0.03 * span, least + 1.03 * span)
    }

    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        let names: Vec<_> = self.strategies.iter().map(|(name, _)| name.clone()).collect();
        let rows = Rows::new(&names, self.measures.len(), width)?;
        Ok(if self.marks.is_empty() { rows } else { rows.above(HEADING) })
    }

    fn draw_row(
        &self,
        canvas: &Canvas<'_>,
        rows: &Band,
        panel: &Panel,
        (row, measure): (usize, usize),
        value: f64,
    ) -> Result<(), PlotError> {
        let colour = PALETTE[measure % PALETTE.len()];
        let at = |value: f64| panel.at_x(value).clamp(panel.left, panel.right);
        // Draw a visible bar even if the median equals the ideal value. The value 0 has no bar.
        let (begin, end) = (at(self.begin(measure)), at(value));
        let end = if (end - begin).abs() < SHORTEST_BAR { begin + SHORTEST_BAR } else { end };
        if value != 0.0 {
            rows.bar_between(canvas, row, [begin, end], colour)?;
        }
        // If the measure has marks, print the number at the right end of the panel, because a number beside a mark
        // would be read as the value of the mark.
        let end = match self.has_marks(measure) {
            true => panel.right,
            false => at(self.farthest(row, measure, value)),
        };
        rows.value(canvas, end, row, &significant(value))?;
        if let Some(interval) = self.interval(row, measure) {
            rows.interval(canvas, panel, row, interval)?;
        }
        let Some(Marks { trimmed_mean, p95 }) = self.marks(row, measure) else { return Ok(()) };
        let y = rows.middle(row);
        // An interval has strokes, so the percentile is a cross.
        canvas.cross((at(p95), y), 5.0, DATA_LINE / 2.0, INK)?;
        canvas.disc((at(trimmed_mean), y), 4.0, INK)?;
        canvas.disc((at(trimmed_mean), y), 2.5, WHITE)
    }
}

/// Returns the name of a CSV column of a measure.
fn column_name(measure: &str, what: &str) -> String {
    format!("{measure}, {what}")
}

/// Minimum length of a bar in units of the layout.
const SHORTEST_BAR: f64 = 3.0;
const LOW: &str = "low";
const HIGH: &str = "high";
const IDEAL: &str = "ideal";
const TRIMMED: &str = "trimmed mean";
const P95: &str = "p95";

impl Figure for Comparison {
    fn head(&self) -> Head {
        let head = Head::new(TITLE, &self.subtitle);
        if self.marks.is_empty() {
            return head;
        }
        head.legend([
            (Mark::Box(PALETTE[0]), MEDIAN.to_string()),
            (Mark::Circle(INK), "mean without the lowest and highest 5 %".to_string()),
            (Mark::Cross(INK), "95th percentile".to_string()),
        ])
    }

    fn usual_height(&self, page: &Page) -> f64 {
        self.layout(page.width).map_or(page.width, |rows| rows.usual_height())
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width)?.least_height())
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)? - 8.0;
        let layout = self.layout(canvas.width())?;
        for (i, title) in self.measures.iter().enumerate() {
            let (rows, panel) = layout.draw(canvas, top, i, self.scale(i))?;
            panel.grid_x(canvas)?;
            for (row, value) in self.values(i).enumerate() {
                match value {
                    Some(value) => self.draw_row(canvas, &rows, &panel, (row, i), value)?,
                    None => rows.value(canvas, panel.left, row, "–")?,
                }
            }
            if self.has_marks(i) {
                let at = (panel.right + 8.0, panel.top - HEADING / 2.0);
                canvas.text(MEDIAN, at, Text::of_size(TICK - 1.5).colour(MUTED))?;
            }
            rows.axes(canvas, &panel, title)?;
            if self.begin(i) != 0.0 {
                let begin = panel.at_x(self.begin(i));
                // Dash the line, so that it does not look like a second axis.
                canvas.dashes((begin, panel.top), (begin, panel.bottom), AXIS_LINE, MUTED)?;
            }
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut columns = vec!["strategy".to_string()];
        columns.extend(self.measures.iter().cloned());
        if !self.intervals.is_empty() {
            columns.extend(
                self.measures.iter().flat_map(|it| [column_name(it, LOW), column_name(it, HIGH)]),
            );
        }
        let measures = || self.measures.iter().enumerate();
        let begun: Vec<usize> =
            measures().map(|(i, _)| i).filter(|&i| self.begin(i) != 0.0).collect();
        let marked: Vec<usize> =
            measures().map(|(i, _)| i).filter(|&i| self.has_marks(i)).collect();
        columns.extend(begun.iter().map(|&i| column_name(&self.measures[i], IDEAL)));
        for &i in &marked {
            columns.extend([TRIMMED, P95].map(|what| column_name(&self.measures[i], what)));
        }
        let mut table = Table::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
        let text = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for (place, (name, _)) in self.strategies.iter().enumerate() {
            let mut row = vec![name.clone()];
            let value = |i: usize| self.values(i).nth(place).flatten();
            row.extend(measures().map(|(i, _)| text(value(i))));
            if !self.intervals.is_empty() {
                for (i, _) in measures() {
                    let interval = self.interval(place, i);
                    row.extend([0, 1].map(|end| text(interval.map(|interval| interval[end]))));
                }
            }
            row.extend(begun.iter().map(|&i| text(Some(self.begin(i)))));
            for &i in &marked {
                let marks = self.marks(place, i);
                row.push(text(marks.map(|marks| marks.trimmed_mean)));
                row.push(text(marks.map(|marks| marks.p95)));
            }
            table.row(&row);
        }
        table
    }
}
