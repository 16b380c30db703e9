use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::{
    Just, ProptestConfig, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use super::save::{pdf_of as pdf, svg};
use super::style::{Colour, register, sequential};
use super::*;
use replay_engine::metrics::{
    DeferredSeries, PairwiseMetrics, RunMetrics, ScheduleMetrics, TieStatistics, by_size,
};
use replay_engine::workload::Job;
use replay_experiment::{RunKey, RunResult};

/// Returns a run of four jobs on 16 processors with these pairwise L1 sums.
pub(super) fn run(scheduler: &str, tie: Option<&str>, seed: u64, pairwise: [u64; 4]) -> RunResult {
    let job = |number: i64, size| Job {
        number,
        submit: 40_000 * number,
        run: 90_000,
        estimate: 90_000,
        size,
        line: 0,
        shape: None,
        limit: None,
    };
    let jobs = [job(0, 1), job(1, 4), job(2, 4), job(3, 16)];
    let starts = [0, 40_000, 80_000, 200_000];
    let mut ties = TieStatistics::default();
    [1, 3, 5, 1].into_iter().for_each(|sets| ties.record(sets));
    let key = RunKey {
        trace: "made".to_string(),
        topology: "4x4".to_string(),
        scheduler: scheduler.to_string(),
        allocator: "mc1x1".to_string(),
        tie: tie.map(str::to_string),
        policy: "johnson".to_string(),
        seed,
        copy: 0,
    };
    let ties = tie.is_none().then_some(ties);
    let total = pairwise.iter().sum();
    RunResult {
        run: 0,
        key,
        turned_away: Vec::new(),
        groups: Vec::new(),
        processors: 16,
        metrics: RunMetrics {
            pairwise: PairwiseMetrics::new(total, jobs.len() as u64),
            ties: ties.and_then(|ties| ties.metrics()),
            schedule: ScheduleMetrics::new(&jobs, &starts, 16),
            ..RunMetrics::default()
        },
        by_size: by_size::by_size(&jobs, &starts, &pairwise),
        jobs: Vec::new(),
        allocations: Vec::new(),
        over_log: None,
        series: Arc::new(DeferredSeries::new(&jobs, &starts)),
        hierarchy_series: Default::default(),
        seconds: 0.0,
        allocator_seconds: None,
    }
}

fn results() -> Vec<RunResult> {
    vec![
        run("fcfs", None, 0, [0, 8, 10, 640]),
        run("fcfs", Some("2,13,20,6"), 0, [0, 8, 8, 640]),
        run("easy", None, 0, [0, 9, 10, 640]),
        run("easy", Some("1,1,1,1"), 2, [0, 9, 10, 640]),
    ]
}

/// Checks that compared figures share one scale.
#[test]
fn improvement_figures_of_a_gallery_share_one_scale() {
    let results = [
        run("fcfs", None, 1, [0, 8, 10, 640]),
        run("fcfs", Some("2,13,20,6"), 1, [0, 8, 8, 640]),
        run("fcfs", Some("1,1,1,1"), 1, [0, 8, 2, 640]),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let paths = gallery(&default_plots(dir.path()), &results, &[]).expect("drawn");
    let drawn = paths.iter().filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("improvement") && name.ends_with(".svg")
    });
    let texts: Vec<String> = drawn.map(|path| fs::read_to_string(path).expect("text")).collect();
    assert_eq!(texts.len(), 4);
    // Labels of the left axis are aligned by their ends.
    let labels = |text: &String| -> Vec<String> {
        let texts = text.split("<text ").filter(|text| text.contains("text-anchor=\"end\""));
        let labels = texts.filter_map(|text| text.split_once('>')?.1.split_once('<'));
        labels.map(|(label, _)| label.trim().to_string()).collect()
    };
    let first = labels(&texts[0]);
    assert!(first.len() > 2, "{first:?}");
    assert!(texts.iter().all(|text| labels(text) == first));
    assert!(texts.iter().all(|text| text.contains("all improvement figures share one scale")));
}

fn default_plots(dir: &Path) -> Plots {
    Plots::new(dir, FigureStyle::default())
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().filter_map(|path| path.file_name()?.to_str()).collect()
}

#[test]
fn a_gallery_draws_all_applicable_figures_reproducibly() {
    let (a, b) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let results = results();
    let first = gallery(&default_plots(a.path()), &results[..3], &[]).expect("drawn");
    let second = gallery(&default_plots(b.path()), &results[..3], &[]).expect("drawn");
    let svgs: Vec<_> = names(&first).into_iter().filter(|name| name.ends_with("svg")).collect();
    let expected = [
        "improvement-by-size--made--4x4--fcfs--mc1x1-2-13-20-6.svg",
        "improvement-by-rank--made--4x4--fcfs--mc1x1-2-13-20-6.svg",
        "strategies--made--4x4--fcfs.svg",
        "load--made--4x4--fcfs--mc1x1.svg",
        "load--made--4x4--easy--mc1x1.svg",
        "ties--made--4x4--fcfs-easy--mc1x1.svg",
    ];
    assert_eq!(svgs, expected);
    // Each figure is saved as SVG, PNG, PDF, CSV and caption.
    assert_eq!(first.len(), 5 * expected.len());
    assert_eq!(fs::read_dir(a.path()).expect("the folder").count(), first.len());
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(fs::read(one).expect("a file"), fs::read(other).expect("a file"), "{one:?}");
    }
}

#[test]
fn improvement_requires_a_baseline_with_the_same_seed() {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = gallery(&default_plots(dir.path()), &results()[2..], &[]).expect("drawn");
    assert!(names(&paths).iter().all(|name| !name.starts_with("improvement")));
    assert!(gallery(&default_plots(dir.path()), &[], &[]).expect("nothing to draw").is_empty());
}

#[test]
fn the_csv_of_an_improvement_contains_the_drawn_data() {
    let results = results();
    let changes = by_size::improvement(&results[0].by_size, &results[1].by_size, 16);
    let figure = Improvement {
        subtitle: Vec::new(),
        order: Order::Rank,
        changes,
        half_widths: Vec::new(),
        reach: [0.0; 2],
    };
    let percent = 100.0 * (9.0 - 8.0) / 9.0;
    let rows = [
        "size,size_rank,jobs,improvement_percent,fixed".to_string(),
        format!("4,1,2,{percent},false"),
        "16,2,1,0,true".to_string(),
        "1,3,1,0,true".to_string(),
    ];
    assert_eq!(figure.table().csv().lines().collect::<Vec<_>>(), rows);
    register().expect("the font");
    let drawn = svg(&figure).expect("drawn");
    assert!(drawn.contains("50.0 % of jobs"));
    // The colour occurs twice: in the one bar (an improvement) and in the square of the legend.
    assert_eq!(drawn.matches("fill=\"#0072B2\"").count(), 2);
}

#[test]
fn bars_of_similar_values_are_enlarged_with_a_note() {
    register().expect("the font");
    let figure = |values: [f64; 2]| StrategyBars {
        subtitle: Vec::new(),
        strategies: values
            .map(|v| StrategyBar { name: format!("s{v}"), mean_pairwise_l1: v, half_width: None })
            .to_vec(),
    };
    let has_note =
        |figure: &StrategyBars| svg(figure).expect("drawn").contains("does not begin at 0");
    assert!(has_note(&figure([575.0, 564.0])));
    assert!(!has_note(&figure([575.0, 1200.0])));
    assert!(!has_note(&figure([575.0, 575.0])));
    assert_eq!(figure([2.0, 1.0]).table().csv(), "strategy,mean_pairwise_l1\ns1,1\ns2,2\n");
}

#[test]
fn load_is_in_days_and_percent() {
    register().expect("the font");
    let run = &results()[0];
    let load =
        Load::new(Vec::new(), String::new(), &run.series, 16, run.metrics.schedule.utilization);
    let all = load.spans.iter().map(|span| span.utilization).sum::<f64>() / load.spans.len() as f64;
    assert!((all - load.utilization).abs() < 1e-9, "{all} {}", load.utilization);
    let end = load.spans.last().expect("spans").day + load.days;
    assert!((end - 290_000.0 / 86_400.0).abs() < 1e-9, "{end}");
    // With two slots per processor, the share of held slots is half of the utilization.
    let shared =
        Load::of_slots(Vec::new(), String::new(), &run.series, 32, load.utilization / 200.0);
    let all = shared.spans.iter().map(|span| span.utilization).sum::<f64>();
    assert!((all / shared.spans.len() as f64 - load.utilization / 2.0).abs() < 1e-9, "{all}");
    let drawn = svg(&shared).expect("drawn");
    assert!(drawn.contains("Slots held (%)") && !drawn.contains("tilization"));
}

/// Checks that a PDF has the page size in points, and that its text can be extracted. For this purpose, the embedded
/// subset of the font maps each glyph to its characters.
#[test]
fn a_pdf_embeds_its_text_and_is_reproducible() {
    register().expect("the font");
    let title = "Zug — ∑ 3 %".to_string();
    let drawn = pdf(&Lines { title, ..Lines::default() }).expect("drawn");
    let text = String::from_utf8_lossy(&drawn);
    assert!(text.starts_with("%PDF-1.7") && text.trim_end().ends_with("%%EOF"));
    assert!(text.contains("/MediaBox [0 0 1000 620]"), "{text}");
    for word in ["REPLAY+DejaVuSans-Bold", "/ToUnicode", "/FontFile2", "/Identity-H"] {
        assert!(text.contains(word), "{word}");
    }
    assert!(drawn.len() < 40_000, "{} bytes", drawn.len());
    // Repeated rendering gives equal bytes, because the document contains no dates or host names.
    let title = "Zug — ∑ 3 %".to_string();
    assert_eq!(pdf(&Lines { title, ..Lines::default() }).expect("drawn"), drawn);
}

#[test]
fn an_svg_has_its_natural_size_and_a_fallback_font() {
    register().expect("the font");
    let drawn = svg(&Lines { title: "a < b".to_string(), ..Lines::default() }).expect("drawn");
    assert!(drawn.starts_with("<svg width=\"1000\" height=\"620\""));
    assert!(drawn.contains("viewBox=\"0 0 2000 1240\""));
    assert!(drawn.contains("sans-serif") && drawn.contains("a &lt; b"));
}

#[test]
fn cells_with_commas_and_quotes_are_quoted() {
    let mut table = Table::new(&["a"]);
    table.row(&["x, \"y\""]);
    assert_eq!(table.csv(), "a\n\"x, \"\"y\"\"\"\n");
}

#[test]
fn the_sequential_colours_grow_lighter() {
    let light = |Colour(r, g, b)| u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114;
    let lights: Vec<_> = (0..=100).map(|i| light(sequential(f64::from(i) / 100.0))).collect();
    assert!(lights.windows(2).all(|pair| pair[0] <= pair[1]), "{lights:?}");
}

/// Generates any number, including numbers that cannot be plotted.
fn number() -> impl proptest::strategy::Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -1e6..1e6, Just(0.0), Just(f64::NAN)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_numbers_can_be_drawn(
        points in proptest::collection::vec((number(), number(), proptest::option::of((number(), number()))), 0..8),
        log_x in any::<bool>(),
        log_y in any::<bool>(),
    ) {
        register().expect("the font");
        let points = points.into_iter().map(|(x, y, error)| Point { x, y, error }).collect();
        let line = Line { name: "line".to_string(), points };
        let drawn = svg(&Lines { log_x, log_y, lines: vec![line.clone(), line], ..Lines::default() });
        let drawn = drawn.expect("drawn");
        prop_assert!(!drawn.contains("NaN"));
        prop_assert!(drawn.len() < 1_000_000);
    }

    #[test]
    fn any_search_can_be_drawn(
        values in proptest::collection::vec(proptest::collection::vec(proptest::option::of(number()), 0..4), 0..4),
        steps in proptest::collection::vec((number(), number()), 0..6),
        maps in 0usize..18,
    ) {
        register().expect("the font");
        let map = |i: usize| SurfaceMap { name: format!("SR = {i}"), values: values.clone() };
        let figure = Surface { maps: (0..maps).map(map).collect(), cells: 4, ..Surface::default() };
        prop_assert!(!svg(&figure).expect("drawn").contains("NaN"));
        prop_assert_eq!(figure.table().csv().lines().count(), 1 + 16 * maps);
        let references = steps.iter().map(|step| ("given".to_string(), step.1)).collect();
        let curve = ConvergenceCurve { name: "search".to_string(), steps: steps.clone(), work: 9.0, references };
        let figure = Convergence { subtitle: Vec::new(), curves: vec![curve] };
        prop_assert!(!svg(&figure).expect("drawn").contains("NaN"));
        prop_assert_eq!(figure.table().csv().lines().count(), 1 + 2 * steps.len());
    }

    #[test]
    fn any_matrix_can_be_drawn(values in proptest::collection::vec(proptest::collection::vec(proptest::option::of(number()), 0..5), 0..5)) {
        register().expect("the font");
        let labels = |n: usize| (0..n).map(|i| i.to_string()).collect();
        let figure = HeatMap { columns: labels(4), rows: labels(5), values, ..HeatMap::default() };
        prop_assert!(svg(&figure).expect("drawn").ends_with("</svg>\n"));
        prop_assert_eq!(figure.table().csv().lines().count(), 21);
    }
}
