//! Text as a `topology.yaml`: no panic, errors with a line; and a machine that was read answers
//! every request with free, distinct nodes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay::placement::config::Config;
use replay::placement::decide::Decider;
use replay::placement::segments::{Request, place};

fuzz_target!(|text: &str| {
    let config = match Config::read(text, "fuzz.yaml", None, None) {
        Ok(config) => config,
        Err(error) => return assert!(error.line > 0 && error.to_string().starts_with("fuzz.yaml:")),
    };
    let layout = &config.layout;
    assert_eq!(config.hosts.len(), layout.nodes());
    // Large machines take long and teach nothing new.
    if layout.nodes() > 4096 || layout.toruses().iter().any(|torus| torus.cells() > 4096) {
        return;
    }
    let mut decider = Decider::new(layout);
    let mut free = layout.all();
    for size in [1, 2, 4, 8, 3, 16] {
        let request = Request { size, segment: Some(2), required: None };
        let Ok(picks) = place(&mut decider, layout, &free, &request, None) else { continue };
        let mut taken = 0;
        for pick in picks {
            let placement = &layout.toruses()[pick.torus].placements()[pick.placement];
            let mask = placement.mask(pick.anchor);
            assert!(free[pick.torus].holds(mask));
            free[pick.torus].remove_all(mask);
            taken += placement.size;
        }
        assert_eq!(taken, size);
    }
});
