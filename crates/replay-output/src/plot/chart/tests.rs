use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::*;
use replay_core::metrics::{SizeChange, TieMetrics};

/// Calls `take` with every object of a document.
fn objects<'a>(value: &'a Value, take: &mut impl FnMut(&'a Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            take(map);
            map.values().for_each(|value| objects(value, take));
        }
        Value::Array(values) => values.iter().for_each(|value| objects(value, take)),
        _ => {}
    }
}

/// The columns that an expression reads.
fn read(expression: &str) -> Vec<String> {
    let pieces = expression.split("datum[").skip(1);
    let name = |piece: &str| {
        let text = serde_json::Deserializer::from_str(piece).into_iter::<String>().next();
        text.expect("a name").expect("a text")
    };
    pieces.map(name).collect()
}

/// The column of a path that has its dots and brackets escaped.
fn unescaped(path: &str) -> String {
    let (mut name, mut chars) = (String::new(), path.chars());
    while let Some(c) = chars.next() {
        assert!(!matches!(c, '.' | '[' | ']' | '"' | '\''), "{path} is a path");
        name.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    name
}

/// The specification of a figure, once everything in it fits the table beside it.
fn checked(figure: &impl Figure) -> Value {
    let chart = figure.chart().expect("a chart");
    let all: Value =
        serde_json::from_str(&chart.specification("a.csv", &FigureStyle::default())).expect("JSON");
    assert_eq!(all["$schema"], "https://vega.github.io/schema/vega-lite/v5.json");
    assert_eq!(all["data"]["url"], "a.csv");
    assert_eq!(all["title"]["text"], chart.title);
    let table = figure.table();
    let mut table = csv::Reader::from_reader(table.csv().as_bytes());
    let columns: Vec<String> =
        table.headers().expect("a header").iter().map(String::from).collect();
    let rows: Vec<csv::StringRecord> = table.records().map(|row| row.expect("a row")).collect();
    let cells = |column: &str| {
        let place = columns.iter().position(|name| name == column);
        let place = place.unwrap_or_else(|| panic!("{column:?} is no column of {columns:?}"));
        rows.iter().map(move |row| row[place].to_string())
    };
    // What is read as a number is one, or nothing.
    let parse = all["data"]["format"]["parse"].as_object().expect("how columns are read");
    for (column, kind) in parse {
        let is_number = |cell: &String| cell.is_empty() || cell.parse::<f64>().is_ok();
        assert!(kind == "string" || cells(column).all(|cell| is_number(&cell)), "{column}");
    }
    let mut derived = BTreeSet::new();
    objects(&all, &mut |it| {
        derived.extend(it.get("as").and_then(Value::as_str).map(String::from));
    });
    assert!(derived.iter().all(|name| !columns.contains(name)), "{derived:?}");
    let known = |column: &str| derived.contains(column) || parse.contains_key(column);
    objects(&all, &mut |it| {
        if let Some(column) = it.get("field").map(|path| unescaped(path.as_str().expect("a path")))
        {
            assert!(known(&column), "{column} of {columns:?} {derived:?}");
        }
        for expression in ["filter", "calculate", "test"].iter().filter_map(|key| it.get(*key)) {
            let columns = read(expression.as_str().expect("an expression"));
            assert!(!columns.is_empty() && columns.iter().all(|column| known(column)));
        }
        // Every name has a place or a colour, and its rows are there.
        let names = |list: &Value| -> Option<BTreeSet<String>> {
            let names = list.as_array()?.iter();
            names.map(|name| name.as_str().map(String::from)).collect()
        };
        let domain = it.get("scale").and_then(|scale| names(&scale["domain"]));
        if let (Some("nominal"), Some(field)) =
            (it.get("type").and_then(Value::as_str), it.get("field"))
        {
            let column = unescaped(field.as_str().expect("a path"));
            let named = it.get("sort").and_then(names).or(domain).expect("names");
            if !derived.contains(&column) {
                let missing: Vec<String> =
                    cells(&column).filter(|cell| !named.contains(cell)).collect();
                assert!(missing.is_empty(), "{column}: {missing:?} of {named:?}");
            }
        }
        // One layer for each kind of mark.
        if let Some(layers) = it.get("layer").and_then(Value::as_array) {
            let marks: Vec<&Value> = layers.iter().map(|layer| &layer["mark"]).collect();
            let marks: Vec<&&Value> = marks.iter().filter(|mark| !mark.is_null()).collect();
            let kinds: BTreeSet<String> = marks.iter().map(|mark| mark.to_string()).collect();
            assert_eq!(kinds.len(), marks.len(), "{kinds:?}");
        }
    });
    all
}

/// The kinds of marks and the kinds of scales by column.
fn shape(all: &Value) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let (mut marks, mut scales) = (BTreeSet::new(), BTreeMap::new());
    objects(all, &mut |it| {
        let mark = it.get("mark").map(|mark| mark["type"].as_str().expect("a mark").to_string());
        marks.extend(mark);
        if let (Some(field), Some(kind)) = (it.get("field"), it.get("scale").map(|s| &s["type"])) {
            let kind = kind.as_str().unwrap_or("");
            scales.insert(field.as_str().expect("a path").to_string(), kind.to_string());
        }
    });
    (marks, scales)
}

fn point(x: f64, y: f64, error: Option<(f64, f64)>) -> Point {
    Point { x, y, error }
}

#[test]
fn lines_have_the_axes_and_the_error_bars_that_are_drawn() {
    let line = |error| Line {
        name: "a, \"b\"".to_string(),
        points: vec![point(1.0, 10.0, error), point(5.0, 4000.0, None), point(7.0, 0.0, None)],
    };
    for (log_y, error) in [(false, None), (true, None), (true, Some((5.0, 20.0)))] {
        let figure = Lines { log_y, lines: vec![line(error)], ..Lines::default() };
        let all = checked(&figure);
        let (marks, scales) = shape(&all);
        assert_eq!(marks.contains("errorbar"), error.is_some());
        assert!(marks.contains("line") && marks.contains("point"), "{marks:?}");
        assert_eq!(
            (scales["x"].as_str(), scales["y"].as_str()),
            ("linear", if log_y { "log" } else { "linear" })
        );
        // What a logarithmic axis cannot show is left out, as in the figure.
        assert_eq!(all.to_string().contains("datum[\\\"y\\\"] > 0"), log_y);
    }
}

#[test]
fn bars_have_intervals_where_the_figure_has_them() {
    let strategies = |half: Option<f64>| {
        let bar = |name: &str, mean_pairwise_l1| StrategyBar {
            name: name.to_string(),
            mean_pairwise_l1,
            half_width: half,
        };
        StrategyBars {
            subtitle: Vec::new(),
            strategies: vec![bar("mm", 575.0), bar("mc1x1[a,b]", 564.0)],
        }
    };
    let all = checked(&strategies(None));
    // The enlarged panel is there as well.
    assert_eq!(all["concat"].as_array().map(Vec::len), Some(2));
    assert!(!shape(&all).0.contains("errorbar"));
    assert!(shape(&checked(&strategies(Some(1.0)))).0.contains("errorbar"));
    let comparison = |intervals: Vec<Vec<Option<[f64; 2]>>>| Comparison {
        subtitle: vec!["KTH".to_string()],
        measures: vec!["Pairwise L₁ (hops)".to_string(), "a.b[c] (%)".to_string()],
        strategies: vec![("mm".to_string(), vec![Some(1.5), None])],
        intervals,
        ..Comparison::default()
    };
    assert!(!shape(&checked(&comparison(Vec::new()))).0.contains("errorbar"));
    let all = checked(&comparison(vec![vec![Some([1.0, 2.0]), None]]));
    assert!(shape(&all).0.contains("errorbar"));
    assert!(all.to_string().contains("a\\\\.b\\\\[c\\\\] (%)"), "{all}");
    let marked = Comparison {
        begins: vec![0.0, 1.0],
        marks: vec![vec![None, Some(Marks { trimmed_mean: 1.2, p95: 3.0 })]],
        strategies: vec![("mm".to_string(), vec![Some(1.5), Some(0.9)])],
        ..comparison(vec![vec![None, Some([0.8, 1.0])]])
    };
    let text = checked(&marked).to_string();
    for column in ["ideal", "low", "high", "trimmed mean", "p95"] {
        assert!(text.contains(&format!("(%), {column}")), "{column}: {text}");
    }
    for (values, margin) in [(false, 0.5), (true, 0.0)] {
        let row = |label: &str| BesideRow {
            group: "g".to_string(),
            label: label.to_string(),
            printed: 4.0,
            ours: 5.0,
            margin,
            reach: None,
        };
        let figure = Beside {
            title: "t".to_string(),
            subtitle: Vec::new(),
            values,
            x_title: "hops".to_string(),
            rows: vec![row("a"), row("b")],
        };
        assert_eq!(shape(&checked(&figure)).0.contains("bar"), values);
    }
}

#[test]
fn improvements_have_jobs_on_a_logarithmic_axis_of_their_own() {
    let change = |size, jobs, improvement_percent| SizeChange {
        size,
        size_rank: size,
        jobs,
        improvement_percent,
        fixed: false,
    };
    for (order, half_widths) in [(Order::Size, vec![0.5, 0.25]), (Order::Rank, Vec::new())] {
        let intervals = !half_widths.is_empty();
        let changes = vec![change(1, 1000, -2.0), change(2, 3, 4.0)];
        let all = checked(&Improvement {
            subtitle: Vec::new(),
            order,
            changes,
            half_widths,
            reach: [0.0; 2],
        });
        let (marks, scales) = shape(&all);
        assert_eq!(marks.contains("errorbar"), intervals);
        assert_eq!(
            (scales["jobs"].as_str(), scales["improvement_percent"].as_str()),
            ("log", "linear")
        );
        assert_eq!(all["concat"][0]["resolve"]["scale"]["y"], "independent");
        assert_eq!(scales.contains_key("size"), order == Order::Size);
    }
}

#[test]
fn every_other_figure_fits_its_table() {
    let ties = TieMetrics { tied_decisions: 3, tied_percent: 50.0, mean_tied: 2.5 };
    let row = |scheduler: &str| TieRow {
        label: "KTH".to_string(),
        scheduler: scheduler.to_string(),
        ties,
    };
    checked(&Ties { subtitle: Vec::new(), rows: vec![row("fcfs"), row("easy")] });
    for of in [Of::Processors, Of::Slots] {
        let span = Span { day: 0.5, utilization: 60.0, waiting: 3.0 };
        checked(&Load {
            strategy: "mm".to_string(),
            subtitle: Vec::new(),
            of,
            spans: vec![span],
            days: 0.5,
            utilization: 60.0,
        });
    }
    let panel = ScatterPanel {
        x_title: "L1 (hops)".to_string(),
        y_title: "stretch".to_string(),
        points: vec![(1.0, 2.0), (3.0, 4.0)],
        ..ScatterPanel::default()
    };
    for names in [Vec::new(), vec!["a".to_string(), "b".to_string()]] {
        checked(&Scatter {
            names,
            panels: vec![panel.clone(), panel.clone()],
            ..Scatter::default()
        });
    }
    let titled = |title: &str| title.to_string();
    checked(&HeatMap {
        x_title: titled("trace"),
        y_title: titled("tuned [on]"),
        value_title: titled("gain (%)"),
        columns: vec![titled("1"), titled("2")],
        rows: vec![titled("a.b"), titled("c")],
        values: vec![vec![Some(1.0), None], vec![Some(2.0)]],
        ..HeatMap::default()
    });
    let map = LinkMap { name: titled("all"), values: vec![vec![Some(0.5), None]] };
    checked(&LinkMaps {
        value_title: titled("busy (%)"),
        sides: (2, 3),
        maps: vec![map],
        ..LinkMaps::default()
    });
    let map = SurfaceMap { name: titled("SR = 2"), values: vec![vec![Some(1.0)]] };
    checked(&Surface {
        value_title: titled("gain (%)"),
        maps: vec![map],
        cells: 4,
        ..Surface::default()
    });
    let climb = Climb {
        name: titled("random"),
        steps: vec![(1.0, 0.5), (400.0, 2.0)],
        work: 500.0,
        references: vec![(titled("published"), 1.5)],
    };
    let all = checked(&Convergence { subtitle: Vec::new(), climbs: vec![climb] });
    let (marks, scales) = shape(&all);
    assert_eq!(scales["whole_evaluations"], "log");
    // References have no work: they go across.
    assert!(
        marks.contains("rule") && all.to_string().contains("!isValid(datum[\\\"whole_evaluations")
    );
    let shift = Shift { job: 3, submit: 86_400, later: -7200 };
    checked(&Shifts { shifts: vec![shift], ..Shifts::default() });
    let bar = Bar { job: 3, start: 10, end: 90, first: 4, count: 2 };
    checked(&Gantt { window: [0, 100], processors: 16, bars: vec![bar], ..Gantt::default() });
}

#[test]
fn pictures_of_a_machine_have_a_cell_for_each_processor() {
    let map = MachineMap {
        sides: [3, 2, 1],
        holders: vec![Some(0), None, Some(1), Some(0), None, None],
        jobs: vec![12, 7],
        asked: Some(1),
        ..MachineMap::default()
    };
    let all = checked(&map);
    assert_eq!(shape(&all).0.into_iter().collect::<Vec<_>>(), ["rect"]);
    let encoding = &all["concat"][0]["layer"][0]["encoding"];
    assert_eq!(encoding["y"]["sort"], serde_json::json!(["1", "0"]));
    assert_eq!(encoding["color"]["scale"]["domain"], serde_json::json!(["", "12", "7"]));
    let slices =
        MachineMap { sides: [3, 1, 2], down: vec![false, true, false, false, false, false], ..map };
    let all = checked(&slices);
    let titles = [0, 1].map(|z| all["concat"][z]["title"].as_str().unwrap_or_default().to_string());
    assert_eq!(titles, ["z = 0", "z = 1"]);
    for depth in [1, 2] {
        let one = |number| CandidateMap {
            number,
            lines: vec![format!("candidate {number}"), "score 3".to_string()],
            centre: 0,
            shells: vec![0; 4],
            chosen: vec![true, false, false, false],
            weights: vec![None, Some((Counted::Free, 2)), None, None],
        };
        let figure = Candidates {
            sides: [2, 2 / depth, depth],
            ground: vec![Ground::Free, Ground::Free, Ground::Busy, Ground::Down],
            candidates: vec![one(1), one(2)],
            ..Candidates::default()
        };
        let all = checked(&figure);
        assert_eq!(shape(&all).0.into_iter().collect::<Vec<_>>(), ["rect", "text"]);
        assert_eq!(all["concat"].as_array().map(Vec::len), Some(2 * depth));
    }
}
