//! Options whose values are names.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::exit::Failure;
use replay_engine::naming::{advice, split_list};
use replay_engine::sanitize::excerpt;

/// A value that is parsed from its name and serialized as its name.
#[derive(Clone, Copy, Debug)]
pub struct Named<T>(pub T);

impl<T: FromStr> FromStr for Named<T> {
    type Err = T::Err;

    fn from_str(name: &str) -> Result<Self, T::Err> {
        name.parse().map(Self)
    }
}

impl<T: Display> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Returns the value that `all` assigns to the name `word`.
///
/// # Errors
/// A usage error with the most similar name, or with all names, if `word` is not one of the names.
pub fn one<T: Copy>(option: &str, word: &str, all: &[(&'static str, T)]) -> Result<T, Failure> {
    let found = all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names = || all.iter().map(|(name, _)| *name);
        let known = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
        let advice = advice(word, names(), known);
        Failure::usage_message(format!("{option} \"{}\": unknown; {advice}", excerpt(word)))
    })
}

/// Returns the values that `all` assigns to the names `words`.
///
/// # Errors
/// The error of [`one`] for the first unknown name.
pub fn some<T: Copy>(
    option: &str,
    words: &[String],
    all: &[(&'static str, T)],
) -> Result<Vec<T>, Failure> {
    words.iter().map(|word| one(option, word.trim(), all)).collect()
}

/// Returns distinct values in the order of their first occurrence.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// Parses the names in lists with the function `parse`; without lists, parses the default.
///
/// # Errors
/// A usage error for a wrong name.
pub fn parse_list<T, E>(
    lists: &[String],
    default: &str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, Failure>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let default = [default.to_string()];
    let lists = if lists.is_empty() { &default[..] } else { lists };
    let names = lists.iter().flat_map(|list| split_list(list));
    names.map(|name| parse(name).map_err(Failure::usage)).collect()
}

/// Returns the names of traces in all lists. A list that is the path of an existing file is one name, even if it
/// contains commas.
pub fn trace_names(lists: &[String]) -> Vec<String> {
    let names = lists.iter().flat_map(|list| match Path::new(list).exists() {
        true => vec![list.as_str()],
        false => split_list(list).into_iter().map(str::trim).collect(),
    });
    names.map(str::to_string).collect()
}
