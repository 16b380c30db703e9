use super::super::Messages;
use super::*;
use crate::RunContext;
use replay_engine::cancel::CancelToken;
use replay_engine::topology::{NodeId, Topology};
use replay_network::traffic::Preset;

fn nearest_of(target: u64, time: impl Fn(u64) -> u64) -> (u64, u64, u32) {
    let mut calls = 0;
    let found = nearest(target, |quota| {
        calls += 1;
        Ok::<_, ()>(time(quota))
    });
    let (quota, time) = found.expect("no errors");
    (quota, time, calls)
}

#[test]
fn finds_the_nearest_quota_on_linear_and_step_functions() {
    assert_eq!(nearest_of(1000, |q| 10 * q).0, 100);
    // A single packet takes longer than the target. Zero packets are not allowed.
    assert_eq!(nearest_of(5, |q| 39 * q), (1, 39, 1));
    assert_eq!(nearest_of(150, |q| 100 * q).0, 1);
    assert_eq!(nearest_of(151, |q| 100 * q).0, 2);
    // The time increases by 5,000 cycles per 64 packets: two steps are nearest to
    // targets below 12,500, and three steps are nearest to targets above 12,500.
    let stairs = |q: u64| q.div_ceil(64) * 5000;
    assert_eq!(nearest_of(12_000, stairs).1, 10_000);
    assert_eq!(nearest_of(13_000, stairs).1, 15_000);
    for target in (1..2_000_000).step_by(7919) {
        for curve in [|q: u64| q * 3 + 20, |q: u64| q * q, |q: u64| 700 * q.isqrt()] {
            let (quota, time, calls) = nearest_of(target, curve);
            let best = |q: u64| curve(q).abs_diff(target) >= time.abs_diff(target);
            let neighbours = best(quota + 1) && (quota == 1 || best(quota - 1));
            assert!(is_near(time, target) || neighbours, "{target}: {quota} takes {time}");
            assert!(calls < 45, "{calls} times for {target}");
        }
    }
}

fn isolated(machine: &str, pattern: &str, jobs: &[Job], seed: u64) -> Isolation {
    let topology = machine.parse().expect("a machine");
    let pattern = pattern.parse().expect("a pattern");
    let messages = Messages::new(Preset::Lo, pattern).expect("no file");
    let stop = CancelToken::new();
    let (topology, messages, watch) = (&topology, &messages, RunContext::new(&stop));
    isolate(ContentionInput { jobs, topology, messages, watch }, 1.0, seed).expect("it runs")
}

fn job(run: i64, size: u32) -> Job {
    Job { number: 0, submit: 0, run, estimate: run, size, line: 0, shape: None, limit: None }
}

#[test]
fn jobs_alone_take_their_run_time() {
    let jobs: Vec<Job> = (2..40).map(|i| job(i64::from(i) * 1231, i)).collect();
    for pattern in ["all-to-all", "n-body", "random", "one-to-all"] {
        let isolation = isolated("8x8", pattern, &jobs, 3);
        assert_eq!((isolation.sending(), isolation.off_target()), (38, 0), "{pattern}");
    }
    // A job that is shorter than a packet sends one packet and misses its target.
    let short = isolated("8x8", "all-to-all", &[job(5, 2), job(90_000, 4)], 0);
    assert_eq!((short.quotas[0], short.off_target()), (1, 1));
}

/// For the built-in patterns, if the found quota misses the target by more than the tolerance, no other quota is nearer
/// to the target.
#[test]
fn no_other_quota_is_nearer() {
    let topology: Topology = "8x8".parse().expect("a machine");
    for pattern in
        ["all-to-all", "n-body", "multigrid", "fft-2d", "nearest-neighbour", "one-to-all"]
    {
        let pattern = pattern.parse().expect("a pattern");
        let messages = Messages::new(Preset::Lo, pattern).expect("no file");
        let stop = CancelToken::new();
        let (topology, messages, watch) = (&topology, &messages, RunContext::new(&stop));
        let input = ContentionInput { jobs: &[], topology, messages, watch };
        let alone = Alone::new(input, 4).expect("a network");
        for size in [2, 3, 7, 16] {
            let place = PlacementKey { size, shape: None };
            let places = compact(topology, place);
            let time = |q| {
                let times = places.iter().map(|nodes| alone.time(nodes, 0, q).expect("it runs"));
                times.min().expect("a place")
            };
            let times: Vec<u64> = (1..=200).map(time).collect();
            let reach = *times.iter().max().expect("times") * 9 / 10;
            for target in (1..reach.min(2000)).step_by(53) {
                let wish = QuotaKey { target, place, job: Some(0) };
                let (_, time) = quota(input, &alone, wish).expect("it runs");
                let best = times.iter().map(|time| time.abs_diff(target)).min().expect("times");
                let off = time.abs_diff(target);
                assert!(off <= best || is_near(time, target), "{size} {target}: {off}, not {best}");
            }
        }
    }
}

#[test]
fn a_job_without_receivers_holds_its_processor() {
    let isolation = isolated("4x4", "all-to-all", &[job(500, 1), job(0, 1)], 0);
    assert_eq!((&isolation.quotas[..], &isolation.service[..]), (&[0, 0][..], &[500, 1][..]));
    assert_eq!((isolation.sending(), isolation.off_target()), (0, 0));
}

#[test]
fn quotas_are_independent_of_other_jobs() {
    let jobs = [job(9000, 4), job(9000, 4), job(7000, 6), job(9000, 5)];
    for pattern in ["n-body", "random"] {
        let together = isolated("8x8", pattern, &jobs, 1);
        let first = isolated("8x8", pattern, &jobs[..1], 1);
        assert_eq!(first.quotas[0], together.quotas[0], "{pattern}");
    }
}

/// A box with unequal sides is tried in two orientations. A square or a given shape is tried once.
#[test]
fn a_box_is_oriented_such_that_its_job_is_fastest() {
    let topology: Topology = "8x4".parse().expect("a machine");
    let places = |size, shape| compact(&topology, PlacementKey { size, shape }).len();
    assert_eq!([places(6, None), places(9, None), places(6, Some([3, 2, 1]))], [2, 1, 1]);
    // A box of 8 x 4 fits in only one orientation.
    assert_eq!(places(32, None), 1);
    // For n-body, the two orientations have different times, because messages go around rings.
    let messages =
        Messages::new(Preset::Lo, "n-body".parse().expect("a pattern")).expect("no file");
    let (stop, messages, topology) = (CancelToken::new(), &messages, &topology);
    let input = ContentionInput { jobs: &[], topology, messages, watch: RunContext::new(&stop) };
    let alone = Alone::new(input, 0).expect("a network");
    let place = PlacementKey { size: 6, shape: None };
    let time = |nodes: &Vec<NodeId>| alone.time(nodes, 0, 600).expect("it runs");
    let times: Vec<u64> = compact(topology, place).iter().map(time).collect();
    assert_ne!(times[0], times[1]);
    let target = *times.iter().min().expect("two");
    let found = quota(input, &alone, QuotaKey { target, place, job: None }).expect("it runs");
    assert!(is_near(found.1, target) && found.0.abs_diff(600) < 12, "{found:?}, {times:?}");
}

#[test]
fn a_job_is_measured_in_its_given_shape() {
    let jobs = [job(100_000, 8), job(100_000, 8)];
    let shapes = [[8, 1, 1], [4, 2, 1]].map(Some);
    let shaped: Vec<Job> =
        jobs.iter().zip(shapes).map(|(&job, shape)| Job { shape, ..job }).collect();
    let quotas = isolated("8x8", "all-to-all", &shaped, 0).quotas;
    // Packets take more time in the longer shape, so fewer packets suffice.
    assert!(quotas[0] < quotas[1], "{quotas:?}");
    assert_eq!(quotas[1], isolated("8x8", "all-to-all", &jobs, 0).quotas[1]);
}

#[test]
fn rejects_times_beyond_the_limit() {
    assert!(scaled(&[job(1000, 2)], 1e12).is_ok());
    for scale in [1e13, 1e18, f64::MAX] {
        let error = scaled(&[job(1000, 2)], scale).expect_err("too long").to_string();
        assert!(error.contains("cycles per second"), "{error}");
    }
}

/// The compact placement on a hypercube is an embedded mesh: neighbours in the mesh are neighbours in the hypercube. A
/// mesh of 2 x 3 is in the first subcube of three dimensions.
#[test]
fn compact_placements_on_hypercubes_are_embedded_meshes() {
    let topology: Topology = "hypercube:4".parse().expect("a hypercube");
    let of = |size, shape| {
        let places = compact(&topology, PlacementKey { size, shape });
        assert_eq!(places.len(), 1);
        places[0].iter().map(|node| node.0).collect::<Vec<_>>()
    };
    assert_eq!(of(6, None), [0b000, 0b100, 0b001, 0b101, 0b011, 0b111]);
    assert_eq!(of(6, Some([6, 1, 1])), [0b000, 0b001, 0b011, 0b010, 0b110, 0b111]);
    assert_eq!(of(16, None).len(), 16);
    // The shape 3 x 5 would need five dimensions of the hypercube.
    assert_eq!(of(15, Some([3, 5, 1])), (0..15).collect::<Vec<_>>());
}
