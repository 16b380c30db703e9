//! The packets of each process one after another.

use super::rule::Rule;
use super::stretch::Stretch;

/// The places of all processes in a stretch.
#[derive(Clone, Debug)]
pub struct Streams {
    stretch: Stretch,
    /// By rank.
    cursors: Vec<Cursor>,
    /// The processes that may have packets in the stretch.
    live: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cursor {
    step: u32,
    /// Number of the next packet in the step.
    k: u64,
}

impl Streams {
    /// At the beginning of a stretch, for `n` processes.
    pub fn new(stretch: Stretch, n: usize, rule: &mut Rule) -> Self {
        let start = Cursor { step: stretch.first, k: 0 };
        let mut streams = Self { stretch, cursors: vec![start; n], live: Vec::new() };
        streams.restart(stretch, rule);
        streams
    }

    /// Goes to the beginning of a stretch.
    pub fn restart(&mut self, stretch: Stretch, rule: &mut Rule) {
        self.stretch = stretch;
        if stretch.end - stretch.first == 1 {
            rule.senders(stretch.first, &mut self.live);
        } else {
            self.live.clear();
            self.live.extend(0..self.cursors.len() as u32);
        }
        for &rank in &self.live {
            self.cursors[rank as usize] = Cursor { step: stretch.first, k: 0 };
        }
    }

    /// The processes that may have packets in the stretch, in order of rank.
    pub fn live(&self) -> &[u32] {
        &self.live
    }

    /// The receiver of the next packet of a rank; `None` at the end of the stretch, and if
    /// the rank never sends.
    #[inline]
    pub fn next(&mut self, rank: u32, rule: &mut Rule) -> Option<u32> {
        let cursor = &mut self.cursors[rank as usize];
        // A stretch that repeats is gone round once at most.
        for _ in self.stretch.first..=self.stretch.end {
            let Cursor { step, k } = *cursor;
            if k < rule.count(step, rank) {
                cursor.k += 1;
                return Some(rule.target(step, rank, k));
            }
            *cursor = Cursor { step: self.stretch.after(step)?, k: 0 };
        }
        None
    }
}
