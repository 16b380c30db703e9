//! A record of every crossing and every release, for inspecting single worms.

/// A log of the starts of flits and of the releases of channels. Entries are in the order in which the engine
/// determines them. The engine determines each entry before the cycle of the entry.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlitLog {
    /// The crossings that flits start.
    pub starts: Vec<Start>,
    /// The releases of channels.
    pub releases: Vec<Release>,
}

/// The start of a flit's crossing of a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Start {
    /// Tag of the packet.
    pub tag: u64,
    /// Number of the flit; 0 is the header.
    pub flit: u32,
    /// Position of the channel on the packet's path; 0 is the injection channel.
    pub place: u32,
    /// Cycle of the start.
    pub cycle: u64,
}

/// The end of a channel's reservation for a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Release {
    /// Tag of the packet.
    pub tag: u64,
    /// Position of the channel on the packet's path.
    pub place: u32,
    /// Cycle of the release.
    pub cycle: u64,
}
