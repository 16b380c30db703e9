use super::figure_style::Page;
use super::header::Head;
use super::rows::Rows;
use super::save::Sheet;
use super::scale::Scale;
use super::style::{AXIS_LINE, GRID, GRID_LINE, INK, PALETTE, TICK, register};
use super::{Canvas, Figure, FigureStyle, PlotError, Table, Text};
use replay_engine::number::fixed;

/// Changes of a measure in a whole experiment: a group of rows for each trace, a panel for each scheduler, and a point
/// with its interval for each strategy. All panels share one scale, and a strategy has one colour.
#[derive(Clone, PartialEq, Debug)]
pub struct Changes {
    /// Clauses of the subtitle.
    pub subtitle: Vec<String>,
    /// Name of the measure.
    pub measure: String,
    /// What each point is compared with.
    pub base: String,
    /// Titles of the panels.
    pub columns: Vec<String>,
    /// Titles of the groups of rows; each with its points.
    pub groups: Vec<(String, Vec<ChangeRow>)>,
    /// Names of all strategies of the experiment, in the order of their colours.
    pub names: Vec<String>,
}

/// The points of a strategy in one group of rows.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangeRow {
    /// Strategy.
    pub name: String,
    /// For each panel, the change.
    pub points: Vec<Option<Change>>,
}

/// A change in percent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Change of the mean.
    pub percent: f64,
    /// 95 % interval; `None` without copies and without a table of jobs.
    pub interval: Option<[f64; 2]>,
}

impl Change {
    /// Formats the change with its interval, such as `-56 % (-92 to -21)`.
    pub fn text(&self) -> String {
        let number = |value: f64| {
            let decimals = if value.abs() < 9.995 { 2 } else { 1 };
            let text = fixed(value, decimals);
            if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
                "0".to_string()
            } else if value > 0.0 {
                format!("+{text}")
            } else {
                text
            }
        };
        match self.interval {
            _ if self.is_zero() => "unchanged".to_string(),
            Some([low, high]) => {
                format!("{} % ({} to {})", number(self.percent), number(low), number(high))
            }
            None => format!("{} %", number(self.percent)),
        }
    }

    /// Returns whether neither the mean nor the interval differs from 0.
    pub fn is_zero(&self) -> bool {
        self.percent == 0.0 && self.interval.is_none_or(|ends| ends == [0.0; 2])
    }
}

/// Room above each panel for its title.
const HEADING: f64 = 20.0;

impl Changes {
    /// Returns the figure as SVG in the default style.
    ///
    /// # Errors
    /// [`PlotError`] if drawing fails.
    pub fn svg(&self) -> Result<String, PlotError> {
        register()?;
        Sheet::of(self, &FigureStyle::default())?.svg(self)
    }

    fn points(&self) -> impl Iterator<Item = Change> + '_ {
        let rows = self.groups.iter().flat_map(|(_, rows)| rows);
        rows.flat_map(|row| row.points.iter().copied().flatten())
    }

    fn scale(&self) -> Scale {
        let ends =
            || self.points().flat_map(|p| p.interval.into_iter().flatten().chain([p.percent]));
        let ends = || ends().filter(|end| end.is_finite());
        let (low, high) = (ends().fold(0.0, f64::min), ends().fold(0.0, f64::max));
        match low < high {
            true => Scale::round(low, high, 5),
            false => Scale::linear(-1.0, 1.0),
        }
    }

    /// Returns the labels of the rows: the title of each group, then its strategies.
    fn labels(&self) -> Vec<String> {
        let group = |(title, rows): &(String, Vec<ChangeRow>)| {
            let names = rows.iter().map(|row| row.name.clone());
            [title.clone()].into_iter().chain(names).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(group).collect()
    }

    fn layout(&self, width: f64) -> Result<Rows, PlotError> {
        Ok(Rows::new(&self.labels(), self.columns.len(), width)?.above(HEADING))
    }

    fn x_title(&self) -> String {
        format!("Change of {} (%)", self.measure)
    }
}

impl Figure for Changes {
    fn head(&self) -> Head {
        let title = format!("{}: change against {}", capitalized(&self.measure), self.base);
        Head::new(&title, &self.subtitle)
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
        let scale = self.scale();
        for (column, title) in self.columns.iter().enumerate() {
            let (band, panel) = layout.draw(canvas, top, column, scale)?;
            panel.grid_x(canvas)?;
            let zero = panel.at_x(0.0);
            canvas.line(&[(zero, panel.top), (zero, panel.bottom)], AXIS_LINE, INK)?;
            canvas.text(
                title,
                (panel.left, panel.top - HEADING / 2.0),
                Text::of_size(TICK).bold(),
            )?;
            let mut place = 0;
            for (group, (_, rows)) in self.groups.iter().enumerate() {
                if group > 0 {
                    let y = (band.middle(place - 1) + band.middle(place)) / 2.0;
                    canvas.line(&[(panel.left, y), (panel.right, y)], GRID_LINE, GRID)?;
                }
                place += 1;
                for row in rows {
                    let index = self.names.iter().position(|name| *name == row.name);
                    let colour = PALETTE[index.unwrap_or(0) % PALETTE.len()];
                    if let Some(change) = row.points.get(column).copied().flatten() {
                        let mut end = panel.at_x(change.percent).max(zero);
                        if let Some(interval) = change.interval.filter(|_| !change.is_zero()) {
                            band.interval(canvas, &panel, place, interval)?;
                            end = end.max(panel.at_x(interval[1]));
                        }
                        canvas.disc(
                            (panel.at_x(change.percent), band.middle(place)),
                            5.0,
                            colour,
                        )?;
                        let text = match change.is_zero() {
                            true => "0".to_string(),
                            false => fixed(
                                change.percent,
                                if change.percent.abs() < 9.995 { 2 } else { 1 },
                            ),
                        };
                        band.value(canvas, end, place, &text.replace('-', "\u{2212}"))?;
                    }
                    place += 1;
                }
            }
            panel.axis_bottom(canvas, &self.x_title())?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            "group",
            "strategy",
            "panel",
            "change_percent",
            "low_percent",
            "high_percent",
        ]);
        for (group, rows) in &self.groups {
            for row in rows {
                for (column, point) in self.columns.iter().zip(&row.points) {
                    let Some(Change { percent, interval }) = point else { continue };
                    let end = |i: usize| interval.map_or(String::new(), |ends| ends[i].to_string());
                    let texts = [group.clone(), row.name.clone(), column.clone()];
                    let [a, b, c] = texts;
                    table.row(&[a, b, c, percent.to_string(), end(0), end(1)]);
                }
            }
        }
        table
    }
}

/// Returns text with its first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_formatted_with_their_intervals() {
        let change = |percent, interval| Change { percent, interval }.text();
        assert_eq!(change(-56.04, Some([-92.0, -21.0])), "-56.0 % (-92.0 to -21.0)");
        assert_eq!(change(1.234, Some([-0.001, 3.0])), "+1.23 % (0 to +3.00)");
        assert_eq!(change(2.0, None), "+2.00 %");
        assert_eq!(change(0.0, Some([0.0; 2])), "unchanged");
    }

    #[test]
    fn panels_share_a_scale_that_contains_every_interval_and_zero() {
        let point = |percent, low, high| Some(Change { percent, interval: Some([low, high]) });
        let row = |name: &str, points| ChangeRow { name: name.to_string(), points };
        let figure = Changes {
            subtitle: Vec::new(),
            measure: "mean wait".to_string(),
            base: "a".to_string(),
            columns: vec!["fcfs".to_string(), "easy".to_string()],
            groups: vec![
                (
                    "t".to_string(),
                    vec![row("b", vec![point(5.0, 4.0, 6.0), point(9.0, 1.0, 17.0)])],
                ),
                ("u".to_string(), vec![row("b", vec![None, point(1.0, 0.5, 1.5)])]),
            ],
            names: vec!["a".to_string(), "b".to_string()],
        };
        let (low, high) = figure.scale().range();
        assert!(low <= 0.0 && high >= 17.0, "{low} to {high}");
        assert_eq!(figure.labels(), ["t", "b", "u", "b"]);
        assert_eq!(figure.table().csv().lines().count(), 4);
        assert!(figure.svg().expect("drawn").contains("Mean wait: change against a"));
    }
}
