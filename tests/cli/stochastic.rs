//! `replay stream` and generated traces: means with intervals, shapes, errors.

use std::fs;

use super::dir::Dir;

trials!(
    refusals_lower_utilization,
    results_do_not_depend_on_threads,
    writes_results,
    compares_machines,
    messages_determine_run_times,
    replays_generated_traces,
    writes_shapes_next_to_a_trace,
    reports_invalid_shapes,
    loads_are_decimals,
    runs_end_after_a_number_of_completions,
    loads_are_shares_of_the_machine,
    distances_differ_between_allocators,
    rejects_unsupported_options,
);

const QUICK: &str = "--jobs 200 --min-replications 4 --max-replications 4";

fn refusals_lower_utilization() {
    let command = format!(
        "stream --machine 16x16 --arrivals 10 --alloc paging,mbs,random,first-fit {QUICK} --format json"
    );
    let run = Dir::new().replay(&command).code(0);
    let finish = run.fields(&["finish_time"]);
    assert_eq!(finish.len(), 4);
    // Allocators that never refuse a job have the same schedule.
    assert!(finish[0] == finish[1] && finish[1] == finish[2], "{finish:?}");
    let utilization: Vec<f64> = run
        .objects()
        .iter()
        .map(|o| o["utilization_percent"].as_f64().expect("a number"))
        .collect();
    assert!(utilization[3] < 0.8 * utilization[0], "{utilization:?}");
    run.demand(run.objects()[3]["fragmented_time_percent"].as_f64() > Some(20.0), "fragmented");
}

/// A load is printed as typed, and ranges are computed in decimals.
fn loads_are_decimals() {
    let command = "stream --arrivals 1..1.6:0.2,5.8 --alloc mbs --jobs 9 --min-replications 2 \
                   --max-replications 2 --format json -q";
    let run = Dir::new().replay(command).code(0);
    assert_eq!(run.fields(&["arrivals"]), ["1.0", "1.2", "1.4", "1.6", "5.8"]);
}

/// Under FCFS on one processor, the first 40 of 120 jobs complete first. The results therefore equal those of a stream
/// of 40 jobs.
fn runs_end_after_a_number_of_completions() {
    let of = |options: &str| {
        let command = format!(
            "stream --machine 1x1 --arrivals 2 --alloc first-fit --min-replications 2 --max-replications 2 \
             --format json -q {options}"
        );
        let run = Dir::new().replay(&command).code(0);
        run.fields(&["finish_time", "turnaround_time", "utilization_percent"])
    };
    assert_eq!(of("--jobs 120 --completions 40"), of("--jobs 40"));
    assert_ne!(of("--jobs 120"), of("--jobs 40"));
    let dir = Dir::new();
    dir.replay("stream --jobs 40 --completions 41")
        .code(2)
        .says("--completions 41: exceeds the number of jobs, 40");
    dir.replay("stream --jobs 40 --completions 20 --warm-up 20").code(2).says("--warm-up");
}

/// Loads are shares of the machine, as in `synth`.
fn loads_are_shares_of_the_machine() {
    let quick = "--alloc mbs --jobs 9 --min-replications 2 --max-replications 2 -q";
    let dir = Dir::new();
    let run = dir.replay(&format!("stream --load 0.4,0.7 {quick} --format json")).code(0);
    for (row, load) in run.objects().iter().zip([0.4, 0.7]) {
        let share = row["offered_load"].as_f64().expect("a number");
        assert!((share - load).abs() < 1e-12, "{row}");
    }
    // Doubling the arrival rate doubles the load.
    let at = |rest: &str| {
        let run = dir.replay(&format!("stream {rest} {quick} --format json")).code(0);
        run.objects()[0]["offered_load"].as_f64().expect("a number")
    };
    assert!((at("--arrivals 4") / at("--arrivals 2") - 2.0).abs() < 1e-12);
    dir.replay(&format!("stream --load 0.4 {quick}")).code(0).prints("  load").prints("   0.4");
    for (command, words) in [
        ("stream --load 10", "--arrivals takes arrivals per time unit"),
        ("stream --load 0.4 --pattern n-body", "use --arrivals"),
        ("--trace stream[load=2]", "arrivals"),
    ] {
        dir.replay(command).fails(2, 1, &[words]);
    }
    dir.replay("stream --load 0.4 --arrivals 2").refused(&["--arrivals"]);
}

/// Allocators that never refuse a job have the same schedule, but different distances.
fn distances_differ_between_allocators() {
    let command = format!(
        "stream --machine 16x16 --arrivals 2 --alloc random,mc1x1,mbs {QUICK} --format json -q"
    );
    let run = Dir::new().replay(&command).code(0);
    let turnarounds = run.fields(&["turnaround_time"]);
    assert!(turnarounds.iter().all(|one| *one == turnarounds[0]), "{turnarounds:?}");
    let value = |row: &serde_json::Value, name: &str| row[name].as_f64().expect(name);
    let rows = run.objects();
    for name in ["mean_pairwise_l1", "mean_pair_distance"] {
        let [random, mc1x1, mbs] = [0, 1, 2].map(|i| value(&rows[i], name));
        assert!(mc1x1 < random && mbs < random && mc1x1 != mbs, "{name}: {random} {mc1x1} {mbs}");
        assert!(value(&rows[0], &format!("{name}_pm")) > 0.0);
    }
    let plain = Dir::new().replay(&command.replace("--format json", "")).code(0);
    plain.prints("pairwise L1 hops");
}

fn results_do_not_depend_on_threads() {
    let run = |threads| {
        let command = format!(
            "stream --machine 8x8x8 --arrivals 2..6:2 --sched fcfs,ssd --alloc gabl,turning-busy-list \
             --service pareto[k=15,q=4241,alpha=1] {QUICK} --format csv -q --threads {threads}"
        );
        Dir::new().replay(&command).code(0).says_nothing().stdout
    };
    let one = run(1);
    assert_eq!(one.lines().count(), 1 + 2 * 2 * 3);
    assert_eq!(one, run(3));
}

fn writes_results() {
    let dir = Dir::new();
    let command = format!("stream --arrivals 1,4 --alloc first-fit,paging {QUICK} --out out -q");
    dir.replay(&command).code(0).says_nothing();
    let plots = dir.files("out/plots");
    for stem in ["turnaround--uniform--", "utilization--uniform--"] {
        let named = |file: &&String| file.starts_with(stem) && file.ends_with("--fcfs.svg");
        assert!(plots.iter().any(|file| named(&file)), "{stem} of {plots:?}");
    }
    for file in ["stream.csv", "stream.parquet"] {
        assert!(dir.path("out").join(file).is_file(), "{file}");
    }
    let table = fs::read_to_string(dir.path("out/stream.csv")).expect("a table");
    assert_eq!(table.lines().count(), 5);
    let manifest: serde_json::Value =
        serde_json::from_slice(&dir.read("out/manifest.json")).expect("JSON");
    assert_eq!(manifest["configuration"]["seed"], 0);
    assert_eq!(manifest["configuration"]["points"].as_array().map(Vec::len), Some(4));
    for file in super::dir::listed(&manifest) {
        assert!(dir.path("out").join(&file).is_file(), "{file}");
    }
}

fn compares_machines() {
    let dir = Dir::new();
    let run = |loads: &str, out: &str| {
        let command = format!(
            "stream --machine 8x8,12x12 --arrivals {loads} --alloc gabl,paging --pattern random \
             --preset bani-mohammad --flits 16 {QUICK} --out {out} -q --format csv"
        );
        dir.replay(&command).code(0);
        let file = "plots/turnaround--uniform--8x8-12x12--fcfs.csv";
        fs::read_to_string(dir.path(out).join(file)).expect("a figure")
    };
    // With one load, the x axis of the figure is the number of processors. With several loads, there is a line for each
    // machine.
    let by_size = run("0.05", "size");
    let lines: Vec<&str> = by_size.lines().skip(1).collect();
    assert_eq!(lines.len(), 4, "{by_size}");
    assert!(lines[0].starts_with("gabl,64,") && lines[1].starts_with("gabl,144,"), "{by_size}");
    let by_load = run("0.05,0.1", "load");
    assert!(by_load.contains("gabl 8x8,0.05,") && by_load.contains("paging 12x12,0.1,"));
    let table = fs::read_to_string(dir.path("load/stream.csv")).expect("a table");
    assert_eq!(table.lines().count(), 1 + 2 * 2 * 2);
    let of_messages = table.lines().filter(|line| line.contains(",random,16,"));
    assert_eq!(of_messages.count(), 8, "{table}");
}

fn messages_determine_run_times() {
    let run = |allocator: &str| {
        let command = format!(
            "stream --machine 16x16 --arrivals 10 --sides uniform[low=2,high=8] --pattern n-body --alloc {allocator} \
             --jobs 60 --min-replications 2 --max-replications 2 --format json -q"
        );
        Dir::new().replay(&command).code(0).objects()[0].clone()
    };
    let number = |row: &serde_json::Value, key: &str| row[key].as_f64().expect("a number");
    let (random, compact) = (run("random"), run("first-fit"));
    // Without contention, a packet over d hops takes 27 + 4 d cycles.
    let alone = |row| 27.0 + 4.0 * number(row, "hops");
    let least = number(&compact, "latency") - number(&compact, "blocking");
    assert!((least - alone(&compact)).abs() < 0.5, "{compact}");
    assert!(number(&random, "latency") > 1.5 * number(&compact, "latency"));
    assert!(number(&random, "finish_time") > number(&compact, "finish_time"));
    assert_eq!(number(&compact, "mean_weighted_dispersal"), 0.0);
}

fn replays_generated_traces() {
    let run = Dir::new().replay(
        "--trace stream[machine=8x8,arrivals=5,jobs=100] --alloc first-fit,gabl,paging[size=1],mc1x1 --format json",
    );
    let rows = run.code(0).objects();
    let refused = |i: usize| rows[i]["refusals"].as_u64();
    assert!(refused(0) > Some(0) && refused(1) == Some(0) && refused(3).is_none(), "{rows:?}");
    let lost = rows[2]["internal_fragmentation_percent"].as_f64().expect("a number");
    assert!(lost > 1.0, "{lost}");
    let lublin =
        Dir::new().replay("--trace lublin[processors=64,jobs=50] --alloc mbs --format json");
    assert_eq!(lublin.code(0).fields(&["jobs", "topology"]), ["50 8x8"]);
}

fn writes_shapes_next_to_a_trace() {
    let dir = Dir::new();
    let made = dir.replay("synth stream[machine=8x8,jobs=40,arrivals=3] --write s.swf").code(0);
    made.says("shapes: s.shapes.csv");
    let keys = ["mean_pairwise_l1", "mean_wait"];
    let run = |trace: &str, allocator: &str| {
        let run = dir.replay(&format!("--trace {trace} --alloc {allocator} --format json"));
        run.code(0).fields(&keys)
    };
    // The first allocator may refuse jobs; the second is replayed on a timeline.
    let with = ["first-fit", "mc"].map(|allocator| {
        let file = run("s.swf", allocator);
        assert_eq!(file, run("stream[machine=8x8,jobs=40,arrivals=3]", allocator));
        file
    });
    // Without shapes, each job gets a shape with sides as equal as possible.
    fs::remove_file(dir.path("s.shapes.csv")).expect("it is there");
    let without = ["first-fit", "mc"].map(|allocator| run("s.swf", allocator));
    assert!(with[0] != without[0] && with[1] != without[1], "{with:?} {without:?}");
}

fn reports_invalid_shapes() {
    let dir = Dir::new();
    dir.replay("synth stream[machine=8x8,jobs=3] --write s.swf").code(0);
    fs::write(dir.path("s.shapes.csv"), "job,w,h,d\n1,x,1,1\n").expect("written");
    dir.replay("--trace s.swf --alloc first-fit").fails(3, 1, &["s.shapes.csv:2", "\"x\""]);
    fs::write(dir.path("s.shapes.csv"), "job,w,h,d\n1,99,1,1\n").expect("written");
    dir.replay("--trace s.swf --alloc first-fit").fails(3, 1, &["s.shapes.csv:2", "99"]);
    // A duplicate job number is an error, even if one of the jobs is outside the window. Renumbered jobs are an error.
    let log = "; MaxProcs: 64\n7 0 0 5 4\n8 1 0 5 4\n7 9 0 5 4\n9 10 0 5 4\n";
    let dir = dir.file("t.swf", log).file("t.shapes.csv", "job,w,h,d\n8,1,4,1\n7,4,1,1\n");
    let words = [
        "t.shapes.csv:3: lines 2 and 4 of the trace are both job 7, so the shape of this job number is ambiguous",
    ];
    dir.replay("--trace t.swf --alloc first-fit -q").fails(3, 1, &words);
    dir.replay("--trace t.swf --alloc first-fit --jobs 2 -q").fails(3, 1, &words);
    let words = ["t.shapes.csv: policy batsim renumbers jobs, but shapes are given by job number"];
    dir.replay("--trace t.swf --alloc first-fit --policy batsim -q").fails(3, 1, &words);
    let dir = dir.file("t.shapes.csv", "job,w,h,d\n8,1,4,1\n");
    dir.replay("--trace t.swf --alloc first-fit -q").code(0);
}

fn rejects_unsupported_options() {
    let dir = Dir::new();
    for (command, word) in [
        ("stream --arrivals 0", "positive"),
        ("stream --arrivals 5..1", "range"),
        ("stream --machine hypercube:4 --alloc first-fit", "needs a mesh or torus"),
        ("stream --machine hypercube:4 --alloc afl --sides uniform[high=5]", "sides of up to 5"),
        ("stream --sides unifrom", "uniform"),
        ("stream --service pareto[k=3,q=2]", "pareto"),
        ("stream --sides uniform[low=9,high=20] --machine 8x8", "uniform"),
        ("stream --sched conservative --alloc first-fit", "does not support this"),
        ("stream --machine torus:8x8 --alloc busy-list", "torus"),
        ("stream --pattern n-bodies", "n-body"),
        ("stream --pattern n-body --preset hi", "bani-mohammad"),
        ("stream --precision -1", "half-width"),
        ("stream --precision 0", "must be above 0"),
        ("stream --precision nan", "must be above 0"),
        ("stream --max-replications 3", "--max-replications 3 is less than --min-replications 30"),
        ("stream --min-replications 0 --max-replications 3", "at least one replication"),
        ("stream --pattern n-body --quota fixed[packets=10000000000]", "1 to 1000000000"),
        ("stream --pattern n-body --quota exponential[mean=1e300]", "at most 1000000000"),
        ("stream --pattern n-body --quota exponential[mean=nan]", "above 0"),
        ("stream --machine tree:4x4x8", "replay synth --processors 128"),
        ("stream --machine block[8,32]:4x8", "which trees and blocks do not have"),
        ("stream --machine 4x4,tree:2x8", "machine tree:2x8: the jobs of a stream are boxes"),
        ("stream --arrivals 1..2:nan", "range"),
        ("stream --arrivals 1..1e9", "range"),
        ("stream --flits 16", "--pattern"),
        ("stream --pattern n-body --service exponential", "--service"),
        ("stream --pattern n-body --sched fcfs,easy", "estimates"),
        ("stream --pattern n-body --preset bani-mohammad", "needs --arrivals"),
        ("stream --pattern n-body --sched conservative --alloc mbs", "estimates"),
        ("stream --pattern n-body --sched ssd", "estimates"),
        ("stream --pattern n-body --sched out-of-order[order=least-work]", "estimates"),
        ("--trace stream[arivals=2]", "arrivals"),
        ("--sched conservative --alloc first-fit --trace stream[jobs=5]", "does not support this"),
        (
            "--sched conservative --alloc paging[size=1] --trace stream[jobs=5]",
            "does not support this",
        ),
    ] {
        dir.replay(command).code(2).says(word);
    }
}
