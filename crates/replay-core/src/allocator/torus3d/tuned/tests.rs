use proptest::prelude::*;

use super::*;
use crate::allocator::registry::AllocatorSpec;
use crate::allocator::{Allocator, MachineEvent, Request, RunSetup, Times};
use crate::machine::Machine;
use crate::placement::menu::{Anchors, Menu};
use crate::topology::{NodeId, Topology};

/// A ring of four with boxes of one, two and four.
fn ring() -> Ties {
    let topology: Topology = "torus:4x1x1".parse().expect("a machine");
    let menu: Menu = "list:1x1x1+2x1x1+4x1x1".parse().expect("a menu");
    let grid = topology.grid().expect("a grid");
    Ties::new(menu.torus(grid, Anchors::Aligned, false).expect("a torus"))
}

fn question(size: u32, now: u64, worth: &[u64]) -> Question<'_> {
    let (handles, rivals) = SelectionRule::Slurm.terms();
    Question { size, handles, rivals, worth, now, estimate: 10, told: true }
}

/// What shadows lose, by hand.
#[test]
fn shadows_lose_what_they_cannot_use() {
    let ties = ring();
    let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
    let tuning = Tuning { shadows: 1, every: 1000, memory: 1000 };
    let mut tuner = Tuner::new(&ties, layout, Some(CandidateFilter::All), tuning, 3);
    tuner.shadows[0].point = 0;
    assert_eq!(tuner.ways[0].way, SelectionRule::Slurm);
    let worth = vec![1; ties.torus().placements().len()];
    let start = |tuner: &mut Tuner, job, size, now| {
        tuner.ask(now);
        tuner.start(job, &question(size, now, &worth), now + 10, &CancelToken::new());
    };
    // Four jobs of one at 0; the second and the fourth end before the next request, at 10.
    (0..4).for_each(|job| start(&mut tuner, job, 1, 0));
    tuner.end(1);
    tuner.end(3);
    tuner.ask(10);
    assert_eq!(tuner.shadows[0].loss, 0.0);
    // Two are free, but apart: a job of two is refused, here and there. It costs two for 5.
    tuner.refused(2);
    // Who is refused after it changes nothing, nor does a job that starts before it but the room.
    tuner.refused(4);
    tuner.ask(15);
    assert_eq!(tuner.shadows[0].loss, 10.0);
    start(&mut tuner, 4, 1, 15);
    // One is free: too few for the job that waits, so that no box is missing.
    tuner.ask(20);
    assert_eq!(tuner.shadows[0].loss, 10.0);
    // The real machine, which chose better, has room for it: it is missing there.
    tuner.end(4);
    start(&mut tuner, 5, 2, 21);
    tuner.ask(24);
    assert_eq!(tuner.shadows[0].loss, 10.0 + 3.0 * 2.0);
    tuner.end(5);
    tuner.ask(25);
    tuner.ask(30);
    assert_eq!(tuner.shadows[0].loss, 10.0 + 4.0 * 2.0);
}

/// Starts and ends: a share of what is free or of what runs, and whether a job ends.
type History = Vec<(f64, bool)>;

fn built(machine: &str, seed: u64) -> Box<dyn Allocator> {
    let name = match seed % 3 {
        0 => "placements[tie=auto,shadows=2,every=16]",
        1 => "placements[tie=auto,slack=auto,shadows=3,every=16,memory=40]",
        _ => "placements[tie=auto,shapes=first,freq=one,shadows=1,every=16]",
    };
    let topology: Topology = machine.parse().expect("a machine");
    let spec: AllocatorSpec = name.parse().expect("a strategy");
    spec.build(&topology, seed).expect("works")
}

/// What the allocator chooses, request by request.
fn choices(
    allocator: &mut dyn Allocator,
    machine: &str,
    history: &History,
) -> Vec<Result<Vec<NodeId>, ()>> {
    let mut machine = Machine::new(machine.parse().expect("a machine"));
    let (mut choices, mut held) = (Vec::new(), Vec::<Vec<NodeId>>::new());
    for (now, &(share, end)) in (0..).zip(history) {
        if end && !held.is_empty() {
            let ended = held.swap_remove((share * held.len() as f64) as usize);
            machine.release(&ended);
            allocator.on_event(&machine, MachineEvent::Released(&ended));
        } else if machine.free_count() > 0 {
            let size = 1 + ((machine.free_count() - 1) as f64 * share.powi(3)) as u32;
            let limit = Some(1 + (share * 20.0) as u32);
            let times = Times { now, limit, job: None };
            let request = Request { times, ..Request::of_size(size) };
            let mut chosen = Vec::new();
            let served = allocator.allocate(&machine, request, &mut chosen);
            choices.push(served.map(|()| chosen.clone()).map_err(|_| ()));
            if !chosen.is_empty() {
                machine.occupy(&chosen);
                held.push(chosen);
            }
        }
    }
    choices
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Nothing that is still to come, and nothing of a replay before, has any influence.
    #[test]
    fn choices_depend_on_the_past_alone(
        machine in proptest::sample::select(vec!["torus:4x4x4", "5x6", "torus:8x3"]),
        past in proptest::collection::vec((0.0..1.0f64, proptest::bool::weighted(0.45)), 1..160),
        futures in proptest::array::uniform2(
            proptest::collection::vec((0.0..1.0f64, proptest::bool::weighted(0.45)), 0..40)),
        seed in 0u64..50,
    ) {
        let mut allocator = built(machine, seed);
        let alone = choices(allocator.as_mut(), machine, &past);
        for future in futures {
            let whole: History = past.iter().chain(&future).copied().collect();
            allocator.begin(&RunSetup::default()).expect("it works");
            let chosen = choices(allocator.as_mut(), machine, &whole);
            prop_assert_eq!(&chosen[..alone.len()], &alone[..]);
        }
    }
}

/// What leaves the real machine leaves the shadows, at once or with the job that is on it there.
#[test]
fn what_is_out_of_service_leaves_the_shadows_too() {
    let ties = ring();
    let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
    let tuning = Tuning { shadows: 2, every: 1000, memory: 1000 };
    let mut tuner = Tuner::new(&ties, layout, Some(CandidateFilter::All), tuning, 3);
    tuner.shadows.iter_mut().for_each(|shadow| shadow.point = 0);
    let worth = vec![1; ties.torus().placements().len()];
    tuner.ask(0);
    tuner.start(7, &question(2, 0, &worth), 10, &CancelToken::new());
    let free = |tuner: &mut Tuner| tuner.shadows[0].ties.open().count();
    assert_eq!(free(&mut tuner), 2);
    // One of the job's, and one that is free.
    tuner.withdraw(&[0, 2], false);
    assert_eq!(free(&mut tuner), 1);
    tuner.end(7);
    tuner.ask(5);
    assert_eq!(free(&mut tuner), 2);
    tuner.restore(&[0, 2]);
    assert_eq!(free(&mut tuner), 4);
    // What is back before its job ends never leaves.
    tuner.start(8, &question(4, 5, &worth), 10, &CancelToken::new());
    tuner.withdraw(&[1], true);
    tuner.restore(&[1]);
    tuner.end(8);
    tuner.ask(9);
    assert_eq!(free(&mut tuner), 4);
}

/// Where one way is plainly better, it is found: slabs and columns that cross each other.
#[test]
fn it_learns_which_way_loses_least() {
    let ties = ring();
    let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
    let tuning = Tuning { shadows: 4, every: 16, memory: 10_000 };
    let mut tuner = Tuner::new(&ties, layout, Some(CandidateFilter::All), tuning, 1);
    let worth: Vec<u64> = ties.torus().placements().iter().map(|one| one.size.into()).collect();
    // Two jobs of one, of which one box of two is left if they stand together; then that is asked for.
    let mut now = 0;
    for round in 0..400u64 {
        for job in 0..2 {
            tuner.ask(now);
            tuner.start(3 * round + job, &question(1, now, &worth), now + 100, &CancelToken::new());
        }
        tuner.ask(now);
        tuner.start(3 * round + 2, &question(2, now, &worth), now + 100, &CancelToken::new());
        (0..3).for_each(|job| tuner.end(3 * round + job));
        now += 100;
    }
    tuner.ask(now);
    let way = tuner.way();
    let mut real = ring();
    let layout = tuner.layout.clone();
    for job in 0..2 {
        let pick = way.place(&layout, &tuner.decider, &mut real, &question(1, 0, &worth));
        let pick = pick.unwrap_or_else(|| panic!("{way}: job {job} finds a place"));
        real.start([pick.placement, pick.anchor], 10, true);
    }
    assert!(real.first(2).is_some(), "{way} leaves no box of two");
}
