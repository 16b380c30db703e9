//! Parser of `topology.conf`, and of the output of `scontrol show topology`, which has the same form.

use crate::topology_file::scontrol::{AggregatedBlock, Printed, PrintedBlock, PrintedSwitch};
use crate::topology_file::{Entries, syntax};
use replay_engine::naming::advice;
use replay_engine::sanitize::{BYTE_ORDER_MARK, excerpt};
use replay_engine::topology::hierarchy::{BlockEntry, SwitchEntry};

/// A key of an entry. The keys from `Level` on occur only in the output of `scontrol show topology`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    SwitchName,
    Nodes,
    Switches,
    LinkSpeed,
    BlockName,
    BlockSizes,
    Level,
    BlockIndex,
    BlockSize,
    AggregatedBlock,
}

/// Supported keys.
const KEYS: [(&str, Key); 10] = [
    ("SwitchName", Key::SwitchName),
    ("Nodes", Key::Nodes),
    ("Switches", Key::Switches),
    ("LinkSpeed", Key::LinkSpeed),
    ("BlockName", Key::BlockName),
    ("BlockSizes", Key::BlockSizes),
    ("Level", Key::Level),
    ("BlockIndex", Key::BlockIndex),
    ("BlockSize", Key::BlockSize),
    ("AggregatedBlock", Key::AggregatedBlock),
];

/// Parses the entries of a text.
///
/// # Errors
/// Returns the line number and a description of the problem.
pub fn read(text: &str) -> Result<Entries, (usize, String)> {
    let (mut entries, mut printed) = (Entries::default(), Printed::default());
    syntax::for_lines(text.trim_start_matches(BYTE_ORDER_MARK), |text, line| {
        entry(text, line, &mut entries, &mut printed)
    })?;
    printed.apply(&mut entries)?;
    Ok(entries)
}

/// The values of an entry.
struct Pairs<'a>([Option<&'a str>; KEYS.len()]);

impl<'a> Pairs<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let mut values = [None; KEYS.len()];
        for (key, value) in syntax::pairs(text)? {
            let known = KEYS.iter().position(|(known, _)| known.eq_ignore_ascii_case(key));
            let Some(at) = known else {
                let names = || KEYS.iter().map(|(name, _)| *name);
                let all = || format!("known are {}", names().collect::<Vec<_>>().join(", "));
                let key = excerpt(key);
                return Err(format!("unknown key {key}; {}", advice(&key, names(), all)));
            };
            if values[at].replace(value).is_some() {
                return Err(format!("{} is given twice", KEYS[at].0));
            }
        }
        Ok(Self(values))
    }

    fn get(&self, key: Key) -> Option<&'a str> {
        self.0[key as usize]
    }

    /// Returns the names of a host list; empty if the key is missing.
    fn names(&self, entries: &mut Entries, subject: &str, key: Key) -> Result<Vec<String>, String> {
        let list = entries.names(self.get(key).unwrap_or_default());
        list.map_err(|problem| format!("{subject}{}: {problem}", KEYS[key as usize].0))
    }

    fn number(&self, subject: &str, key: Key) -> Result<Option<u32>, String> {
        let number = |text: &str| {
            let name = KEYS[key as usize].0;
            let error = || format!("{subject}{name}: \"{}\" is not a number", excerpt(text));
            text.parse().map_err(|_| error())
        };
        self.get(key).map(number).transpose()
    }

    /// Fails if a key is given that is not in `allowed`.
    fn expect_only(&self, subject: &str, allowed: &[Key]) -> Result<(), String> {
        let other = KEYS.iter().find(|(_, key)| self.get(*key).is_some() && !allowed.contains(key));
        other.map_or(Ok(()), |(name, _)| {
            Err(format!("{subject}{name} is not allowed in this entry"))
        })
    }
}

fn entry(
    text: &str,
    line: usize,
    entries: &mut Entries,
    printed: &mut Printed,
) -> Result<(), String> {
    let pairs = Pairs::read(text)?;
    if let Some(name) = pairs.get(Key::SwitchName) {
        let subject = format!("switch {}: ", excerpt(name));
        let allowed = [Key::SwitchName, Key::Nodes, Key::Switches, Key::LinkSpeed, Key::Level];
        pairs.expect_only(&subject, &allowed)?;
        let level = pairs.number(&subject, Key::Level)?;
        let both = pairs.get(Key::Nodes).is_some() && pairs.get(Key::Switches).is_some();
        if both && level.is_none() {
            return Err(format!(
                "{subject}both Nodes and Switches are given; a switch has either Nodes or Switches"
            ));
        }
        let (mut nodes, switches) = (
            pairs.names(entries, &subject, Key::Nodes)?,
            pairs.names(entries, &subject, Key::Switches)?,
        );
        if let Some(level) = level {
            // The nodes of a switch above other switches repeat the nodes of these switches.
            let below = if level > 0 { std::mem::take(&mut nodes) } else { Vec::new() };
            let entry = entries.switches.len();
            printed.switches.push(PrintedSwitch { entry, level, nodes: below });
        }
        entries.switches.push(SwitchEntry { line, name: name.to_string(), nodes, switches });
    } else if let Some(name) = pairs.get(Key::BlockName) {
        let subject = format!("block {}: ", excerpt(name));
        let allowed = [Key::BlockName, Key::Nodes, Key::BlockIndex, Key::BlockSize];
        pairs.expect_only(&subject, &allowed)?;
        let nodes = pairs.names(entries, &subject, Key::Nodes)?;
        let index = pairs.number(&subject, Key::BlockIndex)?;
        let size = pairs.number(&subject, Key::BlockSize)?;
        printed.blocks.push(PrintedBlock { index, size });
        entries.blocks.push(BlockEntry { line, name: name.to_string(), nodes });
    } else if let Some(name) = pairs.get(Key::AggregatedBlock) {
        let subject = format!("aggregated block {}: ", excerpt(name));
        let allowed = [Key::AggregatedBlock, Key::Nodes, Key::BlockIndex, Key::BlockSize];
        pairs.expect_only(&subject, &allowed)?;
        let blocks = pairs.names(entries, "", Key::AggregatedBlock)?;
        let nodes = pairs.names(entries, &subject, Key::Nodes)?;
        let size = pairs.number(&subject, Key::BlockSize)?;
        let size = size.ok_or_else(|| format!("{subject}BlockSize is missing"))?;
        let name = name.to_string();
        printed.aggregated.push(AggregatedBlock { line, name, blocks, nodes, size });
    } else if let Some(sizes) = pairs.get(Key::BlockSizes) {
        pairs.expect_only("", &[Key::BlockSizes])?;
        if entries.sizes.is_some() {
            return Err("BlockSizes is given twice".to_string());
        }
        let size = |text: &str| {
            let text = text.trim();
            text.parse().map_err(|_| format!("BlockSizes: \"{}\" is not a size", excerpt(text)))
        };
        let sizes = sizes.split(',').map(size).collect::<Result<Vec<u32>, _>>()?;
        entries.sizes = Some((line, sizes));
    } else {
        return Err("SwitchName, BlockName or BlockSizes is missing".to_string());
    }
    Ok(())
}
