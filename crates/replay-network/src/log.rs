//! A record of every crossing and every release, for looking at single worms.

/// Starts of flits and releases of channels, in the order in which they were settled, which
/// is ahead of the cycles that they name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlitLog {
    /// Every crossing.
    pub starts: Vec<Start>,
    /// Every release.
    pub releases: Vec<Release>,
}

/// A flit starts to cross a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Start {
    /// Tag of the packet.
    pub tag: u64,
    /// Flit, 0 being the header.
    pub flit: u32,
    /// Place of the channel on the packet's path, 0 being the injection channel.
    pub place: u32,
    /// When.
    pub cycle: u64,
}

/// A channel ceases to be reserved for a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Release {
    /// Tag of the packet.
    pub tag: u64,
    /// Place of the channel on the packet's path.
    pub place: u32,
    /// When.
    pub cycle: u64,
}
