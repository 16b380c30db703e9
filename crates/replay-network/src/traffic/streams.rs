//! The packets of each process, one after another.

use super::rule::Rule;
use super::segment::Segment;

/// The positions of all processes in a segment.
#[derive(Clone, Debug)]
pub struct Streams {
    segment: Segment,
    /// Position of the process of each rank.
    cursors: Vec<Cursor>,
    /// Processes that may have packets in the segment.
    live: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cursor {
    step: u32,
    /// Index of the next packet of the process in the step.
    k: u64,
}

impl Streams {
    /// Creates the positions of `n` processes at the beginning of a segment.
    pub fn new(segment: Segment, n: usize, rule: &mut Rule) -> Self {
        let start = Cursor { step: segment.first, k: 0 };
        let mut streams = Self { segment, cursors: vec![start; n], live: Vec::new() };
        streams.restart(segment, rule);
        streams
    }

    /// Moves to the beginning of a segment.
    pub fn restart(&mut self, segment: Segment, rule: &mut Rule) {
        self.segment = segment;
        if segment.end - segment.first == 1 {
            rule.senders(segment.first, &mut self.live);
        } else {
            self.live.clear();
            self.live.extend(0..self.cursors.len() as u32);
        }
        for &rank in &self.live {
            self.cursors[rank as usize] = Cursor { step: segment.first, k: 0 };
        }
    }

    /// Returns the processes that may have packets in the segment, in order of rank.
    pub fn live(&self) -> &[u32] {
        &self.live
    }

    /// Returns the receiver of the next packet of a rank; `None` at the end of the segment, or if the rank sends
    /// nothing in the segment.
    #[inline]
    pub fn next(&mut self, rank: u32, rule: &mut Rule) -> Option<u32> {
        let cursor = &mut self.cursors[rank as usize];
        // If the segment repeats, pass through the segment at most once.
        for _ in self.segment.first..=self.segment.end {
            let Cursor { step, k } = *cursor;
            if k < rule.count(step, rank) {
                cursor.k += 1;
                return Some(rule.target(step, rank, k));
            }
            *cursor = Cursor { step: self.segment.after(step)?, k: 0 };
        }
        None
    }
}
