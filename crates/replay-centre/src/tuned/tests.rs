use std::collections::HashMap;

use crate::definition::ShellOrder;
use crate::tuned::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use replay_contract::{Bench, Event, history, starts_and_ends};
use replay_engine::allocator::loss_model::DecayingLossModel;
use replay_engine::allocator::ties::WallRule;
use replay_engine::topology::{PairDistances, Topology};

fn long_history(seed: u64, events: usize) -> Vec<Event> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut event = || {
        let share = rng.random_range(0.0..1.0);
        if rng.random_bool(0.5) { Event::End(share) } else { Event::Start(share, 0.0) }
    };
    (0..events).map(|_| event()).collect()
}

fn tuned(machine: &str, seed: u64) -> TunedMc1x1 {
    let topology: Topology = machine.parse().expect("a machine");
    let tuning = Tuning { shadows: 3, every: 4, memory: 100 };
    let grid = topology.grid().expect("a grid");
    TunedMc1x1::new(grid, CentreOptions::default(), tuning, seed % 2 == 1, seed)
}

/// Returns three numbers of processors for each shadow: the processors that are free, that are out of service, and that
/// will go out of service when their job ends.
fn counts(tuned: &TunedMc1x1) -> Vec<[usize; 3]> {
    tuned.shadows.iter().flat_map(|shadows| shadows.batch.counts()).collect()
}

fn on<A: Allocator>(machine: &str, allocator: A) -> Bench<A> {
    Bench::new(Machine::new(machine.parse().expect("a machine")), allocator)
}

/// Runs a history from the begin of a run and returns the processors that the allocator chooses for each served
/// request. Small jobs are the most frequent.
fn choices<A: Allocator>(bench: &mut Bench<A>, history: &[Event]) -> Vec<Vec<NodeId>> {
    assert!(bench.allocator.capabilities().keeps_schedule);
    let size = |machine: &Machine, share: f64, _| {
        let largest = machine.free_count().saturating_sub(1) as f64;
        Request::of_size(1 + (largest * share.powi(3)) as u32)
    };
    bench.begin();
    bench.run(history, size, |_| ());
    bench.decisions.iter().filter_map(|(_, outcome)| outcome.clone().ok()).collect()
}

const MACHINES: [&str; 4] = ["10x10", "torus:6x5", "4x3x5", "1x9"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Neither later events nor an earlier replay influence a choice.
    #[test]
    fn choices_depend_on_earlier_events_only(
        machine in proptest::sample::select(MACHINES.to_vec()),
        seed: u64,
        earlier in starts_and_ends(1..80),
        futures in [starts_and_ends(1..60), starts_and_ends(1..60)],
    ) {
        let mut bench = on(machine, tuned(machine, seed));
        let expected = choices(&mut bench, &earlier);
        for future in futures {
            let whole = [&earlier[..], &future].concat();
            let chosen = choices(&mut bench, &whole);
            prop_assert_eq!(&chosen[..expected.len()], &expected[..]);
            prop_assert_eq!(chosen, choices(&mut on(machine, tuned(machine, seed)), &whole));
        }
    }

    #[test]
    fn shadows_have_as_many_free_processors_as_the_machine(
        machine in proptest::sample::select(MACHINES.to_vec()),
        history in starts_and_ends(1..150),
    ) {
        let mut bench = on(machine, tuned(machine, 1));
        let served = choices(&mut bench, &history);
        let free = bench.machine.free_count();
        let expected = vec![[free, 0, 0]; if served.is_empty() { 0 } else { 3 }];
        prop_assert_eq!(counts(&bench.allocator), expected);
    }

    /// After outages, jobs on a shadow may still use processors that are out of service on the real machine. For each
    /// processor out of service that a job on the shadow still uses, the shadow has one additional free processor.
    #[test]
    fn shadows_follow_outages(
        machine in proptest::sample::select(MACHINES.to_vec()),
        history in history(1..150),
    ) {
        let mut bench = on(machine, tuned(machine, 1));
        bench.run(&history, any_size, |bench| {
            for [free, down, leaving] in counts(&bench.allocator) {
                assert_eq!(down + leaving, bench.machine.down_count());
                assert_eq!(free, bench.machine.free_count() + leaving);
            }
        });
        bench.end_all();
        for counts in counts(&bench.allocator) {
            prop_assert_eq!(counts, [bench.machine.processors(), 0, 0]);
        }
    }

    /// Every choice on the real machine and on each shadow equals the choice that a separate MC1x1 makes on the same
    /// machine.
    #[test]
    fn shadows_choose_like_mc1x1_alone(
        machine in proptest::sample::select(vec!["10x10", "torus:6x5", "4x3x5", "torus:3x4x4", "1x9", "9x20"]),
        history in history(1..220),
        seed: u64,
        [slack, scan, per_wall, walled] in any::<[bool; 4]>(),
    ) {
        let order = if scan { ShellOrder::Scan } else { ShellOrder::Carried };
        check_against_single_shadows(machine, history, seed, order, [slack, per_wall, walled]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn greedy_shadows_choose_like_mc1x1_alone(
        machine in proptest::sample::select(vec!["5x5", "torus:4x5", "3x3x3"]),
        history in history(1..60),
        seed: u64,
        flags: [bool; 3],
    ) {
        check_against_single_shadows(machine, history, seed, ShellOrder::Greedy, flags);
    }
}

fn check_against_single_shadows(
    machine: &str,
    history: Vec<Event>,
    seed: u64,
    order: ShellOrder,
    [slack, per_wall, walled]: [bool; 3],
) {
    let topology: Topology = machine.parse().expect("a machine");
    let tuning = Tuning { shadows: 7, every: 4, memory: 100 };
    let wall = if per_wall { WallRule::PerWall } else { WallRule::Once };
    let options = CentreOptions { wall, order, ..CentreOptions::default() };
    let tuned = TunedMc1x1::new(topology.grid().expect("a grid"), options, tuning, slack, seed);
    let distances = PairDistances::new(&topology);
    let checked = Checked { tuned, plain: Vec::new(), distances };
    let mut real = Machine::new(topology);
    real.set_down_walls(walled);
    let mut bench = Bench::new(real, checked);
    bench.run(&history, any_size, |_| ());
    bench.end_all();
}

fn any_size(_: &Machine, a: f64, b: f64) -> Request {
    Request::of_size(1 + (a * b * 20.0) as u32)
}

/// A reference shadow that is replayed separately.
struct PlainShadow {
    machine: Machine,
    /// Processors of the running jobs, by the first processor of each job on the real machine.
    held: HashMap<NodeId, Vec<NodeId>>,
    /// Processors that go out of service when their job ends.
    leaving: Vec<NodeId>,
    loss: u64,
}

impl PlainShadow {
    fn counts(&self) -> [usize; 3] {
        [self.machine.free_count(), self.machine.down_count(), self.leaving.len()]
    }

    fn on_event(&mut self, event: MachineEvent<'_>) {
        let Self { machine, held, leaving, .. } = self;
        match event {
            MachineEvent::Released(nodes) => {
                let nodes = held.remove(&nodes[0]).expect("a job");
                machine.release(&nodes);
                let gone: Vec<NodeId> = leaving.extract_if(.., |one| nodes.contains(one)).collect();
                machine.withdraw(&gone);
            }
            MachineEvent::NodesDown(nodes) => nodes.iter().for_each(|&node| {
                if machine.is_free(node) {
                    machine.withdraw(&[node]);
                } else {
                    leaving.push(node);
                }
            }),
            MachineEvent::NodesUp(nodes) => nodes.iter().for_each(|&node| {
                if machine.is_down(node) {
                    machine.restore(&[node]);
                } else {
                    leaving.retain(|&one| one != node);
                }
            }),
            _ => {}
        }
    }
}

/// Allocator wrapper that compares each choice with reference shadows at the same points.
struct Checked {
    tuned: TunedMc1x1,
    plain: Vec<PlainShadow>,
    distances: PairDistances,
}

impl Checked {
    fn compare(&self) {
        let plain = || self.plain.iter();
        assert_eq!(counts(&self.tuned), plain().map(PlainShadow::counts).collect::<Vec<_>>());
        let losses = self.tuned.shadows.iter().flat_map(|shadows| &shadows.losses);
        assert!(losses.copied().eq(plain().map(|shadow| shadow.loss)));
    }
}

impl Allocator for Checked {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let Self { tuned, plain, distances } = self;
        if plain.is_empty() {
            plain.resize_with(tuned.explorer.tuning.shadows as usize, || PlainShadow {
                machine: machine.clone(),
                held: HashMap::new(),
                leaving: Vec::new(),
                loss: 0,
            });
        }
        let served = tuned.allocate(machine, request, chosen);
        let mut alone = Vec::new();
        assert_eq!(tuned.engine_at(tuned.best).allocate(machine, request, &mut alone), served);
        assert_eq!(*chosen, alone);
        // The shadows were evaluated before this request.
        if tuned.explorer.since == u32::from(served.is_ok()) {
            plain.iter_mut().for_each(|shadow| shadow.loss = 0);
        }
        if served.is_ok() {
            let points = &tuned.shadows.as_ref().expect("there was a request").points;
            for (shadow, &point) in plain.iter_mut().zip(points) {
                let mut nodes = Vec::new();
                let engine = &mut tuned.engine_at(point);
                engine.allocate(&shadow.machine, request, &mut nodes).expect("enough are free");
                shadow.machine.occupy(&nodes);
                shadow.loss += distances.sum(&nodes);
                shadow.held.insert(chosen[0], nodes);
            }
        }
        self.compare();
        served
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        self.tuned.on_event(machine, event);
        self.plain.iter_mut().for_each(|shadow| shadow.on_event(event));
        self.compare();
    }

    fn capabilities(&self) -> Capabilities {
        self.tuned.capabilities()
    }
}

#[test]
fn the_seed_determines_the_choices() {
    let history = long_history(3, 400);
    let run = |seed| choices(&mut on("10x10", tuned("10x10", seed)), &history);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// A caller that never occupies the chosen processors gets the choice of MC1x1, not a refusal.
#[test]
fn serves_a_machine_that_never_fills() {
    let machine = Machine::new("4x4".parse().expect("a mesh"));
    let mut allocator = tuned("4x4", 1);
    for _ in 0..50 {
        let mut chosen = Vec::new();
        assert_eq!(allocator.allocate(&machine, Request::of_size(5), &mut chosen), Ok(()));
        assert_eq!(chosen.len(), 5);
    }
}

/// On a machine that is nearly full all the time, distances are smaller with tuned ties than without tie-breaking.
#[test]
fn tuning_reduces_distances() {
    let history = long_history(11, 8000);
    let topology: Topology = "10x10".parse().expect("a mesh");
    let grid = topology.grid().expect("a grid");
    let mut distances = PairDistances::new(&topology);
    let mut total =
        |chosen: Vec<Vec<NodeId>>| -> u64 { chosen.iter().map(|nodes| distances.sum(nodes)).sum() };
    let options = CentreOptions::default();
    let untied = total(choices(&mut on("10x10", Mc1x1::new(grid, options)), &history));
    for slack in [false, true] {
        let tuning = Tuning { shadows: 12, every: 64, ..DEFAULT_TUNING };
        let tuned = TunedMc1x1::new(grid, options, tuning, slack, 0);
        let tuned = total(choices(&mut on("10x10", tuned), &history));
        assert!(tuned < untied, "{slack} {tuned} {untied}");
    }
}

fn points_of(machine: &str) -> Vec<Point> {
    let topology: Topology = machine.parse().expect("a machine");
    points(topology.grid().expect("a grid"), Some(Slack::NONE))
}

#[test]
fn points_contain_every_division_at_every_radius() {
    let radii = |machine| {
        let mut radii: Vec<_> = points_of(machine).iter().map(|p| p.vector.scan_radius).collect();
        radii.dedup();
        radii
    };
    assert_eq!(radii("1x1"), [1]);
    assert_eq!(radii("10x10"), [1, 2, 3, 4, 5]);
    assert_eq!(radii("16x32"), [1, 2, 3, 4, 5, 6, 8, 10, 13]);
    let all = points_of("10x10");
    assert_eq!(all.len(), 5 * 91);
    let parts = |v: TieVector| v.available + v.wall + v.border;
    assert!(all.iter().all(|p| parts(p.vector) == PARTS && !p.vector.is_indifferent()));

    let topology: Topology = "10x10".parse().expect("a machine");
    let all = points(topology.grid().expect("a grid"), None);
    assert_eq!(all.len(), SLACKS.len() * 5 * 91);
    let last = all.last().expect("points");
    assert_eq!((last.step as usize + 1, last.slack.to_string().as_str()), (6, "0.4"));
}

/// If noisy losses increase with the distance from a vector, the best point is near this
/// vector.
#[test]
fn the_best_point_is_near_the_least_loss() {
    let points = points_of("10x10");
    let mut model = DecayingLossModel::new(points.len());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let loss = |v: TieVector| {
        let off = (v.available - 6).abs() + (v.wall - 4).abs() + (v.border - 2).abs();
        off + 2 * (v.scan_radius as i32 - 3).abs()
    };
    for _ in 0..3000 {
        let point = model.draw(&mut rng);
        let noise = rng.random_range(-20..=20);
        let lost = 100.0 * f64::from(loss(points[point].vector) + noise);
        model.observe(100.0, lost, |other| points[point].distance(&points[other]));
    }
    let found = points[model.best()].vector;
    assert!(loss(found) <= 4, "{found}");
}
