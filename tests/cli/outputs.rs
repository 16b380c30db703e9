//! Files that a command writes: no file that replay did not write is replaced, no output is an input or another output,
//! and results remain until their successors are complete.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use super::dir::{Dir, Outcome, TINY};

trials!(
    no_output_is_an_input,
    no_file_is_written_twice,
    side_files_of_others_are_kept,
    outdated_side_files_are_removed,
    pages_of_others_are_kept,
    figures_of_others_are_kept,
    forced_sweeps_keep_results_until_they_are_complete,
    files_of_a_set_are_renamed_together,
    missing_folders_are_created,
    links_to_missing_files_are_followed,
    files_of_killed_processes_are_removed,
    standard_output_that_cannot_be_written_is_an_error,
    control_characters_do_not_reach_a_terminal,
    endless_input_is_refused,
    irregular_side_files_are_reported,
    signals_end_a_command_that_waits_for_a_reader,
);

const PROGRAM: &str = env!("CARGO_BIN_EXE_replay");

const SACCT: &str = "\
JobID|Submit|Start|End|AllocNodes|NodeList|State
7|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|4|n[0-3]|COMPLETED
9|2026-03-01T08:01:00|2026-03-01T09:00:05|2026-03-01T09:30:05|2|n[4-5]|COMPLETED
";
/// The same log with job ids 1 and 2 and without nodes, for which import writes no side file.
const PLAIN: &str = "\
JobID|Submit|Start|End|AllocNodes|State
1|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|4|COMPLETED
2|2026-03-01T08:01:00|2026-03-01T09:00:05|2026-03-01T09:30:05|2|COMPLETED
";
const TABLE: &str = "id,t,r,n\n1,1,10,4\n2,2,10,4\n";
const MAP: &str = "time = 'seconds'\n[columns]\nid = 'id'\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n";
const PACKETS: &str = "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n1,2,18,8,0\n";
const CASES: &str = "topology,rule,options,free,n\nt,slurm-tree,,0-3,2\n";
const TREE: &str = "SwitchName=a Nodes=n[0-3]\n";
const DOWN: &str = "from,until,what\n1,2,node 3\n";

/// Runs a line of bash in which `$0` is the program.
fn bash(dir: &Dir, line: &str) -> Outcome {
    let output =
        Command::new("bash").args(["-c", line, PROGRAM]).current_dir(dir.path("")).output();
    Outcome::new(line, output.expect("bash"))
}

fn inputs() -> Dir {
    let dir = Dir::new()
        .file("x.nodes.csv", SACCT)
        .file("x.ids.csv", SACCT)
        .file("x.shapes.csv", SACCT)
        .file("t.csv", TABLE)
        .file("map.toml", MAP)
        .file("t.swf", TINY)
        .file("down.csv", DOWN)
        .file("packets.csv", PACKETS)
        .file("machines/t.conf", TREE)
        .file("cases.csv", CASES)
        .file("hosts", "n0\nn1\n");
    let shapes =
        format!("job,w,h,d\n1,2,1,1\n2,2,1,1\n# trace blake3:{}\n", blake3::hash(TINY.as_bytes()));
    let dir = dir.file("t.shapes.csv", shapes);
    symlink("t.swf", dir.path("link.swf")).expect("a link");
    symlink("machines/t.conf", dir.path("link.conf")).expect("a link");
    fs::hard_link(dir.path("map.toml"), dir.path("hard.toml")).expect("a link");
    dir
}

fn no_output_is_an_input() {
    let dir = inputs();
    let contents = || -> Vec<(String, Vec<u8>)> {
        dir.files("").into_iter().map(|name| (name.clone(), dir.read(&name))).collect()
    };
    let before = contents();
    for command in [
        "import sacct x.nodes.csv --processors 16 --write x.swf",
        "import sacct x.ids.csv --processors 16 --write ./x.swf",
        "import sacct x.shapes.csv --processors 16 --write x.swf",
        "import csv t.csv --map map.toml --write map.toml",
        "import csv t.csv --map map.toml --write hard.toml",
        "import csv t.csv --map map.toml --write t.csv",
        "show -q --trace t.swf --perfetto --write t.swf",
        "show -q --trace t.swf --perfetto --write link.swf",
        "show -q --trace t.swf --perfetto --write t.shapes.csv",
        "show -q --trace t.swf --down down.csv --perfetto --write down.csv",
        "place --machines machines --cases cases.csv --write machines/t.conf",
        "place --machines machines --cases cases.csv --write link.conf",
        "place --machines machines --cases cases.csv --hosts hosts --write hosts",
        "place --machines machines --cases cases.csv --write cases.csv",
        "network --packets packets.csv --write packets.csv",
        "network --packets packets.csv --channels packets.csv",
        "verify johnson --trace KTH-SP2 --write KTH-SP2.swf",
    ] {
        let dir = match command.starts_with("verify") {
            true => &Dir::new().file("KTH-SP2.swf", TINY),
            false => &dir,
        };
        dir.replay(command).fails(2, 1, &["this file is also the input", "name another file"]);
    }
    let line = "\"$0\" show --trace - --perfetto --write t.swf < t.swf";
    bash(&dir, line).code(2).says("this file is also the input on standard input");
    assert!(contents() == before);
}

fn no_file_is_written_twice() {
    let dir = inputs();
    symlink("a.csv", dir.path("later.csv")).expect("a link");
    for (write, channels) in
        [("a.csv", "a.csv"), ("a.csv", "./a.csv"), ("a.csv", "later.csv"), ("b/a.csv", "b/./a.csv")]
    {
        let command =
            format!("network --packets packets.csv --write {write} --channels {channels}");
        dir.replay(&command).fails(2, 1, &["this file is also written as --write"]);
    }
    assert!(!dir.path("a.csv").exists() && !dir.path("b").exists());
    // A device has no content that could be lost.
    dir.replay("network --packets packets.csv --write /dev/null --channels /dev/null").code(0);
}

/// A side file that was written by hand is replaced only together with its trace.
fn side_files_of_others_are_kept() {
    let import = "import sacct log.txt --processors 16 -q --write w.swf";
    let synth = "synth stream[machine=8x8,jobs=5] -q --write w.swf";
    for (command, names) in
        [(import, &["w.nodes.csv", "w.ids.csv"][..]), (synth, &["w.shapes.csv"])]
    {
        for name in names {
            let text = "job,nodes\n# trace blake3:1\n";
            let dir = Dir::new().file("log.txt", SACCT).file(name, text);
            let words = [name, "was not written by replay", "move it away"];
            dir.replay(command).fails(2, 1, &words);
            assert_eq!(dir.read(name), text.as_bytes());
            assert!(!dir.path("w.swf").exists());
            // The trace and the files beside it are replaced together.
            let dir = dir.file("w.swf", TINY);
            dir.replay(command).code(0);
            assert!(String::from_utf8_lossy(&dir.read(name)).contains("# trace blake3:"));
            // Files with a digest were written by replay, even if their trace was moved.
            fs::remove_file(dir.path("w.swf")).expect("a file");
            dir.replay(command).code(0);
        }
    }
}

fn outdated_side_files_are_removed() {
    let dir = Dir::new().file("log.txt", SACCT).file("plain.txt", PLAIN);
    let import =
        |log: &str| dir.replay(&format!("import sacct {log} --processors 16 --write w.swf"));
    import("log.txt").code(0);
    assert_eq!(dir.files(""), ["log.txt", "plain.txt", "w.ids.csv", "w.nodes.csv", "w.swf"]);
    import("plain.txt").code(0).says("removed w.ids.csv, which belonged to the replaced trace");
    assert_eq!(dir.files(""), ["log.txt", "plain.txt", "w.swf"]);
    import("log.txt").code(0);
    // The same holds for a synthetic trace that replaces the imported trace.
    dir.replay("synth --jobs 5 --write w.swf -q").code(0).says_nothing();
    assert_eq!(dir.files(""), ["log.txt", "plain.txt", "w.swf"]);
    // Files without a digest, and files of a trace that is not replaced, are not removed.
    import("log.txt").code(0);
    fs::remove_file(dir.path("w.swf")).expect("a file");
    import("plain.txt").fails(2, 1, &["exists, but this log has no such data"]);
    fs::remove_file(dir.path("w.ids.csv")).expect("a file");
    let dir = dir.file("w.nodes.csv", "job,nodes\n1,n0\n").file("w.swf", TINY);
    let refused = dir.replay("import sacct plain.txt --processors 16 --write w.swf");
    refused.fails(2, 1, &["w.nodes.csv exists, but this log has no such data"]);
    assert_eq!(dir.read("w.swf"), TINY.as_bytes());
}

fn pages_of_others_are_kept() {
    let dir = Dir::new().file("t.swf", TINY).file("report.html", "<!DOCTYPE html>\n<p>mine</p>\n");
    dir.replay("--trace t.swf -q --no-plots --out o").code(0);
    let words = ["report.html: was not written by replay", "--write report.html replaces it"];
    dir.replay("report o").fails(2, 1, &words);
    assert_eq!(dir.read("report.html"), b"<!DOCTYPE html>\n<p>mine</p>\n");
    dir.replay("report o -q --write report.html").code(0);
    // The page of an earlier call is replaced.
    dir.replay("report o -q").code(0);
    let dir = dir.file("man/replay-show.1", "mine");
    dir.replay("man --all man").fails(2, 1, &["man/replay-show.1: was not written by replay"]);
    assert_eq!(dir.files("man"), ["replay-show.1"]);
    fs::remove_file(dir.path("man/replay-show.1")).expect("a file");
    dir.replay("man --all man").code(0);
    dir.replay("man --all man").code(0);
}

fn figures_of_others_are_kept() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 200 --alloc mbs,random -q --no-plots --out o").code(0);
    let compare = "compare o:0 o:1 --schedule -q --out";
    for _ in 0..2 {
        dir.replay(&format!("{compare} drawn")).code(0);
    }
    let names = dir.files("drawn");
    assert_eq!(names.len(), 5);
    for name in &names {
        let file = format!("other/{name}");
        fs::create_dir_all(dir.path("other")).expect("a folder");
        fs::write(dir.path(&file), "mine").expect("a file");
        let failed = dir.replay(&format!("{compare} other")).code(2);
        failed.says(name).says("was not written by replay as a figure");
        assert_eq!(dir.files("other"), [name.as_str()]);
        assert_eq!(dir.read(&file), b"mine");
        fs::remove_file(dir.path(&file)).expect("a file");
        // One changed file of a figure prevents the replacement of the others.
        let file = format!("drawn/{name}");
        let whole = dir.read(&file);
        fs::write(dir.path(&file), "changed").expect("a file");
        dir.replay(&format!("{compare} drawn"))
            .code(2)
            .says("was not written by replay as a figure");
        assert_eq!(dir.read(&file), b"changed");
        fs::write(dir.path(&file), whole).expect("a file");
    }
}

/// Without room for a journal, no cell runs.
fn forced_sweeps_keep_results_until_they_are_complete() {
    let dir = Dir::new().file("t.swf", TINY);
    for earlier in ["--trace t.swf --no-plots", "sweep --trace t.swf --alloc mm"] {
        dir.replay(&format!("{earlier} -q --force --out o")).code(0);
        let tables = ["manifest.json", "runs.csv", "runs.parquet"];
        let before = tables.map(|name| dir.read(&format!("o/{name}")));
        let sweep = "sweep --trace t.swf --alloc mbs -q --force --out o";
        bash(&dir, &format!("ulimit -f 0; \"$0\" {sweep}")).code(4);
        assert!(tables.map(|name| dir.read(&format!("o/{name}"))) == before, "{earlier}");
        dir.replay(sweep).code(0);
        assert!(dir.read("o/runs.csv") != before[1]);
    }
    // The journal of another command is replaced; the journal of the sweep remains, so that the sweep can grow.
    let search = "search --trace t.swf --machine 3x3 --sr 1 --factors 0..1 --shard 1/2 -q --out s";
    dir.replay(search).code(0);
    dir.replay("sweep --trace t.swf --alloc mbs -q --force --out s").code(0);
    let more = dir.replay("sweep --trace t.swf --alloc mbs,mm --out s").code(0);
    more.says("2 cells: 1 done before, 1 run");
}

fn files_of_a_set_are_renamed_together() {
    let dir = Dir::new().file("packets.csv", PACKETS).file("a.csv", "old");
    let network = "network --packets packets.csv --write a.csv --channels";
    dir.replay(&format!("{network} /dev/full")).code(4).says("cannot write /dev/full");
    assert_eq!(dir.read("a.csv"), b"old");
    dir.replay(&format!("{network} b.csv")).code(0);
    assert!(dir.read("a.csv").starts_with(b"id,") && dir.path("b.csv").exists());
    let failed = dir.replay("network --packets packets.csv --write /dev/full --channels b.csv");
    failed.code(4).says("cannot write /dev/full");
}

fn missing_folders_are_created() {
    let dir = inputs();
    for command in [
        "import sacct x.ids.csv --processors 16 --write new/a/log.swf",
        "synth --jobs 5 --write new/b/s.swf",
        "synth stream[machine=8x8,jobs=5] --write new/c/s.swf",
        "show -q --trace t.swf --perfetto --write new/d/t.json",
        "place --machines machines --cases cases.csv --write new/e/a.csv",
        "network --packets packets.csv --write new/f/p.csv --channels new/g/c.csv",
        "verify scheduling -q --write new/h/v.csv",
        "verify scheduling -q --out new/i/v",
        "man --all new/j/man",
    ] {
        dir.replay(command).code(0);
    }
    dir.replay("--trace t.swf -q --no-plots --out new/k/o").code(0);
    dir.replay("report new/k/o --write new/l/page.html").code(0);
    for folder in "abcdefghjkl".chars() {
        assert!(!dir.files(&format!("new/{folder}")).is_empty(), "{folder}");
    }
    // A command that fails leaves no empty folder.
    dir.replay("import sacct cases.csv --write none/a/log.swf").code(3);
    dir.replay("network --packets cases.csv --write none/p.csv --channels none/b/c.csv").code(3);
    assert!(!dir.path("none").exists());
    let failed = dir.replay("synth --jobs 2 --write t.csv/below/s.swf");
    failed.fails(2, 1, &["cannot write t.csv/below/s.swf: Not a directory"]);
}

fn links_to_missing_files_are_followed() {
    let dir = Dir::new().file("t.swf", TINY);
    for (target, link) in
        [("sub/out.swf", "l.swf"), ("loop-b", "loop-a"), ("loop-a", "loop-b"), ("folder", "o")]
    {
        symlink(target, dir.path(link)).expect("a link");
    }
    dir.replay("synth --jobs 2 --write l.swf -q").code(0);
    assert!(dir.path("sub/out.swf").is_file());
    assert!(fs::symlink_metadata(dir.path("l.swf")).is_ok_and(|meta| meta.is_symlink()));
    let failed = dir.replay("synth --jobs 2 --write loop-a");
    failed.fails(2, 1, &["cannot write loop-a: Too many levels of symbolic links"]);
    assert!(fs::symlink_metadata(dir.path("loop-a")).is_ok_and(|meta| meta.is_symlink()));
    dir.replay("--trace t.swf -q --no-plots --out o").code(0);
    assert!(dir.path("folder/manifest.json").is_file());
    dir.replay("--trace t.swf -q --no-plots --out loop-a").code(2);
}

fn files_of_killed_processes_are_removed() {
    let mut dir = Dir::new().file("z.swf.part", "mine");
    for number in 0..120 {
        dir = dir.file(&format!("z.swf.replay-{number}-3.part"), "half");
    }
    dir.replay("synth --jobs 2 --write z.swf -q").code(0);
    assert_eq!(dir.files(""), ["z.swf", "z.swf.part"]);
    // A killed process leaves a file that is removed in the same way.
    let line = "mkfifo in; \"$0\" import sacct in --processors 4 --write z.swf & \
                exec 3> in; until ls z.swf.replay-*.part 2> /dev/null; do sleep 0.01; done; kill -9 $!; wait";
    bash(&dir, line).prints("z.swf.replay-");
    assert!(dir.files("").iter().any(|name| name.contains(".replay-")));
    dir.replay("synth --jobs 2 --write z.swf -q").code(0);
    let left = dir.files("").into_iter().filter(|name| name.starts_with("z.swf.replay-"));
    assert_eq!(left.count(), 0);
}

fn standard_output_that_cannot_be_written_is_an_error() {
    let dir = Dir::new().file("t.swf", TINY).file("packets.csv", PACKETS);
    for command in [
        "--help",
        "-h",
        "--version",
        "-V",
        "help",
        "synth --help",
        "synth --jobs 2",
        "network --packets packets.csv",
        "list allocators",
        "--trace t.swf",
        "--trace t.swf --format json",
        "show -q --trace t.swf --at 0",
        "completions bash",
        "man",
    ] {
        for redirection in ["> /dev/full", ">&-"] {
            let run = bash(&dir, &format!("\"$0\" {command} {redirection}")).code(2);
            run.says("cannot write standard output");
        }
        bash(&dir, &format!("\"$0\" {command} > /dev/null")).code(0);
    }
    // Only commands that write to standard output need it.
    bash(&dir, "\"$0\" synth --jobs 2 -q --write s.swf >&-").code(0);
}

fn control_characters_do_not_reach_a_terminal() {
    let name = "a\u{1b}[31m\u{9b}1m\u{7}.swf";
    let dir = Dir::new()
        .file(name, TINY)
        .file("machines/t.conf", TREE)
        .file("cases.csv", CASES.replace(",,", ",switches=1\u{1b}]0;x\u{7},"));
    let line = |arguments: &str| {
        let quoted = arguments.replace("TRACE", &format!("./{name}"));
        format!("script -qec '\"{PROGRAM}\" {quoted}' /dev/null")
    };
    for arguments in [
        "--trace \"TRACE\" -q",
        "--trace \"TRACE\" -q --format csv",
        "--trace \"TRACE\" -q --format md",
        "--trace \"TRACE\" -q --format json",
        "explain --trace \"TRACE\" -q --job 1",
        "show --trace \"TRACE\" -q --at 0",
        "show --trace \"TRACE\" -q --perfetto",
        "plan --trace \"TRACE\" -q",
        "place --machines machines --cases cases.csv",
        "contend --trace \"TRACE\" -q --scale 0.1 --alloc mbs",
    ] {
        let lines = dir.shell(&line(arguments)).join("\n");
        assert!(!lines.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{arguments}: {lines:?}");
        assert!(lines.contains("\u{fffd}") || arguments.contains("json"), "{arguments}: {lines:?}");
    }
    // A file or a pipe receives the bytes of the data.
    let piped = bash(&dir, &format!("\"$0\" --trace './{name}' -q --format csv")).code(0);
    assert!(piped.stdout.contains('\u{1b}'));
    bash(&dir, &format!("\"$0\" --trace './{name}' -q --out o && \"$0\" report o -q")).code(0);
    let page = String::from_utf8(dir.read("report.html")).expect("UTF-8");
    assert!(!page.contains(['\u{1b}', '\u{9b}', '\u{7}']) && page.contains('\u{fffd}'));
}

fn endless_input_is_refused() {
    let dir = Dir::new();
    for input in ["/dev/zero", "/dev/full"] {
        let run = bash(&dir, &format!("ulimit -v 1000000; \"$0\" report -q {input}")).code(3);
        run.says("longer than 16777216 bytes");
    }
    let line = "ulimit -v 1000000; yes figure,published,ours,verdict | \"$0\" report -q /dev/stdin";
    bash(&dir, line).code(3).says("longer than 16777216 bytes");
    for command in [
        "fetch KTH --manifest /dev/zero",
        "--machine torus:4x4x4 --alloc 'placements[freq=/dev/zero]' -q",
    ] {
        let run = bash(&dir, &format!("ulimit -v 1000000; \"$0\" {command}")).code(2);
        run.says("the text is longer than");
    }
}

fn irregular_side_files_are_reported() {
    let dir = Dir::new().file("t.swf", TINY).file("log.txt", SACCT);
    fs::create_dir(dir.path("t.shapes.csv")).expect("a folder");
    let words = ["t.shapes.csv", "is not a regular file", "move it away"];
    let failed = dir.replay("--trace t.swf -q");
    words.iter().fold(failed, |failed, words| failed.says(words));
    let import = "import sacct log.txt --processors 16 --write t.swf";
    for command in [import, "synth --jobs 5 --write t.swf"] {
        dir.replay(command).fails(2, 1, &words);
    }
    fs::remove_dir(dir.path("t.shapes.csv")).expect("a folder");
    let recorded = "--trace t.swf --sched recorded --alloc recorded -q";
    bash(&dir, &format!("mkfifo t.nodes.csv; timeout 20 \"$0\" {recorded}"))
        .says("t.nodes.csv")
        .says("is not a regular file");
    bash(&dir, &format!("timeout 20 \"$0\" {import}")).code(2).says("is not a regular file");
}

/// The command waits until a process opens the pipe for reading.
fn signals_end_a_command_that_waits_for_a_reader() {
    let dir = Dir::new().file("t.swf", TINY);
    let begin = Instant::now();
    let line =
        "mkfifo p; \"$0\" show --trace t.swf --perfetto --write p & sleep 2; kill -INT $!; wait $!";
    bash(&dir, line).code(130).says("replay: interrupted");
    assert!(begin.elapsed() < Duration::from_secs(60));
}
