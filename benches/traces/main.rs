//! Time to read, schedule and replay whole traces.
//!
//! | `cargo bench --bench traces --` | what |
//! |---|---|
//! | `swf` | reader and writer of SWF |
//! | `scheduler [FOLDER] [full] [NAME...]` | every discipline by length of the queue |
//! | `replay` | replays of scheduled traces |
//! | `lockstep` | tie vectors that are replayed together |

#[path = "../common/mod.rs"]
mod common;

mod lockstep;
mod replay;
mod scheduler;
mod swf;

fn main() -> Result<(), common::Failure> {
    common::dispatch(&[
        ("swf", swf::run),
        ("scheduler", scheduler::run),
        ("replay", self::replay::run),
        ("lockstep", lockstep::run),
    ])
}
