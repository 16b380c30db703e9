//! `replay check-topology`, and the warning of a replay about sizes that never run.

use super::dir::{Dir, TINY};

trials!(
    reports_sizes_that_never_run,
    checks_files_as_the_written_forms,
    reports_names_out_of_order_and_empty_leaves,
    rejects_other_machines_and_broken_files,
    a_replay_warns_once,
);

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
    let warning = "block[4,16]:6x4: jobs of 17-24 nodes have no placement under slurm-block on the idle machine";
    let out = dir.replay(command).code(0).says(warning);
    assert_eq!(out.stderr.matches(warning).count(), 1);
    dir.replay(&format!("{command} -q")).code(0).says_nothing();
}
