//! When the flits of a worm move, worked out flit by flit.
//!
//! For buffers of any depth B, any durations, and links whose cycles are booked: where the
//! closed form of [`WormTiming`] does not hold. When the header starts over channel k, flit f can
//! be worked out up to channel k - f / B (rounded down): the flits stand on a staircase, and
//! a worm is known by the latest start of each. A step of the header costs one operation per
//! flit; the last one works out all that is left, one operation per flit and channel.

use super::worm_timing::WormTiming;

/// A worm's constants.
#[derive(Clone, Copy, Debug)]
pub struct Stairs {
    pub pace: WormTiming,
    /// Last channel of the path.
    pub last: u32,
    pub flits: u32,
    /// Flits a buffer holds, at most `flits`.
    pub depth: u32,
}

/// The starts that bound another one.
#[derive(Clone, Copy, Default)]
struct Bounds {
    /// Of the same flit over the channel before.
    arrival: Option<u64>,
    /// Of the flit before over the same channel.
    ahead: Option<u64>,
    /// Of the flit that makes room, over the next channel.
    room: Option<u64>,
}

impl Stairs {
    /// The header starts over channel `k < last` at `start`. `latest[f]` becomes the latest
    /// start known of flit f (its length, the flits that have a start). `book` gets flit,
    /// channel and earliest start, and answers with the start.
    pub fn climb(
        &self,
        latest: &mut Vec<u64>,
        k: u32,
        start: u64,
        mut book: impl FnMut(u32, u32, u64) -> u64,
    ) {
        // The start of the flit before on the step below, when that was its latest.
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
                book(f, at, self.earliest(at, bounds))
            };
            match before {
                Some(_) => latest[f as usize] = start,
                None => latest.push(start),
            }
            below = before.unwrap_or(0);
        }
    }

    /// The header starts over the last channel at `start`: all other starts, in order of
    /// flits, then of channels, go through `book` as in [`Stairs::climb`]. `rows` is scratch.
    /// Those of the tail, known ones included, are given to `tail` as (channel, start).
    pub fn drain(
        &self,
        latest: &[u64],
        start: u64,
        rows: &mut Vec<u64>,
        mut book: impl FnMut(u32, u32, u64) -> u64,
        mut tail: impl FnMut(u32, u64),
    ) {
        let Self { last, flits, depth, .. } = *self;
        let base = last.saturating_sub((flits - 1) / depth + 1);
        let width = (last - base + 1) as usize;
        // Row f mod B holds the starts of flit f from channel `base` on; while flit f is
        // being worked out, those of flit f - B from the channel in hand on.
        rows.clear();
        rows.resize(width * depth as usize, 0);
        let place = |f: u32, k: u32| (f % depth) as usize * width + (k - base) as usize;
        for f in 0..flits {
            // The channel of the latest start known.
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
                    book(f, k, self.earliest(k, bounds))
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
        let Self { pace, last, .. } = self;
        let arrived =
            bounds.arrival.map_or(0, |start| start + pace.cross(k.wrapping_sub(1), *last));
        let idle = bounds.ahead.map_or(0, |start| start + pace.period(k, *last));
        let room = bounds.room.map_or(0, |start| start + pace.leave(k + 1, *last));
        arrived.max(idle).max(room)
    }
}
