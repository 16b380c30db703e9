//! The notation of settings: a preset and the parameters that differ from the preset.

use std::sync::LazyLock;

use super::{FlowControl, Settings, Switching};
use replay_engine::naming::{Entry, Table, kind, spelled};

const FLOWS: [(&str, FlowControl); 2] =
    [("handshake", FlowControl::Handshake), ("pipelined", FlowControl::Pipelined)];
const SWITCHINGS: [(&str, Switching); 3] = [
    ("wormhole", Switching::Wormhole),
    ("virtual-cut-through", Switching::VirtualCutThrough),
    ("store-and-forward", Switching::StoreAndForward),
];

pub(super) static TABLE: LazyLock<Table<Settings>> = LazyLock::new(table);

/// Returns the presets with their parameters.
pub fn table() -> Table<Settings> {
    let lo = entry("lo", Settings::LO)
        .about(
            "Wormhole with hand-shake of single-flit buffers; 8 flits over d hops take 27 + 4 d cycles.",
        )
        .source("Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11 (constants fitted to its Table 2)");
    let bani_mohammad = entry("bani-mohammad", Settings::BANI_MOHAMMAD)
        .about(
            "Pipelined wormhole with single-flit buffers; 8 flits over d hops take 4 d + 10 cycles.",
        )
        .source("Bani-Mohammad, PhD thesis, chapter 4");
    Table::new("network", [lo, bani_mohammad])
}

fn entry(name: &str, preset: Settings) -> Entry<Settings> {
    let cycles = |least| kind::integer(least..=Settings::MAX);
    Entry::new(name, preset)
        .param("route", cycles(0), "cycles to route a header in every router", |s| &mut s.route)
        .param("inject", cycles(0), "cycles of a flit over an injection channel", |s| &mut s.inject)
        .param("link", cycles(1), "cycles of a flit over a network channel", |s| &mut s.link)
        .param("eject", cycles(0), "cycles of a flit over an ejection channel", |s| &mut s.eject)
        .param("release", cycles(0), "number of cycles for which a channel stays reserved after a tail flit has passed", |s| {
            &mut s.release
        })
        .param(
            "release-injection",
            cycles(0),
            "number of cycles for which an injection channel stays reserved after a tail flit has passed",
            |s| &mut s.release_injection,
        )
        .param("depth", cycles(1), "number of flits that a channel's buffer holds (wormhole)", |s| &mut s.depth)
        .param(
            "flow",
            kind::one_of(&FLOWS),
            "whether a flit frees its buffer when it has crossed the next channel or when it starts to cross the next \
                channel",
            |s| &mut s.flow,
        )
        .param(
            "switching",
            kind::one_of(&SWITCHINGS),
            "wormhole: a buffer holds as many flits as the parameter depth states; virtual-cut-through: a buffer holds a whole packet; store-and-forward: a buffer holds a whole packet, which is forwarded only when complete",
            |s| &mut s.switching,
        )
}

spelled!(Settings, TABLE);

#[cfg(test)]
mod tests;
