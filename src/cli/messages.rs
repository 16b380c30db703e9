//! Options of the messages that jobs send, such as `--network` and `--quota`, shared by `contend` and `stream`.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::named_value::Named;
use replay_experiment::contention::MessageSpec;
use replay_network::links::Model;
use replay_network::traffic::{Mapping, Quota};

/// Options of the messages that jobs send, as typed.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
pub struct MessageArgs {
    /// Take the defaults of the other message options from this paper: lo, bani-mohammad [default: lo].
    #[arg(long, value_name = "PAPER", help_heading = "Messages", hide_short_help = true)]
    preset: Option<String>,

    /// Set timing, buffers and switching of the network: lo, bani-mohammad, ... (replay list networks) [default: by
    /// --preset].
    ///
    /// The network named links computes contention from link loads instead of flits.
    #[arg(long, value_name = "NAME[..]", help_heading = "Messages", hide_short_help = true)]
    network: Option<Named<Model>>,

    /// Draw the number of packets of a job from exponential[mean=..] or fixed[packets=..] [default: by --preset].
    #[arg(long, value_name = "NAME[..]", help_heading = "Messages", hide_short_help = true)]
    quota: Option<Named<Quota>>,

    /// Send packets of N flits [default: 8].
    #[arg(long, value_name = "N", help_heading = "Messages", hide_short_help = true)]
    flits: Option<u32>,

    /// Map processes to processors in the order of the allocation, or along a curve such as row-major [default:
    /// allocation].
    #[arg(long, value_name = "ORDER", help_heading = "Messages", hide_short_help = true)]
    mapping: Option<Named<Mapping>>,
}

impl MessageArgs {
    /// Returns whether `--quota` was given.
    pub fn has_quota(&self) -> bool {
        self.quota.is_some()
    }

    /// Returns the settings.
    pub fn spec(&self) -> MessageSpec {
        let Self { preset, network, quota, flits, mapping } = self;
        MessageSpec {
            preset: preset.clone(),
            network: network.map(|network| network.0),
            quota: quota.map(|quota| quota.0),
            flits: *flits,
            mapping: mapping.map(|mapping| mapping.0),
        }
    }
}
