use super::Messages;
use crate::compatibility::Incompatible;
use crate::resolve::InputError;
use replay_engine::naming::{StrategyName, advice, split_list};
use replay_engine::sanitize::excerpt;
use replay_network::links::Model;
use replay_network::traffic::{Mapping, Pattern, Preset, Quota, TableError};

const PRESET: &str = "lo";
const FLITS: u32 = 8;

/// Settings of the messages that jobs send. Settings that are `None` have the value of the preset or the default.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MessageSpec {
    /// Name of the paper whose settings are the defaults of the other settings; by default `lo`.
    pub preset: Option<String>,
    /// Timing, buffers and switching of the network, or link loads.
    pub network: Option<Model>,
    /// Number of packets of a job.
    pub quota: Option<Quota>,
    /// Flits per packet; by default 8.
    pub flits: Option<u32>,
    /// Mapping of processes to processors; by default in the order of the allocation.
    pub mapping: Option<Mapping>,
}

impl MessageSpec {
    /// Returns the name of a pattern; the name includes the preset unless the preset is the default.
    pub fn pattern_name(&self, messages: &Messages) -> String {
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

    /// Returns whether any setting was given.
    pub fn is_given(&self) -> bool {
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
        self.mapping.unwrap_or(Mapping::Allocation)
    }

    /// Returns the settings as JSON, for the manifest.
    pub fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "preset": self.preset(),
            "network": self.network.map(|network| network.to_string()),
            "quota": self.quota.map(|quota| quota.to_string()),
            "flits": self.flits(),
            "mapping": self.mapping().to_string(),
        })
    }

    /// Returns the messages that jobs send in the pattern of this name.
    ///
    /// # Errors
    /// A usage error for an unknown name, or if the file of the pattern cannot be read; a data error if the file is
    /// invalid.
    pub fn resolve(&self, pattern: &str) -> Result<Messages, InputError> {
        let preset = preset(self.preset())?;
        if split_list(pattern).len() > 1 {
            return Err(InputError::usage_message(format!(
                "--pattern \"{pattern}\": one command takes one pattern"
            )));
        }
        let mut name: StrategyName = pattern.parse().map_err(InputError::usage)?;
        if name.get("preset").is_none() {
            name.set("preset", self.preset());
        }
        let mut messages =
            Messages::new(preset, (&name).try_into()?).map_err(|error| match error {
                TableError::Io { .. } => InputError::usage(error),
                _ => InputError::data(error),
            })?;
        match self.network {
            None => {}
            Some(Model::Flits(settings)) => messages.network = settings,
            Some(Model::Links(links)) => {
                messages.network = links.timing.unwrap_or(messages.network);
                messages.window = Some(links.window);
            }
        }
        messages.quota = self.quota.unwrap_or(messages.quota);
        messages.options.flits = self.flits();
        messages.options.mapping = self.mapping();
        Ok(messages)
    }
}

/// Returns the preset with this name.
fn preset(name: &str) -> Result<Preset, Incompatible> {
    let found = Preset::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, preset)| *preset).ok_or_else(|| {
        let names = || Preset::ALL.iter().map(|(known, _)| *known);
        let known = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
        let advice = advice(name, names(), known);
        Incompatible::of("preset", format!("\"{}\": unknown; {advice}", excerpt(name)))
    })
}
