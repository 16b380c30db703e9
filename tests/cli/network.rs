//! `replay network` and `replay contend`: messages on the network.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use super::dir::{Dir, Outcome};

trials!(
    latencies_equal_the_closed_form,
    rejects_invalid_packets,
    writes_flits_of_channels,
    disjoint_boxes_have_no_contention,
    link_loads_rank_allocators_like_flits,
    link_loads_accept_parameters,
    rows_depend_only_on_their_own_seed,
    quotas_follow_from_run_times,
    contend_rejects_quotas,
    jobs_of_one_processor_hold_it_for_their_run_time,
    writes_figures_for_each_machine_and_seed,
    keeps_finished_cells_if_interrupted,
    a_failed_cell_does_not_stop_the_others,
    defaults_depend_on_the_machine,
    all_selects_allocators_that_send_messages,
    names_include_the_preset,
    results_do_not_depend_on_threads,
    one_run_does_not_depend_on_threads,
    draws_contention,
    ranks_strategies_by_medians,
    estimates_packets_before_a_run,
    reports_long_measurements,
    names_two_jobs_that_decide_an_order,
    limits_packets_before_any_run,
    reads_patterns_from_files,
    correlations_are_computed_for_each_policy,
    rejects_unsupported_options,
);

fn latencies_equal_the_closed_form() {
    let dir =
        Dir::new().file("p.csv", "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n1,255,0,8,900\n");
    let lo = dir.replay("network --packets p.csv -q").code(0).says_nothing();
    // For the distances d = 3 and d = 30, the latency is 27 + 4 d cycles.
    assert_eq!(
        lo.stdout,
        "id,inject,head_at_destination,delivered,latency,blocked,hops\n0,0,18,39,39,0,3\n1,900,1026,1047,147,0,30\n"
    );
    dir.replay("network --packets p.csv -q --write a.csv").code(0).says_nothing();
    assert_eq!(dir.read("a.csv"), lo.stdout.into_bytes());
    let words = ["--write p.csv: this file is also the input; name another file"];
    dir.replay("network --packets p.csv --write p.csv").fails(2, 1, &words);
    let other = dir.replay("network --packets p.csv --network bani-mohammad -q").code(0);
    assert!(other.stdout.lines().nth(1).expect("a row").contains(",22,0,3"), "{}", other.stdout);
}

fn rejects_invalid_packets() {
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

fn writes_flits_of_channels() {
    let dir = Dir::new().file("p.csv", "id,src,dst,flits,inject_cycle\n0,0,2,8,0\n");
    dir.replay("network --packets p.csv --channels c.csv -q").code(0);
    let table = fs::read_to_string(dir.path("c.csv")).expect("a table");
    let carried: u64 = table
        .lines()
        .skip(1)
        .map(|l| l.rsplit(',').next().unwrap_or("").parse::<u64>().expect("flits"))
        .sum();
    // Each of four channels transfers 8 flits: injection, two links, and ejection.
    assert_eq!(carried, 4 * 8);
}

/// A job that runs alone has no contention under any random pattern. The row of a seed does not depend on the other
/// seeds.
fn rows_depend_only_on_their_own_seed() {
    let dir = Dir::new()
        .file("one.swf", "; MaxProcs: 256\n1 0 0 300 24 -1 -1 24 300 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let run = |pattern: &str, seeds: &str| {
        let command = format!(
            "contend --trace one.swf --alloc first-fit --pattern {pattern} --scale 10 --seed {seeds} \
             --format json -q"
        );
        dir.replay(&command).code(0)
    };
    for pattern in ["one-to-all", "random", "n-body"] {
        let all = run(pattern, "3,1,2");
        assert_eq!(all.fields(&["mean_contention_factor"]), ["1.0", "1.0", "1.0"]);
        // The rows are equal except for the number of the run.
        let row = |outcome: &Outcome, at: usize| {
            let mut row = outcome.objects().swap_remove(at);
            assert_eq!(row["run"].take(), at);
            row
        };
        assert_eq!(row(&all, 1), row(&run(pattern, "1"), 0));
    }
    let makespans = run("random", "3,1,2").fields(&["makespan_cycles"]);
    assert!(makespans[0] != makespans[1] || makespans[1] != makespans[2], "{makespans:?}");
}

/// Returns a column of a table as strings, one per row.
fn column(dir: &Dir, file: &str, name: &str) -> Vec<String> {
    let text = dir.read(file);
    let mut reader = csv::Reader::from_reader(text.as_slice());
    let at = reader.headers().expect("a header").iter().position(|title| title == name);
    let at = at.unwrap_or_else(|| panic!("no column {name}"));
    reader.records().map(|record| record.expect("a record")[at].to_string()).collect()
}

fn quotas_follow_from_run_times() {
    let dir = Dir::with_trace();
    let run =
        dir.replay("contend --jobs 150 --scale 10 --preset bani-mohammad --alloc mbs --out out");
    let numbers = |name: &str| -> Vec<f64> {
        let texts = column(&dir, "out/contend_jobs.csv", name);
        texts.iter().map(|text| text.parse().expect("a number")).collect()
    };
    run.code(0).says("send packets");
    let (targets, alone) = (numbers("target_cycles"), numbers("isolated_cycles"));
    let packets = numbers("packets");
    let far = |i: &usize| (alone[*i] - targets[*i]).abs() > 0.01 * targets[*i];
    let off: Vec<usize> = (0..150).filter(far).collect();
    assert_eq!(column(&dir, "out/contend.csv", "off_target_jobs"), [off.len().to_string()]);
    assert!(off.len() < 75, "{off:?}");
    // Without other jobs, the times of these jobs differ from their targets by less than about the time of one packet.
    for i in off {
        assert!(packets[i] > 0.0 && (alone[i] - targets[i]).abs() < 200.0, "{i}: {}", alone[i]);
    }
}

fn contend_rejects_quotas() {
    let dir = Dir::with_trace();
    dir.replay("contend --quota fixed[packets=9] --jobs 5").fails(2, 1, &["--quota", "run time"]);
    let help = dir.replay("contend --help").code(0);
    help.demand(!help.stdout.contains("--quota"), "no option for quotas");
    dir.replay("stream --help").code(0).prints("--quota");
}

fn jobs_of_one_processor_hold_it_for_their_run_time() {
    let dir = Dir::new().file("ones.swf", "; MaxProcs: 4\n1 0 0 70 1\n2 1 0 50 1\n3 2 0 10 4\n");
    let run =
        dir.replay("contend --trace ones.swf --alloc mbs --scale 10 --format json --out out -q");
    let run = run.code(0);
    assert_eq!(column(&dir, "out/contend_jobs.csv", "service_cycles")[..2], ["700", "500"]);
    assert_eq!(column(&dir, "out/contend_jobs.csv", "wait_cycles"), ["0", "0", "680"]);
    assert_eq!(run.fields(&["jobs", "sending_jobs"]), ["3 1"]);
    // The sending job occupies all four processors, which form a square.
    assert_eq!(run.fields(&["mean_sending_pairwise_l1"]), ["8.0"]);
    let none = dir.replay("contend --trace ones.swf --jobs 2 --alloc mbs --format json -q").code(0);
    assert_eq!(
        none.fields(&["mean_stretch", "mean_latency", "mean_distance", "mean_sending_pairwise_l1"]),
        ["- - - -"]
    );
    let table = dir.replay("contend --trace ones.swf --jobs 2 --alloc mbs -q").code(0).stdout;
    let row = table.lines().find(|line| line.starts_with("ones "));
    assert!(row.is_some_and(|row| row.contains("  -  ")), "{table}");
}

fn writes_figures_for_each_machine_and_seed() {
    let dir = Dir::with_trace();
    let names = |options: &str, out: &str| -> Vec<String> {
        let command =
            format!("contend --jobs 20 --scale 0.05 --alloc random --out {out} -q {options}");
        dir.replay(&command).code(0);
        let files = dir.files(&format!("{out}/plots"));
        files.into_iter().filter(|file| file.ends_with(".png")).collect()
    };
    let one = names("--sched easy", "one");
    assert_eq!(
        one,
        [
            "contention--lublin-10x10--10x10--easy.png",
            "links--lublin-10x10--10x10--easy--random.png",
            // With one allocator, there is no correlation and no scatter plot of allocators.
            "scatter--jobs--lublin-10x10--10x10--easy--random.png",
            "stretch--lublin-10x10--10x10--easy.png",
        ]
    );
    let all = names("--machine 10x10,torus:10x10 --seed 4,5", "all");
    assert_eq!(all.len(), 16, "{all:?}");
    for name in [
        "links--lublin-10x10--torus-10x10--fcfs--random--seed-5.png",
        "contention--lublin-10x10--10x10--fcfs--seed-4.png",
    ] {
        assert!(all.iter().any(|file| file == name), "{name} in {all:?}");
    }
}

fn keeps_finished_cells_if_interrupted() {
    let dir = Dir::with_trace();
    let seeds: Vec<_> = (0..60).map(|seed: u32| seed.to_string()).collect();
    for (command, done, table) in [
        (
            format!("contend --scale 0.5 --jobs 400 --alloc random,mbs --seed {}", seeds.join(",")),
            ": done",
            "out/contend.csv",
        ),
        (
            "stream --arrivals 1..50:0.5 --alloc random --max-replications 30".to_string(),
            " replications",
            "out/stream.csv",
        ),
        (
            "stream --arrivals 1..50:0.5 --pattern n-body --jobs 50 --alloc random --max-replications 30"
                .to_string(),
            " replications",
            "out/stream.csv",
        ),
    ] {
        let mut child = dir.start(&format!("{command} --threads 1 --format json --out out"));
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        // The first result shows that the program is running.
        assert!(lines.any(|line| line.expect("text").contains(done)), "{command}");
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
        let mut printed = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut printed).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{command}: {rest:?}");
        assert!(rest.iter().any(|line| line.contains("interrupted")), "{rest:?}");
        let rows = printed.lines().count();
        assert!((1..90).contains(&rows), "{rows} rows of {command}");
        let written = String::from_utf8(dir.read(table)).expect("text").lines().count();
        assert_eq!(written, 1 + rows, "{command}");
        assert!(dir.path("out/manifest.json").is_file());
        fs::remove_dir_all(dir.path("out")).expect("it is there");
    }
}

fn a_failed_cell_does_not_stop_the_others() {
    let dir = Dir::new()
        .file("s.swf", "; MaxProcs: 64\n1 0 0 30 2\n2 1 0 30 16\n")
        .file("s.shapes.csv", "job,w,h,d\n1,2,1,1\n2,8,2,1\n");
    // The second job fits only when rotated.
    let command = "contend --trace s.swf --machine 4x16 --alloc first-fit,mbs";
    let run = dir.replay(&format!("{command} --format json --out out"));
    let run = run.code(1).says("cell failed: s 4x16 fcfs first-fit");
    assert_eq!(run.fields(&["allocator"]), ["mbs"]);
    let manifest: serde_json::Value =
        serde_json::from_slice(&dir.read("out/manifest.json")).expect("JSON");
    assert_eq!(manifest["failed"].as_array().map(Vec::len), Some(1));
    assert_eq!(column(&dir, "out/contend.csv", "allocator"), ["mbs"]);
    // A shard records the failure, so that the shards can be merged.
    dir.replay(&format!("{command} --shard 1/2 --out p1")).code(1).says("cell failed");
    dir.replay(&format!("{command} --shard 2/2 --out p2")).code(0);
    let merged = dir.replay("merge p1 p2 --format json --out merged").code(1);
    assert_eq!(merged.stdout, run.stdout);
    assert_eq!(dir.read("merged/contend.csv"), dir.read("out/contend.csv"));
}

fn defaults_depend_on_the_machine() {
    let dir = Dir::with_trace();
    for machine in ["torus:10x10", "hypercube:7"] {
        let command = format!("contend --jobs 10 --scale 0.05 --machine {machine} --format json");
        let run = dir.replay(&command).code(0);
        assert!(!run.objects().is_empty());
        let lines = run.stderr.lines().filter(|line| line.starts_with("left out: ")).count();
        assert!((1..7).contains(&lines), "{}", run.stderr);
    }
    dir.replay("contend --jobs 10 --scale 0.05 --sched conservative").code(0).says("left out: ");
}

fn all_selects_allocators_that_send_messages() {
    let dir = Dir::with_trace();
    let run =
        dir.replay("contend --trace lublin-10x10 --jobs 5 --scale 0.02 --alloc all --format json");
    let run = run.code(0).says(" strategies work on 10x10 with fcfs; ");
    // Allocators that fold jobs or repeat recorded placements send no messages.
    let names = run.fields(&["allocator"]);
    let has = |name: &str| names.iter().any(|other| other == name);
    run.demand(
        has("mc1x1") && has("gabl") && !has("rsr") && !has("recorded"),
        "the allocators that send messages",
    );
    run.demand(
        run.stderr.lines().any(|line| line.contains(" do not: ") && line.contains("rsr")),
        "the allocators left out",
    );
    let help = dir.replay("contend --help").code(0).stdout;
    for refused in ["--down", "--strict", "--node-map", "--deps", "--quota"] {
        assert!(!help.contains(refused), "{refused}");
    }
}

fn names_include_the_preset() {
    let dir = Dir::with_trace();
    let named = |options: &str| {
        let run = dir.replay(&format!(
            "contend --jobs 10 --scale 0.05 --alloc mbs --format json -q {options}"
        ));
        run.code(0).fields(&["pattern"]).remove(0)
    };
    assert_eq!(named(""), "all-to-all");
    for pattern in ["all-to-all", "n-body", "random"] {
        let expected = format!("{pattern}[preset=bani-mohammad]");
        assert_eq!(named(&format!("--preset bani-mohammad --pattern {pattern}")), expected);
    }
}

fn disjoint_boxes_have_no_contention() {
    let run = Dir::with_trace()
        .replay("contend --jobs 120 --scale 0.1 --alloc first-fit,random --format json -q")
        .code(0);
    let stretch: Vec<f64> =
        run.objects().iter().map(|o| o["mean_stretch"].as_f64().expect("a number")).collect();
    // Within boxes of the requested shape, XY routes of different jobs are disjoint.
    assert!((stretch[0] - 1.0).abs() < 0.02, "{stretch:?}");
    assert!(stretch[1] > 1.2, "{stretch:?}");
}

/// The window is longer than the run of each job without other jobs. Jobs in disjoint boxes therefore have exactly the
/// same values as with flits.
fn link_loads_rank_allocators_like_flits() {
    let dir = Dir::with_trace();
    let run = |network: &str| {
        let command = format!(
            "contend --jobs 120 --scale 0.1 --alloc first-fit,mbs,random --network {network} --format json -q"
        );
        dir.replay(&command).code(0).objects()
    };
    let (flits, links) = (run("lo"), run("links[window=100000]"));
    let number = |of: &serde_json::Value, name: &str| of[name].as_f64().expect("a number");
    for name in ["mean_stretch", "mean_latency", "mean_hops", "utilization", "mean_wait_cycles"] {
        // First Fit gives disjoint boxes, between which there is no contention.
        assert_eq!(flits[0][name], links[0][name], "{name}");
    }
    for run in [&flits, &links] {
        let stretch: Vec<f64> = run.iter().map(|row| number(row, "mean_stretch")).collect();
        assert!(stretch.is_sorted(), "{stretch:?}");
    }
    assert_eq!(number(&links[0], "mean_contention_factor"), 1.0);
    assert!(number(&links[2], "mean_contention_factor") > 1.02, "{:?}", links[2]);
    // A shorter window gives other values, but these values also distinguish scattered jobs from jobs in boxes.
    let part = run("links[window=300]");
    assert_ne!(part[2]["mean_stretch"], links[2]["mean_stretch"]);
    assert_eq!(number(&part[0], "mean_contention_factor"), 1.0);
    assert!(number(&part[2], "mean_contention_factor") > 1.02, "{:?}", part[2]);
}

fn link_loads_accept_parameters() {
    let dir = Dir::with_trace();
    let stretch = |options: &str| {
        let command =
            format!("contend --jobs 40 --scale 0.05 --alloc random --format json -q {options}");
        dir.replay(&command).code(0).fields(&["mean_stretch"]).remove(0)
    };
    // The preset selects the timing, unless the network names a timing.
    let own = stretch("--preset bani-mohammad --network links");
    let same = "--preset bani-mohammad --network links[timing=bani-mohammad]";
    assert_eq!(own, stretch(same));
    assert_ne!(own, stretch("--preset bani-mohammad --network links[timing=lo]"));
    for (network, words) in [
        ("links[window=0]", "window"),
        ("links[timing=token-ring]", "token-ring"),
        ("link", "did you mean \"links\"?"),
    ] {
        let command = format!("contend --jobs 5 --alloc mbs --network {network}");
        dir.replay(&command).code(2).says(words);
    }
    dir.replay("stream --machine 8x8 --arrivals 1 --pattern n-body --network links").fails(
        2,
        1,
        &["--network links is only for contend"],
    );
    assert!(dir.replay("list networks").code(0).stdout.contains("links"));
}

fn results_do_not_depend_on_threads() {
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

/// There are five jobs on each day, and the machine is idle between the days. A run is split at these idle times, but
/// observers receive all jobs.
fn one_run_does_not_depend_on_threads() {
    let job = |number: u32| {
        let (day, at) = (number / 5, number % 5);
        let (submit, size) = (day * 86_400 + at * 200, 4 + (number * 7) % 29);
        format!("{number} {submit} 0 600 {size} -1 -1 {size} 900 -1 1 1 1 1 1 1 -1 -1")
    };
    let trace: Vec<String> = (0..100).map(job).collect();
    let dir = Dir::new().file("days.swf", trace.join("\n") + "\n");
    for strategies in ["--alloc mc1x1 --sched easy", "--alloc mc1x1[tie=auto] --sched fcfs"] {
        let run = |threads: u32, out: &str| {
            let command = format!(
                "contend --trace days.swf --machine 8x8 {strategies} --format csv --no-plots \
                 --threads {threads} --out {out}"
            );
            let printed = dir.replay(&command).code(0).stdout;
            let jobs = dir.read(&format!("{out}/contend_jobs.csv"));
            assert_eq!(jobs.lines().count(), 101);
            (printed, jobs)
        };
        let one = run(1, &format!("one-{}", strategies.len()));
        assert!(run(2, &format!("two-{}", strategies.len())) == one, "{strategies}");
    }
}

fn draws_contention() {
    let dir = Dir::with_trace();
    dir.replay("contend --jobs 60 --scale 0.05 --alloc mbs,first-fit --out out -q").code(0);
    for file in [
        "contend.csv",
        "contend.parquet",
        "contend_jobs.csv",
        "contend_jobs.parquet",
        "correlations.csv",
    ] {
        assert!(dir.path("out").join(file).is_file(), "{file}");
    }
    let plots = fs::read_dir(dir.path("out/plots")).expect("a folder").count();
    // There are one comparison, one distribution, two maps and two scatter plots of jobs, each as SVG, PNG, PDF,
    // CSV and caption.
    assert_eq!(plots, 30);
    // Subtitles give the seed and the number of jobs.
    let text = |name: &str| {
        let text = dir.read(&format!("out/plots/{name}--lublin-10x10--10x10--fcfs.svg"));
        String::from_utf8(text).expect("text")
    };
    for name in ["contention", "stretch"] {
        let text = text(name);
        assert!(text.contains("seed 0") && text.contains("send packets"), "{name}");
    }
    // The subtitle gives the number of jobs once.
    let contention = text("contention");
    let number =
        contention.split(" jobs send packets").next().and_then(|all| all.split(' ').next_back());
    let number = format!("\u{B7} {} jobs", number.expect("a number"));
    assert_eq!(text("stretch").matches(&number).count(), 1, "{number}");
    // Bars start at the ideal value, and the figure states which values are shown next to the medians.
    let figure = text("contention");
    for words in ["median", "95th percentile", "ordered by median"] {
        assert!(figure.contains(words), "{words}");
    }
    let table = dir.read("out/plots/contention--lublin-10x10--10x10--fcfs.csv");
    let header = String::from_utf8(table).expect("text");
    for column in [
        "\"Stretch, low\"",
        "\"Stretch, p95\"",
        "\"Contention, trimmed mean\"",
        "\"Stretch, ideal\"",
    ] {
        assert!(header.contains(column), "{column} in {header}");
    }
    let scatter = dir.files("out/plots").into_iter().find(|name| name.starts_with("scatter--jobs"));
    let scatter = scatter.expect("a figure").replace(".caption.txt", "");
    let text = String::from_utf8(dir.read(&format!("out/plots/{scatter}.svg"))).expect("text");
    assert!(text.contains("seed 0") && text.contains(" jobs send packets"), "{scatter}");
    let table = dir.replay("contend --jobs 60 --scale 0.05 --alloc mbs -q").code(0);
    table.prints("latency cycles").prints("pairwise L1 hops").prints("distance hops");
}

/// Recomputes the columns of the runs from the stretches of their jobs.
fn ranks_strategies_by_medians() {
    let dir = Dir::with_trace();
    let contend = "contend --jobs 80 --scale 0.05 --alloc mc1x1,random,mbs";
    let run = dir.replay(&format!("{contend} --no-plots --out out")).code(0);
    for title in ["95 %", "p95 stretch", "trimmed stretch", "off target", "p95 contention"] {
        run.demand(run.stdout.contains(title), title);
    }
    let numbers = |file: &str, name: &str| -> Vec<f64> {
        let texts = column(&dir, file, name);
        texts.iter().map(|text| text.parse().unwrap_or(f64::NAN)).collect()
    };
    let runs_of_jobs = numbers("out/contend_jobs.csv", "run");
    for measure in ["stretch", "placement_factor", "contention_factor"] {
        let of_jobs = numbers("out/contend_jobs.csv", measure);
        for run in 0..3 {
            let own = runs_of_jobs.iter().zip(&of_jobs).filter(|(of, _)| **of == f64::from(run));
            let mut own: Vec<f64> = own.map(|(_, &value)| value).filter(|v| !v.is_nan()).collect();
            own.sort_by(f64::total_cmp);
            let count = own.len();
            assert!(count > 40, "{count} jobs send");
            let column = |name: &str| numbers("out/contend.csv", name)[run as usize];
            let median = (own[(count - 1) / 2] + own[count / 2]) / 2.0;
            let name = |before: &str, after: &str| format!("{before}_{measure}{after}");
            let equal = |name: String, expected: f64| {
                let found = column(&name);
                assert!((found - expected).abs() < 1e-9, "{name}: {found}, not {expected}");
            };
            equal(name("median", ""), median);
            let out = count / 20;
            let kept = &own[out..count - out];
            equal(name("trimmed_mean", ""), kept.iter().sum::<f64>() / kept.len() as f64);
            equal(name("mean", ""), own.iter().sum::<f64>() / count as f64);
            let [low, high] = ["_low", "_high"].map(|end| column(&name("median", end)));
            assert!(low <= median && median <= high && own.contains(&low) && own.contains(&high));
            assert!(column(&name("p95", "")) >= median);
        }
    }
    // The report ranks strategies by median.
    dir.replay("report out --write out.html").code(0);
    let page = String::from_utf8(dir.read("out.html")).expect("text");
    assert!(
        page.contains("messages slow down jobs least under") && page.contains(": median stretch ")
    );
    let shaken = dir.replay(&format!("{contend} --shake 2 -q")).code(0);
    shaken.demand(shaken.stdout.contains("median stretch"), "medians over copies");
}

/// In this window of the shipped trace, two jobs determine the order of the runs by mean stretch.
fn names_two_jobs_that_decide_an_order() {
    let dir = Dir::with_trace();
    let contend =
        "contend --jobs 200 --scale 0.1 --sched easy --alloc gabl,mc1x1 --no-plots --out out";
    let run = dir.replay(contend).code(0);
    let words = "replay: warning: lublin-10x10 10x10 easy seed 0: the order by mean stretch depends on two jobs: gabl (";
    let line = run.stderr.lines().find_map(|line| line.strip_prefix(words)).expect("a warning");
    let jobs: Vec<&str> = line
        .split_once("without jobs ")
        .and_then(|(_, rest)| rest.split_once(" the order is reversed"))
        .map(|(jobs, _)| jobs.split(" and ").collect())
        .expect("jobs");
    // Without these two jobs, the order of the means is reversed.
    let [runs, numbers, stretches] =
        ["run", "job", "stretch"].map(|name| column(&dir, "out/contend_jobs.csv", name));
    let mean = |run: &str, without: &[&str]| -> f64 {
        let jobs = runs.iter().zip(&numbers).zip(&stretches);
        let kept = jobs.filter(|((of, job), _)| *of == run && !without.contains(&job.as_str()));
        let kept: Vec<f64> = kept.filter_map(|(_, stretch)| stretch.parse().ok()).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    assert_eq!(jobs.len(), 2, "{line}");
    assert!(mean("0", &[]) < mean("1", &[]) && mean("0", &jobs) > mean("1", &jobs), "{line}");
    assert!(line.contains("ranks before mc1x1 ("), "{line}");
    dir.replay(&format!("{contend} --force -q")).code(0).says_nothing();
}

fn limits_packets_before_any_run() {
    let dir = Dir::with_trace();
    for (command, words) in [
        (
            "contend --jobs 16 --scale 1e9",
            ["--scale: lublin-10x10: at 1000000000 cycles", "lower --scale, select fewer"],
        ),
        // This run would take hours on one thread.
        ("contend --jobs 16 --scale 2e7 --alloc mbs", ["at most 1e9", "--network links"]),
        (
            "contend --jobs 16 --scale 1e9 --pattern one-to-all --alloc mbs",
            ["at most 1e9", "--jobs"],
        ),
        (
            "stream --machine 8x8 --arrivals 1 --pattern n-body --alloc mbs --quota fixed[packets=1000000000]",
            ["--quota: on 8x8", "lower --quota or --jobs"],
        ),
    ] {
        dir.replay(command).code(2).says(words[0]).says(words[1]);
    }
    // Link loads simulate only a window of each job.
    dir.replay("contend --jobs 16 --scale 1e6 --alloc mbs --network links[window=200]").code(0);
}

fn estimates_packets_before_a_run() {
    let dir = Dir::with_trace();
    let contend = "contend --jobs 60 --scale 0.05 --alloc mbs,first-fit --format csv";
    let run = dir.replay(&format!("{contend} --no-plots --out out")).code(0);
    let bound = run.stderr.lines().find_map(|line| {
        let packets = line.strip_prefix("lublin-10x10: at most ")?;
        packets.strip_suffix(" packets in a run on 10x10 (an upper bound)")
    });
    let bound = bound.expect("a line").replace(',', "").parse::<f64>().expect("a number");
    for sent in column(&dir, "out/contend.csv", "packets") {
        let sent: f64 = sent.parse().expect("a number");
        assert!(sent <= bound && bound < 30.0 * sent, "{sent} of at most {bound}");
    }
    let estimates = run.stderr.matches("packets in a run").count();
    run.demand(estimates == 1, "one line for both strategies");
    dir.replay(&format!("{contend} -q")).code(0).says_nothing();
}

/// While the times without other jobs are measured, no job has received processors in the schedule yet. `timeout` stops
/// the run.
fn reports_long_measurements() {
    let dir = Dir::new().file("one.swf", "; MaxProcs: 64\n1 0 -1 1000000 16\n");
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!(
        "timeout -k 30 8 {program} contend --trace one.swf --machine 8x8 --alloc mbs --scale 300"
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).output();
    let run = Outcome::new(&line, output.expect("a shell")).code(124);
    let run = run
        .says("the first job that is measured without other jobs takes over 5 s")
        .says("--scale");
    run.demand(!run.stderr.contains("has received processors"), "no schedule is computed yet");
}

fn reads_patterns_from_files() {
    let dir =
        Dir::with_trace().file("ring.csv", "phase,src_rank,dst_rank,packets\n0,0,1,2\n0,1,0,2\n");
    let run = dir.replay("contend --jobs 40 --scale 0.05 --pattern phases[file=ring.csv] --alloc mbs --format json -q");
    run.code(0);
    dir.replay("contend --pattern phases[file=none.csv] -q").fails(2, 1, &["none.csv"]);
    dir.replay("contend --pattern matrix[file=none.csv] -q").fails(2, 1, &["none.csv"]);
}

fn rejects_unsupported_options() {
    let dir = Dir::with_trace();
    for (command, word) in [
        ("contend --scale 0", "--scale"),
        ("contend --pattern al-to-all", "all-to-all"),
        ("contend --pattern all-to-all,n-body", "takes one pattern"),
        ("contend --network low", "lo"),
        ("stream --pattern n-body --quota fixed[packets=x]", "packets"),
        ("contend --scale 1e18", "--scale"),
        ("stream --pattern n-body --flits 0", "flits"),
        ("contend --flits 0", "flits"),
        ("contend --mapping sideways", "sideways"),
        ("contend --sched conservative --alloc first-fit", "does not support this"),
        ("contend --sched recorded --alloc mc1x1", "cannot be used with this command"),
        ("network --packets - --machine 1x", "1x"),
    ] {
        dir.replay(command).code(2).says(word);
    }
}

fn correlations_are_computed_for_each_policy() {
    let dir = Dir::with_trace();
    let contend =
        "contend --jobs 12 --scale 0.02 --alloc mc1x1,mbs,paging,random --policy johnson,pwa";
    dir.replay(&format!("{contend} --no-plots --out out -q")).code(0);
    let table = dir.read("out/correlations.csv");
    let rows: Result<Vec<HashMap<String, String>>, _> =
        csv::Reader::from_reader(table.as_slice()).into_deserialize().collect();
    let mut rows = rows.expect("a table");
    rows.retain(|row| row["over"] == "allocators");
    let of = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("policy"), ["johnson", "pwa"]);
    assert_eq!(of("points"), ["4", "4"]);
}
