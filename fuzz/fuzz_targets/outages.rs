//! Any bytes as a file of outages: no panic, errors have a line, and windows lie on the machine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_engine::simulation::{OutageFile, Outages, WhenDown};

fuzz_target!(|bytes: &[u8]| {
    let file = match OutageFile::read(bytes, "fuzz.csv") {
        Ok(file) => file,
        Err(error) => return assert!(error.to_string().starts_with("fuzz.csv:")),
    };
    for machine in ["4x4", "3x2x5", "torus:8x8*2", "hypercube:3"] {
        let machine = machine.parse::<replay_engine::topology::Topology>().expect("a machine");
        let windows = match file.on(&machine) {
            Ok(windows) => windows,
            Err(error) => {
                assert!(error.to_string().starts_with("fuzz.csv:"));
                continue;
            }
        };
        for window in &windows {
            assert!(window.until.is_none_or(|until| window.from < until));
            assert!(window.nodes.iter().all(|node| node.index() < machine.processors()));
        }
        let outages = Outages { windows, running: WhenDown::Drain, walls: false };
        let steps = outages.steps();
        assert!(steps.iter().all(|step| step.from < step.until));
        assert!(steps.iter().all(|step| step.processors as usize <= machine.processors()));
        assert!(steps.windows(2).all(|pair| pair[0].until <= pair[1].from));
    }
});
