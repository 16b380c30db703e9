use std::fmt;
use std::str::FromStr;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::range;

/// One or more values of a parameter, as the user wrote them: words, numbers, or ranges of numbers.
///
/// In a grid file, a value is written as `"1..9"`, `3`, `true`, `"scan"` or an array of these. A range is
/// `FIRST..LAST` or `FIRST..LAST:STEP` with decimal numbers and both ends included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Values(Vec<String>);

/// A value that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{text}\": {problem}")]
pub struct ValueError {
    text: String,
    problem: String,
}

impl Values {
    /// Splits values separated by commas.
    pub fn listed(text: &str) -> Self {
        text.split(',').map(str::trim).collect()
    }

    /// Returns the values with ranges expanded.
    ///
    /// # Errors
    /// [`ValueError`] for a malformed, empty or too large range.
    pub fn texts(&self) -> Result<Vec<String>, ValueError> {
        let mut all = Vec::new();
        for text in &self.0 {
            match range::expand(text) {
                None => all.push(text.clone()),
                Some(Ok(values)) => all.extend(values),
                Some(Err(problem)) => return Err(ValueError { text: text.clone(), problem }),
            }
        }
        Ok(all)
    }

    /// Returns the values as integers. Unlike [`texts`](Self::texts), this function also accepts a list with commas as
    /// a value (`"1,3,5..9"`).
    ///
    /// # Errors
    /// [`ValueError`] if a range is invalid, or if a value is not an integer that the type `T` can represent.
    pub fn integers<T: FromStr>(&self) -> Result<Vec<T>, ValueError> {
        let items: Values = self.0.iter().flat_map(|text| text.split(',')).map(str::trim).collect();
        let integer = |text: String| {
            let problem = "not an integer in range".to_string();
            text.parse().map_err(|_| ValueError { text, problem })
        };
        items.texts()?.into_iter().map(integer).collect()
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> FromIterator<&'a str> for Values {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        Self(texts.into_iter().map(str::to_string).collect())
    }
}

impl FromIterator<String> for Values {
    fn from_iter<I: IntoIterator<Item = String>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMore)
    }
}

/// Deserializes a scalar, or an array of scalars.
pub(super) struct OneOrMore;

impl<'de> Visitor<'de> for OneOrMore {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a range such as \"1..9\", or an array of them")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Values, E> {
        Ok(Values(vec![value.to_string()]))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Values, E> {
        Ok(Values(vec![value.to_string()]))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Values, E> {
        Ok(Values(vec![value.to_string()]))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Values, E> {
        Ok(Values(vec![value.to_string()]))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Values, E> {
        Ok(Values(vec![value.to_string()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Values, A::Error> {
        let mut all = Vec::new();
        while let Some(Values(values)) = items.next_element()? {
            all.extend(values);
        }
        Ok(Values(all))
    }
}
