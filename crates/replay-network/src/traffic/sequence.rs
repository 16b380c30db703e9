//! The packets of a job one after another.

use super::rule::Rule;
use super::stretch::Stretch;

/// A place in the sequence of a stretch's packets: step by step; in a step in rounds, each with
/// one packet of every sender that has packets left, in order of rank, and where all send to the
/// same receivers in the same order, one [receiver](Rule::in_round) to a round; or, if the rule goes
/// [one by one](Rule::one_by_one), one sender after the other.
#[derive(Clone, Debug)]
pub struct Sequence {
    stretch: Stretch,
    step: u32,
    /// InjectionQueues of the step that have packets left in the round.
    live: Vec<u32>,
    /// Which of them is next.
    at: usize,
    /// The round, or one by one the number of its next packet.
    round: u64,
}

impl Sequence {
    /// At the beginning of a stretch.
    pub fn new(stretch: Stretch, rule: &mut Rule) -> Self {
        let mut sequence = Self { stretch, step: stretch.first, live: Vec::new(), at: 0, round: 0 };
        sequence.restart(stretch, rule);
        sequence
    }

    /// Goes to the beginning of a stretch.
    pub fn restart(&mut self, stretch: Stretch, rule: &mut Rule) {
        self.stretch = stretch;
        self.enter(stretch.first, rule);
    }

    /// Sender and receiver of the next packet; `None` at the end of the stretch.
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
            // One by one, all senders of the step have had their turn.
            if !rule.one_by_one() {
                (self.at, self.round) = (0, self.round + 1);
                self.live.retain(|&rank| rule.rounds(self.step, rank) > self.round);
                if !self.live.is_empty() {
                    continue;
                }
            }
            let next = self.stretch.after(self.step)?;
            self.enter(next, rule);
        }
    }

    fn enter(&mut self, step: u32, rule: &mut Rule) {
        rule.senders(step, &mut self.live);
        (self.step, self.at, self.round) = (step, 0, 0);
    }
}
