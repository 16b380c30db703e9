//! `replay check-topology`, and the warning of a replay about sizes that never run.

use super::dir::{Dir, TINY};

trials!(
    reports_sizes_that_never_run,
    checks_files_as_the_written_forms,
    reports_names_out_of_order_and_empty_leaves,
    rejects_other_machines_and_broken_files,
    a_replay_warns_once,
    every_command_warns_of_a_file,
    ids_depend_on_the_content_of_a_file,
    selects_a_topology_of_a_file,
    options_decide_which_sizes_never_run,
    left_out_jobs_have_the_reason_of_the_rule,
    rejects_options_that_the_machine_cannot_meet,
    errors_of_files_contain_line_and_name,
    recorded_nodes_must_occur_in_the_file,
    every_form_of_a_file_is_a_machine,
    several_upper_switches_place_like_one,
    a_simplified_file_gives_a_warning,
    an_optional_topology_runs_every_size,
    a_site_sets_its_own_limit_of_waits,
    writes_a_part_of_a_machine,
    a_part_never_replaces_its_input,
    the_default_may_be_another_topology,
);

/// Returns a trace of jobs of 1 to 24 nodes, one after the other.
fn all_sizes() -> String {
    let job = |size: i32| format!("{size} {} 0 50 {size}\n", 100 * size);
    "; MaxProcs: 24\n".to_string() + &(1..=24).map(job).collect::<String>()
}

fn options_decide_which_sizes_never_run() {
    let dir = Dir::new().file("sz.swf", all_sizes());
    let check = "check-topology block[4,16]:6x4 --format csv";
    let out = dir.replay(&format!("{check} --alloc slurm-block[segment=4]")).code(0);
    out.prints(
        "never-runs,slurm-block[segment=4],6,\"17-19, 21-23: no placement on the idle machine\"",
    );
    let tree = "check-topology tree:2x2x4 --alloc kueue[mode=required,level=0] --format csv";
    dir.replay(tree).code(0).prints("5-16: no placement on the idle machine");
    dir.replay(&format!("{check} --alloc kueue")).fails(2, 1, &["--alloc: kueue: needs a tree"]);
    dir.replay(&format!("{check} --alloc random")).fails(2, 1, &["random is not a rule"]);
    let run = "--trace sz.swf --machine block[4,16]:6x4 --alloc";
    dir.replay(&format!("{run} slurm-block[segment=4]"))
        .code(0)
        .says("warning: jobs of 17-19, 21-23 nodes have no placement under slurm-block[segment=4]")
        .says("left out 6 jobs")
        .says("(replay check-topology --alloc lists the sizes");
    let other = dir.replay(&format!("{run} random")).code(0);
    let other = other.prints("leaves per job  one leaf %");
    assert!(!other.stderr.contains("warning"), "{}", other.stderr);
}

fn left_out_jobs_have_the_reason_of_the_rule() {
    let dir = Dir::new().file("sz.swf", all_sizes());
    let run = "--trace sz.swf --machine block[4,16]:6x4 --alloc slurm-block";
    let note =
        "sz on block[4,16]:6x4, slurm-block: left out 8 jobs of unsupported size: 17 (job 17)";
    let out = dir.replay(run).code(0).says(note);
    assert!(!out.stderr.contains("fit=up"), "{}", out.stderr);
    for command in ["explain", "show"] {
        dir.replay(&format!("{command} {run} --job 20 -q")).fails(
            2,
            5,
            &[
                "slurm-block leaves out this job of sz: the rule has no placement for 20 nodes on the idle machine",
                "20 nodes need the whole machine, 6 base blocks, as no block size is large enough",
                "too few free nodes within the limit on lower blocks",
            ],
        );
    }
}

fn rejects_options_that_the_machine_cannot_meet() {
    let dir = Dir::new().file("sz.swf", all_sizes());
    for (alloc, words) in [
        ("kueue[level=7]", "level=7: the tree has the levels node and 0 to 2"),
        ("kueue[slice=3,slice_level=9]", "slice-level=9: the tree has the levels node and 0 to 2"),
        ("kueue[slice=3,slice_level=1,level=0]", "slice-level=1 is above level 0 of the job"),
        ("kueue[mode=unconstrained,slice=3,slice_level=0]", "slice-level=0 is above level node"),
        ("slurm-tree[switches=1,wait=500]", "wait=500 is more than the limit of 300 seconds"),
    ] {
        let run = format!("--trace sz.swf --machine tree:2x3x4 --alloc {alloc} -q");
        dir.replay(&run).fails(2, 1, &[words]);
    }
}

fn errors_of_files_contain_line_and_name() {
    let deep = "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Switches=b\nSwitchName=r Switches=a,c\n";
    let twice = "SwitchName=s1 Nodes=n2\nSwitchName=n2 Nodes=n3\n";
    let dir = Dir::new().file("tiny.swf", TINY).file("deep.conf", deep).file("twice.conf", twice);
    dir.replay("--trace tiny.swf --machine deep.conf --alloc kueue").fails(
        2,
        1,
        &["deep.conf:2: switch b: this leaf is at depth 2, but the leaf a (line 1) is at depth 1"],
    );
    let words = ["twice.conf:2: switch n2: a node of switch s1 (line 1) has the same name"];
    dir.replay("check-topology twice.conf").fails(3, 1, &words);
    let marked = format!("\u{feff}{deep}");
    let dir = dir.file("marked.conf", marked).file("flat.yaml", "- topology: t\n  flat: true\n");
    dir.replay("check-topology marked.conf").code(0).prints("2 nodes; 4 switches");
    let flat = dir.replay("--trace tiny.swf --machine flat.yaml --alloc slurm-tree");
    assert!(!flat.stderr.contains("flat.yaml: flat.yaml"), "{}", flat.stderr);
    let words = ["no system \"topo.txt\"", "a file that ends in .conf, .yaml or .yml"];
    dir.replay("check-topology topo.txt").fails(2, 1, &words);
}

/// On a machine from a file, nodes of a log are found by their names. On other machines, nodes of a log are assigned in
/// the order of their names.
fn recorded_nodes_must_occur_in_the_file() {
    let conf = "SwitchName=a Nodes=n[0-7]\nSwitchName=b Nodes=n[8-15]\nSwitchName=r Switches=a,b\n";
    let trace = "; MaxProcs: 16\n1 0 0 50 2\n2 0 0 50 3\n";
    let nodes = "job,nodes\n1,\"x[0-1]\"\n2,\"x[2-4]\"\n";
    let dir = Dir::new().file("two.swf", trace).file("two.nodes.csv", nodes).file("a.conf", conf);
    let run = "--trace two.swf --sched recorded --alloc recorded -q --machine";
    let words = ["the log names the node x0, which a.conf does not have"];
    dir.replay(&format!("{run} a.conf")).fails(3, 1, &words);
    dir.replay(&format!("{run} tree:2x8")).code(0);
}

fn reports_sizes_that_never_run() {
    let out =
        Dir::new().replay("check-topology block[4,16]:6x4 --format csv").code(0).says_nothing();
    let expected = [
        "check,subject,count,finding",
        "machine,\"block[4,16]:6x4\",24,\"24 nodes in 6 blocks; block sizes 4, 16\"",
        "never-runs,slurm-block,8,17-24: no placement on the idle machine",
        "skipped-level,block sizes,1,no block size 8 between 4 and 16",
    ];
    for (line, expected) in out.stdout.lines().zip(expected) {
        assert_eq!(line, expected);
    }
    assert!(out.stdout.lines().filter(|line| line.starts_with("idle-nodes,")).count() <= 5);
    let tree = Dir::new().replay("check-topology tree:2x2x4 --format csv").code(0);
    let expected = "check,subject,count,finding\n\
                    machine,tree:2x2x4,16,\"16 nodes; 7 switches, 4 of level 0; 3 levels\"\n";
    assert_eq!(tree.stdout, expected);
}

fn checks_files_as_the_written_forms() {
    let blocks = (0..6).map(|block| {
        let first = 4 * block;
        format!("BlockName=b{block} Nodes=n[{first:02}-{:02}]\n", first + 3)
    });
    let text = blocks.collect::<String>() + "BlockSizes=4,16\n";
    let dir = Dir::new().file("a.conf", text);
    let file = dir.replay("check-topology a.conf --format csv").code(0).says_nothing();
    let written = dir.replay("check-topology block[4,16]:6x4 --format csv").code(0);
    let rest = |text: &str| text.lines().skip(2).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(rest(&file.stdout), rest(&written.stdout));
}

fn reports_names_out_of_order_and_empty_leaves() {
    let text = "SwitchName=a Nodes=n[9,10]\nSwitchName=b Nodes=n[1-2]\nSwitchName=e\nSwitchName=r Switches=a,b,e\n";
    let out = Dir::new().file("a.conf", text).replay("check-topology a.conf").code(0);
    out.prints("leaf switches without nodes: e").prints("first n1 after n10");
}

fn rejects_other_machines_and_broken_files() {
    let words = ["4x4: is neither a tree nor blocks"];
    Dir::new().replay("check-topology 4x4").fails(2, 1, &words);
    let dir = Dir::new().file("a.conf", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n");
    dir.replay("check-topology a.conf").fails(3, 1, &["a.conf:2: switch a: line 1"]);
    dir.replay("check-topology absent.conf").fails(3, 1, &["absent.conf: cannot be read"]);
}

fn a_replay_warns_once() {
    let dir = Dir::new().file("tiny.swf", TINY);
    let command = "--trace tiny.swf --machine block[4,16]:6x4 --alloc slurm-block,random";
    let warning = "block[4,16]:6x4: warning: jobs of 17-24 nodes have no placement under slurm-block on the idle machine";
    let out = dir.replay(command).code(0).says(warning);
    assert_eq!(out.stderr.matches(warning).count(), 1);
    dir.replay(&format!("{command} -q")).code(0).says_nothing();
}

/// Every command that runs jobs prints both warnings about a file, each once.
fn every_command_warns_of_a_file() {
    let small = "a.conf: warning: blocks with fewer nodes than the base size 4: b2";
    let sizes = "a.conf: warning: jobs of 16-23 nodes have no placement under slurm-block";
    for command in [
        "--trace tiny.swf --alloc slurm-block,random",
        "sweep --trace tiny.swf --alloc slurm-block --seed 0,1 --out out",
        "sweep --trace tiny.swf --alloc all --out all",
        "plan --trace tiny.swf --alloc slurm-block",
        "show --trace tiny.swf --alloc slurm-block --job 1",
        "explain --trace tiny.swf --alloc slurm-block --job 1",
    ] {
        // The machine has two blocks of 16 nodes, the second of which is incomplete, and a block of three nodes.
        let nodes = ["0-3", "4-7", "8-10", "11-14", "15-18", "19-22"];
        let block = |(at, nodes): (usize, &&str)| format!("BlockName=b{at} Nodes=n[{nodes}]\n");
        let blocks: String = nodes.iter().enumerate().map(block).collect();
        let text = format!("{blocks}BlockSizes=4,16\n");
        let dir = Dir::new().file("tiny.swf", TINY).file("a.conf", text);
        let out = dir.replay(&format!("{command} --machine a.conf --oversize drop")).code(0);
        for warning in [small, sizes] {
            let count = out.stderr.matches(warning).count();
            assert_eq!(count, 1, "{command}: {warning}\n{}", out.stderr);
        }
    }
}

/// The ids of cells change with the content of a file, but not with its comments.
fn ids_depend_on_the_content_of_a_file() {
    let ids = |text: &str| {
        let dir = Dir::new().file("tiny.swf", TINY).file("a.conf", text);
        let command =
            "plan --list --format csv -q --trace tiny.swf --alloc slurm-tree --machine a.conf";
        dir.replay(command).code(0).stdout
    };
    let text = "SwitchName=a Nodes=n[0-7]\nSwitchName=b Nodes=n[8-15]\nSwitchName=r Switches=a,b\n";
    let id = ids(text);
    assert_eq!(id, ids(&format!("# comment\n{text}")));
    assert_ne!(id, ids(&text.replace("[0-7]", "[0-6]").replace("[8-15]", "[7-15]")));
}

fn selects_a_topology_of_a_file() {
    let text = "- topology: one\n  tree: {switches: [{switch: s, nodes: 'n[0-15]'}]}\n\
                - topology: two\n  tree: {switches: [{switch: s, nodes: 'n[0-31]'}]}\n\
                - topology: tori\n  torus3d: {toruses: [{name: t, dims: {x: 4, y: 4, z: 2}, nodes: 'm[00-31]', placements: [{dims: {x: 1, y: 1, z: 1}}, {dims: {x: 2, y: 1, z: 1}}]}]}\n";
    let dir = Dir::new().file("tiny.swf", TINY).file("t.yaml", text);
    dir.replay("check-topology t.yaml:two").code(0).prints("32 nodes");
    dir.replay("check-topology t.yaml").code(0).prints("16 nodes");
    let run = "-q --trace tiny.swf --format csv --columns topology,allocator";
    let two = dir.replay(&format!("{run} --machine t.yaml:two --alloc slurm-tree")).code(0);
    assert_eq!(two.stdout, "topology,allocator\nt.yaml:two,slurm-tree\n");
    let words = ["t.yaml:1: no topology is called three; the file contains one, two, tori"];
    dir.replay(&format!("{run} --machine t.yaml:three --alloc slurm-tree")).fails(2, 1, &words);
    let words = ["a topology.conf has one topology without a name; write a.conf, not a.conf:x"];
    dir.replay("check-topology a.conf:x").fails(3, 1, &words);
    let sweep = "sweep -q --trace tiny.swf --machine t.yaml:two --alloc slurm-tree --out out";
    dir.replay(sweep).code(0);
    dir.replay("merge out --out merged -q").code(0);
}

/// Files in the forms that Slurm accepts, or prints, with the text of the finding `machine` and an allocator.
const FORMS: [(&str, &str, &str, &str); 8] = [
    (
        "clos.conf",
        "SwitchName=s0 Nodes=t[0-3] LinkSpeed=900\nSwitchName=s1 Nodes=t[4-7]\nSwitchName=s2 Nodes=t[8-11]\nSwitchName=s3 Nodes=t[12-15]\nSwitchName=s4 Switches=s[0-3]\nSwitchName=s5 Switches=s[0-3]\nSwitchName=s6 Switches=s[0-3]\n",
        "16 nodes; 5 switches, 4 of level 0; 2 levels",
        "slurm-tree",
    ),
    (
        "clos.yaml",
        "- topology: t\n  tree:\n    switches: [{switch: a, nodes: 't[0-3]'}, {switch: b, nodes: 't[4-7]'}, {switch: u, children: 'a,b'}, {switch: v, children: 'a,b'}]\n",
        "8 nodes; 3 switches, 2 of level 0; 2 levels",
        "tree-fit",
    ),
    (
        "two.conf",
        "SwitchName=s0 Nodes=n[1-4]\nSwitchName=s1 Nodes=n[4-8]\nSwitchName=top Switches=s[0-1]\n",
        "8 nodes; 3 switches, 2 of level 0; 2 levels",
        "kueue",
    ),
    (
        "continued.conf",
        "BlockName=b1 Nodes=n1,n2,\\\nn3,n4\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4\n",
        "8 nodes in 2 blocks; block sizes 4",
        "slurm-block",
    ),
    (
        "blanks.conf",
        "SwitchName=s0   Nodes = n[1-4]\nSwitchName=s1 Nodes=n[5-8]\nSwitchName=top Switches=s[0-1]\n",
        "8 nodes; 3 switches, 2 of level 0; 2 levels",
        "slurm-tree",
    ),
    (
        "quoted.conf",
        "BlockName=\"b0\" Nodes=\"n[1-4]\"\nBlockName=b1 Nodes=\"n[5-8]\" # a comment\nBlockSizes=\"4,8\"\n",
        "8 nodes in 2 blocks; block sizes 4, 8",
        "slurm-block",
    ),
    (
        "tree.conf",
        "SwitchName=leaf01 Level=0 LinkSpeed=1 Nodes=worker-[0-1]\nSwitchName=leaf02 Level=0 LinkSpeed=1 Nodes=worker-[2-3]\nSwitchName=root Level=1 LinkSpeed=1 Nodes=worker-[0-3] Switches=leaf[01-02]\n",
        "4 nodes; 3 switches, 2 of level 0; 2 levels",
        "slurm-tree",
    ),
    (
        "block.conf",
        "BlockName=rack0 BlockIndex=0 Nodes=worker-rack0-[0-17] BlockSize=16\nBlockName=rack1 BlockIndex=1 Nodes=worker-rack1-[0-17] BlockSize=16\nAggregatedBlock=rack[0-1] BlockIndex=2 Nodes=worker-rack0-[0-17],worker-rack1-[0-17] BlockSize=32\n",
        "36 nodes in 2 blocks; block sizes 16, 32",
        "slurm-block",
    ),
];

/// Each form works in `check-topology`, as a machine on the command line and in a grid file, and in `place`.
fn every_form_of_a_file_is_a_machine() {
    for (name, text, machine, alloc) in FORMS {
        let (topology, _) = name.split_once('.').expect("an ending");
        let grid = format!(
            "traces = [\"tiny.swf\"]\nmachines = [\"{name}\"]\n[[allocator]]\nname = \"{alloc}\"\n"
        );
        let cases = format!("topology,rule,options,free,n\n{topology},{alloc},,0-3,2\n");
        let dir = Dir::new().file(name, text).file("tiny.swf", TINY).file("grid.toml", grid);
        let dir = dir.file("cases.csv", cases);
        dir.replay(&format!("check-topology {name}")).code(0).prints(machine);
        let run = format!(
            "-q --trace tiny.swf --machine {name} -a {alloc} --columns topology --format csv"
        );
        assert_eq!(dir.replay(&run).code(0).stdout, format!("topology\n{name}\n"));
        dir.replay("sweep grid.toml --out out -q").code(0);
        let placed = dir.replay("place --machines . --cases cases.csv -q").code(0);
        assert!(
            placed.stdout.contains(&format!("{topology},{alloc},,0-3,2,ok,")),
            "{}",
            placed.stdout
        );
    }
}

fn several_upper_switches_place_like_one() {
    let (_, clos, ..) = FORMS[0];
    let one = clos.lines().take(5).collect::<Vec<_>>().join("\n");
    let dir = Dir::new().file("m/clos.conf", clos).file("m/one.conf", one);
    let decide = |topology: &str| {
        let rows = [("0-15", 6), ("1-2,5-15", 7), ("0,4-5,8-10", 5), ("2-9,12-13", 9), ("3", 1)];
        let rows = rows.map(|(free, n)| format!("{topology},slurm-tree,,\"{free}\",{n}\n"));
        let cases = format!("topology,rule,options,free,n\n{}", rows.concat());
        std::fs::write(dir.path("cases.csv"), cases).expect("a file");
        let out = dir.replay("place --machines m --cases cases.csv -q").code(0).stdout;
        out.replace(topology, "m")
    };
    let clos = decide("clos");
    assert_eq!((clos.matches(",ok,").count(), clos), (5, decide("one")));
    let out = dir.replay("check-topology m/clos.conf --format csv").code(0);
    out.prints("several-parents,s6,3,\"one switch of the machine stands for s6 and for s4, s5");
}

fn a_simplified_file_gives_a_warning() {
    let (_, two, ..) = FORMS[2];
    let (_, clos, ..) = FORMS[0];
    let overlapping = "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Nodes=n3\nSwitchName=p Switches=a,b\nSwitchName=q Switches=b,c\n";
    let dir = Dir::new().file("tiny.swf", TINY).file("two.conf", two).file("clos.conf", clos);
    let dir = dir.file("overlapping.conf", overlapping);
    let run = |machine: &str| {
        let run = format!("--trace tiny.swf --oversize drop -a slurm-tree --machine {machine}");
        dir.replay(&run).code(0)
    };
    run("two.conf").says("two.conf: warning: nodes: listed several times and kept only in the first leaf that lists the node: n4; n4 is kept in s0, not in s1");
    run("overlapping.conf").says("overlapping.conf: warning: p: b: below p and below a later switch, kept only below the last one, q");
    let clos = run("clos.conf");
    assert!(!clos.stderr.contains("stands for"), "{}", clos.stderr);
    let out = dir.replay("check-topology two.conf --format csv").code(0);
    out.prints("repeated-nodes,nodes,1,")
        .prints("in Slurm, such a node is in every leaf that lists it");
}

/// Without an upper switch, jobs that do not fit into a leaf run only if the topology is optional.
fn an_optional_topology_runs_every_size() {
    let leaves = "SwitchName=s0 Nodes=n[1-4]\nSwitchName=s1 Nodes=n[5-8]\n";
    let dir = Dir::new().file("leaves.conf", leaves).file("six.swf", "1 0 0 50 6\n");
    dir.replay("check-topology leaves.conf --format csv").code(0).prints(
        "never-runs,slurm-tree,4,\"5-8: no placement on the idle machine; with TopologyParam=TopoOptional, jobs without --switches run",
    );
    let optional = "--alloc slurm-tree[optional=yes]";
    let out = dir.replay(&format!("check-topology leaves.conf {optional}")).code(0);
    assert!(!out.stdout.contains("never-runs"), "{}", out.stdout);
    let run = "-q --trace six.swf --machine leaves.conf --columns mean_leaves --format csv";
    assert_eq!(dir.replay(&format!("{run} {optional}")).code(0).stdout, "mean_leaves\n2.0\n");
    dir.replay(&format!("{run} {optional} -s conservative")).code(0);
    // The shortest run of free nodes that can hold the job, then the longest runs.
    let cases = "topology,rule,options,free,n\n\
        leaves,slurm-tree,optional=yes,\"0-2,4-5,7\",2\nleaves,slurm-tree,optional=yes,\"0-2,4-5,7\",4\n\
        leaves,slurm-tree,optional=yes,\"1,3-4,6-7\",4\nleaves,slurm-tree,optional=yes since=25.11,\"1-2,4\",1\n\
        leaves,slurm-tree,optional=yes switches=1,0-7,6\nleaves,slurm-tree,optional=yes switches=0,0-7,6\n";
    let dir = dir.file("cases.csv", cases);
    let out = dir.replay("place -q --machines . --cases cases.csv").code(0).stdout;
    let found: Vec<&str> =
        out.lines().skip(1).filter_map(|line| line.split_once(",ok,")).map(|line| line.1).collect();
    assert_eq!(found, ["4-5", "\"0-2,7\"", "\"3-4,6-7\"", "4", "0-5"]);
    assert!(out.contains("switches=1,0-7,6,never,"), "{out}");
}

fn a_site_sets_its_own_limit_of_waits() {
    let dir = Dir::new().file("tiny.swf", TINY);
    let run = "-q --trace tiny.swf --machine tree:2x2 --format csv --columns allocator --alloc";
    for (alloc, expected) in [
        (
            "slurm-tree[switches=1,wait=500,limit=600]",
            "\"slurm-tree[switches=1,wait=500,limit=600]\"",
        ),
        ("slurm-tree[switches=0]", "slurm-tree"),
        ("slurm-tree[switches=none]", "slurm-tree"),
    ] {
        let out = dir.replay(&format!("{run} {alloc}")).code(0).stdout;
        assert_eq!(out, format!("allocator\n{expected}\n"));
    }
    let words = ["wait=700 is more than the limit of 600 seconds"];
    dir.replay(&format!("{run} slurm-tree[switches=1,wait=700,limit=600]")).fails(2, 1, &words);
    // Without a wait, a job waits up to the limit.
    let cases = "topology,rule,options,free,n\n\
        t,slurm-tree,switches=1 limit=600 waited=599,0-3,3\nt,slurm-tree,switches=1 limit=600 waited=600,0-3,3\n\
        t,slurm-tree,switches=1 limit=60 waited=60,0-3,3\n";
    let tree = "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=t Switches=a,b\n";
    let dir = dir.file("t.conf", tree).file("cases.csv", cases);
    let out = dir.replay("place -q --machines . --cases cases.csv").code(0).stdout;
    let statuses: Vec<&str> =
        out.lines().skip(1).filter_map(|line| line.split(',').nth(5)).collect();
    assert_eq!(statuses, ["wait_switches", "ok", "ok"]);
    // One table of a grid file compares runs with and without a number of leaves.
    let grid = "traces = [\"tiny.swf\"]\nmachines = [\"tree:2x2\"]\n[[allocator]]\nname = \"slurm-tree\"\nswitches = [0, 1]\n";
    let plan = "plan grid.toml --list --format csv -q";
    let out = dir.file("grid.toml", grid).replay(plan).code(0).stdout;
    assert!(out.contains(",slurm-tree,") && out.contains("slurm-tree[switches=1]"), "{out}");
}

fn writes_a_part_of_a_machine() {
    let tree = "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=c Nodes=n[9-12]\nSwitchName=u Switches=a,b\nSwitchName=t Switches=u,c\n";
    let dir = Dir::new().file("tree.conf", tree).file("tiny.swf", TINY);
    let part = "check-topology tree.conf --nodes n[3-6] --write new/sub/part.conf";
    dir.replay(part)
        .code(0)
        .prints("4 of 12 nodes of tree.conf")
        .prints("4 nodes; 4 switches, 2 of level 0; 3 levels");
    let expected = "# 4 of 12 nodes of tree.conf\nSwitchName=a Nodes=n[3-4]\nSwitchName=b Nodes=n[5-6]\nSwitchName=u Switches=a,b\nSwitchName=t Switches=u\n";
    assert_eq!(String::from_utf8(dir.read("new/sub/part.conf")).expect("text"), expected);
    dir.replay("-q --trace tiny.swf --machine new/sub/part.conf -a slurm-tree").code(0);
    // Without a list, the whole machine is written.
    dir.replay("check-topology block[2,4]:2x2 --write b.conf").code(0);
    dir.replay("check-topology b.conf").code(0).prints("4 nodes in 2 blocks; block sizes 2, 4");
    for (list, words) in [
        ("n[12-14]", "--nodes: tree.conf does not have node n13 and 1 more"),
        ("n[1-", "--nodes: \"n[1-\": a bracket that is not closed"),
    ] {
        dir.replay(&format!("check-topology tree.conf --nodes {list}")).fails(2, 1, &[words]);
    }
}

fn a_part_never_replaces_its_input() {
    let (_, text, ..) = FORMS[1];
    let dir = Dir::new().file("t.conf", "SwitchName=a Nodes=n[1-4]\n").file("t.yaml", text);
    std::os::unix::fs::symlink(dir.path("t.conf"), dir.path("link.conf")).expect("a link");
    for path in ["t.conf", "link.conf", "./t.conf"] {
        let write = format!("check-topology t.conf --nodes n[1-2] --write {path}");
        dir.replay(&write).fails(2, 1, &["this file is also the input"]);
    }
    let words = ["--write t.yaml: the name of a topology.conf must end in .conf"];
    dir.replay("check-topology t.yaml:t --nodes t[0-1] --write t.yaml").fails(2, 1, &words);
    assert_eq!(dir.read("t.conf"), b"SwitchName=a Nodes=n[1-4]\n");
    dir.replay("check-topology t.yaml:t --nodes t[0-1] --write t2.conf").code(0);
}

fn the_default_may_be_another_topology() {
    let text = "- topology: default\n  cluster_default: true\n  flat: true\n- topology: gb\n  block: {block_sizes: [4, 8], blocks: [{block: b1, nodes: 'gb[1-4]'}, {block: b2, nodes: 'gb[5-8]'}]}\n- topology: cpu\n  tree: {switches: [{switch: s1, nodes: 'cpu[1-4]'}, {switch: s2, nodes: 'cpu[5-8]'}, {switch: top, children: 's[1-2]'}]}\n- topology: pod\n  torus3d: {toruses: [{name: a, dims: {x: 2, y: 2, z: 1}, nodes: 'p[1-4]', placements: [{dims: {x: 1, y: 1, z: 1}}]}]}\n";
    let dir = Dir::new().file("t.yaml", text).file("tiny.swf", TINY);
    let words = [
        "t.yaml:1: the topology default is neither a tree nor blocks; the file has t.yaml:gb, t.yaml:cpu with tree or block",
    ];
    dir.replay("check-topology t.yaml").fails(3, 1, &words);
    let words = [
        "the topology default contains flat, not torus3d; the file has t.yaml:gb, t.yaml:cpu, t.yaml:pod with torus3d or tree or block",
    ];
    dir.replay("-q --trace tiny.swf --machine t.yaml -a random").fails(2, 1, &words);
    for name in ["gb", "cpu", "pod"] {
        dir.replay(&format!("-q --trace tiny.swf --machine t.yaml:{name} -a random")).code(0);
    }
}
