//! `replay network` and `replay contend`.

use std::fs;

use super::dir::Dir;

trials!(
    packets_take_the_time_of_the_closed_form,
    packets_that_cannot_be_are_named,
    channels_are_accounted_for,
    contention_is_nothing_in_disjoint_boxes,
    seeds_are_the_allocators,
    threads_do_not_matter,
    contention_is_drawn,
    a_pattern_of_ones_own,
    impossible_wishes,
);

fn packets_take_the_time_of_the_closed_form() {
    let dir =
        Dir::new().file("p.csv", "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n1,255,0,8,900\n");
    let lo = dir.replay("network --packets p.csv -q").code(0).says_nothing();
    // d = 3 and 30: 27 + 4 d.
    assert_eq!(
        lo.stdout,
        "id,inject,head_at_destination,delivered,latency,blocked,hops\n0,0,18,39,39,0,3\n1,900,1026,1047,147,0,30\n"
    );
    let other = dir.replay("network --packets p.csv --network bani-mohammad -q").code(0);
    assert!(other.stdout.lines().nth(1).expect("a row").contains(",22,0,3"), "{}", other.stdout);
}

fn packets_that_cannot_be_are_named() {
    for (line, word) in [
        ("0,0,300,8,0", "p.csv:2"),
        ("0,0,x,8,0", "\"x\""),
        ("0,0,1,0,0", "p.csv:2"),
        ("0,0,1,8", "p.csv:2"),
    ] {
        let dir = Dir::new().file("p.csv", format!("id,src,dst,flits,inject_cycle\n{line}\n"));
        dir.replay("network --packets p.csv").fails(3, 1, &[word]);
    }
    Dir::new().replay("network --packets absent.csv").fails(2, 1, &["absent.csv"]);
}

fn channels_are_accounted_for() {
    let dir = Dir::new().file("p.csv", "id,src,dst,flits,inject_cycle\n0,0,2,8,0\n");
    dir.replay("network --packets p.csv --channels c.csv -q").code(0);
    let table = fs::read_to_string(dir.path("c.csv")).expect("a table");
    let carried: u64 = table
        .lines()
        .skip(1)
        .map(|l| l.rsplit(',').next().unwrap_or("").parse::<u64>().expect("flits"))
        .sum();
    // Injection, two links, ejection.
    assert_eq!(carried, 4 * 8);
}

/// One job on an idle machine, where it stood alone too: whatever the seeds, no stretch.
fn seeds_are_the_allocators() {
    let dir = Dir::new()
        .file("one.swf", "; MaxProcs: 256\n1 0 0 300 24 -1 -1 24 300 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let run = dir.replay(
        "contend --trace one.swf --alloc first-fit --pattern one-to-all --scale 10 --seed 3,1,2 \
         --format json -q",
    );
    assert_eq!(run.code(0).fields(&["mean_stretch"]), ["1.0", "1.0", "1.0"]);
}

fn contention_is_nothing_in_disjoint_boxes() {
    let run = Dir::with_trace()
        .replay("contend --jobs 120 --scale 0.1 --alloc first-fit,random --format json -q")
        .code(0);
    let stretch: Vec<f64> =
        run.objects().iter().map(|o| o["mean_stretch"].as_f64().expect("a number")).collect();
    // Boxes of the same shape, XY routing: nobody meets anybody.
    assert!((stretch[0] - 1.0).abs() < 0.02, "{stretch:?}");
    assert!(stretch[1] > 1.2, "{stretch:?}");
}

fn threads_do_not_matter() {
    let run = |threads| {
        let command = format!(
            "contend --jobs 80 --scale 0.05 --pattern one-to-all --sched fcfs,easy --alloc mbs,gabl \
             --format csv -q --threads {threads}"
        );
        Dir::with_trace().replay(&command).code(0).stdout
    };
    let one = run(1);
    assert_eq!(one.lines().count(), 5);
    assert_eq!(one, run(3));
}

fn contention_is_drawn() {
    let dir = Dir::with_trace();
    dir.replay("contend --jobs 60 --scale 0.05 --alloc mbs,first-fit --out out -q").code(0);
    for file in ["contend.csv", "contend.parquet", "jobs.csv", "jobs.parquet", "correlations.csv"] {
        assert!(dir.path("out").join(file).is_file(), "{file}");
    }
    let plots = fs::read_dir(dir.path("out/plots")).expect("a folder").count();
    // One comparison and two maps, as SVG, PNG and CSV.
    assert_eq!(plots, 9);
}

fn a_pattern_of_ones_own() {
    let dir =
        Dir::with_trace().file("ring.csv", "phase,src_rank,dst_rank,packets\n0,0,1,2\n0,1,0,2\n");
    let run = dir.replay("contend --jobs 40 --scale 0.05 --pattern phases[file=ring.csv] --alloc mbs --format json -q");
    run.code(0);
    dir.replay("contend --pattern phases[file=none.csv] -q").fails(2, 1, &["none.csv"]);
    dir.replay("contend --pattern matrix[file=none.csv] -q").fails(2, 1, &["none.csv"]);
}

fn impossible_wishes() {
    let dir = Dir::with_trace();
    for (command, word) in [
        ("contend --scale 0", "--scale"),
        ("contend --pattern al-to-all", "all-to-all"),
        ("contend --network low", "lo"),
        ("contend --quota fixed[packets=x]", "packets"),
        ("contend --flits 0", "flits"),
        ("contend --mapping sideways", "sideways"),
        ("contend --sched conservative --alloc first-fit", "cannot work with that"),
        ("network --packets - --mesh 1x", "1x"),
    ] {
        dir.replay(command).code(2).says(word);
    }
}
