use super::figure_style::Page;
use super::header::Head;
use super::heat_map::draw_shades;
use super::number::grouped;
use super::panel::{BOTTOM_ROOM, LEFT_ROOM, Panel};
use super::scale::Scale;
use super::style::{AXIS_LINE, GRID, INK, LABEL, MUTED, TICK, VERMILION, WHITE, sequential};
use super::{Align, Canvas, Figure, PlotError, Table, Text};

/// Maps of the improvement found by a search, one map per scan radius, with a common colour bar. The wall share
/// increases to the right and the border share increases upwards, both from 0 to 1.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Surface {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Title of the colour bar with its unit; larger values are better.
    pub value_title: String,
    /// One map per scan radius.
    pub maps: Vec<SurfaceMap>,
    /// Number of cells along each axis.
    pub cells: usize,
}

/// A map of a [`Surface`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SurfaceMap {
    /// Name above the map.
    pub name: String,
    /// Best value by row (border share) and column (wall share); a missing value or `None` is drawn as a grey cell.
    pub values: Vec<Vec<Option<f64>>>,
}

const BAR_ROOM: f64 = 122.0;
const BAR_WIDTH: f64 = 20.0;
const GAP: f64 = 16.0;
/// Room for the name above a map.
const NAME: f64 = 24.0;
const MAP_HEIGHT: f64 = 168.0;
/// Minimum width of a map.
const LEAST_WIDTH: f64 = 90.0;
/// Minimum height of a map.
const LEAST_HEIGHT: f64 = 70.0;
/// Axis titles.
const WALL_SHARE: &str = "Wall share WF / (AF + WF)";
const BORDER_SHARE: &str = "Border share BF / (AF + WF + BF)";

impl Surface {
    fn across(&self, width: f64) -> usize {
        let room = ((width - BAR_ROOM - LEFT_ROOM) / LEAST_WIDTH).max(1.0) as usize;
        (1..=4).find(|n| n * n >= self.maps.len()).unwrap_or(4).min(room)
    }

    fn down(&self, width: f64) -> usize {
        self.maps.len().div_ceil(self.across(width)).max(1)
    }

    /// Returns the share at the middle of a cell.
    fn share(&self, cell: usize) -> String {
        (cell as f64 / self.cells.saturating_sub(1).max(1) as f64).to_string()
    }

    fn value(&self, map: usize, row: usize, column: usize) -> Option<f64> {
        let value = self.maps.get(map)?.values.get(row)?.get(column).copied().flatten();
        value.filter(|value| value.is_finite())
    }

    /// Returns the map, row and column of every cell.
    fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (maps, cells) = (self.maps.len(), self.cells);
        (0..maps).flat_map(move |map| {
            (0..cells).flat_map(move |row| (0..cells).map(move |column| (map, row, column)))
        })
    }

    /// Returns the range of the colours, and whether values below the range are cut off. The range ends at the best
    /// value. The range begins as far below the median as the best value is above the median. If the worst value is
    /// nearer to the median, the range begins at the worst value. A few very bad ratios therefore do not use most of
    /// the colours.
    fn range(&self) -> (Scale, bool) {
        let mut values: Vec<f64> =
            self.places().filter_map(|(map, row, column)| self.value(map, row, column)).collect();
        values.sort_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
            return (Scale::linear(0.0, 1.0), false);
        };
        let begin = low.max(high - 2.0 * (high - values[values.len() / 2]));
        (Scale::linear(begin, high), begin > low)
    }

    fn best(&self) -> Option<(usize, usize, usize)> {
        let of = |place: &(usize, usize, usize)| {
            self.value(place.0, place.1, place.2).unwrap_or(f64::NEG_INFINITY)
        };
        let best = self.places().max_by(|a, b| of(a).total_cmp(&of(b)))?;
        (of(&best) > f64::NEG_INFINITY).then_some(best)
    }
}

impl Figure for Surface {
    fn head(&self) -> Head {
        Head::new(&self.title, &self.subtitle)
    }

    fn usual_height(&self, page: &Page) -> f64 {
        180.0 + BOTTOM_ROOM + (MAP_HEIGHT + NAME + GAP) * self.down(page.width) as f64
    }

    fn least_body(&self, page: &Page) -> Result<f64, PlotError> {
        let down = self.down(page.width) as f64;
        Ok((BOTTOM_ROOM + (LEAST_HEIGHT + NAME + GAP) * down).max(300.0))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let (colours, cut) = self.range();
        let columns = self.across(canvas.width());
        let (across, down) = (columns as f64, self.down(canvas.width()) as f64);
        let (right, bottom) = (canvas.width() - BAR_ROOM, canvas.height() - BOTTOM_ROOM);
        let width = (right - LEFT_ROOM - GAP * (across - 1.0)) / across;
        let height = (bottom - top - (NAME + GAP) * down + GAP) / down;
        let cells = self.cells.max(1) as f64;
        let mut frame = None;
        for map in 0..self.maps.len() {
            let (x, y) = ((map % columns) as f64, (map / columns) as f64);
            let left = LEFT_ROOM + x * (width + GAP);
            let top = top + NAME + y * (height + NAME + GAP);
            let panel = Panel {
                left,
                top,
                right: left + width,
                bottom: top + height,
                x: Scale::linear(0.0, cells),
                y: Scale::linear(0.0, cells),
            };
            self.draw_map(canvas, map, &panel, colours)?;
            let lowest = map + columns >= self.maps.len();
            draw_axes(canvas, &panel, cells, x == 0.0, lowest)?;
            frame.get_or_insert(panel);
        }
        let all = Panel {
            left: LEFT_ROOM,
            top: top + NAME,
            right,
            bottom,
            x: Scale::linear(0.0, 1.0),
            y: colours,
        };
        all.title_bottom(canvas, WALL_SHARE)?;
        all.title_left(canvas, BORDER_SHARE)?;
        draw_bar(canvas, &all, colours, cut, &self.value_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["map", "wall_share", "border_share", &self.value_title]);
        for (map, row, column) in self.places() {
            let value = self.value(map, row, column).map(|v| v.to_string()).unwrap_or_default();
            table.row(&[self.maps[map].name.clone(), self.share(column), self.share(row), value]);
        }
        table
    }
}

impl Surface {
    fn draw_map(
        &self,
        canvas: &Canvas<'_>,
        map: usize,
        panel: &Panel,
        colours: Scale,
    ) -> Result<(), PlotError> {
        let name = Text::of_size(TICK).bold();
        canvas.text(&self.maps[map].name, (panel.left, panel.top - 12.0), name)?;
        canvas.rectangle((panel.left, panel.top), (panel.right, panel.bottom), GRID)?;
        for (_, row, column) in self.places().filter(|place| place.0 == map) {
            let Some(value) = self.value(map, row, column) else { continue };
            let (x, y) = (column as f64, row as f64);
            // Cells overlap their neighbours; without this overlap, viewers would show seams between the cells.
            let (right, top) = panel.at(x + 1.0, y + 1.0);
            let corner = ((right + 0.5).min(panel.right), (top - 0.5).max(panel.top));
            canvas.rectangle(panel.at(x, y), corner, sequential(colours.share(value)))?;
        }
        if let Some((best, row, column)) = self.best().filter(|best| best.0 == map) {
            debug_assert_eq!(best, map);
            let centre = panel.at(column as f64 + 0.5, row as f64 + 0.5);
            canvas.disc(centre, 5.5, WHITE)?;
            canvas.disc(centre, 4.0, VERMILION)?;
        }
        Ok(())
    }
}

/// Draws ticks at the shares 0, 0.5 and 1, each at the middle of a cell.
fn draw_axes(
    canvas: &Canvas<'_>,
    panel: &Panel,
    cells: f64,
    leftmost: bool,
    lowest: bool,
) -> Result<(), PlotError> {
    for (share, label) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        let (x, y) = panel.at(0.5 + share * (cells - 1.0), 0.5 + share * (cells - 1.0));
        if lowest {
            canvas.line(&[(x, panel.bottom), (x, panel.bottom + 4.0)], AXIS_LINE, INK)?;
            let look = Text::of_size(TICK).align(Align::Centre);
            canvas.text(label, (x, panel.bottom + 15.0), look)?;
        }
        if leftmost {
            canvas.line(&[(panel.left - 4.0, y), (panel.left, y)], AXIS_LINE, INK)?;
            canvas.text(label, (panel.left - 8.0, y), Text::of_size(TICK).align(Align::Right))?;
        }
    }
    Ok(())
}

fn draw_bar(
    canvas: &Canvas<'_>,
    all: &Panel,
    colours: Scale,
    cut: bool,
    title: &str,
) -> Result<(), PlotError> {
    let left = all.right + 24.0;
    let bar = Panel { left, right: left + BAR_WIDTH, ..*all };
    let low = bar.y.range().0;
    draw_shades(canvas, &bar)?;
    for tick in colours.ticks(8) {
        let y = bar.at_y(tick.value);
        // If values are cut off, a label with `≤` replaces the ticks near the lower end.
        if cut && bar.bottom - y < 14.0 {
            continue;
        }
        canvas.line(&[(bar.right, y), (bar.right + 4.0, y)], AXIS_LINE, MUTED)?;
        canvas.text(&tick.label, (bar.right + 8.0, y), Text::of_size(TICK))?;
    }
    if cut {
        let label = format!("≤ {}", grouped(low, 2));
        canvas.text(&label, (bar.right + 8.0, bar.bottom), Text::of_size(TICK))?;
    }
    let look = Text::of_size(LABEL).align(Align::Centre).upwards();
    canvas.text(title, (canvas.width() - 16.0, (bar.top + bar.bottom) / 2.0), look)
}
