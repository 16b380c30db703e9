//! A figure as columns, marks and scales: what its Vega-Lite specification is written from.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::look::FigureStyle;
use super::scale::Scale;
use super::style::{Colour, LABEL, SUBTITLE, TICK, TITLE};

/// The version of the grammar that is written.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";
/// Width of all views side by side, and the usual height of one, in pixels.
const WIDTH: usize = 800;
const HEIGHT: usize = 320;
/// What is around a view, its axes and titles, in units of the layout.
const AROUND: (f64, f64) = (130.0, 110.0);
/// Longest name that is shown whole, in pixels.
const LONGEST: usize = 1000;
/// Height of a row with a name, and side of a cell, in pixels.
const ROW: usize = 24;
const CELL: usize = 20;

/// What a [`Figure`](super::Figure) shows of which columns of its table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// What else a reader must know.
    pub subtitle: Vec<String>,
    /// Columns that are computed of those of the table.
    pub derived: Vec<Derived>,
    /// The views, row by row.
    pub views: Vec<View>,
    /// How many stand side by side.
    pub across: usize,
}

/// A column computed of others.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// Its name; no column of the table has it.
    pub name: &'static str,
    /// How it is computed.
    pub of: Formula,
}

/// How a column is computed.
#[derive(Clone, PartialEq, Debug)]
pub enum Formula {
    /// A column over a number: another unit.
    Over(&'static str, f64),
    /// A column over another.
    Ratio(&'static str, &'static str),
    /// Two columns together.
    Sum(&'static str, &'static str),
    /// The texts of two columns.
    Joined(&'static str, &'static str),
}

impl Formula {
    fn expression(&self) -> String {
        match self {
            Formula::Over(column, number) => format!("{} / {number}", datum(column)),
            Formula::Ratio(above, below) => format!("{} / {}", datum(above), datum(below)),
            Formula::Sum(a, b) => format!("{} + {}", datum(a), datum(b)),
            Formula::Joined(a, b) => format!("{} + ' ' + {}", datum(a), datum(b)),
        }
    }

    /// The columns it needs, and whether they are numbers.
    fn columns(&self) -> (Vec<&'static str>, bool) {
        match self {
            Formula::Over(column, _) => (vec![column], true),
            Formula::Ratio(a, b) | Formula::Sum(a, b) => (vec![a, b], true),
            Formula::Joined(a, b) => (vec![a, b], false),
        }
    }
}

/// A pair of axes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct View {
    /// What is above it; empty for nothing.
    pub title: String,
    /// The rows of the table that it shows, by the text of a column; `None` for all.
    pub only: Option<(&'static str, String)>,
    /// What is drawn, from the back to the front, each kind of mark once.
    pub layers: Vec<Layer>,
    /// What has a y axis of its own, on the right.
    pub right: Option<Layer>,
}

/// Columns and rows of cells by their numbers, the row 0 at the bottom.
pub fn places([columns, rows, _]: [usize; 3]) -> Vec<Encoding> {
    let names = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<String> {
        numbers.map(|number| number.to_string()).collect()
    };
    let (across, down) = (names(&mut (0..columns)), names(&mut (0..rows).rev()));
    vec![
        Encoding::new("x", "x", Holds::Names(across), "x"),
        Encoding::new("y", "y", Holds::Names(down), "y"),
    ]
}

impl View {
    /// One map of several: the cells whose column `map` has its name.
    pub fn of_map(name: &str, encodings: Vec<Encoding>) -> Self {
        Self {
            title: name.to_string(),
            only: Some(("map", name.to_string())),
            layers: vec![Layer::new(Mark::Cell, None, encodings)],
            right: None,
        }
    }
}

/// Marks of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    /// Which.
    pub mark: Mark,
    /// Their colour, unless a column tells it.
    pub colour: Option<Colour>,
    /// What of them shows which column.
    pub encodings: Vec<Encoding>,
    /// They show only rows that have nothing in this column.
    pub without: Option<&'static str>,
}

/// A kind of mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A bar from the zero line, or from one end to another.
    Bar,
    /// Points joined in the order of the table.
    Line,
    /// Values that hold until the next one.
    Steps,
    /// A disc.
    Disc,
    /// A cross.
    Cross,
    /// A cell, or a rectangle from corner to corner.
    Cell,
    /// A dashed line across the view.
    Rule,
    /// A short line across a row.
    Tick,
    /// An interval around a value, by its ends or its half width.
    Interval,
    /// What a column says.
    Text,
}

impl Mark {
    fn json(self, colour: Option<Colour>) -> Value {
        let mut mark = match self {
            Mark::Bar => json!({"type": "bar"}),
            // Through the rows as they come.
            Mark::Line => json!({"type": "line", "clip": true, "order": false}),
            Mark::Steps => {
                json!({"type": "line", "interpolate": "step-after", "clip": true, "order": false})
            }
            Mark::Disc => json!({"type": "point", "filled": true}),
            Mark::Cross => json!({"type": "point", "shape": "cross"}),
            Mark::Cell => json!({"type": "rect", "clip": true}),
            Mark::Rule => json!({"type": "rule", "strokeDash": [6, 4]}),
            Mark::Tick => json!({"type": "tick"}),
            Mark::Interval => json!({"type": "errorbar", "ticks": true}),
            Mark::Text => json!({"type": "text", "fontSize": 9}),
        };
        if let Some(colour) = colour {
            mark["color"] = hex(colour).into();
            if self == Mark::Cell {
                // Of one colour they would run together.
                (mark["stroke"], mark["strokeWidth"]) = ("#ffffff".into(), json!(0.5));
            }
        }
        if self != Mark::Interval {
            mark["tooltip"] = true.into();
        }
        mark
    }
}

/// A column, and what of a mark shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Encoding {
    /// Channel of the grammar: x, y, x2, y2, xError, yError, yOffset, color, text, detail, order.
    pub channel: &'static str,
    /// The column.
    pub field: String,
    /// What it holds.
    pub holds: Holds,
    /// Title with its unit; none for channels that have none.
    pub title: Option<String>,
}

/// What a column holds, and how that becomes a place or a colour.
#[derive(Clone, PartialEq, Debug)]
pub enum Holds {
    /// Numbers on an axis.
    Numbers(Scale),
    /// The other ends or the half widths of numbers.
    Ends,
    /// Names, from left to right or from top to bottom.
    Names(Vec<String>),
    /// Names with their colours.
    Series(Vec<(String, Colour)>),
    /// Numbers from the first colour of the sequential scale to its last.
    Shades(Scale),
    /// Numbers with a colour where they are negative and one where they are not.
    Signs(Colour, Colour),
}

impl Encoding {
    /// A column on an axis or in a colour.
    pub fn new(channel: &'static str, field: &str, holds: Holds, title: &str) -> Self {
        Self { channel, field: field.to_string(), holds, title: Some(title.to_string()) }
    }

    /// The other end of what another encoding begins, or its half width.
    pub fn end(channel: &'static str, field: &str) -> Self {
        Self { channel, field: field.to_string(), holds: Holds::Ends, title: None }
    }

    fn is_number(&self) -> bool {
        !matches!(self.holds, Holds::Names(_) | Holds::Series(_))
    }

    fn json(&self) -> Value {
        let field = path(&self.field);
        let domain = |scale: Scale| {
            let (low, high) = scale.range();
            [low, high]
        };
        let mut own = match &self.holds {
            Holds::Ends => return json!({"field": field}),
            Holds::Signs(below, above) => {
                let test = format!("{} < 0", datum(&self.field));
                return json!({
                    "condition": {"test": test, "value": hex(*below)},
                    "value": hex(*above)
                });
            }
            Holds::Numbers(scale) => {
                let kind = match (scale.is_log(), scale.is_log_from_zero()) {
                    (true, _) => "log",
                    (_, true) => "symlog",
                    _ => "linear",
                };
                let scale = json!({"type": kind, "domain": domain(*scale), "nice": false});
                json!({"type": "quantitative", "scale": scale})
            }
            Holds::Shades(scale) => {
                let scale = json!({"scheme": "viridis", "domain": domain(*scale), "clamp": true});
                json!({"type": "quantitative", "scale": scale})
            }
            Holds::Names(names) => json!({"type": "nominal", "sort": names}),
            Holds::Series(series) => {
                let names: Vec<&String> = series.iter().map(|(name, _)| name).collect();
                let range: Vec<String> = series.iter().map(|(_, colour)| hex(*colour)).collect();
                json!({"type": "nominal", "scale": {"domain": names, "range": range}})
            }
        };
        own["field"] = field.into();
        own["title"] = self.title.clone().into();
        own
    }
}

impl Layer {
    /// Marks of this kind.
    pub fn new(mark: Mark, colour: Option<Colour>, encodings: Vec<Encoding>) -> Self {
        Self { mark, colour, encodings, without: None }
    }

    fn json(&self) -> Value {
        let of = |encoding: &Encoding| (encoding.channel.to_string(), encoding.json());
        let encodings: Map<String, Value> = self.encodings.iter().map(of).collect();
        let empty = |column: &&str| format!("!isValid({})", datum(column));
        let mut filters: Vec<String> = self.without.iter().map(empty).collect();
        for encoding in &self.encodings {
            match encoding.holds {
                // A logarithmic axis cannot show what is not positive.
                Holds::Numbers(scale) if scale.is_log() => {
                    filters.push(format!("{} > 0", datum(&encoding.field)));
                }
                Holds::Numbers(_) | Holds::Ends => {
                    filters.push(format!("isValid({})", datum(&encoding.field)));
                }
                _ => {}
            }
        }
        let mut layer = json!({"mark": self.mark.json(self.colour), "encoding": encodings});
        if !filters.is_empty() {
            layer["transform"] = json!([{"filter": filters.join(" && ")}]);
        }
        layer
    }
}

impl View {
    fn all(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().chain(&self.right)
    }

    fn json(&self, width: usize, height: usize) -> Value {
        let layers: Vec<Value> = self.layers.iter().map(Layer::json).collect();
        let mut view = match &self.right {
            None => json!({"layer": layers}),
            Some(right) => json!({
                "layer": [{"layer": layers}, right.json()],
                "resolve": {"scale": {"y": "independent"}}
            }),
        };
        let named = |channel: &str| {
            let is_it = |encoding: &Encoding| {
                encoding.channel == channel && matches!(encoding.holds, Holds::Names(_))
            };
            self.layers.iter().flat_map(|layer| &layer.encodings).any(is_it)
        };
        let (across, down) = (named("x"), named("y"));
        view["width"] = if across { json!({"step": CELL}) } else { width.into() };
        view["height"] = match (across, down) {
            (true, true) => json!({"step": CELL}),
            (false, true) => json!({"step": ROW}),
            _ => height.into(),
        };
        if !self.title.is_empty() {
            view["title"] = self.title.clone().into();
        }
        if let Some((column, text)) = &self.only {
            view["transform"] =
                json!([{"filter": format!("{} === {}", datum(column), quoted(text))}]);
        }
        view
    }
}

impl Chart {
    /// The specification, of a table that stands beside it in the file `csv`, in a style. Its views have the width and
    /// height that a page of that size has for them, about.
    pub fn specification(&self, csv: &str, style: &FigureStyle) -> String {
        let across = self.across.clamp(1, self.views.len().max(1));
        // Vega-Lite counts in pixels of a 96th of an inch, which on the page of the default are points.
        let unit = style.unit() * if style.size.is_some() { 96.0 / 72.0 } else { 1.0 };
        let (width, height) = match style.size {
            None => (WIDTH / across - 40, HEIGHT),
            Some(_) => {
                let page = style.page();
                let down = self.views.len().div_ceil(across).max(1);
                let each = |length: f64, count: usize, around: f64| {
                    ((length / count as f64 - around).max(60.0) * unit) as usize
                };
                let high = page.height.unwrap_or_default();
                (each(page.width, across, AROUND.0), each(high, down, AROUND.1))
            }
        };
        let views: Vec<Value> = self.views.iter().map(|view| view.json(width, height)).collect();
        let computed =
            |column: &Derived| json!({"calculate": column.of.expression(), "as": column.name});
        let computed: Vec<Value> = self.derived.iter().map(computed).collect();
        let mut all = json!({
            "$schema": SCHEMA,
            "data": {"url": csv, "format": {"type": "csv", "parse": self.columns()}},
            "columns": across,
            "concat": views,
            // Names are shown whole.
            "config": {"axis": {"labelLimit": LONGEST}, "legend": {"labelLimit": LONGEST}}
        });
        if style.titles {
            all["title"] =
                json!({"text": self.title, "subtitle": self.subtitle, "anchor": "start"});
        }
        if style.size.is_some() || style.font_size.is_some() {
            let size = |units: f64| (units * unit * 100.0).round() / 100.0;
            for kind in ["axis", "legend", "header"] {
                all["config"][kind]["labelFontSize"] = size(TICK).into();
                all["config"][kind]["titleFontSize"] = size(LABEL).into();
            }
            let titles = json!({"fontSize": size(TITLE), "subtitleFontSize": size(SUBTITLE)});
            all["config"]["title"] = titles;
        }
        if !computed.is_empty() {
            all["transform"] = computed.into();
        }
        format!("{all:#}\n")
    }

    /// The columns of the table that it needs, each with how its text is read.
    pub(super) fn columns(&self) -> BTreeMap<String, &'static str> {
        let kind = |number: bool| if number { "number" } else { "string" };
        let mut columns = BTreeMap::new();
        for encoding in self.views.iter().flat_map(View::all).flat_map(|layer| &layer.encodings) {
            columns.insert(encoding.field.clone(), kind(encoding.is_number()));
        }
        for column in &self.derived {
            let (of, number) = column.of.columns();
            columns.extend(of.into_iter().map(|name| (name.to_string(), kind(number))));
        }
        for (column, _) in self.views.iter().filter_map(|view| view.only.as_ref()) {
            columns.insert(column.to_string(), kind(false));
        }
        for column in &self.derived {
            columns.remove(column.name);
        }
        columns
    }
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A column's name where dots and brackets would be a path into it.
fn path(column: &str) -> String {
    let mut path = String::with_capacity(column.len());
    for c in column.chars() {
        if matches!(c, '.' | '[' | ']' | '\'' | '"' | '\\') {
            path.push('\\');
        }
        path.push(c);
    }
    path
}

/// A column in an expression.
fn datum(column: &str) -> String {
    format!("datum[{}]", quoted(column))
}

/// A text in an expression.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
