//! Checks, for many page sizes and font sizes, that texts in figures do not overlap and do not
//! extend beyond the page.

use super::save::Sheet;
use super::style::register;
use super::*;
use replay_engine::metrics::{SizeChange, TieMetrics};

/// A text of an SVG with the coordinates of its left, top, right and bottom edges.
type Placed = (String, [f64; 4]);

fn attribute(tag: &str, name: &str) -> Option<f64> {
    let value = tag.split_once(&format!(" {name}=\""))?.1.split('"').next()?;
    value.trim_end_matches("em").parse().ok()
}

/// Returns the texts of a document with the bounding boxes of their capitals.
fn texts(svg: &str) -> Vec<Placed> {
    let mut texts = Vec::new();
    for piece in svg.split("<text").skip(1) {
        let (tag, rest) = piece.split_once('>').expect("a tag");
        let words = rest.split_once("</text>").expect("its end").0.trim();
        let words =
            [("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&quot;", "\""), ("&amp;", "&")]
                .into_iter()
                .fold(words.to_string(), |words, (entity, text)| words.replace(entity, text));
        let [x, y, size] = ["x", "y", "font-size"].map(|name| attribute(tag, name).expect(name));
        let down = attribute(tag, "dy").unwrap_or(0.0) * size;
        let look = Text::of_size(size);
        let look = if tag.contains("font-weight=\"bold\"") { look.bold() } else { look };
        let width = look.width(&words).expect("the font");
        let before = match tag {
            _ if tag.contains("text-anchor=\"end\"") => width,
            _ if tag.contains("text-anchor=\"middle\"") => width / 2.0,
            _ => 0.0,
        };
        let (top, bottom) = (down - 0.73 * size, down);
        let placed = match tag.contains("rotate(270") {
            false => [x - before, y + top, x - before + width, y + bottom],
            true => [x + top, y + before - width, x + bottom, y + before],
        };
        texts.push((words, placed));
    }
    texts
}

/// Fails if a text extends beyond the page or overlaps another text.
fn check(name: &str, figure: &impl Figure, style: &FigureStyle) {
    let svg = Sheet::of(figure, style).and_then(|sheet| sheet.svg(figure)).expect("drawn");
    let view = svg.split_once("viewBox=\"0 0 ").expect("a view").1.split('"').next();
    let sides: Vec<f64> =
        view.expect("sides").split(' ').map(|side| side.parse().expect("a number")).collect();
    let placed = texts(&svg);
    for (i, (words, [left, top, right, bottom])) in placed.iter().enumerate() {
        let inside = *left >= 0.0 && *top >= 0.0 && *right <= sides[0] && *bottom <= sides[1];
        assert!(
            inside,
            "{name} {style:?}: {words:?} at {left:.0} {top:.0} {right:.0} {bottom:.0} leaves {sides:?}"
        );
        for (other, at) in &placed[i + 1..] {
            let apart = right.min(at[2]) - left.max(at[0]) < 0.5
                || bottom.min(at[3]) - top.max(at[1]) < 0.5;
            assert!(apart, "{name} {style:?}: {words:?} overlaps {other:?}");
        }
    }
}

fn styles() -> Vec<FigureStyle> {
    let style = |size: Option<&str>, font: Option<f64>, titles| FigureStyle {
        size: size.map(|size| size.parse().expect("a size")),
        font_size: font.map(FontSize),
        titles,
        ..FigureStyle::default()
    };
    vec![
        FigureStyle::default(),
        style(None, Some(20.0), true),
        style(Some("85x60mm"), None, true),
        style(Some("85x60mm"), None, false),
        style(Some("70x40mm"), Some(7.0), true),
        style(Some("180x80mm"), Some(9.0), false),
        style(Some("90x200mm"), Some(10.0), true),
    ]
}

fn check_all_styles(name: &str, figure: &impl Figure) {
    register().expect("the font");
    styles().iter().for_each(|style| check(name, figure, style));
}

fn subtitle() -> Vec<String> {
    ["KTH-SP2-1996-2.1-cln", "10×10", "conservative[reserve=4]", "28,489 jobs", "least mean first"]
        .map(str::to_string)
        .to_vec()
}

fn names(count: usize) -> Vec<String> {
    let some = ["mc1x1 (2,13,20,6)", "hilbert-best-fit", "shuffled-row-major-sum-of-squares", "mm"];
    (0..count).map(|i| format!("{}{}", some[i % some.len()], i / some.len())).collect()
}

fn lines(count: usize, y: impl Fn(usize, f64) -> f64) -> Vec<Line> {
    let points =
        |i: usize| (1..9).map(f64::from).map(|x| Point::new(1000.0 * x, y(i, x))).collect();
    names(count).into_iter().enumerate().map(|(i, name)| Line { name, points: points(i) }).collect()
}

#[test]
fn texts_of_bar_figures_do_not_overlap() {
    for count in [1, 2, 12] {
        for most in [300.0, 90_000.0] {
            let strategies = names(count).into_iter().enumerate().map(|(i, name)| StrategyBar {
                name,
                mean_pairwise_l1: 270.0 + most * i as f64 / 12.0,
                half_width: Some(3.0),
            });
            check_all_styles(
                "strategies",
                &StrategyBars { subtitle: subtitle(), strategies: strategies.collect() },
            );
        }
        let measures = ["Pairwise L₁ (hops)", "Dispersal (%)", "Turnaround (s)", "Utilization (%)"];
        let value = |i: usize| vec![Some(43.0 * i as f64), None, Some(210_311.0), Some(99.0)];
        let strategies = names(count).into_iter().enumerate().map(|(i, name)| (name, value(i)));
        check_all_styles(
            "comparison",
            &Comparison {
                subtitle: subtitle(),
                measures: measures.map(str::to_string).to_vec(),
                strategies: strategies.collect(),
                ..Comparison::default()
            },
        );
        // The marks are those that `contend` draws.
        let marks = |i: usize| {
            let marks = Marks { trimmed_mean: 1.0 + 0.2 * i as f64, p95: 1.5 + 0.7 * i as f64 };
            vec![Some(marks), None]
        };
        let rows = names(count).into_iter().enumerate();
        check_all_styles(
            "contention",
            &Comparison {
                subtitle: subtitle(),
                measures: ["Stretch", "Distance (hops)"].map(str::to_string).to_vec(),
                strategies: rows.map(|(i, name)| (name, vec![Some(1.0), Some(i as f64)])).collect(),
                begins: vec![1.0, 0.0],
                marks: (0..count).map(marks).collect(),
                intervals: vec![vec![Some([0.9, 1.3]), None]; count],
            },
        );
        let ties = TieMetrics { tied_decisions: 3, tied_percent: 99.5, mean_tied: 12.5 };
        let row = |label: String| TieRow { label, scheduler: "fcfs".to_string(), ties };
        let rows = names(count).into_iter().map(row).collect();
        check_all_styles("ties", &Ties { subtitle: subtitle(), rows });
        let row = |(i, label): (usize, String)| PublishedRow {
            group: format!("group {}", i / 4),
            label,
            printed: 4000.0,
            ours: 5000.25 * (i + 1) as f64,
            margin: 0.5,
            reach: Some(10.0),
        };
        for values in [false, true] {
            check_all_styles(
                "beside",
                &PublishedComparison {
                    title: "Johnson, Bunde, Leung, Fig. 18: published numbers and ours".to_string(),
                    subtitle: subtitle(),
                    values,
                    x_title: "finish time (time units)".to_string(),
                    rows: names(count).into_iter().enumerate().map(row).collect(),
                },
            );
        }
    }
}

#[test]
fn texts_of_line_figures_do_not_overlap() {
    let titled = |lines| Lines {
        title: "Mean turnaround of all jobs against the offered load".to_string(),
        subtitle: subtitle(),
        x_title: "Offered load (share of the machine's processor-time)".to_string(),
        y_title: "Mean turnaround of all jobs (time units)".to_string(),
        lines,
        ..Lines::default()
    };
    for count in [0, 1, 2, 12] {
        let figure = titled(lines(count, |i, x| 1e5 * x * (i + 1) as f64));
        check_all_styles("lines", &figure);
        check_all_styles(
            "lines, logarithmic",
            &Lines { log_x: true, log_y: true, ..figure.clone() },
        );
        check_all_styles("areas", &Areas(figure));
        let percent = lines(count, |i, x| x * (i + 1) as f64 / 2.0);
        check_all_styles(
            "percent",
            &Lines { y_title: "Utilization (%)".to_string(), ..titled(percent) },
        );
    }
    let spread = Distribution::of((0..500).map(|i| f64::from(i * i)));
    for count in [1, 7, 12] {
        let curve = |name: String| {
            let strategies = vec![name.clone()];
            SpreadCurve { name, strategies, spread: &spread }
        };
        let named = names(count).into_iter().map(curve).collect();
        let words = AxisLabels { zero: true, ..STRETCHES };
        check_all_styles("spreads", &spreads(words, subtitle(), named, 12).expect("a spread"));
    }
    let span = |i: u32| Span { day: f64::from(i), utilization: 60.0, waiting: f64::from(i) };
    check_all_styles(
        "load",
        &Load {
            subtitle: subtitle(),
            strategy: "shuffled-row-major-best-fit (same load under all 48 strategies)".to_string(),
            share: LoadShare::Processors,
            spans: (0..90).map(span).collect(),
            days: 1.0,
            utilization: 64.0,
        },
    );
    let change = |size: u32| SizeChange {
        size,
        size_rank: size,
        jobs: if size == 7 { 1 } else { 5000 / u64::from(size) },
        improvement_percent: 30.0 - f64::from(size),
        fixed: size == 1,
    };
    for order in [Order::Size, Order::Rank] {
        check_all_styles(
            "improvement",
            &Improvement {
                subtitle: subtitle(),
                order,
                changes: (1..60).map(change).collect(),
                half_widths: Vec::new(),
                reach: [0.0; 2],
            },
        );
    }
    let curve = |(i, name): (usize, String)| ConvergenceCurve {
        name,
        steps: (1..9).map(|x| (f64::from(x * x), f64::from(x) + i as f64)).collect(),
        work: 100.0,
        references: vec![("(2,13,20,6), given".to_string(), 1.5)],
    };
    let curves = names(4).into_iter().enumerate().map(curve).collect();
    check_all_styles("convergence", &Convergence { subtitle: subtitle(), curves });
    let shift = |i: i64| Shift { job: i, submit: 40_000 * i, later: 7200 * (i % 5 - 2) };
    let shifts = (0..90).map(shift).collect();
    check_all_styles(
        "shifts",
        &Shifts {
            title: "Jobs that start earlier or later".to_string(),
            subtitle: subtitle(),
            shifts,
        },
    );
    let panel = ScatterPanel {
        name: "r 0.37, by rank 0.35, n 120".to_string(),
        x_title: "Pairwise L1 (hops)".to_string(),
        y_title: "Placement factor".to_string(),
        points: (0..90).map(|i| (f64::from(i * i), f64::from(i % 9))).collect(),
    };
    for count in [0, 12] {
        check_all_styles(
            "scatter",
            &Scatter {
                title: "Allocators: correlation of means".to_string(),
                subtitle: subtitle(),
                names: names(count),
                panels: vec![panel.clone(); 6],
            },
        );
    }
}

#[test]
fn texts_of_maps_do_not_overlap() {
    let title = "lublin-10x10 on torus[x]:10x10, conservative, shuffled-row-major-best-fit";
    for sides in [[10, 10, 1], [16, 24, 1], [8, 8, 8], [4, 30, 1]] {
        let cells: usize = sides.iter().product();
        for jobs in [0, 1, 40] {
            check_all_styles(
                "machine",
                &MachineMap {
                    title: title.to_string(),
                    subtitle: subtitle(),
                    sides,
                    holders: (0..cells).map(|cell| (jobs > 0).then(|| cell % jobs)).collect(),
                    jobs: (0..jobs as i64).map(|job| 10_000 + job).collect(),
                    ..MachineMap::default()
                },
            );
        }
        let one = |number: usize| CandidateMap {
            number,
            lines: vec![format!("candidate {number}"), "score 312, tie value −1,234".to_string()],
            centre: 0,
            shells: vec![0; cells],
            chosen: (0..cells).map(|cell| cell < 4).collect(),
            weights: (0..cells).map(|cell| (cell < 9).then_some((TieTerm::Free, -12))).collect(),
        };
        check_all_styles(
            "candidates",
            &Candidates {
                title: title.to_string(),
                subtitle: subtitle(),
                sides,
                states: vec![ProcessorState::Free; cells],
                candidates: (1..6).map(one).collect(),
                scan_radius: Some(2),
                ..Candidates::default()
            },
        );
    }
    for (window, epoch) in [([0, 100_000], Some(843_436_800)), ([0, 100_000], None), ([0, 9], None)]
    {
        let bar = |i: i64| Bar { job: i, start: 900 * i, end: 900 * i + 9000, first: 3, count: 30 };
        check_all_styles(
            "gantt",
            &Gantt {
                title: title.to_string(),
                subtitle: subtitle(),
                window,
                epoch,
                processors: 100,
                leaves: Vec::new(),
                order: "along the hilbert curve".to_string(),
                names: JobNames::default(),
                bars: (0..10).map(|i| Bar { first: 10 * i as usize, count: 9, ..bar(i) }).collect(),
            },
        );
    }
    let values = |rows: usize, columns: usize| {
        (0..rows).map(|y| (0..columns).map(|x| Some((x * y) as f64)).collect()).collect()
    };
    check_all_styles(
        "heat map",
        &HeatMap {
            title: "Vectors found on one trace, tried on others".to_string(),
            subtitle: subtitle(),
            x_title: "Trace".to_string(),
            y_title: "Tie vector, and where it was found".to_string(),
            value_title: "Improvement (%)".to_string(),
            columns: names(6),
            rows: names(6),
            values: values(6, 6),
        },
    );
    for sides in [(10, 10), (30, 6)] {
        let map = |name: &str| LinkMap { name: name.to_string(), values: values(sides.1, sides.0) };
        let maps = ["mean of the existing links", "-x (to the left)", "+x (to the right)"];
        let maps = maps.into_iter().chain(["-y (down)", "+y (up)"]);
        check_all_styles(
            "links",
            &LinkMaps {
                title: "Use of the links".to_string(),
                subtitle: subtitle(),
                value_title: "time reserved (%)".to_string(),
                sides,
                maps: maps.map(map).collect(),
                most: 0.0,
            },
        );
    }
    for count in [1, 9] {
        let map = |i| SurfaceMap { name: format!("SR = {i}"), values: values(11, 11) };
        check_all_styles(
            "surface",
            &Surface {
                title: "Improvement by tie vector".to_string(),
                subtitle: subtitle(),
                value_title: "Improvement (%)".to_string(),
                maps: (0..count).map(map).collect(),
                cells: 11,
            },
        );
    }
}
