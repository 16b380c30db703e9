//! Any text as a grid file: a valid grid that is printed with its defaults parses to the same grid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_experiment::grid::ParameterGrid;

fuzz_target!(|text: &str| {
    match ParameterGrid::parse(text, "grid.toml", replay_strategies::standard()) {
        Ok(grid) => {
            let printed = grid.file.to_toml().expect("a grid can be printed");
            let again = ParameterGrid::parse(&printed, "printed.toml", replay_strategies::standard()).expect("a printed grid can be parsed");
            assert_eq!(again.file.to_toml().expect("a grid can be printed"), printed);
            assert_eq!(again.strategies.len(), grid.strategies.len());
            assert_eq!((&again.machines, &again.schedulers), (&grid.machines, &grid.schedulers));
            for index in (0..grid.strategies.len()).take(20) {
                let spec = grid.strategies.get(index).expect("an index below the length");
                assert_eq!(
                    again.strategies.get(index).expect("an index below the length").to_string(),
                    spec.to_string()
                );
            }
        }
        Err(error) => assert!(error.to_string().starts_with("grid.toml")),
    }
});
