//! Examples worked by hand. Most of the examples were also checked with running controllers of Slurm 26.05.3, or of
//! Slurm 22.05.8 if `since` selects this release.

use crate::hierarchy::cases::{Case, Decisions};
use crate::hierarchy::*;
use replay_engine::allocator::explain::Part;

/// Machine, free nodes, rule, options, number of nodes of the job, expected status and expected nodes.
type Example = (&'static str, &'static str, &'static str, &'static str, u32, &'static str);

const A: &str = "tree:2x2x4";
const C: &str = "tree:2x2x3";
const D: &str = "block[4,16]:4x4";
const E: &str = "block[4,16]:6x4";
const G: &str = "block[4,16]:8x4";
const H: &str = "block:8x4";
const N: &str = "block[18,72]:8x18";
const K: &str = "0-2,4-7,8-9,12-15";

fn check(rule: &str, examples: &[Example]) {
    for (number, &(name, free, options, _, size, expected)) in examples.iter().enumerate() {
        let machine = machine(name);
        let all = format!("0-{}", machine.processors() - 1);
        let free = if free == "all" { &all } else { free };
        let size = size.to_string();
        let case = Case { rule, options, free, size: &size };
        let ([status, nodes], _) =
            Decisions::default().answer(name, &machine, case).expect("a decision");
        let found = if status == "ok" { nodes } else { status };
        assert_eq!(found, expected, "{number}: {name} {free} {options} {size}");
    }
}

#[test]
fn decisions_on_trees() {
    check(
        "slurm-tree",
        &[
            (A, "3-11", "", "", 1, "3"),
            (A, "3-11", "since=25.11", "", 1, "3"),
            (A, "0-6,8-9,12-15", "", "", 2, "8-9"),
            (A, "0-6,8-10,12-15", "", "", 3, "4-6"),
            (A, "0-1,4-5,8-10,12-15", "", "", 8, "0-1,4-5,12-15"),
            (A, "0-2,4-6,8-9,12-13", "", "", 7, "0-2,4-6,8"),
            (C, "1,6,8-10", "", "", 3, "6,8-9"),
            (C, "1,6,8-10", "since=22.05", "", 3, "1,6,8"),
            (A, "0-6,8-15", "switches=1", "", 6, "wait_switches"),
            (A, "0-6,8-15", "switches=1 waited=300", "", 6, "0-5"),
            (A, "0-6,8-15", "switches=1 wait=60 waited=60", "", 6, "0-5"),
            (A, "0-6,8-15", "", "", 17, "never"),
            (A, "0-6,8-15", "", "", 16, "wait"),
        ],
    );
}

#[test]
fn decisions_of_tree_fit() {
    check(
        "tree-fit",
        &[
            // A job of one node also gets the tightest leaf; slurm-tree would take node 0.
            (A, "0-6,8-9,12-15", "", "", 1, "8"),
            (A, "0-6,8-9,12-15", "", "", 2, "8-9"),
            // The two leaves are equal, so the leaf in the half with fewer free nodes is taken.
            (A, "0-3,8-14", "", "", 4, "0-3"),
            (A, "0-6,8-10,12-15", "", "", 3, "4-6"),
            // Only the left half holds the job. As in slurm-tree, the leaf with the most free nodes is taken first,
            // then the tightest leaf for the rest.
            (A, "0-2,4-6,8-9,12-13", "", "", 5, "0-2,4-5"),
            // Both halves hold the job and need two leaves; the right half has fewer free nodes.
            (A, "0-3,4-7,8-10,12-14", "", "", 6, "8-10,12-14"),
            // Neither half holds the job: the leaves with the most free nodes are taken first, then the tightest leaf
            // for the rest.
            (A, "0-1,4-5,8-10,12-15", "", "", 8, "0,8-10,12-15"),
            (A, "0-6,8-15", "", "", 16, "wait"),
            (A, "0-6,8-15", "", "", 17, "never"),
        ],
    );
}

#[test]
fn tree_fit_prefers_leaves_that_it_keeps_busy_for_less_time() {
    let machine = machine(A);
    let mut rule = Rule::new(&machine, RuleOptions::Fit).expect("a tree");
    let mut free = FreeNodes::all(&machine);
    let mut start = |rule: &mut Rule, nodes: &[u32], limit| {
        let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
        free.take(&nodes);
        rule.on_start(&machine, &nodes, Times { limit: Some(limit), ..Times::default() });
    };
    start(&mut rule, &[0, 1], 50);
    start(&mut rule, &[4, 5], 90);
    start(&mut rule, &[8, 9], 120);
    let mut place = |rule: &mut Rule, limit| {
        let times = Times { limit, ..Times::default() };
        let mut chosen = Vec::new();
        rule.place(&mut free, 2, times, &mut chosen).expect("a place");
        chosen.iter().map(|node| node.0).collect::<Vec<_>>()
    };
    // Of the leaves with two free nodes, only leaf 8-11 stays busy for the 100 seconds of the job; the two others are
    // below one switch.
    assert_eq!(place(&mut rule, Some(100)), [10, 11]);
    // Leaves 4-7 and 8-11 stay busy longer than the job. The switch above leaf 4-7 has fewer free nodes.
    assert_eq!(place(&mut rule, Some(80)), [6, 7]);
    assert_eq!(place(&mut rule, None), [2, 3]);
    rule.on_release(&machine, &[8, 9].map(NodeId));
    assert_eq!(place(&mut rule, Some(100)), [6, 7]);
}

#[test]
fn explanations_of_tree_fit_name_the_deciding_step() {
    let text = explained(A, RuleOptions::Fit, &[0, 1, 4, 5, 8, 9, 10, 12, 13, 14, 15], 8, 0);
    for line in [
        "no leaf holds 8 nodes; the top switch is s2-0 of level 2 with 11 nodes free, the only switch of the lowest level with enough free nodes",
        "s0-3 | 4\ns0-2 | 3",
        "s0-1 | 2 | 100 | does not replace s0-0: equal, but later in the table",
        "leaf s0-0 gives 1 node of its 2 free",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = explained(A, RuleOptions::Fit, &[0, 1, 2, 3, 8, 9, 10], 1, 0);
    let line = "s0-2 | 3 | 100 | replaces s0-0: it has fewer free nodes, 3 against 4";
    assert!(text.contains(line), "{text}");
}

#[test]
fn decisions_on_blocks() {
    check(
        "slurm-block",
        &[
            (D, "all", "", "", 1, "0"),
            (D, "all", "", "", 3, "12-14"),
            (D, "0-6,8-9,12-14", "", "", 2, "8-9"),
            (D, "0-6,8-9,12-14", "", "", 3, "12-14"),
            (D, "all", "", "", 5, "8,12-15"),
            (D, "0-1,4-5,8-9,12-13", "", "", 5, "wait"),
            (D, "0-1,4-5,8-10,12-13", "", "", 5, "8-10,12-13"),
            (D, "all", "segment=2", "", 4, "12-15"),
            (D, "all", "segment=2 spread=yes", "", 4, "8-9,12-13"),
            (E, "all", "", "", 17, "never"),
            (E, "all", "", "", 24, "never"),
            (E, "all", "", "", 16, "0-15"),
            (G, "all", "", "", 17, "12,16-31"),
            (G, "0-11,16-23", "segment=4", "", 12, "8-11,16-23"),
            (G, "0-11,16-23", "segment=4 consolidate=yes", "", 12, "0-11"),
            (G, "0-11,16-23", "segment=5", "", 12, "bad_config"),
            (H, "all", "", "", 6, "24-25,28-31"),
            (H, "0-3,8-11,16-19,24-27", "", "", 9, "wait"),
            (N, "all", "", "", 16, "126-141"),
            (N, "all", "", "", 36, "108-143"),
            (N, "all", "", "", 73, "54,72-143"),
            (N, "all", "segment=16", "", 32, "108-123,126-141"),
            ("block[2,8,32]:16x2", "0,3-6,9-11,14-17,30-31", "", "", 9, "0,3-6,10-11,14-15"),
        ],
    );
}

#[test]
fn fragmentation_of_blocks() {
    let machine = machine(E);
    let of = |free: &str| FreeNodes::of(&machine, set(free)).fragmentation();
    assert_eq!(["0-23", "1-23", "0-16,18-23", "0-11,16-23", ""].map(of), [0, 21, 21, 24, 64]);
}

#[test]
fn decisions_of_kueue() {
    check(
        "kueue",
        &[
            (A, K, "mode=preferred level=0", "", 2, "8-9"),
            (A, K, "profile=most level=0", "", 2, "4-5"),
            (A, K, "level=0", "", 5, "8-9,12-14"),
            (A, K, "level=0", "", 8, "4-7,12-15"),
            (A, K, "mode=required level=0", "", 5, "never"),
            (A, K, "mode=unconstrained", "", 5, "0-2,4-5"),
            (A, K, "profile=most level=0", "", 6, "0-2,4-6"),
            (A, K, "mode=slice_only slice=2 slice_level=0", "", 4, "8-9,12-13"),
            (A, "0-1,4-15", "mode=required level=1 slice=4 slice_level=1", "", 4, "0-1,4-5"),
            (A, K, "level=3", "", 4, "bad_config"),
            (A, K, "mode=required level=0 slice=2 slice_level=1", "", 4, "bad_config"),
        ],
    );
}

/// Parses nodes that are written as ranges of numbers.
fn set(text: &str) -> Vec<NodeId> {
    if text.is_empty() {
        return Vec::new();
    }
    let ranges = replay_engine::workload::nodes::ranges(text).expect("ranges");
    ranges.into_iter().flat_map(|(from, to)| (from..=to).map(|node| NodeId(node as u32))).collect()
}

fn machine(text: &str) -> Hierarchy {
    text.parse::<Topology>().expect("a machine").hierarchy().expect("a hierarchy").clone()
}

/// Returns the explanation of a decision, one line for each sentence and row.
fn explained(name: &str, options: RuleOptions, free: &[u32], size: u32, waited: i64) -> String {
    let machine = machine(name);
    let mut rule = Rule::new(&machine, options).expect("a rule");
    let mut free = FreeNodes::of(&machine, free.iter().copied().map(NodeId));
    let (mut silent, mut recorded) = (Vec::new(), Vec::new());
    let times = Times { now: waited, submitted: Some(0), limit: Some(100), ..Times::default() };
    let unexplained = rule.place(&mut free, size, times, &mut silent);
    let log = ExplanationLog::recording();
    rule.set_explanation(log.clone());
    log.set_recording(true);
    assert_eq!(rule.place(&mut free, size, times, &mut recorded), unexplained);
    assert_eq!(silent, recorded);
    let mut text = String::new();
    for part in log.take().parts {
        match part {
            Part::Words(words) => text += &(words + "\n"),
            Part::Listing(listing) => {
                text += &(listing.about + "\n");
                listing.rows.iter().for_each(|row| text += &(row.join(" | ") + "\n"));
            }
        }
    }
    text
}

#[test]
fn explanations_of_trees_name_the_deciding_step() {
    let options = RuleOptions::Tree(TreeOptions::default());
    let text = explained(C, options, &[1, 6, 8, 9, 10], 3, 0);
    for line in [
        "the top switch is s2-0 of level 2 with 5 nodes free: the only switch of the highest level with enough free nodes",
        "s0-2 | 2 | 0 | replaces s0-0: it alone fits (by switches s1-1 and s1-0)",
        "s0-3 | 2 | 0 | does not replace s0-2: equal, 2 free nodes each",
        "leaf s0-2 gives 2 nodes of its 2 free",
        "s0-3 | 2 | 2 | replaces s0-0: closer, and it fits",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let switches = TreeOptions { switches: Some(1), ..TreeOptions::default() };
    let free: Vec<u32> = (0..7).chain(8..16).collect();
    let text = explained(A, RuleOptions::Tree(switches), &free, 6, 20);
    let line = "the placement is on 2 leaves, more than switches=1 allows: the job waits, for at most 300 s since its submission, of which 20 s are over";
    assert!(text.contains(line), "{text}");
    assert!(explained(A, options, &[3, 4], 1, 0).contains("regardless of the tree"));
}

#[test]
fn explanations_of_blocks_name_limits_and_retries() {
    let options = RuleOptions::Block(BlockOptions::default());
    let text = explained(D, options, &[0, 1, 4, 5, 8, 9, 12, 13], 5, 0);
    for line in [
        "5 nodes need a block of level 2, 4 base blocks; in this block, at most 2 lower blocks (each of 1 base block) may be used",
        "b0 to b3 | 8 | 4 | too few free nodes within the limit on lower blocks",
        "no block is a candidate",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let free: Vec<u32> =
        [0].into_iter().chain(3..7).chain(9..12).chain(14..18).chain(30..32).collect();
    let text = explained("block[2,8,32]:16x2", options, &free, 9, 0);
    assert!(text.contains("the next attempt leaves out node 9,"), "{text}");
    let segments = BlockOptions { segment: Some(2), ..BlockOptions::default() };
    let all: Vec<u32> = (0..16).collect();
    let text = explained(D, RuleOptions::Block(segments), &all, 4, 0);
    assert!(text.contains("2 segments of 2 nodes; 2 nodes need a block of level 0"), "{text}");
    assert!(text.contains("round 2 of 2: blocks"), "{text}");
}

#[test]
fn explanations_of_kueue_name_levels_and_domains() {
    let options = KueueOptions { level: Some(kueue::Level::Switch(0)), ..KueueOptions::default() };
    let free: Vec<u32> = (0..3).chain(4..10).chain(12..16).collect();
    let text = explained(A, RuleOptions::Kueue(options), &free, 5, 0);
    for line in [
        "level 0: no domain has enough (5 needed, at most 4 in one domain)",
        "level 1: one domain has enough (5 needed, at most 7 in one domain)",
        "s1-1 | 6 | 6 | 5",
        "from these leaves, the first free nodes are taken, ordered by the paths of their names",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let required = KueueOptions { mode: kueue::Mode::Required, ..options };
    let text = explained(A, RuleOptions::Kueue(required), &free, 5, 0);
    assert!(text.contains("the job waits"), "{text}");
}

proptest::proptest! {
    /// The comparisons in an explanation select the base blocks that the rule takes; `explain_choice` asserts this.
    #[test]
    fn explained_choices_are_the_choices_of_the_rule(
        busy in proptest::collection::vec(0..3u32, 144),
        machine in 0..4usize,
        size in 2..60u32,
        segment in proptest::option::of(2..8u32),
        spread: bool,
    ) {
        let name = [D, E, G, N][machine];
        let nodes = self::machine(name).processors() as u32;
        let free: Vec<u32> = (0..nodes).filter(|&node| busy[node as usize] > 0).collect();
        let options = BlockOptions { segment, spread, lenient: true, ..BlockOptions::default() };
        explained(name, RuleOptions::Block(options), &free, size, 0);
    }
}
