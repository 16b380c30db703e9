//! `replay explain`: the steps of one decision.

use super::dir::{Dir, Outcome};

trials!(
    json_has_the_numbers_of_the_run,
    centres_have_numbers_and_coordinates,
    last_step_has_the_pairwise_l1_of_the_run,
    tie_values_are_weighted_sums,
    strategies_explain_their_candidates,
    writes_steps,
    rules_of_trees_and_blocks_explain_their_choice,
    reports_what_cannot_be_explained,
    counts_have_thousands_separators,
);

fn counts_have_thousands_separators() {
    let dir = Dir::new().file("two.swf", "; MaxProcs: 4096\n1 0 0 50 3\n2 1 0 50 6\n");
    let run = dir.replay("explain --trace two.swf --machine 64x64 --alloc random -q --job 2");
    run.code(0).prints("4,093 processors are free").prints("from 4,093 free processors");
}

fn rules_of_trees_and_blocks_explain_their_choice() {
    let trace = "; MaxProcs: 16\n1 0 0 50 3\n2 1 0 50 6\n";
    let conf = "SwitchName=a Nodes=node[00-07]\nSwitchName=b Nodes=node[08-15]\nSwitchName=r Switches=a,b\n";
    let dir = Dir::new().file("two.swf", trace).file("names.conf", conf);
    for (machine, alloc, words) in [
        ("tree:2x2x4", "slurm-tree", "leaf 1, with 6 nodes to take"),
        ("tree:2x2x4", "tree-fit", "leaves with the most free nodes, taken whole"),
        ("block[4,16]:4x4", "slurm-block", "6 nodes need a block of level 2, 4 base blocks"),
        (
            "block[4,16]:4x4",
            "slurm-block",
            "choice 1, with 6 nodes to take: base blocks in file order; b2 wins",
        ),
        ("block[4,16]:4x4", "slurm-block", "lower block with fewer free nodes"),
        ("block[4,16]:4x4", "slurm-block", "on 2 base blocks: mean distance"),
        (
            "names.conf",
            "slurm-tree",
            "has nodes node[08-13], on 1 leaf switch: mean distance 2.000 hops",
        ),
        ("tree:2x2x4", "kueue[level=0]", "level 0: no domain has enough (6 needed"),
    ] {
        let cell = format!("--trace two.swf --machine {machine} --alloc {alloc} -q");
        dir.replay(&format!("explain {cell} --job 2")).code(0).prints(words);
        let json = dir.replay(&format!("explain {cell} --job 2 --format json")).code(0);
        assert!(!json.objects()[0]["decisions"][0]["listings"].is_null());
    }
}

/// Returns the steps of an explanation in JSON.
fn steps(run: &Outcome) -> Vec<serde_json::Value> {
    let objects = run.objects();
    run.demand(objects.len() == 1, "one object");
    objects[0]["steps"].as_array().expect("a list").clone()
}

/// A centre is given by its processor number and its coordinates.
fn centres_have_numbers_and_coordinates() {
    let dir = Dir::with_trace();
    let run = dir.replay("explain --sched easy --job 50 --jobs 200 -q --format json").code(0);
    let objects = run.objects();
    let first = &objects[0]["decisions"][0]["candidates"]["first"][0];
    assert_eq!(
        first["centre"].as_array().map(Vec::len),
        Some(2),
        "a coordinate for each dimension"
    );
    let at = |axis: usize| first["centre"][axis].as_u64().expect("a number");
    let number = 10 * at(0) + at(1);
    // The centre is in shell 0, so it is the first allocated processor.
    assert_eq!(first["nodes"][0].as_u64(), Some(number));
    let centre = format!("{number} ({}, {})", at(0), at(1));
    let words = format!("with its centre at processor {centre}, wins");
    let has = |words: &str| {
        steps(&run).iter().any(|step| step["text"].as_str().expect("words").contains(words))
    };
    run.demand(has(&words), &words);
    run.demand(has(&format!("centre {centre}")), "in the list of candidates");
}

fn last_step_has_the_pairwise_l1_of_the_run() {
    let dir = Dir::with_trace();
    for alloc in ["mc1x1[tie=2,13,20,6]", "gabl", "hilbert-best-fit"] {
        let cell = format!("--jobs 260 --sched easy --alloc {alloc} -q --trace lublin-10x10");
        let run = dir.replay(&format!("explain {cell} --job 250 --format json")).code(0);
        let last = steps(&run).pop().expect("steps");
        let shown = dir.replay(&format!("show {cell} --job 250 --format json")).code(0);
        let job = shown.objects().into_iter().find(|job| job["job"] == 250).expect("the job");
        let text = last["text"].as_str().expect("words").replace(',', "");
        run.demand(
            text.contains(&format!("pairwise L1 {}:", job["pairwise_l1"]))
                || text.contains(&format!("pairwise L1 {} ", job["pairwise_l1"])),
            &text,
        );
    }
}

fn tie_values_are_weighted_sums() {
    let dir = Dir::with_trace();
    let run = dir.replay("explain --tie 2,13,20,6 --job 3333 --sched easy --format json").code(0);
    let values = |text: &str| -> Option<[i64; 4]> {
        let of = |name: &str| {
            let part = text.split("; ").find(|part| part.starts_with(name))?;
            part.strip_prefix(name)?.trim().parse().ok()
        };
        Some([of("free ")?, of("walls ")?, of("busy ")?, of("tie value ")?])
    };
    let rows: Vec<[i64; 4]> =
        steps(&run).iter().filter_map(|step| values(step["text"].as_str()?)).collect();
    run.demand(rows.len() > 1, "candidates that tie");
    for [free, walls, busy, value] in &rows {
        assert_eq!(13 * free - 20 * walls - 6 * busy, *value);
    }
    run.demand(rows.windows(2).all(|pair| pair[0][3] <= pair[1][3]), "the winner is the first");
}

fn strategies_explain_their_candidates() {
    let dir = Dir::with_trace();
    for (alloc, words) in [
        ("mc1x1", "the best score (sum of shell numbers) is"),
        ("mm", "sum of pairwise distances"),
        ("mc", "places of the box, the best first"),
        ("hilbert-best-fit", "runs of free processors along the curve"),
        ("random", "drawn one after another from"),
        ("first-fit", "is free at"),
        ("turning-busy-list", "search in the list for a free place for"),
        ("gabl", "search in the list for a free place for"),
        ("mbs", "free blocks:"),
        ("paging", "in the order of their index"),
        ("anca", "frame"),
        ("rsr", "0 steps of folding"),
    ] {
        let run =
            format!("explain --jobs 120 --sched fcfs --alloc {alloc} --job 100 -q --format csv");
        dir.replay(&run).code(0).prints(words).prints("it gives");
    }
    let cube = "explain --jobs 120 --machine hypercube:7 --alloc cube-buddy --job 100 -q";
    dir.replay(cube).code(0).prints("needs a subcube of");
    let text = dir.replay("explain --job 3333 --tie 2,13,20,6 --sched easy -q").code(0);
    text.prints("scheduler").prints("tie value").prints("wins");
}

fn writes_steps() {
    let dir = Dir::with_trace();
    dir.replay("explain --jobs 300 --job 250 --out out -q").code(0).says_nothing();
    assert_eq!(dir.files("out"), ["manifest.json", "steps.csv", "steps.parquet"]);
    dir.replay("--jobs 9 --alloc random --out out -q").code(2).says("--force");
}

fn reports_what_cannot_be_explained() {
    let dir = Dir::with_trace();
    let explain = |rest: &str| dir.replay(&format!("explain --jobs 50 -q {rest}"));
    explain("").refused(&["--job <JOB>"]);
    explain("--job 999999").fails(
        2,
        1,
        &["--job 999999", "in lublin-10x10, no job has this number"],
    );
    explain("--job 9 --alloc mm,mc1x1").fails(2, 1, &["explain takes one", "2 runs"]);
}

fn json_has_the_numbers_of_the_run() {
    let dir = Dir::with_trace();
    let cell = "--trace lublin-10x10 --jobs 300 --sched easy --tie 2,13,20,6";
    let run = dir.replay(&format!("explain {cell} --job 200 --format json -q")).code(0).objects();
    assert_eq!(run.len(), 1);
    let run = &run[0];
    let shown = dir.replay(&format!("show {cell} --job 200 --format json -q")).code(0).objects();
    let shown = shown.iter().find(|row| row["job"] == 200).expect("the job");
    assert_eq!(run["result"]["nodes"], shown["nodes"]);
    assert_eq!(run["result"]["start"], shown["start"]);
    assert_eq!(run["result"]["pairwise_l1"], shown["pairwise_l1"]);
    let decision = run["decisions"].as_array().and_then(|all| all.last()).expect("a decision");
    assert_eq!(decision["nodes"], shown["nodes"]);
    let candidates = &decision["candidates"];
    assert_eq!(candidates["tie"], "2,13,20,6");
    let number = |name: &str| candidates["first"][0][name].as_i64().expect("a number");
    let value = 13 * number("free_weight") - 20 * number("wall_weight") - 6 * number("busy_weight");
    assert_eq!(number("tie_value"), value);
    // The processors of running jobs and the free processors add up to the machine.
    let named = &run["scheduler"]["named"];
    let running = named["running"].as_array().expect("a list").iter();
    let busy: i64 = running.map(|job| job["size"].as_i64().expect("a number")).sum();
    assert_eq!(busy + named["free"].as_i64().expect("a number"), 100);
}
