//! Tests of the packets of iterations, in the order of the job's sequence.

use super::super::random::{Purpose, stream};
use super::super::rule::Rule;
use super::super::segment::Segment;
use super::super::sequence::Sequence;
use super::*;
use proptest::prelude::*;
use std::io::Write;

fn rule(program: &Program, n: u32) -> Option<Rule> {
    program.rule(n, stream(1, 2, Purpose::Pattern))
}

/// Returns, for each step of an iteration, the sender and the receiver of every packet.
fn steps(program: &Program, n: u32) -> Vec<Vec<(u32, u32)>> {
    let Some(mut rule) = rule(program, n) else { return Vec::new() };
    (0..rule.steps())
        .map(|step| {
            let segment = Segment { first: step, end: step + 1, repeats: false };
            let mut sequence = Sequence::new(segment, &mut rule);
            let packets = std::iter::from_fn(|| sequence.next(&mut rule)).collect();
            assert_eq!(sequence.next(&mut rule), None, "the sequence has ended");
            packets
        })
        .collect()
}

fn of(pattern: &str, n: u32) -> Vec<Vec<(u32, u32)>> {
    steps(&demand(pattern, Quota::fixed(1)).program, n)
}

#[test]
fn all_to_all_has_its_orders() {
    let same = vec![(1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2)];
    assert_eq!(of("all-to-all", 3), [same]);
    let shifted = vec![(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)];
    assert_eq!(of("all-to-all[order=shifted]", 3), [shifted]);
    let lexicographic = vec![(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    assert_eq!(of("all-to-all[preset=bani-mohammad]", 3), [lexicographic]);
}

/// Every rank sends to 0, then every rank sends to 1, and so on; the quota is used up within the last round. On a line,
/// the number of links crossed shows which packets were sent.
#[test]
fn a_quota_may_end_within_a_round() {
    let rounds = |n: u32| {
        (0..n).flat_map(move |dst| (0..n).filter(move |&src| src != dst).map(move |src| (src, dst)))
    };
    assert!(of("all-to-all", 7)[0].iter().copied().eq(rounds(7)));
    for quota in [1, 4, 9, 29, 30, 31, 47] {
        let mut traffic = traffic("6x1", Settings::LO);
        let demand = demand("all-to-all[sends=at-once]", Quota::fixed(quota));
        traffic.start(0, &nodes(0..6), &demand).expect("legal");
        let sent = rounds(6).cycle().take(quota as usize);
        let links: u32 = sent.map(|(src, dst)| src.abs_diff(dst)).sum();
        assert_eq!(finish(&mut traffic)[0].hops, u64::from(links), "{quota}");
    }
}

#[test]
fn one_to_all_has_its_roots_and_orders() {
    let first = of("one-to-all[root=first]", 4);
    assert_eq!(first, [[(0, 1), (0, 2), (0, 3)]]);
    let drawn = |pattern, n| of(pattern, n).remove(0);
    let ascending = drawn("one-to-all", 50);
    let root = ascending[0].0;
    assert!(root > 0, "else the test is not significant");
    assert!(ascending.iter().map(|packet| packet.1).eq((0..50).filter(|&rank| rank != root)));
    let cyclic = drawn("one-to-all[preset=bani-mohammad]", 50);
    assert!(cyclic.iter().copied().eq((1..50).map(|k| (root, (root + k) % 50))));
}

#[test]
fn n_body_is_a_ring() {
    let ring = vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];
    let home = vec![(0, 3), (1, 4), (2, 0), (3, 1), (4, 2)];
    assert_eq!(of("n-body", 5), [ring.clone(), ring, home]);
    assert_eq!(of("n-body", 2), [[(0, 1), (1, 0)], [(0, 1), (1, 0)]]);
}

#[test]
fn fft_is_a_butterfly() {
    let [two, one] = [[(0, 2), (1, 3), (2, 0), (3, 1)], [(0, 1), (1, 0), (2, 3), (3, 2)]];
    assert_eq!(of("fft-2d", 4), [two, one]);
    assert_eq!(of("fft-2d[strides=ascending]", 4), [one, two]);
    // Processes beyond the largest power of two are idle.
    assert_eq!(of("fft-2d", 7), of("fft-2d", 4));
    assert_eq!(of("fft-2d", 64).len(), 6);
}

#[test]
fn multigrid_uses_a_power_of_two() {
    let pair = vec![(0, 1), (1, 0)];
    assert_eq!(of("multigrid", 2), [pair.clone(), pair]);
    assert_eq!(of("multigrid", 11), of("multigrid", 8));
    let v = of("multigrid[cycle=v]", 64);
    assert_eq!(v.iter().map(Vec::len).sum::<usize>(), 2 * 432);
}

#[test]
fn nearest_neighbours_are_on_a_grid() {
    // The grid has 3 x 2 processes: ranks 0 1 2 in the first row, ranks 3 4 5 in the second row.
    let (right, left) =
        (vec![(0, 1), (1, 2), (3, 4), (4, 5)], vec![(1, 0), (2, 1), (4, 3), (5, 4)]);
    let (down, up) = (vec![(0, 3), (1, 4), (2, 5)], vec![(3, 0), (4, 1), (5, 2)]);
    assert_eq!(of("nearest-neighbour", 6), [right, left, down.clone(), up.clone()]);
    let wrapped = of("nearest-neighbour[wrap=yes]", 6);
    assert_eq!(wrapped[0], [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]);
    assert_eq!(wrapped[2..], [down, up]);
}

#[test]
fn random_pairs_are_uniform() {
    let program = demand("random", Quota::fixed(1)).program;
    let mut rule = rule(&program, 4).expect("packets");
    let mut sequence = Sequence::new(Segment { first: 0, end: 1, repeats: true }, &mut rule);
    let mut seen = [[0; 4]; 4];
    for _ in 0..1200 {
        let (src, dst) = sequence.next(&mut rule).expect("the sequence is endless");
        seen[src as usize][dst as usize] += 1;
    }
    for (src, row) in seen.iter().enumerate() {
        for (dst, &count) in row.iter().enumerate() {
            // The count has a mean of 100 and a standard deviation of 9.6.
            assert!(if src == dst { count == 0 } else { (60..140).contains(&count) }, "{seen:?}");
        }
    }
    let each = of("random[source=each]", 9).remove(0);
    assert!(each.iter().map(|packet| packet.0).eq(0..9));
    assert!(each.iter().all(|&(src, dst)| src != dst && dst < 9));
}

#[test]
fn files_give_steps() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    write!(file, "0,2,0\n1,9,1\n0,0,0\n").expect("written");
    let load =
        |pattern: String| Program::load(pattern.parse().expect("a pattern")).expect("a legal file");
    let path = file.path().display();
    let program = load(format!("matrix[file={path}]"));
    assert_eq!(steps(&program, 3), [[(0, 1), (1, 0), (0, 1), (1, 2)]]);
    assert_eq!((program.ranks(), program.iteration(3), program.iteration(9)), (Some(3), 4, 4));
    // Ranks 0 and 1 share a process.
    assert_eq!(steps(&program, 2), [[(0, 1)]]);
    let weights = load(format!("matrix[file={path},values=weights]"));
    assert_eq!((weights.iteration(3), steps(&weights, 2)), (1, vec![vec![(0, 1)]]));

    let mut file = tempfile::NamedTempFile::new().expect("a file");
    write!(file, "phase,src_rank,dst_rank,packets\n7,1,0,1\n2,0,3,1\n7,1,2,1\n").expect("written");
    let program = load(format!("phases[file={}]", file.path().display()));
    assert_eq!(steps(&program, 4), [vec![(0, 3)], vec![(1, 0), (1, 2)]]);
}

#[test]
fn iterations_have_the_lengths_of_the_paper() {
    let means = [
        ("all-to-all", 81, Preset::LO_ALL_TO_ALL),
        ("one-to-all", 81, Preset::LO_ONE_TO_ALL),
        ("n-body", 81, Preset::LO_N_BODY),
        ("fft-2d", 64, Preset::LO_FFT_2D),
        ("multigrid", 64, 432),
        ("multigrid[cycle=v]", 64, 864),
        ("nearest-neighbour", 81, Preset::LO_NEAREST_NEIGHBOUR),
        ("random[source=each]", 81, Preset::LO_RANDOM),
    ];
    for (pattern, n, mean) in means {
        let Demand { program, .. } = demand(pattern, Quota::fixed(1));
        assert_eq!(program.iteration(n), mean, "{pattern}");
        let law = Law::Exponential { mean: mean as f64, rounding: Rounding::Up };
        assert_eq!(Preset::Lo.quota(&program), Quota { law, per: Per::Job });
    }
    assert_eq!([6480, 80, 3321, 384], means.map(|(_, _, mean)| mean)[..4]);
}

/// With every discipline, whole iterations consist of the same packets, so the total number of links crossed does not
/// depend on the discipline. On a line, distances differ enough to detect a wrong packet.
#[test]
fn every_discipline_sends_whole_iterations() {
    let line = machine("16x1");
    let mut runs = 0;
    for pattern in [
        "all-to-all",
        "all-to-all[order=shifted]",
        "one-to-all[root=first]",
        "n-body",
        "fft-2d",
        "multigrid",
        "nearest-neighbour",
    ] {
        let expected: u64 = of(pattern, 8)
            .iter()
            .flatten()
            .map(|&(src, dst)| u64::from(line.hops(NodeId(src), NodeId(dst))))
            .sum();
        for sends in ["sequential", "pipelined", "at-once"] {
            for stream in ["process", "job"] {
                for barrier in ["step", "iteration", "none"] {
                    // Without barriers, fast processes send packets of the next iteration before slow processes have
                    // completed the current iteration.
                    if barrier == "none" && stream == "process" && sends != "at-once" {
                        continue;
                    }
                    let mut name: replay_engine::naming::StrategyName =
                        pattern.parse().expect("a name");
                    for (key, value) in [("sends", sends), ("stream", stream), ("barrier", barrier)]
                    {
                        name.set(key, value);
                    }
                    let demand = demand(&name.to_string(), Quota::fixed(1));
                    let quota = Quota::fixed(3 * demand.program.iteration(8));
                    let mut traffic = traffic("16x1", Settings::LO);
                    traffic.start(0, &nodes(0..8), &Demand { quota, ..demand }).expect("legal");
                    assert_eq!(finish(&mut traffic)[0].hops, 3 * expected, "{name}");
                    runs += 1;
                }
            }
        }
    }
    assert_eq!(runs, 7 * 16);
}

proptest! {
    /// No process sends to itself or to a process that does not exist, and every step has a sender. The sequence
    /// contains the packets of each process in the order of that process.
    #[test]
    fn sequences_have_the_packets_of_every_process(
        pattern in proptest::sample::select(vec![
            "all-to-all", "all-to-all[order=shifted]", "all-to-all[preset=bani-mohammad]",
            "one-to-all", "n-body", "fft-2d", "multigrid[cycle=v]", "nearest-neighbour",
            "nearest-neighbour[dimensions=3,wrap=yes]",
        ]),
        n in 0u32..40,
    ) {
        let program = demand(pattern, Quota::fixed(1)).program;
        let found = steps(&program, n);
        prop_assert_eq!(found.is_empty(), n < 2);
        prop_assert_eq!(program.iteration(n), found.iter().map(Vec::len).sum::<usize>() as u64);
        for (step, packets) in (0..).zip(&found) {
            let mut rule = rule(&program, n).expect("packets");
            prop_assert!(!packets.is_empty());
            for rank in 0..n {
                let own: Vec<_> = packets.iter().filter(|packet| packet.0 == rank).collect();
                prop_assert_eq!(rule.count(step, rank), own.len() as u64);
                for (k, &&(src, dst)) in (0..).zip(&own) {
                    prop_assert!(src != dst && dst < n);
                    prop_assert_eq!(rule.target(step, rank, k), dst);
                }
            }
        }
    }
}
