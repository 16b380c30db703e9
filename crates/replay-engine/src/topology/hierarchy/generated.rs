//! Machines that are described without a file, such as `tree:4x8x18` and `block[18,72]:8x18`.

use super::{BlockEntry, Hierarchy, SwitchEntry};
use crate::number::grouped;
use crate::topology::MAX_POINTS;

/// Maximum length of the list of numbers after `tree:`.
const MOST_LEVELS: usize = 8;

/// Parses numbers that are separated by `x`.
fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let number = |text: &str| {
        let read = text.trim().parse().ok().filter(|&number: &u32| number > 0);
        read.ok_or_else(|| format!("\"{}\" is not a number of at least 1", text.trim()))
    };
    text.split(['x', 'X']).map(number).collect()
}

/// Returns the product of the numbers if a machine can have that many nodes.
fn product(numbers: &[u32]) -> Result<usize, String> {
    let product = numbers.iter().try_fold(1usize, |all, &one| all.checked_mul(one as usize));
    product
        .filter(|&nodes| nodes <= MAX_POINTS)
        .ok_or_else(|| format!("at most {} nodes are supported", grouped(MAX_POINTS as u64)))
}

/// Returns a name: a prefix, and a number padded with zeros to the width of the largest of `count`
/// numbers.
fn padded(prefix: &str, number: usize, count: usize) -> String {
    let width = count.saturating_sub(1).max(1).ilog10() as usize + 1;
    format!("{prefix}{number:0width$}")
}

/// Returns the node names of the leaf or block with this number.
fn nodes(number: usize, each: usize, all: usize) -> Vec<String> {
    (number * each..(number + 1) * each).map(|node| padded("n", node, all)).collect()
}

fn joined(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

/// Parses the text after `tree:`: the number of children per switch from the root down, then the
/// number of nodes per leaf.
pub fn parse_tree(text: &str) -> Result<Hierarchy, String> {
    let sides = numbers(text)?;
    if sides.len() > MOST_LEVELS {
        return Err(format!("{} numbers; at most {MOST_LEVELS} are supported", sides.len()));
    }
    let all = product(&sides)?;
    let Some((&each, fans)) = sides.split_last() else { return Err("no number".to_string()) };
    let mut entries = Vec::new();
    let mut count: usize = fans.iter().map(|&fan| fan as usize).product();
    for leaf in 0..count {
        let (name, nodes) = (padded("s0-", leaf, count), nodes(leaf, each as usize, all));
        entries.push(SwitchEntry { name, nodes, ..SwitchEntry::default() });
    }
    for (level, &fan) in (1..).zip(fans.iter().rev()) {
        let below = (count, count / fan as usize);
        count = below.1;
        for switch in 0..count {
            let children = switch * fan as usize..(switch + 1) * fan as usize;
            let child = |child| padded(&format!("s{}-", level - 1), child, below.0);
            let name = padded(&format!("s{level}-"), switch, count);
            let switches = children.map(child).collect();
            entries.push(SwitchEntry { name, switches, ..SwitchEntry::default() });
        }
    }
    let label = format!("tree:{}", joined(&sides));
    Hierarchy::of_switches(label, &entries).map_err(|error| error.to_string())
}

/// Parses the text after `block:`, and the sizes between the brackets of `block[18,72]:`.
pub fn parse_blocks(sizes: Option<&str>, text: &str) -> Result<Hierarchy, String> {
    let sides = numbers(text)?;
    let &[count, each] = &sides[..] else {
        return Err("write the number of blocks and the number of nodes per block, such as 8x18"
            .to_string());
    };
    let all = product(&sides)?;
    let entries: Vec<BlockEntry> = (0..count as usize)
        .map(|block| BlockEntry {
            name: padded("b", block, count as usize),
            nodes: nodes(block, each as usize, all),
            line: 0,
        })
        .collect();
    let size = |text: &str| {
        let text = text.trim();
        text.parse::<u32>().map_err(|_| format!("\"{text}\" is not a block size"))
    };
    let sizes = sizes.map(|sizes| sizes.split(',').map(size).collect::<Result<Vec<u32>, _>>());
    let sizes = sizes.transpose()?;
    let label = match &sizes {
        None => format!("block:{count}x{each}"),
        Some(sizes) => {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            format!("block[{}]:{count}x{each}", sizes.join(","))
        }
    };
    let sizes = sizes.as_ref().map(|sizes| (0, &sizes[..]));
    Hierarchy::of_blocks(label, &entries, sizes).map_err(|error| error.to_string())
}
