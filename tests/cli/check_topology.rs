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
