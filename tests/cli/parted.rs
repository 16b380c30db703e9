//! Searches in parts and searches that go on.

use std::fs;

use super::dir::Dir;

trials!(
    merged_parts_are_the_whole,
    missing_parts_are_named,
    parts_of_others_are_refused,
    what_has_no_parts,
    a_cut_off_part_goes_on,
    a_killed_search_goes_on,
    tables_are_sorted,
);

/// 38 vectors of each trace.
const GRID: &str = "--jobs 150 --sr 1..2 --factors 0..2";

/// Everything but the manifests is the same in two folders.
fn same(dir: &Dir, one: &str, other: &str) {
    let files = dir.files(one);
    assert_eq!(files, dir.files(other));
    assert!(files.iter().any(|file| file == "search.parquet"), "{files:?}");
    for file in files.iter().filter(|file| *file != "manifest.json") {
        let same = dir.read(&format!("{one}/{file}")) == dir.read(&format!("{other}/{file}"));
        assert!(same, "{one}/{file} differs from {other}/{file}");
    }
}

/// Records of a journal.
fn records(dir: &Dir, out: &str) -> usize {
    let text = dir.read(&format!("{out}/journal.txt"));
    text.iter().filter(|&&byte| byte == b'\n').count() - 1
}

/// Runs all parts of a search; their folders, the last one first.
fn parted(dir: &Dir, search: &str, count: u32) -> String {
    let mut folders = Vec::new();
    for number in 1..=count {
        let out = format!("p{number}");
        let threads = 1 + number % 2;
        let part = format!("search {search} -q --threads {threads} --shard {number}/{count}");
        dir.replay(&format!("{part} --out {out}")).code(0).prints(&format!("{out}/journal.txt\n"));
        assert_eq!(dir.files(&out), ["journal.txt", "plan.json"]);
        folders.push(out);
    }
    folders.reverse();
    folders.join(" ")
}

fn merged_parts_are_the_whole() {
    let random = "--jobs 100 --strategy random --spare 0 --evaluations 60 --tie 2,13,20,6";
    for (search, count) in [
        (format!("{GRID} --tie 2,13,20,6 --split 0.5 --constraint worst-class<=5"), 3),
        (format!("{GRID} --each --trace lublin,other.swf --top 3 --no-plots"), 2),
        (format!("{GRID} --evaluations 30 --slack 0,0.2 --shake 2 --no-plots"), 2),
        (random.to_string(), 2),
    ] {
        let dir = Dir::with_trace();
        dir.replay("synth --jobs 150 --processors 64 --seed 5 --write other.swf").code(0);
        let whole = dir.replay(&format!("search {search} --out whole")).code(0);
        let folders = parted(&dir, &search, count);
        let merged = dir.replay(&format!("merge {folders} --out merged")).code(0);
        merged.demand(merged.stdout == whole.stdout, "the same table");
        let merged = merged.says(&format!("merge: a search of {count} folders\n"));
        // All that is said of the search is said again, and the winner.
        let said = whole.stderr.lines().filter(|line| line.contains("comes first"));
        said.for_each(|line| merged.demand(merged.stderr.contains(line), line));
        merged.demand(merged.stderr.contains("comes first"), "a winner");
        same(&dir, "merged", "whole");
    }
}

fn missing_parts_are_named() {
    let dir = Dir::with_trace();
    parted(&dir, GRID, 3);
    dir.replay("merge -q p1 p3 --out merged").fails(
        3,
        1,
        &["13 of 38 cells have not run: shard 2/3 is missing"],
    );
    assert!(!dir.path("merged/search.csv").exists());
    dir.replay("merge -q p1 p2 p3 --out p1").fails(2, 1, &["one of the folders to merge"]);
    // The whole in the folder of a part runs what that has not.
    let whole = dir.replay(&format!("search {GRID} --out p1")).code(0);
    whole.says("search: 13 evaluations done before");
    dir.replay(&format!("search {GRID} -q --out whole")).code(0);
    same(&dir, "p1", "whole");
}

fn parts_of_others_are_refused() {
    let dir = Dir::with_trace();
    parted(&dir, &format!("--trace lublin-10x10 {GRID}"), 2);
    dir.replay(&format!("search {GRID} -q --sched easy --shard 2/2 --out easy")).code(0);
    dir.replay("merge -q p1 easy --out merged").fails(
        3,
        1,
        &["p1 and easy are not shards of one plan"],
    );
    dir.replay("sweep -q --jobs 20 --shard 1/2 --out sweep").code(0);
    dir.replay("merge p1 sweep --out merged").fails(3, 1, &["p1 is of a search, sweep of a sweep"]);
    dir.replay(&format!("search {GRID} -q --shard 1/2 --out sweep")).fails(2, 1, &["sweep"]);
    // The trace is another one now.
    let trace = dir.path("traces/lublin-10x10.swf");
    let text = fs::read_to_string(&trace).expect("the trace");
    let (at, line) = text
        .lines()
        .enumerate()
        .find(|(_, line)| !line.starts_with(';') && !line.trim().is_empty())
        .expect("a job");
    let mut fields: Vec<String> = line.split_whitespace().map(str::to_string).collect();
    fields[3] = format!("{}", fields[3].parse::<u64>().expect("a time") + 1);
    let changed = text.lines().enumerate().map(|(i, old)| match i == at {
        true => fields.join(" ") + "\n",
        false => format!("{old}\n"),
    });
    fs::write(&trace, changed.collect::<String>()).expect("a trace");
    dir.replay("merge -q p1 p2 --out merged").fails(3, 1, &["p1", "have changed since"]);
}

fn what_has_no_parts() {
    let dir = Dir::with_trace();
    for (arguments, words) in [
        ("--strategy local", "local chooses vectors by the results"),
        ("--strategy external --ask-command true", "external asks"),
        ("--strategy random", "add --spare 0"),
        ("--spare 3", "add --spare 0"),
        ("--time 5s", "with --time the evaluated vectors depend"),
        ("--trace -", "standard input cannot be read again"),
        ("--test -", "standard input cannot be read again"),
    ] {
        let search = format!("search {arguments} --shard 1/2 --out part");
        dir.replay(&search).fails(2, 1, &["--shard 1/2", words]);
    }
    dir.replay("search --shard 1/2").refused(&["--out <DIR>"]);
    dir.replay("search --shard 3/2 --out part").refused(&["3/2"]);
    // One part is the whole.
    dir.replay(&format!("search {GRID} -q --shard 1/1 --out one")).code(0).prints("AF : WF : BF");
    // A folder without a shard.
    dir.replay("merge one --out merged").fails(3, 1, &["one: is not the folder of a shard"]);
}

fn a_cut_off_part_goes_on() {
    let dir = Dir::with_trace();
    let folders = parted(&dir, GRID, 2);
    let whole = format!("search {GRID} -q --out whole");
    dir.replay(&whole).code(0);
    let journal = dir.path("p1/journal.txt");
    let text = fs::read(&journal).expect("a journal");
    // Within a record, as a kill leaves it; a damaged record in the middle.
    fs::write(&journal, &text[..2 * text.len() / 3]).expect("a file");
    let done = records(&dir, "p1");
    assert!((1..19).contains(&done), "{done} of 19");
    let lacks = dir.replay(&format!("merge -q {folders} --out merged"));
    lacks.fails(3, 1, &[&format!("shard 1/2 in p1 lacks {}; run it again", 19 - done)]);
    let again = dir.replay(&format!("search {GRID} --shard 1/2 --out p1")).code(0);
    again.says(&format!("search: 19 evaluations: {done} done before, {} run", 19 - done));
    dir.replay(&format!("merge {folders} -q --out merged")).code(0);
    same(&dir, "merged", "whole");
}

/// Asks three times, and the first time is killed after the second answer, as is its search.
const ASKS: &str = "read begin
echo '{\"ask\":[[1,1,0,0],[1,0,1,0],[2,1,1,1]]}'; read one
echo '{\"ask\":[[2,3,1,1],[1,2,1,2]]}'; read two
if [ ! -e killed ]; then touch killed; kill -9 $PPID; exit; fi
echo '{\"ask\":[[2,5,4,1]]}'; read three
";

fn a_killed_search_goes_on() {
    let dir = Dir::with_trace().file("ask.sh", ASKS);
    let search =
        "search --jobs 200 --strategy external --ask-command exec${IFS}sh${IFS}ask.sh --out";
    let killed = dir.replay(&format!("{search} out"));
    killed.demand(dir.path("killed").exists() && killed.is_killed(), "killed");
    assert_eq!(dir.files("out"), ["journal.txt", "lock", "plan.json"]);
    assert_eq!(records(&dir, "out"), 5);
    dir.replay(&format!("{search} out")).code(0).says("search: 5 evaluations done before");
    dir.replay(&format!("{search} whole")).code(0);
    same(&dir, "out", "whole");
    // It is done: the same command begins anew.
    let anew = dir.replay(&format!("{search} out")).code(0);
    anew.demand(!anew.stderr.contains("done before"), "no journal is left");
    same(&dir, "out", "whole");
}

fn tables_are_sorted() {
    let dir = Dir::with_trace();
    let values = |sort: &str| -> Vec<f64> {
        let run = dir.replay(&format!("search {GRID} -q --format json --sort {sort}")).code(0);
        run.objects().iter().map(|row| row["value"].as_f64().expect("a number")).collect()
    };
    let (rising, falling) = (values("value"), values("-value"));
    assert!(rising.len() == 11 && rising.is_sorted(), "{rising:?}");
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    dir.replay(&format!("search {GRID} --sort valu")).fails(2, 1, &["--sort", "value"]);
    let folders = parted(&dir, GRID, 2);
    let merge = format!("merge {folders} -q --force --out merged --sort");
    let of = |sort: &str| dir.replay(&format!("{merge} {sort}")).code(0).stdout;
    assert_ne!(of("value"), of("-value"));
    // Of sweeps nothing is printed unless an order is asked for.
    let sweep = "sweep -q --jobs 100 --alloc mc1x1,random,mm,row-major-best-fit";
    let distances = |run: &str| -> Vec<f64> {
        let rows = run.lines().skip_while(|line| !line.starts_with("trace")).skip(2);
        rows.map(|row| {
            let place = row.split_whitespace().position(|word| word == "-").expect("no tie");
            let number = row.split_whitespace().nth(place + 1).expect("a distance");
            number.replace(',', "").parse().expect("a number")
        })
        .collect()
    };
    let sorted = dir.replay(&format!("{sweep} --out s --sort mean_pairwise_l1")).code(0).stdout;
    let rising = distances(&sorted);
    assert!(rising.len() == 4 && rising.is_sorted(), "{sorted}");
    for number in [1, 2] {
        dir.replay(&format!("{sweep} --shard {number}/2 --out s{number}")).code(0);
    }
    let merged = dir.replay("merge s1 s2 -q --out m --sort -mean_pairwise_l1").code(0).stdout;
    let falling = distances(&merged);
    assert!(falling.len() == 4 && falling.is_sorted_by(|a, b| a >= b), "{merged}");
    dir.replay("merge s1 s2 -q --out m --sort nothing").fails(2, 1, &["--sort"]);
}
