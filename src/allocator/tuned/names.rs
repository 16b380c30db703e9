//! The parameters that `mc1x1[tie=auto]` adds to those of MC1x1, beside `slack=auto`.

use super::TuneOptions;
use crate::naming::{NameError, Parameter, StrategyName};

const KIND: &str = "allocator";

/// Their keys.
pub const KEYS: [&str; 3] = ["shadows", "every", "memory"];

/// Their entries in a listing.
pub fn parameters() -> Vec<Parameter> {
    vec![
        Parameter {
            key: "shadows",
            values: "1..64".to_string(),
            default: "24".into(),
            about: "tie=auto: machines beside the real one, each with a tie vector of its own; the cost \
                    grows with them",
        },
        Parameter {
            key: "every",
            values: "16..1000000".to_string(),
            default: "256".into(),
            about: "tie=auto: requests from one look at these machines to the next",
        },
        Parameter {
            key: "memory",
            values: "16..100000000".to_string(),
            default: "65536".into(),
            about: "tie=auto: requests after which what was observed counts 1/e",
        },
    ]
}

/// Reads them.
///
/// # Errors
/// [`NameError`] if one is no integer in range.
pub fn options(name: &StrategyName) -> Result<TuneOptions, NameError> {
    let default = TuneOptions::default();
    let options = TuneOptions {
        shadows: name.value(KIND, "shadows", default.shadows)?,
        every: name.value(KIND, "every", default.every)?,
        memory: name.value(KIND, "memory", default.memory)?,
        slack: name.get("slack") == Some("auto"),
    };
    let problem = match options {
        _ if !(1..=64).contains(&options.shadows) => "shadows is between 1 and 64",
        _ if !(16..=1_000_000).contains(&options.every) => "every is between 16 and 1000000",
        _ if !(16..=100_000_000).contains(&options.memory) => "memory is between 16 and 100000000",
        _ => return Ok(options),
    };
    Err(name.error(KIND, problem))
}

/// Writes those of `name` that are not the default at the end of `canonical`.
///
/// # Errors
/// As [`options`].
pub fn complete(name: &StrategyName, canonical: &mut StrategyName) -> Result<(), NameError> {
    let (options, default) = (options(name)?, TuneOptions::default());
    let [shadows, every, memory] = KEYS;
    for (key, value, default) in [
        (shadows, options.shadows, default.shadows),
        (every, options.every, default.every),
        (memory, options.memory, default.memory),
    ] {
        if value != default {
            canonical.set(key, value.to_string());
        }
    }
    Ok(())
}
