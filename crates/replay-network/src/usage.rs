//! The state of a channel, and the traffic that the channel has carried.

use super::channel::Channel;
use replay_engine::table::{Column, Table};

/// Marks the absence of a worm.
pub const NONE: u32 = u32::MAX;
/// Marks a time that is not known yet.
pub const UNKNOWN: u64 = u64::MAX;

/// The holder of a channel and the worms that wait for the channel.
#[derive(Clone, Debug)]
pub struct ChannelState {
    /// Cycle in which the channel becomes or became free; [`UNKNOWN`] while its holder may be blocked.
    pub free_at: u64,
    /// The worm that holds the channel; meaningless once the channel is free.
    pub holder: u32,
    /// First and last waiting worm. `last` is meaningless if no worm waits.
    pub first: u32,
    pub last: u32,
    flits: u64,
    /// Sum of the end times of all reservations, minus the sum of the start times of all reservations.
    busy: u64,
}

impl ChannelState {
    pub const FREE: Self =
        Self { free_at: 0, holder: NONE, first: NONE, last: NONE, flits: 0, busy: 0 };

    /// Reserves the channel for a worm.
    #[inline]
    pub fn hold(&mut self, worm: u32, flits: u32, now: u64) {
        self.holder = worm;
        self.free_at = UNKNOWN;
        self.flits += u64::from(flits);
        self.busy = self.busy.wrapping_sub(now);
    }

    /// Sets the cycle in which the channel becomes free.
    #[inline]
    pub fn close(&mut self, at: u64) {
        self.free_at = at;
        self.busy = self.busy.wrapping_add(at);
    }

    /// Returns the number of flits of the packets that were granted the channel.
    pub fn flits(&self) -> u64 {
        self.flits
    }

    /// Returns the number of cycles up to cycle `now` for which the channel was reserved.
    pub fn busy(&self, now: u64) -> u64 {
        match self.free_at {
            UNKNOWN => self.busy.wrapping_add(now),
            at => self.busy - at.saturating_sub(now),
        }
    }

    /// Returns the traffic that the channel has carried up to cycle `now`.
    pub fn usage(&self, channel: Channel, now: u64) -> Usage {
        Usage { channel, busy: self.busy(now), flits: self.flits }
    }
}

/// The traffic that a channel has carried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The channel.
    pub channel: Channel,
    /// Number of cycles for which the channel was reserved.
    pub busy: u64,
    /// Number of flits of the packets that were granted the channel.
    pub flits: u64,
}

impl Table for Usage {
    const NAME: &'static str = "channels";
    const ROW: &'static str = "one row per channel of a network";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new("channel", "", "the channel", |usage: &Self| usage.channel.to_string()),
            Column::new(
                "busy_cycles",
                "cycles",
                "cycles for which the channel is reserved",
                |usage: &Self| usage.busy,
            ),
            Column::new(
                "carried_flits",
                "flits",
                "flits of the packets that are granted the channel",
                |u: &Self| u.flits,
            ),
        ]
    }
}

/// Numbers of flits that were granted a crossing, for each kind of channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flits {
    /// Number of flits between routers, counted once per link (flit-hops).
    pub links: u64,
    /// Number of flits from processing elements to routers.
    pub injection: u64,
    /// Number of flits from routers to processing elements.
    pub ejection: u64,
}
