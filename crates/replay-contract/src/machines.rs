//! One machine of each kind, on which tests run every registered allocator.

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::topology::Topology;

/// A small and a large machine of one kind.
#[derive(Clone, Copy, Debug)]
pub struct MachineKind {
    /// Machine with few processors, for random histories.
    pub small: &'static str,
    /// Machine on which every job of the shipped traces fits.
    pub large: &'static str,
}

const fn kind(small: &'static str, large: &'static str) -> MachineKind {
    MachineKind { small, large }
}

/// The kinds of machines. An allocator that works on none of these machines needs an additional entry.
pub const MACHINE_KINDS: [MachineKind; 9] = [
    kind("4x4", "16x16"),
    kind("torus:4x4x2", "torus:8x8x4"),
    kind("4x4x4", "8x8x8"),
    kind("8x8x8", "8x8x16"),
    kind("hypercube:4", "hypercube:8"),
    kind("cluster:8x2", "cluster:128x2"),
    kind("cluster:16", "cluster:256"),
    kind("tree:2x2x4", "tree:4x8x18"),
    kind("block:4x4", "block[18,72]:16x18"),
];

/// Returns the machines of the list that the allocator supports, with their names.
///
/// # Panics
/// If the allocator supports none of these machines.
pub fn machines_for<'a>(
    spec: &AllocatorSpec,
    machines: impl IntoIterator<Item = &'a str>,
) -> Vec<(&'a str, Topology)> {
    let parse = |name: &'a str| (name, name.parse::<Topology>().expect("a machine"));
    let supports = |(_, topology): &(&str, Topology)| spec.build(topology, 1).is_ok();
    let (mut names, mut supported) = (Vec::new(), Vec::new());
    for machine in machines {
        names.push(machine);
        supported.extend(Some(parse(machine)).filter(supports));
    }
    assert!(
        !supported.is_empty(),
        "{spec} works on none of the machines {}; add a machine on which it works to MACHINE_KINDS in \
         crates/replay-contract/src/machines.rs",
        names.join(", ")
    );
    supported
}

/// Returns the first machine of the list that the allocator supports, with its name.
///
/// # Panics
/// If the allocator supports none of these machines.
pub fn machine_for<'a>(
    spec: &AllocatorSpec,
    machines: impl IntoIterator<Item = &'a str>,
) -> (&'a str, Topology) {
    machines_for(spec, machines).swap_remove(0)
}
