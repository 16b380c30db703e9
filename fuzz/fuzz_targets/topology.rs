//! Any text as a `topology.yaml`: no panic, errors have a line, and allocated nodes are free and distinct.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_slurm::placement::config::Config;
use replay_slurm::placement::decide::{Decider, Pick};
use replay_slurm::placement::segments::{Request, place};

fuzz_target!(|text: &str| {
    let config = match Config::read(text, "fuzz.yaml", None, None) {
        Ok(config) => config,
        Err(error) => return assert!(error.line > 0 && error.to_string().starts_with("fuzz.yaml:")),
    };
    let layout = &config.layout;
    assert_eq!(config.hosts.len(), layout.nodes());
    // Large machines take long and test nothing more.
    if layout.nodes() > 4096 || layout.toruses().iter().any(|torus| torus.cells() > 4096) {
        return;
    }
    let decider = Decider::new(layout);
    let mut machine = decider.machine(layout, layout.all());
    for size in [1, 2, 4, 8, 3, 16] {
        // With two segments all sets of their places can be searched.
        let request = Request { size, segment: Some(2), required: None, exact: size == 4 };
        let Ok(picks) = place(&decider, layout, &mut machine, &request, None) else { continue };
        let mut taken = 0;
        for Pick { torus, placement, anchor, .. } in picks {
            let (open, torus) = (&mut machine[torus], &layout.toruses()[torus]);
            let one = &torus.placements()[placement];
            assert!(open.free().holds(one.mask(anchor)));
            open.take(torus, placement, anchor);
            taken += one.size;
        }
        assert_eq!(taken, size);
    }
});
