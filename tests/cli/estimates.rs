//! EF, the fifth entry of a tie vector, and `replay estimates`.

use super::dir::Dir;

trials!(
    no_weight_is_no_change,
    only_mc1x1_knows_estimates,
    a_search_tries_estimates,
    the_study_is_the_same_for_any_number_of_threads,
    the_study_looks_for_its_own_vectors,
    boxes_are_judged_by_what_is_lost,
    a_place_is_kept_only_by_who_can_tell,
    loads_are_scaled,
    waits_are_drawn_against_loads,
);

/// EF = 0 is no EF: the same name, and the same numbers.
fn no_weight_is_no_change() {
    let dir = Dir::with_trace();
    let run = |tie: &str| {
        let run = dir.replay(&format!("--jobs 200 --alloc mc1x1 --tie {tie} --format json -q"));
        run.code(0).fields(&["tie", "mean_pairwise_l1"])
    };
    assert_eq!(run("2,13,20,6,0"), run("2,13,20,6"));
    assert!(run("2,13,20,6,3").concat().contains("2,13,20,6,3"), "all five numbers");
}

fn only_mc1x1_knows_estimates() {
    let dir = Dir::with_trace();
    for name in ["mm", "gen-alg"] {
        dir.replay(&format!("--trace tiny.swf --alloc {name}[tie=1,2,3,4,5]")).fails(
            2,
            1,
            &["only mc1x1 knows EF"],
        );
    }
}

fn a_search_tries_estimates() {
    let dir = Dir::with_trace();
    let search = "search --jobs 200 --sr 1 --factors 0..1 --ef 0..1 --top 100 --format csv -q";
    let found = dir.replay(search).code(0);
    // Of 2^4 divisions that of nothing breaks no tie; and the row without tie-breaking.
    assert_eq!(found.stdout.lines().count(), 1 + 15 + 1);
    found.demand(found.stdout.contains("\"1,0,1,1,1\""), "vectors of five numbers");
    for strategy in ["tpe", "external --ask-command true"] {
        dir.replay(&format!("search --trace tiny.swf --strategy {strategy} --ef 0..1")).fails(
            2,
            1,
            &["--ef"],
        );
    }
}

fn the_study_is_the_same_for_any_number_of_threads() {
    let dir = Dir::new();
    let command = "estimates --trace lublin-10x10 --jobs 300 --evaluations 12 --format csv -q";
    let one = dir.replay(&format!("{command} --threads 1")).code(0).says_nothing();
    let two = dir.replay(&format!("{command} --threads 2")).code(0);
    assert_eq!(one.stdout, two.stdout);
    // The trace has estimates: log, oracle, shuffled, and the names of the columns.
    assert_eq!(one.stdout.lines().count(), 4);
}

fn the_study_looks_for_its_own_vectors() {
    let dir = Dir::with_trace();
    for option in ["--alloc mm", "--tie 2,1,1,1", "--alloc placements[tie=1]"] {
        dir.replay(&format!("estimates --trace tiny.swf {option}")).fails(
            2,
            1,
            &["no other --alloc, no --tie"],
        );
    }
}

fn a_place_is_kept_only_by_who_can_tell() {
    let dir = Dir::with_trace();
    let run = "--jobs 200 --sched easy[guard=place] --format csv -q --alloc";
    let told = dir.replay(&format!("{run} first-fit[shape=near-square]")).code(0);
    told.demand(told.stdout.contains("easy[guard=place]"), "the discipline's name");
    dir.replay(&format!("{run} rsr")).code(0);
    let cube = format!("{run} cube-buddy --mesh hypercube:7");
    dir.replay(&cube).fails(2, 1, &["guard=count works with it"]);
    // Frames begin elsewhere at the promised instant: on KTH-SP2 23 of 1,194 heads were late.
    for allocator in ["frame-sliding[shape=near-square]", "anca"] {
        let words = ["although its place is free", "guard=count works with it"];
        dir.replay(&format!("{run} {allocator}")).fails(2, 1, &words);
    }
}

/// The same jobs at another load: told, named, and earlier or later.
fn loads_are_scaled() {
    let dir = Dir::new();
    let run = dir.replay("--jobs 300 --alloc mc1x1 --scale-load 0.5,0.9 --format json").code(0);
    run.demand(
        run.stderr.contains("[load=0.9]: load ") && run.stderr.contains("after rounding"),
        "loads",
    );
    let (names, waits) = (run.fields(&["trace"]), run.fields(&["mean_wait"]));
    assert_eq!(names, ["lublin-10x10[load=0.5]", "lublin-10x10[load=0.9]"]);
    let waits: Vec<f64> = waits.iter().filter_map(|wait| wait.parse().ok()).collect();
    assert!(waits.len() == 2 && waits[0] < waits[1], "{waits:?}");
    for bad in ["0", "-1", "inf", "many"] {
        dir.replay(&format!("--scale-load={bad}")).fails(2, 1, &["load"]);
    }
}

/// From three loads on waits are drawn against them, with a line for all whose waits are the same.
fn waits_are_drawn_against_loads() {
    let dir = Dir::new();
    let run = "--jobs 300 --alloc mc1x1,mbs,random,first-fit -q --scale-load";
    dir.replay(&format!("{run} 0.5,0.9 --out two")).code(0);
    let of = |out: &str| {
        let files = dir.files(&format!("{out}/plots"));
        files.into_iter().find(|file| file.starts_with("wait-by-load") && file.ends_with(".csv"))
    };
    assert_eq!(of("two"), None);
    dir.replay(&format!("{run} 0.5..0.9:0.2 --out three")).code(0);
    let drawn = of("three").expect("a figure");
    assert_eq!(drawn, "wait-by-load--lublin-10x10--10x10--fcfs.csv");
    let text = String::from_utf8(dir.read(&format!("three/plots/{drawn}"))).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 3 * 2, "{text}");
    assert_eq!(text.matches("mc1x1, mbs, random").count(), 3, "{text}");
    assert_eq!(text.matches("first-fit").count(), 3, "{text}");
}

fn boxes_are_judged_by_what_is_lost() {
    let dir = Dir::new();
    let command = "estimates --trace lublin-10x10 --jobs 300 --mesh torus:4x5x5 --alloc placements --evaluations 8";
    let one = dir.replay(&format!("{command} --format csv -q --threads 1")).code(0).says_nothing();
    let two = dir.replay(&format!("{command} --format csv -q --threads 2")).code(0);
    assert_eq!(one.stdout, two.stdout);
    let heading = one.stdout.lines().next().expect("names of columns");
    assert!(heading.contains("second_lost_with,"), "{heading}");
    // What was found is what an allocator can be told.
    let rows: Vec<&str> = one.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 3, "log, oracle, shuffled");
    let ways: Vec<&str> = one.stdout.split('"').filter(|part| part.starts_with("tie=")).collect();
    for way in ways {
        dir.replay(&format!("--jobs 30 --mesh torus:4x5x5 --alloc placements[{way}] -q")).code(0);
    }
    let few = dir.replay(&command.replace("--jobs 300", "--jobs 20"));
    few.code(0).says("10 jobs in the second half").says("too few to believe");
}
