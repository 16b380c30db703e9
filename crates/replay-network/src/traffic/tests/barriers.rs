//! Tests of barriers, with timelines computed by hand.
//!
//! On a line of processors, a packet of [`Settings::LO`] over d hops takes 27 + 4 d cycles. The tail of the packet has
//! left the sender after 27 cycles (vector V1 of the hand-shake network), and channels are free again before a later
//! packet arrives.

use super::*;

/// Returns the number of cycles that a job takes on the first `n` processors of a line.
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
    // The packets to ranks 1, 2 and 3 take 31, 35 and 39 cycles.
    let one = |sends| cycles(&format!("one-to-all[root=first,sends={sends}]"), 4, 3);
    assert_eq!(one("sequential"), 31 + 35 + 39);
    // The first two tails leave the sender 27 cycles and 29 + 27 - 1 cycles after the start; vector V5 explains the
    // second number.
    let pipelined = one("pipelined");
    assert!(pipelined < 31 + 35 + 39 && pipelined > 2 * 27 + 39);
    // Packets that are added to the queue at once take the same time as packets that are sent one after another.
    assert_eq!(one("at-once"), pipelined);
}

#[test]
fn a_barrier_ends_in_the_cycle_of_the_last_delivery() {
    // With two processes, every step of n-body consists of the packets 0 -> 1 and 1 -> 0, which use different channels.
    assert_eq!(cycles("n-body", 2, 2), 31);
    // The next step starts at cycle 31; the channels of the previous step are free at cycle 33 at the latest, before
    // the headers arrive.
    assert_eq!(cycles("n-body", 2, 4), 62);
    assert_eq!(cycles("n-body", 2, 6), 93);
    // Without barriers, a process continues when the tail of its packet has left, at cycle 27.
    let free = cycles("n-body[barrier=none]", 2, 4);
    assert!(free > 27 + 31 && free < 62, "{free}");
    assert_eq!(cycles("n-body[barrier=iteration]", 2, 4), free);
    assert_eq!(cycles("n-body[barrier=none,sends=sequential]", 2, 4), 62);
}

#[test]
fn a_barrier_waits_for_the_slowest() {
    // In the ring of four processes on a line, the packet 3 -> 0 takes 3 hops, which are 39 cycles, and the other
    // processes wait for this packet.
    assert_eq!(cycles("n-body", 4, 4), 39);
    assert_eq!(cycles("n-body", 4, 5), 39 + 31);
    // Without the barrier, the other processes do not wait, and rank 0 sends its second packet at cycle 27.
    assert!(cycles("n-body[barrier=iteration]", 4, 5) < 39 + 31);
    // The steps follow each other, and the next iteration follows the last step.
    let steps = [4, 8, 12, 16].map(|packets| cycles("n-body", 4, packets));
    assert!(steps.is_sorted_by(|a, b| a + 31 <= *b), "{steps:?}");
    assert_eq!(steps[3], steps[2] + 39);
}

#[test]
fn a_sequential_stream_of_the_job_has_one_packet_in_flight() {
    // The packets are 0 -> 1, then 1 -> 2, then 2 -> 0 (over two hops), and then 0 -> 2.
    let chain = "all-to-all[order=shifted,stream=job,sends=sequential]";
    let ends = [1, 2, 3, 4].map(|packets| cycles(chain, 3, packets));
    assert_eq!(ends, [31, 62, 97, 132]);
    // With `sends=pipelined`, the next packet starts when the tail of the previous packet has left, so different
    // senders begin 27 cycles apart.
    let chain = "all-to-all[order=shifted,stream=job]";
    assert_eq!([1, 2].map(|packets| cycles(chain, 3, packets)), [31, 58]);
}

#[test]
fn packets_sent_at_once_wait_in_queues() {
    let mut traffic = traffic("16x1", Settings::LO);
    let demand = demand("all-to-all[preset=bani-mohammad]", Quota::fixed(50));
    traffic.start(0, &nodes(0..4), &demand).expect("on the machine");
    assert_eq!(traffic.network().in_flight(), 50);
    assert_eq!(finish(&mut traffic)[0].packets, 50);
}

#[test]
fn a_barrier_limits_the_packets_sent_at_once() {
    let mut traffic = traffic("16x1", Settings::LO);
    traffic
        .start(0, &nodes(0..4), &demand("all-to-all[sends=at-once]", Quota::fixed(50)))
        .expect("legal");
    // The packets of one iteration are in flight.
    assert_eq!(traffic.network().in_flight(), 12);
    assert_eq!(finish(&mut traffic)[0].packets, 50);
}
