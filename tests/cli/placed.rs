//! `--alloc recorded`: replays the placements recorded in a log.

use super::dir::Dir;

trials!(
    repeats_recorded_placements,
    node_map_gives_positions,
    leaves_out_unsupported_pairs,
    reads_node_lists_in_field_19,
    reads_boxes_of_nodes,
    reports_conflicts,
    strict_stops_at_conflicts,
    compares_runs_with_the_log,
    comparisons_use_one_set_of_jobs,
    rejects_ambiguous_nodes,
    reports_missing_placements,
    cell_ids_include_placements,
);

/// Three jobs of 4, 2 and 2 processors.
const LOG: &str =
    "; MaxProcs: 16\n1 0 0 100 4 -1 -1 4 100\n2 10 5 100 2 -1 -1 2 100\n3 20 0 10 2 -1 -1 2 10\n";
const NODES: &str = "job,nodes\n1,0-3\n2,\"4,5\"\n3,6-7\n";
const BOTH: &str = "--sched recorded --alloc recorded --machine 4x4";

fn dir(nodes: &str) -> Dir {
    Dir::new().file("j.swf", LOG).file("j.nodes.csv", format!("job,nodes\n{nodes}"))
}

fn repeats_recorded_placements() {
    // Node numbers are used as points. The jobs hold a row, two neighbours and two corners.
    let dir = dir("1,0-3\n2,\"4,5\"\n3,\"12,15\"\n");
    let run = dir.replay(&format!("--trace j.swf {BOTH} --format json")).code(0);
    let run = run.says(
        "j on 4x4, recorded placements: 0 jobs on processors held by other jobs; no node \
                        was held by two jobs at a time",
    );
    // The distances are (1 + 2 + 3 + 1 + 2 + 1) + 1 + 3 hops, and one job waits 5 s.
    let expected = ["14 4.666666666666667 1.6666666666666667 recorded recorded"];
    let names = ["total_pairwise_l1", "mean_pairwise_l1", "mean_wait", "scheduler", "allocator"];
    assert_eq!(run.fields(&names), expected);
    // Node names are assigned to points in scan order.
    let names = "job,nodes\n1,n[07-10]\n2,\"n11,n12\"\n3,\"n13,n16\"\n";
    let dir = dir.file("j.nodes.csv", names);
    let run = dir.replay(&format!("--trace j.swf {BOTH} --format json -q")).code(0);
    // In this order, the last two of the eight nodes are neighbours.
    assert_eq!(run.fields(&["total_pairwise_l1"]), ["12"]);
    dir.replay(&format!("--trace j.swf {BOTH} --out o -q")).code(0);
    dir.replay(&format!("plan --trace j.swf {BOTH}")).code(0);
}

/// The map gives the positions of nodes, which the log does not contain.
fn node_map_gives_positions() {
    let map = "node,x,y\na,0,0\nb,3,0\nc,0,3\nd,3,3\ne,1,1\nf,1,1\n";
    let dir = dir("1,\"a,b,c,d\"\n2,e\n3,\"e,f\"\n").file("map.csv", map);
    let log = LOG.replace("100 2 -1 -1 2", "5 1 -1 -1 1");
    let dir = dir.file("j.swf", log).file("bad.csv", map.replace("c,0,3", "c,0,4"));
    let both = "--trace j.swf --sched recorded --alloc recorded --machine 4x4*2";
    let run = dir.replay(&format!("{both} --node-map map.csv --format json")).code(0);
    // There are six pairs of corners: four pairs at 3 hops and two pairs at 6 hops. Two nodes share a point.
    assert_eq!(run.fields(&["total_pairwise_l1"]), ["24"]);
    run.demand(!run.stderr.contains("in order of their names"), "positions are not guessed");
    dir.replay(&format!("{both} -q")).code(0);
    dir.replay(both).code(0).says("(--node-map assigns other points)");
    for (command, code, words) in [
        (
            "--node-map bad.csv",
            3,
            "bad.csv:4: field y: 4 is outside 4x4*2: the permitted values are 0 to 3",
        ),
        ("--node-map j.swf", 3, "j.swf:1: field node: the header is \"; MaxProcs: 16\""),
        ("--node-map no.csv", 2, "cannot read no.csv"),
    ] {
        dir.replay(&format!("{both} {command} -q")).fails(code, 1, &[words]);
    }
    let other = "--trace j.swf --sched recorded --alloc random --machine 4x4 --node-map map.csv -q";
    dir.replay(other).fails(
        2,
        1,
        &["--node-map: applies only to allocator recorded (the file maps the nodes of a log"],
    );
    let search = "search --trace j.swf --node-map map.csv -q";
    dir.replay(search).fails(2, 1, &["--node-map is for replay without a command, sweep and plan"]);
    // Cell ids depend on the map, and a sweep accepts a map.
    let dir = dir.file("turned.csv", "node,x\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\n");
    let id = |map: &str| {
        dir.replay(&format!("plan {both} --node-map {map} --list --format json -q"))
            .code(0)
            .fields(&["cell"])
    };
    let (one, other) = (id("map.csv"), id("turned.csv"));
    assert_ne!(one, other);
    let grid = "traces = ['j.swf']\nmachines = ['4x4*2']\nschedulers = ['recorded']\nnode-map = 'map.csv'\n\
                allocator = ['recorded']\n";
    let dir = dir.file("grid.toml", grid);
    dir.replay("sweep grid.toml --out s -q").code(0);
    let runs = String::from_utf8(dir.read("s/runs.csv")).expect("text");
    assert!(runs.contains(",24,"), "{runs}");
}

/// Recorded placements need recorded starts; other allocators run with any scheduler.
fn leaves_out_unsupported_pairs() {
    let dir = dir("1,0-3\n2,\"4,5\"\n3,\"12,15\"\n");
    let grid = "--trace j.swf --machine 4x4 --sched easy,recorded,fcfs --alloc recorded,mc1x1,random --format json";
    let run = dir.replay(grid).code(0);
    let expected = [
        "0 easy mc1x1",
        "1 easy random",
        "2 recorded recorded",
        "3 recorded mc1x1",
        "4 recorded random",
        "5 fcfs mc1x1",
        "6 fcfs random",
    ];
    assert_eq!(run.fields(&["run", "scheduler", "allocator"]), expected);
    let run = run.says(
        "left out: scheduler easy with allocator recorded, which repeats recorded placements",
    );
    run.says("left out: scheduler fcfs with allocator recorded");
    // Run this grid with output files, as a sharded sweep, and with perturbed copies.
    dir.replay(&format!("{grid} --out o -q")).code(0);
    let table = String::from_utf8(dir.read("o/against_log.csv")).expect("text");
    assert!(table.lines().skip(1).all(|line| line.contains(",2,")), "{table}");
    let flags = grid.replace(" --format json", "");
    for part in ["1/2", "2/2"] {
        dir.replay(&format!("sweep {flags} --shard {part} --out s{} -q", &part[..1])).code(0);
    }
    dir.replay(&format!("sweep {flags} --out s -q")).code(0);
    assert_eq!(dir.read("s/runs.csv"), dir.read("o/runs.csv"));
    let flags = flags.replace("recorded,fcfs", "fcfs").replace("--alloc recorded,", "--alloc ");
    dir.replay(&format!("{flags} --shake 2 -q")).code(0);
    let words = ["allocator recorded repeats recorded placements", "instead of easy"];
    let none = "--trace j.swf --machine 4x4 --sched easy,fcfs --alloc recorded,mc1x1 -q";
    dir.replay(none).fails(2, 1, &words);
}

fn reads_node_lists_in_field_19() {
    let log = "1 0 0 9 3 -1 -1 3 9 -1 1 1 1 -1 -1 -1 1 1 {7,7,1200} q 1:ppn=2\n\
               2 1 0 9 1 -1 -1 1 9 -1 1 1 1 -1 -1 -1 1 1 {1200} q 1\n";
    let dir = Dir::new().file("c.swf", log);
    let options = "--trace c.swf --policy cerit --sched recorded --alloc recorded --format json";
    let run = dir.replay(&format!("{options} --machine 1x2*2")).code(0);
    let words = "0 jobs on processors held by other jobs; peak processors in use: 2 on 2 points";
    assert_eq!(run.says(words).fields(&["total_pairwise_l1"]), ["1"]);
    // With one processor per point, some jobs conflict, and a log with more nodes than points is an error.
    let words = "2 jobs on processors held by other jobs (2 processors; first jobs 1, 2)";
    dir.replay(&format!("{options} --machine 2x2")).code(0).says(words);
    dir.replay(&format!("{options} --machine 2x2")).code(0).says("such as 4x11*80");
    // Under a policy that counts nodes, a job holds each of its nodes once.
    let words = "1 job on processors held by other jobs (1 processor; first job 2)";
    dir.replay(&format!("{options} --machine 2x2").replace("cerit", "cerit-nodes"))
        .code(0)
        .says(words);
    let piped = options.replace("c.swf", "-");
    let run = dir.replay_on(log.as_bytes(), &format!("{piped} --machine 1x2*2")).code(0);
    run.demand(run.fields(&["total_pairwise_l1"]) == ["1"], "equal to the run on the file");
    let words = ["stdin: the log does not record where its jobs ran"];
    dir.replay_on(LOG.as_bytes(), &format!("{piped} --machine 4x4 -q")).fails(3, 1, &words);
    let words = ["allocator recorded: c.swf: the log names 2 nodes, but 1x1*4 has 1 point\n"];
    dir.replay(&format!("{options} --machine 1x1*4 -q")).fails(2, 1, &words);
}

/// Tests boxes of midplanes of Mira, and a placement whose job is not in the log.
fn reads_boxes_of_nodes() {
    let nodes = "1,\"A0-3 B4-7 C8-11 D8-11 E0-1\"\n2,\"A0-0 B4-4 C8-8 D8-8 E0-1\"\n3,A4-4 B0-0 C0-0 D0-0 E0-1\n9,26\n";
    let dir = dir(nodes);
    let log = LOG.replace("100 4 -1 -1 4", "5 512 -1 -1 512");
    let dir = dir.file("j.swf", log);
    let run = dir.replay("--trace j.swf --sched recorded --alloc recorded --machine mira").code(0);
    let run = run
        .says("0 jobs on processors held by other jobs; peak processors in use: 2 on 1 point, 512 on 1 point");
    run.says("1 placement of jobs that are not replayed, first in line 5: job 9");
    let dir = dir.file("j.nodes.csv", "job,nodes\n1,\"2,1-0\"\n");
    let words =
        ["j.nodes.csv:2: \"2,1-0\" is not a list of nodes: \"1-0\": a range that runs backwards"];
    dir.replay("--trace j.swf --sched recorded --alloc recorded --machine mira")
        .code(3)
        .says(words[0]);
    // If a list has more nodes than the machine, its job has no placement; the problem is reported once.
    let dir = dir.file("j.nodes.csv", "job,nodes\n1,0-99\n2,4\n3,5\n").file("j.swf", LOG);
    let run =
        dir.replay("--trace j.swf --sched recorded --alloc recorded,random --machine 3x2").code(0);
    let run = run
        .says("1 list with more nodes than 3x2 has, first of job 1; these jobs have no placement");
    run.demand(run.stderr.matches("too few processors free").count() == 1, "once");
    let log = LOG.replace("100 4 -1 -1 4", "5 512 -1 -1 512");
    let dir = dir.file("j.swf", log);
    // If a list cannot be read, only its job loses its placement.
    let dir = dir.file("j.nodes.csv", "job,nodes\n1,\"2,1-0\"\n2,4\n3,5\n");
    let run = dir.replay("--trace j.swf --sched recorded --alloc recorded --machine mira").code(0);
    run.says(
        "1 unreadable list of nodes, first in j.nodes.csv:2: \"2,1-0\" is not a list of nodes",
    )
    .says("1 job without a recorded placement, excluded from distance metrics");
}

/// Tables and standard output compare every run with the run that repeats the log.
fn compares_runs_with_the_log() {
    let dir = dir("1,0-3\n2,\"4,5\"\n3,\"12,15\"\n");
    let grid = "--trace j.swf --machine 4x4 --sched recorded,fcfs --alloc mc1x1,random --no-plots";
    let run = dir.replay(&format!("{grid} --out o")).code(0);
    let run =
        run.says("recorded waits include holds, limits, priorities, outages and reservations");
    // Under FCFS, no job waits, so the wait of the log is reduced by 100 %.
    run.prints("against the log").prints("-100.0 %");
    let table = String::from_utf8(dir.read("o/against_log.csv")).expect("text");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let place = |name: &str| rows[0].iter().position(|own| *own == name).expect(name);
    let of = |run: &str, size: &str, metric: &str| {
        let row = rows.iter().find(|row| {
            row[0] == run && row[place("of_size")] == size && row[place("metric")] == metric
        });
        let row = row.expect("a row");
        ["log_run", "log_value", "run_value", "to_log_percent"]
            .map(|name| row[place(name)])
            .join(" ")
    };
    assert_eq!(of("2", "", "mean_wait"), "0 1.6666666666666667 0.0 -100.0");
    assert_eq!(of("3", "2", "mean_wait"), "1 2.5 0.0 -100.0");
    assert_eq!(of("3", "4", "mean_wait"), "1 0.0 0.0 ");
    assert!(rows.iter().skip(1).all(|row| ["2", "3"].contains(&row[0])), "{table}");
    // A sweep writes the same table.
    let sweep = "sweep --trace j.swf --machine 4x4 --sched recorded,fcfs --alloc mc1x1,random -q";
    dir.replay(&format!("{sweep} --out s")).code(0);
    assert_eq!(dir.read("s/against_log.csv"), dir.read("o/against_log.csv"));
    // If a run also repeats the recorded placements, the other runs are compared with this run.
    let both = dir
        .replay(
            "--trace j.swf --sched recorded --alloc recorded,mc1x1 --machine 4x4 --out p --no-plots -q",
        )
        .code(0);
    both.prints("against the log");
    let table = String::from_utf8(dir.read("p/against_log.csv")).expect("text");
    assert!(
        table.lines().skip(1).all(|line| line.starts_with("1,j,4x4,recorded,mc1x1,")),
        "{table}"
    );
    // Without a run that repeats the log, there is no comparison.
    let alone = dir
        .replay("--trace j.swf --machine 4x4 --sched fcfs --alloc random --out q --no-plots")
        .code(0);
    assert!(
        !alone.stdout.contains("against the log")
            && !dir.files("q").iter().any(|name| name.contains("against"))
    );
}

fn reports_conflicts() {
    let dir = dir("1,0-3\n2,\"3,4\"\n");
    let words = "1 job on processors held by other jobs (1 processor; first job 2); 1 job without a recorded \
                placement, excluded from distance metrics; peak processors in use: 1 on 4 points, 2 on 1 point";
    let run = dir.replay(&format!("--trace j.swf {BOTH} --format json")).code(0).says(words);
    // Distances are means over the two jobs with placements; waits are means over all jobs.
    let names = ["jobs", "mean_pairwise_l1", "total_pairwise_l1", "mean_wait"];
    assert_eq!(run.fields(&names), ["3 7.0 14 1.6666666666666667"]);
    dir.replay(&format!("--trace j.swf {BOTH} --out o --no-plots -q")).code(0);
    let sizes = String::from_utf8(dir.read("o/by_size.csv")).expect("text");
    assert!(sizes.contains(",2,2,1,4.0,,2.5,57.5\n") && sizes.contains(",4,1,2,10.0,"), "{sizes}");
}

/// With --strict or overfull=error, a log that contradicts its machine or itself is an error.
fn strict_stops_at_conflicts() {
    let run = |dir: &Dir, words: &str| dir.replay(&format!("--trace j.swf --machine {words} -q"));
    let sound = dir("1,0-3\n2,\"4,5\"\n3,6-7\n");
    run(&sound, "4x4 --sched recorded --alloc recorded --strict").code(0);
    run(&sound, "4x4 --sched recorded,fcfs --alloc random --strict").code(0);
    let full = ["j on 3x2, recorded: 1 job starts with too few processors free", "first job 3"];
    run(&sound, "3x2 --sched recorded --alloc random --strict").fails(3, 1, &full);
    run(&sound, "3x2 --sched fcfs,recorded --alloc random --strict").fails(3, 1, &full);
    run(&sound, "3x2 --sched recorded --alloc random").code(0);
    // Recorded placements do not count points, but the number of processors is checked.
    let nodes = dir("1,0-3\n2,\"4,5\"\n3,4-5\n");
    run(&nodes, "3x2 --sched recorded --alloc recorded --strict").code(3).says(full[0]);
    run(&nodes, "3x2 --sched recorded[overfull=error] --alloc recorded").fails(3, 1, &full);
    // Job 2 uses a processor held by job 1.
    let held = dir("1,0-3\n2,\"3,4\"\n3,6-7\n");
    let words =
        ["j on 4x4, recorded placements: 1 job on processors held by other jobs", "4x11*80"];
    run(&held, "4x4 --sched recorded --alloc recorded --strict").fails(3, 1, &words);
    run(&held, "4x4 --sched recorded[overfull=error] --alloc recorded").code(0);
    let grid = "traces = ['j.swf']\nmachines = ['4x4']\nschedulers = ['recorded']\nstrict = true\n\
                allocator = ['recorded']\n";
    let held = held.file("g.toml", grid);
    held.replay("sweep g.toml --out o -q").fails(3, 1, &words);
    // --strict has no effect without recorded starts, so it is an error.
    let words = ["--strict: applies only to scheduler recorded: replay stops if the log"];
    run(&held, "4x4 --sched fcfs --alloc random --strict").fails(2, 1, &words);
    held.replay("search --trace j.swf --machine 4x4 --strict -q").fails(
        2,
        1,
        &["--strict is for replay without a command"],
    );
}

/// Job 3 has no recorded placement; job 4 has too few free processors at its recorded start.
fn comparisons_use_one_set_of_jobs() {
    let log = format!("{LOG}4 30 10 10 13 -1 -1 13 10\n");
    let dir = dir("1,0-3\n2,\"4,5\"\n4,0-12\n").file("j.swf", &log);
    let grid = "--trace j.swf --machine 4x4 --sched recorded,fcfs --alloc recorded,mc1x1 --tie none --tie 1,1,0,0";
    let run = dir.replay(&format!("{grid} --out o --no-plots")).code(0);
    run.prints("with places")
        .says("1 job without a recorded placement, excluded from distance metrics");
    let rows = |folder: &str| {
        let table =
            String::from_utf8(dir.read(&format!("{folder}/against_log.csv"))).expect("text");
        let cells = |line: &str| line.split(',').map(str::to_string).collect::<Vec<_>>();
        table.replace("\"1,1,0,0\"", "1110").lines().map(cells).collect::<Vec<_>>()
    };
    let all = rows("o");
    let place = |name: &str| all[0].iter().position(|own| own == name).expect(name);
    let of = |run: &str, size: &str, metric: &str| {
        let is = |row: &&Vec<String>| {
            row[0] == run && row[place("of_size")] == size && row[place("metric")] == metric
        };
        let row = all.iter().find(is).unwrap_or_else(|| panic!("{run} {size} {metric}"));
        let names =
            ["compared_jobs", "left_out_full", "left_out_nowhere", "log_value", "run_value"];
        names.map(|name| row[place(name)].as_str()).join(" ")
    };
    // The start times are equal, so the metrics are equal.
    for metric in ["mean_wait", "mean_turnaround", "makespan", "utilization", "p90_wait"] {
        let values = of("1", "", metric);
        let words: Vec<&str> = values.split(' ').collect();
        assert_eq!((&words[..3], words[3]), (&["3", "1", "0"][..], words[4]), "{metric}");
    }
    // Under FCFS, none of the three jobs waits.
    assert_eq!(of("3", "", "mean_wait"), "3 1 0 1.6666666666666667 0.0");
    // The distances in the log are 10 and 1 hops; those of a square and a pair are 8 and 1 hops.
    assert_eq!(of("3", "", "total_pairwise_l1"), "2 1 1 11.0 9.0");
    assert_eq!(of("3", "", "mean_pairwise_l1"), "2 1 1 5.5 4.5");
    assert_eq!(of("3", "2", "mean_pairwise_l1"), "1   1.0 1.0");
    assert_eq!(of("3", "2", "mean_wait"), "2   2.5 0.0");
    assert!(all.iter().all(|row| row[place("of_size")] != "13"), "{all:?}");
    // A sweep writes the same comparison.
    dir.replay(&format!("sweep {grid} --out s -q")).code(0);
    assert_eq!(rows("s"), all);
    // Cell ids depend on which jobs of the log are compared.
    let id = |dir: &Dir| {
        dir.replay(&format!("plan {grid} --list --format json -q")).code(0).fields(&["cell"])
    };
    let (lacking, whole) = (id(&dir), id(&dir.file("j.swf", LOG).file("j.nodes.csv", NODES)));
    assert!(lacking.iter().zip(&whole).all(|(one, other)| one != other));
}

/// Duplicate job numbers, renumbered jobs, and two files of nodes are errors.
fn rejects_ambiguous_nodes() {
    let log = format!("{LOG}2 30 0 10 2 -1 -1 2 10\n1 40 0 10 2 -1 -1 2 10\n");
    let dir = dir("1,0-3\n2,\"4,5\"\n3,6-7\n").file("r.swf", &log).file("r.nodes.csv", NODES);
    let both = BOTH;
    let words =
        ["r.swf: lines 3 and 5 are both job 2, so the nodes of this job number are ambiguous"];
    let run = dir.replay(&format!("--trace r.swf {both}"));
    run.code(3)
        .says(words[0])
        .says("2 records with the number of an earlier record, first in line 5: job 2");
    dir.replay("--trace r.swf --sched recorded --alloc random --machine 4x4 -q").code(0);
    // No node list uses the duplicate number, so the log is accepted.
    let dir = dir.file("r.nodes.csv", "job,nodes\n3,6-7\n");
    dir.replay(&format!("--trace r.swf {both} -q")).code(0);
    let words = ["allocator recorded: policy batsim renumbers jobs"];
    dir.replay(&format!("--trace j.swf {both} --policy batsim -q")).fails(2, 1, &words);
    let dir = dir.file("j.nodes.csv.gz", super::dir::gzip(NODES.as_bytes()));
    let words = ["j.nodes.csv and j.nodes.csv.gz both exist: move one of them away"];
    dir.replay(&format!("--trace j.swf {both} -q")).fails(3, 1, &words);
    dir.replay("--trace j.swf --sched recorded --alloc random --machine 4x4 -q").code(0);
}

fn reports_missing_placements() {
    let dir = Dir::new().file("j.swf", LOG);
    let words = [
        "j.swf: the log does not record where its jobs ran: there is no j.nodes.csv, and field 19",
    ];
    dir.replay(&format!("--trace j.swf {BOTH} -q")).fails(3, 1, &words);
    let words = ["allocator recorded repeats recorded placements", "instead of fcfs"];
    dir.replay("--trace j.swf --machine 4x4 --alloc recorded -q").fails(2, 1, &words);
    for (nodes, words) in [
        ("1,n[1-\n", ["no job has a recorded placement; 1 unreadable list of nodes"]),
        ("1,0-3\nx,4\n", ["j.nodes.csv:3: field job: \"x\" is not a number"]),
        ("1\n", ["j.nodes.csv:2: field nodes: is missing"]),
        ("1,0\n1,2\n", ["j.nodes.csv:3: field job: job 1 already has nodes"]),
        ("9,0-3\n", ["j.swf: no job has a recorded placement"]),
    ] {
        let dir = Dir::new().file("j.swf", LOG).file("j.nodes.csv", format!("job,nodes\n{nodes}"));
        dir.replay(&format!("--trace j.swf {BOTH} -q")).fails(3, 1, &words);
    }
    let dir = Dir::new().file("j.swf", LOG).file("j.nodes.csv", "job;nodes\n");
    let words = ["j.nodes.csv:1: field job: the header is \"job;nodes\""];
    dir.replay(&format!("--trace j.swf {BOTH} -q")).fails(3, 1, &words);
    dir.replay(&format!("show --at 9 --trace j.swf {BOTH} -q")).code(3);
}

fn cell_ids_include_placements() {
    let id = |nodes: &str, which: usize| {
        let command = "plan --trace j.swf --sched recorded --machine 4x4 --alloc recorded,random --list --format json -q";
        dir(nodes).replay(command).code(0).fields(&["cell"])[which].clone()
    };
    let (one, other) = ("1,0-3\n2,\"4,5\"\n3,6-7\n", "1,0-3\n2,\"4,5\"\n3,8-9\n");
    assert_ne!(id(one, 0), id(other, 0));
    assert_eq!(id(one, 1), id(other, 1));
}
