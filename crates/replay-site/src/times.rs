//! Times of Slurm's configuration: `minutes`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`, `INFINITE`,
//! `UNLIMITED`, `-1`.

pub use replay_engine::workload::minutes;
