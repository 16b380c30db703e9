use plotters::prelude::DrawingBackend;

use super::chart::{Chart, Encoding, Holds, View};
use super::header::header;
use super::heat_map::{BAR_ROOM, draw_bar};
use super::panel::{BOTTOM_ROOM, Panel};
use super::scale::Scale;
use super::style::{GRID, MARGIN, PAGE, TICK, sequential};
use super::{Canvas, Figure, PlotError, Table, Text};

/// Small maps of one machine on one colour scale, the first of them large: the use of its links, as the
/// mean over the directions that there are, and direction by direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkMaps {
    /// Title.
    pub title: String,
    /// What else a reader must know.
    pub subtitle: Vec<String>,
    /// Title of the colour bar with its unit.
    pub value_title: String,
    /// Columns and rows of every map.
    pub sides: (usize, usize),
    /// The maps: the large one, and up to four small ones.
    pub maps: Vec<LinkMap>,
    /// The top of the scale, if the maps do not go beyond: that of figures that are compared.
    pub most: f64,
}

/// One map of a [`LinkMaps`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkMap {
    /// What is above it.
    pub name: String,
    /// Values by row from the bottom up, then column; `None` is a grey cell.
    pub values: Vec<Vec<Option<f64>>>,
}

impl LinkMap {
    fn value(&self, row: usize, column: usize) -> Option<f64> {
        self.values.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
    }
}

/// Room for the name above a map.
const NAME: f64 = 24.0;
const GAP: f64 = 22.0;
/// Width of the large map, and of the two columns of small ones.
const WIDTHS: [f64; 3] = [380.0, 200.0, 200.0];
/// How far cells reach under their neighbours.
const SEAM: f64 = 0.5;

impl Figure for LinkMaps {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), PlotError> {
        let top = header(canvas, &self.title, &self.subtitle, &[])? - NAME / 2.0;
        let bottom = self.height() - BOTTOM_ROOM / 2.0;
        let colours = self.colours();
        for (place, map) in self.maps.iter().enumerate().take(5) {
            // The first has a column to itself, the others two of two each.
            let (column, row, rows) = match place {
                0 => (0, 0, 1),
                place => (1 + (place - 1) % 2, (place - 1) / 2, 2),
            };
            let left = MARGIN + WIDTHS[..column].iter().map(|width| width + GAP).sum::<f64>();
            let height = (bottom - top) / rows as f64;
            let top = top + height * row as f64 + NAME;
            self.draw_map(canvas, map, (left, top), (WIDTHS[column], height - NAME), colours)?;
        }
        let bar = Panel {
            left: MARGIN,
            top: top + NAME,
            right: PAGE.0 - BAR_ROOM,
            bottom,
            x: colours,
            y: colours,
        };
        draw_bar(canvas, &bar, colours, &self.value_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["map", "x", "y", &self.value_title]);
        for map in &self.maps {
            for (row, column) in self.cells() {
                let value = map.value(row, column).map(|v| v.to_string()).unwrap_or_default();
                table.row(&[map.name.clone(), column.to_string(), row.to_string(), value]);
            }
        }
        table
    }

    fn chart(&self) -> Option<Chart> {
        let (columns, rows) = self.sides;
        let colours = Holds::Shades(self.colours());
        let view = |map: &LinkMap| {
            let columns = (0..columns).map(|column| column.to_string()).collect();
            let rows = (0..rows).rev().map(|row| row.to_string()).collect();
            let encodings = vec![
                Encoding::new("x", "x", Holds::Names(columns), ""),
                Encoding::new("y", "y", Holds::Names(rows), ""),
                Encoding::new("color", &self.value_title, colours.clone(), &self.value_title),
            ];
            View::of_map(&map.name, encodings)
        };
        Some(Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            views: self.maps.iter().map(view).collect(),
            across: 3,
            ..Chart::default()
        })
    }
}

impl LinkMaps {
    /// The largest value of all maps.
    pub fn largest(&self) -> f64 {
        let cells = self.cells();
        let of = |map: &'_ LinkMap| -> f64 {
            let values = cells.iter().filter_map(|&(row, column)| map.value(row, column));
            values.fold(0.0, f64::max)
        };
        self.maps.iter().map(of).fold(0.0, f64::max)
    }

    /// The colours' range. From nothing: shares of the time are compared, not differences.
    fn colours(&self) -> Scale {
        Scale::linear(0.0, self.largest().max(self.most))
    }

    fn cells(&self) -> Vec<(usize, usize)> {
        let (columns, rows) = self.sides;
        (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect()
    }

    /// Square cells from the upper left corner of the room.
    fn draw_map<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        map: &LinkMap,
        (left, top): (f64, f64),
        (width, height): (f64, f64),
        colours: Scale,
    ) -> Result<(), PlotError> {
        let (columns, rows) = (self.sides.0.max(1) as f64, self.sides.1.max(1) as f64);
        let side = (width / columns).min(height / rows);
        let (right, bottom) = (left + columns * side, top + rows * side);
        canvas.text(&map.name, (left, top - 10.0), Text::of_size(TICK).bold())?;
        for (row, column) in self.cells() {
            let colour =
                map.value(row, column).map_or(GRID, |value| sequential(colours.share(value)));
            let (x, y) = (left + column as f64 * side, bottom - row as f64 * side);
            // Cells reach under their neighbours, or viewers show seams between them.
            let corner = ((x + side + SEAM).min(right), (y - side - SEAM).max(top));
            canvas.rectangle((x, y), corner, colour)?;
        }
        Ok(())
    }
}
