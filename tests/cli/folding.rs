//! Allocators that fold jobs onto fewer processors.

use super::dir::Dir;

trials!(
    rejects_messages_of_folded_jobs,
    reservations_name_folding_as_the_reason,
    default_parameters_give_one_row,
    limit_folds_jobs_larger_than_the_machine,
    rejects_limits_that_fold_no_job,
    rejects_speedup_parameters_out_of_range,
    does_not_rank_folding_runs_by_distance,
);

/// The error is reported once, before any cell runs.
fn rejects_messages_of_folded_jobs() {
    let dir = Dir::with_trace();
    let words = ["rsr[inner=first-fit]", "folds jobs", "messages"];
    dir.replay("contend --jobs 20 --scale 0.05 --alloc rsr[inner=first-fit] -q")
        .fails(2, 1, &words);
    dir.replay("contend --jobs 20 --machine hypercube:7 --alloc random,limit[k=3] -q").fails(
        2,
        1,
        &["limit[k=3]", "folds jobs"],
    );
    dir.replay("stream --machine 8x8 --pattern one-to-all --alloc rsr -q").fails(
        2,
        1,
        &["folds jobs"],
    );
}

fn reservations_name_folding_as_the_reason() {
    let dir = Dir::with_trace();
    for allocator in ["limit[inner=random]", "rsr", "average-limit[inner=random]"] {
        let command = format!("--jobs 20 --sched conservative --alloc {allocator} -q");
        let words = [
            "chooses the number of processors and the run time only when a job starts",
            "conservative",
        ];
        let run = dir.replay(&command).fails(2, 1, &words);
        run.demand(!run.stderr.contains("may refuse"), "refusals are not the reason");
    }
    let words = ["may refuse a job although enough processors are free"];
    dir.replay("--jobs 20 --sched conservative --alloc first-fit -q").fails(2, 1, &words);
}

fn default_parameters_give_one_row() {
    let dir = Dir::with_trace();
    for (machine, inner) in
        [("10x10", "first-fit"), ("hypercube:7", "cube-buddy"), ("cluster:100", "elmer")]
    {
        let grid =
            format!("--machine {machine} --alloc rsr,rsr[inner={inner}],rsr[t=2] -q --format json");
        let run = dir.replay(&format!("--jobs 50 {grid}")).code(0);
        let rows = run.fields(&["allocator"]);
        let expected = [format!("rsr[inner={inner}]"), format!("rsr[t=2,inner={inner}]")];
        run.demand(rows == expected, &format!("{rows:?}"));
    }
    let run = dir.replay(
        "stream --machine 8x8 --arrivals 1 --jobs 20 --min-replications 2 --max-replications 2 \
         --alloc rsr[inner=first-fit],rsr --format json -q",
    );
    let run = run.code(0);
    run.demand(run.fields(&["allocator"]) == ["rsr[inner=first-fit]"], "one row");
    // An allocator that does not support the machine is not merged with an allocator that supports it.
    let words = ["rsr[inner=cube-buddy]", "hypercube"];
    dir.replay("--jobs 50 --machine 10x10 --alloc rsr,rsr[inner=cube-buddy] -q")
        .fails(2, 1, &words);
}

const LARGE: &str = "; MaxProcs: 128\n1 0 -1 10 128\n2 0 -1 10 4\n";

fn limit_folds_jobs_larger_than_the_machine() {
    let dir = Dir::new().file("large.swf", LARGE);
    let command = "--trace large.swf --machine hypercube:5 --alloc limit[k=4] --format json";
    let note = "large on hypercube:5: 1 job is larger than the machine and is folded";
    let run = dir.replay(command).code(0).says(note);
    run.demand(
        run.fields(&["jobs", "makespan"]) == ["2 80"],
        "on 16 processors, for eight times as long",
    );
    // A job larger than the machine is an error if at least one allocator of the grid does not fold it.
    for grid in ["cube-buddy", "limit[k=4],cube-buddy", "rsr[t=1]"] {
        let command = format!("--trace large.swf --machine hypercube:5 --alloc {grid} -q");
        dir.replay(&command).fails(3, 1, &["128", "--oversize drop or clamp"]);
    }
    let clamped = dir.replay(&format!("{command} --oversize clamp")).code(0);
    clamped.demand(clamped.fields(&["makespan"]) == ["20"], "cut to 32, then folded once");
}

fn rejects_limits_that_fold_no_job() {
    let dir = Dir::with_trace();
    let words = ["limit[k=15]", "folds no job", "use k of at most 7"];
    dir.replay("--jobs 50 --machine hypercube:7 --alloc limit[k=15] -q").fails(2, 1, &words);
    let words = ["folds no job", "machine has 16", "use k of at most 3"];
    dir.replay("stream --machine 4x4 --arrivals 1 --alloc limit -q").fails(2, 1, &words);
}

fn rejects_speedup_parameters_out_of_range() {
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
    run.demand(run.fields(&["allocator"]).len() == 2, "both parameters are accepted");
}

/// Folded jobs have fewer processors and therefore smaller distances under any allocator. In tables, figures, reports
/// and comparisons, runs that fold jobs are not ranked by distance.
fn does_not_rank_folding_runs_by_distance() {
    let dir = Dir::with_trace();
    let grid = "--jobs 300 --alloc limit[k=2,inner=first-fit],first-fit,mbs";
    let sorted = |sort: &str, format: &str| {
        dir.replay(&format!("{grid} --sort {sort} --format {format}")).code(0)
    };
    let run = sorted("mean_pairwise_l1", "json");
    let hops: Vec<f64> = run
        .objects()
        .iter()
        .map(|row| row["mean_pairwise_l1"].as_f64().expect("a number"))
        .collect();
    run.demand(
        hops[2] < hops[0] && hops[0] < hops[1],
        "the folding run is last although its distance is smallest",
    );
    for (sort, last) in [("-mean_pairwise_l1", true), ("mean_turnaround", false)] {
        let run = sorted(sort, "json");
        let names = run.fields(&["allocator"]);
        run.demand(!last || names[2].starts_with("limit"), &format!("{names:?}"));
        run.demand(run.stderr.contains("not ranked by") == last, "a note about ranking");
    }
    let table = sorted("mean_pairwise_l1", "table");
    let (first, behind) = table.stdout.split_once("Not ranked by mean_pairwise_l1: ").expect("two");
    table.demand(!first.contains("limit[") && behind.contains("limit["), "a separate table");

    dir.replay(&format!("{grid} --out out -q")).code(0);
    let figure = |name: &str| {
        let text = dir.read(&format!("out/plots/{name}--lublin-10x10--10x10--fcfs.svg"));
        String::from_utf8(text).expect("text")
    };
    let bars = figure("strategies");
    assert!(
        bars.contains("not shown because jobs are folded: 1 strategy") && !bars.contains("limit[")
    );
    let comparison = figure("comparison");
    assert!(comparison.contains("last and without distances because jobs are folded: 1 strategy"));
    let data = dir.read("out/plots/comparison--lublin-10x10--10x10--fcfs.csv");
    let data = String::from_utf8(data).expect("text");
    let last = data.lines().last().expect("rows");
    assert!(last.starts_with("\"limit[") || last.starts_with("limit["), "{data}");
    assert!(last.contains(",,,"), "no distances: {last}");

    dir.replay("report out --write out.html").code(0);
    let page = String::from_utf8(dir.read("out.html")).expect("text");
    assert!(
        page.contains("closest together under first-fit") && page.contains("Not ranked: limit[")
    );
    let projected =
        dir.replay("compare out --row trace --col strategy --measure pairwise_l1").code(0);
    let projected = projected.prints("f: not ranked: jobs run on fewer processors");
    let starred = projected.stdout.lines().last().expect("a row").to_string();
    projected.demand(starred.contains(" *") && starred.trim_end().contains(" f"), "marks");
    // The whole trace has enough days for confidence intervals.
    dir.replay("--alloc limit[k=2,inner=first-fit],first-fit --out whole -q --no-plots").code(0);
    let compare = "compare whole:1 whole:0 --measure pairwise_l1,wait --format json";
    let compared = dir.replay(compare).code(0).says("distances are not comparable");
    let verdicts = compared.fields(&["change_verdict"]);
    compared.demand(verdicts == ["~", "better"], &format!("no verdict by distance: {verdicts:?}"));
    dir.replay(&format!("{grid} --shake 2 --out shaken -q --no-plots")).code(0);
    let table = String::from_utf8(dir.read("shaken/shaken.csv")).expect("text");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<std::collections::HashMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().expect("a table");
    let differs = |metric: &str, allocator: &str| {
        let row = rows.iter().find(|row| row["metric"] == metric && row["allocator"] == allocator);
        !row.expect("a row")["paired_difference"].is_empty()
    };
    // The first strategy folds jobs. The other strategies are compared with the first strategy.
    assert!(!differs("mean_pairwise_l1", "mbs") && differs("mean_turnaround", "mbs"));
}
