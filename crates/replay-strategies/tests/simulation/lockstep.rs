use proptest::prelude::*;

use super::*;
use replay_centre::{CentreOptions, ShellOrder};
use replay_engine::allocator::ties::{
    Slack, SlackRule, TieBreaking, TieConfig, TieVector, WallRule,
};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Decision, Decisions, Starts};
use replay_engine::topology::{PairDistances, Topology};
use replay_engine::workload::Job;

/// Generates jobs of at most `most` processors.
fn jobs(most: u32) -> impl Strategy<Value = Vec<Job>> {
    let row = (1..=most, 0i64..30, 1i64..90);
    proptest::collection::vec(row, 1..60).prop_map(|rows| {
        let mut submit = 0;
        let of = |(place, (size, gap, run)): (usize, (u32, i64, i64))| {
            submit += gap;
            let number = place as i64 + 1;
            Job { number, ..Job::exact(submit, run, size) }
        };
        rows.into_iter().enumerate().map(of).collect()
    })
}

fn vectors() -> impl Strategy<Value = Vec<(Option<TieVector>, Slack)>> {
    let vector = (0u32..4, -2i32..5, -2i32..5, -2i32..5).prop_map(|(scan_radius, a, w, b)| {
        TieVector { scan_radius, available: a, wall: w, border: b }
    });
    let slack = prop_oneof![3 => Just("0"), 1 => Just("0.05"), 1 => Just("0.5")];
    let slack = slack.prop_map(|text| -> Slack { text.parse().expect("a slack") });
    let vector = proptest::option::weighted(0.9, vector);
    let few = proptest::collection::vec((vector.clone(), slack.clone()), 1..14);
    // Many vectors with the same slack. Either all values of the vectors fit into 32 bits, or some
    // values do not.
    let many =
        (proptest::collection::vec(vector, 14..50), slack, prop_oneof![Just(1), Just(200_000)]);
    let many = many.prop_map(|(vectors, slack, times)| {
        let scaled = |vector: TieVector| TieVector {
            available: times * vector.available,
            wall: times * vector.wall,
            border: times * vector.border,
            ..vector
        };
        vectors.into_iter().map(|vector| (vector.map(scaled), slack)).collect()
    });
    prop_oneof![few, many]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Each configuration makes the same decisions as in a separate replay.
    #[test]
    fn each_configuration_decides_as_in_a_separate_replay(
        machine in prop_oneof![Just("5x5"), Just("4x7"), Just("torus:5x6"), Just("3x3x4"), Just("1x9")],
        jobs in jobs(9),
        vectors in vectors(),
        per_wall: bool,
        scan: bool,
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        let grid = topology.grid().expect("a grid");
        let options = CentreOptions {
            wall: if per_wall { WallRule::PerWall } else { WallRule::Once },
            order: if scan { ShellOrder::Scan } else { ShellOrder::Carried },
            ..CentreOptions::default()
        };
        let stop = CancelToken::new();
        let mut fcfs = SchedulerSpec::fcfs().build(grid.processors() as u32);
        let timeline = Timeline::compute(&jobs, grid.processors() as u32, fcfs.as_mut(), &stop)
            .expect("a timeline");
        let alone = |&(tie, slack): &(Option<TieVector>, Slack)| {
            let name = format!(
                "mc1x1[wall={},order={}]",
                if per_wall { "per-wall" } else { "once" },
                if scan { "scan" } else { "carried" },
            );
            let spec = replay_strategies::allocator(&name).expect("legal");
            let breaking = TieBreaking { tie: tie.into(), slack: SlackRule::Fixed(slack) };
            let spec = spec.with_tie_breaking(breaking).expect("legal");
            let mut allocator = spec.build(&topology, 0).expect("it can be built");
            let mut distances = PairDistances::new(&topology);
            let mut sums = Vec::new();
            let decisions = &mut Decisions(|decision: Decision<'_>| {
                sums.push((decision.job, distances.sum(decision.nodes)));
            });
            let simulation = Simulation::new(&jobs, &topology, &stop);
            simulation.run(Starts::Timeline(&timeline), &mut *allocator, decisions).expect("it runs");
            sums
        };
        let configs = vectors.iter().map(|&(tie, slack)| TieConfig::new(tie, slack)).collect();
        let mut batch = replay_centre::BatchReplay::new(&Machine::new(topology.clone()), grid, options, configs);
        let mut batched = vec![Vec::new(); vectors.len()];
        let simulation = Simulation::new(&jobs, &topology, &stop);
        let decided = simulation.lockstep(&timeline, &mut batch, &mut |job, placed| {
            for &config in placed.configs.iter() {
                batched[config as usize].push((job, placed.pairwise_l1));
            }
        })
        .expect("it runs");
        prop_assert!(decided <= (jobs.len() * vectors.len()) as u64);
        for (vector, sums) in vectors.iter().zip(batched) {
            prop_assert_eq!(alone(vector), sums, "{:?}", vector);
        }
    }
}

/// Removed configurations get no further decisions, and the remaining configurations continue.
#[test]
fn removed_configurations_are_not_replayed_further() {
    let topology: Topology = "6x6".parse().expect("a mesh");
    let job = |number| Job { number, ..Job::exact(10 * number, 25, 7) };
    let jobs: Vec<Job> = (0..20).map(job).collect();
    let stop = CancelToken::new();
    let mut fcfs = SchedulerSpec::fcfs().build(36);
    let timeline = Timeline::compute(&jobs, 36, fcfs.as_mut(), &stop).expect("a timeline");
    let configs = ["2,1,0,0", "2,0,1,0", "2,0,0,1"]
        .map(|text| TieConfig::new(text.parse().ok(), Slack::NONE));
    let (grid, machine) = (topology.grid().expect("a grid"), Machine::new(topology.clone()));
    let mut batch =
        replay_centre::BatchReplay::new(&machine, grid, CentreOptions::default(), configs.to_vec());
    let mut seen = [0; 3];
    let simulation = Simulation::new(&jobs, &topology, &stop);
    let decided = simulation.lockstep(&timeline, &mut batch, &mut |_, placed| {
        placed.configs.iter().for_each(|&config| seen[config as usize] += 1);
        placed.configs.retain(|&config| seen[config as usize] < [5, 20, 9][config as usize]);
    });
    assert_eq!(seen, [5, 20, 9]);
    assert!(decided.is_ok_and(|decided| (20..=34).contains(&decided)));
}
