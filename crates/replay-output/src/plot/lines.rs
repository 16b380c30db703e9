use super::header::{Head, Mark};
use super::panel::Panel;
use super::scale::Scale;
use super::style::{AXIS_LINE, Colour, DATA_LINE, PALETTE, WHITE};
use super::{Canvas, Figure, PlotError, Table};

/// Named lines over a common x axis.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lines {
    /// Figure title.
    pub title: String,
    /// Subtitle clauses.
    pub subtitle: Vec<String>,
    /// Title of the x axis with its unit.
    pub x_title: String,
    /// Title of the y axis with its unit.
    pub y_title: String,
    /// Whether the x axis is logarithmic. A logarithmic axis omits points that are not positive.
    pub log_x: bool,
    /// Whether the y axis is logarithmic. A logarithmic axis omits points that are not positive.
    pub log_y: bool,
    /// Whether points are only the corners of a curve, so that they are drawn without dots.
    pub plain: bool,
    /// Lines in the order of the legend.
    pub lines: Vec<Line>,
}

/// A line of [`Lines`].
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points in the order in which they are joined. Points with a coordinate that is not finite are skipped without a
    /// gap in the line.
    pub points: Vec<Point>,
}

/// A point of a [`Line`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Coordinate on the x axis.
    pub x: f64,
    /// Coordinate on the y axis.
    pub y: f64,
    /// Lower and upper end of the error bar.
    pub error: Option<(f64, f64)>,
}

impl Point {
    /// Returns a point without an error bar.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, error: None }
    }

    fn ys(self) -> impl Iterator<Item = f64> {
        let (low, high) = self.error.unwrap_or((self.y, self.y));
        [self.y, low, high].into_iter()
    }
}

impl Lines {
    fn fits(&self, point: &Point) -> bool {
        let (x, y) = (point.x, point.y);
        x.is_finite() && y.is_finite() && (!self.log_x || x > 0.0) && (!self.log_y || y > 0.0)
    }

    /// Returns the scales of both axes, which cover all points with their error bars.
    pub(super) fn scales(&self) -> [Scale; 2] {
        let all = || self.lines.iter().flat_map(|line| self.points(line));
        [
            covering(all().map(|point| point.x), self.log_x, 8, false),
            self.y_scale(&all().flat_map(Point::ys).collect::<Vec<_>>()),
        ]
    }

    /// Returns the scale of the y axis. An axis of percentages ranges from 0 to 100 if no value is outside this range.
    fn y_scale(&self, values: &[f64]) -> Scale {
        // If no value is negative, the axis does not extend below 0, even if an interval of a mean extends below 0.
        let lines = || self.lines.iter().flat_map(|line| self.points(line));
        let floor = if lines().all(|at| at.y >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
        let values: Vec<f64> = values.iter().map(|value| value.max(floor)).collect();
        let scale = covering(values.into_iter(), self.log_y, 7, true);
        let inside = |values: &[Point]| values.iter().all(|at| (0.0..=100.0).contains(&at.y));
        let is_share = self.y_title.contains("(%") && !self.log_y;
        let shown = |line: &Line| self.points(line).collect::<Vec<_>>();
        match is_share && self.lines.iter().all(|line| inside(&shown(line))) {
            true => Scale::stepped(0.0, 100.0, 20.0),
            false => scale,
        }
    }

    pub(super) fn points<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = Point> + 'a {
        line.points.iter().copied().filter(|point| self.fits(point))
    }
}

/// Returns a scale that covers the values. A linear scale begins at 0 if the smallest value is close to 0.
fn covering(values: impl Iterator<Item = f64>, log: bool, steps: usize, round: bool) -> Scale {
    let values = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return Scale::linear(0.0, 1.0);
    }
    match (log, round) {
        (true, true) => Scale::log_round(low, high),
        (true, false) => Scale::log(low * 0.92, high * 1.08),
        (false, _) if low >= 0.0 && low < 0.4 * high => Scale::round(0.0, high, steps),
        (false, _) => Scale::round(low, high, steps),
    }
}

/// Additional width of a line for each line that is drawn over this line.
const WIDER: f64 = 0.8;
/// Maximum additional width of a line.
const WIDEST: f64 = 3.2;
/// Maximum horizontal distance between points with error bars at the same x. Without this distance, the error bars
/// would overlap.
const ASIDE: f64 = 7.0;

/// Maximum number of points that are drawn with dots; more dots would make the line look thicker.
const DOTTED: usize = 60;

pub(super) fn colour(i: usize) -> Colour {
    PALETTE[i % PALETTE.len()]
}

/// Returns whether points are drawn as rings instead of dots, to distinguish lines with a repeated colour.
fn ringed(i: usize) -> bool {
    i / PALETTE.len() % 2 == 1
}

impl Lines {
    /// Returns the horizontal shift between the points of consecutive lines; 0 if at most one line has error bars. The
    /// total shift of all lines is at most a third of the smallest distance between two x values.
    fn step(&self, panel: &Panel, count: usize) -> f64 {
        if !self.has_several_error_bars() {
            return 0.0;
        }
        let mut xs: Vec<f64> = self
            .lines
            .iter()
            .flat_map(|line| self.points(line))
            .map(|at| panel.at_x(at.x))
            .collect();
        xs.sort_by(f64::total_cmp);
        let gaps = xs.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.5);
        (gaps.fold(f64::INFINITY, f64::min) / (3.0 * count as f64)).min(ASIDE)
    }

    fn has_several_error_bars(&self) -> bool {
        let has_bars = |line: &&Line| self.points(line).any(|point| point.error.is_some());
        self.lines.iter().filter(has_bars).count() > 1
    }

    /// Returns the groups of lines with equal points, ordered by the first line of each group, and the names of lines
    /// without points.
    fn legend(&self) -> (Vec<Vec<usize>>, Vec<&str>) {
        let (mut seen, mut empty): (Vec<Vec<usize>>, Vec<&str>) = (Vec::new(), Vec::new());
        for (i, line) in self.lines.iter().enumerate() {
            let points = |line| self.points(line).map(|at| (at.x, at.y)).collect::<Vec<_>>();
            let own = points(line);
            if own.is_empty() {
                empty.push(&line.name);
                continue;
            }
            match seen.iter_mut().find(|alike| points(&self.lines[alike[0]]) == own) {
                Some(alike) => alike.push(i),
                None => seen.push(vec![i]),
            }
        }
        (seen, empty)
    }

    /// Draws the lines on a panel that has these [`scales`](Self::scales). The function also draws the grid and the
    /// left axis of the panel.
    pub(super) fn draw_on(&self, canvas: &Canvas<'_>, panel: &Panel) -> Result<(), PlotError> {
        panel.grid_x(canvas)?;
        panel.grid_y(canvas)?;
        panel.axis_left(canvas, &self.y_title)?;
        // Draw only the first of several equal lines. The legend entry has the colour of this line.
        let seen = self.legend().0;
        let (count, step) = (seen.len(), self.step(panel, seen.len()));
        for (place, alike) in seen.into_iter().enumerate() {
            let (i, line) = (alike[0], &self.lines[alike[0]]);
            let aside = step * (place as f64 - (count - 1) as f64 / 2.0);
            let moved = |point: Point| (panel.at_x(point.x) + aside, panel.at_y(point.y));
            let at: Vec<_> = self.points(line).map(moved).collect();
            // Earlier lines are wider, so that they are visible behind later lines.
            let over = if self.plain { 0.0 } else { (count - 1 - place) as f64 };
            let width = DATA_LINE + (WIDER * over).min(WIDEST);
            match ringed(i) && self.plain {
                true => at
                    .windows(2)
                    .try_for_each(|pair| canvas.dashes(pair[0], pair[1], DATA_LINE, colour(i)))?,
                false => canvas.line(&at, width, colour(i))?,
            }
            for point in self.points(line) {
                error_bar(canvas, panel, (point, aside), colour(i))?;
            }
            if at.len() <= DOTTED && !self.plain {
                for &centre in &at {
                    canvas.disc(centre, if ringed(i) { 5.0 } else { 4.0 }, colour(i))?;
                    if ringed(i) {
                        canvas.disc(centre, 3.0, WHITE)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Figure for Lines {
    /// Each line has a legend entry; equal lines share an entry. The subtitle names the lines without values.
    fn head(&self) -> Head {
        let mark = |i: usize| match (ringed(i), self.plain) {
            (false, false) => Mark::Line(colour(i)),
            (true, false) => Mark::Ring(colour(i)),
            (false, true) => Mark::Thick(colour(i)),
            (true, true) => Mark::Dashes(colour(i)),
        };
        let (seen, empty) = self.legend();
        let entry = |alike: Vec<usize>| {
            let names: Vec<&str> = alike.iter().map(|&i| self.lines[i].name.as_str()).collect();
            (mark(alike[0]), names.join(" = "))
        };
        let mut subtitle = self.subtitle.clone();
        if !empty.is_empty() {
            subtitle.push(format!("no values: {}", empty.join(", ")));
        }
        if self.has_several_error_bars() {
            subtitle.push("points at the same x are drawn side by side".to_string());
        }
        Head::new(&self.title, &subtitle).legend(seen.into_iter().map(entry))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        let top = self.head().draw(canvas)?;
        let panel = Panel::of_page(canvas, top, self.scales(), [&self.x_title, &self.y_title])?;
        self.draw_on(canvas, &panel)?;
        panel.axis_bottom(canvas, &self.x_title)
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["line", "x", "y", "low", "high"]);
        for line in &self.lines {
            for point in &line.points {
                let end = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
                table.row(&[
                    line.name.clone(),
                    point.x.to_string(),
                    point.y.to_string(),
                    end(point.error.map(|e| e.0)),
                    end(point.error.map(|e| e.1)),
                ]);
            }
        }
        table
    }
}

fn error_bar(
    canvas: &Canvas<'_>,
    panel: &Panel,
    (point, aside): (Point, f64),
    colour: Colour,
) -> Result<(), PlotError> {
    const CAP: f64 = 3.0;
    let Some((low, high)) = point.error else { return Ok(()) };
    // If a logarithmic axis cannot show the lower end of an error bar, the bar extends down to the axis.
    let ends = [low, high].map(|end| panel.at_y(end).clamp(panel.top, panel.bottom));
    let x = panel.at_x(point.x) + aside;
    canvas.line(&[(x, ends[0]), (x, ends[1])], AXIS_LINE, colour)?;
    for y in ends {
        canvas.line(&[(x - CAP, y), (x + CAP, y)], AXIS_LINE, colour)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::save::svg;
    use crate::plot::style::register;

    fn of(error: (f64, f64), ys: [f64; 2]) -> Lines {
        let point = |x: f64, y: f64| Point { error: Some(error), ..Point::new(x, y) };
        let line = |(name, y): (&str, f64)| Line {
            name: name.to_string(),
            points: vec![point(1.0, y), point(2.0, y)],
        };
        let lines = [("a", ys[0]), ("b", ys[1])].map(line).to_vec();
        Lines { y_title: "Mean turnaround (s)".to_string(), lines, ..Lines::default() }
    }

    #[test]
    fn an_interval_below_zero_does_not_extend_the_axis() {
        assert_eq!(of((-8.0, 12.0), [2.0, 3.0]).scales()[1].range().0, 0.0);
        assert!(of((-8.0, 12.0), [2.0, -3.0]).scales()[1].range().0 <= -8.0);
    }

    #[test]
    fn error_bars_at_the_same_x_do_not_overlap() {
        register().expect("the font");
        let drawn = svg(&of((1.0, 9.0), [4.0, 5.0])).expect("drawn");
        // There are vertical lines of both colours: one error bar at each of the two x values.
        let mut xs: Vec<String> = Vec::new();
        for tag in drawn.split("<polyline").skip(1).filter_map(|rest| rest.split('>').next()) {
            let points = tag.split("points=\"").nth(1).and_then(|rest| rest.split('"').next());
            let points: Vec<&str> = points.expect("points").split_whitespace().collect();
            let coloured = ["#0072B2", "#D55E00"].iter().any(|one| tag.contains(one));
            let x = |point: &str| point.split(',').next().map(str::to_string);
            if coloured && points.len() == 2 && x(points[0]) == x(points[1]) {
                xs.extend(x(points[0]));
            }
        }
        let all = xs.len();
        xs.sort();
        xs.dedup();
        assert!(all >= 4 && xs.len() == all, "{xs:?} of {all}");
    }
}
