//! The sequences of section 4 of the specification: TV-FL and TV-A to TV-D.

use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::cubic::Cubic;
use crate::hypercube::free_list::FreeList;
use crate::hypercube::lists::CubeLists;
use crate::hypercube::tests::{cube, on};
use replay_contract::Bench;
use replay_engine::allocator::subcube::{Cube, SidesRule};
use replay_engine::allocator::{Allocator, Refusal, Request};
use replay_engine::topology::{Hypercube, NodeId};

/// A bench and the jobs J1, J2, ...
struct Stage<A> {
    n: u32,
    bench: Bench<A>,
    jobs: Vec<Vec<NodeId>>,
}

impl<A: Allocator> Stage<A> {
    fn new(n: u32, allocator: impl FnOnce(&Hypercube) -> A) -> Self {
        Self { n, bench: on(n, allocator), jobs: vec![] }
    }

    /// Starts the next job. Refused jobs are numbered too. `host` is the expected subcube of the
    /// job; the first processor of the job is the lowest processor of this subcube.
    #[track_caller]
    fn start(&mut self, x: u16, y: u16, host: &str) {
        let size = u32::from(x) * u32::from(y);
        let nodes = self.bench.serve(Request::shaped(size, Some([x, y, 1])));
        let host = cube(host);
        assert_eq!((host.text(self.n).len(), nodes[0].0), (self.n as usize, host.base));
        assert!(nodes.iter().all(|node| host.contains(node.0)), "{nodes:?}");
        self.jobs.push(nodes);
    }

    #[track_caller]
    fn fails(&mut self, x: u16, y: u16, refusal: Refusal) {
        let request = Request::shaped(u32::from(x * y), Some([x, y, 1]));
        assert_eq!(self.bench.start(request), Err(refusal));
        self.jobs.push(vec![]);
    }

    fn end(&mut self, job: usize) {
        self.bench.end(&std::mem::take(&mut self.jobs[job - 1]));
    }
}

fn texts(lists: &CubeLists, n: u32) -> Vec<String> {
    (0..=n).rev().flat_map(|k| lists.of(k)).map(|cube| cube.text(n)).collect()
}

type Afl = Auxiliary<FreeList>;

impl Stage<Afl> {
    fn afl(n: u32) -> Self {
        Self::released_to(n, Release::Literal)
    }

    fn released_to(n: u32, release: Release) -> Self {
        Self::new(n, |cube| Auxiliary::new(cube, SidesRule::Exact, release, FreeList::new(n)))
    }

    /// Checks the free list, and the auxiliary list with the owners of its cubes (`10****@1`).
    /// Cubes are in order of decreasing dimension, and in list order within a dimension.
    #[track_caller]
    fn check(&self, free: &[&str], left: &[&str]) {
        assert_eq!(texts(self.bench.allocator.subcubes.lists(), self.n), free, "free");
        let owned = |cube: Cube| {
            let owner = self.bench.allocator.owner(cube).expect("an owner");
            let job = self.jobs.iter().position(|nodes| nodes.first() == Some(&owner));
            format!("{}@{}", cube.text(self.n), job.expect("it runs") + 1)
        };
        let lists = &self.bench.allocator.lists;
        let found: Vec<String> = (0..=self.n).rev().flat_map(|k| lists.of(k)).map(owned).collect();
        assert_eq!(found, left, "left");
    }
}

#[test]
fn tv_fl() {
    let mut stage = Stage::new(6, |cube| Cubic::new(cube, SidesRule::Exact, FreeList::new(6)));
    stage.start(4, 6, "0*****");
    assert_eq!(texts(stage.bench.allocator.subcubes.lists(), 6), ["1*****"]);
    stage.start(4, 2, "100***");
    assert_eq!(texts(stage.bench.allocator.subcubes.lists(), 6), ["11****", "101***"]);
    // The subcube needs 32 processors, but only 24 processors are free.
    stage.fails(4, 6, Refusal::TooFewFree);
    assert_eq!(texts(stage.bench.allocator.subcubes.lists(), 6), ["11****", "101***"]);
}

#[test]
fn tv_a() {
    let mut stage = Stage::afl(6);
    stage.start(5, 5, "******");
    let first = ["10****@1", "111***@1", "0**10*@1", "0**111@1", "11010*@1", "110111@1"];
    stage.check(&[], &first);
    stage.start(2, 4, "111***");
    stage.check(&[], &["10****@1", "0**10*@1", "0**111@1", "11010*@1", "110111@1"]);
    stage.start(3, 3, "10****");
    let third =
        ["0**10*@1", "0**111@1", "1010**@3", "11010*@1", "100*10@3", "110111@1", "101110@3"];
    stage.check(&[], &third);
    stage.start(1, 1, "110111");
    stage.check(&[], &["0**10*@1", "0**111@1", "1010**@3", "11010*@1", "100*10@3", "101110@3"]);
    stage.start(1, 1, "101110");
    stage.check(&[], &["0**10*@1", "0**111@1", "1010**@3", "11010*@1", "100*10@3"]);
    let left = ["1010**@3", "100*10@3"];
    stage.end(1);
    stage.check(&["0*****", "1100**", "11010*", "110110"], &left);
    stage.end(4);
    stage.check(&["0*****", "110***"], &left);
    stage.end(5);
    stage.check(&["0*****", "110***", "101110"], &left);
    stage.end(2);
    stage.check(&["0*****", "11****", "101110"], &left);
    stage.end(3);
    stage.check(&["******"], &[]);
}

/// The variant of TV-A in which only cubes of one dimension remain. A cube is split, and its other
/// half stays with the owner.
#[test]
fn tv_a_splits_what_is_left() {
    let mut stage = Stage::afl(6);
    stage.start(5, 5, "******");
    stage.start(2, 4, "111***");
    stage.start(4, 4, "10****");
    stage.start(1, 1, "110111");
    stage.start(2, 4, "0**10*");
    stage.start(2, 2, "0**111");
    stage.check(&[], &["11010*@1"]);
    stage.start(1, 1, "110100");
    stage.check(&[], &["110101@1"]);
}

#[test]
fn tv_b() {
    for (release, eighth) in [
        (Release::Literal, (vec!["0*****", "1**10*"], vec![])),
        (Release::Owner, (vec!["0*****"], vec!["1**10*@3"])),
    ] {
        let mut stage = Stage::released_to(6, release);
        stage.start(4, 6, "0*****");
        stage.check(&["1*****"], &["0**10*@1"]);
        stage.start(4, 2, "0**10*");
        stage.check(&["1*****"], &[]);
        stage.start(4, 6, "1*****");
        stage.check(&[], &["1**10*@3"]);
        stage.start(4, 2, "1**10*");
        stage.check(&[], &[]);
        stage.fails(4, 6, Refusal::TooFewFree);
        stage.end(1);
        stage.check(&["0**0**", "0**11*"], &[]);
        stage.end(2);
        stage.check(&["0*****"], &[]);
        stage.end(4);
        stage.check(&eighth.0, &eighth.1);
        stage.end(3);
        stage.check(&["******"], &[]);
    }
}

/// The two jobs of figure 3.1: after a job of 2 x 5, a job of 2 x 3 does not fit on sixteen
/// processors.
#[test]
fn tv_c() {
    let mut stage = Stage::afl(4);
    stage.start(2, 5, "****");
    stage.check(&[], &["*10*@1", "*111@1"]);
    stage.fails(2, 3, Refusal::TooFewFree);
    stage.start(2, 2, "*10*");
    stage.start(1, 2, "*111");
    stage.check(&[], &[]);
    stage.end(1);
    stage.check(&["*0**", "*110"], &[]);
    stage.end(3);
    stage.check(&["*0**", "*10*", "*110"], &[]);
    stage.end(4);
    stage.check(&["****"], &[]);
}

#[test]
fn tv_d() {
    let mut stage = Stage::afl(10);
    stage.start(20, 30, "**********");
    let left = ["10********@1", "111*******@1", "0****1000*@1", "110**1000*@1"];
    stage.check(&[], &left);
    stage.start(16, 16, "10********");
    stage.start(7, 9, "111*******");
    let left = [
        "0****1000*@1",
        "111***10**@3",
        "111***111*@3",
        "110**1000*@1",
        "111***1101@3",
        "1111000***@3",
        "1111001100@3",
    ];
    stage.check(&[], &left);
    stage.end(1);
    let free = texts(stage.bench.allocator.subcubes.lists(), 10);
    assert_eq!(free, ["0*********", "110*******"]);
    stage.end(3);
    let free = texts(stage.bench.allocator.subcubes.lists(), 10);
    assert_eq!(free, ["0*********", "11********"]);
    stage.end(2);
    stage.check(&["**********"], &[]);
}

#[test]
fn subcubes_do_not_return_to_an_ended_owner() {
    let mut stage = Stage::released_to(4, Release::Owner);
    stage.start(2, 5, "****");
    stage.start(2, 2, "*10*");
    stage.end(1);
    stage.check(&["*0**", "*11*"], &[]);
    // A later job has the same lowest processor as the owner that has ended, but the later job did
    // not lend any subcube.
    stage.start(2, 3, "*0**");
    stage.end(2);
    stage.check(&["*1**"], &["*010@3"]);
}
