//! Whose files are whose: nothing that is somebody else's is lost, nothing of ours is torn.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::dir::{Dir, Outcome, TINY, listed};

trials!(
    another_programs_manifest_is_no_list_of_ours,
    a_linked_folder_is_not_written_into,
    names_of_ours_that_are_links_lead_nowhere,
    a_table_of_somebody_else_fails_first,
    a_result_changed_by_hand_is_kept,
    another_commands_results_are_replaced_by_force,
    only_a_journal_is_forgotten,
    the_list_of_packets_is_not_written_over,
    a_full_disk_leaves_no_torn_picture,
    a_full_disk_is_called_so,
    a_full_disk_keeps_the_old_file,
    pictures_have_a_place_before_any_work,
    terminals_and_pipes_are_written_at_once,
    tables_are_those_that_were_looked_for,
);

/// One command of every kind, on two jobs.
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

fn another_programs_manifest_is_no_list_of_ours() {
    for text in [
        r#"{"files": ["precious.txt", "../outside.txt"]}"#,
        r#"{"program": "npm", "command": ["npm", "--out"], "files": ["precious.txt"]}"#,
        "no JSON at all",
    ] {
        for command in COMMANDS {
            let dir = tiny().file("out/manifest.json", text).file("out/precious.txt", "mine");
            for force in ["", "--force"] {
                let failed = dir.replay(&format!("{command} {force} --out out"));
                failed.fails(2, 1, &["out/manifest.json is not of this program: move it away"]);
            }
            assert_eq!(dir.read("out/manifest.json"), text.as_bytes());
            assert_eq!(dir.read("out/precious.txt"), b"mine");
            assert_eq!(dir.files("out"), ["manifest.json", "precious.txt"]);
        }
    }
}

fn a_linked_folder_is_not_written_into() {
    let run = "-q --trace tiny.swf";
    let dir = tiny().file("elsewhere/keep.txt", "mine");
    dir.replay(&format!("{run} --out out")).code(0);
    let plots = dir.files("out/plots");
    // The figures move elsewhere, and a link leads to them.
    for plot in &plots {
        fs::rename(dir.path(&format!("out/plots/{plot}")), dir.path(&format!("elsewhere/{plot}")))
            .expect("moved");
    }
    fs::remove_dir(dir.path("out/plots")).expect("an empty folder");
    symlink("../elsewhere", dir.path("out/plots")).expect("a link");
    let before = dir.read("out/runs.csv");
    for other in ["", "--machine 4x4 --force"] {
        let failed = dir.replay(&format!("{run} {other} --out out"));
        failed.code(2).says("out/plots is no folder (no link is followed)");
    }
    assert_eq!(dir.read("out/runs.csv"), before);
    assert_eq!(dir.files("elsewhere").len(), plots.len() + 1);
    // The folder that the user names may be a link.
    symlink("elsewhere", dir.path("here")).expect("a link");
    dir.replay(&format!("{run} --no-plots --out here")).code(0);
    assert!(dir.path("elsewhere/runs.csv").is_file());
}

fn names_of_ours_that_are_links_lead_nowhere() {
    let names = ["lock", "plan.json.part", "manifest.json.part", "plan.json", "journal.txt"];
    for command in [COMMANDS[0], COMMANDS[1], COMMANDS[3]] {
        for name in names {
            let dir = tiny().file("victim", "mine").file("out/own.txt", "mine");
            symlink("../victim", dir.path("out").join(name)).expect("a link");
            // Refused, or written under another name.
            let outcome = dir.replay(&format!("{command} --out out"));
            assert_eq!(dir.read("victim"), b"mine", "{command}: {name}");
            if name == "lock" {
                outcome.fails(2, 1, &["out/lock: it is a link"]);
            }
            symlink("../new", dir.path("out").join(format!("{name}2"))).expect("a link");
            assert!(!dir.path("new").exists(), "{command}: {name}");
        }
    }
}

fn a_table_of_somebody_else_fails_first() {
    for (command, table) in COMMANDS.into_iter().zip([
        "runs.csv",
        "by_size.parquet",
        "search.csv",
        "stream.parquet",
        "correlations.csv",
    ]) {
        let dir = tiny().file(&format!("out/{table}"), "mine");
        // With a trace that is missing: the folder is looked at before it.
        let command = command.replace("tiny.swf", "nothing.swf");
        let told = format!("out/{table} is not of this program: move it away");
        dir.replay(&format!("{command} --force --out out")).fails(2, 1, &[&told]);
        assert_eq!(dir.files("out"), [table]);
        assert_eq!(dir.read(&format!("out/{table}")), b"mine");
    }
}

fn a_result_changed_by_hand_is_kept() {
    let dir = tiny();
    dir.replay(&format!("{} --out out", COMMANDS[0])).code(0);
    fs::write(dir.path("out/runs.csv"), "my notes").expect("a file");
    let told = ["out/runs.csv was changed after it was written", "replace it with --force"];
    dir.replay(&format!("{} --out out", COMMANDS[0])).fails(2, 1, &told);
    assert_eq!(dir.read("out/runs.csv"), b"my notes");
    dir.replay(&format!("{} --force --out out", COMMANDS[0])).code(0);
    assert_ne!(dir.read("out/runs.csv"), b"my notes");
}

fn another_commands_results_are_replaced_by_force() {
    let dir = tiny().file("out/own.txt", "mine");
    let mut before = "";
    for command in COMMANDS.iter().chain(&COMMANDS) {
        if !before.is_empty() {
            let failed = dir.replay(&format!("{command} --out out"));
            failed.fails(2, 1, &["it holds the results of a ", "replace them with --force"]);
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
        // Nothing of the others is left, nor of a sweep's journal.
        assert_eq!(dir.files("out"), expected, "{before}, then {command}");
        before = command;
    }
}

fn only_a_journal_is_forgotten() {
    let dir = tiny().file("out/journal.txt", "my diary\n").file("other/plan.json", "{\"a\": 1}");
    let sweep = "sweep -q --trace tiny.swf --force --out";
    let told = ["out/journal.txt is no journal of this program", "move it away"];
    dir.replay(&format!("{sweep} out")).fails(3, 1, &told);
    assert_eq!(dir.read("out/journal.txt"), b"my diary\n");
    let told = ["other/plan.json is not of this program: move it away"];
    dir.replay(&format!("{sweep} other")).fails(2, 1, &told);
    assert_eq!(dir.read("other/plan.json"), b"{\"a\": 1}");
    // One of another version is a journal all the same.
    let dir = tiny().file("out/journal.txt", "replay journal 99\n");
    let told = ["out/journal.txt is a journal of another version", "--force discards the journal"];
    dir.replay("sweep -q --trace tiny.swf --out out").fails(3, 1, &told);
    dir.replay(&format!("{sweep} out")).code(0);
}

const PACKETS: &str = "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n1,2,18,8,0\n";

fn the_list_of_packets_is_not_written_over() {
    let dir = Dir::new().file("packets.csv", PACKETS).file("bad.csv", "id,src\n0,0\n");
    symlink("packets.csv", dir.path("link.csv")).expect("a link");
    for channels in ["packets.csv", "./packets.csv", "link.csv"] {
        let command = format!("network --packets packets.csv --channels {channels}");
        dir.replay(&command).fails(2, 1, &["is also the list of packets"]);
        assert_eq!(dir.read("packets.csv"), PACKETS.as_bytes());
    }
    let line = "\"$0\" network --packets - --channels packets.csv < packets.csv";
    let output = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_replay")])
        .current_dir(dir.path(""))
        .output();
    Outcome::new(line, output.expect("a shell")).code(2).says("is also the list of packets");
    assert_eq!(dir.read("packets.csv"), PACKETS.as_bytes());
    // Nor does a list that is none cost an earlier file of channels.
    let dir = dir.file("channels.csv", "of yesterday");
    dir.replay("network --packets bad.csv --channels channels.csv").code(3);
    dir.replay("network --packets none.csv --channels channels.csv").code(2);
    assert_eq!(dir.read("channels.csv"), b"of yesterday");
    dir.replay("network --packets packets.csv --channels channels.csv").code(0);
    assert!(dir.read("channels.csv").starts_with(b"channel,busy_cycles,carried_flits\n"));
    assert_eq!(dir.files("").len(), 4);
}

/// Runs the program where no file may become larger than this, which stands for a disk that
/// is full. In units of 1,024 bytes.
fn limited(dir: &Dir, units: usize, arguments: &str) -> Outcome {
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!("ulimit -f {units}; exec {program} {arguments}");
    let output = Command::new("bash").args(["-c", &line]).current_dir(dir.path("")).output();
    Outcome::new(&line, output.expect("bash"))
}

fn a_full_disk_leaves_no_torn_picture() {
    for command in [COMMANDS[2], COMMANDS[3], COMMANDS[4]] {
        let dir = tiny();
        let command = command.replace(" --no-plots", "");
        dir.replay(&format!("{command} --out whole")).code(0);
        let size = |file: &String| dir.read(&format!("whole/{file}")).len();
        let files = dir.files("whole");
        let largest = files.iter().max_by_key(|file| size(file)).expect("files");
        assert!(largest.ends_with(".png"), "{command}: {largest}");
        // Only the last bytes of that picture find no room.
        let failed = limited(&dir, size(largest) / 1024, &format!("{command} --out out"));
        failed.code(2).says("File too large (os error 27)").says("out/unfinished.part");
        assert!(!dir.path("out/manifest.json").exists(), "{command}");
        // Beside what is unfinished only what the same command goes on by.
        let kept = |file: &String| ["journal.txt", "plan.json"].contains(&file.as_str());
        let left = dir.files("out");
        let beside = left.iter().filter(|file| !file.starts_with("unfinished.part/"));
        assert!(beside.into_iter().all(kept), "{left:?}");
    }
}

fn a_full_disk_is_called_so() {
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
            let failed = limited(&dir, unit, &format!("{command} --out out")).code(2);
            let failed = failed.says("File too large (os error 27)");
            failed.demand(!failed.stderr.contains("specification"), "what it is");
            failed.demand(!dir.path("out/manifest.json").exists(), "no results");
        }
        fs::remove_dir_all(dir.path("whole")).expect("a folder");
        // It is gone where not even the first cell could be journalled.
        if dir.path("out").exists() {
            fs::remove_dir_all(dir.path("out")).expect("a folder");
        }
    }
}

/// A line of what is done would be a second one.
fn pictures_have_a_place_before_any_work() {
    let dir = Dir::new().file("plain", "");
    dir.replay("verify turner --out plain/x").fails(2, 1, &["cannot write plain/x: "]);
    let compare = "compare no:0 no:1 --schedule --out plain/x";
    dir.replay(compare).fails(2, 1, &["cannot write plain/x: "]);
    assert_eq!(dir.read("plain"), b"");
}

fn a_full_disk_keeps_the_old_file() {
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
        let failed = limited(&dir, 0, &format!("{command} out.swf")).code(2);
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

fn terminals_and_pipes_are_written_at_once() {
    let dir = Dir::new();
    let made = dir.replay("synth --jobs 20").code(0).stdout;
    dir.replay("synth --jobs 20 --write /dev/null").code(0);
    let piped = dir.replay("synth --jobs 20 --write /dev/stdout").code(0);
    assert_eq!(piped.stdout, made);
}

fn tables_are_those_that_were_looked_for() {
    // What may be in the way is known before any work is done, so it has to be all.
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
            failed.code(2).says(&format!("out/{table} is not of this program"));
        }
    }
}
