use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::values::{OneOrMore, Values};

/// The tie vectors of an allocator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Ties {
    /// Single vectors, each written as `SR,AF,WF,BF` or `none`.
    Vectors(Values),
    /// Every combination of the values of four lists.
    Product(TieRanges),
}

/// Lists of integers, one for each entry of a vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TieRanges {
    /// Scan radii, in shells.
    pub sr: Values,
    /// Weights of nearby free processors.
    pub af: Values,
    /// Weights of the job's processors along walls.
    pub wf: Values,
    /// Weights of busy processors adjacent to the job.
    pub bf: Values,
}

impl TieRanges {
    /// Returns the lists in the order of the vector, with their keys.
    pub fn lists(&self) -> [(&'static str, &Values); 4] {
        let Self { sr, af, wf, bf } = self;
        [("sr", sr), ("af", af), ("wf", wf), ("bf", bf)]
    }
}

impl<'de> Deserialize<'de> for Ties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VectorsOrProduct)
    }
}

/// Deserializes vectors, or a table of four lists.
struct VectorsOrProduct;

impl<'de> Visitor<'de> for VectorsOrProduct {
    type Value = Ties;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tie vectors \"SR,AF,WF,BF\", \"none\", or a table of sr, af, wf and bf")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ties, E> {
        OneOrMore.visit_str(text).map(Ties::Vectors)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Ties, A::Error> {
        OneOrMore.visit_seq(items).map(Ties::Vectors)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Ties, A::Error> {
        TieRanges::deserialize(MapAccessDeserializer::new(table)).map(Ties::Product)
    }
}
