//! The experiments of the two papers.

use crate::Settings;

/// A paper whose experiments determine default parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Preset {
    /// Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11.
    #[default]
    Lo,
    /// Bani-Mohammad, PhD thesis, chapter 4.
    BaniMohammad,
}

impl Preset {
    /// The presets with their names.
    pub const ALL: [(&'static str, Self); 2] =
        [("lo", Self::Lo), ("bani-mohammad", Self::BaniMohammad)];

    /// Mean quota of the all-to-all pattern in the paper of Lo et al.: the number of packets in an
    /// iteration of 9 x 9 processes.
    pub const LO_ALL_TO_ALL: u64 = 81 * 80;
    /// Mean quota of the one-to-all pattern in the paper of Lo et al.: the number of packets in an
    /// iteration of 9 x 9 processes.
    pub const LO_ONE_TO_ALL: u64 = 80;
    /// Mean quota of the n-body pattern in the paper of Lo et al.: the number of packets in an
    /// iteration of 9 x 9 processes.
    pub const LO_N_BODY: u64 = 81 * (40 + 1);
    /// Mean quota of the 2D FFT pattern in the paper of Lo et al.: the number of packets in an
    /// iteration of 8 x 8 processes.
    pub const LO_FFT_2D: u64 = 64 * 6;
    /// Number of processes that determines Lo's mean quota of multigrid. The quota is the number of
    /// packets in an iteration of these processes.
    pub const LO_MULTIGRID_PROCESSES: u32 = 64;
    /// Mean quota of the nearest-neighbour pattern under the preset `lo`: the number of packets in
    /// an iteration of 9 x 9 processes. The paper does not use this pattern.
    pub const LO_NEAREST_NEIGHBOUR: u64 = 2 * 2 * 9 * 8;
    /// Mean quota of patterns with random pairs under the preset `lo`: one packet for each of 9 x 9
    /// processes. The paper does not use patterns with random pairs.
    pub const LO_RANDOM: u64 = 81;
    /// Bani-Mohammad's mean quota of all patterns, in packets (Table 4.1).
    pub const BANI_MOHAMMAD: u64 = 5;

    /// Returns the network of the paper.
    pub fn network(self) -> Settings {
        match self {
            Self::Lo => Settings::LO,
            Self::BaniMohammad => Settings::BANI_MOHAMMAD,
        }
    }
}
