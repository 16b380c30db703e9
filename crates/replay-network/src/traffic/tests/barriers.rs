//! Who waits for what: timelines by hand.
//!
//! On a line of processors a packet of [`Settings::LO`] over d hops takes 27 + 4 d cycles; the
//! tail has left its sender after 27 (vector V1 of the hand-shake network), and channels are
//! free again before a later packet comes by.

use super::*;

/// A job on the first `n` processors of a line; its cycles.
fn cycles(pattern: &str, n: u32, packets: u64) -> u64 {
    let mut traffic = traffic("16x1", Settings::LO);
    traffic
        .start(0, &nodes(0..n), &demand(pattern, Quota::fixed(packets)))
        .expect("on the machine");
    let jobs = finish(&mut traffic);
    assert_eq!((jobs.len(), jobs[0].packets), (1, packets));
    jobs[0].end
}

#[test]
fn a_sequential_sender_waits_for_delivery() {
    // 31, 35 and 39 cycles, to ranks 1, 2, 3.
    let one = |sends| cycles(&format!("one-to-all[root=first,sends={sends}]"), 4, 3);
    assert_eq!(one("sequential"), 31 + 35 + 39);
    // Tails leave 27 and 29 + 27 - 1 cycles after the start; see V5 for the second.
    let pipelined = one("pipelined");
    assert!(pipelined < 31 + 35 + 39 && pipelined > 2 * 27 + 39);
    // Queued at their sender, or handed over one by one: it makes no difference.
    assert_eq!(one("at-once"), pipelined);
}

#[test]
fn a_barrier_ends_in_the_cycle_of_the_last_delivery() {
    // Two processes: every step of n-body is 0 -> 1 and 1 -> 0, which do not meet.
    assert_eq!(cycles("n-body", 2, 2), 31);
    // The next step starts at 31; the channels of the step before are free at 33 at the latest,
    // before the headers come by.
    assert_eq!(cycles("n-body", 2, 4), 62);
    assert_eq!(cycles("n-body", 2, 6), 93);
    // Without barriers a process goes on when its tail has left, at 27.
    let free = cycles("n-body[barrier=none]", 2, 4);
    assert!(free > 27 + 31 && free < 62, "{free}");
    assert_eq!(cycles("n-body[barrier=iteration]", 2, 4), free);
    assert_eq!(cycles("n-body[barrier=none,sends=sequential]", 2, 4), 62);
}

#[test]
fn a_barrier_waits_for_the_slowest() {
    // Four processes on a line, in the ring 3 -> 0 goes 3 hops: 39 cycles; the others wait.
    assert_eq!(cycles("n-body", 4, 4), 39);
    assert_eq!(cycles("n-body", 4, 5), 39 + 31);
    // By themselves they do not, and 0's second packet is on its way at 27.
    assert!(cycles("n-body[barrier=iteration]", 4, 5) < 39 + 31);
    // One step after the other, the iteration anew after its last.
    let steps = [4, 8, 12, 16].map(|packets| cycles("n-body", 4, packets));
    assert!(steps.is_sorted_by(|a, b| a + 31 <= *b), "{steps:?}");
    assert_eq!(steps[3], steps[2] + 39);
}

#[test]
fn one_stream_of_the_job_has_one_packet_in_flight() {
    // 0 -> 1, 1 -> 2, 2 -> 0 over two hops, then 0 -> 2.
    let chain = "all-to-all[order=shifted,stream=job,sends=sequential]";
    let ends = [1, 2, 3, 4].map(|packets| cycles(chain, 3, packets));
    assert_eq!(ends, [31, 62, 97, 132]);
    // The next when the tail has left: other senders begin 27 cycles apart.
    let chain = "all-to-all[order=shifted,stream=job]";
    assert_eq!([1, 2].map(|packets| cycles(chain, 3, packets)), [31, 58]);
}

#[test]
fn all_at_once_waits_in_queues() {
    let mut traffic = traffic("16x1", Settings::LO);
    let demand = demand("all-to-all[preset=bani-mohammad]", Quota::fixed(50));
    traffic.start(0, &nodes(0..4), &demand).expect("on the machine");
    assert_eq!(traffic.network().in_flight(), 50);
    assert_eq!(finish(&mut traffic)[0].packets, 50);
}

#[test]
fn a_barrier_holds_back_what_is_sent_all_at_once() {
    let mut traffic = traffic("16x1", Settings::LO);
    traffic
        .start(0, &nodes(0..4), &demand("all-to-all[sends=at-once]", Quota::fixed(50)))
        .expect("legal");
    // One iteration.
    assert_eq!(traffic.network().in_flight(), 12);
    assert_eq!(finish(&mut traffic)[0].packets, 50);
}
