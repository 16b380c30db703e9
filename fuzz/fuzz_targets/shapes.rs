//! Any bytes as the shapes of jobs: no panic, errors have a line, and shapes survive a round trip.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use replay_engine::workload::{Job, Links};
use replay_engine::workload::stochastic::{ShapeFile, write_shapes};

fuzz_target!(|bytes: &[u8]| {
    let shapes = match ShapeFile::read(BufReader::with_capacity(61, bytes), "fuzz.csv") {
        Ok(shapes) => shapes,
        Err(error) => return assert!(error.to_string().starts_with("fuzz.csv")),
    };
    let links = Links::default();
    // Jobs 1 to 9 with sizes that shapes in the text may have.
    for size in [1, 2, 4, 6, 12] {
        let job = |number| Job { number, submit: 0, run: 1, estimate: 1, size, line: 1, shape: None, limit: None };
        let given = |mut job: Job| shapes.assign(std::slice::from_mut(&mut job), &links).is_ok().then_some(job);
        let jobs: Vec<Job> = (1..10).map(job).filter_map(given).collect();
        let mut text = Vec::new();
        write_shapes(&jobs, &mut text).expect("writing to memory succeeds");
        let again =
            ShapeFile::read(text.as_slice(), "again.csv").expect("written shapes can be read");
        let mut read: Vec<Job> = jobs.iter().map(|&job| Job { shape: None, ..job }).collect();
        again.assign(&mut read, &links).expect("the shapes fit the jobs");
        assert_eq!(read, jobs);
        assert_eq!(again.len(), jobs.len());
    }
});
