//! Any JSON as the plan of a sweep: a valid plan serializes to the same plan and names its cells.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_experiment::sweep::{Build, Plan};

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = serde_json::from_slice(bytes) else { return };
    let Ok(plan) = Plan::from_json(json, replay_strategies::standard()) else { return };
    let json = plan.to_json(&Build::default()).expect("a plan is JSON");
    let again = Plan::from_json(json, replay_strategies::standard()).expect("a written plan can be read");
    assert_eq!(again.digest().expect("a digest"), plan.digest().expect("a digest"));
    for run in (0..plan.len()).take(20).chain(plan.len().checked_sub(1)) {
        assert_eq!(again.id(run).expect("an id"), plan.id(run).expect("an id"));
        let _ = plan.key(run).expect("a key");
    }
});
