//! The placements of a log.

use super::dir::Dir;

trials!(
    a_log_with_places,
    a_map_of_nodes,
    pairs_that_cannot_be_are_left_out,
    lists_in_field_19,
    boxes_of_nodes,
    conflicts_are_told,
    strict_stops_at_conflicts,
    runs_beside_the_log,
    comparisons_are_over_one_set_of_jobs,
    which_nodes_are_meant_is_known,
    what_is_missing_is_told,
    cells_know_their_places,
);

/// Three jobs, each at once: 4 processors, 2 and 2.
const LOG: &str =
    "; MaxProcs: 16\n1 0 0 100 4 -1 -1 4 100\n2 10 5 100 2 -1 -1 2 100\n3 20 0 10 2 -1 -1 2 10\n";
const NODES: &str = "job,nodes\n1,0-3\n2,\"4,5\"\n3,6-7\n";
const BOTH: &str = "--sched recorded --alloc recorded --machine 4x4";

fn dir(nodes: &str) -> Dir {
    Dir::new().file("j.swf", LOG).file("j.nodes.csv", format!("job,nodes\n{nodes}"))
}

fn a_log_with_places() {
    // Points by number: a row, two neighbours, and two corners.
    let dir = dir("1,0-3\n2,\"4,5\"\n3,\"12,15\"\n");
    let run = dir.replay(&format!("--trace j.swf {BOTH} --format json")).code(0);
    let run = run.says(
        "j on 4x4, recorded placements: 0 jobs on processors that others held; most at once \
                        on a point: 1 on 8",
    );
    // (1 + 2 + 3 + 1 + 2 + 1) + 1 + 3 hops; a wait of 5 s.
    let expected = ["14 4.666666666666667 1.6666666666666667 recorded recorded"];
    let names = ["total_pairwise_l1", "mean_pairwise_l1", "mean_wait", "scheduler", "allocator"];
    assert_eq!(run.fields(&names), expected);
    // Names lie along the scan order; the same, packed.
    let names = "job,nodes\n1,n[07-10]\n2,\"n11,n12\"\n3,\"n13,n16\"\n";
    let dir = dir.file("j.nodes.csv", names);
    let run = dir.replay(&format!("--trace j.swf {BOTH} --format json -q")).code(0);
    // The last two nodes of eight are neighbours there.
    assert_eq!(run.fields(&["total_pairwise_l1"]), ["12"]);
    dir.replay(&format!("--trace j.swf {BOTH} --out o -q")).code(0);
    dir.replay(&format!("plan --trace j.swf {BOTH}")).code(0);
}

/// Where nodes stand, which the log does not tell.
fn a_map_of_nodes() {
    let map = "node,x,y\na,0,0\nb,3,0\nc,0,3\nd,3,3\ne,1,1\nf,1,1\n";
    let dir = dir("1,\"a,b,c,d\"\n2,e\n3,\"e,f\"\n").file("map.csv", map);
    let log = LOG.replace("100 2 -1 -1 2", "5 1 -1 -1 1");
    let dir = dir.file("j.swf", log).file("bad.csv", map.replace("c,0,3", "c,0,4"));
    let both = "--trace j.swf --sched recorded --alloc recorded --machine 4x4*2";
    let run = dir.replay(&format!("{both} --node-map map.csv --format json")).code(0);
    // Six pairs of corners: four of 3 hops, two of 6. Two nodes stand at one point.
    assert_eq!(run.fields(&["total_pairwise_l1"]), ["24"]);
    run.demand(!run.stderr.contains("in order of their names"), "nobody guesses");
    dir.replay(&format!("{both} -q")).code(0);
    dir.replay(both).code(0).says("(--node-map gives their points)");
    for (command, code, words) in [
        ("--node-map bad.csv", 3, "bad.csv:4: field y: 4 is outside 4x4*2: it has 0 to 3"),
        ("--node-map j.swf", 3, "j.swf:1: field node: the header is \"; MaxProcs: 16\""),
        ("--node-map no.csv", 2, "cannot read no.csv"),
    ] {
        dir.replay(&format!("{both} {command} -q")).fails(code, 1, &[words]);
    }
    let other = "--trace j.swf --sched recorded --alloc random --machine 4x4 --node-map map.csv -q";
    dir.replay(other).fails(2, 1, &["--node-map: says where the nodes of a log stand, which only"]);
    let search = "search --trace j.swf --node-map map.csv -q";
    dir.replay(search).fails(2, 1, &["--node-map is for run, sweep and plan"]);
    // Cells on other points are others, and a sweep knows the map.
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

/// The placements of a log go with its starts, other allocators with any scheduler.
fn pairs_that_cannot_be_are_left_out() {
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
    // All files and figures, a sweep of it by shards, and copies.
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
    let words = ["allocator recorded repeats the placements of a log", "not with easy"];
    let none = "--trace j.swf --machine 4x4 --sched easy,fcfs --alloc recorded,mc1x1 -q";
    dir.replay(none).fails(2, 1, &words);
}

fn lists_in_field_19() {
    let log = "1 0 0 9 3 -1 -1 3 9 -1 1 1 1 -1 -1 -1 1 1 {7,7,1200} q 1:ppn=2\n\
               2 1 0 9 1 -1 -1 1 9 -1 1 1 1 -1 -1 -1 1 1 {1200} q 1\n";
    let dir = Dir::new().file("c.swf", log);
    let options = "--trace c.swf --policy cerit --sched recorded --alloc recorded --format json";
    let run = dir.replay(&format!("{options} --machine 1x2*2")).code(0);
    let told = "0 jobs on processors that others held; most at once on a point: 2 on 2";
    assert_eq!(run.says(told).fields(&["total_pairwise_l1"]), ["1"]);
    // One processor a point is too few, and more nodes than points do not fit.
    let told = "2 jobs on processors that others held (2 processors; first jobs 1, 2)";
    dir.replay(&format!("{options} --machine 2x2")).code(0).says(told);
    dir.replay(&format!("{options} --machine 2x2")).code(0).says("such as 4x11*80");
    // Jobs that count nodes have each of theirs once.
    let told = "1 job on processors that others held (1 processor; first job 2)";
    dir.replay(&format!("{options} --machine 2x2").replace("cerit", "cerit-nodes"))
        .code(0)
        .says(told);
    let piped = options.replace("c.swf", "-");
    let run = dir.replay_on(log.as_bytes(), &format!("{piped} --machine 1x2*2")).code(0);
    run.demand(run.fields(&["total_pairwise_l1"]) == ["1"], "as from a file");
    let words = ["stdin: nothing tells where its jobs ran"];
    dir.replay_on(LOG.as_bytes(), &format!("{piped} --machine 4x4 -q")).fails(3, 1, &words);
    let words = ["allocator recorded: c.swf: the log names 2 nodes, 1x1*4 has 1 point\n"];
    dir.replay(&format!("{options} --machine 1x1*4 -q")).fails(2, 1, &words);
}

/// Midplanes of Mira by the boxes of its jobs, and a placement of no job.
fn boxes_of_nodes() {
    let nodes = "1,\"A0-3 B4-7 C8-11 D8-11 E0-1\"\n2,\"A0-0 B4-4 C8-8 D8-8 E0-1\"\n3,A4-4 B0-0 C0-0 D0-0 E0-1\n9,26\n";
    let dir = dir(nodes);
    let log = LOG.replace("100 4 -1 -1 4", "5 512 -1 -1 512");
    let dir = dir.file("j.swf", log);
    let run = dir.replay("--trace j.swf --sched recorded --alloc recorded --machine mira").code(0);
    let run = run
        .says("0 jobs on processors that others held; most at once on a point: 2 on 1, 512 on 1");
    run.says("1 placement of jobs that are not among those replayed, first in line 5: job 9");
    let dir = dir.file("j.nodes.csv", "job,nodes\n1,\"2,1-0\"\n");
    let words =
        ["j.nodes.csv:2: \"2,1-0\" is no list of nodes: \"1-0\": a range that runs backwards"];
    dir.replay("--trace j.swf --sched recorded --alloc recorded --machine mira")
        .code(3)
        .says(words[0]);
    // Nor does one for which the machine has no room, and what is wrong is told once.
    let dir = dir.file("j.nodes.csv", "job,nodes\n1,0-99\n2,4\n3,5\n").file("j.swf", LOG);
    let run =
        dir.replay("--trace j.swf --sched recorded --alloc recorded,random --machine 3x2").code(0);
    let run = run
        .says("1 list with more nodes than 3x2 has, first of job 1; these jobs have no placement");
    run.demand(run.stderr.matches("too few processors free").count() == 1, "once");
    let log = LOG.replace("100 4 -1 -1 4", "5 512 -1 -1 512");
    let dir = dir.file("j.swf", log);
    // One list that is none takes the place of its job only.
    let dir = dir.file("j.nodes.csv", "job,nodes\n1,\"2,1-0\"\n2,4\n3,5\n");
    let run = dir.replay("--trace j.swf --sched recorded --alloc recorded --machine mira").code(0);
    run.says("1 list of nodes that cannot be read, first in j.nodes.csv:2: \"2,1-0\" is no list of nodes")
        .says("1 job of which nothing tells where they ran, in no distance");
}

/// In files and on standard output every run is set against the one that repeats the log.
fn runs_beside_the_log() {
    let dir = dir("1,0-3\n2,\"4,5\"\n3,\"12,15\"\n");
    let grid = "--trace j.swf --machine 4x4 --sched recorded,fcfs --alloc mc1x1,random --no-plots";
    let run = dir.replay(&format!("{grid} --out o")).code(0);
    let run =
        run.says("recorded waits contain holds, limits, priorities, outages and reservations");
    // FCFS lets nobody wait: all of the log's wait is gone.
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
    // A sweep and shards of it say the same.
    let sweep = "sweep --trace j.swf --machine 4x4 --sched recorded,fcfs --alloc mc1x1,random -q";
    dir.replay(&format!("{sweep} --out s")).code(0);
    assert_eq!(dir.read("s/against_log.csv"), dir.read("o/against_log.csv"));
    // Where placements are repeated too, they are the measure.
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
    // Without the log there is nothing.
    let alone = dir
        .replay("--trace j.swf --machine 4x4 --sched fcfs --alloc random --out q --no-plots")
        .code(0);
    assert!(
        !alone.stdout.contains("against the log")
            && !dir.files("q").iter().any(|name| name.contains("against"))
    );
}

fn conflicts_are_told() {
    let dir = dir("1,0-3\n2,\"3,4\"\n");
    let told = "1 job on processors that others held (1 processor; first job 2); 1 job of which nothing \
                tells where they ran, in no distance; most at once on a point: 1 on 4, 2 on 1";
    let run = dir.replay(&format!("--trace j.swf {BOTH} --format json")).code(0).says(told);
    // Distances are over the two whose places are known, waits over all.
    let names = ["jobs", "mean_pairwise_l1", "total_pairwise_l1", "mean_wait"];
    assert_eq!(run.fields(&names), ["3 7.0 14 1.6666666666666667"]);
    dir.replay(&format!("--trace j.swf {BOTH} --out o --no-plots -q")).code(0);
    let sizes = String::from_utf8(dir.read("o/by_size.csv")).expect("text");
    assert!(sizes.contains(",2,2,1,4.0,2.5,57.5\n") && sizes.contains(",4,1,2,10.0,"), "{sizes}");
}

/// A log that contradicts its machine or itself is an error if it is to be one.
fn strict_stops_at_conflicts() {
    let run = |dir: &Dir, words: &str| dir.replay(&format!("--trace j.swf --machine {words} -q"));
    let sound = dir("1,0-3\n2,\"4,5\"\n3,6-7\n");
    run(&sound, "4x4 --sched recorded --alloc recorded --strict").code(0);
    run(&sound, "4x4 --sched recorded,fcfs --alloc random --strict").code(0);
    let full = ["j on 3x2, recorded: 1 job starts with too few processors free", "first job 3"];
    run(&sound, "3x2 --sched recorded --alloc random --strict").fails(3, 1, &full);
    run(&sound, "3x2 --sched fcfs,recorded --alloc random --strict").fails(3, 1, &full);
    run(&sound, "3x2 --sched recorded --alloc random").code(0);
    // Nobody counts points there, but processors all the same.
    let nodes = dir("1,0-3\n2,\"4,5\"\n3,4-5\n");
    run(&nodes, "3x2 --sched recorded --alloc recorded --strict").code(3).says(full[0]);
    run(&nodes, "3x2 --sched recorded[overfull=error] --alloc recorded").fails(3, 1, &full);
    // Processors that others held.
    let held = dir("1,0-3\n2,\"3,4\"\n3,6-7\n");
    let words = ["j on 4x4, recorded placements: 1 job on processors that others held", "4x11*80"];
    run(&held, "4x4 --sched recorded --alloc recorded --strict").fails(3, 1, &words);
    run(&held, "4x4 --sched recorded[overfull=error] --alloc recorded").code(0);
    let grid = "traces = ['j.swf']\nmachines = ['4x4']\nschedulers = ['recorded']\nstrict = true\n\
                allocator = ['recorded']\n";
    let held = held.file("g.toml", grid);
    held.replay("sweep g.toml --out o -q").fails(3, 1, &words);
    // It is of no use where no log is repeated.
    let words =
        ["--strict: stops where a log contradicts itself, which only scheduler recorded repeats"];
    run(&held, "4x4 --sched fcfs --alloc random --strict").fails(2, 1, &words);
    held.replay("search --trace j.swf --machine 4x4 --strict -q").fails(
        2,
        1,
        &["--strict is for run"],
    );
}

/// Job 3 has no known place, and job 4 no processors when the log starts it.
fn comparisons_are_over_one_set_of_jobs() {
    let log = format!("{LOG}4 30 10 10 13 -1 -1 13 10\n");
    let dir = dir("1,0-3\n2,\"4,5\"\n4,0-12\n").file("j.swf", &log);
    let grid = "--trace j.swf --machine 4x4 --sched recorded,fcfs --alloc recorded,mc1x1 --tie none --tie 1,1,0,0";
    let run = dir.replay(&format!("{grid} --out o --no-plots")).code(0);
    run.prints("with places").says("1 job of which nothing tells where they ran, in no distance");
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
    // The same starts: no difference, whatever is not known.
    for metric in ["mean_wait", "mean_turnaround", "makespan", "utilization", "p90_wait"] {
        let told = of("1", "", metric);
        let words: Vec<&str> = told.split(' ').collect();
        assert_eq!((&words[..3], words[3]), (&["3", "1", "0"][..], words[4]), "{metric}");
    }
    // FCFS lets nobody of the three wait.
    assert_eq!(of("3", "", "mean_wait"), "3 1 0 1.6666666666666667 0.0");
    // 10 hops and 1, as the log has them; a square and a pair are 8 and 1.
    assert_eq!(of("3", "", "total_pairwise_l1"), "2 1 1 11.0 9.0");
    assert_eq!(of("3", "", "mean_pairwise_l1"), "2 1 1 5.5 4.5");
    assert_eq!(of("3", "2", "mean_pairwise_l1"), "1   1.0 1.0");
    assert_eq!(of("3", "2", "mean_wait"), "2   2.5 0.0");
    assert!(all.iter().all(|row| row[place("of_size")] != "13"), "{all:?}");
    // Replayed as one, by shards or one by one.
    dir.replay(&format!("sweep {grid} --out s -q")).code(0);
    assert_eq!(rows("s"), all);
    // Cells beside a log that lacks jobs are others than those beside one that has all.
    let id = |dir: &Dir| {
        dir.replay(&format!("plan {grid} --list --format json -q")).code(0).fields(&["cell"])
    };
    let (lacking, whole) = (id(&dir), id(&dir.file("j.swf", LOG).file("j.nodes.csv", NODES)));
    assert!(lacking.iter().zip(&whole).all(|(one, other)| one != other));
}

/// A number that two jobs have, one that a policy has given, and two files.
fn which_nodes_are_meant_is_known() {
    let log = format!("{LOG}2 30 0 10 2 -1 -1 2 10\n1 40 0 10 2 -1 -1 2 10\n");
    let dir = dir("1,0-3\n2,\"4,5\"\n3,6-7\n").file("r.swf", &log).file("r.nodes.csv", NODES);
    let both = BOTH;
    let words = ["r.swf: lines 3 and 5 are both job 2, and nodes are told by job number"];
    let run = dir.replay(&format!("--trace r.swf {both}"));
    run.code(3)
        .says(words[0])
        .says("2 records with the number of an earlier one, first in line 5: job 2");
    dir.replay("--trace r.swf --sched recorded --alloc random --machine 4x4 -q").code(0);
    // Nobody asks for the nodes of a number that comes twice.
    let dir = dir.file("r.nodes.csv", "job,nodes\n3,6-7\n");
    dir.replay(&format!("--trace r.swf {both} -q")).code(0);
    let words = ["allocator recorded: policy batsim renumbers jobs"];
    dir.replay(&format!("--trace j.swf {both} --policy batsim -q")).fails(2, 1, &words);
    let dir = dir.file("j.nodes.csv.gz", super::dir::gzip(NODES.as_bytes()));
    let words = ["j.nodes.csv and j.nodes.csv.gz are both there, and nobody knows which is meant"];
    dir.replay(&format!("--trace j.swf {both} -q")).fails(3, 1, &words);
    dir.replay("--trace j.swf --sched recorded --alloc random --machine 4x4 -q").code(0);
}

fn what_is_missing_is_told() {
    let dir = Dir::new().file("j.swf", LOG);
    let words = ["j.swf: nothing tells where its jobs ran: there is no j.nodes.csv, and field 19"];
    dir.replay(&format!("--trace j.swf {BOTH} -q")).fails(3, 1, &words);
    let words = ["allocator recorded repeats the placements of a log", "not with fcfs"];
    dir.replay("--trace j.swf --machine 4x4 --alloc recorded -q").fails(2, 1, &words);
    for (nodes, words) in [
        ("1,n[1-\n", ["no job has a recorded placement; 1 list of nodes that cannot be read"]),
        ("1,0-3\nx,4\n", ["j.nodes.csv:3: field job: \"x\" is no number"]),
        ("1\n", ["j.nodes.csv:2: field nodes: is missing"]),
        ("1,0\n1,2\n", ["j.nodes.csv:3: field job: job 1 has nodes already"]),
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

fn cells_know_their_places() {
    let id = |nodes: &str, which: usize| {
        let command = "plan --trace j.swf --sched recorded --machine 4x4 --alloc recorded,random --list --format json -q";
        dir(nodes).replay(command).code(0).fields(&["cell"])[which].clone()
    };
    let (one, other) = ("1,0-3\n2,\"4,5\"\n3,6-7\n", "1,0-3\n2,\"4,5\"\n3,8-9\n");
    assert_ne!(id(one, 0), id(other, 0));
    assert_eq!(id(one, 1), id(other, 1));
}
