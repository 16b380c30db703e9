//! Timing, buffers and switching of a network, and the two published presets.
//!
//! Written `lo` or `bani-mohammad`, with parameters that differ in brackets:
//! `lo[depth=2,switching=virtual-cut-through]`.

mod names;

use serde::{Deserialize, Serialize};

use replay_core::naming::NameError;

pub(super) use names::table;

/// When a flit makes room in its buffer for the next one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// When it has completed its crossing of the next channel.
    Handshake,
    /// When it starts to cross the next channel.
    Pipelined,
}

/// How far a packet's header may run ahead of its tail, and what a buffer holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// Buffers of [`Settings::depth`] flits: a blocked packet stays spread over channels.
    Wormhole,
    /// Buffers of a whole packet: a blocked packet is gathered behind its header.
    VirtualCutThrough,
    /// Buffers of a whole packet, and a header goes on only after its tail has arrived.
    StoreAndForward,
}

/// Constants of a network; times in cycles, buffers in flits. The module's documentation
/// says what each does.
///
/// ```
/// use replay_network::Settings;
/// let settings: Settings = "lo[depth=2]".parse()?;
/// assert_eq!(settings, Settings { depth: 2, ..Settings::LO });
/// assert_eq!(settings.to_string(), "lo[depth=2]");
/// # Ok::<(), replay_core::naming::NameError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Routing of a header in every router, source and destination included.
    pub route: u32,
    /// One flit over the injection channel.
    pub inject: u32,
    /// One flit over a network channel; at least 1.
    pub link: u32,
    /// One flit over the ejection channel.
    pub eject: u32,
    /// A network or ejection channel stays reserved this long after the tail has left it.
    pub release: u32,
    /// The same of an injection channel.
    pub release_injection: u32,
    /// Buffer at the receiving end of every channel, in flits, at least 1; of no account
    /// unless the switching is wormhole.
    pub depth: u32,
    /// When a buffer has room again.
    pub flow: FlowControl,
    /// Wormhole, virtual cut-through or store-and-forward.
    pub switching: Switching,
}

impl Settings {
    /// The hand-shake network that reproduces Lo, Windisch, Liu, Nitzberg (CIS-TR-94-11,
    /// Table 2). A packet of 8 flits over d hops takes 27 + 4 d cycles if nothing blocks it.
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

    /// The pipelined network of Bani-Mohammad (PhD thesis, chapter 4, Table 4.1). A packet
    /// of 8 flits over d hops takes 4 d + 10 cycles if nothing blocks it.
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

    /// Flits of a packet in the experiments of both presets' sources.
    pub const PACKET_FLITS: u32 = 8;

    /// Every preset with its name.
    pub const PRESETS: [(&'static str, Self); 2] =
        [("lo", Self::LO), ("bani-mohammad", Self::BANI_MOHAMMAD)];

    /// The largest value of any constant.
    pub const MAX: u32 = 1 << 16;

    /// Whether a network can be built from these constants.
    ///
    /// # Errors
    /// [`SettingsError`] naming the first constant out of its range.
    pub fn validate(&self) -> Result<(), SettingsError> {
        Ok(names::TABLE.check(self)?)
    }
}

/// Constants from which no network can be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// A constant is too small or too large.
    #[error(transparent)]
    OutOfRange(#[from] NameError),
    /// Virtual channels share a link flit by flit, which is defined for unit crossings.
    #[error("link is {0}; on a torus it must be 1, as two virtual channels share each link")]
    SlowTorus(u32),
    /// Nothing says how the parts of the machine are linked.
    #[error(
        "machine {0}: nothing says which links join its tori, switches or blocks, or lead past holes"
    )]
    NoLinks(String),
}
