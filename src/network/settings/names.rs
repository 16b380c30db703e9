//! Names of settings: a preset and what differs from it.

use std::fmt;
use std::str::FromStr;

use super::{FlowControl, Settings, Switching};
use crate::naming::{Description, NameError, Parameter, StrategyName, nearest};

const KIND: &str = "network";
const FLOWS: [(&str, FlowControl); 2] =
    [("handshake", FlowControl::Handshake), ("pipelined", FlowControl::Pipelined)];
const SWITCHINGS: [(&str, Switching); 3] = [
    ("wormhole", Switching::Wormhole),
    ("virtual-cut-through", Switching::VirtualCutThrough),
    ("store-and-forward", Switching::StoreAndForward),
];
const KEYS: [&str; 9] = [
    "route",
    "inject",
    "link",
    "eject",
    "release",
    "release-injection",
    "depth",
    "flow",
    "switching",
];

impl TryFrom<&StrategyName> for Settings {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let preset = Self::PRESETS.iter().find(|(preset, _)| *preset == name.name);
        let &(_, base) = preset.ok_or_else(|| {
            let known = Self::PRESETS.map(|(preset, _)| preset);
            name.error(
                KIND,
                match nearest(&name.name, known.into_iter()) {
                    Some(near) => format!("unknown; did you mean \"{near}\"?"),
                    None => format!("unknown; known are {}", known.join(", ")),
                },
            )
        })?;
        name.expect_keys(KIND, &KEYS)?;
        let settings = Self {
            route: name.value(KIND, "route", base.route)?,
            inject: name.value(KIND, "inject", base.inject)?,
            link: name.value(KIND, "link", base.link)?,
            eject: name.value(KIND, "eject", base.eject)?,
            release: name.value(KIND, "release", base.release)?,
            release_injection: name.value(KIND, "release-injection", base.release_injection)?,
            depth: name.value(KIND, "depth", base.depth)?,
            flow: name.choice(KIND, "flow", base.flow, &FLOWS)?,
            switching: name.choice(KIND, "switching", base.switching, &SWITCHINGS)?,
        };
        settings.validate().map_err(|error| name.error(KIND, error.to_string()))?;
        Ok(settings)
    }
}

impl FromStr for Settings {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name: StrategyName =
            text.parse().map_err(|error: NameError| NameError { kind: KIND, ..error })?;
        Self::try_from(&name)
    }
}

/// The nearest preset, and in brackets what differs from it.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::PRESETS.map(|(preset, base)| {
            let mut name = StrategyName::plain(preset);
            for ((key, value), usual) in KEYS.into_iter().zip(self.values()).zip(base.values()) {
                if value != usual {
                    name.set(key, value);
                }
            }
            name
        });
        match named.iter().min_by_key(|name| name.parameters.len()) {
            Some(name) => name.fmt(f),
            None => Ok(()),
        }
    }
}

impl Settings {
    /// The constants as typed, in the order of [`KEYS`].
    fn values(&self) -> [String; 9] {
        let flow = FLOWS.iter().find(|(_, flow)| *flow == self.flow);
        let switching = SWITCHINGS.iter().find(|(_, switching)| *switching == self.switching);
        [
            self.route.to_string(),
            self.inject.to_string(),
            self.link.to_string(),
            self.eject.to_string(),
            self.release.to_string(),
            self.release_injection.to_string(),
            self.depth.to_string(),
            flow.map_or("", |(name, _)| name).to_string(),
            switching.map_or("", |(name, _)| name).to_string(),
        ]
    }
}

/// The presets with their parameters, for a listing.
pub fn descriptions() -> Vec<Description> {
    let number = |key, range: &str, default, about| Parameter {
        key,
        values: range.to_string(),
        default,
        about,
    };
    let entry = |name: &str, about: &str, source, d: [&'static str; 9]| Description {
        name: name.to_string(),
        aliases: vec![],
        about: about.to_string(),
        source,
        parameters: vec![
            number("route", "0..65536", d[0], "cycles of a header in every router"),
            number("inject", "0..65536", d[1], "cycles of a flit over an injection channel"),
            number("link", "1..65536", d[2], "cycles of a flit over a network channel"),
            number("eject", "0..65536", d[3], "cycles of a flit over an ejection channel"),
            number("release", "0..65536", d[4], "cycles a channel stays reserved behind a tail"),
            number("release-injection", "0..65536", d[5], "the same of an injection channel"),
            number("depth", "1..65536", d[6], "flits a channel's buffer holds (wormhole)"),
            Parameter {
                key: "flow",
                values: FLOWS.map(|(name, _)| name).join("|"),
                default: d[7],
                about: "whether a buffer has room when the flit has crossed, or starts to cross",
            },
            Parameter {
                key: "switching",
                values: SWITCHINGS.map(|(name, _)| name).join("|"),
                default: d[8],
                about: "buffers of some flits, or of a packet, passed on at once or when complete",
            },
        ],
    };
    vec![
        entry(
            "lo",
            "Wormhole with hand-shake of single-flit buffers; 8 flits over d hops take 27 + 4 d cycles.",
            "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11 (constants fitted to its Table 2)",
            ["3", "1", "1", "2", "2", "0", "1", "handshake", "wormhole"],
        ),
        entry(
            "bani-mohammad",
            "Pipelined wormhole with single-flit buffers; 8 flits over d hops take 4 d + 10 cycles.",
            "Bani-Mohammad, PhD thesis, chapter 4",
            ["3", "0", "1", "0", "0", "0", "1", "pipelined", "wormhole"],
        ),
    ]
}

#[cfg(test)]
mod tests;
