//! Any bytes as a list of packets: no panic, an error with its line; and the network delivers
//! every packet of a list, in the same cycles as the plain network does.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use replay_network::packets::{read, replay, write};
use replay_network::{Network, Settings};
use replay_core::topology::Topology;

const MACHINES: [&str; 4] = ["4x4", "torus:5x3", "3x3x3", "hypercube:4"];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let name = MACHINES[usize::from(first) % MACHINES.len()];
    let topology: Topology = name.parse().expect("a machine");
    // A small buffer cuts lines at many places.
    match read(BufReader::with_capacity(61, bytes), "fuzz.csv", &topology) {
        Ok(list) => {
            // What takes long is a matter of patience, not of the reader.
            let flits: u64 = list.iter().map(|packet| u64::from(packet.flits)).sum();
            if flits > 10_000 {
                return;
            }
            let settings = if first < 128 { Settings::LO } else { Settings::BANI_MOHAMMAD };
            let mut network = Network::new(&topology, settings).expect("a network");
            let results = replay(&mut network, &list).expect("nothing stalls");
            assert_eq!(results.len(), list.len());
            for (packet, result) in list.iter().zip(&results) {
                assert_eq!(packet.id, result.id);
                assert!(result.inject <= result.head_at_destination);
                assert!(result.head_at_destination <= result.delivered);
                assert_eq!(result.hops, topology.hops(packet.src, packet.dst));
            }
            write(&results, Vec::new()).expect("memory does not refuse writes");
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.csv:")),
    }
});
