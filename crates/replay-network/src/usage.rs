//! Channels as the engine keeps them, and what they have carried.

use super::channel::Channel;
use replay_core::table::{Column, Table, name};

/// No worm.
pub const NONE: u32 = u32::MAX;
/// A time not known yet.
pub const UNKNOWN: u64 = u64::MAX;

/// Who has a channel and who waits for it.
#[derive(Clone, Debug)]
pub struct Line {
    /// When it becomes free, or became so; [`UNKNOWN`] while its worm may be blocked.
    pub free_at: u64,
    /// Its worm; without meaning once it is free.
    pub holder: u32,
    /// First and last worm that waits; the last has no meaning if there is no first.
    pub first: u32,
    pub last: u32,
    flits: u64,
    /// Sum of the ends of its reservations less that of their beginnings.
    busy: u64,
}

impl Line {
    pub const FREE: Self =
        Self { free_at: 0, holder: NONE, first: NONE, last: NONE, flits: 0, busy: 0 };

    /// Reserves it for a worm.
    #[inline]
    pub fn hold(&mut self, worm: u32, flits: u32, now: u64) {
        self.holder = worm;
        self.free_at = UNKNOWN;
        self.flits += u64::from(flits);
        self.busy = self.busy.wrapping_sub(now);
    }

    /// Settles when it will be free.
    #[inline]
    pub fn close(&mut self, at: u64) {
        self.free_at = at;
        self.busy = self.busy.wrapping_add(at);
    }

    /// Flits of the packets that it was granted to.
    pub fn flits(&self) -> u64 {
        self.flits
    }

    /// Cycles for which it was reserved up to cycle `now`.
    pub fn busy(&self, now: u64) -> u64 {
        match self.free_at {
            UNKNOWN => self.busy.wrapping_add(now),
            at => self.busy - at.saturating_sub(now),
        }
    }

    /// What it has carried up to cycle `now`.
    pub fn usage(&self, channel: Channel, now: u64) -> Usage {
        Usage { channel, busy: self.busy(now), flits: self.flits }
    }
}

/// What a channel has carried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The channel.
    pub channel: Channel,
    /// Cycles for which it was reserved.
    pub busy: u64,
    /// Flits of the packets that it was granted to.
    pub flits: u64,
}

impl Table for Usage {
    const NAME: &'static str = "channels";
    const ROW: &'static str = "one row per channel of a network";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new(name::channel, "", "the channel", |usage: &Self| usage.channel.to_string()),
            Column::new(name::busy_cycles, "cycles", "how long it was reserved", |usage: &Self| {
                usage.busy
            }),
            Column::new(
                name::carried_flits,
                "flits",
                "flits of the packets it was granted to",
                |u: &Self| u.flits,
            ),
        ]
    }
}

/// Flits granted a crossing, by kind of channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flits {
    /// Between routers: flit-hops.
    pub links: u64,
    /// From processing elements.
    pub injection: u64,
    /// To processing elements.
    pub ejection: u64,
}
