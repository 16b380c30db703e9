//! When the jobs on a machine are to end, as their users say: what EF knows.

use crate::allocator::Times;
use crate::placement::ties::nearness;
use crate::topology::NodeId;

/// By processor: when the job that holds it is to end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Seconds of the trace; [`UNKNOWN`] for a job without a limit, and where no job runs.
    ends: Vec<i64>,
}

const UNKNOWN: i64 = i64::MIN;

/// The most that a processor counts.
pub const HIGHEST_LEVEL: u32 = 4;

impl Ends {
    /// Of an empty machine.
    pub fn new(processors: usize) -> Self {
        Self { ends: vec![UNKNOWN; processors] }
    }

    /// A job starts on `nodes`.
    pub fn start(&mut self, nodes: &[NodeId], times: Times) {
        let end = times.limit.map_or(UNKNOWN, |limit| times.now.saturating_add(i64::from(limit)));
        nodes.iter().for_each(|node| self.ends[node.index()] = end);
    }

    /// Jobs leave `nodes`.
    pub fn end(&mut self, nodes: &[NodeId]) {
        nodes.iter().for_each(|node| self.ends[node.index()] = UNKNOWN);
    }

    /// All jobs leave.
    pub fn reset(&mut self) {
        self.ends.fill(UNKNOWN);
    }

    /// How near the end of the job at `node` is to that of a new one: with d the seconds between
    /// them, and r the new job's limit, 4 if 8 d <= r, 3 if 4 d <= r, 2 if 2 d <= r, 1 if d <= r,
    /// else 0; also 0 if one of them has no limit, or no job is there. A job that has outrun its
    /// limit is to end now.
    #[inline]
    pub fn level(&self, node: NodeId, new: Times) -> u32 {
        let (end, Some(limit)) = (self.ends[node.index()], new.limit) else { return 0 };
        if end == UNKNOWN {
            return 0;
        }
        let limit = u64::from(limit);
        let apart = end.max(new.now).abs_diff(new.now.saturating_add(limit as i64));
        nearness(apart, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_halve_with_the_distance() {
        let mut ends = Ends::new(4);
        let running = |limit| Times { now: 100, limit };
        ends.start(&[NodeId(0)], running(Some(900)));
        ends.start(&[NodeId(1)], running(None));
        let level = |ends: &Ends, node, now, limit| ends.level(NodeId(node), Times { now, limit });
        // The job on 0 is to end at 1000; a new one of 800 seconds at 200 to 1800, 1900, ...
        for (end, expected) in [
            (1000, 4),
            (1100, 4),
            (1101, 3),
            (1200, 3),
            (1201, 2),
            (1400, 2),
            (1401, 1),
            (1800, 1),
            (1801, 1),
            (199, 0),
            (900, 4),
            (899, 3),
            (200, 1),
        ] {
            assert_eq!(level(&ends, 0, end - 800, Some(800)), expected, "{end}");
        }
        assert_eq!(level(&ends, 0, 200, None), 0, "the new job has no limit");
        assert_eq!(level(&ends, 1, 200, Some(800)), 0, "the running job has none");
        assert_eq!(level(&ends, 2, 200, Some(800)), 0, "nobody is there");
        // It should have ended at 1000, and is to end at 5000, now.
        assert_eq!(level(&ends, 0, 5000, Some(8)), 1);
        ends.end(&[NodeId(0)]);
        assert_eq!(level(&ends, 0, 200, Some(800)), 0);
    }
}
