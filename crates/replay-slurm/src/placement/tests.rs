//! Test vectors of the rule: the vectors of Slurm's own tests (161.1), and vectors written for
//! replay.

use crate::placement::cases::format_pick;
use crate::placement::config::Config;
use crate::placement::decide::{Decider, Pick};
use crate::placement::fragmentation::{fragmentation, most};
use crate::placement::segments::{Contradiction, Denied, Request, place};
use crate::placement::torus::{Cells, Layout};

/// Machine U of Slurm's tests: 4x4x2, described as two regions. Each of the two regions is one
/// plane of the machine.
const U: &str = "
- topology: u
  torus3d:
    toruses:
      name: t
      dims: {x: 4, y: 4, z: 2}
      regions:
        - {dims: {x: 4, y: 4, z: 1}, nodes: 'node[1-16]'}
        - {anchor: {z: 1}, dims: {x: 4, y: 4, z: 1}, nodes: 'node[17-32]'}
      placements:
        - dims: {x: 2, y: 2, z: 2}
        - dims: {x: 2, y: 2, z: 1}
        - dims: {x: 4, y: 4, z: 2}
";

/// A machine and its free nodes.
struct Bench {
    layout: Layout,
    decider: Decider,
    free: Vec<Cells>,
    weights: Option<Vec<u64>>,
}

/// Sides, spacing and seed of a placement; if the spacing is 0, the sides are used as the spacing.
type Box3 = ([u16; 3], [u16; 3], [u16; 3]);

fn aligned(sides: [u16; 3]) -> Box3 {
    (sides, [0; 3], [0; 3])
}

fn map([x, y, z]: [u16; 3]) -> String {
    format!("{{x: {x}, y: {y}, z: {z}}}")
}

/// Formats a torus as YAML.
fn yaml(name: &str, sides: [u16; 3], nodes: &str, placements: &[Box3]) -> String {
    let mut text = format!("    - name: {name}\n      dims: {}\n      {nodes}\n", map(sides));
    text.push_str("      placements:\n");
    for &(sides, spacing, seed) in placements {
        text.push_str(&format!(
            "      - {{dims: {}, anchor_spacing: {}, anchor_seed: {}}}\n",
            map(sides),
            map(spacing),
            map(seed)
        ));
    }
    text
}

impl Bench {
    fn read(text: &str) -> Self {
        let config = Config::read(text, "test.yaml", None, None).expect("a good file");
        let layout = config.layout;
        let (decider, free) = (Decider::new(&layout), layout.all());
        Self { layout, decider, free, weights: None }
    }

    fn new(toruses: &[String]) -> Self {
        let head = "- topology: t\n  torus3d:\n    toruses:\n".to_string();
        Self::read(&(head + &toruses.concat()))
    }

    /// Creates a machine of one torus without holes.
    fn of(sides: [u16; 3], placements: &[Box3]) -> Self {
        let last = sides.iter().map(|&side| u32::from(side)).product::<u32>() - 1;
        Self::new(&[yaml("t", sides, &format!("nodes: 'n[0-{last}]'"), placements)])
    }

    fn busy(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        self.take(nodes);
        self
    }

    fn take(&mut self, nodes: impl IntoIterator<Item = u32>) {
        for node in nodes {
            let (torus, cell) = self.layout.place(node);
            self.free[torus].remove(cell);
        }
    }

    fn cells(&self, nodes: &[u32]) -> Option<Vec<Cells>> {
        Some(self.layout.cells_of(nodes.iter().copied()))
    }

    fn ask(&mut self, request: &Request) -> Result<Vec<Pick>, Denied> {
        let mut machine = self.decider.machine(&self.layout, self.free.clone());
        place(&self.decider, &self.layout, &mut machine, request, self.weights.as_deref())
    }

    /// Returns the nodes of a request in ascending order, and the formatted picks.
    fn place(&mut self, request: &Request) -> Result<(Vec<u32>, Vec<String>), Denied> {
        let picks = self.ask(request)?;
        let mut job = self.layout.none();
        for pick in &picks {
            let placement = &self.layout.toruses()[pick.torus].placements()[pick.placement];
            job[pick.torus].insert_all(placement.mask(pick.anchor));
        }
        let nodes = self.layout.nodes_of(&job).collect();
        Ok((nodes, picks.iter().map(|pick| format_pick(&self.layout, pick)).collect()))
    }

    /// Takes the nodes of a request; returns them and the formatted picks.
    fn start(&mut self, size: u32) -> Result<(Vec<u32>, String), Denied> {
        let (nodes, picks) = self.place(&Request { size, ..Request::default() })?;
        self.take(nodes.iter().copied());
        Ok((nodes, picks.concat()))
    }

    fn fragmentation(&self) -> u64 {
        fragmentation(&self.layout, &self.free)
    }
}

fn of(size: u32) -> Request {
    Request { size, ..Request::default() }
}

fn parts(size: u32, segment: u32) -> Request {
    Request { size, segment: Some(segment), ..Request::default() }
}

/// Adds 1 to each node number, because Slurm's tests number the nodes from 1.
fn from_one(nodes: &[u32]) -> Vec<u32> {
    nodes.iter().map(|node| node + 1).collect()
}

/// The result of a job that never starts.
fn never<T>(reason: Contradiction) -> Result<T, Denied> {
    Err(Denied::BadConfiguration(reason))
}

#[test]
fn u1_to_u9_slurms_own_tests() {
    let [u1, u2] = [4, 8].map(|size| Bench::read(U).start(size).expect("fits"));
    assert_eq!((from_one(&u1.0), &u1.1[..]), (vec![1, 2, 5, 6], "t:2x2x1@0-0-0:1"));
    let eight = vec![1, 2, 5, 6, 17, 18, 21, 22];
    assert_eq!((from_one(&u2.0), &u2.1[..]), (eight.clone(), "t:2x2x2@0-0-0:1"));
    assert_eq!(Bench::read(U).start(32).expect("U3").0.len(), 32);
    assert_eq!(Bench::read(U).start(3), never(Contradiction::NoSuchSize(3)));
    let mut u5 = Bench::read(U);
    assert_eq!(from_one(&u5.start(4).expect("fits").0), [1, 2, 5, 6]);
    let second = u5.start(4).expect("fits");
    assert_eq!((from_one(&second.0), &second.1[..]), (vec![17, 18, 21, 22], "t:2x2x1@0-0-1:0"));
    let mut u6 = Bench::read(U).busy([2, 3, 6, 7]);
    assert_eq!(u6.fragmentation(), 44);
    let started = u6.start(4).expect("fits");
    assert_eq!((from_one(&started.0), &started.1[..]), (vec![19, 20, 23, 24], "t:2x2x1@2-0-1:0"));
    assert_eq!(u6.fragmentation(), 48);
    let mut u7 = Bench::read(U).busy(0..16);
    assert_eq!(u7.start(8), Err(Denied::NoFit));
    assert_eq!(from_one(&u7.start(4).expect("fits").0), [17, 18, 21, 22]);
    let picks = Bench::read(U).place(&parts(16, 8)).expect("U8").1;
    assert_eq!(picks, ["t:2x2x2@0-0-0:1", "t:2x2x2@0-2-0:0"]);
    assert_eq!(Bench::read(U).place(&parts(8, 3)), never(Contradiction::NotAMultiple(8, 3)));
}

fn v1() -> Bench {
    Bench::of([4, 4, 2], &[aligned([2, 2, 1]), aligned([2, 2, 2]), aligned([4, 4, 2])])
}

#[test]
fn v1_fills_a_torus_with_minimum_loss() {
    let mut bench = v1();
    assert_eq!((bench.fragmentation(), most(&bench.layout)), (0, 32 + 32 + 32));
    let mut seen = Vec::new();
    for _ in 0..8 {
        let (nodes, pick) = bench.start(4).expect("fits");
        let cost = pick.rsplit(':').next().map(str::to_string);
        seen.push((nodes[0], cost.expect("a cost"), bench.fragmentation()));
    }
    let expected = [
        (0, 1, 44),
        (16, 0, 48),
        (8, 1, 60),
        (24, 0, 64),
        (2, 1, 76),
        (18, 0, 80),
        (10, 1, 92),
        (26, 0, 96),
    ];
    assert_eq!(seen, expected.map(|(node, cost, f)| (node, cost.to_string(), f)));
    assert_eq!(bench.start(4), Err(Denied::NoFit));
}

#[test]
fn v2_to_v4_costs_count_only_within_an_orientation() {
    let orientations =
        |one, two| Bench::of([4, 4, 1], &[aligned(one), aligned(two), aligned([2, 2, 1])]);
    let (tall, wide) = ([1, 2, 1], [2, 1, 1]);
    let mut v2 = orientations(tall, wide).busy([0]);
    assert_eq!(v2.fragmentation(), 8);
    assert_eq!(v2.start(2), Ok((vec![1, 5], "t:1x2x1@1-0-0:0".into())));
    assert_eq!(v2.fragmentation(), 12);
    let mut v3 = orientations(tall, wide).busy([0, 1]);
    assert_eq!(v3.fragmentation(), 10);
    assert_eq!(v3.start(2), Ok((vec![8, 12], "t:1x2x1@0-2-0:1".into())));
    assert_eq!(v3.fragmentation(), 20);
    let mut v4 = orientations(wide, tall).busy([0]);
    assert_eq!(v4.start(2), Ok((vec![4, 5], "t:2x1x1@0-1-0:0".into())));
}

#[test]
fn v5_visits_every_multiple_of_the_common_divisor() {
    for (busy, nodes, at) in [(0, [1, 2, 3], 1), (1, [0, 2, 3], 2), (2, [0, 1, 3], 3)] {
        let mut bench = Bench::of([4, 1, 1], &[aligned([3, 1, 1])]).busy([busy]);
        assert_eq!(bench.start(3), Ok((nodes.to_vec(), format!("t:3x1x1@{at}-0-0:0"))));
    }
}

#[test]
fn v6_to_v8_keep_the_order_of_the_file_and_consider_only_the_next_placement() {
    let placements =
        [aligned([2, 2, 2]), ([4, 2, 1], [2, 2, 1], [0; 3]), ([4, 2, 1], [0; 3], [1, 0, 0])];
    let mut v6 = Bench::of([4, 4, 2], &placements).busy([0, 16]);
    assert_eq!(v6.fragmentation(), 56);
    let eight = vec![8, 9, 12, 13, 24, 25, 28, 29];
    assert_eq!(v6.start(8).expect("fits").0, eight);
    assert_eq!(v6.fragmentation(), 112);
    let sides = [[1, 1, 1], [2, 1, 1], [1, 2, 1], [2, 2, 2]].map(aligned);
    let mut v7 = Bench::of([4, 2, 2], &sides).busy([0]);
    assert_eq!(v7.start(1), Ok((vec![1], "t:1x1x1@1-0-0:0".into())));
    let mut v8 = Bench::of([4, 2, 2], &sides);
    assert_eq!(v8.start(2), Ok((vec![0, 1], "t:2x1x1@0-0-0:1".into())));
}

#[test]
fn v9_to_v11_prefer_weights_then_the_fuller_torus() {
    let mut v9 = v1();
    v9.weights = Some((0..32).map(|node| if node < 16 || node == 31 { 2 } else { 1 }).collect());
    assert_eq!(v9.start(4), Ok((vec![16, 17, 20, 21], "t:2x2x1@0-0-1:1".into())));
    let two = || {
        let torus = |name, hosts| yaml(name, [4, 2, 1], hosts, &[aligned([2, 2, 1])]);
        Bench::new(&[torus("a", "nodes: 'n[0-7]'"), torus("b", "nodes: 'n[8-15]'")])
    };
    let mut v10 = two().busy([10, 11, 14, 15]);
    assert_eq!(v10.start(4).expect("fits").0, [8, 9, 12, 13]);
    let (nodes, picks) = two().place(&parts(8, 4)).expect("V11");
    assert_eq!(nodes, (0..8).collect::<Vec<_>>());
    assert_eq!(picks, ["a:2x2x1@0-0-0:0", "a:2x2x1@2-0-0:0"]);
}

#[test]
fn v12_never_takes_a_hole() {
    let hole = || {
        let regions = "regions: [{dims: {x: 4, y: 1, z: 1}, nodes: 'n[0-3]'}, \
                       {anchor: {y: 1}, dims: {x: 3, y: 1, z: 1}, nodes: 'n[4-6]'}]";
        Bench::new(&[yaml("t", [4, 2, 1], regions, &[aligned([1; 3]), aligned([2, 2, 1])])])
    };
    assert_eq!(hole().start(1), Ok((vec![0], "t:1x1x1@0-0-0:1".into())));
    assert_eq!(hole().busy([0]).start(1), Ok((vec![4], "t:1x1x1@0-1-0:0".into())));
    assert_eq!(hole().start(4).expect("fits").0, [0, 1, 4, 5]);
    assert_eq!(hole().busy([0, 1, 4, 5]).start(4), Err(Denied::NoFit));
}

#[test]
fn v13_and_v14_required_nodes() {
    let mut bench = v1();
    let needing = |bench: &Bench, request: Request, nodes: &[u32]| Request {
        required: bench.cells(nodes),
        ..request
    };
    let request = needing(&bench, of(4), &[5]);
    assert_eq!(bench.place(&request).expect("fits").0, [0, 1, 4, 5]);
    let request = needing(&bench, of(4), &[5, 6]);
    assert_eq!(bench.place(&request), Err(Denied::NoFit));
    let all = [0, 1, 4, 5, 16, 17, 20, 21];
    let request = needing(&bench, parts(8, 4), &all);
    assert_eq!(bench.place(&request).expect("fits").0, all);
    let request = needing(&bench, parts(8, 4), &[0, 1]);
    assert_eq!(bench.place(&request), never(Contradiction::SomeRequired(2, 8)));
    let request = needing(&bench, of(4), &[0, 1, 4, 5, 6]);
    assert_eq!(bench.place(&request), Err(Denied::RequiredTooMany));
    bench.take([5]);
    let request = needing(&bench, of(4), &[5]);
    assert_eq!(bench.place(&request), Err(Denied::RequiredBusy));
}

#[test]
fn rejects_required_nodes_of_a_torus_without_placements() {
    let with = yaml("a", [2, 1, 1], "nodes: 'n[0-1]'", &[aligned([2, 1, 1])]);
    let without = "    - {name: b, dims: {x: 2, y: 1, z: 1}, nodes: 'm[0-1]'}\n".to_string();
    let mut bench = Bench::new(&[with, without]);
    let required = bench.cells(&[2]);
    let request = Request { size: 2, required, ..Request::default() };
    assert_eq!(bench.place(&request), Err(Denied::RequiredElsewhere));
}

#[test]
fn v15_to_v17_segments_are_retried_with_one_node_less() {
    let mut v15 = Bench::of([4, 4, 1], &[([2, 2, 1], [1; 3], [0; 3])]).busy([1, 2, 4, 5, 7, 11]);
    let (nodes, picks) = v15.place(&parts(8, 4)).expect("V15");
    assert_eq!(nodes, [0, 3, 9, 10, 12, 13, 14, 15]);
    assert_eq!(picks, ["t:2x2x1@1-2-0:0", "t:2x2x1@3-3-0:0"]);
    let ring = || Bench::of([6, 1, 1], &[([2, 1, 1], [1; 3], [2, 0, 0])]);
    assert_eq!(ring().busy([0, 5]).place(&parts(4, 2)), Err(Denied::SegmentNoFit));
    let (nodes, picks) = ring().busy([0, 3]).place(&parts(4, 2)).expect("V17");
    assert_eq!(nodes, [1, 2, 4, 5]);
    assert_eq!(picks, ["t:2x1x1@4-0-0:0", "t:2x1x1@1-0-0:0"]);
}

#[test]
fn an_exact_search_finds_solutions_that_retries_miss() {
    let exact = |size, segment| Request { exact: true, ..parts(size, segment) };
    // Test vector V16: exactly as many nodes are free as the job needs.
    let ring = || Bench::of([6, 1, 1], &[([2, 1, 1], [1; 3], [2, 0, 0])]).busy([0, 5]);
    assert_eq!(ring().place(&parts(4, 2)), Err(Denied::SegmentNoFit));
    assert_eq!(ring().place(&exact(4, 2)).expect("fits").0, [1, 2, 3, 4]);
    assert_eq!(ring().busy([1]).place(&exact(4, 2)), Err(Denied::SegmentNoFit));
    assert_eq!(ring().busy([1, 2, 3]).place(&exact(4, 2)), Err(Denied::NoFit));
    // If the segments can be placed one after the other, there is no exact search.
    let v8 = v1().place(&parts(16, 8)).expect("fits");
    assert_eq!(v1().place(&exact(16, 8)), Ok(v8));
}

#[test]
fn v18_several_orientations_of_several_sizes() {
    let mut sides = Vec::new();
    for box3 in [[2, 2, 2], [2, 2, 4], [4, 4, 4], [8, 8, 8]] {
        let [a, b, c] = box3;
        let mut all = vec![[a, b, c], [a, c, b], [c, a, b]];
        all.sort_unstable();
        all.dedup();
        sides.extend(all);
    }
    let placements: Vec<Box3> = sides.into_iter().map(aligned).collect();
    let mut bench = Bench::of([8, 8, 8], &placements);
    let picks = [64, 8, 16, 8, 64, 16, 8].map(|size| bench.start(size).expect("fits").1);
    let expected = [
        "4x4x4@0-0-0:1",
        "2x2x2@0-0-4:1",
        "2x2x4@0-2-4:0",
        "2x2x2@0-0-6:0",
        "4x4x4@0-4-0:0",
        "2x2x4@2-0-4:0",
        "2x2x2@0-4-4:1",
    ];
    assert_eq!(picks, expected.map(|pick| format!("t:{pick}")));
    assert_eq!(bench.fragmentation(), 1560);
}

mod random;
