//! `--down`: windows during which processors are out of service.

use super::dir::Dir;

trials!(
    reads_a_file_of_windows,
    down_rules_decide_about_running_jobs,
    writes_outage_tables,
    empty_files_change_nothing,
    errors_have_line_and_field,
    show_marks_processors_out_of_service,
    rejects_commands_without_outages,
);

const JOBS: &str = "; MaxProcs: 16\n1 0 -1 100 16 -1 -1 16 100\n2 10 -1 10 16 -1 -1 16 10\n\
                    3 20 -1 10 12 -1 -1 12 10\n";
const DOWN: &str = "# a quarter\nfrom,until,what\n50,200,box 0 0 0 3\n";

fn dir() -> Dir {
    Dir::new().file("j.swf", JOBS).file("down.csv", DOWN)
}

fn reads_a_file_of_windows() {
    let dir = dir().file("all.csv", "from,until,what\n0,200,all\n300,,node 0-15\n");
    let run = |options: &str, names: &[&str]| {
        let command =
            format!("--trace j.swf --alloc mc1x1 --tie 2,13,20,6 {options} --format json -q");
        dir.replay(&command).code(0).fields(names)
    };
    let names = ["makespan", "utilization", "up_utilization", "down_percent", "policy"];
    // The jobs use 1,880 processor-seconds in 220 s on 16 processors. Four processors are out of service for 100 s
    // after job 1 ends.
    let expected = format!(
        "220 {} {} {} johnson[down=drain]",
        1880.0 / 3520.0,
        1880.0 / 3120.0,
        40000.0 / 3520.0
    );
    assert_eq!(run("--down down.csv", &names), [expected]);
    // An outage before the start of the first job only delays this job.
    assert_eq!(run("--down all.csv --jobs 1", &names[..1]), ["300"]);
    dir.replay("--trace j.swf --down down.csv").code(0).prints("up util %");
    let endless = dir.file("endless.csv", "from,until,what\n50,,node 3\n0,5,all\n");
    let run = endless.replay("--trace j.swf --sched fcfs --alloc random --down endless.csv -q");
    run.code(1).says("never started: too many processors remain out of service");
}

fn down_rules_decide_about_running_jobs() {
    let dir = dir();
    let run = |rule: &str| {
        let command = format!(
            "--trace j.swf --alloc random --down down.csv --down-rule {rule} --format json -q"
        );
        dir.replay(&command).code(0).fields(&[
            "makespan",
            "killed_jobs",
            "requeued_jobs",
            "cut_off_percent",
        ])
    };
    assert_eq!(run("drain"), ["220 0 0 0.0"]);
    assert_eq!(run("kill"), [format!("220 1 0 {}", 100.0 * 800.0 / 3520.0)]);
    assert_eq!(run("requeue"), [format!("320 0 1 {}", 100.0 * 800.0 / 5120.0)]);
    let words =
        ["--down-rule: \"drian\" is not one of drain, kill, requeue; did you mean \"drain\"?"];
    dir.replay("--trace j.swf --down down.csv --down-rule drian").fails(2, 1, &words);
    dir.replay("--trace j.swf --down-rule kill").code(2).says("--down");
}

fn writes_outage_tables() {
    let dir = dir();
    let options = "--trace j.swf --alloc random --down down.csv --down-rule kill";
    dir.replay(&format!("{options} --out run -q --no-plots")).code(0);
    let table = String::from_utf8(dir.read("run/outages.csv")).expect("text");
    assert!(
        table.starts_with("run,trace,topology,scheduler,allocator,tie,copy,up_utilization,"),
        "{table}"
    );
    assert!(table.lines().nth(1).is_some_and(|row| row.contains("random,,0,")), "{table}");
    let manifest = String::from_utf8(dir.read("run/manifest.json")).expect("text");
    assert!(
        manifest.contains("\"rule\": \"kill\"") && manifest.contains("\"outages\": \""),
        "{manifest}"
    );
    // If the grid is read from a grid file, the table is the same.
    let grid = dir.replay(&format!("sweep {options} --print-config")).code(0);
    let dir = dir.file("g.toml", grid.stdout);
    dir.replay("sweep g.toml --out swept -q").code(0);
    assert_eq!(dir.read("swept/outages.csv"), dir.read("run/outages.csv"));
    // Different windows give different cell ids.
    let ids = |dir: &Dir| dir.replay("plan g.toml --list --format json -q").code(0).stdout;
    let before = ids(&dir);
    let dir = dir.file("down.csv", DOWN.replace("200", "201"));
    assert_ne!(ids(&dir), before);
}

fn empty_files_change_nothing() {
    let dir = dir().file("none.csv", "# nothing\nfrom,until,what\n").file("empty.csv", "");
    let run = |options: &str, out: &str| {
        let command =
            format!("--trace j.swf --alloc mc1x1,mbs --sched easy {options} --out {out} -q");
        dir.replay(&command).code(0);
        let tables = ["runs.csv", "by_size.csv"].map(|name| dir.read(&format!("{out}/{name}")));
        (
            tables,
            dir.files(out)
                .iter()
                .filter(|name| !name.starts_with("manifest"))
                .cloned()
                .collect::<Vec<_>>(),
        )
    };
    let plain = run("", "plain");
    assert!(plain.1.iter().all(|name| !name.contains("outages")));
    assert_eq!(run("--down none.csv", "none"), plain);
    assert_eq!(run("--down empty.csv", "empty"), plain);
    let ids = |options: &str| {
        dir.replay(&format!("plan --trace j.swf {options} --list --format json -q")).code(0).stdout
    };
    assert_eq!(ids("--down none.csv"), ids(""));
}

fn errors_have_line_and_field() {
    // In this sample from the specification, the fourth window is empty.
    let sample = "# down windows\nfrom,until,what\n3600,7200,box 0 0 0 3 3 0\n5000,6000,node 17\n\
                  10000,,node 3-5\n20000,20000,node 1\n40000,50000,all\n";
    let dir = dir().file("sample.csv", sample).file("far.csv", "from,until,what\n1,2,node 99\n");
    let words = ["sample.csv:6: field until: 20000 is not after 20000"];
    dir.replay("--trace j.swf --down sample.csv -q").fails(3, 1, &words);
    let words = ["far.csv:2: field what: node 99 does not exist; 4x4 has nodes 0 to 15"];
    dir.replay("--trace j.swf --down far.csv -q").fails(3, 1, &words);
    dir.replay("--trace j.swf --down nowhere.csv -q").fails(2, 1, &["cannot read nowhere.csv"]);
}

/// A row of the mesh is out of service from 50 s to 200 s; job 1 holds the whole machine until 100 s.
fn show_marks_processors_out_of_service() {
    let swf = "; MaxProcs: 16\n1 0 -1 100 16\n2 110 -1 50 4\n";
    let dir =
        Dir::new().file("a.swf", swf).file("row.csv", "from,until,what\n50,200,box 0 0 3 0\n");
    let at = |at: i64, more: &str| {
        let shown =
            dir.replay(&format!("show --trace a.swf --at {at} --down row.csv -q {more}")).code(0);
        let map = shown.stdout.lines().skip(3).take(4).flat_map(|line| line.chars().skip(3));
        let map: String = map.filter(|c| !c.is_whitespace()).collect();
        (shown.stdout.lines().nth(1).unwrap_or_default().to_string(), map)
    };
    for alloc in ["", "--alloc mbs"] {
        assert_eq!(
            at(60, alloc),
            ("at 60 s: 1 job on 16 of 16 processors, 0 jobs waiting".to_string(), "A".repeat(16))
        );
        let (words, map) = at(105, alloc);
        assert_eq!(
            words,
            "at 105 s: 0 jobs on 0 of 16 processors, 4 out of service, 0 jobs waiting"
        );
        assert_eq!(map, ".".repeat(12) + "----");
        let (words, map) = at(120, alloc);
        assert!(
            words.starts_with("at 120 s: 1 job on 4 of 16 processors, 4 out of service"),
            "{words}"
        );
        assert!(map.ends_with("----") && map.matches('A').count() == 4, "{map}");
        assert_eq!(at(200, alloc).1, ".".repeat(16));
    }
    // `kill` ends the job; `requeue` returns the job to the queue.
    let (words, map) = at(50, "--down-rule kill");
    assert_eq!(
        (words.as_str(), map),
        (
            "at 50 s: 0 jobs on 0 of 16 processors, 4 out of service, 0 jobs waiting",
            ".".repeat(12) + "----"
        )
    );
    let (words, _) = at(60, "--down-rule requeue");
    assert_eq!(words, "at 60 s: 0 jobs on 0 of 16 processors, 4 out of service, 1 job waiting");
    dir.replay("show --trace a.swf --at 120 --down row.csv --out o -q").code(0);
    let map = String::from_utf8(dir.read("o/plots/machine.csv")).expect("text");
    assert_eq!(map.matches("out of service").count(), 4, "{map}");
}

fn rejects_commands_without_outages() {
    let dir = dir().file("all.csv", "from,until,what\n5,9,all\n");
    let run = dir.replay("--trace j.swf -q --down all.csv --alloc elmer --machine cluster:16x2");
    run.fails(2, 1, &["--down: ", "whose hosts are shared by jobs"]);
    // `guard=place` supports outages that are known in advance.
    dir.replay("--trace j.swf -q --down down.csv --alloc first-fit --sched easy[guard=place]")
        .code(0);
    let log = dir.file("log.swf", "; MaxProcs: 16\n1 0 0 100 16\n");
    let run = log.replay("--trace log.swf --sched recorded --alloc random --down down.csv -q");
    run.fails(2, 1, &["--down: scheduler recorded repeats recorded starts"]);
    for command in ["search", "contend"] {
        let run = log.replay(&format!("{command} --trace log.swf --down down.csv -q"));
        run.fails(2, 1, &["--down is for replay without a command, sweep, plan, show and explain"]);
    }
}
