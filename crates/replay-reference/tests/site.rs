//! Compares the scheduler of `replay-site` with the reference implementation.

use proptest::prelude::*;
use replay_engine::topology::NodeId;
use replay_reference::site::{self as plain, Nodes};
use replay_site::job::SiteJob;
use replay_site::node_set::NodeSet;
use replay_site::replay::{LimitRule, replay};
use replay_site::scheduler::StartedBy;
use replay_site::site::{Partition, Site};

const MACHINE: u32 = 12;

fn arb_partitions() -> impl Strategy<Value = Vec<plain::Partition>> {
    let partition = (0..MACHINE, 1..=MACHINE, 1u32..3, proptest::option::of(5i64..200));
    let partition = partition.prop_map(|(first, count, tier, max_time)| {
        let nodes = (first..(first + count).min(MACHINE)).collect();
        plain::Partition { nodes, tier, max_time }
    });
    let all = plain::Partition { nodes: (0..MACHINE).collect(), tier: 1, max_time: None };
    proptest::collection::vec(partition, 0..3).prop_map(move |mut others| {
        others.insert(0, all.clone());
        others
    })
}

fn arb_jobs(partitions: usize) -> impl Strategy<Value = Vec<plain::Job>> {
    let job = (
        0i64..400,
        1..=MACHINE as usize,
        1i64..8000,
        1i64..120,
        1u32..5,
        proptest::collection::vec(0..partitions, 1..3),
    );
    proptest::collection::vec(job, 1..40).prop_map(|all| {
        let mut at = 0;
        let job = |(gap, nodes, run, limit, priority, mut asked): (
            i64,
            usize,
            i64,
            i64,
            u32,
            Vec<usize>,
        )| {
            at += gap;
            asked.dedup();
            plain::Job { submit: at, nodes, run, limit, priority, partitions: asked }
        };
        all.into_iter().map(job).collect()
    })
}

fn arb_settings() -> impl Strategy<Value = plain::Settings> {
    let interval = prop_oneof![Just(1i64), Just(30), Just(60)];
    let resolution = prop_oneof![Just(1i64), Just(60), Just(180), Just(600)];
    let test = prop_oneof![Just(3usize), Just(500)];
    (
        interval,
        resolution,
        prop_oneof![Just(60i64), Just(1440)],
        test,
        0usize..12,
        0u32..4,
        0usize..3,
        any::<bool>(),
    )
        .prop_map(
            |(interval, resolution, window, test, depth, min_priority, per_partition, deep)| {
                plain::Settings {
                    interval,
                    resolution,
                    window: 60 * window,
                    test,
                    slots: test,
                    depth: if deep { 1000 } else { depth },
                    full_interval: 60,
                    calc_period: 300,
                    min_priority,
                    per_partition,
                }
            },
        )
}

fn compare(partitions: &[plain::Partition], jobs: &[plain::Job], settings: &plain::Settings) {
    let mut site = Site::of_machine(MACHINE as usize, None);
    let cpus = site.cpus.clone();
    site.partitions = partitions
        .iter()
        .map(|one| {
            let nodes = NodeSet::of(MACHINE as usize, one.nodes.iter().map(|&node| NodeId(node)));
            let max_time = one.max_time.map(|time| time as u32);
            Partition { tier: one.tier, max_time, ..Partition::new("p", nodes, &cpus) }
        })
        .collect();
    let scheduler = &mut site.scheduler;
    (scheduler.interval, scheduler.resolution) = (settings.interval, settings.resolution);
    scheduler.window = (settings.window / 60) as u32;
    (scheduler.test, scheduler.depth) = (settings.test as u32, settings.depth as u32);
    scheduler.min_priority = settings.min_priority;
    scheduler.per_partition = settings.per_partition as u32;
    let job = |(number, one): (i64, &plain::Job)| SiteJob {
        number,
        submit: one.submit,
        eligible: one.submit,
        run: one.run,
        nodes: one.nodes as u32,
        cpus: None,
        limit: Some(one.limit as u32),
        estimate: None,
        association: 0,
        qos: 0,
        partitions: one.partitions.clone(),
        nice: 0,
        priority: Some(one.priority),
    };
    let site_jobs: Vec<SiteJob> = (1..).zip(jobs).map(job).collect();
    let replayed = replay(&site, &site_jobs, LimitRule::Kill).expect("a replay");
    let expected = plain::replay(MACHINE, partitions, jobs, settings);
    for (number, (state, expected)) in replayed.states.iter().zip(expected).enumerate() {
        let found = state.start.as_ref().map(|start| {
            let nodes: Nodes = start.nodes.iter().map(|node| node.0).collect();
            (start.at, start.partition, nodes, start.by == StartedBy::Backfill)
        });
        assert_eq!(found, expected, "job {}", number + 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn replays_agree_with_the_reference(
        (partitions, jobs) in arb_partitions().prop_flat_map(|all| {
            let count = all.len();
            (Just(all), arb_jobs(count))
        }),
        settings in arb_settings(),
    ) {
        compare(&partitions, &jobs, &settings);
    }
}
