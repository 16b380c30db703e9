//! Parser of `topology.conf`.

use super::Entries;
use crate::naming::advice;
use crate::sanitize::{BYTE_ORDER_MARK, excerpt};
use crate::topology::MAX_POINTS;
use crate::topology::hierarchy::{BlockEntry, SwitchEntry};
use crate::workload::nodes;

/// Supported keys.
const KEYS: [&str; 6] = ["SwitchName", "Nodes", "Switches", "LinkSpeed", "BlockName", "BlockSizes"];

/// Parses the entries of a text.
///
/// # Errors
/// Returns the line number and a description of the problem.
pub fn read(text: &str) -> Result<Entries, (usize, String)> {
    let mut entries = Entries::default();
    let (mut joined, mut first) = (String::new(), 1);
    for (line, text) in (1..).zip(text.trim_start_matches(BYTE_ORDER_MARK).lines()) {
        let text = text.split('#').next().unwrap_or_default().trim_end();
        if joined.is_empty() {
            first = line;
        }
        match text.strip_suffix('\\') {
            Some(text) => {
                joined.push_str(text);
                joined.push(' ');
            }
            None => {
                joined.push_str(text);
                entry(&joined, first, &mut entries).map_err(|problem| (first, problem))?;
                joined.clear();
            }
        }
    }
    entry(&joined, first, &mut entries).map_err(|problem| (first, problem))?;
    Ok(entries)
}

/// The value of each key, in the order of [`KEYS`].
type Pairs<'a> = [Option<&'a str>; KEYS.len()];

fn entry(text: &str, line: usize, entries: &mut Entries) -> Result<(), String> {
    let mut pairs: Pairs<'_> = [None; KEYS.len()];
    for pair in text.split_whitespace() {
        let Some((key, value)) = pair.split_once('=') else {
            let lower = pair.to_ascii_lowercase();
            return Err(match lower == "include" {
                true => "Include is not supported; put all entries into one file".to_string(),
                false => format!("\"{}\" is not a pair key=value", excerpt(pair)),
            });
        };
        let Some(at) = KEYS.iter().position(|known| known.eq_ignore_ascii_case(key)) else {
            let keys = || format!("known are {}", KEYS.join(", "));
            return Err(format!(
                "unknown key {}; {}",
                excerpt(key),
                advice(key, KEYS.into_iter(), keys)
            ));
        };
        if pairs[at].replace(value).is_some() {
            return Err(format!("{} is given twice", KEYS[at]));
        }
    }
    let names = |subject: &str, at: usize| {
        let list = nodes::names(pairs[at].unwrap_or_default(), MAX_POINTS as u64);
        list.map_err(|problem| format!("{subject}{}: {problem}", KEYS[at]))
    };
    let unexpected = |subject: &str, allowed: &[usize]| {
        let other = (0..KEYS.len()).find(|at| pairs[*at].is_some() && !allowed.contains(at));
        other
            .map_or(Ok(()), |at| Err(format!("{subject}{} is not allowed in this entry", KEYS[at])))
    };
    match pairs {
        [Some(name), nodes, switches, _, _, _] => {
            let subject = format!("switch {}: ", excerpt(name));
            unexpected(&subject, &[0, 1, 2, 3])?;
            if nodes.is_some() && switches.is_some() {
                return Err(format!(
                    "{subject}both Nodes and Switches are given; a switch has either Nodes or Switches"
                ));
            }
            let (nodes, switches) = (names(&subject, 1)?, names(&subject, 2)?);
            entries.switches.push(SwitchEntry { line, name: name.to_string(), nodes, switches });
        }
        [None, _, _, _, Some(name), _] => {
            let subject = format!("block {}: ", excerpt(name));
            unexpected(&subject, &[1, 4])?;
            let nodes = names(&subject, 1)?;
            entries.blocks.push(BlockEntry { line, name: name.to_string(), nodes });
        }
        [None, _, _, _, None, Some(sizes)] => {
            unexpected("", &[5])?;
            if entries.sizes.is_some() {
                return Err("BlockSizes is given twice".to_string());
            }
            let size = |text: &str| {
                text.parse().map_err(|_| format!("BlockSizes: \"{}\" is not a size", excerpt(text)))
            };
            let sizes = sizes.split(',').map(size).collect::<Result<Vec<u32>, _>>()?;
            entries.sizes = Some((line, sizes));
        }
        [None, None, None, None, None, None] => {}
        _ => return Err("SwitchName, BlockName or BlockSizes is missing".to_string()),
    }
    Ok(())
}
