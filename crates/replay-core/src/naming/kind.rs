//! How the value of a parameter is typed.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::number::plain;

/// The legal values of a parameter of type `V`: how they are listed, read and written.
pub struct Kind<V> {
    pub(super) values: String,
    /// What a listing says where there is nothing to write.
    pub(super) absent: &'static str,
    /// From a key and a text, to a value or a whole sentence on what is wrong.
    pub(super) read: Box<Read<V>>,
    /// A value as typed; `None` for what nobody can type.
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

    /// The same with other words for the legal values in listings.
    pub fn listed(self, values: impl Into<String>) -> Self {
        Self { values: values.into(), ..self }
    }

    /// The same, and these words are read too. They are neither listed nor written.
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

    /// The same for a value that may be left out; `absent` says in listings what that means.
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

/// One of some words.
pub fn one_of<V: Clone + PartialEq + Sync>(choices: &'static [(&'static str, V)]) -> Kind<V> {
    let names =
        |between: &str| choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(between);
    let read = move |key: &str, text: &str| {
        let choice = choices.iter().find(|(name, _)| *name == text);
        choice
            .map(|(_, value)| value.clone())
            .ok_or_else(|| format!("{key}=\"{text}\" is none of {}", names(", ")))
    };
    let write = |value: &V| {
        let choice = choices.iter().find(|(_, choice)| choice == value);
        choice.map(|(name, _)| name.to_string())
    };
    Kind::new(names("|"), read, write)
}

/// `no` or `yes`; `false` and `true` are read too.
pub fn yes_no() -> Kind<bool> {
    one_of(&[("no", false), ("yes", true)]).also(&[("false", false), ("true", true)])
}

/// A whole number in a range.
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

/// A positive, finite number.
pub fn positive() -> Kind<f64> {
    above_zero("a positive number".to_string(), f64::MAX)
}

/// A positive number up to a largest one.
pub fn positive_to(most: f64) -> Kind<f64> {
    above_zero(format!("a number above 0, at most {}", plain(most)), most)
}

/// A number in a range, both ends included.
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
        // There is one zero.
        let number = text.parse().ok().map(|number: f64| number + 0.0);
        let number = number.filter(|&number| legal(number));
        number.ok_or_else(|| format!("{key}=\"{text}\" {problem}"))
    };
    Kind::new(values, read, |value: &f64| Some(plain(*value)))
}

/// Whatever the type reads and writes, a strategy with parameters of its own for example;
/// `values` says in listings what that is.
pub fn typed<V>(values: &str) -> Kind<V>
where
    V: FromStr<Err: Display> + Display + 'static,
{
    let read = |key: &str, text: &str| text.parse().map_err(|e| format!("{key}=\"{text}\": {e}"));
    Kind::new(values.to_string(), read, |value: &V| Some(value.to_string()))
}

/// As [`typed`], for a type whose error says by itself what was read.
pub fn parsed<V>(values: &str) -> Kind<V>
where
    V: FromStr<Err: Display> + Display + 'static,
{
    let read = |_: &str, text: &str| text.parse().map_err(|e: V::Err| e.to_string());
    Kind { read: Box::new(read), ..typed(values) }
}

/// Values separated by commas, each with an error that says by itself what was read; the
/// empty list is none.
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

/// A file to read; the empty path is none.
pub fn file() -> Kind<String> {
    let write = |path: &String| (!path.is_empty()).then(|| path.clone());
    Kind::new("a file".to_string(), |_, text| Ok(text.to_string()), write)
}
