//! Machines: default machines, machines given by options, and unsupported machines.

use super::dir::{Dir, TINY};

trials!(
    default_machine_comes_from_the_header,
    requires_a_machine_without_maxprocs,
    rejects_malformed_machines,
    warns_of_machines_larger_than_the_log,
    runs_several_processors_at_a_point,
    some_commands_need_one_processor_at_a_point,
    load_counts_all_processors,
    contention_has_one_process_at_a_point,
    finds_machines_by_name,
    runs_machines_beyond_sixteen_bits,
    rejects_mesh_allocators_on_hypercubes,
    runs_hypercube_allocators_on_a_trace,
    reports_a_shape_larger_than_the_hypercube,
    simulates_contention_on_a_hypercube,
    runs_every_kind_of_machine,
    rejects_other_allocators_on_shared_hosts,
    simulates_time_sharing,
    limits_gray_codes_by_dimension,
    stream_defaults_depend_on_the_machine,
);

fn default_machine_comes_from_the_header() {
    for (processors, machine) in [(4, "2x2"), (6, "3x2"), (7, "7x1"), (338, "26x13")] {
        let dir = Dir::new().file("t.swf", format!("; MaxProcs: {processors}\n1 0 0 5 2\n"));
        let run = dir.replay("--trace t.swf --alloc mc1x1 --format json").code(0);
        run.demand(run.fields(&["topology"]) == [machine], machine);
        run.says(&format!("t: machine {machine} ("));
    }
}

fn requires_a_machine_without_maxprocs() {
    for head in ["", "; MaxProcs: 0\n", "; MaxProcs: -1\n", "; MaxProcs: many\n"] {
        let dir = Dir::new().file("t.swf", format!("{head}1 0 0 5 2\n"));
        let message = "t.swf: the header has no usable MaxProcs; set the machine with --machine";
        dir.replay("--trace t.swf -q").fails(2, 1, &[message]);
        let run = dir
            .replay("--trace t.swf -q --machine 2x2 --alloc mc1x1 --format json")
            .code(0)
            .says_nothing();
        run.demand(run.fields(&["jobs", "topology"]) == ["1 2x2"], "the machine as given");
    }
}

/// Utilization is a share of all processors of the machine, so it is lower on a machine with more processors than the
/// machine of the log.
fn warns_of_machines_larger_than_the_log() {
    let dir = Dir::with_trace();
    let warning = "warning: the log's machine has 100 processors (MaxProcs), this machine has 144";
    let run = |machine: &str, rest: &str| {
        dir.replay(&format!("--jobs 50 --alloc mc1x1 --machine {machine} --format json {rest}"))
            .code(0)
    };
    run("12x12", "").says(&format!("lublin-10x10 on 12x12: {warning}"));
    run("12x12", "-q").says_nothing();
    for machine in ["10x10", "20x5"] {
        let fits = run(machine, "");
        fits.demand(!fits.stderr.contains("warning"), machine);
    }
}

fn rejects_malformed_machines() {
    let dir = Dir::new().file("tiny.swf", TINY);
    for (machine, problem) in [
        ("10", "needs two or three sides"),
        ("10x", "\"\" is not a side length"),
        ("0x4", "needs two or three sides of at least 1"),
        ("-4x4", "\"-4\" is not a side length"),
        ("1024x1025", "at most 1,048,576 points"),
        ("4x4*0", "at least one processor at each point"),
        ("4x4*two", "\"two\" is not a number of processors at a point"),
        ("hypercube:3*2", "only meshes and tori can have several processors at a point"),
        ("2x2x2x2", "sides"),
        ("ring:4x4", "unknown kind \"ring\""),
        ("torus[z]:4x4", "no dimension z"),
        ("hypercube:99", "dimensions"),
        ("hypercube:x", "not a number of dimensions"),
        ("cluster:6x0", "at least one host with one slot"),
        ("cluster:60000x2", "at most 65,535 slots"),
        ("cluster:6xmany", "not a number of jobs on a host"),
    ] {
        let words = [&format!("machine \"{machine}\""), problem, "write 10x10, 8x8x8"];
        dir.replay(&format!("--trace tiny.swf --machine={machine}")).fails(2, 1, &words);
    }
}

/// Job 1 requests 5 of 8 processors and holds 3 of 4 points; job 2 waits for a second point.
fn runs_several_processors_at_a_point() {
    let swf = "; MaxProcs: 8\n1 0 -1 100 5\n2 0 -1 100 3\n3 200 -1 100 8\n";
    let shapes = "job,w,h,d\n1,5,1,1\n2,3,1,1\n3,4,2,1\n";
    let dir = Dir::new().file("t.swf", swf);
    let fields = ["utilization", "held_utilization", "makespan", "mean_wait"];
    let of = |mesh: &str, allocator: &str, fields: &[&str]| {
        let line = format!("--trace t.swf --machine {mesh} --alloc {allocator} --format json -q");
        dir.replay(&line).code(0).fields(fields)
    };
    assert_eq!(of("4x2", "mc1x1", &fields), ["0.6666666666666666 - 300 0.0"]);
    // The jobs request 500 + 300 + 800 processor-seconds on 8 processors in 300 s. In whole points, the jobs hold 600 +
    // 400 + 800 processor-seconds.
    let expected = ["0.6666666666666666 0.75 300 33.333333333333336"];
    for allocator in ["mc1x1", "random", "mc1x1[tie=2,1,1,1]"] {
        assert_eq!(of("2x2*2", allocator, &fields), expected, "{allocator}");
    }
    let coupled = ["utilization", "allocated_utilization", "internal_fragmentation_percent"];
    assert_eq!(of("2x2*2", "mbs", &coupled), ["0.6666666666666666 0.75 11.11111111111111"]);
    dir.replay("--trace t.swf --machine 2x2*2 --alloc mc1x1 --out o -q --no-plots").code(0);
    dir.replay("--trace t.swf --machine 2x2*2 --alloc rsr -q").fails(2, 1, &["folds jobs"]);
    // A job of 9 processors exceeds four points of two processors.
    let large = Dir::new().file("t.swf", "; MaxProcs: 9\n1 0 -1 100 9\n2 0 -1 9 7\n");
    let run = large
        .replay("--trace t.swf --machine 2x2*2 --alloc mc1x1 --oversize drop --format json")
        .code(0);
    run.demand(run.fields(&["jobs"]) == ["1"], "the smaller job remains");
    let run =
        dir.file("t.shapes.csv", shapes).replay("--trace t.swf --machine 2x2*2 --alloc first-fit");
    run.code(0).says("the shapes of 3 jobs are ignored, because shapes are in processors");
}

fn some_commands_need_one_processor_at_a_point() {
    let dir = Dir::with_trace();
    for command in [
        "stream --machine 4x4*2",
        "network --machine 4x4*2 --packets -",
        "stream --backlog 1 --machine torus:4x4x4*2",
    ] {
        dir.replay(command).fails(2, 1, &["*2: this command supports one processor per point"]);
    }
}

fn load_counts_all_processors() {
    let dir = Dir::new().file("t.swf", "1 0 -1 100 8\n2 100 -1 100 8\n");
    // The jobs use all 1,600 processor-seconds of 16 processors in 100 s.
    let run = dir.replay("--trace t.swf --machine 4x2*2 --alloc mbs --scale-load 0.5").code(0);
    run.says("load 1.0000 on 16 processors, times between arrivals x 2.0000, load 0.5000 after");
}

/// A job has one process at each of its points, so it sends the same messages as a job in a trace whose sizes are in
/// points.
fn contention_has_one_process_at_a_point() {
    let dir = Dir::new()
        .file("processors.swf", "1 0 -1 100 5\n2 0 -1 100 8\n3 9 -1 50 1\n")
        .file("points.swf", "1 0 -1 100 3\n2 0 -1 100 4\n3 9 -1 50 1\n");
    let contend = |trace: &str, mesh: &str| {
        let command = format!(
            "contend --trace {trace}.swf --machine {mesh} --alloc mc1x1,mbs --no-plots --out {trace}"
        );
        let run = dir.replay(&command).code(0);
        let jobs = dir.read(&format!("{trace}/contend_jobs.csv"));
        (run, String::from_utf8(jobs).expect("text"))
    };
    let (run, jobs) = contend("processors", "4x2*2");
    run.says("4x2*2: a job has one process at each of its points; sizes are in points");
    let (_, same) = contend("points", "4x2");
    assert_eq!(jobs, same);
}

fn finds_machines_by_name() {
    let dir = Dir::new().file("t.swf", "; MaxProcs: 8\n1 0 -1 100 5\n");
    let machine = |flag: &str| {
        let run = dir.replay(&format!("--trace t.swf {flag} --alloc random --format json -q"));
        run.code(0).fields(&["topology"])
    };
    for flag in ["--machine blue-waters", "--machine Blue-Waters"] {
        assert_eq!(machine(flag), ["torus:24x24x24*2"], "{flag}");
    }
    assert_eq!(machine("--machine 4x2 --machine nasa-ipsc"), ["4x2", "hypercube:7"]);
    let near = ["no system \"blue-watrs\"", "did you mean \"blue-waters\"?", "replay list systems"];
    dir.replay("--trace t.swf --machine blue-watrs").fails(2, 1, &near);
    let listed = dir.replay("list systems").code(0);
    listed.prints("blue-waters: torus:24x24x24*2, 27,648 processors").prints("[NCSA");
}

/// A job holds 70,000 of 90,000 points, and two other jobs hold nearly all of the remaining points.
fn runs_machines_beyond_sixteen_bits() {
    let swf = "; MaxProcs: 90000\n1 0 -1 100 70000\n2 0 -1 100 19999\n3 0 -1 100 2\n";
    let dir = Dir::new().file("t.swf", swf);
    let run = dir.replay(
        "--trace t.swf --alloc mc1x1,mc1x1[tie=2,1,1,1],mc,hilbert-best-fit,best-fit,mbs,random --format json -q",
    );
    let run = run.code(0);
    run.demand(run.fields(&["topology", "jobs"]).iter().all(|row| row == "300x300 3"), "all jobs");
    let words = ["tie=auto supports at most 65,535 points"];
    dir.replay("--trace t.swf --alloc mc1x1[tie=auto] -q").fails(2, 1, &words);
}

/// A 9x9 job fits 128 processors, but its mesh needs a cube of 256.
fn reports_a_shape_larger_than_the_hypercube() {
    let dir = Dir::new()
        .file("t.swf", "; MaxProcs: 128\n1 0 0 5 81\n")
        .file("t.shapes.csv", "job,w,h,d\n1,9,9,1\n");
    let run = dir.replay("--trace t.swf -q --machine hypercube:7 --alloc afl").code(1);
    run.says("job 1 (line 2) needs 81 processors").says("has no place for this size or shape");
}

fn rejects_mesh_allocators_on_hypercubes() {
    let dir = Dir::with_trace();
    let words = ["allocator \"mc1x1\": needs a mesh or torus", "machine hypercube:7"];
    dir.replay("--machine hypercube:7 --alloc mc1x1").fails(2, 1, &words);
    // The error is reported before the trace is searched for.
    dir.replay("--trace nothing --machine 16x8,hypercube:7 --alloc random,mc1x1")
        .fails(2, 1, &words);
    let run = dir.replay("--machine hypercube:7 --alloc random --format json").code(0);
    run.demand(run.fields(&["jobs", "topology"]) == ["5000 hypercube:7"], "random works");
    let words = ["allocator \"afl\": needs a hypercube such as hypercube:7 (machine 10x10)"];
    dir.replay("--machine 10x10 --alloc afl").fails(2, 1, &words);
    dir.replay("--machine hypercube:7 --alloc afl --sched conservative").fails(
        2,
        1,
        &["does not support this"],
    );
}

/// Runs jobs of 3, 5, 1 and 8 processors on 8 processors. Job 1 gets a subcube of four processors. Job 2 needs all
/// eight processors and waits for job 1, unless the allocator uses several subcubes. Job 3 can run at the same time as
/// job 2 if the allocator allocates the processors that job 2 leaves unused.
fn runs_hypercube_allocators_on_a_trace() {
    let swf = "; MaxProcs: 8\n1 0 -1 60 3\n2 5 -1 30 5\n3 9 -1 10 1\n4 9 -1 10 8\n";
    let dir = Dir::new().file("t.swf", swf);
    let names = "afl,cube-free-list,non-cubic,multiple-gray-code[codes=1]";
    let run = dir.replay(&format!(
        "--trace t.swf --machine hypercube:3 --sched fcfs,easy --format json --alloc {names}"
    ));
    let run = run.code(0);
    let waits = run.fields(&["scheduler", "allocator", "mean_wait"]);
    run.demand(waits.len() == 8, "one run for each pair");
    for expected in [
        "fcfs afl 46.75",
        "fcfs cube-free-list 56.75",
        "fcfs non-cubic 19.25",
        "fcfs multiple-gray-code[codes=1] 56.75",
    ] {
        run.demand(waits.iter().any(|line| line == expected), expected);
    }
}

/// A cube of five dimensions needs at most ten Gray codes to recognize all subcubes.
fn limits_gray_codes_by_dimension() {
    let dir = Dir::with_trace();
    let run = |codes: u32| {
        let alloc = format!("multiple-gray-code[codes={codes}]");
        let over = format!("afl[over={alloc}]");
        [alloc, over].map(|alloc| {
            dir.replay(&format!(
                "--machine hypercube:5 --jobs 5 --oversize drop -q --alloc {alloc}"
            ))
        })
    };
    for known in run(10) {
        known.code(0);
    }
    for unknown in run(11) {
        unknown.fails(2, 1, &["codes=11", "hypercube:5", "10"]);
    }
}

/// On machines without support for First Fit, the default allocator depends on the machine.
fn stream_defaults_depend_on_the_machine() {
    let dir = Dir::new();
    for (machine, expected) in
        [("hypercube:4", "cube-buddy"), ("cluster:4x2", "elmer"), ("8x8,hypercube:4", "random")]
    {
        let run = dir.replay(&format!(
            "stream --machine {machine} --arrivals 1 --jobs 20 --min-replications 2 --max-replications 2 \
             --format json -q"
        ));
        let run = run.code(0);
        let names = run.fields(&["allocator"]);
        run.demand(names[0] == expected, expected);
    }
}

/// Messages on a hypercube use e-cube routes.
fn simulates_contention_on_a_hypercube() {
    let dir = Dir::with_trace();
    let run = dir.replay(
        "contend --jobs 20 --scale 0.05 --machine hypercube:7 --alloc afl,cube-buddy,random --format json",
    );
    let run = run.code(0);
    run.demand(
        run.fields(&["allocator"]) == ["afl", "cube-buddy", "random"],
        "one run for each allocator",
    );
}

fn runs_every_kind_of_machine() {
    let machines = ["10x10", "5x5x4", "torus:10x10", "torus[x]:10x10", "torus:5x5x4"];
    let arguments =
        format!("--jobs 100 --alloc mc1x1 --format json --machine {}", machines.join(","));
    let run = Dir::with_trace().replay(&arguments).code(0);
    run.demand(run.fields(&["topology"]) == machines, "each machine in order");
    let means = run.fields(&["mean_pairwise_l1"]);
    run.demand(means[0] > means[2], "wrapping brings processors nearer");
}

fn rejects_other_allocators_on_shared_hosts() {
    let dir = Dir::with_trace();
    let words = ["allocator \"random\": allocates whole processors", "elmer", "cluster:128x2"];
    dir.replay("--machine cluster:128x2 --alloc random").fails(2, 1, &words);
    let words = ["allocator \"elmer\": needs a cluster", "machine 8x8"];
    dir.replay("--machine 8x8 --alloc elmer").fails(2, 1, &words);
    let words = ["scheduler easy uses estimates", "cluster:128x2"];
    dir.replay("--machine cluster:128x2 --alloc elmer --sched easy").fails(2, 1, &words);
    let words = ["messages of jobs that share a processor are not modelled"];
    dir.replay("stream --machine cluster:8x2 --alloc elmer --pattern one-to-all")
        .fails(2, 1, &words);
}

fn simulates_time_sharing() {
    // Two jobs run on both hosts, and each job computes half of the time.
    let dir = Dir::new().file("t.swf", "; MaxProcs: 2\n1 0 -1 100 2\n2 0 -1 100 2\n");
    let at = |machine: &str, alloc: &str| {
        let command = format!("--trace t.swf --machine {machine} --alloc {alloc} --format json -q");
        let run = dir.replay(&command).code(0);
        run.fields(&["mean_turnaround", "makespan"])
    };
    assert_eq!(at("cluster:2", "elmer"), at("cluster:2", "random"));
    assert_eq!(at("cluster:2", "elmer[demand=0.5]"), ["150.0 200"]);
    // With two slots per host, the second job uses the other half of the processor time.
    assert_eq!(at("cluster:2x2", "elmer[demand=0.5]"), ["100.0 100"]);
    // A job that always computes leaves no processor time to other jobs, so sharing hosts does not make jobs faster.
    assert_eq!(at("cluster:2x2", "elmer"), ["150.0 200"]);
    let command = "stream --machine cluster:6,cluster:6x2 --alloc elmer[demand=0.5] --arrivals 0.2 --jobs 50 \
                   --max-replications 30 -q --format json";
    let run = dir.replay(command).code(0);
    let turnarounds = run.fields(&["turnaround_time"]);
    let [plain, shared] = &turnarounds[..] else { panic!("two rows") };
    let number = |text: &str| text.parse::<f64>().expect("a number");
    assert!(number(shared) < number(plain), "{shared} {plain}");
}
