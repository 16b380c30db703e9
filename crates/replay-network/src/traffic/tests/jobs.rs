//! Tests of totals, quotas and several jobs at once.

use super::*;
use proptest::prelude::*;

const PATTERNS: [&str; 9] = [
    "all-to-all",
    "all-to-all[preset=bani-mohammad]",
    "one-to-all",
    "one-to-all[preset=bani-mohammad]",
    "n-body",
    "fft-2d",
    "multigrid",
    "random",
    "random[source=each,barrier=none]",
];

#[test]
fn quotas_are_exact_in_the_middle_of_a_step() {
    for pattern in PATTERNS {
        for packets in [1, 2, 3, 7, 8, 9, 100] {
            let mut traffic = traffic("8x8", Settings::LO);
            traffic
                .start(3, &nodes(8..14), &demand(pattern, Quota::fixed(packets)))
                .expect("legal");
            let jobs = finish(&mut traffic);
            assert_eq!((jobs.len(), jobs[0].job, jobs[0].packets), (1, 3, packets), "{pattern}");
            // The packets of the job are the only packets that have left the processors.
            assert_eq!(traffic.network().flits().ejection, 8 * packets);
            assert_eq!(traffic.network().flits().links, 8 * jobs[0].hops);
        }
    }
}

/// Advancing in several slices of cycles gives the same results as advancing at once.
#[test]
fn slices_of_cycles_do_not_change_results() {
    for (machine, settings) in [("8x8", Settings::LO), ("torus:8x8", Settings::BANI_MOHAMMAD)] {
        for pattern in PATTERNS {
            let run = |slice: Option<u64>| {
                let mut traffic = traffic(machine, settings);
                for job in 0..4 {
                    let nodes = nodes(9 * job as u32..9 * job as u32 + 9);
                    traffic.start(job, &nodes, &demand(pattern, Quota::fixed(60))).expect("legal");
                }
                let (mut all, mut ended) = (Vec::new(), Vec::new());
                while traffic.running() > 0 {
                    let until = slice.map(|slice| traffic.now() + slice);
                    if traffic.advance(until, &mut ended).expect("no deadlock").is_some() {
                        all.append(&mut ended);
                    }
                }
                (all, traffic.network().usage().collect::<Vec<_>>())
            };
            let whole = run(None);
            for slice in [1, 7, 64] {
                assert_eq!(run(Some(slice)), whole, "{pattern}");
            }
        }
    }
}

#[test]
fn a_job_without_receivers_ends_when_it_starts() {
    let mut traffic = traffic("4x4", Settings::BANI_MOHAMMAD);
    let mut ended = Vec::new();
    assert_eq!(traffic.advance(Some(50), &mut ended), Ok(None));
    let demand = demand("one-to-all", Quota::fixed(9));
    traffic.start(1, &nodes(5..6), &demand).expect("legal");
    traffic.start(2, &nodes(0..2), &demand).expect("legal");
    assert_eq!(traffic.running(), 2);
    assert_eq!(traffic.advance(Some(50), &mut ended), Ok(Some(50)));
    assert_eq!(ended, [JobTraffic { job: 1, begin: 50, end: 50, ..JobTraffic::default() }]);
    // With one receiver, an iteration consists of a single packet and ends with a barrier. Each
    // packet takes 4 d + 10 cycles.
    let cycles = 9 * 14;
    let total = JobTraffic {
        job: 2,
        packets: 9,
        latency: cycles,
        blocked: 0,
        hops: 9,
        begin: 50,
        end: 50 + cycles,
    };
    assert_eq!(finish(&mut traffic), [total]);
}

#[test]
fn totals_of_a_job_computed_by_hand() {
    let mut traffic = traffic("4x4", Settings::BANI_MOHAMMAD);
    let demand = demand("n-body", Quota::fixed(9));
    traffic.start(2, &nodes(0..2), &demand).expect("legal");
    // There are five steps over one hop. Each step takes 4 d + 10 = 14 cycles.
    let (latency, hops, end) = (9 * 14, 9, 5 * 14);
    let total = JobTraffic { job: 2, packets: 9, latency, blocked: 0, hops, begin: 0, end };
    assert_eq!(finish(&mut traffic), [total]);
}

#[test]
fn a_processor_that_does_not_exist_is_refused() {
    let mut traffic = traffic("4x4", Settings::LO);
    let error = traffic.start(0, &nodes(10..17), &demand("n-body", Quota::fixed(1)));
    assert_eq!(
        error.expect_err("16 processors").to_string(),
        "node 16 does not exist: the machine has 16 nodes"
    );
    assert_eq!(finish(&mut traffic), []);
    let options = TrafficOptions { flits: 0, ..TrafficOptions::default() };
    let error = Traffic::new(&machine("4x4"), Settings::LO, options).expect_err("no flits");
    assert_eq!(error.to_string(), "a packet has 0 flits, but must have 1 to 65536");
}

#[test]
fn ranks_follow_the_mapping() {
    let options = TrafficOptions {
        mapping: "row-major".parse().expect("a mapping"),
        ..TrafficOptions::default()
    };
    let mesh = machine("4x4");
    let run = |options, nodes: &[u32]| {
        let mut traffic = Traffic::new(&mesh, Settings::LO, options).expect("legal");
        let nodes: Vec<_> = nodes.iter().copied().map(NodeId).collect();
        let demand = demand("one-to-all[root=first]", Quota::fixed(1));
        traffic.start(0, &nodes, &demand).expect("legal");
        finish(&mut traffic);
        let used = traffic.network().usage().filter(|usage| usage.flits > 0);
        let mut used: Vec<_> = used
            .filter(|usage| matches!(usage.channel.port, Port::Injection | Port::Ejection))
            .map(|usage| usage.channel.from.0)
            .collect();
        used.sort_unstable();
        used
    };
    // The processors are (0,0), (0,1) and (1,0); the first row consists of (0,0) and (1,0).
    assert_eq!(run(TrafficOptions::default(), &[0, 1, 4]), [0, 1]);
    assert_eq!(run(options, &[0, 1, 4]), [0, 4]);
    assert_eq!(run(options, &[1, 4, 0]), [0, 4]);
}

#[test]
fn memory_does_not_grow_with_the_quota() {
    let mut traffic = traffic("8x8", Settings::LO);
    for job in 0..200 {
        traffic.start(job, &nodes(0..9), &demand("n-body", Quota::fixed(300))).expect("legal");
        assert_eq!(finish(&mut traffic).len(), 1);
    }
    // The slots of ended jobs are reused, and the number of packets in flight never exceeds the
    // number of processes.
    assert_eq!(traffic.network().places().0, 9);
    assert_eq!(format!("{traffic:?}").matches("Run {").count(), 0);
}

#[test]
fn a_stream_of_jobs_is_the_same_every_time() {
    let run = |seed| {
        let mut traffic = traffic("8x8", Settings::LO);
        let program = demand("random[source=each,sends=at-once]", Quota::fixed(1)).program;
        let quota = Preset::Lo.quota(&program);
        let demand = Demand { program, quota, seed };
        for job in 0..6 {
            let first = job as u32 * 10;
            traffic.start(job, &nodes(first..first + 10), &demand).expect("legal");
        }
        finish(&mut traffic)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

proptest! {
    /// Jobs in separate rows share no channels, so each job has the same totals as in a run without
    /// other jobs.
    #[test]
    fn disjoint_jobs_do_not_affect_each_other(
        jobs in proptest::collection::vec(
            (proptest::sample::select(PATTERNS.to_vec()), 1u64..60, 1u32..9, 0u64..200), 1..8),
        bani: bool,
    ) {
        let settings = if bani { Settings::BANI_MOHAMMAD } else { Settings::LO };
        // Rows extend along y: a row consists of the processors 8 x + y with the same x.
        let place = |row: usize, n: u32| nodes(8 * row as u32..8 * row as u32 + n);
        let mut starts: Vec<_> = (0..).zip(&jobs).collect();
        starts.sort_by_key(|(_, (.., at))| *at);
        let mut together = traffic("8x8", settings);
        let (mut found, mut ended) = (Vec::new(), Vec::new());
        for &(job, &(pattern, packets, n, at)) in &starts {
            while together.advance(Some(at), &mut ended).expect("no deadlock").is_some() {
                found.append(&mut ended);
            }
            prop_assert_eq!(together.now(), at);
            let demand = demand(pattern, Quota::fixed(packets));
            together.start(job as u64, &place(job, n), &demand).expect("legal");
        }
        found.append(&mut finish(&mut together));
        found.sort_by_key(|total| total.job);
        prop_assert_eq!(found.len(), jobs.len());
        for (total, &(pattern, packets, n, at)) in found.iter().zip(&jobs) {
            let mut alone = traffic("8x8", settings);
            alone.start(total.job, &place(total.job as usize, n), &demand(pattern, Quota::fixed(packets))).expect("legal");
            let alone = finish(&mut alone)[0];
            prop_assert_eq!(*total, JobTraffic { begin: at, end: at + alone.end, ..alone });
            prop_assert_eq!(total.packets, if n < 2 { 0 } else { packets });
        }
    }
}
