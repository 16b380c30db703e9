//! Ids of jobs in an imported log, and dates and durations in text.

use super::dir::Dir;

trials!(
    jobs_are_named_by_ids_of_the_log,
    numbers_take_precedence_over_ids,
    errors_name_the_file_of_ids,
    rejects_damaged_files_of_ids,
    figures_and_events_have_ids,
    comparisons_have_ids,
    instants_are_dates,
    durations_have_units,
);

/// Three jobs of a log on four nodes: the second waits for the first, and the third for the second.
const LOG: &str = "JobID|User|Submit|Start|End|TimelimitRaw|AllocNodes|NodeList|State\n\
    500333|a|2026-03-02T00:00:00|2026-03-02T00:00:00|2026-03-02T02:03:20|180|4|n[1-4]|COMPLETED\n\
    500020_3|b|2026-03-02T00:00:10|2026-03-02T02:03:20|2026-03-02T02:33:20|60|4|n[1-4]|COMPLETED\n\
    500334|b|2026-03-02T00:00:20|2026-03-02T02:33:20|2026-03-02T02:33:40|60|4|n[1-4]|COMPLETED\n";

fn imported() -> Dir {
    let dir = Dir::new().file("log.txt", LOG);
    dir.replay("import sacct log.txt --processors 4 --write s.swf").code(0);
    dir
}

const RUN: &str = "--trace s.swf --machine 4x1 --sched fcfs --alloc hilbert-best-fit -q";

fn jobs_are_named_by_ids_of_the_log() {
    let dir = imported();
    for name in ["500020_3", "id:500020_3", "2"] {
        let run = dir.replay(&format!("explain {RUN} --job {name}")).code(0);
        run.prints("job 2 (500020_3) requests 4 processors")
            .prints("job 2 (500020_3) has ")
            .says_nothing();
        let run = dir.replay(&format!("show {RUN} --job {name}")).code(0);
        run.prints("map  job        id  size").prints("#      2  500020_3     4");
    }
    let run = dir.replay(&format!("explain {RUN} --job 500334")).code(0);
    run.prints("job 3 (500334) requests").prints("start: 2 (500020_3)");
    // Tables have the number only.
    let json = dir.replay(&format!("show {RUN} --job 500333 --format json")).code(0);
    json.demand(json.fields(&["job"]) == ["1"], "the number of the job");
    let json = dir.replay(&format!("explain {RUN} --job 500333 --format json")).code(0);
    json.demand(json.objects()[0]["job"]["job"] == 1, "the number of the job");
}

fn numbers_take_precedence_over_ids() {
    let dir = Dir::new()
        .file("t.swf", "; MaxProcs: 4\n1 0 0 5 2\n2 0 0 5 2\n3 9 0 5 2\n4 9 0 5 2\n")
        .file("t.ids.csv", "job,id\n1,2\n2,1\n3,70\n4,70\n");
    let run = |name: &str| dir.replay(&format!("explain --trace t.swf --alloc mc1x1 --job {name}"));
    run("1")
        .code(0)
        .prints("job 1 (2) requests")
        .says("--job 1 is the number of a job in the trace; id:1 is job 2 (1) of t.ids.csv");
    run("id:1").code(0).prints("job 2 (1) requests");
    run("70 -q").fails(
        2,
        1,
        &["--job 70: in t.ids.csv, several jobs have this id: give one of the numbers 3, 4"],
    );
    run("id:3").code(2).says("t.ids.csv has no such id");
    // A policy that renumbers the jobs separates them from the ids.
    let run = dir.replay("explain --trace t.swf --alloc mc1x1 --policy batsim --job 70").code(2);
    run.says("no job has this number");
}

fn errors_name_the_file_of_ids() {
    let dir = imported().file("t.swf", "; MaxProcs: 4\n1 0 0 5 2\n");
    for command in ["show", "explain"] {
        for job in ["7", "500999", "x"] {
            let words = format!("--job {job}: in s, no job has this number");
            let run = dir.replay(&format!("{command} {RUN} --job {job}"));
            run.fails(2, 1, &[&words, "s.ids.csv has no such id of a job"]);
            let run = dir.replay(&format!("{command} --trace t.swf --alloc mc1x1 -q --job {job}"));
            run.fails(
                2,
                1,
                &["in t, no job has this number", "ids of the log need the file t.ids.csv"],
            );
        }
    }
}

fn rejects_damaged_files_of_ids() {
    let trace = "; MaxProcs: 4\n1 0 0 5 2\n";
    for (ids, problem) in [
        ("1,5\n", "t.ids.csv:1: not the line job,id"),
        ("job,id\nx,5\n", "t.ids.csv:2: not a job and its id"),
        ("job,id\n1,5\n1,6\n", "t.ids.csv:3: the job has an id in an earlier line"),
        ("job,id\n1,5\n# trace blake3:00\n", "t.ids.csv:3: belongs to the trace with digest 00"),
    ] {
        let dir = Dir::new().file("t.swf", trace).file("t.ids.csv", ids);
        dir.replay("show --trace t.swf --alloc mc1x1 -q --job 1").fails(3, 1, &[problem]);
        // Commands that name no job do not read the file.
        dir.replay("--trace t.swf --alloc mc1x1 -q").code(0);
    }
}

fn figures_and_events_have_ids() {
    let dir = imported();
    dir.replay(&format!("show {RUN} --gantt 0..9240 --out gantt")).code(0);
    let svg = String::from_utf8(dir.read("gantt/plots/gantt.svg")).expect("text");
    assert!(svg.contains("3 jobs from 2026-03-02 00:00 to 2026-03-02 02:33 (2 h 33 min)"), "{svg}");
    assert!(svg.contains("labelled"));
    assert!(svg.contains("500333"));
    dir.replay(&format!("show {RUN} --job 500020_3 --out map")).code(0);
    let svg = String::from_utf8(dir.read("map/plots/machine.svg")).expect("text");
    assert!(svg.contains("job 2 (500020_3) in black has just started"), "{svg}");
    dir.replay(&format!("show {RUN} --perfetto")).code(0).prints("\"name\":\"job 2 (500020_3)\"");
}

fn instants_are_dates() {
    let dir = imported();
    let run = dir.replay(&format!("show {RUN} --job 2")).code(0);
    run.prints("at 2026-03-02 02:03 (7,400 s): 1 job on 4 of 4 processors, 1 job waiting")
        .prints("2026-03-02 00:00  2026-03-02 02:03  2026-03-02 02:33");
    let run = dir.replay(&format!("explain {RUN} --job 2")).code(0);
    run.prints("the job arrives at 2026-03-02 00:00 (10 s)");
    // Scaled times and logs without a start time have no dates.
    let run = dir.replay(&format!("show {RUN} --scale-load 0.5 --job 2")).code(0);
    run.demand(!run.stdout.contains("2026"), "no dates");
    let dir = Dir::new().file("t.swf", "; MaxProcs: 4\n1 7000 0 5 2\n");
    dir.replay("show --trace t.swf --alloc mc1x1 --job 1").code(0).prints("at 7,000 s: 1 job");
}

fn durations_have_units() {
    let dir = imported();
    let run = dir.replay(&format!("explain {RUN} --job 2")).code(0);
    run.prints("has an estimate of 1 h 00 min (3,600 s), and runs for")
        .prints("min 00 s (1,800 s)")
        .prints("it waits 2 h 03 min (7,390 s), until 2026-03-02 02:03 (7,400 s)");
    let run = dir.replay(&format!("explain {RUN} --job 3")).code(0);
    run.prints("and runs for 20 s");
}

fn comparisons_have_ids() {
    let log = "; MaxProcs: 4\n1 0 0 50 2\n2 0 0 50 4\n3 0 0 10 2\n";
    let dir = Dir::new().file("t.swf", log).file("t.ids.csv", "job,id\n1,900\n3,900_3\n");
    let run = "--trace t.swf --alloc hilbert-best-fit -q --no-plots --out";
    dir.replay(&format!("{run} fcfs --sched fcfs")).code(0);
    dir.replay(&format!("{run} easy --sched easy")).code(0);
    let compared = dir.replay("compare fcfs easy --schedule").code(0);
    compared.prints("job     id  size").prints("  3  900_3     2");
    let csv = dir.replay("compare fcfs easy --schedule --format csv").code(0);
    csv.demand(!csv.stdout.contains("900_3"), "files have the number only");
}
