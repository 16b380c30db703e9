//! The packets of a job, one after another.

use super::rule::Rule;
use super::segment::Segment;

/// A position in the sequence of the packets of a segment. The sequence is ordered by steps, and a step is ordered by
/// rounds. A round contains one packet of every sender that has packets left, in order of rank. If all ranks send to
/// the same receivers in the same order, all packets of a round have the same [receiver](Rule::in_round). If the rule
/// is [one by one](Rule::one_by_one), a step has no rounds; it contains all packets of the first sender, then all
/// packets of the next sender, and so on.
#[derive(Clone, Debug)]
pub struct Sequence {
    segment: Segment,
    step: u32,
    /// Senders of the step that have packets to send in the current or a later round.
    live: Vec<u32>,
    /// Index of the next sender in `live`.
    at: usize,
    /// Number of the round. If the rule is [one by one](Rule::one_by_one), the value is the index of the sender's next
    /// packet.
    round: u64,
}

impl Sequence {
    /// Creates a sequence at the beginning of a segment.
    pub fn new(segment: Segment, rule: &mut Rule) -> Self {
        let mut sequence = Self { segment, step: segment.first, live: Vec::new(), at: 0, round: 0 };
        sequence.restart(segment, rule);
        sequence
    }

    /// Moves to the beginning of a segment.
    pub fn restart(&mut self, segment: Segment, rule: &mut Rule) {
        self.segment = segment;
        self.enter(segment.first, rule);
    }

    /// Returns sender and receiver of the next packet; `None` at the end of the segment.
    pub fn next(&mut self, rule: &mut Rule) -> Option<(u32, u32)> {
        loop {
            if let Some(&rank) = self.live.get(self.at) {
                let mut k = self.round;
                if rule.one_by_one() {
                    if k == rule.count(self.step, rank) {
                        (self.at, self.round) = (self.at + 1, 0);
                        continue;
                    }
                    self.round += 1;
                } else {
                    self.at += 1;
                    match rule.in_round(rank, self.round) {
                        Some(packet) => k = packet,
                        None => continue,
                    }
                }
                return Some((rank, rule.target(self.step, rank, k)));
            }
            // If the rule is one by one, all senders of the step have sent all their packets.
            if !rule.one_by_one() {
                (self.at, self.round) = (0, self.round + 1);
                self.live.retain(|&rank| rule.rounds(self.step, rank) > self.round);
                if !self.live.is_empty() {
                    continue;
                }
            }
            let next = self.segment.after(self.step)?;
            self.enter(next, rule);
        }
    }

    fn enter(&mut self, step: u32, rule: &mut Rule) {
        rule.senders(step, &mut self.live);
        (self.step, self.at, self.round) = (step, 0, 0);
    }
}
