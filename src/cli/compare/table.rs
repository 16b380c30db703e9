//! The printed table of `replay compare`.

use super::run_name;
use replay_engine::metrics::JobMeasures;
use replay_engine::number::{fixed, grouped};
use replay_engine::table::{Name, Table};
use replay_experiment::RunKey;
use replay_experiment::contention::ContentionJobRow;
use replay_experiment::shaken::Verdict;
use replay_output::report::{Align, Sheet, with_unit};
use replay_results::compare::{CONTENDED, Compared, JobTables, REPLAYED};

/// Ranks of columns. In a narrow terminal, the columns with the lowest ranks are omitted first.
const RANKS: [(&str, u8); 15] = [
    ("jobs of", 3),
    ("run", 3),
    ("measure", 3),
    ("processors", 3),
    ("change %", 3),
    ("95 %", 3),
    ("verdict", 3),
    ("base", 2),
    ("mean", 2),
    ("base median", 2),
    ("median", 2),
    ("base trimmed", 2),
    ("trimmed", 2),
    ("less %", 1),
    ("more %", 1),
];

/// Titles of medians and trimmed means.
const ROBUST: [&str; 4] = ["base median", "median", "base trimmed", "trimmed"];

/// Measures with values near 1.
const RATIOS: [Name; 3] = [
    ContentionJobRow::STRETCH,
    ContentionJobRow::PLACEMENT_FACTOR,
    ContentionJobRow::CONTENTION_FACTOR,
];

/// Describes a pair of runs in a line, with the properties in which the runs differ. `folders` has the arguments as
/// typed.
pub fn pair_in_words(runs: [&RunKey; 2], folders: [&str; 2]) -> String {
    let [base, other] = [0, 1].map(|i| format!("{} ({})", folders[i], run_name(runs[i])));
    let differ: Vec<&str> = runs[0].differing(runs[1]).map(named).collect();
    let differ = match &differ[..] {
        [] => String::new(),
        [one] => format!("; they differ in {one}"),
        [some @ .., last] => {
            format!(
                "; they differ in {} and {last}: a change is the joint effect of these differences",
                some.join(", ")
            )
        }
    };
    format!("{other} against {base}{differ}")
}

/// Returns the name that messages use for a part of a run's key, such as "machine" for the topology.
fn named(key: Name) -> &'static str {
    match key {
        RunKey::TOPOLOGY => "machine",
        RunKey::TIE => "tie vector",
        key => key.text(),
    }
}

/// Returns the title of a measure: its name and its unit.
fn titled(measure: Name, tables: &JobTables) -> String {
    match *tables == REPLAYED {
        true => with_unit(&JobMeasures::columns(), measure, measure.text()),
        false => with_unit(&ContentionJobRow::columns(), measure, measure.text()),
    }
}

/// Returns the printed table of comparisons. Each comparison is given with its run, which is compared with a base run.
/// `bases` contains the base runs. A line above the table names the runs and the properties that all runs share.
pub fn sheet(
    rows: &[(RunKey, Compared)],
    bases: &[RunKey],
    folders: [&str; 2],
    tables: &JobTables,
) -> Sheet {
    let of_runs: Vec<&RunKey> = rows.iter().map(|(run, _)| run).collect();
    let several = of_runs.windows(2).any(|pair| pair[0] != pair[1]);
    let names = Names::of(&of_runs);
    let of_sizes = rows.iter().any(|(_, row)| row.sizes[1] < i64::MAX);
    let classes = rows.iter().any(|(_, row)| !row.is_of_all_jobs());
    let mut header = Vec::new();
    if several {
        header.push(("run", Align::Left));
    }
    header.push(("measure", Align::Left));
    if classes {
        header.push((if of_sizes { "processors" } else { "jobs of" }, Align::Right));
    }
    // For results of contend, a single job can decide the order of means, so the median and the trimmed mean are also
    // shown.
    let robust = *tables == CONTENDED;
    header.extend([("jobs", Align::Right), ("base", Align::Right), ("mean", Align::Right)]);
    if robust {
        header.extend(ROBUST.map(|title| (title, Align::Right)));
    }
    header.extend([
        ("change %", Align::Right),
        ("95 %", Align::Right),
        ("less %", Align::Right),
        ("more %", Align::Right),
        ("verdict", Align::Left),
    ]);
    let [base, other] = folders;
    let lead = match (bases, &of_runs[..]) {
        ([one], [run, ..]) => pair_in_words([one, run], folders),
        _ => match names.common.as_str() {
            "" => format!("{other} against {base}"),
            common => format!("{other} against {base}; all runs: {common}"),
        },
    };
    let mut sheet = Sheet::new(&header).ranked(&RANKS).led_by(Some(lead));
    let number = |value: f64, digits: usize| match value.is_finite() {
        true => fixed(value, digits),
        false => "-".to_string(),
    };
    for (run, row) in rows {
        let mut fields = Vec::new();
        if several {
            fields.push(names.short(run));
        }
        fields.push(titled(row.measure, tables));
        if classes {
            fields.push(match row.sizes {
                [_, i64::MAX] => row.class.clone().unwrap_or_else(|| "all".to_string()),
                [low, high] if low == high => low.to_string(),
                [low, high] => format!("{low} to {high}"),
            });
        }
        let [low, high] = row.interval;
        // Ratios near 1 need more digits than seconds and cycles.
        let digits = if RATIOS.contains(&row.measure) { 4 } else { 2 };
        let share = |count: u64| number(100.0 * count as f64 / row.jobs as f64, 1);
        fields.extend([
            grouped(row.jobs),
            number(row.means[0], digits),
            number(row.means[1], digits),
        ]);
        if robust {
            let [medians, trimmed] = [row.medians, row.trimmed_means];
            let values = [medians[0], medians[1], trimmed[0], trimmed[1]];
            fields.extend(values.map(|value| number(value, digits)));
        }
        fields.extend([
            number(row.change, 2),
            match low.is_finite() && high.is_finite() {
                true => format!("{} to {}", number(low, 2), number(high, 2)),
                false => "-".to_string(),
            },
            share(row.lower),
            share(row.higher),
            row.verdict().word().to_string(),
        ]);
        sheet.push(fields);
    }
    sheet.explained_by(legend(rows.iter().map(|(_, row)| row)))
}

/// Returns the legend of `-` and `~` in a table of these comparisons; `None` if the table contains neither symbol.
pub fn legend<'a>(rows: impl Iterator<Item = &'a Compared>) -> Option<String> {
    let (mut dash, mut tilde) = (false, false);
    for row in rows {
        let numbers = [row.means[0], row.means[1], row.change, row.interval[0], row.interval[1]];
        dash |= numbers.iter().any(|number| !number.is_finite());
        tilde |= row.verdict() == Verdict::NotSignificant;
    }
    let marks = [
        (dash, "-: no value, or too few weeks or days with a value for an interval"),
        (tilde, "~: no significant difference at 5 %, or distances that are not comparable"),
    ];
    let marks: Vec<&str> =
        marks.iter().filter(|(occurs, _)| *occurs).map(|(_, text)| *text).collect();
    (!marks.is_empty()).then(|| marks.join("; "))
}

/// Short names of runs in one table. A name consists of the properties in which the runs differ.
struct Names {
    /// For each part of the key, whether the runs differ in this part.
    differ: Vec<bool>,
    /// The properties that all runs share.
    common: String,
}

/// Formats a part of a key; `None` for an empty tie vector or copy 0.
fn part(key: Name, text: &str) -> Option<String> {
    match (key, text) {
        (_, "") | (RunKey::COPY, "0") => None,
        (RunKey::SEED | RunKey::COPY | RunKey::POLICY, _) => Some(format!("{key} {text}")),
        _ => Some(text.to_string()),
    }
}

impl Names {
    fn of(runs: &[&RunKey]) -> Self {
        let parts: Vec<[String; 8]> = runs.iter().map(|run| run.texts()).collect();
        let differs = |place: usize| parts.iter().any(|part| part[place] != parts[0][place]);
        let differ: Vec<bool> = (0..RunKey::NAMES.len()).map(differs).collect();
        let names = Self { differ, common: String::new() };
        // Policy, seed and copy are named only if they differ.
        let shared = |place: usize| !names.differ[place] && place < 5;
        let common = runs.first().map(|run| names.parts(run, shared)).unwrap_or_default();
        Self { common, ..names }
    }

    fn parts(&self, run: &RunKey, is_shown: impl Fn(usize) -> bool) -> String {
        let parts = RunKey::NAMES.into_iter().zip(run.texts()).enumerate();
        let shown = parts.filter(|(place, _)| is_shown(*place));
        let shown: Vec<String> = shown.filter_map(|(_, (name, text))| part(name, &text)).collect();
        shown.join(" ")
    }

    /// Returns the properties that distinguish a run from the other runs.
    fn short(&self, run: &RunKey) -> String {
        match self.parts(run, |place| self.differ[place]) {
            // A run of copy 0 without a tie vector has the name of its allocator.
            name if name.is_empty() => run.allocator.clone(),
            name => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::metrics::Placement;

    fn run([scheduler, allocator, tie]: [&str; 3], seed: u64) -> RunKey {
        RunKey {
            trace: "KTH".to_string(),
            topology: "10x10".to_string(),
            scheduler: scheduler.to_string(),
            allocator: allocator.to_string(),
            tie: Some(tie.to_string()).filter(|tie| !tie.is_empty()),
            policy: "johnson".to_string(),
            seed,
            copy: 0,
        }
    }

    #[test]
    fn names_of_runs_have_the_properties_in_which_they_differ() {
        let first = run(["easy", "mc1x1", ""], 1);
        let second = run(["easy", "mc1x1", "2,1,1,1"], 2);
        let other = run(["easy", "random", ""], 1);
        let names = |runs: &[&RunKey]| {
            let names = Names::of(runs);
            let short: Vec<String> = runs.iter().map(|run| names.short(run)).collect();
            (short, names.common)
        };
        let all = [&first, &second, &other];
        let short = ["mc1x1 seed 1", "mc1x1 2,1,1,1 seed 2", "random seed 1"];
        assert_eq!(names(&all), (short.map(str::to_string).to_vec(), "KTH 10x10 easy".to_string()));
        let (short, common) = names(&[&first, &run(["easy", "mc1x1", "auto"], 1)]);
        assert_eq!(
            (short, common.as_str()),
            (vec!["mc1x1".into(), "auto".into()], "KTH 10x10 easy mc1x1")
        );
    }

    #[test]
    fn a_pair_is_described_with_all_its_differences() {
        let base = run(["fcfs", "mc1x1", ""], 1);
        let other = run(["easy", "mc1x1", "2,1,1,1"], 1);
        assert_eq!(
            pair_in_words([&base, &other], ["out:0", "out:9"]),
            "out:9 (KTH 10x10 easy mc1x1 2,1,1,1) against out:0 (KTH 10x10 fcfs mc1x1); they differ in \
             scheduler and tie vector: a change is the joint effect of these differences"
        );
        let seed = run(["fcfs", "mc1x1", ""], 2);
        assert!(pair_in_words([&base, &seed], ["a", "b"]).ends_with("; they differ in seed"));
        assert!(pair_in_words([&base, &base], ["a", "b"]).ends_with("mc1x1)"));
    }

    #[test]
    fn a_narrow_table_keeps_the_change_and_its_interval() {
        let compared = |measure| Compared {
            base: String::new(),
            run: String::new(),
            measure,
            sizes: [65, 128],
            class: None,
            jobs: 5000,
            means: [123_456.78, 120_000.0],
            medians: [100.0, 90.0],
            trimmed_means: [110.0, 95.0],
            change: -2.8,
            interval: [-12.34, -10.2],
            p: 0.001,
            comparisons: 4,
            lower: 3000,
            higher: 1000,
            blocks: 9,
            days: 7,
            comparable: true,
        };
        let rows: Vec<(RunKey, Compared)> = ["first-fit", "mc1x1"]
            .iter()
            .flat_map(|name| {
                [JobMeasures::WAIT, Placement::PAIRWISE_L1]
                    .map(|measure| (run(["easy", name, ""], 1), compared(measure)))
            })
            .collect();
        let bases = [rows[0].0.clone(), rows[2].0.clone()];
        let sheet = sheet(&rows, &bases, ["out/before", "out/after"], &REPLAYED);
        let lead = "out/after against out/before; all runs: KTH 10x10 easy";
        assert_eq!(sheet.lead(), Some(lead));
        let mut out = Vec::new();
        let fitted = sheet.fitted(50);
        fitted.sheet.write_plain(&mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("first-fit  wait s") && text.contains("pairwise_l1 hops"), "{text}");
        // Columns with the same value in all rows are omitted first.
        let mut mixed = rows.clone();
        mixed[0].1.sizes = [1, i64::MAX];
        mixed[0].1.change = 7.0;
        mixed[1].1.interval = [1.0, 2.0];
        mixed[2].1.means = [3.0, 4.0];
        mixed[3].1.lower = 1;
        mixed[3].1.jobs = 9;
        let fitted = super::sheet(&mixed, &bases, ["a", "b"], &REPLAYED).fitted(80);
        let mut out = Vec::new();
        fitted.sheet.write_plain(&mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert!(["change %", "95 %", "verdict"].iter().all(|title| text.contains(title)), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
