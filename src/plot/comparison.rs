use plotters::prelude::DrawingBackend;

use super::chart::{Chart, Encoding, Holds, Layer, Mark as Shown, View};
use super::header::Head;
use super::look::Page;
use super::number::significant;
use super::rows::{self, Rows};
use super::scale::Scale;
use super::spread::not_shown;
use super::style::PALETTE;
use super::{Canvas, Figure, PlotError, Table};

/// Strategies beside each other by several measures: a row each, a panel for each measure.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Trace, machine, scheduler.
    pub subtitle: Vec<String>,
    /// Titles of the panels with their units.
    pub measures: Vec<String>,
    /// The strategies from top to bottom, with a value for each measure; `None` where it
    /// was not measured.
    pub strategies: Vec<(String, Vec<Option<f64>>)>,
    /// Half the widths of the values' intervals, in the same order; empty if there are none.
    pub half_widths: Vec<Vec<Option<f64>>>,
}

const TITLE: &str = "Strategies compared";

impl Comparison {
    /// The first strategies only; the subtitle says how many there are besides.
    pub fn truncated(mut self, most: usize) -> Self {
        self.subtitle.extend(not_shown(self.strategies.len().saturating_sub(most)));
        self.strategies.truncate(most);
        self.half_widths.truncate(most);
        self
    }

    /// The values of a measure, strategy by strategy.
    fn values(&self, measure: usize) -> impl Iterator<Item = Option<f64>> + Clone {
        self.strategies.iter().map(move |(_, values)| values.get(measure).copied().flatten())
    }

    fn scale(&self, measure: usize) -> Scale {
        let half = |row: usize| self.half_widths.get(row)?.get(measure).copied().flatten();
        let ends = self.values(measure).enumerate().filter_map(|(row, value)| {
            let (value, half) = (value?, half(row).unwrap_or(0.0));
            Some([(value - half).max(0.0), value + half])
        });
        let ends: Vec<f64> = ends.flatten().collect();
        rows::of_bars(ends.iter().copied(), &self.measures[measure])
    }

    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        let names: Vec<_> = self.strategies.iter().map(|(name, _)| name.clone()).collect();
        Rows::of(&names, self.measures.len(), width)
    }
}

/// The column of a measure's half widths.
fn half_width(measure: &str) -> String {
    format!("{measure}, half width")
}

impl Figure for Comparison {
    fn head(&self) -> Head {
        Head::new(TITLE, &self.subtitle)
    }

    fn usual_height(&self, page: &Page) -> f64 {
        self.layout(page.width).map_or(page.width, |rows| rows.usual_height())
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width)?.least_height())
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)? - 8.0;
        let layout = self.layout(canvas.width())?;
        for (i, title) in self.measures.iter().enumerate() {
            let (rows, panel) = layout.draw(canvas, top, i, self.scale(i))?;
            panel.grid_x(canvas)?;
            for (row, value) in self.values(i).enumerate() {
                match value {
                    Some(value) => {
                        let colour = PALETTE[i % PALETTE.len()];
                        rows.bar(canvas, &panel, row, value, &significant(value), colour)?;
                        let half = self.half_widths.get(row).and_then(|of| of.get(i)).copied();
                        if let Some(half) = half.flatten() {
                            rows.interval(canvas, &panel, row, [value - half, value + half])?;
                        }
                    }
                    None => rows.value(canvas, panel.left, row, "–")?,
                }
            }
            rows.axes(canvas, &panel, title)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut columns = vec!["strategy"];
        columns.extend(self.measures.iter().map(String::as_str));
        let half_widths: Vec<String> = self.measures.iter().map(|it| half_width(it)).collect();
        if !self.half_widths.is_empty() {
            columns.extend(half_widths.iter().map(String::as_str));
        }
        let mut table = Table::new(&columns);
        for (place, (name, values)) in self.strategies.iter().enumerate() {
            let mut row = vec![name.clone()];
            let text = |value: &Option<f64>| value.map_or(String::new(), |v| v.to_string());
            row.extend(values.iter().map(text));
            row.extend(self.half_widths.get(place).into_iter().flatten().map(text));
            table.row(&row);
        }
        table
    }

    fn chart(&self) -> Option<Chart> {
        let names: Vec<String> = self.strategies.iter().map(|(name, _)| name.clone()).collect();
        let view = |(i, measure): (usize, &String)| {
            let encodings = vec![
                Encoding::new("x", measure, Holds::Numbers(self.scale(i)), measure),
                Encoding::new("y", "strategy", Holds::Names(names.clone()), ""),
            ];
            let mut layers =
                vec![Layer::new(Shown::Bar, Some(PALETTE[i % PALETTE.len()]), encodings.clone())];
            if !self.half_widths.is_empty() {
                let mut intervals = Layer::new(Shown::Interval, None, encodings);
                intervals.encodings.push(Encoding::end("xError", &half_width(measure)));
                layers.push(intervals);
            }
            View { layers, ..View::default() }
        };
        Some(Chart {
            title: TITLE.to_string(),
            subtitle: self.subtitle.clone(),
            views: self.measures.iter().enumerate().map(view).collect(),
            across: self.measures.len(),
            ..Chart::default()
        })
    }
}
