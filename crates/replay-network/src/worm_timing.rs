//! When the flits of a worm move, in closed form.
//!
//! With single-flit buffers and injection no slower than the links (and a header that takes
//! at least one cycle from one channel to the next), the flits of a worm
//! whose header starts over channel k at cycle t follow it on the diagonal: flit f starts
//! over channel k - f at t + f h, where h is `link` with hand-shake, else 0. Once the header
//! starts over the ejection channel K, at cycle t, nothing can block the rest. One flit
//! leaves every c cycles, and flit f starts over channel K - j at
//!
//! ```text
//! hand-shake   t + f c                          j = 0        c = link + eject, eject >= link
//!              t + (f - j + 1) c + (j - 2) link 1 <= j <= f
//! pipelined    t + (f - j) c                    0 <= j <= f  c = max(link, eject)
//! ```
//!
//! Both follow from the three conditions of the module's documentation by induction over f;
//! tests compare them with the conditions worked out flit by flit. A look costs a few
//! additions, whatever the length of the packet.

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
    /// Cycles by which a flit of a moving worm starts later than the one before it started
    /// over the next channel: those for which a buffer stays taken when its flit moves on.
    pub lag: u64,
    handshake: bool,
    /// Cycles between two flits over the ejection channel.
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
                // A flit is injected no sooner than a cycle after the one before it.
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

    /// Cycles of a flit over channel k of a path whose last channel is `last`.
    #[inline]
    pub fn cross(&self, k: u32, last: u32) -> u64 {
        match k {
            0 => self.inject,
            k if k == last => self.eject,
            _ => self.link,
        }
    }

    /// Cycles from one flit over channel k to the next.
    #[inline]
    pub fn period(&self, k: u32, last: u32) -> u64 {
        self.cross(k, last).max(1)
    }

    /// Cycles for which a buffer stays taken while its flit goes over channel k.
    #[inline]
    pub fn leave(&self, k: u32, last: u32) -> u64 {
        if self.handshake { self.cross(k, last) } else { 0 }
    }

    /// Cycles for which channel k stays reserved behind the tail.
    #[inline]
    pub fn kept(&self, k: u32) -> u64 {
        if k == 0 { self.release_injection } else { self.release }
    }

    /// Start of flit f over the channel f places behind the header's, which it starts over at
    /// `header`, a channel before the last.
    #[inline]
    pub fn moving(&self, header: u64, f: u32) -> u64 {
        header + u64::from(f) * self.lag
    }

    /// Start of flit f over the channel `j <= f` places before the last, over which the header
    /// starts at `header`.
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
