//! Protection of files: replay never loses files that it did not write, and never leaves partial
//! files under final names.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::dir::{Dir, Outcome, TINY, checkout, listed};

trials!(
    rejects_manifests_of_other_programs,
    does_not_follow_links_to_folders,
    does_not_write_through_links,
    rejects_other_tables_before_any_work,
    keeps_tables_changed_by_hand,
    force_replaces_results_of_other_commands,
    force_removes_only_journals_of_replay,
    does_not_overwrite_the_list_of_packets,
    full_disk_leaves_no_partial_figure,
    full_disk_has_its_own_message,
    full_disk_keeps_the_previous_file,
    no_space_has_its_own_exit_code,
    checks_the_folder_of_figures_before_any_work,
    writes_devices_and_pipes_directly,
    checks_every_table_before_any_work,
);

/// One command of each kind, on four jobs.
const COMMANDS: [&str; 5] = [
    "-q --trace tiny.swf --no-plots",
    "sweep -q --trace tiny.swf",
    "search -q --trace tiny.swf --machine 3x3 --sr 1 --factors 0..1 --no-plots",
    "stream -q --machine 4x4 --arrivals 1 --jobs 5 --alloc mbs --no-plots",
    "contend -q --trace tiny.swf --scale 0.1 --alloc mbs --no-plots",
];

fn tiny() -> Dir {
    Dir::new().file("tiny.swf", format!("{TINY}3 2 0 5 1\n4 3 0 9 3\n"))
}

fn rejects_manifests_of_other_programs() {
    for text in [
        r#"{"files": ["precious.txt", "../outside.txt"]}"#,
        r#"{"program": "npm", "command": ["npm", "--out"], "files": ["precious.txt"]}"#,
        "no JSON at all",
    ] {
        for command in COMMANDS {
            let dir = tiny().file("out/manifest.json", text).file("out/precious.txt", "mine");
            for force in ["", "--force"] {
                let failed = dir.replay(&format!("{command} {force} --out out"));
                failed.fails(2, 1, &["out/manifest.json was not written by replay: move it"]);
            }
            assert_eq!(dir.read("out/manifest.json"), text.as_bytes());
            assert_eq!(dir.read("out/precious.txt"), b"mine");
            assert_eq!(dir.files("out"), ["manifest.json", "precious.txt"]);
        }
    }
}

fn does_not_follow_links_to_folders() {
    let run = "-q --trace tiny.swf";
    let dir = tiny().file("elsewhere/keep.txt", "mine");
    dir.replay(&format!("{run} --out out")).code(0);
    let plots = dir.files("out/plots");
    // Move the figures elsewhere and link to them.
    for plot in &plots {
        fs::rename(dir.path(&format!("out/plots/{plot}")), dir.path(&format!("elsewhere/{plot}")))
            .expect("moved");
    }
    fs::remove_dir(dir.path("out/plots")).expect("an empty folder");
    symlink("../elsewhere", dir.path("out/plots")).expect("a link");
    let before = dir.read("out/runs.csv");
    for other in ["", "--machine 4x4 --force"] {
        let failed = dir.replay(&format!("{run} {other} --out out"));
        failed.code(2).says("out/plots is not a directory (symbolic links are not followed)");
    }
    assert_eq!(dir.read("out/runs.csv"), before);
    assert_eq!(dir.files("elsewhere").len(), plots.len() + 1);
    // The output directory itself may be a link.
    symlink("elsewhere", dir.path("here")).expect("a link");
    dir.replay(&format!("{run} --no-plots --out here")).code(0);
    assert!(dir.path("elsewhere/runs.csv").is_file());
}

fn does_not_write_through_links() {
    let names = ["lock", "plan.json.part", "manifest.json.part", "plan.json", "journal.txt"];
    for command in [COMMANDS[0], COMMANDS[1], COMMANDS[3]] {
        for name in names {
            let dir = tiny().file("victim", "mine").file("out/own.txt", "mine");
            symlink("../victim", dir.path("out").join(name)).expect("a link");
            // The command fails or writes under another name.
            let outcome = dir.replay(&format!("{command} --out out"));
            assert_eq!(dir.read("victim"), b"mine", "{command}: {name}");
            if name == "lock" {
                outcome.fails(2, 1, &["out/lock: is a symbolic link"]);
            }
            symlink("../new", dir.path("out").join(format!("{name}2"))).expect("a link");
            assert!(!dir.path("new").exists(), "{command}: {name}");
        }
    }
}

fn rejects_other_tables_before_any_work() {
    for (command, table) in COMMANDS.into_iter().zip([
        "runs.csv",
        "by_size.parquet",
        "search.csv",
        "stream.parquet",
        "correlations.csv",
    ]) {
        let dir = tiny().file(&format!("out/{table}"), "mine");
        // The trace does not exist: the directory is checked before the trace is read.
        let command = command.replace("tiny.swf", "nothing.swf");
        let words = format!("out/{table} was not written by replay: move it");
        dir.replay(&format!("{command} --force --out out")).fails(2, 1, &[&words]);
        assert_eq!(dir.files("out"), [table]);
        assert_eq!(dir.read(&format!("out/{table}")), b"mine");
    }
}

fn keeps_tables_changed_by_hand() {
    let dir = tiny();
    dir.replay(&format!("{} --out out", COMMANDS[0])).code(0);
    fs::write(dir.path("out/runs.csv"), "my notes").expect("a file");
    let words = ["out/runs.csv was changed after it was written", "replace it with --force"];
    dir.replay(&format!("{} --out out", COMMANDS[0])).fails(2, 1, &words);
    assert_eq!(dir.read("out/runs.csv"), b"my notes");
    dir.replay(&format!("{} --force --out out", COMMANDS[0])).code(0);
    assert_ne!(dir.read("out/runs.csv"), b"my notes");
}

fn force_replaces_results_of_other_commands() {
    let dir = tiny().file("out/own.txt", "mine");
    let mut before = "";
    for command in COMMANDS.iter().chain(&COMMANDS) {
        if !before.is_empty() {
            let failed = dir.replay(&format!("{command} --out out"));
            failed.fails(
                2,
                1,
                &["the directory contains the results of a ", "replace them with --force"],
            );
        }
        dir.replay(&format!("{command} --force --out out")).code(0);
        let manifest: serde_json::Value =
            serde_json::from_slice(&dir.read("out/manifest.json")).expect("JSON");
        let mut expected = listed(&manifest);
        expected.extend(["manifest.json", "own.txt"].map(str::to_string));
        if command.starts_with("sweep") {
            expected.extend(["journal.txt", "plan.json"].map(str::to_string));
        }
        expected.sort();
        // No file of the previous command remains, and no journal of a sweep remains.
        assert_eq!(dir.files("out"), expected, "{before}, then {command}");
        before = command;
    }
}

fn force_removes_only_journals_of_replay() {
    let dir = tiny().file("out/journal.txt", "my diary\n").file("other/plan.json", "{\"a\": 1}");
    let sweep = "sweep -q --trace tiny.swf --force --out";
    let words = ["out/journal.txt is not a journal of replay", "move the journal away"];
    dir.replay(&format!("{sweep} out")).fails(3, 1, &words);
    assert_eq!(dir.read("out/journal.txt"), b"my diary\n");
    let words = ["other/plan.json was not written by replay: move it"];
    dir.replay(&format!("{sweep} other")).fails(2, 1, &words);
    assert_eq!(dir.read("other/plan.json"), b"{\"a\": 1}");
    // A journal of another version is treated as a journal of replay.
    let dir = tiny().file("out/journal.txt", "replay journal 99\n");
    let words = ["out/journal.txt is a journal of another version", "--force discards the journal"];
    dir.replay("sweep -q --trace tiny.swf --out out").fails(3, 1, &words);
    dir.replay(&format!("{sweep} out")).code(0);
}

const PACKETS: &str = "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n1,2,18,8,0\n";

fn does_not_overwrite_the_list_of_packets() {
    let dir = Dir::new().file("packets.csv", PACKETS).file("bad.csv", "id,src\n0,0\n");
    symlink("packets.csv", dir.path("link.csv")).expect("a link");
    for channels in ["packets.csv", "./packets.csv", "link.csv"] {
        let command = format!("network --packets packets.csv --channels {channels}");
        dir.replay(&command).fails(2, 1, &["is also the input"]);
        assert_eq!(dir.read("packets.csv"), PACKETS.as_bytes());
    }
    let line = "\"$0\" network --packets - --channels packets.csv < packets.csv";
    let output = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_replay")])
        .current_dir(dir.path(""))
        .output();
    Outcome::new(line, output.expect("a shell")).code(2).says("is also the input");
    assert_eq!(dir.read("packets.csv"), PACKETS.as_bytes());
    // An invalid list leaves the previous table of channels unchanged.
    let dir = dir.file("channels.csv", "of yesterday");
    dir.replay("network --packets bad.csv --channels channels.csv").code(3);
    dir.replay("network --packets none.csv --channels channels.csv").code(2);
    assert_eq!(dir.read("channels.csv"), b"of yesterday");
    dir.replay("network --packets packets.csv --channels channels.csv").code(0);
    assert!(dir.read("channels.csv").starts_with(b"channel,busy_cycles,carried_flits\n"));
    assert_eq!(dir.files("").len(), 4);
}

/// Runs the program with a limit on file size of `units` times 1,024 bytes, which stands for a full
/// disk.
fn limited(dir: &Dir, units: usize, arguments: &str) -> Outcome {
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!("ulimit -f {units}; exec {program} {arguments}");
    let output = Command::new("bash").args(["-c", &line]).current_dir(dir.path("")).output();
    Outcome::new(&line, output.expect("bash"))
}

fn full_disk_leaves_no_partial_figure() {
    for command in [COMMANDS[2], COMMANDS[3], COMMANDS[4]] {
        let dir = tiny();
        let command = command.replace(" --no-plots", "");
        dir.replay(&format!("{command} --out whole")).code(0);
        let size = |file: &String| dir.read(&format!("whole/{file}")).len();
        let files = dir.files("whole");
        let largest = files.iter().max_by_key(|file| size(file)).expect("files");
        assert!(largest.ends_with(".png"), "{command}: {largest}");
        // The limit allows all files except the last bytes of the largest figure.
        let failed = limited(&dir, size(largest) / 1024, &format!("{command} --out out"));
        failed.code(4).says("File too large (os error 27)").says("out/unfinished.part");
        assert!(!dir.path("out/manifest.json").exists(), "{command}");
        // Apart from unfinished files, only the files needed to resume remain.
        let kept = |file: &String| ["journal.txt", "plan.json"].contains(&file.as_str());
        let left = dir.files("out");
        let beside = left.iter().filter(|file| !file.starts_with("unfinished.part/"));
        assert!(beside.into_iter().all(kept), "{left:?}");
    }
}

fn full_disk_has_its_own_message() {
    let dir = Dir::with_trace();
    for command in [
        "-q --jobs 300 --no-plots",
        "sweep -q --jobs 300 --alloc mc1x1,random",
        "search -q --jobs 100 --sr 1..3 --factors 0..3 --no-plots",
        "stream -q --arrivals 1..9 --jobs 5 --alloc mbs,gabl --max-replications 30 --no-plots",
        "contend -q --jobs 100 --scale 0.05 --alloc mbs --no-plots",
    ] {
        dir.replay(&format!("{command} --out whole")).code(0);
        let parquet = dir.files("whole").into_iter().filter(|file| file.ends_with(".parquet"));
        let units: Vec<usize> =
            parquet.map(|file| dir.read(&format!("whole/{file}")).len() / 1024).collect();
        for unit in units.into_iter().flat_map(|size| [1, size]) {
            let failed = limited(&dir, unit, &format!("{command} --out out")).code(4);
            let failed = failed.says("File too large (os error 27)");
            failed.demand(
                !failed.stderr.contains("specification"),
                "the disk is full, not: the table is malformed",
            );
            failed.demand(!dir.path("out/manifest.json").exists(), "no results");
        }
        fs::remove_dir_all(dir.path("whole")).expect("a folder");
        // The directory was removed if the limit prevented even the first journal entry.
        if dir.path("out").exists() {
            fs::remove_dir_all(dir.path("out")).expect("a folder");
        }
    }
}

/// For every kind of output, exit code 4 states that an output has no space, and exit code 2 that its name is wrong.
fn no_space_has_its_own_exit_code() {
    let sources = [
        ("packets.csv", "tests/golden/inputs/packets.csv"),
        ("topology.conf", "docs/fixtures/topology.conf"),
        ("table.csv", "docs/fixtures/table.csv"),
        ("table.toml", "docs/fixtures/table.toml"),
    ];
    let dir = sources.into_iter().fold(tiny(), |dir, (name, path)| {
        dir.file(name, fs::read(checkout().join(path)).expect("a file"))
    });
    dir.replay("-q --trace tiny.swf --alloc mbs,random --out res").code(0);
    dir.replay("sweep -q --trace tiny.swf --shard 1/1 --out part").code(0);
    let others = [
        "sweep -q --trace tiny.swf --shard 1/2",
        "show --trace tiny.swf --at 0",
        "explain --trace tiny.swf --job 2",
        "verify lublin -q",
        "compare res:0 res:1 --schedule",
        "merge part",
    ];
    let files = [
        "show --trace tiny.swf --perfetto --write",
        "verify lublin -q --write",
        "report res --write",
        "network --packets packets.csv --write",
        "network --packets packets.csv --channels",
        "synth --jobs 5 --write",
        "import csv table.csv --map table.toml --write",
        "check-topology topology.conf --nodes node000 --write",
        "man --all",
    ];
    let folders = COMMANDS.iter().chain(&others).map(|command| format!("{command} --out"));
    for command in folders.chain(files.map(str::to_string)) {
        let failed = limited(&dir, 0, &format!("{command} o.conf")).code(4);
        failed.says("File too large (os error 27)");
        let place = dir.path("o.conf");
        if place.is_dir() {
            fs::remove_dir_all(place).expect("a folder");
        }
        // A path below a file.
        let failed = dir.replay(&format!("{command} tiny.swf/o.conf")).code(2);
        failed.says("Not a directory (os error 20)");
    }
}

/// Only the error is printed. A line of progress would be a second line on standard error.
fn checks_the_folder_of_figures_before_any_work() {
    let dir = Dir::new().file("plain", "");
    dir.replay("verify turner --out plain/x").fails(2, 1, &["cannot write plain/x: "]);
    let compare = "compare no:0 no:1 --schedule --out plain/x";
    dir.replay(compare).fails(2, 1, &["cannot write plain/x: "]);
    assert_eq!(dir.read("plain"), b"");
    let dir = dir.file("results/manifest.json", "{}");
    for command in ["verify turner --out results", "compare no:0 no:1 --schedule --out results"] {
        dir.replay(command).fails(
            2,
            1,
            &["--out results: contains the results of another command"],
        );
    }
}

fn full_disk_keeps_the_previous_file() {
    let dir = Dir::new().file("packets.csv", PACKETS);
    let packets = "network --packets packets.csv --machine 64x64 --channels";
    for (command, old) in [
        ("synth --jobs 5000 --write", &["out.swf"][..]),
        ("synth stream[jobs=9000] --write", &["out.swf", "out.shapes.csv"]),
        ("verify lo-messages -q --trace fft-2d --write", &["out.swf"]),
        (packets, &["out.swf"]),
    ] {
        for name in old {
            fs::write(dir.path(name), "of yesterday").expect("a file");
        }
        let failed = limited(&dir, 0, &format!("{command} out.swf")).code(4);
        failed.says("cannot write out.").says("File too large (os error 27)");
        for name in old {
            assert_eq!(dir.read(name), b"of yesterday", "{command}");
        }
        let mut expected = old.to_vec();
        expected.push("packets.csv");
        expected.sort_unstable();
        assert_eq!(dir.files(""), expected, "{command}");
        for name in old {
            fs::remove_file(dir.path(name)).expect("a file");
        }
    }
}

fn writes_devices_and_pipes_directly() {
    let dir = Dir::new();
    let made = dir.replay("synth --jobs 20").code(0).stdout;
    dir.replay("synth --jobs 20 --write /dev/null").code(0);
    let piped = dir.replay("synth --jobs 20 --write /dev/stdout").code(0);
    assert_eq!(piped.stdout, made);
}

fn checks_every_table_before_any_work() {
    // Every table that a command writes must be in the list that is checked before any work.
    let dir = Dir::with_trace();
    let searched = "search -q --jobs 60 --split 0.5 --sr 1 --factors 0..1 --no-plots";
    for command in COMMANDS.iter().chain(&[searched]) {
        let dir = match command.starts_with("search") && command.contains("split") {
            true => &dir,
            false => &tiny(),
        };
        dir.replay(&format!("{command} --out out")).code(0);
        let own = ["manifest.json", "journal.txt", "plan.json"];
        let tables: Vec<String> =
            dir.files("out").into_iter().filter(|file| !own.contains(&file.as_str())).collect();
        assert!(!tables.is_empty(), "{command}");
        for table in tables {
            let other = tiny().file(&format!("out/{table}"), "mine");
            let command = command.replace("tiny.swf", "nothing.swf");
            let failed = other.replay(&format!("{command} --out out"));
            failed.code(2).says(&format!("out/{table} was not written by replay"));
        }
    }
}
