//! Sidecar files name their trace; a mismatch is an error.

use std::fs;

use super::dir::{Dir, gzip};

trials!(
    rejects_shapes_of_another_trace,
    reads_sidecars_without_a_digest,
    rejects_nodes_of_another_trace,
    does_not_write_a_trace_next_to_foreign_shapes,
    writes_no_sidecar_for_a_pipe,
);

const ONE: &str = "synth stream[machine=8x8,jobs=40,arrivals=3] --write y.swf";
const OTHER: &str = "synth stream[machine=8x8,jobs=40,arrivals=3,seed=2] --write y.swf";
const REPLAY: &str = "--trace y.swf --alloc first-fit -q";

/// Tests the state after the program was killed between writing the two files, in either order.
fn rejects_shapes_of_another_trace() {
    let dir = Dir::new();
    dir.replay(ONE).code(0);
    let [trace, shapes] = ["y.swf", "y.shapes.csv"].map(|name| dir.read(name));
    dir.replay(OTHER).code(0);
    let words = [
        "y.shapes.csv:42: belongs to the trace with digest ",
        "but y.swf has digest ",
        "write the trace and the files beside it again, move y.shapes.csv away",
    ];
    let new = dir.read("y.shapes.csv");
    fs::write(dir.path("y.shapes.csv"), &shapes).expect("written");
    for command in ["", "plan ", "sweep --out swept "] {
        dir.replay(&format!("{command}{REPLAY}")).fails(3, 1, &words);
    }
    fs::write(dir.path("y.shapes.csv"), new).expect("written");
    dir.replay(REPLAY).code(0);
    fs::write(dir.path("y.swf"), &trace).expect("written");
    dir.replay(REPLAY).fails(3, 1, &words);
    // The digest is that of the uncompressed text.
    fs::write(dir.path("y.shapes.csv"), shapes).expect("written");
    fs::remove_file(dir.path("y.swf")).expect("it is there");
    let dir = dir.file("y.swf.gz", gzip(&trace));
    dir.replay(&REPLAY.replace("y.swf", "y.swf.gz")).code(0);
}

fn reads_sidecars_without_a_digest() {
    let dir = Dir::new();
    dir.replay(ONE).code(0);
    let shapes = String::from_utf8(dir.read("y.shapes.csv")).expect("text");
    let (rows, last) = shapes.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(last, format!("# trace blake3:{}", blake3::hash(&dir.read("y.swf")).to_hex()));
    let measures = ["mean_pairwise_l1", "mean_wait", "refusals"];
    let with = dir.replay(&format!("{REPLAY} --format json")).code(0).fields(&measures);
    let dir = dir.file("y.shapes.csv", format!("# by hand\n{rows}\n# trace: none\n"));
    let without = dir.replay(&format!("{REPLAY} --format json")).code(0).fields(&measures);
    assert_eq!(with, without);
}

const SACCT: &str = "\
JobID|Submit|Start|End|AllocNodes|NodeList|State
1|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|4|n[0-3]|COMPLETED
2|2026-03-01T08:01:00|2026-03-01T09:00:05|2026-03-01T09:30:05|2|n[4-5]|COMPLETED
";

fn rejects_nodes_of_another_trace() {
    let later = SACCT.replace("09:30:05", "09:40:05").replace("n[4-5]", "n[6-7]");
    let dir = Dir::new().file("one.txt", SACCT).file("other.txt", later);
    let import = |log: &str| {
        dir.replay(&format!("import sacct {log} --processors 16 --write y.swf -q")).code(0);
    };
    let replay = "--trace y.swf --sched recorded --alloc recorded --machine 4x4 -q";
    import("one.txt");
    let nodes = dir.read("y.nodes.csv");
    dir.replay(replay).code(0);
    import("other.txt");
    dir.replay(replay).code(0);
    fs::write(dir.path("y.nodes.csv"), &nodes).expect("written");
    let words = ["y.nodes.csv:4: belongs to the trace with digest ", "but y.swf has digest "];
    dir.replay(replay).fails(3, 1, &words);
    // A compressed sidecar file is checked in the same way as an uncompressed one.
    fs::remove_file(dir.path("y.nodes.csv")).expect("it is there");
    fs::write(dir.path("y.nodes.csv.gz"), gzip(&nodes)).expect("written");
    dir.replay(replay).fails(3, 1, &["y.nodes.csv.gz:4: belongs to the trace with digest "]);
}

/// A new trace without shapes is not written next to the shapes of another trace.
fn does_not_write_a_trace_next_to_foreign_shapes() {
    let dir = Dir::new();
    dir.replay(ONE).code(0);
    fs::rename(dir.path("y.swf"), dir.path("moved.swf")).expect("moved");
    let before = dir.read("y.shapes.csv");
    let words = ["y.shapes.csv: belongs to a trace other than --write y.swf"];
    dir.replay("synth --jobs 40 --write y.swf").fails(2, 1, &words);
    assert_eq!(before, dir.read("y.shapes.csv"));
    assert_eq!(dir.files(""), ["moved.swf", "y.shapes.csv"]);
    // Shapes written by hand name no trace and are kept.
    let dir = dir.file("y.shapes.csv", "job,w,h,d\n1,1,1,1\n");
    dir.replay("synth --jobs 40 --write y.swf").code(0);
    assert_eq!(dir.read("y.shapes.csv"), b"job,w,h,d\n1,1,1,1\n");
}

fn writes_no_sidecar_for_a_pipe() {
    let dir = Dir::new();
    let made = dir.replay("synth stream[machine=8x8,jobs=9]").code(0).stdout;
    let piped = dir.replay("synth stream[machine=8x8,jobs=9] --write /dev/stdout").code(0);
    assert_eq!(piped.says_nothing().stdout, made);
}
