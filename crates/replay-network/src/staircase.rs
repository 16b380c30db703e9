//! The timing of a worm's flits, computed flit by flit.
//!
//! The computation is valid for buffers of any depth B, for any durations, and for links with reserved cycles. The
//! closed form of [`WormTiming`] is not valid in these cases. When the header starts to cross channel k, the starts of
//! flit f are determined up to channel k - floor(f / B). The last determined channels of the flits form a staircase, so
//! the latest start of each flit is the whole state of a worm. Each step of the header costs one operation per flit.
//! The last step computes all remaining starts, at the cost of one operation per flit and channel.

use super::worm_timing::WormTiming;

/// The constants of a worm.
#[derive(Clone, Copy, Debug)]
pub struct Stairs {
    pub timing: WormTiming,
    /// Last channel of the path.
    pub last: u32,
    pub flits: u32,
    /// Number of flits that a buffer holds, at most `flits`.
    pub depth: u32,
}

/// The starts that determine the earliest possible start of a flit over a channel.
#[derive(Clone, Copy, Default)]
struct Bounds {
    /// Cycle in which this flit starts to cross the previous channel.
    arrival: Option<u64>,
    /// Cycle in which the previous flit starts to cross this channel.
    ahead: Option<u64>,
    /// Cycle in which the flit that must first leave the buffer starts to cross the next channel.
    room: Option<u64>,
}

impl Stairs {
    /// Advances the header, which starts to cross channel `k < last` at `start`. `latest[f]` becomes the latest known
    /// start of flit f; the length of `latest` is the number of flits that have a start. `book` is called with a
    /// channel and the earliest possible start, and returns the actual start.
    pub fn climb(
        &self,
        latest: &mut Vec<u64>,
        k: u32,
        start: u64,
        mut book: impl FnMut(u32, u64) -> u64,
    ) {
        // Latest start of the preceding flit before this call; used if the preceding flit is one channel ahead of flit
        // f.
        let mut below = 0;
        for f in 0..self.flits {
            let Some(at) = k.checked_sub(f / self.depth) else { break };
            let before = latest.get(f as usize).copied();
            let start = if f == 0 {
                start
            } else {
                let same_step = f % self.depth != 0;
                let bounds = Bounds {
                    arrival: before,
                    ahead: Some(if same_step { latest[f as usize - 1] } else { below }),
                    room: f.checked_sub(self.depth).map(|other| latest[other as usize]),
                };
                book(at, self.earliest(at, bounds))
            };
            match before {
                Some(_) => latest[f as usize] = start,
                None => latest.push(start),
            }
            below = before.unwrap_or(0);
        }
    }

    /// Computes all remaining starts when the header starts to cross the last channel at `start`. Starts are computed
    /// in the order of flits, then of channels; `book` determines each start as in [`Stairs::climb`]. `rows` is scratch
    /// space. `tail` is called with the channel and the start for each start of the tail, including the starts that
    /// were known before.
    pub fn drain(
        &self,
        latest: &[u64],
        start: u64,
        rows: &mut Vec<u64>,
        mut book: impl FnMut(u32, u64) -> u64,
        mut tail: impl FnMut(u32, u64),
    ) {
        let Self { last, flits, depth, .. } = *self;
        let base = last.saturating_sub((flits - 1) / depth + 1);
        let width = (last - base + 1) as usize;
        // Row f mod B holds the starts of flit f from channel `base` on. While flit f is computed, the row
        // still holds the starts of flit f - B from the current channel on.
        rows.clear();
        rows.resize(width * depth as usize, 0);
        let place = |f: u32, k: u32| (f % depth) as usize * width + (k - base) as usize;
        for f in 0..flits {
            // The channel of the latest known start.
            let known = (last - 1).checked_sub(f / depth).filter(|_| (f as usize) < latest.len());
            let mut arrival = None;
            for k in known.unwrap_or(0)..=last {
                let start = if known == Some(k) {
                    latest[f as usize]
                } else if f == 0 {
                    start
                } else {
                    let bounds = Bounds {
                        arrival,
                        ahead: Some(rows[place(f - 1, k)]),
                        room: (f >= depth && k < last).then(|| rows[place(f, k + 1)]),
                    };
                    book(k, self.earliest(k, bounds))
                };
                rows[place(f, k)] = start;
                arrival = Some(start);
                if f + 1 == flits {
                    tail(k, start);
                }
            }
        }
    }

    fn earliest(&self, k: u32, bounds: Bounds) -> u64 {
        let Self { timing, last, .. } = self;
        let arrived =
            bounds.arrival.map_or(0, |start| start + timing.cross(k.wrapping_sub(1), *last));
        let idle = bounds.ahead.map_or(0, |start| start + timing.period(k, *last));
        let room = bounds.room.map_or(0, |start| start + timing.leave(k + 1, *last));
        arrived.max(idle).max(room)
    }
}
