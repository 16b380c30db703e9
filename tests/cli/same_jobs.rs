//! Comparisons of results that are not of the same jobs, and of results whose tables are damaged or absent.

use std::fs::{self, File};

use polars::prelude::*;

use super::dir::Dir;

trials!(
    a_baseline_of_other_jobs_has_a_warning,
    comparisons_of_other_windows_state_both,
    a_page_of_other_jobs_has_a_warning,
    a_sweep_with_a_table_of_jobs_does_not_deny_it,
    a_table_without_rows_has_no_runs,
    repeated_rows_without_a_manifest_are_bad_input,
    a_page_without_its_table_of_runs_is_an_error,
);

/// Jobs on 16 processors, one submission per 1,000 s.
fn log(jobs: u32) -> String {
    let line = |i: u32| format!("{i} {} -1 {} {}\n", 1000 * i, 900 + 37 * (i % 7) * 60, 1 + i % 9);
    (1..=jobs).fold("; MaxProcs: 16\n".to_string(), |text, i| text + &line(i))
}

const CELLS: &str = "--trace j.swf --machine 4x4 --alloc mc1x1,random";

/// Returns a directory with results of 60 jobs, of the first 40 and of 40 jobs from second 20,000 on.
fn windows() -> Dir {
    let dir = Dir::new().file("j.swf", log(60));
    for (out, window) in [("all", ""), ("first", "--jobs 40"), ("late", "--from 20000 --jobs 40")] {
        dir.replay(&format!("{CELLS} {window} -q --no-plots --out {out}")).code(0);
        let sweep = format!("sweep {CELLS} {window} -q --job-table --out sweep-{out}");
        dir.replay(&sweep).code(0);
    }
    dir
}

fn a_baseline_of_other_jobs_has_a_warning() {
    let dir = windows();
    for base in ["first", "sweep-first"] {
        for (command, out) in [("", ""), ("sweep ", " --out out --force")] {
            let run = dir.replay(&format!("{command}{CELLS} --baseline {base}{out}")).code(0);
            run.says(&format!(
                "replay: warning: --baseline {base}: 2 runs replay other jobs than the baseline: j has 60 jobs \
                 (window: whole trace), but 40 jobs (window: at most 40 jobs) in the baseline"
            ));
            let late = "--from 20000 --jobs 40";
            let run =
                dir.replay(&format!("{command}{CELLS} {late} --baseline {base}{out}")).code(0);
            run.says(
                "j has 40 jobs (window: from 20000, at most 40 jobs), but 40 jobs (window: at most 40 jobs)",
            );
            let same =
                dir.replay(&format!("{command}{CELLS} --jobs 40 --baseline {base}{out}")).code(0);
            same.demand(!same.stderr.contains("warning"), "the same jobs");
            dir.replay(&format!("{command}{CELLS} -q --baseline {base}{out}"))
                .code(0)
                .says_nothing();
        }
    }
}

fn comparisons_of_other_windows_state_both() {
    let dir = windows();
    for [base, other] in [["first", "all"], ["sweep-first", "sweep-all"], ["first", "sweep-all"]] {
        let compared = dir.replay(&format!("compare {base}:0 {other}:0 --measure wait")).code(0);
        compared.demand(
            [
                "has 40 jobs (window: at most 40 jobs), ",
                " has 60 jobs (window: whole trace); ",
                "20 jobs that only one run has are omitted",
            ]
            .iter()
            .all(|words| compared.stderr.contains(words)),
            "both windows",
        );
    }
    let all = dir.replay("compare all sweep-all --measure wait").code(0);
    all.demand(!all.stderr.contains("window"), "the same jobs");
    dir.replay(&format!("{CELLS} --jobs 59 -q --no-plots --out 59")).code(0);
    dir.replay("compare all:0 59:0").code(0).says("1 job that only one run has is omitted");
}

fn a_page_of_other_jobs_has_a_warning() {
    let dir = windows();
    let page = dir.replay("report all sweep-first --write page.html").code(0);
    page.says(
        "replay: warning: sweep-first has 40 jobs (window: at most 40 jobs) of j, but all has 60 jobs (window: whole \
         trace); their results are not of the same jobs",
    );
    let page = String::from_utf8(dir.read("page.html")).expect("UTF-8");
    assert_eq!(page.matches("<dt>Window</dt><dd>at most 40 jobs</dd>").count(), 1);
    let same = dir.replay("report all sweep-all --write same.html").code(0);
    same.demand(!same.stderr.contains("warning"), "the same jobs");
}

fn a_sweep_with_a_table_of_jobs_does_not_deny_it() {
    let dir = Dir::new().file("j.swf", log(60));
    let sweep = format!("sweep {CELLS}");
    dir.replay(&format!("{sweep} --out plain")).code(0).says("the directory has no jobs.parquet");
    let with = dir.replay(&format!("{sweep} --job-table --out with")).code(0);
    let with = with.says("; replay report computes an interval from jobs.parquet");
    with.demand(!with.stderr.contains("no interval"), "the table exists");
}

/// Replaces a Parquet table by `edit` of its rows, and removes the manifest of the folder.
fn edited(dir: &Dir, folder: &str, name: &str, edit: impl Fn(DataFrame) -> DataFrame) {
    let path = dir.path(&format!("{folder}/{name}"));
    let table = ParquetReader::new(File::open(&path).expect("a table")).finish().expect("rows");
    let mut table = edit(table);
    ParquetWriter::new(File::create(&path).expect("a file")).finish(&mut table).expect("written");
    let _ = fs::remove_file(dir.path(&format!("{folder}/manifest.json")));
}

fn a_table_without_rows_has_no_runs() {
    let dir = windows();
    edited(&dir, "first", "runs.parquet", |table| table.slice(0, 0));
    for run in ["first:0", "first", "first:7"] {
        dir.replay(&format!("compare {run} all:0 -q")).fails(3, 1, &["first has no runs"]);
    }
    dir.replay("compare all:9 all:0 -q").fails(2, 1, &["all:9: no such run; all has runs 0 to 1"]);
}

fn repeated_rows_without_a_manifest_are_bad_input() {
    let dir = windows();
    edited(&dir, "first", "jobs.parquet", |table| {
        table.vstack(&table.slice(47, 1)).expect("the same columns")
    });
    let words =
        ["cannot read first/jobs.parquet: run 1, job 8 has several rows, and the directory"];
    dir.replay("compare first:1 all:1 -q").fails(3, 1, &words);
    dir.replay("compare all first -q").fails(3, 1, &words);
    edited(&dir, "all", "runs.parquet", |table| {
        table.vstack(&table.slice(1, 1)).expect("the same columns")
    });
    let words = ["cannot read all/runs.parquet: run 1 has several rows, and the directory"];
    dir.replay("compare all late -q").fails(3, 1, &words);
    dir.replay("compare all --row trace --col strategy --measure mean_wait -q").fails(3, 1, &words);
    // A log may have several jobs with the same number; the manifest shows that their rows are as written.
    let twice = log(30) + &log(30).replace("; MaxProcs: 16\n", "");
    let dir = Dir::new().file("j.swf", twice);
    dir.replay(&format!("{CELLS} -q --no-plots --out out")).code(0);
    dir.replay("compare out:0 out:1 -q").code(0);
}

fn a_page_without_its_table_of_runs_is_an_error() {
    let dir = windows();
    fs::remove_file(dir.path("first/runs.parquet")).expect("removed");
    let words = ["first/runs.parquet: this file is listed in manifest.json but missing"];
    dir.replay("report first --write page.html").fails(3, 1, &words);
    assert!(!dir.path("page.html").exists());
    // A page can be made without the other tables.
    fs::remove_file(dir.path("all/by_size.parquet")).expect("removed");
    let page = dir.replay("report all --write page.html").code(0);
    page.says("all: no longer has by_size.parquet");
}
