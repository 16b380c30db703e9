//! Measures the time of one decision of each rule for tree and block machines, on 9,216 nodes at half load.
//!
//! Jobs of 1 to 512 nodes, with log-uniform sizes, start one after the other; random running jobs end while more than
//! half of the nodes are busy. Only decisions are timed.
//!
//! `cargo bench --bench allocation -- hierarchy [FILE.csv]` also writes the table to a file.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::Failure;
use replay::allocator::{MachineEvent, Request};
use replay::machine::Machine;
use replay::topology::{NodeId, Topology};

const TREE: &str = "tree:16x32x18";
const BLOCKS: &str = "block[18,72,288]:512x18";
const RULES: [(&str, &str); 9] = [
    (TREE, "slurm-tree"),
    (TREE, "tree-fit"),
    (TREE, "slurm-tree[since=22.05]"),
    (TREE, "kueue"),
    (TREE, "kueue[level=0]"),
    (TREE, "kueue[mode=unconstrained]"),
    ("block:512x18", "slurm-block"),
    (BLOCKS, "slurm-block"),
    (BLOCKS, "slurm-block[segment=4]"),
];
const DECISIONS: usize = 20_000;

/// Measures all rules and writes the table to the file, if one is given.
pub fn run(words: &[String]) -> Result<(), Failure> {
    let mut rows = String::from("machine,allocator,decisions,us_per_decision\n");
    println!("{:<26} {:<26} {:>10} {:>12}", "machine", "allocator", "decisions", "us/decision");
    for (name, rule) in RULES {
        let topology: Topology = name.parse()?;
        let mut allocator = replay::strategies::allocator(rule)?.build(&topology, 0)?;
        let mut machine = Machine::new(topology.clone());
        let mut running: VecDeque<Vec<NodeId>> = VecDeque::new();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut spent = Duration::ZERO;
        for _ in 0..DECISIONS {
            let size = 2f64.powf(rng.random::<f64>() * 9.0) as u32;
            let request = Request::of_size(size);
            let mut chosen = Vec::with_capacity(size as usize);
            let begin = Instant::now();
            let placed = allocator.allocate(&machine, request, &mut chosen);
            spent += begin.elapsed();
            if placed.is_ok() {
                machine.occupy(&chosen);
                running.push_back(chosen);
            }
            while 2 * machine.free_count() < machine.processors() {
                // Jobs do not end in the order in which they started, so the free nodes are scattered.
                let at = rng.random_range(0..running.len());
                let Some(nodes) = running.swap_remove_back(at) else { break };
                machine.release(&nodes);
                allocator.on_event(&machine, MachineEvent::Released(&nodes));
            }
        }
        let each = spent.as_secs_f64() * 1e6 / DECISIONS as f64;
        println!("{name:<26} {rule:<26} {DECISIONS:>10} {each:>12.2}");
        rows += &format!("\"{name}\",\"{rule}\",{DECISIONS},{each:.2}\n");
    }
    if let Some(file) = words.first() {
        std::fs::write(file, rows)?;
    }
    Ok(())
}
