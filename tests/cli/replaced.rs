//! Results are replaced only by results of the same configuration. Results are read only if they have not changed since
//! they were written.

use std::fs;
use std::process::Command;

use super::dir::{Dir, Outcome, TINY};

trials!(
    keeps_results_of_another_configuration,
    replaces_results_if_only_presentation_differs,
    keeps_results_of_another_log_of_the_same_name,
    extends_a_smaller_sweep,
    merge_replaces_only_its_own_plan,
    keeps_journals_of_another_configuration,
    keeps_results_without_a_configuration_digest,
    readers_report_changed_files,
    readers_report_damaged_tables,
);

/// A command of each kind and the same command with another configuration, all with few jobs.
const COMMANDS: [[&str; 2]; 9] = [
    ["--trace tiny.swf", "--trace tiny.swf --alloc random"],
    ["--trace tiny.swf --no-plots", "--trace tiny.swf --no-plots --no-jobs"],
    ["sweep --trace tiny.swf", "sweep --trace other.swf"],
    [
        "search --trace tiny.swf --machine 3x3 --sr 1 --factors 0..1",
        "search --trace tiny.swf --machine 3x3 --sr 1 --factors 0..1 --objective mean_pairwise_l1[goal=max]",
    ],
    [
        "stream --machine 4x4 --load 1 --jobs 5 --alloc mbs",
        "stream --machine 4x4 --load 1 --jobs 5 --alloc mbs --seed 2",
    ],
    [
        "contend --trace tiny.swf --scale 0.1 --alloc mbs",
        "contend --trace tiny.swf --scale 0.2 --alloc mbs",
    ],
    ["show --trace tiny.swf --at 0", "show --trace tiny.swf --at 1"],
    ["explain --trace tiny.swf --job 1", "explain --trace tiny.swf --job 2"],
    [
        "stream --backlog 1 --machine torus:4x4x4 --jobs 60 --replications 1 --rules first --mix uniform",
        "stream --backlog 1 --machine torus:4x4x4 --jobs 61 --replications 1 --rules first --mix uniform",
    ],
];

fn tiny() -> Dir {
    let jobs = format!("{TINY}3 2 0 5 1\n4 3 0 9 3\n");
    Dir::new().file("tiny.swf", &jobs).file("other.swf", format!("{jobs}5 4 0 9 3\n"))
}

/// Returns the files below a directory with their contents.
fn contents(dir: &Dir, name: &str) -> Vec<(String, Vec<u8>)> {
    let files = dir.files(name).into_iter();
    files.map(|file| (file.clone(), dir.read(&format!("{name}/{file}")))).collect()
}

fn keeps_results_of_another_configuration() {
    for [command, other] in COMMANDS {
        let dir = tiny();
        dir.replay(&format!("{command} --out out")).code(0);
        let before = contents(&dir, "out");
        let kind = match command.split(' ').next() {
            Some(word) if !word.starts_with('-') => word,
            _ => "run",
        };
        let message =
            format!("cannot write into --out out: the directory contains the results of a {kind}");
        let by = format!(" by \"{}", env!("CARGO_BIN_EXE_replay"));
        let words =
            [message.as_str(), " in ", ", written 2", by.as_str(), "or replace them with --force"];
        dir.replay(&format!("{other} -q --out out")).fails(2, 1, &words);
        assert!(contents(&dir, "out") == before, "{other} changed the folder");
        // If a command is repeated, its configuration is the same.
        dir.replay(&format!("{command} -q --out out")).code(0);
        let forced = dir.replay(&format!("{other} --force --out out")).code(0);
        forced.says(&format!("replay: in out, --force replaces the results of a {kind}"));
        let replaced = dir.replay(&format!("{command} -q --out out"));
        replaced.fails(2, 1, &[&message]);
    }
}

fn replaces_results_if_only_presentation_differs() {
    let dir = tiny();
    dir.replay("--trace tiny.swf --alloc mbs,random --out out -q").code(0);
    fs::rename(dir.path("tiny.swf"), dir.path("moved.swf")).expect("moved");
    fs::create_dir(dir.path("there")).expect("a folder");
    fs::rename(dir.path("moved.swf"), dir.path("there/tiny.swf")).expect("moved");
    let again = "--trace there/tiny.swf --alloc mbs,random --out out";
    for options in ["--threads 1", "--format json", "--sort mean_wait", "-q"] {
        dir.replay(&format!("{again} {options}")).code(0);
    }
    // The results are equal, but the figures would be deleted.
    dir.replay(&format!("{again} --no-plots -q")).fails(2, 1, &["--no-plots: out has "]);
}

fn keeps_results_of_another_log_of_the_same_name() {
    for [command, _] in &COMMANDS[..7] {
        if command.starts_with("stream") {
            continue;
        }
        let dir = tiny();
        dir.replay(&format!("{command} -q --out out")).code(0);
        fs::copy(dir.path("other.swf"), dir.path("tiny.swf")).expect("a copy");
        let failed = dir.replay(&format!("{command} -q --out out"));
        failed.fails(2, 1, &["the directory contains the results of a "]);
    }
}

fn extends_a_smaller_sweep() {
    let dir = tiny();
    let sweep = |alloc: &str, more: &str| {
        dir.replay(&format!("sweep --trace tiny.swf --alloc {alloc} --out out {more}"))
    };
    sweep("mbs,random", "").code(0);
    sweep("mbs,random,mm", "").code(0).says("3 cells: 2 done before, 1 run");
    sweep("random", "")
        .code(2)
        .says("the directory contains the results of a sweep of tiny (3 rows in runs.csv)");
    sweep("mm,random,mbs", "").code(0).says("3 done before, 0 run");
    // Without --placements, the table of placements would be deleted.
    sweep("mm,random,mbs", "--placements").code(0);
    sweep("mm,random,mbs,gabl", "").code(2).says("the directory contains the results of a sweep");
    sweep("mm,random,mbs,gabl", "--placements").code(0);
    // Simulate a larger grid that was interrupted after it wrote its plan and before it wrote results.
    let plan = dir.read("out/plan.json");
    sweep("random", "--force").code(0).says("in out, --force replaces the results of a sweep");
    fs::write(dir.path("out/plan.json"), plan).expect("a file");
    sweep("mm,random,mbs,gabl", "").code(0).says("1 done before, 3 run");
    // Create an unfinished sweep without results.
    let shard = "sweep -q --trace tiny.swf --alloc mm,random,mbs,gabl --shard 1/2 --out part";
    dir.replay(shard).code(0);
    let failed = dir.replay("sweep -q --trace tiny.swf --alloc random --out part");
    failed.fails(2, 1, &["the directory contains an unfinished sweep (journal.txt)"]);
}

fn merge_replaces_only_its_own_plan() {
    let dir = tiny();
    for (name, alloc) in [("a", "mbs,random"), ("b", "mm,gabl")] {
        for shard in [1, 2] {
            let sweep = format!("sweep -q --trace tiny.swf --alloc {alloc} --shard {shard}/2");
            dir.replay(&format!("{sweep} --out {name}{shard}")).code(0);
        }
    }
    dir.replay("merge a1 a2 -q --out out").code(0);
    dir.replay("merge a2 a1 -q --out out").code(0);
    let before = contents(&dir, "out");
    dir.replay("merge b1 b2 -q --out out").fails(
        2,
        1,
        &["the directory contains the results of a sweep of tiny"],
    );
    assert!(contents(&dir, "out") == before);
    dir.replay("merge b1 b2 -q --force --out out").code(0);
}

/// Runs the program with a limit on file size in KiB. The journal stays below the limit, but figures exceed it.
fn without_room(dir: &Dir, kilobytes: usize, arguments: &str) -> Outcome {
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!("ulimit -f {kilobytes}; exec {program} {arguments}");
    let output = Command::new("bash").args(["-c", &line]).current_dir(dir.path("")).output();
    Outcome::new(&line, output.expect("bash"))
}

fn keeps_journals_of_another_configuration() {
    for [command, other] in [COMMANDS[3], COMMANDS[5]] {
        let dir = tiny();
        without_room(&dir, 20, &format!("{command} -q --out out")).code(4);
        let journal = dir.read("out/journal.txt");
        let words = ["out has the journal of a command with other options or traces", "--force"];
        dir.replay(&format!("{other} -q --out out")).fails(2, 1, &words);
        assert_eq!(dir.read("out/journal.txt"), journal, "{other}");
        dir.replay(&format!("{command} --out out")).code(0).says("done before");
    }
}

fn keeps_results_without_a_configuration_digest() {
    let dir = tiny();
    let run = "--trace tiny.swf --no-plots -q --out out";
    dir.replay(run).code(0);
    let text = String::from_utf8(dir.read("out/manifest.json")).expect("text");
    let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let fields = manifest.as_object_mut().expect("an object");
    assert!(fields.remove("configuration_digest").is_some_and(|digest| digest.is_string()));
    fs::write(dir.path("out/manifest.json"), manifest.to_string()).expect("a file");
    dir.replay(run).fails(2, 1, &["the directory contains the results of a run of tiny"]);
    dir.replay(&format!("{run} --force")).code(0);
}

fn readers_report_changed_files() {
    let dir = tiny();
    dir.replay("--trace tiny.swf --alloc mbs,random -q --out out").code(0);
    let figure = dir.files("out").into_iter().find(|name| name.ends_with(".svg")).expect("one");
    let compare = "compare out:0 out:1";
    let report = "report out --write page.html";
    let project = "compare out --row scheduler --col strategy";
    let baseline = "--trace tiny.swf --alloc mbs -q --baseline out";
    for (name, readers) in [
        ("runs.parquet", &[compare, report, project, baseline][..]),
        ("jobs.parquet", &[compare, report, project, baseline]),
        ("runs.csv", &[compare, report, project, baseline]),
        (figure.as_str(), &[report]),
    ] {
        let whole = dir.read(&format!("out/{name}"));
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 1;
        fs::write(dir.path(&format!("out/{name}")), damaged).expect("a file");
        for reader in readers {
            let words = format!("out/{name}: its digest differs from the digest in manifest.json");
            let failed = dir.replay(reader).code(3).says(&words);
            failed.demand(failed.stdout.is_empty(), "no numbers");
        }
        fs::write(dir.path(&format!("out/{name}")), whole).expect("a file");
    }
    for reader in [compare, report, project, baseline] {
        dir.replay(reader).code(0);
    }
    // A table that the manifest does not list is not part of the results.
    dir.replay("--trace tiny.swf --alloc mbs,random --no-jobs -q --out short").code(0);
    fs::copy(dir.path("out/jobs.parquet"), dir.path("short/jobs.parquet")).expect("a copy");
    dir.replay("compare short:0 short:1").fails(
        3,
        1,
        &["short/jobs.parquet does not exist: the same command without --no-jobs writes this table"],
    );
}

/// Checks streams and exit code for a few damaged files; the fuzz target `parquet` covers many more.
fn readers_report_damaged_tables() {
    let dir = tiny();
    dir.replay("--trace tiny.swf --alloc mbs,random -q --no-plots --out out").code(0);
    fs::remove_file(dir.path("out/manifest.json")).expect("a file");
    dir.replay("compare out:0 out:1").code(0).says("has no manifest.json");
    let mut refused = 0;
    for name in ["runs.parquet", "jobs.parquet"] {
        let whole = dir.read(&format!("out/{name}"));
        for attempt in 0..20 {
            let mut bytes = whole.clone();
            let at = bytes.len() - 9 - attempt * 37 % (bytes.len() / 2);
            bytes[at] = bytes[at].wrapping_add(1 << (attempt % 8));
            fs::write(dir.path(&format!("out/{name}")), bytes).expect("a file");
            let compared = dir.replay("compare out:0 out:1 -q");
            // A damaged file may still be readable; a panic fails the test in any case.
            if compared.stderr.contains("cannot read out/") {
                compared.fails(3, 1, &[name]);
                refused += 1;
            }
            let imported = dir.replay(&format!("import pm100 out/{name} --write log.swf"));
            imported.code(3).says(name);
        }
        fs::write(dir.path(&format!("out/{name}")), whole).expect("a file");
    }
    assert!(refused > 5, "{refused}");
}
