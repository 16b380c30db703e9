//! Sharded and resumed searches.

use std::fs;

use super::dir::Dir;

trials!(
    merged_shards_equal_the_whole_search,
    a_shard_has_a_block_of_similar_vectors,
    merge_names_missing_shards,
    merge_rejects_shards_of_other_searches,
    rejects_searches_that_cannot_be_sharded,
    resumes_a_truncated_shard,
    resumes_a_killed_search,
    sorts_tables,
);

/// A grid of 38 vectors for each trace.
const GRID: &str = "--jobs 150 --sr 1..2 --factors 0..2";

/// Asserts that two directories have equal files, except for their manifests.
pub fn assert_equal_results(dir: &Dir, one: &str, other: &str) {
    let files = dir.files(one);
    assert_eq!(files, dir.files(other));
    assert!(files.iter().any(|file| file.ends_with(".parquet")), "{files:?}");
    for file in files.iter().filter(|file| *file != "manifest.json") {
        let equal = dir.read(&format!("{one}/{file}")) == dir.read(&format!("{other}/{file}"));
        assert!(equal, "{one}/{file} differs from {other}/{file}");
    }
}

/// Returns the number of records in a journal.
fn records(dir: &Dir, out: &str) -> usize {
    let text = dir.read(&format!("{out}/journal.txt"));
    text.iter().filter(|&&byte| byte == b'\n').count() - 1
}

/// Runs all shards of a search and returns their directories, the last one first.
fn run_shards(dir: &Dir, search: &str, count: u32) -> String {
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

fn merged_shards_equal_the_whole_search() {
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
        let folders = run_shards(&dir, &search, count);
        let merged = dir.replay(&format!("merge {folders} --out merged")).code(0);
        merged.demand(merged.stdout == whole.stdout, "equal tables");
        let merged = merged.says(&format!("merge: merged {count} folders of search\n"));
        // The merge prints the same best vectors as the search.
        let winners = whole.stderr.lines().filter(|line| line.contains("ranks first"));
        winners.for_each(|line| merged.demand(merged.stderr.contains(line), line));
        merged.demand(merged.stderr.contains("ranks first"), "a winner");
        assert_equal_results(&dir, "merged", "whole");
    }
}

/// Evaluations share decisions only with evaluations of similar vectors, and sums only with those of the same radius.
fn a_shard_has_a_block_of_similar_vectors() {
    let dir = Dir::with_trace().file("two.swf", "");
    dir.replay("synth --jobs 60 --processors 64 --seed 5 --write two.swf").code(0);
    let search =
        "search --trace lublin,two.swf --each --jobs 60 --sr 1..6 --factors 0..1 --no-plots -q";
    for (number, radii) in [(1, 1..=3), (2, 4..=6)] {
        dir.replay(&format!("{search} --shard {number}/2 --out p{number}")).code(0);
        let journal = String::from_utf8(dir.read(&format!("p{number}/journal.txt"))).expect("text");
        let mut found = Vec::new();
        for part in journal.split("\"candidate\":\"").skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            found.push(digits.parse::<u32>().expect("a radius"));
        }
        // Seven ratios for each radius and trace.
        let expected: Vec<u32> = radii.flat_map(|radius| [radius; 2 * 7]).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "shard {number}");
    }
}

fn merge_names_missing_shards() {
    let dir = Dir::with_trace();
    run_shards(&dir, GRID, 3);
    dir.replay("merge -q p1 p3 --out merged").fails(
        3,
        1,
        &["13 of 38 cells have not run: shard 2/3 is missing"],
    );
    assert!(!dir.path("merged/search.csv").exists());
    dir.replay("merge -q p1 p2 p3 --out p1").fails(2, 1, &["one of the folders to merge"]);
    // If the whole search runs in the directory of a shard, it evaluates only the missing vectors.
    let whole = dir.replay(&format!("search {GRID} --out p1")).code(0);
    whole.says("search: 13 evaluations done before");
    dir.replay(&format!("search {GRID} -q --out whole")).code(0);
    assert_equal_results(&dir, "p1", "whole");
}

fn merge_rejects_shards_of_other_searches() {
    let dir = Dir::with_trace();
    run_shards(&dir, &format!("--trace lublin-10x10 {GRID}"), 2);
    dir.replay(&format!("search {GRID} -q --sched easy --shard 2/2 --out easy")).code(0);
    dir.replay("merge -q p1 easy --out merged").fails(
        3,
        1,
        &["p1 and easy are shards of different commands"],
    );
    // In earlier versions, plans contained the command line, or a shard had every N-th vector.
    let text = String::from_utf8(dir.read("easy/plan.json")).expect("UTF-8");
    for before in ["\"arguments\": [\"replay\", \"search\"]", "\"format\": 3"] {
        let plan = text.replace("\"format\": 4", before);
        assert_ne!(plan, text);
        fs::write(dir.path("easy/plan.json"), plan).expect("a file");
        for folders in ["p1 easy", "easy"] {
            let advice = "run the shard again with --force";
            let words = ["easy/plan.json is not a shard plan", "another version of replay", advice];
            dir.replay(&format!("merge -q {folders} --out merged")).fails(3, 1, &words);
        }
    }
    dir.replay("sweep -q --jobs 20 --shard 1/2 --out sweep").code(0);
    dir.replay("merge p1 sweep --out merged").fails(
        3,
        1,
        &["p1 is a shard of replay search, but sweep is a shard of replay sweep"],
    );
    dir.replay(&format!("search {GRID} -q --shard 1/2 --out sweep")).fails(2, 1, &["sweep"]);
    // Change one job of the trace.
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

fn rejects_searches_that_cannot_be_sharded() {
    let dir = Dir::with_trace();
    for (arguments, words) in [
        ("--strategy local", "local chooses vectors by the results"),
        (
            "--strategy external --ask-command true",
            "external chooses vectors by the results of earlier vectors",
        ),
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
    // The directory of an unsharded search cannot be merged.
    dir.replay(&format!("search {GRID} -q --out one")).code(0).prints("AF : WF : BF");
    dir.replay("merge one --out merged").fails(3, 1, &["one: is not the folder of a shard"]);
}

fn resumes_a_truncated_shard() {
    let dir = Dir::with_trace();
    let folders = run_shards(&dir, GRID, 2);
    let whole = format!("search {GRID} -q --out whole");
    dir.replay(&whole).code(0);
    let journal = dir.path("p1/journal.txt");
    let text = fs::read(&journal).expect("a journal");
    // Cut the journal within a record, as can happen when the program is killed.
    fs::write(&journal, &text[..2 * text.len() / 3]).expect("a file");
    let done = records(&dir, "p1");
    assert!((1..19).contains(&done), "{done} of 19");
    let lacks = dir.replay(&format!("merge -q {folders} --out merged"));
    lacks.fails(
        3,
        1,
        &[&format!("shard 1/2 in p1 lacks {} of its cells; run the shard again", 19 - done)],
    );
    let again = dir.replay(&format!("search {GRID} --shard 1/2 --out p1")).code(0);
    again.says(&format!("search: 19 evaluations: {done} done before, {} run", 19 - done));
    dir.replay(&format!("merge {folders} -q --out merged")).code(0);
    assert_equal_results(&dir, "merged", "whole");
}

/// External program that asks three times. In its first run, it kills the search and exits after the second answer.
const ASKS: &str = "read begin
echo '{\"ask\":[[1,1,0,0],[1,0,1,0],[2,1,1,1]]}'; read one
echo '{\"ask\":[[2,3,1,1],[1,2,1,2]]}'; read two
if [ ! -e killed ]; then touch killed; kill -9 $PPID; exit; fi
echo '{\"ask\":[[2,5,4,1]]}'; read three
";

fn resumes_a_killed_search() {
    let dir = Dir::with_trace().file("ask.sh", ASKS);
    let search =
        "search --jobs 200 --strategy external --ask-command exec${IFS}sh${IFS}ask.sh --out";
    let killed = dir.replay(&format!("{search} out"));
    killed.demand(dir.path("killed").exists() && killed.is_killed(), "killed");
    assert_eq!(dir.files("out"), ["journal.txt", "lock", "plan.json"]);
    assert_eq!(records(&dir, "out"), 5);
    dir.replay(&format!("{search} out")).code(0).says("search: 5 evaluations done before");
    dir.replay(&format!("{search} whole")).code(0);
    assert_equal_results(&dir, "out", "whole");
    // After completion, the same command starts a new search.
    let anew = dir.replay(&format!("{search} out")).code(0);
    anew.demand(!anew.stderr.contains("done before"), "no journal is left");
    assert_equal_results(&dir, "out", "whole");
}

fn sorts_tables() {
    let dir = Dir::with_trace();
    let values = |sort: &str| -> Vec<f64> {
        let run = dir.replay(&format!("search {GRID} -q --format json --sort {sort}")).code(0);
        run.objects().iter().map(|row| row["value"].as_f64().expect("a number")).collect()
    };
    let (rising, falling) = (values("value"), values("-value"));
    assert!(rising.len() == 11 && rising.is_sorted(), "{rising:?}");
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    dir.replay(&format!("search {GRID} --sort valu")).fails(2, 1, &["--sort", "value"]);
    let folders = run_shards(&dir, GRID, 2);
    let merge = format!("merge {folders} -q --force --out merged --sort");
    let of = |sort: &str| dir.replay(&format!("{merge} {sort}")).code(0).stdout;
    assert_ne!(of("value"), of("-value"));
    // A sweep prints its table only with --sort.
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
