use super::figure_style::Page;
use super::header::{Head, shorten};
use super::heat_map::{BAR_ROOM, draw_bar};
use super::panel::{BOTTOM_ROOM, Panel};
use super::scale::Scale;
use super::style::{GRID, MARGIN, TICK, sequential};
use super::{Canvas, Figure, PlotError, Table, Text};

/// Utilization of the links of a machine as maps with the same colour scale: a large map of the mean over the
/// directions, and a small map for each direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkMaps {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Title of the colour bar with its unit.
    pub value_title: String,
    /// Columns and rows of every map.
    pub sides: (usize, usize),
    /// The large map, followed by up to four small maps.
    pub maps: Vec<LinkMap>,
    /// Minimum upper end of the colour scale, so that compared figures share one scale.
    pub most: f64,
}

/// A map of [`LinkMaps`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkMap {
    /// Name above the map.
    pub name: String,
    /// Values by row from bottom to top, then by column; `None` is drawn as a grey cell.
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
/// Widths of the large map and of the two columns of small maps, as shares of the available width.
const WIDTHS: [f64; 3] = [0.49, 0.255, 0.255];
/// Minimum width of a small map beside the large map. On narrower pages, the small maps are below the large map.
const SMALL: f64 = 130.0;
/// Overlap of neighbouring cells.
const SEAM: f64 = 0.5;

impl Figure for LinkMaps {
    fn head(&self) -> Head {
        Head::new(&self.title, &self.subtitle)
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        let (width, beside) = rooms(page.width);
        let high = |width: f64| width * self.sides.1 as f64 / self.sides.0.max(1) as f64;
        Ok(BOTTOM_ROOM / 2.0
            + match beside {
                true => 230.0,
                false => high(width).min(width) + 2.0 * high(width / 2.0).min(width) + 3.0 * NAME,
            })
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)? - NAME / 2.0;
        let bottom = canvas.height() - BOTTOM_ROOM / 2.0;
        let (room, beside) = rooms(canvas.width());
        let colours = self.colours();
        for (place, map) in self.maps.iter().enumerate().take(5) {
            let all = bottom - top;
            let (left, above, width, height) = match (beside, place) {
                // The large map is in the first column. The small maps are in the second and the third column, with two
                // maps in each column.
                (true, 0) => (0.0, 0.0, WIDTHS[0] * room, all),
                (true, place) => {
                    let (column, row) = (1 + (place - 1) % 2, (place - 1) / 2);
                    let before = WIDTHS[..column].iter().map(|share| share * room + GAP);
                    (before.sum(), row as f64 * all / 2.0, WIDTHS[column] * room, all / 2.0)
                }
                // The large map fills the upper half; the small maps are below the large map.
                (false, 0) => (0.0, 0.0, room, all / 2.0),
                (false, place) => {
                    let (column, row) = ((place - 1) % 2, 2 + (place - 1) / 2);
                    let width = (room - GAP) / 2.0;
                    (column as f64 * (width + GAP), row as f64 * all / 4.0, width, all / 4.0)
                }
            };
            let corner = (MARGIN + left, top + above + NAME);
            self.draw_map(canvas, map, corner, (width, height - NAME), colours)?;
        }
        let bar = Panel {
            left: MARGIN,
            top: top + NAME,
            right: canvas.width() - BAR_ROOM,
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
}

/// Returns the available width for all maps, and whether the small maps are beside the large map.
fn rooms(width: f64) -> (f64, bool) {
    let room = width - MARGIN - BAR_ROOM;
    let beside = room - 2.0 * GAP;
    if WIDTHS[1] * beside >= SMALL { (beside, true) } else { (room, false) }
}

impl LinkMaps {
    /// Returns the largest value of all maps.
    pub fn largest(&self) -> f64 {
        let cells = self.cells();
        let of = |map: &'_ LinkMap| -> f64 {
            let values = cells.iter().filter_map(|&(row, column)| map.value(row, column));
            values.fold(0.0, f64::max)
        };
        self.maps.iter().map(of).fold(0.0, f64::max)
    }

    /// Returns the range of the colours. The range begins at 0, because the maps show shares of time, not differences.
    fn colours(&self) -> Scale {
        Scale::linear(0.0, self.largest().max(self.most))
    }

    fn cells(&self) -> Vec<(usize, usize)> {
        let (columns, rows) = self.sides;
        (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect()
    }

    /// Draws square cells from the upper left corner of the given room.
    fn draw_map(
        &self,
        canvas: &Canvas<'_>,
        map: &LinkMap,
        (left, top): (f64, f64),
        (width, height): (f64, f64),
        colours: Scale,
    ) -> Result<(), PlotError> {
        let (columns, rows) = (self.sides.0.max(1) as f64, self.sides.1.max(1) as f64);
        let side = (width / columns).min(height / rows);
        let (right, bottom) = (left + columns * side, top + rows * side);
        let look = Text::of_size(TICK).bold();
        let name = shorten(&map.name, look, width + GAP - 4.0)?;
        canvas.text(&name, (left, top - 10.0), look)?;
        for (row, column) in self.cells() {
            let colour =
                map.value(row, column).map_or(GRID, |value| sequential(colours.share(value)));
            let (x, y) = (left + column as f64 * side, bottom - row as f64 * side);
            // Cells overlap their neighbours; without this overlap, viewers would show seams between the cells.
            let corner = ((x + side + SEAM).min(right), (y - side - SEAM).max(top));
            canvas.rectangle((x, y), corner, colour)?;
        }
        Ok(())
    }
}
