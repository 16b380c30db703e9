//! What the grammars of arrivals, sides and service have in common.

use crate::naming::{NameError, StrategyName, nearest};
use std::fmt::Display;
use std::str::FromStr;

/// Text form of a type with `TryFrom<&StrategyName>` and a method `name`: `FromStr`, `Display` (the
/// canonical text, which parses back to the same value), and serde by that text.
macro_rules! text_form {
    ($type:ty, $kind:expr) => {
        impl std::str::FromStr for $type {
            type Err = crate::naming::NameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let parsed = text.parse::<crate::naming::StrategyName>();
                let name = parsed.map_err(|e| crate::naming::NameError { kind: $kind, ..e })?;
                Self::try_from(&name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.name().fmt(f)
            }
        }

        impl TryFrom<String> for $type {
            type Error = crate::naming::NameError;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
pub(super) use text_form;

/// A name with parameters.
pub(super) fn with<const N: usize>(name: &str, parameters: [(&str, f64); N]) -> StrategyName {
    let mut strategy = StrategyName::plain(name);
    for (key, value) in parameters {
        strategy.set(key, value.to_string());
    }
    strategy
}

/// The error for a name that no distribution has.
pub(super) fn unknown(name: &StrategyName, kind: &'static str, known: &[&str]) -> NameError {
    let hint = match nearest(&name.name, known.iter().copied()) {
        Some(near) => format!("unknown; did you mean \"{near}\"?"),
        None => format!("unknown; known are {}", known.join(", ")),
    };
    name.error(kind, hint)
}

/// A parameter that may be left out.
pub(super) fn optional<T>(
    name: &StrategyName,
    kind: &'static str,
    key: &str,
) -> Result<Option<T>, NameError>
where
    T: FromStr,
    T::Err: Display,
{
    let parse =
        |text: &str| text.parse().map_err(|e| name.error(kind, format!("{key}=\"{text}\": {e}")));
    name.get(key).map(parse).transpose()
}

/// Complains of a value that is not positive and finite.
pub(super) fn positive(key: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(format!("{key} is {value}, but must be positive and finite"))
}
