//! Any bytes as a list of packets: no panic, errors have a line, and the network delivers every packet on a
//! shortest path.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use replay_network::packets::{read, replay, write};
use replay_network::{Network, Settings};
use replay_engine::topology::Topology;

const MACHINES: [&str; 4] = ["4x4", "torus:5x3", "3x3x3", "hypercube:4"];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let name = MACHINES[usize::from(first) % MACHINES.len()];
    let topology: Topology = name.parse().expect("a machine");
    // A small buffer splits lines at many places.
    match read(BufReader::with_capacity(61, bytes), "fuzz.csv", &topology) {
        Ok(list) => {
            // Lists with more flits take too long.
            let flits: u64 = list.iter().map(|packet| u64::from(packet.flits)).sum();
            if flits > 10_000 {
                return;
            }
            let settings = if first < 128 { Settings::LO } else { Settings::BANI_MOHAMMAD };
            let mut network = Network::new(&topology, settings).expect("a network");
            let results = replay(&mut network, &list).expect("a network without deadlocks");
            assert_eq!(results.len(), list.len());
            for (packet, result) in list.iter().zip(&results) {
                assert_eq!(packet.id, result.id);
                assert!(result.inject <= result.head_at_destination);
                assert!(result.head_at_destination <= result.delivered);
                assert_eq!(result.hops, topology.hops(packet.src, packet.dst));
            }
            write(&results, Vec::new()).expect("writing to memory succeeds");
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.csv:")),
    }
});
