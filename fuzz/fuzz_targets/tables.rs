//! Any bytes as a matrix of packets, a matrix of weights, or phases: no panic, errors name the file, and every
//! number of processes has a program.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use libfuzzer_sys::fuzz_target;
use replay_network::traffic::Program;

fuzz_target!(|bytes: &[u8]| {
    let file = scratch::file("table.csv", bytes);
    let file = file.display();
    for pattern in [
        format!("matrix[file={file}]"),
        format!("matrix[file={file},values=weights]"),
        format!("phases[file={file}]"),
    ] {
        match Program::load(pattern.parse().expect("a pattern")) {
            Ok(program) => {
                let ranks = program.ranks().expect("a file has ranks");
                for processes in [0, 1, 2, 3, 5, 17, ranks.min(64), ranks.saturating_add(1).min(64)]
                {
                    let _ = program.iteration(processes);
                }
            }
            Err(error) => assert!(error.to_string().starts_with(&file.to_string())),
        }
    }
});
