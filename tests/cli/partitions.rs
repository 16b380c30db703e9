//! `--partitions` and `--partition`: queues and partitions of any log.

use super::dir::Dir;

trials!(
    jobs_start_only_on_the_nodes_of_their_partition,
    a_partition_of_all_nodes_changes_no_schedule,
    jobs_that_can_never_start_are_counted_by_reason,
    wrong_partitions_have_messages,
    strategies_without_partitions_have_messages,
    other_commands_reject_partitions,
    grid_files_have_partitions,
    groups_have_the_waits_of_partitions_users_and_accounts,
);

/// A line of a trace: job, submission, run time, processors, limit, user, group, queue.
fn job(number: u32, submit: u32, run: u32, size: u32, queue: i32) -> String {
    let user = number % 2 + 1;
    format!(
        "{number} {submit} -1 {run} {size} -1 -1 {size} {run} -1 1 {user} 7 -1 {queue} -1 -1 -1\n"
    )
}

/// Four processors; queue 1 is short, queue 2 is long.
fn trace() -> String {
    "; MaxProcs: 4\n; Queue: 1 short\n; Queue: 2 long\n".to_string()
        + &job(1, 0, 60, 2, 1)
        + &job(2, 0, 60, 2, 1)
        + &job(3, 0, 60, 4, 2)
        + &job(4, 0, 30, 1, 2)
}

fn dir() -> Dir {
    Dir::new().file("t.swf", trace())
}

/// Returns the rows of a table in CSV: the values of the named columns.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &&str| header.iter().position(|one| one == *name).expect("a column");
    let places: Vec<usize> = names.iter().map(at).collect();
    let rows = reader.records().map(|row| row.expect("a row"));
    rows.map(|row| places.iter().map(|&at| row[at].to_string()).collect()).collect()
}

/// The start and the processors of each job, as `explain` prints them.
fn starts(options: &str) -> Vec<(u64, Vec<u64>)> {
    let job = |number: u32| {
        let command = format!(
            "explain --trace t.swf --machine 4x1 --alloc mc1x1 --job {number} --format json -q {options}"
        );
        let out = dir().replay(&command).code(0);
        let json: serde_json::Value = serde_json::from_str(&out.stdout).expect("JSON");
        let text = json.to_string();
        let result = &json["result"];
        let start = result["start"].as_u64().unwrap_or_else(|| panic!("{text}"));
        let nodes = result["nodes"].as_array().unwrap_or_else(|| panic!("{text}"));
        (start, nodes.iter().map(|node| node.as_u64().expect("a number")).collect())
    };
    (1..=4).map(job).collect()
}

fn jobs_start_only_on_the_nodes_of_their_partition() {
    let options = "--partitions queue --partition short=2-3 --partition 2=all";
    let command = format!("--trace t.swf --machine 4x1 {options}");
    dir()
        .replay(&command)
        .code(0)
        .says("t on 4x1: 2 partitions: short (2-3; 2 jobs), 2 (all nodes; 2 jobs)");
    for sched in ["fcfs", "easy", "conservative", "out-of-order"] {
        let found = starts(&format!("--sched {sched} {options}"));
        let times: Vec<u64> = found.iter().map(|one| one.0).collect();
        // Job 1 runs on 2-3 until 60, job 2 until 120; job 3 needs all nodes. Job 4 fits before them, but fcfs keeps the
        // order, and conservative also reserves a node of 2-3 for job 4.
        let last = if ["fcfs", "conservative"].contains(&sched) { 180 } else { 0 };
        assert_eq!(times, [0, 60, 120, last], "{sched}");
        assert!(found[..2].iter().all(|(_, nodes)| nodes[..] == [2, 3]), "{sched}: {found:?}");
    }
}

fn a_partition_of_all_nodes_changes_no_schedule() {
    let run = |options: &str| {
        let command = format!("--trace t.swf --sched easy,fcfs --format csv -q {options}");
        let out = dir().replay(&command).code(0).stdout;
        let names = ["scheduler", "mean_wait", "mean_pairwise_l1"];
        columns(&out, &names)
    };
    let plain = run("");
    assert_eq!(run("--partitions queue"), plain);
    assert_eq!(run("--partitions queue --partition short=0-3"), plain);
    assert_eq!(run("--partition one=all"), plain);
    // The highest tier comes first.
    let tiers = run("--partitions queue --partition short=all --partition long=all,tier=2");
    assert_ne!(tiers, plain);
}

fn jobs_that_can_never_start_are_counted_by_reason() {
    let options = "--partitions queue --partition short=2-3,max-time=0:30 --partition long=0-2";
    let out = dir().replay(&format!("--trace t.swf {options}")).code(0);
    out.says("t on 2x2: 1 job left out that can never start in its partition: PartitionConfig 1");
    let options =
        "--partitions queue --partition long=all,max-nodes=1,max-time=1 --partition short=all";
    let trace = trace() + &job(5, 0, 61, 1, 2);
    let dir = Dir::new().file("t.swf", trace);
    dir.replay(&format!("--trace t.swf {options}"))
        .code(0)
        .says("PartitionNodeLimit 1, PartitionTimeLimit 1");
    let nothing = "--trace t.swf --partition a=0,max-time=0";
    dir.replay(nothing).code(2).says("t: no job can start in its partition on 2x2");
}

fn wrong_partitions_have_messages() {
    for (options, code, problem) in [
        (
            "--partition a",
            2,
            "--partition: \"a\" is not NAME=NODES, such as short=0-15 or long=all",
        ),
        ("--partition a=", 2, "--partition: partition a: \"\": an empty name"),
        (
            "--partition a=4",
            2,
            "--partition: partition a: 4 is not a node from 0 to 3 (machine 2x2)",
        ),
        ("--partition a=3-1", 2, "--partition: partition a: \"3-1\": a range that runs backwards"),
        (
            "--partition a=0,tier=-1",
            2,
            "partition a: tier: \"-1\" is not a whole number from 0 to 4294967295",
        ),
        (
            "--partition a=0,max-time=soon",
            2,
            "partition a: max-time: \"soon\" is not a time; write minutes",
        ),
        (
            "--partition a=0,mode=x",
            2,
            "partition a: mode: unknown; known are tier, factor, max-time, max-nodes",
        ),
        ("--partition a=0 --partition a=1", 2, "--partition: partition a is given twice"),
        (
            "--partition a=0 --partition b=1",
            2,
            "--partition: several partitions need --partitions queue",
        ),
        ("--partition a=0,factor=2", 2, "--partition: partition a: factor: applies to priorities"),
        ("--unknown drop", 2, "--unknown: needs --partitions queue or --partitions partition"),
        (
            "--partitions queue --partition short=all --unknown error",
            3,
            "t.swf:6: job 3: there is no partition long; define it with --partition, or leave such jobs out with --unknown drop",
        ),
    ] {
        dir().replay(&format!("--trace t.swf {options}")).code(code).says(problem);
    }
    let drop = "--trace t.swf --partitions queue --partition short=all --unknown drop";
    dir().replay(drop).code(0).says("2 jobs in partitions without a definition left out");
}

fn strategies_without_partitions_have_messages() {
    let options = "--trace t.swf --partitions queue --partition short=2-3";
    let waits = trace().replace(" 0 -1 60", " 0 0 60").replace(" 0 -1 30", " 0 0 30");
    let dir = || Dir::new().file("t.swf", &waits);
    for (strategies, problem) in [
        (
            "--alloc rsr",
            "--partitions: allocator rsr folds jobs, which is not supported with partitions",
        ),
        ("--sched recorded --alloc mc1x1", "scheduler recorded repeats recorded starts"),
        (
            "--sched easy[guard=place] --alloc mc1x1",
            "scheduler easy[guard=place] does not support partitions; schedulers that do: fcfs, priority, easy",
        ),
    ] {
        dir().replay(&format!("{options} {strategies}")).code(2).says(problem);
    }
    let down = "from,until,what\n10,20,node 0\n";
    let command = format!("{options} --down d.csv --alloc mc1x1");
    dir()
        .file("d.csv", down)
        .replay(&command)
        .code(2)
        .says("partitions cannot be combined with outages");
}

fn other_commands_reject_partitions() {
    let problem = "--partitions and --partition are for replay without a command, sweep, plan, show and explain";
    dir().replay("contend --trace t.swf --partitions queue").code(2).says(problem);
    dir().replay("search --trace t.swf --partition a=all").code(2).says(problem);
    let site = "--trace t.swf --site s --partition a=all";
    dir().replay(site).code(2).says("--partition: cannot be combined with --site");
}

fn grid_files_have_partitions() {
    let grid = "traces = [\"t.swf\"]\nschedulers = [\"fcfs\", \"easy\"]\n\
        partitions = { field = \"queue\", define = [\"short=2-3\"] }\n";
    let dir = dir().file("g.toml", grid);
    dir.replay("sweep g.toml --out o -q").code(0);
    let wrong = grid.replace("queue", "line");
    let dir = dir.file("w.toml", wrong);
    dir.replay("sweep w.toml --out p")
        .code(2)
        .says("\"line\" is not one of none, queue, partition");
}

fn groups_have_the_waits_of_partitions_users_and_accounts() {
    let dir = dir();
    let options = "--trace t.swf --machine 4x1 --alloc mc1x1 --sched easy --partitions queue --partition short=2-3 -q";
    dir.replay(&format!("{options} --out o")).code(0);
    dir.replay(&format!("sweep {options} --out s")).code(0);
    let names = ["kind", "name", "jobs", "share", "mean_wait", "p90_wait", "mean_bounded_slowdown"];
    // The jobs wait 0, 60, 120 and 0 s; they have 120, 120, 240 and 30 of 510 processor seconds.
    let expected = [
        ("partition", "short", [2.0, 240.0 / 510.0, 30.0, 54.0, 1.5]),
        ("partition", "long", [2.0, 270.0 / 510.0, 60.0, 108.0, 2.0]),
        ("user", "1", [2.0, 150.0 / 510.0, 30.0, 54.0, 1.5]),
        ("user", "2", [2.0, 360.0 / 510.0, 60.0, 108.0, 2.0]),
        ("account", "7", [4.0, 1.0, 45.0, 102.0, 1.75]),
    ];
    for folder in ["o", "s"] {
        let text = String::from_utf8(dir.read(&format!("{folder}/groups.csv"))).expect("text");
        let rows = columns(&text, &names);
        assert_eq!(rows.len(), expected.len(), "{text}");
        for (row, (kind, name, numbers)) in rows.iter().zip(expected) {
            assert_eq!((row[0].as_str(), row[1].as_str()), (kind, name), "{folder}");
            for (text, number) in row[2..].iter().zip(numbers) {
                let found: f64 = text.parse().expect("a number");
                assert!((found - number).abs() < 1e-6, "{folder} {kind} {name}: {text}, {number}");
            }
        }
    }
    // Without partitions, there is no such table.
    dir.replay("--trace t.swf --machine 4x1 --alloc mc1x1 -q --out p").code(0);
    assert!(!dir.path("p/groups.csv").exists());
}
