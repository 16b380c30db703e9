//! `replay place` and `replay stream --backlog`: placement on 3D tori.

use super::dir::Dir;
use super::out::timeless;

trials!(
    answers_each_row,
    rejects_invalid_cases,
    reports_machine_errors_with_their_line,
    backlog_does_not_depend_on_threads,
    searches_a_selection_rule_on_first_halves,
    writes_backlog_tables,
    draws_candidate_boxes,
    replays_placements_with_automatic_slack,
    suggests_similar_values,
    runs_a_trace_with_boxes,
    counts_jobs_without_a_box_of_their_size,
    replays_on_a_machine_from_a_file,
    a_bad_configuration_has_a_reason,
);

const MACHINE: &str = include_str!("../../traces/torus3d/small.yaml");
const CASES: &str = include_str!("../../traces/torus3d/decisions.csv");

fn dir() -> Dir {
    Dir::new().file("m/small.yaml", MACHINE).file("c.csv", CASES)
}

fn answers_each_row() {
    let out = dir().replay("place --machines m --cases c.csv -q").code(0).says_nothing();
    let answer = [
        "case,topology,free,required,n,segment,status,nodes,picks,fragmentation_before,fragmentation_after,rank_order",
        "idle,small,0-31,,4,,ok,\"0-1,4-5\",t:2x2x1@0-0-0:1,0,44,0 1 4 5",
        "idle,small,0-31,,8,,ok,\"0-1,4-5,16-17,20-21\",t:2x2x2@0-0-0:1,0,48,0 1 4 5 16 17 20 21",
    ];
    for (line, expected) in out.stdout.lines().zip(answer) {
        assert_eq!(line, expected);
    }
    let rows: Vec<&str> = out.stdout.lines().collect();
    assert_eq!(rows.len(), 12);
    let dir = dir();
    let written = dir.replay("place --machines m --cases c.csv -q --write a.csv").code(0);
    assert_eq!((written.stdout.as_str(), dir.read("a.csv")), ("", out.stdout.clone().into_bytes()));
    let words = ["--write c.csv: this file is also the input; name another file"];
    dir.replay("place --machines m --cases c.csv --write c.csv").fails(2, 1, &words);
    assert!(rows[4].contains(",bad_config,,,0,0,"), "{}", rows[4]);
    assert!(rows[5].contains(",ok,\"18-19,22-23\",t:2x2x1@2-0-1:0,44,48,"), "{}", rows[5]);
    assert!(rows[6].contains(",no_fit,,,"), "{}", rows[6]);
    assert!(rows[8].contains("t:2x2x2@0-0-0:1;t:2x2x2@0-2-0:0"), "{}", rows[8]);
    assert!(rows[9].contains(",bad_config,"), "{}", rows[9]);
    assert!(rows[11].contains(",no_fit,"), "{}", rows[11]);
}

fn rejects_invalid_cases() {
    for (row, words) in [
        ("x,small,0-32,,4,", ["c.csv:2: free: \"0-32\"", "0 to 31"]),
        ("x,small,0-31,,0,", ["c.csv:2: n: \"0\"", "from 1 to 4294967295"]),
        ("x,small,0-31,,4,x", ["c.csv:2: segment", "\"x\""]),
        ("x,small,3-1,,4,", ["c.csv:2: free", "3-1"]),
        ("x,other,0-31,,4,", ["c.csv:2: topology", "other.yaml"]),
        ("x,../m/small,0-31,,4,", ["c.csv:2: topology", "no file"]),
        ("x,small,0-31,,4", ["c.csv:2:", "expected 6 fields, found 5"]),
    ] {
        let cases = format!("case,topology,free,required,n,segment\n{row}\n");
        let out = dir().file("c.csv", cases).replay("place --machines m --cases c.csv").code(3);
        words.iter().fold(out, |out, words| out.says(words));
    }
    let cases = "topology,free\nsmall,1\n";
    dir().file("c.csv", cases).replay("place --machines m --cases c.csv").fails(
        3,
        1,
        &["c.csv:1: the column n is missing"],
    );
    dir().file("c.csv", "").replay("place --machines m --cases c.csv").fails(3, 1, &["empty"]);
    dir().replay("place --machines absent --cases c.csv").fails(2, 1, &["absent: is not a folder"]);
    dir().replay("place --machines m --cases absent.csv").fails(2, 1, &["absent.csv"]);
}

fn reports_machine_errors_with_their_line() {
    let machine =
        MACHINE.replace("x: 4, y: 4, z: 2}\n        regions", "x: 4, y: 4}\n        regions");
    dir()
        .file("m/small.yaml", machine)
        .replay("place --machines m --cases c.csv")
        .code(3)
        .says("small.yaml:7: torus t: torus3d/toruses/dims: z must be at least 1");
}

fn backlog_does_not_depend_on_threads() {
    let dir = Dir::new();
    let command = "stream --backlog 1,4 --machine torus:8x8x8 --menu pow2 --mix uniform --jobs 120 --replications 3 --format csv -q";
    let one = dir.replay(&format!("{command} --threads 1")).code(0).says_nothing();
    let two = dir.replay(&format!("{command} --threads 2")).code(0);
    assert_eq!(one.stdout, two.stdout);
    // The output has a header, and a row for each of five rules with each of two queue lengths.
    assert_eq!(one.stdout.lines().count(), 11);
}

fn searches_a_selection_rule_on_first_halves() {
    let dir = Dir::new();
    let command = "stream --backlog 1 --search --machine torus:8x8x8 --menu list:2x2x2+4x4x4+8x4x4 --mix uniform --jobs 600 --replications 2 --format csv -q";
    let one = dir.replay(&format!("{command} --threads 1")).code(0).says_nothing();
    let two = dir.replay(&format!("{command} --threads 2")).code(0);
    assert_eq!(one.stdout, two.stdout);
    let mut lines = one.stdout.lines();
    let heading = lines.next().expect("names of columns");
    assert!(heading.starts_with("mix,estimates,window,way,ways_tried,"), "{heading}");
    // The allocator accepts the parameters that the search found.
    let row = lines.next().expect("a row");
    let way = row.split('"').nth(1).map(str::to_string);
    let way = way.unwrap_or_else(|| row.split(',').nth(3).expect("a way").to_string());
    let found = format!("--jobs 50 --machine torus:8x8x8 --alloc placements[{way}] -q");
    dir.replay(&found).code(0);
    let table = command.replace("--format csv", "");
    dir.replay(&table).code(0).says_nothing().prints("gain on dl, second half");
    dir.replay("stream --backlog 1 --search --rules dl").refused(&["--search", "--rules"]);
    dir.replay("stream --backlog 1 --search --jobs 4 --replications 1 -q").fails(
        1,
        1,
        &["use more jobs"],
    );
}

fn replays_placements_with_automatic_slack() {
    let dir = Dir::new();
    let auto = "placements[menu=pow2,slack=auto,shadows=3,every=16]";
    let command = |seed: &str| {
        format!(
            "--jobs 300 --machine torus:4x5x5 --sched easy --alloc {auto} --seed {seed} --format json -q"
        )
    };
    let one = dir.replay(&command("1")).code(0).says_nothing();
    let again = dir.replay(&command("1")).code(0);
    assert_eq!(timeless(&one), timeless(&again));
    let run =
        dir.replay(&format!("explain --jobs 300 --machine torus:4x5x5 --alloc {auto} --job 250"));
    run.code(0).prints("the rule with the least expected loss on 3 shadow machines");
    for (wrong, why) in [
        ("placements[tie=slurm,slack=auto]", "slack=auto requires tie=auto"),
        ("placements[tie=auto,slack=auto,shapes=first]", "shapes=first"),
        ("placements[tie=1,freq=4:x]", "weight \"x\" is not a whole number"),
        ("placements[tie=1,freq=none.csv]", "none.csv: "),
    ] {
        dir.replay(&format!("--jobs 9 --alloc {wrong} -q")).fails(2, 1, &[why]);
    }
    let sizes = dir.file("sizes.csv", "size,weight\n4,10\n8,1\n");
    let weighed = "--jobs 60 --machine torus:4x5x5 --alloc placements[tie=1,freq=sizes.csv] -q";
    sizes.replay(weighed).code(0).prints("freq=4:10+8:1");
}

fn suggests_similar_values() {
    let dir = Dir::new();
    for (options, word) in [
        ("--rules slrum", "did you mean \"slurm\"?"),
        ("--mix cube", "did you mean \"cubes\"?"),
        ("--estimates exat", "did you mean \"exact\"?"),
        ("--machine hypercube:4", "is not a torus or mesh"),
        ("--machine torus:4x4x4,torus:8x8x8", "give one machine"),
        ("--menu trace", "a stream has no trace"),
        ("--machine torus:4x4x4 --menu list:8x8x8", "no box of the menu fits"),
        (
            "--machine torus:4x4x4 --mix slabs --menu list:2x2x2",
            "the menu does not have the sizes of this mix",
        ),
    ] {
        dir.replay(&format!("stream --backlog 1 {options}")).fails(2, 1, &[word]);
    }
    dir.replay("stream --rules dl").refused(&["--backlog"]);
    for option in ["--load 0.5", "--pattern n-body", "--flits 8", "--alloc mbs", "--sort rule"] {
        dir.replay(&format!("stream --backlog 1 {option}")).refused(&["--backlog"]);
    }
}

fn runs_a_trace_with_boxes() {
    let swf = "; MaxProcs: 64\n1 0 -1 100 8\n2 0 -1 100 32\n3 5 -1 10 32\n4 6 -1 10 4\n";
    let dir = Dir::new().file("t.swf", swf);
    let run = "--trace t.swf --machine torus:4x4x4 --format csv";
    dir.replay(&format!("{run} --alloc slurm-torus3d,placements --sched fcfs,easy -q")).code(0);
    let odd = Dir::new().file("t.swf", swf.replace(" 100 32", " 100 33"));
    odd.replay(&format!("{run} --alloc placements -q")).code(0);
    odd.replay(&format!("{run} --alloc placements[menu=trace] --sched fcfs,easy -q")).code(0);
    // With this allocator, `contend` skips a job if there is no box for its size.
    let sent = "contend --trace t.swf --machine torus:4x4x4 --scale 1 --format csv --alloc slurm-torus3d,mc1x1";
    let sent = odd.replay(sent).code(0).says("left out 1 job of unsupported size: 33 (job 2)");
    let mut rows = sent.stdout.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let heading = rows.next().expect("names of columns");
    let of = |row: &[&str], name: &str| {
        row[heading.iter().position(|one| *one == name).expect(name)].to_string()
    };
    let rows: Vec<_> = rows.collect();
    assert_eq!([&rows[0], &rows[1]].map(|row| of(row, "jobs")), ["3", "4"]);
    assert_eq!([&rows[0], &rows[1]].map(|row| of(row, "no_such_size_jobs")), ["1", ""]);
    dir.replay("--trace t.swf --machine 8x8 --alloc slurm-torus3d").fails(2, 1, &["torus"]);
}

fn counts_jobs_without_a_box_of_their_size() {
    let follows = "-1 -1 7 20 -1 1 1 1 -1 -1 -1 2 500";
    let swf = format!(
        "; MaxProcs: 64\n1 0 -1 100 8\n2 0 -1 100 33\n3 5 -1 10 33\n4 6 -1 10 7\n5 7 -1 10 8 {follows}\n"
    );
    let dir = Dir::new().file("t.swf", swf);
    let run = "--trace t.swf --machine torus:4x4x4 --alloc slurm-torus3d,placements --deps honour";
    let note = "t on torus:4x4x4, slurm-torus3d: left out 3 jobs of unsupported size: 7 (job 4), 33 (2 jobs, the first is job 2)";
    let table = dir.replay(&format!("{run} --sched fcfs,easy")).code(0).says(note);
    table.prints("no size");
    let csv = dir.replay(&format!("{run} --format csv -q")).code(0).says_nothing();
    let lines: Vec<Vec<&str>> = csv.stdout.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|&one| one == name).expect(name);
    let of = |row: usize, name: &str| lines[row][column(name)];
    assert_eq!([of(1, "jobs"), of(1, "no_such_size_jobs")], ["2", "3"]);
    assert_eq!([of(2, "jobs"), of(2, "no_such_size_jobs")], ["5", "0"]);
    // If a job depends on a skipped job, the dependency is ignored.
    assert_eq!([of(1, "makespan"), of(2, "makespan")], ["100", "710"]);
    dir.replay(&format!("sweep {run} --out sweep")).code(0).says(note);
    let one = run.replace(",placements", "");
    dir.replay(&format!("explain {one} --job 5 -q")).code(0).prints("job 5 requests 8 processors");
    dir.replay(&format!("show {one} --job 1 -q")).code(0).prints("on 8 of 64 processors");
    for command in ["explain", "show", "show --candidates"] {
        let of = |job: u32| dir.replay(&format!("{command} {one} --job {job} -q"));
        of(2).fails(
            2,
            1,
            &["slurm-torus3d leaves out this job", "the size of the job, 33", "fit=up"],
        );
        of(9).fails(2, 1, &["in t, no job has this number, or the job received no processors"]);
    }
    let none = dir.file("t.swf", "; MaxProcs: 64\n1 0 -1 100 7\n");
    none.replay(&one).code(1).says("no job is left to run: 1 job of unsupported size: 7 (job 1)");
}

fn replays_on_a_machine_from_a_file() {
    let pods = "- topology: pods
  cluster_default: true
  torus3d:
    toruses:
      - name: a
        dims: {x: 4, y: 4, z: 2}
        regions: {dims: {x: 4, y: 4, z: 1}, nodes: 'a[00-15]'}
        placements: [{dims: {x: 2, y: 2, z: 1}}, {dims: {x: 2, y: 2, z: 2}}]
      - name: b
        dims: {x: 4, y: 4, z: 2}
        nodes: b[00-31]
        placements: [{dims: {x: 2, y: 2, z: 1}}, {dims: {x: 4, y: 4, z: 2}}]
- topology: one
  torus3d:
    toruses: {name: t, dims: {x: 4, y: 4, z: 2}, nodes: 'b[00-31]', placements: {dims: {x: 4, y: 4, z: 2}}}
";
    let swf = "1 0 -1 100 32 -1 -1 32 200\n2 0 -1 100 4 -1 -1 4 200\n3 1 -1 10 3 -1 -1 3 20\n";
    let dir = Dir::new().file("t.swf", swf).file("pods.yaml", pods);
    let machine = "toruses:4x4x2[16-31]+4x4x2";
    let csv = |options: &str| {
        let out = dir.replay(&format!("--trace t.swf {options} --format json -q")).code(0);
        timeless(&out.says_nothing())
    };
    // The topology file may be given as the machine, as the parameter `file`, or as both.
    let first = csv("--machine pods.yaml --alloc slurm-torus3d");
    assert_eq!(first, csv("--alloc slurm-torus3d[file=pods.yaml]"));
    let again = format!("--machine {machine} --alloc slurm-torus3d[file=pods.yaml]");
    assert_eq!(first, csv(&again));
    let run = "--trace t.swf --machine pods.yaml --alloc";
    dir.replay(&format!("{run} slurm-torus3d,placements,random --sched fcfs,easy"))
        .code(0)
        .says("left out 1 job of unsupported size: 3 (job 3)")
        .prints(machine)
        .prints("placements[file=pods.yaml]");
    // A single torus without holes supports all allocators for tori.
    let one = format!("{run} slurm-torus3d[topology=one],mc1x1 -q");
    dir.replay(&one).code(0).prints("torus:4x4x2 ");
    dir.replay(&format!("show {run} slurm-torus3d --job 2 -q")).code(0).prints("36 of 48");
    let explained = dir.replay(&format!("explain {run} slurm-torus3d --job 2 -q")).code(0);
    explained.prints("2 x 2 x 1 at a (0, 0, 0)").prints("the fullest");
    dir.replay(&format!("sweep {run} slurm-torus3d,placements --out s -q")).code(0);
    for (options, words) in [
        (format!("{run} mc1x1"), "slurm-torus3d, placements"),
        (format!("{run} placements[anchors=half]"), "anchors has no effect"),
        (format!("{run} placements[menu=pow2]"), "already defines the boxes"),
        (format!("{run} placements[tie=1]"), "tie compares boxes of one torus"),
        (format!("{run} slurm-torus3d[topology=two]"), "pods.yaml:1: no topology is called two"),
        ("--trace t.swf --machine pods.yaml,8x8 --alloc random".into(), "must be the only machine"),
        ("--trace t.swf --machine 8x8 --alloc placements[file=pods.yaml]".into(), machine),
        ("--trace t.swf --machine no.yaml --alloc random".into(), "no.yaml: cannot be read"),
        (
            "contend --trace t.swf --machine pods.yaml --alloc random".into(),
            "links between several tori",
        ),
    ] {
        dir.replay(&format!("{options} -q")).fails(2, 1, &[words]);
    }
    let empty = pods
        .replace("nodes: 'b[00-31]', ", "")
        .replace("cluster_default: true", "cluster_default: false");
    let empty = dir.file("e.yaml", empty);
    empty.replay("--trace t.swf --alloc slurm-torus3d[file=e.yaml,topology=one] -q").fails(
        2,
        1,
        &["has no node", "line 15: torus t: torus3d/toruses: the torus has neither nodes"],
    );
}

fn writes_backlog_tables() {
    let dir = Dir::new();
    let command = "stream --backlog 1 --machine torus:4x4x4 --menu pow2 --mix uniform --jobs 120 --replications 2 --out o";
    dir.replay(command).code(0).says("uniform exact backlog 1 dl: 2 replications");
    for name in ["manifest.json", "saturated.csv", "saturated.parquet"] {
        assert!(dir.path(&format!("o/{name}")).is_file(), "{name}");
    }
    let other = command.replace("--replications 2", "--replications 1 -q");
    dir.replay(&other).fails(2, 1, &["results of a stream"]);
    dir.replay(&format!("{other} --force")).code(0).says_nothing();
    dir.replay(&format!("{} --search -q --force", command.replace("--jobs 120", "--jobs 400")))
        .code(0);
    assert!(dir.path("o/saturated_search.csv").is_file());
}

fn draws_candidate_boxes() {
    let swf = "1 0 -1 100 8 -1 -1 8 200\n2 1 -1 100 4 -1 -1 4 200\n";
    let dir = Dir::new().file("t.swf", swf);
    let show = "show --trace t.swf --machine torus:4x4x2 --job 2 --candidates -q --alloc";
    let costs = dir.replay(&format!("{show} placements --out o")).code(0);
    costs.prints("candidate 1 wins").prints("box at (").prints("# is a processor of the box");
    assert!(dir.path("o/plots/candidates.svg").is_file());
    dir.replay(&format!("{show} placements[tie=1,0,1]")).code(0).prints("sum ");
}

/// The reason of `bad_config` is printed once for each reason, with the first row and the number of rows.
fn a_bad_configuration_has_a_reason() {
    let out = dir().replay("place --machines m --cases c.csv").code(0);
    out.says("c.csv:").says(": bad_config: n=").says("is not a multiple of segment=");
    let tree = "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\nSwitchName=t Switches=a,b\n";
    let blocks = "BlockName=a Nodes=n[0-3]\nBlockName=b Nodes=n[4-7]\n";
    let cases = "topology,rule,options,free,n\n\
        t,kueue,mode=required level=1 slice=2 slice_level=0,0-7,4\n\
        t,kueue,mode=required level=1 slice=2 slice_level=0 profile=most,0-7,4\n\
        t,kueue,level=0 slice=3 slice_level=0,0-7,4\n\
        t,kueue,mode=required level=1 slice=2 slice_level=0 profile=most,0-7,6\n\
        t,kueue,level=0 slice=2 slice_level=1,0-7,4\n\
        t,kueue,level=5,0-7,4\n\
        b,slurm-block,segment=3,0-7,4\n";
    let dir = Dir::new().file("t.conf", tree).file("b.conf", blocks).file("c.csv", cases);
    let out = dir.replay("place --machines . --cases c.csv").code(0);
    assert_eq!(out.stdout.matches(",bad_config,").count(), 6, "{}", out.stdout);
    let expected = [
        "c.csv:3: bad_config: profile=most does not support slices, because Kueue has dropped this profile; use best or least (and 1 further row)",
        "c.csv:4: bad_config: n=4 is not a multiple of slice=3",
        "c.csv:6: bad_config: the level of slices is above the level of the job",
        "c.csv:7: bad_config: the tree has the levels node and 0 to 1, not 5",
        "c.csv:8: bad_config: n=4 is not a multiple of segment=3",
        "7 decisions",
    ];
    assert_eq!(out.stderr.lines().collect::<Vec<_>>(), expected);
    dir.replay("place -q --machines . --cases c.csv").code(0).says_nothing();
}
