use super::figure_style::Page;
use super::header::Head;
use super::lines::colour;
use super::number::significant;
use super::panel::{BOTTOM_ROOM, Panel};
use super::scale::Scale;
use super::style::{AXIS_LINE, DATA_LINE, INK, PAGE, TICK, WHITE};
use super::{Align, Canvas, Figure, Lines, PlotError, Table, Text};

/// Percentiles that a box plot shows: the ends of the whiskers, the ends of the box, and the median.
pub const PERCENTS: [f64; 5] = [5.0, 25.0, 50.0, 75.0, 95.0];

/// Height of the row that contains a box and its numbers.
const ROW: f64 = 34.0;
/// Height of a box.
const BOX: f64 = 13.0;
/// Gap above the first row.
const GAP: f64 = 22.0;
/// Minimum gap between two numbers above a box.
const NUMBERS: f64 = 8.0;
const BOX_PLOT: &str =
    "boxes: quartiles and median with their values, ring: mean, whiskers: 5 and 95 %";
/// Opacity of the fill of a box, relative to the colour of its outline.
const TINT: f64 = 0.35;

/// Distributions of values as cumulative curves. A box plot of each distribution is below the curves, on the same axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Spreads {
    /// Cumulative curves on the axis [`x`](Self::x).
    pub curves: Lines,
    /// Scale of the values.
    pub x: Scale,
    /// Box plot of each curve.
    pub boxes: Vec<BoxPlot>,
}

/// Five percentiles and the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoxPlot {
    /// The 5th, 25th, 50th, 75th and 95th percentiles.
    pub percentiles: [f64; 5],
    /// The mean.
    pub mean: f64,
}

impl BoxPlot {
    fn values(&self) -> impl Iterator<Item = f64> {
        self.percentiles.into_iter().chain([self.mean])
    }
}

/// Columns of the CSV for points of curves.
const CURVE: [&str; 3] = ["line", "x", "y"];
/// Columns of the CSV for box plots.
const BOXES: [&str; 6] = ["p5", "p25", "p50", "p75", "p95", "mean"];

/// Returns the positions of the centres of three numbers with the given widths. The positions are as close to `own` as
/// possible without overlap. The outer numbers are moved away from the middle number, and all numbers are kept between
/// the ends.
fn apart(own: [f64; 3], widths: [f64; 3], [left, right]: [f64; 2]) -> [f64; 3] {
    let gap = |i: usize| (widths[i] + widths[i + 1]) / 2.0 + NUMBERS;
    let mut places = [own[0].min(own[1] - gap(0)), own[1], own[2].max(own[1] + gap(1))];
    // First limit the positions by the right end, then by the left end. The left end takes precedence if there is not
    // enough room.
    places[2] = places[2].min(right - widths[2] / 2.0);
    places[1] = places[1].min(places[2] - gap(1));
    places[0] = places[0].min(places[1] - gap(0)).max(left + widths[0] / 2.0);
    places[1] = places[1].max(places[0] + gap(0));
    places[2] = places[2].max(places[1] + gap(1));
    places
}

impl Spreads {
    fn room(&self) -> f64 {
        GAP + ROW * self.boxes.len() as f64
    }

    fn draw_box(&self, canvas: &Canvas<'_>, panel: &Panel, row: usize) -> Result<(), PlotError> {
        let y = panel.top + (row as f64 + 1.0) * ROW - BOX / 2.0 - 3.0;
        let BoxPlot { percentiles, mean } = self.boxes[row];
        let at = |value: f64| panel.at_x(value).clamp(panel.left, panel.right);
        let [low, lower, middle, upper, high] = percentiles.map(at);
        let (own, half) = (colour(row), BOX / 2.0);
        canvas.line(&[(low, y), (high, y)], AXIS_LINE, own)?;
        for end in [low, high] {
            canvas.line(&[(end, y - half / 2.0), (end, y + half / 2.0)], AXIS_LINE, own)?;
        }
        let corners = [(lower, y - half), (upper, y - half), (upper, y + half), (lower, y + half)];
        canvas.rectangle(corners[0], corners[2], WHITE.towards(own, TINT))?;
        let outline: Vec<(f64, f64)> = corners.into_iter().chain([corners[0]]).collect();
        canvas.line(&outline, AXIS_LINE, own)?;
        canvas.line(&[(middle, y - half), (middle, y + half)], DATA_LINE, own)?;
        canvas.disc((at(mean), y), 4.0, own)?;
        canvas.disc((at(mean), y), 2.5, WHITE)?;
        let look = Text::of_size(TICK - 1.5).align(Align::Centre).colour(INK);
        let texts = [1, 2, 3].map(|place| significant(percentiles[place]));
        let mut widths = [0.0; 3];
        for (width, text) in widths.iter_mut().zip(&texts) {
            *width = look.width(text)?;
        }
        let places = apart([lower, middle, upper], widths, [panel.left, panel.right]);
        for (text, x) in texts.iter().zip(places) {
            canvas.text(text, (x, y - BOX / 2.0 - 8.0), look)?;
        }
        Ok(())
    }

    /// Returns the scales of the values and of the shares. The scale of the shares has grid lines at quartiles.
    fn scales(&self) -> [Scale; 2] {
        [self.x, Scale::stepped(0.0, 100.0, 25.0)]
    }

    fn names(&self) -> Vec<String> {
        self.curves.lines.iter().map(|line| line.name.clone()).collect()
    }
}

impl Figure for Spreads {
    fn head(&self) -> Head {
        let mut subtitle = self.curves.subtitle.clone();
        subtitle.push(BOX_PLOT.to_string());
        Lines { subtitle, ..self.curves.clone() }.head()
    }

    fn usual_height(&self, _: &Page) -> f64 {
        PAGE.1 + self.room()
    }

    fn least_body(&self, _: &Page) -> Result<f64, PlotError> {
        Ok(120.0 + self.room() + BOTTOM_ROOM)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let Lines { x_title, y_title, .. } = &self.curves;
        let whole = Panel::of_page(canvas, top, self.scales(), [x_title, y_title])?;
        let above = Panel { bottom: whole.bottom - self.room(), ..whole };
        let below = Panel { top: above.bottom + GAP, y: Scale::linear(0.0, 1.0), ..whole };
        self.curves.draw_on(canvas, &above)?;
        above.line_bottom(canvas)?;
        below.grid_x(canvas)?;
        for row in 0..self.boxes.len() {
            self.draw_box(canvas, &below, row)?;
        }
        below.axis_bottom(canvas, &self.curves.x_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[&CURVE[..], &BOXES].concat());
        for line in &self.curves.lines {
            for point in &line.points {
                let [x, y] = [point.x, point.y].map(|value| value.to_string());
                let none = BOXES.map(|_| String::new());
                table.row(&[&[line.name.clone(), x, y][..], &none].concat());
            }
        }
        for (name, of) in self.names().into_iter().zip(&self.boxes) {
            let values: Vec<String> = of.values().map(|value| value.to_string()).collect();
            table.row(&[&[name, String::new(), String::new()][..], &values].concat());
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn labels_of_quartiles_do_not_overlap_and_keep_their_order(
            mut own in proptest::array::uniform3(0.0f64..200.0),
            widths in proptest::array::uniform3(8.0f64..50.0),
        ) {
            own.sort_by(f64::total_cmp);
            let places = apart(own, widths, [0.0, 200.0]);
            for i in 0..2 {
                let free = places[i + 1] - places[i] - (widths[i] + widths[i + 1]) / 2.0;
                prop_assert!(free >= NUMBERS - 1e-9, "{own:?} {widths:?} {places:?}");
            }
            for i in 0..3 {
                let half = widths[i] / 2.0;
                prop_assert!(places[i] - half >= -1e-9 && places[i] + half <= 200.0 + 1e-9);
            }
        }
    }

    #[test]
    fn equal_quartiles_have_separate_labels() {
        crate::plot::style::register().expect("the font");
        let spread = crate::plot::Distribution::of([1.0, 1.0, 1.0, 1.0, 9.0]);
        let curve = crate::plot::SpreadCurve {
            name: "a".to_string(),
            strategies: vec!["a".to_string()],
            spread: &spread,
        };
        let figure = crate::plot::spreads(crate::plot::STRETCHES, Vec::new(), vec![curve], 12);
        let drawn = crate::plot::save::svg(&figure.expect("two values")).expect("drawn");
        assert_eq!(
            drawn.matches("1.000").count(),
            4,
            "three quartiles, and the median in the legend"
        );
    }
}
