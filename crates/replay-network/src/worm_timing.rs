//! The timing of a worm's flits, in closed form.
//!
//! The flits of a worm follow their header on a diagonal under three conditions: buffers hold a single flit, injection
//! is no slower than the links, and a header takes at least one cycle from one channel to the next. If the header
//! starts to cross channel k at cycle t, flit f starts to cross channel k - f at t + f h, where h is `link` with
//! hand-shake, and 0 otherwise. Once the header starts to cross the ejection channel K, at cycle t, the other flits
//! cannot be blocked. One flit leaves every c cycles, and flit f starts over channel K - j at
//!
//! ```text
//! hand-shake   t + f c                          j = 0        c = link + eject, eject >= link
//!              t + (f - j + 1) c + (j - 2) link 1 <= j <= f
//! pipelined    t + (f - j) c                    0 <= j <= f  c = max(link, eject)
//! ```
//!
//! The formulas for the starts of flits follow by induction over f from the three conditions in the crate's
//! documentation. Tests compare the formulas with the conditions evaluated flit by flit. A query takes a few additions,
//! regardless of the length of the packet.

use super::settings::{FlowControl, Settings, Switching};

/// The timing of a network's worms.
#[derive(Clone, Copy, Debug)]
pub struct WormTiming {
    /// Whether the closed form holds, for routes of at least one hop.
    pub closed: bool,
    pub route: u64,
    pub inject: u64,
    pub link: u64,
    pub eject: u64,
    pub release: u64,
    pub release_injection: u64,
    /// Number of cycles for which a buffer stays occupied when its flit moves on. The number equals the time from the
    /// start of a flit over a channel to the start of the next flit over the previous channel.
    pub lag: u64,
    handshake: bool,
    /// Number of cycles between two flits over the ejection channel.
    drain: u64,
}

impl WormTiming {
    pub fn new(settings: &Settings) -> Self {
        let [route, inject, link, eject, release, release_injection] = [
            settings.route,
            settings.inject,
            settings.link,
            settings.eject,
            settings.release,
            settings.release_injection,
        ]
        .map(u64::from);
        let handshake = settings.flow == FlowControl::Handshake;
        let wormhole = settings.switching == Switching::Wormhole;
        let lag = if handshake { link } else { 0 };
        Self {
            closed: wormhole
                && settings.depth == 1
                && inject <= link
                && (eject >= link || !handshake)
                // A flit is injected at least one cycle after the previous flit.
                && inject + route + lag >= 1,
            route,
            inject,
            link,
            eject,
            release,
            release_injection,
            lag,
            handshake,
            drain: if handshake { link + eject } else { link.max(eject) },
        }
    }

    /// Returns the number of cycles that a flit takes over channel k. `last` is the number of the last channel of the
    /// path.
    #[inline]
    pub fn cross(&self, k: u32, last: u32) -> u64 {
        match k {
            0 => self.inject,
            k if k == last => self.eject,
            _ => self.link,
        }
    }

    /// Returns the number of cycles between the starts of two consecutive flits over channel k.
    #[inline]
    pub fn period(&self, k: u32, last: u32) -> u64 {
        self.cross(k, last).max(1)
    }

    /// Returns the number of cycles for which a buffer stays occupied while its flit crosses channel k.
    #[inline]
    pub fn leave(&self, k: u32, last: u32) -> u64 {
        if self.handshake { self.cross(k, last) } else { 0 }
    }

    /// Returns the number of cycles for which channel k stays reserved behind the tail.
    #[inline]
    pub fn release_delay(&self, k: u32) -> u64 {
        if k == 0 { self.release_injection } else { self.release }
    }

    /// Returns the cycle in which flit f starts to cross the channel that is f positions behind the header's channel.
    /// The header starts to cross its channel at `header`; this channel must not be the last channel.
    #[inline]
    pub fn moving(&self, header: u64, f: u32) -> u64 {
        header + u64::from(f) * self.lag
    }

    /// Returns the cycle in which flit f starts to cross the channel that is `j <= f` positions before the last
    /// channel. The header starts to cross the last channel at `header`.
    #[inline]
    pub fn draining(&self, header: u64, f: u32, j: u32) -> u64 {
        let behind = u64::from(f - j);
        match j {
            0 => header + behind * self.drain,
            j if self.handshake => {
                header + (behind + 1) * self.drain + u64::from(j) * self.link - 2 * self.link
            }
            _ => header + behind * self.drain,
        }
    }
}
