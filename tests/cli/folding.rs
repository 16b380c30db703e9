//! Strategies that fold jobs, from the command line.

use super::dir::Dir;

trials!(
    folded_jobs_send_no_messages,
    the_reason_is_that_of_folding,
    what_is_usual_is_one_row,
    a_limit_folds_what_is_larger_than_the_machine,
    a_limit_that_folds_nobody_is_a_mistake,
    numbers_have_ranges,
);

/// Before anything runs, and once, not cell by cell.
fn folded_jobs_send_no_messages() {
    let dir = Dir::with_trace();
    let words = ["rsr[inner=first-fit]", "folds jobs", "messages"];
    dir.replay("contend --jobs 20 --scale 0.05 --alloc rsr[inner=first-fit] -q")
        .fails(2, 1, &words);
    dir.replay("contend --jobs 20 --mesh hypercube:7 --alloc random,limit[k=3] -q").fails(
        2,
        1,
        &["limit[k=3]", "folds jobs"],
    );
    dir.replay("stream --mesh 8x8 --pattern one-to-all --alloc rsr -q").fails(
        2,
        1,
        &["folds jobs"],
    );
}

fn the_reason_is_that_of_folding() {
    let dir = Dir::with_trace();
    for allocator in ["limit[inner=random]", "rsr", "average-limit[inner=random]"] {
        let command = format!("--jobs 20 --sched conservative --alloc {allocator} -q");
        let words = ["decides only when a job starts on how many processors", "conservative"];
        let run = dir.replay(&command).fails(2, 1, &words);
        run.demand(!run.stderr.contains("may refuse"), "that is not why");
    }
    let words = ["may refuse a job although enough processors are free"];
    dir.replay("--jobs 20 --sched conservative --alloc first-fit -q").fails(2, 1, &words);
}

fn what_is_usual_is_one_row() {
    let dir = Dir::with_trace();
    for (machine, inner) in
        [("10x10", "first-fit"), ("hypercube:7", "cube-buddy"), ("cluster:100", "elmer")]
    {
        let grid =
            format!("--mesh {machine} --alloc rsr,rsr[inner={inner}],rsr[t=2] -q --format json");
        let run = dir.replay(&format!("--jobs 50 {grid}")).code(0);
        let rows = run.fields(&["allocator"]);
        let expected = [format!("rsr[inner={inner}]"), format!("rsr[t=2,inner={inner}]")];
        run.demand(rows == expected, &format!("{rows:?}"));
    }
    let run = dir.replay(
        "stream --mesh 8x8 --arrivals 1 --jobs 20 --min-replications 2 --max-replications 2 \
         --alloc rsr[inner=first-fit],rsr --format json -q",
    );
    let run = run.code(0);
    run.demand(run.fields(&["allocator"]) == ["rsr[inner=first-fit]"], "one row");
    // One that does not work on a machine is no other name of one that does.
    let words = ["rsr[inner=cube-buddy]", "hypercube"];
    dir.replay("--jobs 50 --mesh 10x10 --alloc rsr,rsr[inner=cube-buddy] -q").fails(2, 1, &words);
}

const LARGE: &str = "; MaxProcs: 128\n1 0 -1 10 128\n2 0 -1 10 4\n";

fn a_limit_folds_what_is_larger_than_the_machine() {
    let dir = Dir::new().file("large.swf", LARGE);
    let command = "--trace large.swf --mesh hypercube:5 --alloc limit[k=4] --format json";
    let said = "large on hypercube:5: larger than the machine, and folded: 1";
    let run = dir.replay(command).code(0).says(said);
    run.demand(run.fields(&["jobs", "makespan"]) == ["2 80"], "on 16, eight times as long");
    // Where one strategy does not fold it, it is too large.
    for grid in ["cube-buddy", "limit[k=4],cube-buddy", "rsr[t=1]"] {
        let command = format!("--trace large.swf --mesh hypercube:5 --alloc {grid} -q");
        dir.replay(&command).fails(3, 1, &["128", "--oversize drop or clamp"]);
    }
    let clamped = dir.replay(&format!("{command} --oversize clamp")).code(0);
    clamped.demand(clamped.fields(&["makespan"]) == ["20"], "cut to 32, then folded once");
}

fn a_limit_that_folds_nobody_is_a_mistake() {
    let dir = Dir::with_trace();
    let words = ["limit[k=15]", "folds no job", "k is at most 7"];
    dir.replay("--jobs 50 --mesh hypercube:7 --alloc limit[k=15] -q").fails(2, 1, &words);
    let words = ["folds no job", "machine has 16", "k is at most 3"];
    dir.replay("stream --mesh 4x4 --arrivals 1 --alloc limit -q").fails(2, 1, &words);
}

fn numbers_have_ranges() {
    let dir = Dir::with_trace();
    for (speedup, problem) in [
        ("downey[parallelism=1e300]", "parallelism=\"1e300\" is not a number from 0.001 to 1000"),
        ("downey[sigma=-1]", "sigma=\"-1\" is not a number from 0 to 1000"),
        ("amdahl[serial=1.5]", "serial=\"1.5\" is not a number from 0 to 1"),
    ] {
        let command = format!("--jobs 20 --alloc rsr[speedup={speedup}] -q");
        dir.replay(&command).fails(2, 1, &[problem]);
    }
    let command = "--jobs 20 --alloc rsr[speedup=downey[sigma=0]],rsr[speedup=amdahl[serial=0]] -q --format json";
    let run = dir.replay(command).code(0);
    run.demand(run.fields(&["allocator"]).len() == 2, "both mean something");
}
