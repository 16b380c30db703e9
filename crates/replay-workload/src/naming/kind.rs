//! Syntax of parameter values.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::Registry;
use crate::number::plain;

/// The syntax of parameter values of type `V`: the functions that list, parse and print the values.
pub struct Kind<V> {
    pub(super) values: String,
    /// Text that listings show for an absent value.
    pub(super) absent: &'static str,
    /// Parses text to a value. The error is a complete sentence that contains the key of the parameter.
    pub(super) read: Box<Read<V>>,
    /// Prints a value; `None` if the value has no text form.
    pub(super) write: Box<Write<V>>,
}

type Read<V> = dyn Fn(&str, &str) -> Result<V, String> + Send + Sync;
type Write<V> = dyn Fn(&V) -> Option<String> + Send + Sync;

impl<V: 'static> Kind<V> {
    fn new(
        values: String,
        read: impl Fn(&str, &str) -> Result<V, String> + Send + Sync + 'static,
        write: impl Fn(&V) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { values, absent: "none", read: Box::new(read), write: Box::new(write) }
    }

    /// Sets the description of the valid values in listings.
    pub fn listed(self, values: impl Into<String>) -> Self {
        Self { values: values.into(), ..self }
    }

    /// Accepts additional words. Additional words are neither listed nor printed.
    pub fn also(self, words: &'static [(&'static str, V)]) -> Self
    where
        V: Copy + Sync,
    {
        let read = self.read;
        let read = Box::new(move |key: &str, text: &str| {
            let word = words.iter().find(|(word, _)| *word == text);
            word.map_or_else(|| read(key, text), |&(_, value)| Ok(value))
        });
        Self { read, ..self }
    }

    /// Makes the value optional; `absent` describes an absent value in listings.
    pub fn or(self, absent: &'static str) -> Kind<Option<V>> {
        let Self { values, read, write, .. } = self;
        Kind {
            values,
            absent,
            read: Box::new(move |key, text| read(key, text).map(Some)),
            write: Box::new(move |value| value.as_ref().and_then(&write)),
        }
    }
}

/// Returns the syntax of a value that is one of the words in `choices`.
pub fn one_of<V: Clone + PartialEq + Sync>(choices: &'static [(&'static str, V)]) -> Kind<V> {
    let names =
        |between: &str| choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(between);
    let read = move |key: &str, text: &str| {
        let choice = choices.iter().find(|(name, _)| *name == text);
        choice
            .map(|(_, value)| value.clone())
            .ok_or_else(|| format!("{key}=\"{text}\" is not one of {}", names(", ")))
    };
    let write = |value: &V| {
        let choice = choices.iter().find(|(_, choice)| choice == value);
        choice.map(|(name, _)| name.to_string())
    };
    Kind::new(names("|"), read, write)
}

/// Returns the syntax of a Boolean value, `no` or `yes`; `false` and `true` are also accepted.
pub fn yes_no() -> Kind<bool> {
    one_of(&[("no", false), ("yes", true)]).also(&[("false", false), ("true", true)])
}

/// Returns the syntax of an integer in a range.
pub fn integer<V>(range: RangeInclusive<V>) -> Kind<V>
where
    V: Copy + PartialOrd + FromStr + Display + Send + Sync + 'static,
{
    let (low, high) = (*range.start(), *range.end());
    let read = move |key: &str, text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("{key}=\"{text}\" is not an integer from {low} to {high}"))
    };
    Kind::new(format!("{low}..{high}"), read, |value: &V| Some(value.to_string()))
}

/// Returns the syntax of a positive, finite number.
pub fn positive() -> Kind<f64> {
    above_zero("a positive number".to_string(), f64::MAX)
}

/// Returns the syntax of a positive number of at most `most`.
pub fn positive_to(most: f64) -> Kind<f64> {
    above_zero(format!("a number above 0, at most {}", plain(most)), most)
}

/// Returns the syntax of a number in a range, including both ends.
pub fn number(range: RangeInclusive<f64>) -> Kind<f64> {
    let values = format!("a number from {} to {}", plain(*range.start()), plain(*range.end()));
    real(values, move |number| range.contains(&number))
}

fn above_zero(values: String, most: f64) -> Kind<f64> {
    real(values, move |number| number > 0.0 && number <= most)
}

fn real(values: String, legal: impl Fn(f64) -> bool + Send + Sync + 'static) -> Kind<f64> {
    let problem = format!("is not {values}");
    let read = move |key: &str, text: &str| {
        // Adding 0 converts -0 to 0.
        let number = text.parse().ok().map(|number: f64| number + 0.0);
        let number = number.filter(|&number| legal(number));
        number.ok_or_else(|| format!("{key}=\"{text}\" {problem}"))
    };
    Kind::new(values, read, |value: &f64| Some(plain(*value)))
}

/// Returns the syntax of a type with its own parser and printer, for example a strategy with
/// parameters. `values` describes the valid values in listings.
pub fn typed<V>(values: &str) -> Kind<V>
where
    V: FromStr<Err: Display> + Display + 'static,
{
    let read = |key: &str, text: &str| text.parse().map_err(|e| format!("{key}=\"{text}\": {e}"));
    Kind::new(values.to_string(), read, |value: &V| Some(value.to_string()))
}

/// Returns the syntax of a type with its own parser and printer, like [`typed`]. Errors of the parser are reported
/// unchanged, so they must contain the rejected text.
pub fn parsed<V>(values: &str) -> Kind<V>
where
    V: FromStr<Err: Display> + Display + 'static,
{
    let read = |_: &str, text: &str| text.parse().map_err(|e: V::Err| e.to_string());
    Kind { read: Box::new(read), ..typed(values) }
}

/// Returns the syntax of a strategy of a registry. `values` describes the valid values in listings.
pub fn strategy<S: Display + 'static>(values: &str, registry: &Registry<S>) -> Kind<S> {
    let registry = registry.clone();
    let read = move |_: &str, text: &str| registry.read(text).map_err(|e| e.to_string());
    Kind::new(values.to_string(), read, |value: &S| Some(value.to_string()))
}

/// Returns the syntax of values separated by commas. Errors of the parser of a value are reported unchanged, so they
/// must contain the rejected text. An empty list is treated as absent.
pub fn list<V>(values: &str) -> Kind<Vec<V>>
where
    V: FromStr<Err: Display> + Display + 'static,
{
    let read = |_: &str, text: &str| {
        let parse = |part: &str| part.trim().parse().map_err(|e: V::Err| e.to_string());
        text.split(',').map(parse).collect()
    };
    let write = |all: &Vec<V>| {
        let texts: Vec<_> = all.iter().map(V::to_string).collect();
        (!all.is_empty()).then(|| texts.join(","))
    };
    Kind::new(values.to_string(), read, write)
}

/// Returns the syntax of a file name. An empty path is treated as absent.
pub fn file() -> Kind<String> {
    let write = |path: &String| (!path.is_empty()).then(|| path.clone());
    Kind::new("a file".to_string(), |_, text| Ok(text.to_string()), write)
}
