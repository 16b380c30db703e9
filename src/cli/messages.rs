//! Options of the messages that jobs send, such as `--network` and `--quota`, shared by `contend` and `stream`.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::exit::Failure;
use super::named_value::{Named, one};
use replay_engine::naming::{StrategyName, split_list};
use replay_experiment::contention::Messages;
use replay_network::links::Model;
use replay_network::traffic::{Mapping, Pattern, Preset, Quota, TableError};

const PRESET: &str = "lo";
const FLITS: u32 = 8;

/// Options of the messages that jobs send, as typed.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
pub struct MessageArgs {
    /// Take the defaults of the other message options from this paper: lo, bani-mohammad [default: lo].
    #[arg(long, value_name = "PAPER", help_heading = "Messages")]
    preset: Option<String>,

    /// Set timing, buffers and switching of the network: lo, bani-mohammad, ... (replay list networks) [default: by
    /// --preset].
    ///
    /// The network named links computes contention from link loads instead of flits.
    #[arg(long, value_name = "NAME[..]", help_heading = "Messages")]
    network: Option<Named<Model>>,

    /// Draw the number of packets of a job from exponential[mean=..] or fixed[packets=..] [default: by --preset].
    #[arg(long, value_name = "NAME[..]", help_heading = "Messages")]
    quota: Option<Named<Quota>>,

    /// Send packets of N flits [default: 8].
    #[arg(long, value_name = "N", help_heading = "Messages")]
    flits: Option<u32>,

    /// Map processes to processors in the order of the allocation, or along a curve such as row-major [default:
    /// allocation].
    #[arg(long, value_name = "ORDER", help_heading = "Messages")]
    mapping: Option<Named<Mapping>>,
}

impl MessageArgs {
    /// Returns whether `--quota` was given.
    pub fn has_quota(&self) -> bool {
        self.quota.is_some()
    }

    /// Returns the name of a pattern; the name includes the preset unless the preset is the default.
    pub fn name(&self, messages: &Messages) -> String {
        let pattern = messages.program.pattern();
        let shown = pattern.to_string();
        if self.preset() == PRESET {
            return shown;
        }
        let Ok(mut name) = shown.parse::<StrategyName>() else { return shown };
        name.set("preset", self.preset());
        // Add the preset only if the name with the parameter `preset` denotes the same pattern.
        match Pattern::try_from(&name) {
            Ok(same) if same == *pattern => name.to_string(),
            _ => shown,
        }
    }

    /// Returns whether any option was given.
    pub fn are_given(&self) -> bool {
        let Self { preset, network, quota, flits, mapping } = self;
        let names = preset.is_some() || network.is_some() || quota.is_some();
        names || flits.is_some() || mapping.is_some()
    }

    fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(PRESET)
    }

    fn flits(&self) -> u32 {
        self.flits.unwrap_or(FLITS)
    }

    fn mapping(&self) -> Mapping {
        self.mapping.map_or(Mapping::Allocation, |mapping| mapping.0)
    }

    /// Returns the options as JSON, for the manifest.
    pub fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "preset": self.preset(),
            "network": self.network,
            "quota": self.quota,
            "flits": self.flits(),
            "mapping": self.mapping().to_string(),
        })
    }

    /// Returns the messages that jobs send in a pattern, under these options.
    ///
    /// # Errors
    /// A usage error for an unknown name; a data error if the file of a pattern is invalid.
    pub fn of(&self, pattern: &str) -> Result<Messages, Failure> {
        let preset = one("--preset", self.preset(), &Preset::ALL)?;
        if split_list(pattern).len() > 1 {
            let message = format!("--pattern \"{pattern}\": one command takes one pattern");
            return Err(Failure::usage_message(message));
        }
        let mut name: StrategyName = pattern.parse().map_err(Failure::usage)?;
        if name.get("preset").is_none() {
            name.set("preset", self.preset());
        }
        let pattern =
            (&name).try_into().map_err(|e: replay_engine::naming::NameError| Failure::usage(e))?;
        let mut messages = Messages::new(preset, pattern).map_err(unusable)?;
        match self.network.map(|network| network.0) {
            None => {}
            Some(Model::Flits(settings)) => messages.network = settings,
            Some(Model::Links(links)) => {
                messages.network = links.timing.unwrap_or(messages.network);
                messages.window = Some(links.window);
            }
        }
        messages.quota = self.quota.map_or(messages.quota, |quota| quota.0);
        messages.options.flits = self.flits();
        messages.options.mapping = self.mapping();
        Ok(messages)
    }
}

/// Converts an error from the file of a pattern. A file that cannot be read is a usage error; invalid content is a data
/// error.
fn unusable(error: TableError) -> Failure {
    match error {
        TableError::Io { .. } => Failure::usage(error),
        _ => Failure::data(error),
    }
}
