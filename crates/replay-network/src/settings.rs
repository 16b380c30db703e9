//! Timing, buffers and switching of a network, and the two published presets.
//!
//! Settings are written as a preset, `lo` or `bani-mohammad`; parameters that differ from the preset follow in
//! brackets: `lo[depth=2,switching=virtual-cut-through]`.

mod names;

use serde::{Deserialize, Serialize};

use replay_engine::naming::NameError;

pub(super) use names::table;

/// The time at which a flit frees its buffer for the next flit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// The flit has completed its crossing of the next channel.
    Handshake,
    /// The flit starts to cross the next channel.
    Pipelined,
}

/// The switching technique, which determines the size of buffers and the distance between a packet's header and its
/// tail.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// Buffers hold [`Settings::depth`] flits. A blocked packet stays spread over several channels.
    Wormhole,
    /// Buffers hold a whole packet. The flits of a blocked packet are gathered behind its header.
    VirtualCutThrough,
    /// Buffers hold a whole packet. A header continues only after the tail has arrived.
    StoreAndForward,
}

/// The constants of a network; times are in cycles, and sizes of buffers are in flits. The [crate](crate) documentation
/// defines their meaning.
///
/// ```
/// use replay_network::Settings;
/// let settings: Settings = "lo[depth=2]".parse()?;
/// assert_eq!(settings, Settings { depth: 2, ..Settings::LO });
/// assert_eq!(settings.to_string(), "lo[depth=2]");
/// # Ok::<(), replay_engine::naming::NameError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Time to route a header in each router, including the routers of the sender and the receiver.
    pub route: u32,
    /// Time for a flit to cross the injection channel.
    pub inject: u32,
    /// Time for a flit to cross a network channel; at least 1.
    pub link: u32,
    /// Time for a flit to cross the ejection channel.
    pub eject: u32,
    /// Time for which a network or ejection channel stays reserved after the tail has left the channel.
    pub release: u32,
    /// Time for which an injection channel stays reserved after the tail has left the channel.
    pub release_injection: u32,
    /// Size, in flits, of the buffer at the receiving end of every channel; at least 1. The size of the buffer is used
    /// only with wormhole switching.
    pub depth: u32,
    /// The time at which a flit frees its buffer.
    pub flow: FlowControl,
    /// Wormhole, virtual cut-through or store-and-forward.
    pub switching: Switching,
}

impl Settings {
    /// The hand-shake network that reproduces Lo, Windisch, Liu, Nitzberg (CIS-TR-94-11,
    /// Table 2). A packet of 8 flits over d hops takes 27 + 4 d cycles without blocking.
    pub const LO: Self = Self {
        route: 3,
        inject: 1,
        link: 1,
        eject: 2,
        release: 2,
        release_injection: 0,
        depth: 1,
        flow: FlowControl::Handshake,
        switching: Switching::Wormhole,
    };

    /// The pipelined network of Bani-Mohammad (PhD thesis, chapter 4, Table 4.1). A packet of
    /// 8 flits over d hops takes 4 d + 10 cycles without blocking.
    pub const BANI_MOHAMMAD: Self = Self {
        route: 3,
        inject: 0,
        link: 1,
        eject: 0,
        release: 0,
        release_injection: 0,
        depth: 1,
        flow: FlowControl::Pipelined,
        switching: Switching::Wormhole,
    };

    /// Number of flits of a packet in the experiments of both papers.
    pub const PACKET_FLITS: u32 = 8;

    /// The presets with their names.
    pub const PRESETS: [(&'static str, Self); 2] =
        [("lo", Self::LO), ("bani-mohammad", Self::BANI_MOHAMMAD)];

    /// Largest value of any constant.
    pub const MAX: u32 = 1 << 16;

    /// Checks that a network can be built from these constants.
    ///
    /// # Errors
    /// [`SettingsError`] with the first constant out of its range.
    pub fn validate(&self) -> Result<(), SettingsError> {
        Ok(names::TABLE.check(self)?)
    }
}

/// Error: no network can be built from the settings on this machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// A constant is out of range.
    #[error(transparent)]
    OutOfRange(#[from] NameError),
    /// Links of a torus must take one cycle, because virtual channels share links flit by flit.
    #[error(
        "parameter link is {0}, but must be 1 on a torus, because two virtual channels share each link"
    )]
    SlowTorus(u32),
    /// The machine consists of several tori, and the links between them are not defined.
    #[error(
        "machine {0} has no defined network: links between several tori, between switches or blocks, and around holes are not modelled"
    )]
    NoLinks(String),
}
