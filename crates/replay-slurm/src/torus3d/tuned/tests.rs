use proptest::prelude::*;

use crate::placement::menu::{Anchors, Menu};
use crate::torus3d::tuned::*;
use replay_engine::allocator::{Allocator, MachineEvent, Request, RunSetup, Times};
use replay_engine::machine::Machine;
use replay_engine::topology::{NodeId, Topology};

/// Returns a ring of four processors with boxes of one, two and four processors.
fn ring() -> Ties {
    let topology: Topology = "torus:4x1x1".parse().expect("a machine");
    let menu: Menu = "list:1x1x1+2x1x1+4x1x1".parse().expect("a menu");
    let grid = topology.grid().expect("a grid");
    Ties::new(menu.torus(grid, Anchors::Aligned, false).expect("a torus"))
}

fn query(size: u32, now: u64, worth: &[u64]) -> TieQuery<'_> {
    let (weights, filter) = SelectionRule::Slurm.terms();
    TieQuery { size, weights, filter, worth, now, estimate: 10, has_estimate: true }
}

/// The losses of shadows agree with results computed by hand.
#[test]
fn losses_agree_with_manual_results() {
    let ties = ring();
    let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
    let tuning = Tuning { shadows: 1, every: 1000, memory: 1000 };
    let mut tuner = Tuner::new(&ties, layout, Some(CandidateFilter::All), tuning, 3);
    tuner.shadows[0].point = 0;
    assert_eq!(tuner.points[0].rule, SelectionRule::Slurm);
    let worth = vec![1; ties.torus().placements().len()];
    let start = |tuner: &mut Tuner, job, size, now| {
        tuner.advance_to(now);
        tuner.start(job, &query(size, now, &worth), now + 10, &CancelToken::new());
    };
    // Four jobs of one processor start at 0 s. The second and the fourth job end before the next request at 10 s.
    (0..4).for_each(|job| start(&mut tuner, job, 1, 0));
    tuner.end(1);
    tuner.end(3);
    tuner.advance_to(10);
    assert_eq!(tuner.shadows[0].loss, 0.0);
    // Two processors are free, but they are not adjacent, so a job of two processors is refused on both machines. The
    // loss is two processors for 5 s.
    tuner.refused(2);
    // A later refusal does not change the losses. A job that starts changes only the number of free processors.
    tuner.refused(4);
    tuner.advance_to(15);
    assert_eq!(tuner.shadows[0].loss, 10.0);
    start(&mut tuner, 4, 1, 15);
    // One processor is free: too few for the waiting job, so no box is missing.
    tuner.advance_to(20);
    assert_eq!(tuner.shadows[0].loss, 10.0);
    // The real machine placed earlier jobs better than the shadow, so the real machine has a free box for the job. The
    // job found no box on the shadow.
    tuner.end(4);
    start(&mut tuner, 5, 2, 21);
    tuner.advance_to(24);
    assert_eq!(tuner.shadows[0].loss, 10.0 + 3.0 * 2.0);
    tuner.end(5);
    tuner.advance_to(25);
    tuner.advance_to(30);
    assert_eq!(tuner.shadows[0].loss, 10.0 + 4.0 * 2.0);
}

/// Events, each consisting of a number in 0..1 and a flag that is set if a job ends. The number selects the size of a
/// starting job, or the job that ends.
type History = Vec<(f64, bool)>;

fn built(machine: &str, seed: u64) -> Box<dyn Allocator> {
    let name = match seed % 3 {
        0 => "placements[tie=auto,shadows=2,every=16]",
        1 => "placements[tie=auto,slack=auto,shadows=3,every=16,memory=40]",
        _ => "placements[tie=auto,shapes=first,freq=one,shadows=1,every=16]",
    };
    let topology: Topology = machine.parse().expect("a machine");
    let spec = crate::allocator(name).expect("a strategy");
    spec.build(&topology, seed).expect("works")
}

/// Returns the processors that the allocator chooses for each request.
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
            let times = Times { now, limit, submitted: None, job: None };
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

    /// Neither later events nor an earlier replay influence a choice.
    #[test]
    fn choices_depend_on_earlier_events_only(
        machine in proptest::sample::select(vec!["torus:4x4x4", "5x6", "torus:8x3"]),
        earlier in proptest::collection::vec((0.0..1.0f64, proptest::bool::weighted(0.45)), 1..160),
        futures in proptest::array::uniform2(
            proptest::collection::vec((0.0..1.0f64, proptest::bool::weighted(0.45)), 0..40)),
        seed in 0u64..50,
    ) {
        let mut allocator = built(machine, seed);
        let alone = choices(allocator.as_mut(), machine, &earlier);
        for future in futures {
            let whole: History = earlier.iter().chain(&future).copied().collect();
            allocator.begin(&RunSetup::default()).expect("it works");
            let chosen = choices(allocator.as_mut(), machine, &whole);
            prop_assert_eq!(&chosen[..alone.len()], &alone[..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Shadows that share states choose the same boxes and have the same losses as shadows that share nothing.
    #[test]
    fn shared_states_do_not_change_shadows(
        machine in proptest::sample::select(vec!["torus:4x4x4", "5x6", "torus:8x3"]),
        points in proptest::collection::vec(any::<proptest::sample::Index>(), 2..9),
        events in proptest::collection::vec((0u8..16, 0.0..1.0f64, any::<u16>()), 1..120),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        let menu: Menu = "pow2".parse().expect("a menu");
        let grid = topology.grid().expect("a grid");
        let wrapped = [machine.starts_with("torus"); 3];
        let torus = menu.torus(grid, Anchors::All, false).expect("a torus");
        let ties = Ties::with_walls(torus, wrapped);
        let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
        let new = |shadows| {
            let tuning = Tuning { shadows, every: 100_000, memory: 1000 };
            Tuner::new(&ties, layout.clone(), None, tuning, 3)
        };
        let mut shared = new(points.len() as u32);
        let mut apart: Vec<Tuner> = points.iter().map(|_| new(1)).collect();
        let sizes: Vec<u32> = ties.torus().placements().iter().map(|one| one.size).collect();
        let worth: Vec<u64> = sizes.iter().map(|&size| u64::from(size) * u64::from(size % 7)).collect();
        let cells = ties.torus().cells() as u32;
        let set = |shared: &mut Tuner, apart: &mut [Tuner], shadow: usize, point: usize| {
            shared.shadows[shadow].point = point;
            apart[shadow].shadows[0].point = point;
        };
        // Half of the shadows begin with the same rule.
        for (shadow, index) in points.iter().enumerate() {
            let point = if shadow % 2 == 0 { 0 } else { index.index(shared.points.len()) };
            set(&mut shared, &mut apart, shadow, point);
        }
        let (mut running, mut down) = (Vec::new(), Vec::<u32>::new());
        for (now, (what, share, draw)) in (0..).zip(events) {
            let now = now * 3;
            let each = |shared: &mut Tuner, apart: &mut [Tuner], act: &dyn Fn(&mut Tuner)| {
                act(shared);
                apart.iter_mut().for_each(act);
            };
            each(&mut shared, &mut apart, &|tuner| tuner.advance_to(now));
            match what {
                0..5 if !running.is_empty() => {
                    let job = running.swap_remove((share * running.len() as f64) as usize);
                    each(&mut shared, &mut apart, &|tuner| tuner.end(job));
                }
                5 => {
                    let size = sizes[usize::from(draw) % sizes.len()];
                    each(&mut shared, &mut apart, &|tuner| tuner.refused(size));
                }
                6 => {
                    let shadow = usize::from(draw) % points.len();
                    let point = (share * shared.points.len() as f64) as usize;
                    set(&mut shared, &mut apart, shadow, point);
                }
                7 => {
                    let cell = u32::from(draw) % cells;
                    if !down.contains(&cell) {
                        down.push(cell);
                        each(&mut shared, &mut apart, &|tuner| tuner.withdraw(&[cell], wrapped[0]));
                    }
                }
                8 => {
                    if let Some(cell) = down.pop() {
                        each(&mut shared, &mut apart, &|tuner| tuner.restore(&[cell]));
                    }
                }
                _ => {
                    let size = sizes[(share.powi(3) * sizes.len() as f64) as usize];
                    let estimate = 1 + u64::from(draw) % 40;
                    let query = TieQuery {
                        estimate,
                        has_estimate: draw % 3 > 0,
                        ..query(size, now, &worth)
                    };
                    let stop = CancelToken::new();
                    let end = now + estimate;
                    each(&mut shared, &mut apart, &|tuner| tuner.start(now, &query, end, &stop));
                    running.push(now);
                }
            }
            for state in &mut shared.states {
                for &shadow in &state.shadows {
                    let own = &mut apart[shadow];
                    prop_assert_eq!(&state.places, &own.states[0].places);
                    prop_assert!(state.ties.has_same_free(&own.states[0].ties));
                    prop_assert_eq!(shared.shadows[shadow].loss.to_bits(), own.shadows[0].loss.to_bits());
                }
            }
            let mut all: Vec<usize> =
                shared.states.iter().flat_map(|state| state.shadows.clone()).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..points.len()));
        }
    }
}

/// A processor that goes out of service on the real machine also goes out of service on the shadows: at once, or when
/// the job on it ends.
#[test]
fn shadows_follow_outages() {
    let ties = ring();
    let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
    let tuning = Tuning { shadows: 2, every: 1000, memory: 1000 };
    let mut tuner = Tuner::new(&ties, layout, Some(CandidateFilter::All), tuning, 3);
    tuner.shadows.iter_mut().for_each(|shadow| shadow.point = 0);
    let worth = vec![1; ties.torus().placements().len()];
    tuner.advance_to(0);
    tuner.start(7, &query(2, 0, &worth), 10, &CancelToken::new());
    let free = |tuner: &mut Tuner| tuner.states[0].ties.open().count();
    assert_eq!(free(&mut tuner), 2);
    // One processor of the job and one free processor go out of service.
    tuner.withdraw(&[0, 2], false);
    assert_eq!(free(&mut tuner), 1);
    tuner.end(7);
    tuner.advance_to(5);
    assert_eq!(free(&mut tuner), 2);
    tuner.restore(&[0, 2]);
    assert_eq!(free(&mut tuner), 4);
    // If a processor returns to service before the job on it ends, the processor never goes out of service on the
    // shadow.
    tuner.start(8, &query(4, 5, &worth), 10, &CancelToken::new());
    tuner.withdraw(&[1], true);
    tuner.restore(&[1]);
    tuner.end(8);
    tuner.advance_to(9);
    assert_eq!(free(&mut tuner), 4);
}

/// If one rule is clearly better, the tuner finds this rule. The boxes are slabs and columns that cross each other.
#[test]
fn finds_the_rule_of_least_loss() {
    let ties = ring();
    let layout = Arc::new(Layout::new(vec![ties.torus().clone()]));
    let tuning = Tuning { shadows: 4, every: 16, memory: 10_000 };
    let mut tuner = Tuner::new(&ties, layout, Some(CandidateFilter::All), tuning, 1);
    let worth: Vec<u64> = ties.torus().placements().iter().map(|one| one.size.into()).collect();
    // If two jobs of one processor each are adjacent, a box of two processors stays free. Then a job of two processors
    // is requested.
    let mut now = 0;
    for round in 0..400u64 {
        for job in 0..2 {
            tuner.advance_to(now);
            tuner.start(3 * round + job, &query(1, now, &worth), now + 100, &CancelToken::new());
        }
        tuner.advance_to(now);
        tuner.start(3 * round + 2, &query(2, now, &worth), now + 100, &CancelToken::new());
        (0..3).for_each(|job| tuner.end(3 * round + job));
        now += 100;
    }
    tuner.advance_to(now);
    let selection_rule = tuner.selection_rule();
    let mut real = ring();
    let layout = tuner.layout.clone();
    for job in 0..2 {
        let pick = selection_rule.place(&layout, &tuner.decider, &mut real, &query(1, 0, &worth));
        let pick = pick.unwrap_or_else(|| panic!("{selection_rule}: job {job} finds a place"));
        real.start([pick.placement, pick.anchor], 10, true);
    }
    assert!(real.first(2).is_some(), "{selection_rule} leaves no box of two");
}
