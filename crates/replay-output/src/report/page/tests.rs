use super::html::{format_value, rounded};
use super::verdict::JobComparisons;
use super::{Answer, Heading, StoredFigure};
use super::{Folder, MOST_ROWS, StoredManifest};
use polars::prelude::{Column, DataFrame, DataType};
use replay_engine::metrics::SizeRow;
use replay_engine::table::{Kind, Table, TableInfo, Value};
use replay_experiment::contention::ContentionRun;
use replay_experiment::search::SearchRow;
use replay_experiment::shaken::ShakenRow;
use replay_experiment::sweep::Build;
use replay_experiment::{RunResult, WithRun};
use replay_results::ResultTable;
use replay_results::compare::jobs_of;
use replay_results::read::ReadError;

fn page(folders: &[Folder], published: &[(String, ResultTable)]) -> String {
    super::page(&Heading::default(), folders, published, &Build::default())
}

fn sentences(folder: &Folder) -> Vec<String> {
    let comparisons = match &folder.comparisons[..] {
        [] => JobComparisons::NoTable,
        comparisons => JobComparisons::Computed(comparisons),
    };
    super::sentences(&folder.tables, comparisons)
}

/// Returns a table from lines of fields separated by bars.
fn records(name: &str, text: &str) -> ResultTable {
    let known = [
        TableInfo::of::<RunResult>(),
        TableInfo::of::<WithRun<'_, SizeRow>>(),
        TableInfo::of::<ShakenRow>(),
        TableInfo::of::<ContentionRun>(),
        TableInfo::of::<SearchRow>(),
    ];
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('|').collect()).collect();
    let mut table = ResultTable::new(name, &known, DataFrame::empty());
    let declared = |title: &str| {
        let mut columns = table.info.iter().flat_map(|info| &info.columns);
        columns.find(|column| column.name.text() == title).map(|column| column.kind)
    };
    let column = |(place, title): (usize, &&str)| {
        let fields = rows[1..].iter().map(|row| Some(row[place]).filter(|text| !text.is_empty()));
        let column = Column::new((*title).into(), fields.collect::<Vec<_>>());
        match declared(title) {
            Some(Kind::I64) => column.cast(&DataType::Int64),
            Some(Kind::U64) => column.cast(&DataType::UInt64),
            Some(Kind::F64) => column.cast(&DataType::Float64),
            _ => Ok(column),
        }
    };
    let columns = rows[0].iter().enumerate().map(column).collect::<Result<_, _>>();
    table.frame = DataFrame::new(rows.len() - 1, columns.expect("values")).expect("columns");
    table
}

fn manifest(json: serde_json::Value) -> StoredManifest {
    serde_json::from_value(json).expect("a manifest")
}

fn folder(tables: &[(&str, &str)]) -> Folder {
    Folder {
        name: "out/<one>".to_string(),
        manifest: manifest(serde_json::json!({
            "program": "replay", "version": "1", "commit": "c",
            "command": ["replay", "--alloc", "mc1x1[a b]"],
            "configuration": {"traces": [{"name": "T", "topology": "4x4", "jobs": 1234,
                "cleaning": {"read": 1300, "changed": 5, "drops": {"size-unknown": 66}}}]},
        })),
        tables: tables.iter().map(|(name, text)| records(name, text)).collect(),
        missing: vec!["lost.csv".to_string()],
        figures: vec![StoredFigure {
            stem: "a--b".to_string(),
            svg: "<svg fill=\"#123\">50%</svg>".to_string(),
            caption: None,
        }],
        answer: None,
        comparisons: Vec::new(),
        explore: None,
    }
}

const RUNS: &str = "run|trace|topology|scheduler|allocator|tie|policy|seed|copy|mean_pairwise_l1
0|T|4x4|fcfs|mc1x1||p|0|0|200.0
1|T|4x4|fcfs|mc1x1|2,1,1,1|p|0|0|190.0
2|T|4x4|easy|mc1x1||p|0|0|100.0
3|T|4x4|easy|mc1x1|2,1,1,1|p|0|0|110.0";

#[test]
fn names_the_best_strategy_of_each_setting() {
    let page = page(&[folder(&[("runs", RUNS)])], &[]);
    for expected in [
        "T, 4x4, fcfs, p: jobs are closest together under mc1x1 (2,1,1,1): mean pairwise L1 190.0 hops, \
         5.000 % less than under mc1x1 (200.0)",
        "T, 4x4, easy, p: jobs are closest together under mc1x1: mean pairwise L1 100.0 hops, 9.091 % less",
        "no interval, because the directory has no jobs.parquet",
        "Missing from the directory: lost.csv.",
        "T on 4x4: 1,234 jobs kept of 1,300 records, 5 changed, 66 dropped (size-unknown)",
        "replay --alloc &#39;mc1x1[a b]&#39;".replace("&#39;", "'").as_str(),
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
}

#[test]
fn compares_the_top_strategy_by_its_jobs() {
    let mut folder = folder(&[("runs", RUNS)]);
    let job = |run: i64, i: i64| (i, 50_000 * i, 4, [1.0, 2.0, 1.0, 20.0 - run as f64, 2.0]);
    let jobs = |run: i64| Ok(jobs_of(&(0..100).map(|i| job(run, i)).collect::<Vec<_>>())?);
    folder.comparisons = super::compare_top_strategies(&folder.tables, jobs).expect("no errors");
    let text = sentences(&folder);
    assert_eq!(
        text[0],
        "T, 4x4, fcfs, p: jobs are closest together under mc1x1 (2,1,1,1): mean pairwise L1 190.0 hops, 5.00 % less \
         (95 %: 5.00 to 5.00) than under mc1x1, mean processor distance the same for every job. Waits and \
         turnarounds are the same under all 2 strategies: none of them changes the schedule."
    );
    assert_eq!(text.len(), 3, "a sentence per setting and the method");
    let unknown = |run| Err(ReadError::Table { path: "t".into(), what: format!("no run {run}") });
    let error = super::compare_top_strategies(&folder.tables, unknown).expect_err("no jobs");
    assert!(error.to_string().contains("no run 1"), "{error}");
}

/// Checks that a strategy that folds jobs is not ranked by distance, because folding shortens distances.
#[test]
fn does_not_rank_strategies_that_fold_jobs() {
    let runs = "run|trace|topology|scheduler|allocator|tie|policy|seed|copy|mean_pairwise_l1|folded_percent\n\
                0|t|4x4|fcfs|a||p|0|0|9|\n1|t|4x4|fcfs|b||p|0|0|10|0\n2|t|4x4|fcfs|c||p|0|0|1|40\n";
    let text = sentences(&folder(&[("runs", runs)])).join(" ");
    assert!(
        text.contains("closest together under a") && text.contains("less than under b"),
        "{text}"
    );
    assert!(text.contains("Not ranked: c,"), "{text}");
    // If all strategies fold jobs, all strategies are ranked.
    let all = runs.replace("9|\n", "9|10\n").replace("10|0\n", "10|10\n");
    let text = sentences(&folder(&[("runs", &all)])).join(" ");
    assert!(text.contains("closest together under c") && !text.contains("Not ranked"), "{text}");
}

#[test]
fn shows_shares_in_percent() {
    let runs = "run|utilization\n0|0.69315\n1|0.5";
    let page = page(&[folder(&[("runs", runs)])], &[]);
    assert!(page.contains(">utilization (%)</th>"), "{page}");
    assert!(page.contains("<td class=\"number\" data-value=\"0.69315\">69.31</td>"), "{page}");
}

/// The intervals of the means do not decide: on the same copies, strategies may differ although these intervals overlap,
/// and may not differ although these intervals do not overlap.
#[test]
fn judges_by_paired_differences_over_perturbed_copies() {
    let header = "run|metric|mean|half_width|copies|compared_with|paired_difference|paired_half_width|distinct";
    let runs: String = RUNS.lines().take(3).map(|line| format!("{line}\n")).collect();
    let sentence = |runs: &str, rows: &[&str]| {
        let rows: Vec<String> =
            rows.iter().map(|row| row.replacen('|', "|mean_pairwise_l1|", 1)).collect();
        let shaken = format!("{header}\n{}", rows.join("\n"));
        sentences(&folder(&[("runs", runs), ("shaken", &shaken)])).join(" ")
    };
    let overlapping = sentence(&runs, &["0|201|20|5||||", "1|191|20|5|0|-10|3|yes"]);
    for expected in [
        "mean pairwise L1 191.0 ± 20.00 hops, 4.975 % less than under mc1x1 (201.0 ± 20.00)",
        "; paired difference -10.00 ± 3.000 hops (better) (means over 5 perturbed copies)",
    ] {
        assert!(overlapping.contains(expected), "{overlapping}");
    }
    let apart = sentence(&runs, &["0|201|1|5||||", "1|191|1|5|0|-10|12|no"]);
    assert!(
        apart.contains("; paired difference ~ -10.00 ± 12.00 hops (not significant)"),
        "{apart}"
    );
    // The reference is the top strategy.
    let reference = sentence(&runs, &["0|191|1|5||||", "1|201|1|5|0|10|3|yes"]);
    assert!(reference.contains("under mc1x1: "), "{reference}");
    assert!(reference.contains("; paired difference -10.00 ± 3.000 hops (better)"), "{reference}");
    // The reference is neither of the two best strategies.
    let third = format!("{runs}4|T|4x4|fcfs|mm||p|0|0|180.0\n");
    let rows = ["0|201|1|5||||", "1|191|1|5|0|-10|3|yes", "4|190|1|5|0|-11|12|no"];
    let third = sentence(&third, &rows);
    let expected = "; paired differences from mc1x1: ~ -11.00 ± 12.00 hops (not significant) under mm, \
                    -10.00 ± 3.000 hops (better) under mc1x1 (2,1,1,1)";
    assert!(third.contains(expected), "{third}");
    for text in [overlapping, apart, reference, third] {
        assert!(!text.contains("overlap") && !text.contains("chance"), "{text}");
    }
}

#[test]
fn escapes_markup_in_names_and_figures() {
    let page = page(&[folder(&[])], &[]);
    assert!(page.contains("out/&lt;one&gt;") && !page.contains("out/<one>"));
    assert!(page.contains("%3Csvg fill='%23123'%3E50%25%3C/svg%3E") && !page.contains("<svg"));
    // All links point inside the page.
    let mut links = page.match_indices("href=\"").chain(page.match_indices("src=\""));
    assert!(links.all(|(at, _)| {
        let rest = page[at..].split_once('"').expect("a quote").1;
        rest.starts_with('#') || rest.starts_with("data:")
    }));
}

#[test]
fn truncates_long_tables_with_a_note() {
    let mut text = "run|trace\n".to_string();
    (0..MOST_ROWS + 5).for_each(|run| text += &format!("{run}|T\n"));
    let page = page(&[folder(&[("by_size", text.trim_end())])], &[]);
    assert_eq!(page.matches("<tr>").count(), 1 + MOST_ROWS);
    assert!(page.contains("The first 300 of 305 rows; by_size.csv has all."));
    assert!(page.contains("The same in all rows: trace T."));
}

#[test]
fn counts_verdicts_of_published_numbers() {
    let checks = records(
        "verify",
        "figure|published|ours|verdict\na|1|1|same\nb|1|2|not judged: why\nc|1|1|same",
    );
    let page = page(&[], &[("checks.csv".to_string(), checks)]);
    assert!(page.contains("Of 3 published numbers: 2 same, 1 not judged."), "{page}");
}

#[test]
fn rounds_numbers_and_keeps_their_full_values() {
    let short = ["564.8654321", "0.0305", "28489", "1e-7", "-0.5", "word", "", "0.0"];
    let short = short.map(|text| format_value(&Value::Text(text.into())));
    assert_eq!(short, ["564.9", "0.03050", "28,489", "0.00000010", "-0.5000", "word", "", "0"]);
    assert_eq!(format_value(&Value::F64(28489.0)), "28,489");
    assert_eq!(rounded(12345.6), "12,346");
    let runs = "run|a\n0|564.8654321\n1|2.5";
    let page = page(&[folder(&[("runs", runs)])], &[]);
    assert!(page.contains("<td class=\"number\" data-value=\"564.8654321\">564.9</td>"));
}

#[test]
fn summarizes_the_best_vectors_of_searches() {
    let rows = "searched|rank|tie|improvement_percent|test_improvement_percent|distinct_from_best
T|||0.0||
T|1|2,1,1,1|3.5|1.25|same
T|2|3,1,1,1|3.4|1.5|no
T|3|4,1,1,1|2.0|0.5|yes
U|1|9,1,1,1|1.0||";
    let text = super::searched(&records(SearchRow::NAME, rows));
    assert_eq!(
        text,
        [
            "T: of 3 vectors in the table, (2,1,1,1) ranks first, 3.500 % better than without a vector; 1.250 % on \
             held-out jobs; number of other vectors that do not differ significantly over perturbed copies: 1.",
            "U: of 1 vector in the table, (9,1,1,1) ranks first, 1.000 % better than without a vector; evaluated on \
             the jobs of the search; no interval (--shake N gives one).",
        ]
    );
    let plain: String = rows
        .lines()
        .map(|line| line.rsplit_once('|').expect("a column").0.to_string() + "\n")
        .collect();
    assert!(
        super::searched(&records(SearchRow::NAME, plain.trim_end()))[0]
            .ends_with("held-out jobs; no interval (--shake N gives one).")
    );
}

/// Returns the names of all tags of a page outside its style and script.
fn tags(page: &str) -> Vec<&str> {
    let (head, rest) = page.split_once("<style>").expect("a style");
    let (_, rest) = rest.split_once("</style>").expect("its end");
    let (body, script) = rest.split_once("<script>").expect("a script");
    let (_, tail) = script.split_once("</script>").expect("its end");
    let parts = [head, body, tail].map(|part| part.split('<').skip(1));
    parts
        .into_iter()
        .flatten()
        .map(|rest| rest.split([' ', '>', '\n']).next().unwrap_or_default().trim_start_matches('/'))
        .collect()
}

/// Checks that, for any names of traces, files and columns, the page contains only the expected tags and attributes.
#[test]
fn escapes_markup_in_any_text() {
    const ODD: &str = "<script>alert(1)</script><img src=x onerror='a()'>\"'&amp;</table>";
    let odd = || ODD.to_string();
    let rows = |columns: &str| {
        let header = format!("{columns}|{ODD}");
        let row = |first: &str| {
            format!("{first}|{}", [ODD].repeat(header.matches('|').count()).join("|"))
        };
        format!("{header}\n{}\n{}", row("0"), row("1"))
    };
    let mut odd_folder = folder(&[]);
    odd_folder.name = odd();
    odd_folder.manifest = manifest(serde_json::json!({
        "program": "replay", "kind": ODD, "version": ODD, "commit": ODD, "command": ["replay", ODD],
        "configuration": {
            "seeds": [1], "policy": ODD, "pattern": ODD,
            "traces": [{"name": ODD, "topology": ODD, "jobs": 1, "digest": ODD}],
        },
    }));
    let columns = "run|trace|topology|scheduler|allocator|tie|policy|seed|copy";
    odd_folder.tables = ["runs", "by_size"].map(|name| records(name, &rows(columns))).into();
    odd_folder.missing = vec![odd()];
    odd_folder.figures = vec![StoredFigure {
        stem: odd(),
        svg: format!("<svg><text a=\"{ODD}\">{ODD}</text></svg>"),
        caption: Some(odd()),
    }];
    let checks = records("verify", &rows("figure|published|ours|verdict"));
    let page = page(&[odd_folder.clone(), odd_folder], &[(odd(), checks)]);
    let own = [
        "!DOCTYPE",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "main",
        "nav",
        "ul",
        "li",
        "a",
        "section",
        "h2",
        "h3",
        "p",
        "dl",
        "dt",
        "dd",
        "details",
        "summary",
        "div",
        "table",
        "thead",
        "tr",
        "th",
        "tbody",
        "td",
        "figure",
        "img",
        "figcaption",
        "span",
        "footer",
    ];
    for tag in tags(&page) {
        assert!(
            own.iter().any(|own| own.eq_ignore_ascii_case(tag)),
            "<{tag}> is not a tag of the page"
        );
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("<img ").count(), page.matches("<img loading=\"lazy\" alt=\"").count());
    assert!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count() > 20, "{page}");
    // Figures are attribute values in quotation marks, and contain no quotation marks.
    for picture in page.split("src=\"").skip(1) {
        let data = picture.split('"').next().unwrap_or_default();
        assert!(data.starts_with("data:image/svg+xml") && !data.contains(['<', '>']), "{data}");
    }
}

/// If most jobs have no contention, all medians are 1 and the strategies are ranked by trimmed means.
#[test]
fn ranks_equal_medians_by_trimmed_means() {
    let header = "run|trace|topology|scheduler|allocator|tie|policy|seed|copy|pattern|median_stretch|\
                  median_stretch_low|median_stretch_high|trimmed_mean_stretch|mean_stretch";
    let rows = |b: &str| {
        format!(
            "{header}\n0|t|4x4|easy|a||p|0|0|n-body|1.0|1.0|1.0|1.25|1.2\n1|t|4x4|easy|b||p|0|0|n-body|{b}|1.9"
        )
    };
    let text = |b: &str| sentences(&folder(&[("contend", &rows(b))])).join(" ");
    // If strategies were ranked by the mean, `a` would be first.
    let equal = text("1.0|1.0|1.0|1.0");
    assert!(
        equal.contains(
            "slow down jobs least under b: median stretch 1.000 (95 %: 1.000 to 1.000), as much as under a (1.000 (95 %: 1.000 \
             to 1.000)); trimmed mean 1.000, 20.00 % less than under a (1.250)"
        ),
        "{equal}"
    );
    let apart = text("0.8|0.7|0.9|2.0");
    assert!(
        apart.contains("under b: median stretch 0.8000 (95 %: 0.7000 to 0.9000), 20.00 % less"),
        "{apart}"
    );
    // Intervals of separate means do not test a difference.
    let alike = text("0.8|0.7|1.1|2.0");
    for text in [apart, alike] {
        let expected = "; not tested, because there is no paired difference (--shake N gives one)";
        assert!(text.contains(expected), "{text}");
    }
}

const COPIES: &str = "run|trace|topology|scheduler|allocator|tie|policy|seed|copy|jobs|mean_wait|mean_bounded_slowdown|utilization|mean_pairwise_l1
0|T|4x4|recorded|a||p|0|0|9|100.0|2.0|0.5|10.0
1|T|4x4|recorded|a||p|0|1|9|100.0|2.0|0.5|10.0
2|T|4x4|recorded|a||p|0|2|9|200.0|2.0|0.5|20.0
3|T|4x4|easy|a||p|0|0|9|50.0|2.0|0.5|10.0
4|T|4x4|easy|a||p|0|1|9|50.0|2.0|0.5|11.0
5|T|4x4|easy|a||p|0|2|9|98.0|2.0|0.5|22.0";

#[test]
fn answers_with_waits_against_the_log_before_distances() {
    let mut folder = folder(&[("runs", COPIES)]);
    let answer = Answer::of(&folder.tables).expect("two runs");
    folder.answer = Some(answer.parts(&|_, _| None).expect("drawn"));
    let page = page(&[folder], &[]);
    // The changes on the copies are -50 % and -51 %; half the width of their interval is 12.706 * 0.5.
    for expected in [
        "Compared: 1 strategy (a) under 2 schedulers (recorded, easy) on 1 trace (T), 9 jobs each, on 2 perturbed copies.",
        "EASY: wait -50.5 % (-56.9 to -44.1), against the log.",
        "Paid for it: under easy, mean pairwise L1 +10.0 % (+10.0 to +10.0).",
        "<th scope=\"col\">run</th><th scope=\"col\" class=\"number\">wait (s)</th>",
        "Mean wait: change against the log",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    // The rows of copies are not on the page.
    let table = page.split("runs: one row").nth(1).or(page.split("<summary>runs").nth(1));
    assert_eq!(
        table.expect("a table").split("</details>").next().map(|of| of.matches("<tr>").count()),
        Some(3)
    );
    let [wait, distance] = [page.find("EASY: wait"), page.find("jobs are closest together")];
    assert!(wait.is_some() && distance.is_none_or(|place| Some(place) > wait));
}

#[test]
fn a_single_run_has_no_answer() {
    let one = folder(&[("runs", COPIES.lines().take(2).collect::<Vec<_>>().join("\n").as_str())]);
    assert!(Answer::of(&one.tables).is_none());
}
