use proptest::prelude::*;

use super::*;
use crate::ChannelId;

/// Returns a reservation of a link, and the fraction of the job's packets that cross the link.
fn on(link: u32, share: f64, hold: f64, part: f64) -> (Reserved, f64) {
    (Reserved { link: ChannelId(link), share, hold }, part)
}

/// Returns a job with one stream of packets that take `latency` cycles each.
fn job(latency: f64, links: &[(Reserved, f64)]) -> Footprint {
    let weights = (0..).zip(links).map(|(i, &(_, part))| (i, part / latency)).collect();
    Footprint { links: links.iter().map(|own| own.0).collect(), streams: vec![Stream { weights }] }
}

/// Solves the equations of the rule by iteration: updates waits and slowdowns in turn until nothing changes.
fn reference(jobs: &[Footprint], links: usize) -> Vec<f64> {
    let mut slowdowns = vec![1.0; jobs.len()];
    let mut waits = vec![vec![0.0; links]; jobs.len()];
    // Use small steps, so that no wait grows without bound during the iteration.
    for _ in 0..200_000 {
        let mut most: f64 = 0.0;
        for j in 0..jobs.len() {
            for own in &jobs[j].links {
                let l = own.link.index();
                let mut wait = 0.0;
                for (i, other) in jobs.iter().enumerate().filter(|(i, _)| *i != j) {
                    for with in other.links.iter().filter(|with| with.link == own.link) {
                        wait += with.share / slowdowns[i] * (with.hold / 2.0 + waits[i][l]);
                    }
                }
                let next = 0.9 * waits[j][l] + 0.1 * wait;
                most = most.max((next - waits[j][l]).abs());
                waits[j][l] = next;
            }
            let slowest = jobs[j].streams.iter().map(|stream| {
                let wait = |link: u32| waits[j][jobs[j].links[link as usize].link.index()];
                stream.weights.iter().map(|&(link, weight)| weight * wait(link)).sum::<f64>()
            });
            let next = 0.9 * slowdowns[j] + 0.1 * (1.0 + slowest.fold(0.0, f64::max));
            most = most.max((next - slowdowns[j]).abs());
            slowdowns[j] = next;
        }
        if most < 1e-10 {
            break;
        }
    }
    slowdowns
}

#[test]
fn jobs_without_shared_links_are_not_slowed_down() {
    let mut loads = LinkLoads::new(4);
    let one = loads.start(job(30.0, &[on(0, 0.9, 24.0, 1.0), on(1, 0.5, 24.0, 0.5)]));
    let other = loads.start(job(30.0, &[on(2, 1.0, 24.0, 1.0)]));
    loads.settle();
    assert!(loads.agree());
    assert_eq!((loads.slowdown(one), loads.slowdown(other)), (1.0, 1.0));
}

/// Two jobs share a link, and each job needs the whole capacity of the link. The slowdown f satisfies f = 1 + s (h /
/// 2 + w) / h with s = 1 / f and w = (f - 1) h.
#[test]
fn two_jobs_that_need_all_of_a_link_slow_each_other_down() {
    let all = job(24.0, &[on(0, 1.0, 24.0, 1.0)]);
    let mut loads = LinkLoads::new(1);
    let (one, other) = (loads.start(all.clone()), loads.start(all.clone()));
    loads.settle();
    assert!(loads.agree());
    for slot in [one, other] {
        assert!((loads.slowdown(slot) - (1.0 + 0.5f64.sqrt())).abs() < 1e-2);
    }
    // The remaining job runs without other jobs and has a slowdown of exactly 1. The slot of the ended job is free.
    assert_eq!(loads.end(one), Some(all.clone()));
    loads.settle();
    assert!(loads.agree());
    assert_eq!((loads.slowdown(other), loads.slowdown(one)), (1.0, 1.0));
    assert_eq!(loads.end(one), None);
    assert_eq!(loads.start(all), one);
}

#[test]
fn a_link_is_never_reserved_for_more_than_all_of_the_time() {
    let mut loads = LinkLoads::new(1);
    let slots: Vec<Slot> =
        (0..12).map(|_| loads.start(job(24.0, &[on(0, 1.0, 24.0, 1.0)]))).collect();
    loads.settle();
    assert!(loads.agree());
    let reserved: f64 = slots.iter().map(|&slot| 1.0 / loads.slowdown(slot)).sum();
    assert!(reserved <= 1.1 && reserved > 0.9, "{reserved}");
}

/// Generates footprints of jobs. One stream contains all packets of the job. Each other stream contains some of the
/// packets.
fn footprints() -> impl Strategy<Value = Vec<Footprint>> {
    let link = (0u32..5, 0.01..0.9f64, 8.0..60.0f64, proptest::array::uniform3(0.0..2.0f64));
    let one = (0.3..1.0f64, proptest::collection::vec(link, 1..5), 1..4usize);
    let one = one.prop_map(|(all, mut links, streams)| {
        links.sort_by_key(|own| own.0);
        links.dedup_by_key(|own| own.0);
        let reserved = links.iter().map(|&(link, share, hold, _)| Reserved {
            link: ChannelId(link),
            share,
            hold,
        });
        let part = |of: usize, own: &[f64; 3]| if of == 0 { 1.0 } else { own[of - 1] };
        let stream = |of: usize| Stream {
            weights: (0..)
                .zip(&links)
                .map(|(i, &(_, share, hold, ref own))| (i, all * part(of, own) * share / hold))
                .collect(),
        };
        Footprint { links: reserved.collect(), streams: (0..streams).map(stream).collect() }
    });
    proptest::collection::vec(one, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The slowdowns that are computed from sums over each link are equal to the slowdowns of the rule, which is
    /// defined for pairs of jobs.
    #[test]
    fn slowdowns_are_those_of_the_rule(jobs in footprints()) {
        let mut loads = LinkLoads::new(5);
        let slots: Vec<Slot> = jobs.iter().map(|job| loads.start(job.clone())).collect();
        loads.settle();
        prop_assert!(loads.agree());
        for (slot, expected) in slots.into_iter().zip(reference(&jobs, 5)) {
            let found = loads.slowdown(slot);
            prop_assert!((found - expected).abs() < 5e-3 * expected, "{found} {expected}");
        }
    }

    /// Slowdowns depend only on the running jobs, not on jobs that have ended.
    #[test]
    fn ended_jobs_do_not_matter(jobs in footprints(), gone in proptest::collection::vec(any::<bool>(), 7)) {
        let mut long = LinkLoads::new(5);
        let mut slots = Vec::new();
        for job in &jobs {
            slots.push(long.start(job.clone()));
            long.settle();
        }
        for (&slot, _) in slots.iter().zip(&gone).filter(|(_, gone)| **gone) {
            long.end(slot);
            long.settle();
        }
        let mut short = LinkLoads::new(5);
        let stay = || slots.iter().zip(&jobs).zip(&gone).filter(|(_, gone)| !**gone);
        let anew: Vec<Slot> = stay().map(|((_, job), _)| short.start(job.clone())).collect();
        short.settle();
        prop_assert!(short.agree());
        for (((&was, _), _), is) in stay().zip(anew) {
            let (was, is) = (long.slowdown(was), short.slowdown(is));
            prop_assert!((was - is).abs() < 5e-3 * is, "{was} {is}");
        }
    }
}
