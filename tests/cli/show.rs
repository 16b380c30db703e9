//! `replay show`: the state of the machine at an instant or over a window.

use super::dir::Dir;

trials!(
    prints_the_machine,
    accepts_several_formats_of_time,
    shows_the_placements_of_the_run,
    writes_figures_and_tables,
    draws_a_window,
    processors_out_of_service_are_not_free,
    shows_candidates,
    escapes_markup_in_names,
    trace_events_do_not_overlap,
    shows_jobs_of_shared_hosts,
    rejects_unsupported_requests,
    prints_job_numbers_as_job_expects_them,
    draws_leaves_as_rows,
);

/// Printed job numbers have no separators and are accepted by --job.
fn prints_job_numbers_as_job_expects_them() {
    let dir = Dir::with_trace();
    let shown = dir.replay("show --job 3333 -q").code(0);
    let line = shown.stdout.lines().find(|line| line.trim_start().starts_with('#'));
    let fields: Vec<&str> = line.expect("the job").split_whitespace().collect();
    assert_eq!(fields[1], "3333", "{fields:?}");
    let row = dir.replay("show --job 3333 -q --format json").code(0).objects();
    let row = row.iter().find(|row| row["job"] == 3333).expect("the job");
    // Quantities have thousands separators.
    let submit = row["submit"].as_i64().expect("a number");
    assert!(submit >= 1000 && fields[3].replace(',', "") == submit.to_string(), "{fields:?}");
    assert!(fields[3].contains(','), "{fields:?}");
}

fn prints_the_machine() {
    let dir =
        Dir::new().file("a.swf", "; MaxProcs: 16\n1 0 -1 100 4\n2 10 -1 50 8\n3 20 -1 10 8\n");
    let shown = dir.replay("show --trace a.swf --at 59 -q").code(0).says_nothing();
    let shown = shown
        .prints("a on 4x4, fcfs, mc1x1:\nat 59 s: 2 jobs on 12 of 16 processors, 1 job waiting\n");
    let map: String =
        shown.stdout.lines().skip(3).take(4).flat_map(|line| line.chars().skip(3)).collect();
    let count = |symbol| map.chars().filter(|&c| c == symbol).count();
    assert_eq!((count('A'), count('B'), count('.')), (4, 8, 4), "{map}");
    // The requested job is highlighted.
    let shown = dir.replay("show --trace a.swf --job 3 --alloc gabl -q").code(0);
    assert_eq!(
        shown.stdout.lines().skip(3).take(4).flat_map(str::chars).filter(|&c| c == '#').count(),
        8
    );
    let empty = dir.replay("show --trace a.swf --at 5000 -q").code(0);
    empty.prints("at 5,000 s: 0 jobs on 0 of 16 processors, 0 jobs waiting");
    // An empty machine is drawn too, and a message gives the time span of the jobs.
    for at in ["-5", "5000", "99999999999"] {
        let empty = dir.replay(&format!("show --trace a.swf --at {at} --out empty --force"));
        empty.code(0).says("no job runs at that time; the jobs run from 0 s to 100 s");
        let drawn = String::from_utf8(dir.read("empty/plots/machine.csv")).expect("text");
        assert_eq!(drawn.lines().count(), 17, "{drawn}");
        assert!(dir.files("empty").contains(&"held.parquet".to_string()));
    }
}

/// Instants are times since the start of the log, or dates if the header has a start time.
fn accepts_several_formats_of_time() {
    let log = "; UnixStartTime: 843436800\n; MaxProcs: 16\n1 0 -1 90000 4\n2 86400 -1 9000 8\n";
    let dir = Dir::new().file("a.swf", log);
    let shown = |at: &str| {
        dir.replay(&format!("show --trace a.swf --at {at} -q")).code(0).says_nothing().stdout
    };
    let seconds = shown("88200");
    assert!(
        seconds.contains("at 1996-09-24 00:30 (88,200 s): 2 jobs on 12 of 16 processors"),
        "{seconds}"
    );
    for at in ["1d30m", "24:30:00", "24h1800s", "1996-09-24T00:30", "1996-09-24T00:30:00"] {
        assert_eq!(shown(at), seconds, "{at}");
    }
    let drawn = |window: &str| {
        dir.replay(&format!("show --trace a.swf --gantt {window} --format json -q")).code(0).stdout
    };
    assert_eq!(drawn("1d..1d2h"), drawn("86400..93600"));
    assert_eq!(drawn("1996-09-24..1996-09-24T02:00"), drawn("86400..93600"));
}

/// The placement that is shown equals the placement in the run, both for allocators on a timeline and for allocators
/// that may refuse.
fn shows_the_placements_of_the_run() {
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

fn writes_figures_and_tables() {
    let dir = Dir::with_trace();
    dir.replay("show --trace lublin-10x10 --jobs 300 --job 250 --out out -q").code(0);
    assert_eq!(
        dir.files("out"),
        [
            "held.csv",
            "held.parquet",
            "manifest.json",
            "plots/machine.caption.txt",
            "plots/machine.csv",
            "plots/machine.pdf",
            "plots/machine.png",
            "plots/machine.svg"
        ]
    );
    let cells = String::from_utf8(dir.read("out/plots/machine.csv")).expect("text");
    assert_eq!(cells.lines().count(), 101, "a row for each processor");
    // Results of another command are not replaced.
    dir.replay("--jobs 9 --alloc random --out out -q").code(2).says("--force");
}

/// The areas of the bars add up to the processor time held in the window.
fn draws_a_window() {
    let dir = Dir::with_trace();
    let cell = "--trace lublin-10x10 --jobs 300 --sched easy --alloc hilbert-best-fit -q";
    let window = [20_000i64, 60_000];
    dir.replay(&format!("show {cell} --gantt 20000..60000 --out gantt")).code(0);
    let ends = ["caption.txt", "csv", "pdf", "png", "svg"];
    let drawn =
        ["fragmentation", "gantt"].map(|stem| ends.map(|end| format!("plots/{stem}.{end}")));
    let tables = [
        "fragmentation.csv",
        "fragmentation.parquet",
        "manifest.json",
        "placements.csv",
        "placements.parquet",
    ];
    let tables = tables.iter().map(|name| name.to_string());
    let all: Vec<String> = tables.chain(drawn.concat()).collect();
    assert_eq!(dir.files("gantt"), all);
    let shown = dir.replay(&format!("show {cell} --gantt 20000..60000 --format json")).code(0);
    let within = |start: i64, end: i64| end.min(window[1]) - start.max(window[0]);
    let number = |value: &serde_json::Value| value.as_i64().expect("a number");
    let rows: Vec<[i64; 3]> = shown
        .objects()
        .iter()
        .map(|row| {
            let nodes = row["nodes"].as_array().expect("a list").len() as i64;
            [nodes, number(&row["start"]), number(&row["end"])]
        })
        .collect();
    let held: i64 = rows.iter().map(|&[nodes, start, end]| nodes * within(start, end)).sum();
    let text = String::from_utf8(dir.read("gantt/plots/gantt.csv")).expect("text");
    let bars = text.lines().skip(1).map(|line| {
        let fields = line.split(',').map(|field| field.parse().expect("a number"));
        let fields: Vec<i64> = fields.collect();
        assert!(fields[3] + fields[4] <= 100);
        fields[4] * within(fields[1], fields[2])
    });
    assert_eq!(bars.sum::<i64>(), held);
    // Free and held processors add up to the machine at each listed instant.
    let text = String::from_utf8(dir.read("gantt/fragmentation.csv")).expect("text");
    let mut lines = text.lines();
    let header = "at,free,largest_free_box,outside_box";
    assert!(lines.next().is_some_and(|line| line.starts_with(header)));
    let mut instants = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [at, free] =
            [fields[0], fields[1]].map(|field| field.parse::<i64>().expect("a number"));
        let busy = rows.iter().filter(|[_, start, end]| *start <= at && *end > at);
        if at < window[1] {
            instants += 1;
            assert_eq!(free + busy.map(|row| row[0]).sum::<i64>(), 100, "at {at}");
        }
    }
    assert!(instants > 10);
}

fn processors_out_of_service_are_not_free() {
    // Job 1 starts at 0 s, is interrupted at 50 s and restarts on the remaining processors at 80 s.
    let dir = Dir::new()
        .file("a.swf", "; MaxProcs: 16\n1 0 -1 100 8\n2 10 -1 20 4\n")
        .file("down.csv", "from,until,what\n50,80,all\n80,,node 0-3\n");
    let cell = "--trace a.swf --down down.csv --down-rule requeue -q";
    dir.replay(&format!("show {cell} --gantt 0..200 --no-plots --out out")).code(0);
    let text = String::from_utf8(dir.read("out/fragmentation.csv")).expect("text");
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name: &str| header.iter().position(|column| *column == name).expect(name);
    let free = |instant: &str| {
        let mut rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        rows.find(|row| row[at("at")] == instant).map(|row| row[at("free")].to_string())
    };
    let free = ["0", "10", "30", "50", "80", "180"].map(free);
    assert_eq!(free, ["8", "4", "8", "0", "4", "12"].map(|n| Some(n.to_string())), "{text}");
    // --job shows the first execution of the job, not the time between two executions.
    let run = dir.replay(&format!("show {cell} --job 1 --format json")).code(0);
    let placement = &run.objects()[0];
    assert_eq!(
        (placement["start"].as_i64(), placement["end"].as_i64()),
        (Some(0), Some(50)),
        "{placement}"
    );
}

/// Tie values are the weighted sums of the listed weights, and the first candidate is the placement
/// of the job.
fn shows_candidates() {
    let dir = Dir::with_trace();
    let cell = "--trace lublin-10x10 --jobs 300 --tie 2,13,20,6 --job 200";
    let rows = dir.replay(&format!("show {cell} --candidates --format json -q")).code(0).objects();
    assert!(rows.len() >= 2);
    let number = |row: &serde_json::Value, name: &str| row[name].as_i64().expect("a number");
    for row in &rows {
        let sums = ["free_weight", "wall_weight", "busy_weight"].map(|name| number(row, name));
        let value = 13 * sums[0] - 20 * sums[1] - 6 * sums[2];
        assert_eq!(number(row, "tie_value"), value, "{row}");
    }
    assert!(rows.iter().all(|row| number(row, "tie_value") >= number(&rows[0], "tie_value")));
    let held = dir.replay(&format!("show {cell} --format json -q")).code(0).objects();
    let held = held.iter().find(|row| row["job"] == 200).expect("the job");
    let sorted = |row: &serde_json::Value| {
        let nodes = row["nodes"].as_array().expect("a list").iter();
        let mut nodes: Vec<i64> = nodes.map(|node| node.as_i64().expect("a number")).collect();
        nodes.sort_unstable();
        nodes
    };
    assert_eq!(sorted(&rows[0]), sorted(held));
    let shown = dir.replay(&format!("show {cell} --candidates --out out -q")).code(0);
    let shown = shown.prints(" wins  ").prints("+---------------------+");
    shown.prints("tie value = 13 free - 20 wall - 6 busy");
    let drawn =
        ["caption.txt", "csv", "pdf", "png", "svg"].map(|end| format!("plots/candidates.{end}"));
    let tables = ["candidates.csv", "candidates.parquet", "manifest.json"].map(String::from);
    assert_eq!(dir.files("out"), [&tables[..], &drawn].concat());
    // The drawn weights add up to the listed weight.
    let cells = String::from_utf8(dir.read("out/plots/candidates.csv")).expect("text");
    let first = rows[0]["candidate_number"].to_string();
    let free: i64 = cells
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields[0] == first && fields[7] == "free")
        .map(|fields| fields[8].parse::<i64>().expect("a number"))
        .sum();
    assert_eq!(free, number(&rows[0], "free_weight"));
    check_all_candidates(&dir);
    // At an instant, the candidates are those of the job that started last. For allocators without scored candidates,
    // the command fails.
    let at = format!("show --trace lublin-10x10 --jobs 300 --at {} --candidates -q", held["start"]);
    dir.replay(&at).code(0).prints(" job 200 gets");
    dir.replay(&format!("show {cell} --alloc first-fit --candidates -q")).fails(2, 1, &["--tie"]);
    dir.replay("show --trace lublin-10x10 --alloc first-fit --job 200 --candidates -q").fails(
        2,
        1,
        &["--candidates", "had no candidates", "replay explain"],
    );
}

/// Files contain all candidates; the terminal shows the number of omitted candidates.
fn check_all_candidates(dir: &Dir) {
    let show = |rest: &str| {
        let cell = "--trace lublin-10x10 --jobs 300 --tie 2,13,20,6";
        dir.replay(&format!("show {cell} {rest} --candidates")).code(0)
    };
    // One of the first jobs has more candidates than the terminal shows.
    let many =
        |job: &i32| show(&format!("--job {job} --format csv -q")).stdout.lines().count() > 21;
    let job = (1..60).find(many).expect("a job with many candidates");
    let csv = show(&format!("--job {job} --format csv -q")).stdout;
    let table = show(&format!("--job {job} --out many --force -q"));
    let more = csv.lines().count() - 1 - 20;
    table.prints(&format!("{} candidates compete", more + 20)).prints(&format!("and {more} more"));
    let written = String::from_utf8(dir.read("many/candidates.csv")).expect("text");
    assert_eq!(written, csv);
    // Tie values are the weighted sums.
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |name: &str| -> i64 {
            let place = header.iter().position(|column| *column == name).expect(name);
            fields[place].parse().expect("a number")
        };
        let [free, wall, busy] = ["free_weight", "wall_weight", "busy_weight"].map(number);
        assert_eq!(number("tie_value"), 13 * free - 20 * wall - 6 * busy, "{line}");
        assert!(number("last_shell") < 19, "{line}");
    }
}

fn trace_events_do_not_overlap() {
    let dir = Dir::with_trace();
    let written =
        dir.replay("show --jobs 400 --sched easy --alloc mc1x1 --perfetto --write run.json");
    written.code(0).says("400 jobs in");
    let events: serde_json::Value = serde_json::from_slice(&dir.read("run.json")).expect("JSON");
    let mut lanes: std::collections::HashMap<[i64; 2], Vec<[i64; 2]>> = Default::default();
    let mut jobs = 0;
    for event in events["traceEvents"].as_array().expect("events") {
        let number = |key: &str| event[key].as_i64().expect("a number");
        if event["ph"] == "X" {
            let [ts, dur] = ["ts", "dur"].map(number);
            assert!(dur >= 0);
            jobs += i64::from(number("pid") == 1);
            lanes.entry(["pid", "tid"].map(number)).or_default().push([ts, ts + dur]);
        }
    }
    assert_eq!(jobs, 400);
    // By default, and with `--write -`, the same bytes go to standard output.
    for output in ["", "--write -"] {
        let command = format!("show --jobs 400 --sched easy --alloc mc1x1 --perfetto {output} -q");
        assert_eq!(dir.replay(&command).code(0).stdout.as_bytes(), dir.read("run.json"));
    }
    assert!(!dir.path("-").exists());
    dir.replay("show --jobs 9 --perfetto run.json").refused(&["unexpected argument 'run.json'"]);
    let words = ["--write is for --perfetto"];
    dir.replay("show --jobs 9 --job 3 --write run.json").fails(2, 1, &words);
    assert!((1..=100).contains(&lanes.keys().filter(|lane| lane[0] == 3).count()));
    for slices in lanes.values_mut() {
        slices.sort_unstable();
        assert!(slices.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{slices:?}");
    }
}

/// The file is valid JSON, and its strings contain the name unchanged.
fn escapes_markup_in_names() {
    let name = "a</script>\\\"&\u{1}b".replace('/', "|");
    let dir = Dir::new().file(&format!("{name}.swf"), super::dir::TINY);
    let run = dir
        .replay(&format!("show --trace {name}.swf --alloc mc1x1 --perfetto --write run.json -q"));
    run.code(0).says_nothing();
    let text = String::from_utf8(dir.read("run.json")).expect("UTF-8");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    let events: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let label = events["traceEvents"][0]["args"]["name"].as_str().expect("a name");
    assert!(label.starts_with(&format!("jobs: {name} on ")), "{label}");
}

/// Two jobs on two hosts; job 2 is on the lower level until job 1 ends.
fn shows_jobs_of_shared_hosts() {
    let dir = Dir::new().file("a.swf", "; MaxProcs: 2\n1 0 -1 100 2\n2 10 -1 50 2\n3 20 -1 9 1\n");
    let show = "show --trace a.swf --machine cluster:2x2 --alloc elmer -q";
    let at = |at: i64| {
        let rows = dir.replay(&format!("{show} --at {at} --format json")).code(0).objects();
        let row = |row: &serde_json::Value| {
            let nodes = row["nodes"].as_array().expect("a list").iter();
            let mut nodes: Vec<_> = nodes.map(|node| node.as_i64().expect("a number")).collect();
            nodes.sort_unstable();
            (row["job"].as_i64().expect("a number"), nodes)
        };
        rows.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(at(5), [(1, vec![0, 1])]);
    assert_eq!(at(50), [(1, vec![0, 1]), (2, vec![2, 3])]);
    // Job 1 has ended, job 2 has moved to the upper level, and job 3 is below it on either host.
    let after = at(105);
    assert_eq!(after[0], (2, vec![0, 1]));
    assert!(after[1] == (3, vec![2]) || after[1] == (3, vec![3]), "{after:?}");
    let shown = dir.replay(&format!("{show} --at 50 --out out")).code(0);
    shown.prints("2 jobs on 4 of 4 slots, 1 job waiting").prints("1  B B\n0  A A\n");
    let cells = String::from_utf8(dir.read("out/plots/machine.csv")).expect("text");
    assert_eq!(cells, "x,y,z,job\n0,0,0,1\n1,0,0,1\n0,1,0,2\n1,1,0,2\n");
    let started = dir.replay(&format!("{show} --job 3")).code(0);
    started.demand(started.stdout.contains('#'), "the requested job is highlighted");
}

fn rejects_unsupported_requests() {
    let dir = Dir::with_trace();
    let show = |rest: &str| dir.replay(&format!("show --trace lublin-10x10 --jobs 50 -q {rest}"));
    show("").refused(&["<--at <TIME>|--job <JOB>|--gantt <FROM..TO>|--perfetto>"]);
    show("--at 1 --job 2").refused(&["--at", "--job"]);
    show("--job 999999").fails(2, 1, &["--job 999999", "in lublin-10x10, no job has this number"]);
    show("--at 9 --alloc mm,mc1x1").fails(2, 1, &["show takes one", "2 runs"]);
    for no in ["--gantt 1..9", "--perfetto", "--job 3 --candidates"] {
        let cluster = format!("--machine cluster:100x2 --alloc elmer {no}");
        show(&cluster).fails(2, 1, &["on a cluster", "--at and --job"]);
    }
    show("--at noon").refused(&["noon", "1d2h", "3:20:00", "1996-09-23T12:00"]);
    show("--at 1996-09-23T12:00").fails(2, 1, &["--at: a date needs UnixStartTime", "1d2h"]);
    show("--gantt 9").refused(&["FROM..TO"]);
    show("--gantt 9..3").fails(2, 1, &["FROM must be before TO"]);
    show("--gantt 1..2 --job 3").refused(&["--gantt", "--job"]);
    // A removed option names its replacement.
    for given in ["--film 0..9000 --out film", "--film=0..9000"] {
        show(given).refused(&["'--film'", "was removed", "replay explore"]);
    }
    show("--gantt -900..-800").fails(2, 1, &["no job has processors between -900 s and -800 s"]);
}

fn draws_leaves_as_rows() {
    let trace = "; MaxProcs: 16\n1 0 0 50 3\n2 1 0 50 6\n";
    let dir = Dir::new().file("two.swf", trace);
    let cell = "--trace two.swf --machine tree:2x2x4 --alloc first-fit -q";
    let shown = dir.replay(&format!("show {cell} --at 2")).code(0);
    shown.prints("s0-0  A A A B\ns0-1  B B B B\ns0-2  B . . .\ns0-3  . . . .\n");
    dir.replay(&format!("show {cell} --at 2 --out out")).code(0);
    let svg = String::from_utf8(dir.read("out/plots/machine.svg")).expect("text");
    assert!(svg.contains("s0-3") && svg.contains("a row is a leaf"));
    dir.replay(&format!("show {cell} --gantt 0..50 --out gantt")).code(0);
    // A leaf that is smaller than others has fewer cells.
    let conf =
        "SwitchName=a Nodes=n[0-9]\nSwitchName=b Nodes=n[10-15]\nSwitchName=r Switches=a,b\n";
    let dir = dir.file("a.conf", conf);
    let cell = "--trace two.swf --machine a.conf --alloc first-fit -q";
    let shown = dir.replay(&format!("show {cell} --at 2 --out ragged")).code(0);
    shown.prints("a  A A A B B B B B B .\nb  . . . . . .\n");
}
