//! Slurm's measure of fragmentation of a block machine (`topology_block.c`).

use super::free_nodes::FreeNodes;

/// Returns the fragmentation in nodes. For each block size, Slurm counts the nodes of blocks that are not entirely
/// free, and adds the nodes that are not free. A base block counts as free if it has at least as many free nodes as the
/// base size. The fragmentation of a tree is 0.
pub fn fragmentation(free: &FreeNodes) -> u64 {
    let Some(blocks) = free.hierarchy().blocks() else { return 0 };
    let count = blocks.count() as u64;
    let mut sizes: Vec<(u64, bool)> = Vec::new();
    for &level in blocks.levels() {
        sizes.push((1 << level, false));
        if 1 << level >= count {
            break;
        }
    }
    let mut sum = 0;
    for block in 0..count {
        let whole = free.below()[block as usize] >= blocks.base_size();
        for (size, open) in &mut sizes {
            let starts = block.is_multiple_of(*size) && *size <= count - block;
            if whole {
                *open |= starts && *size > 1;
            } else if *open || starts {
                sum += *size;
                *open = false;
            }
        }
    }
    let nodes = free.hierarchy().processors() as u64;
    u64::from(blocks.base_size()) * sum + nodes - u64::from(free.count())
}
