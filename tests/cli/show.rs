//! `replay show`: the machine at an instant.

use super::dir::Dir;

trials!(
    the_machine_is_shown,
    what_is_shown_is_what_the_run_has,
    pictures_and_tables_are_written,
    what_cannot_be_shown,
);

fn the_machine_is_shown() {
    let dir =
        Dir::new().file("a.swf", "; MaxProcs: 16\n1 0 -1 100 4\n2 10 -1 50 8\n3 20 -1 10 8\n");
    let shown = dir.replay("show --trace a.swf --at 59 -q").code(0).says_nothing();
    let shown = shown
        .prints("a on 4x4, fcfs, mc1x1:\nat 59 s: 2 jobs on 12 of 16 processors, 1 job waiting\n");
    let map: String =
        shown.stdout.lines().skip(3).take(4).flat_map(|line| line.chars().skip(3)).collect();
    let count = |symbol| map.chars().filter(|&c| c == symbol).count();
    assert_eq!((count('A'), count('B'), count('.')), (4, 8, 4), "{map}");
    // The job asked for stands out.
    let shown = dir.replay("show --trace a.swf --job 3 --alloc gabl -q").code(0);
    assert_eq!(
        shown.stdout.lines().skip(3).take(4).flat_map(str::chars).filter(|&c| c == '#').count(),
        8
    );
    let empty = dir.replay("show --trace a.swf --at 5000 -q").code(0);
    empty.prints("at 5,000 s: 0 jobs on 0 of 16 processors, 0 jobs waiting");
}

/// The picture's numbers are those of the run's own table, in either loop.
fn what_is_shown_is_what_the_run_has() {
    let dir = Dir::with_trace();
    for alloc in ["hilbert-best-fit", "mbs"] {
        dir.replay(&format!("--jobs 300 --alloc {alloc} --sched easy --out {alloc} -q")).code(0);
        let shown = dir.replay(&format!(
            "show --jobs 300 --alloc {alloc} --sched easy --job 200 --format json -q --trace lublin-10x10"
        ));
        let shown = shown.code(0);
        let of_job = shown.objects().into_iter().find(|job| job["job"] == 200).expect("the job");
        let runs = dir.replay(&format!(
            "show --jobs 300 --alloc {alloc} --sched easy --at {} --format json -q --trace lublin-10x10",
            of_job["start"]
        ));
        let again = runs.code(0).objects().into_iter().find(|job| job["job"] == 200);
        assert_eq!(again.as_ref(), Some(&of_job));
        let nodes = of_job["nodes"].as_array().expect("a list").len();
        assert_eq!(Some(nodes as i64), of_job["size"].as_i64());
    }
}

fn pictures_and_tables_are_written() {
    let dir = Dir::with_trace();
    dir.replay("show --trace lublin-10x10 --jobs 300 --job 250 --out out -q").code(0);
    assert_eq!(
        dir.files("out"),
        [
            "held.csv",
            "held.parquet",
            "manifest.json",
            "plots/machine.csv",
            "plots/machine.png",
            "plots/machine.svg"
        ]
    );
    let cells = String::from_utf8(dir.read("out/plots/machine.csv")).expect("text");
    assert_eq!(cells.lines().count(), 101, "a row for each processor");
    // Results of another kind are not replaced.
    dir.replay("--jobs 9 --alloc random --out out -q").code(2).says("--force");
}

fn what_cannot_be_shown() {
    let dir = Dir::with_trace();
    let show = |rest: &str| dir.replay(&format!("show --trace lublin-10x10 --jobs 50 -q {rest}"));
    show("").refused(&["--at <SECONDS>"]);
    show("--at 1 --job 2").refused(&["--at", "--job"]);
    show("--job 999999").fails(2, 1, &["--job 999999", "no job of lublin-10x10 has this number"]);
    show("--at 9 --alloc mm,mc1x1").fails(2, 1, &["show takes one", "2 runs"]);
    show("--at 9 --mesh cluster:100x2 --alloc elmer").fails(2, 1, &["hosts of a cluster"]);
    show("--at noon").refused(&["noon"]);
}
