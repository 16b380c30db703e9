//! Any bytes as a file of placements: no panic, errors have a line, and the nodes of every job have names. The
//! same bytes as a node map: errors have a line, and points exist on the machine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_engine::topology::{NodeMap, Topology};
use replay_engine::workload::{Job, RecordedPlacements};

fn mapped(bytes: &[u8]) {
    let names = ["a", "n1", "7"].map(str::to_string);
    let map = match NodeMap::read(bytes, "fuzz.csv") {
        Ok(map) => map,
        Err(error) => return assert!(error.to_string().contains("fuzz.csv")),
    };
    for machine in ["4x4", "torus:2x3x4*2", "hypercube:3"] {
        let Ok(machine) = machine.parse::<Topology>() else { unreachable!("{machine} is a machine") };
        match map.points(&names, &machine) {
            Ok(points) => assert!(points.iter().all(|point| point.index() < machine.processors())),
            Err(error) => assert!(error.to_string().contains("fuzz.csv")),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    mapped(bytes);
    // A valid line may name a million nodes, which is too slow here.
    let long = bytes.windows(3).any(|digits| digits.iter().all(u8::is_ascii_digit));
    if long || bytes.iter().filter(|&&byte| byte == b'[').count() > 4 {
        return;
    }
    let placed = match RecordedPlacements::of_file(bytes, "fuzz.csv") {
        Ok(placed) => placed,
        Err(error) => return assert!(error.to_string().contains("fuzz.csv")),
    };
    for number in 0..10 {
        let job = Job { number, submit: 0, run: 1, estimate: 1, size: 1, line: 1, shape: None, limit: None };
        if let Some(nodes) = placed.of(&job) {
            assert!(!nodes.is_empty());
            assert!(nodes.iter().all(|&node| (node as usize) < placed.names().len()));
        }
    }
    if let Some(points) = placed.points(16) {
        assert!(points.iter().all(|&point| point < 16) && points.len() == placed.names().len());
    }
});
