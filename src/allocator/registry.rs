//! Names of allocation strategies.
//!
//! A strategy is one file with a `strategies` function and one line in [`all`].

use std::sync::LazyLock;

use super::centre::{Slack, TieRule, TieVector};
use super::strategy::Strategy;
use super::{
    Allocator, anca, as_mb, buddy, busy_list, centre, contiguous, curve, gabl, mbs, mc, midplane,
    paging, random, tuned,
};
use crate::naming::{Description, NameError, StrategyName, nearest};
use crate::topology::Topology;

static STRATEGIES: LazyLock<Vec<Strategy>> = LazyLock::new(|| {
    [
        centre::strategies(),
        mc::strategies(),
        curve::strategies(),
        random::strategies(),
        paging::strategies(),
        mbs::strategies(),
        contiguous::strategies(),
        busy_list::strategies(),
        gabl::strategies(),
        as_mb::strategies(),
        buddy::strategies(),
        anca::strategies(),
        midplane::strategies(),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Every strategy.
pub fn all() -> &'static [Strategy] {
    &STRATEGIES
}

/// Every strategy's entry in a listing.
pub fn descriptions() -> Vec<Description> {
    let describe = |strategy: &Strategy| Description {
        name: strategy.name.clone(),
        aliases: strategy.aliases.to_vec(),
        about: strategy.about.clone(),
        source: strategy.source,
        parameters: (strategy.parameters)(),
    };
    all().iter().map(describe).collect()
}

/// An allocation strategy as chosen by a user: checked and canonical.
#[derive(Clone)]
pub struct AllocatorSpec {
    name: StrategyName,
    strategy: &'static Strategy,
}

impl AllocatorSpec {
    /// The canonical name.
    pub fn name(&self) -> &StrategyName {
        &self.name
    }

    /// Whether the strategy breaks ties by a vector.
    pub fn takes_tie(&self) -> bool {
        self.has_parameter("tie")
    }

    /// Whether the strategy has a parameter of this name.
    pub fn has_parameter(&self, key: &str) -> bool {
        (self.strategy.parameters)().iter().any(|parameter| parameter.key == key)
    }

    /// The tie vector, as it was written, or `auto`.
    pub fn tie(&self) -> Option<&str> {
        self.name.get("tie")
    }

    /// What tells strategies apart: two specifications with the same text always choose
    /// the same processors. Tie vectors of one ratio are one, and a vector that gives
    /// every candidate the same value is none.
    pub fn strategy(&self) -> String {
        let mut name = self.name.clone();
        let vector = self.tie().and_then(|tie| tie.parse::<TieVector>().ok());
        let told_apart = vector.filter(|vector| !vector.is_indifferent());
        let tunes_itself = self.tie().is_some() && vector.is_none();
        name.parameters.retain(|(key, _)| match key.as_str() {
            "tie" => tunes_itself,
            // Without tie values a worse score never wins.
            "slack" => tunes_itself || told_apart.is_some(),
            key => tunes_itself || !tuned::names::KEYS.contains(&key),
        });
        if let Some(vector) = told_apart {
            name.set("tie", vector.reduced().to_string());
        }
        name.to_string()
    }

    /// The canonical name without the tie vector.
    pub fn without_tie(&self) -> StrategyName {
        let mut name = self.name.clone();
        name.parameters.retain(|(key, _)| key != "tie");
        name
    }

    /// The same strategy with another way to break ties; unchanged if it takes no vector.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not tune itself and is told to.
    pub fn with_tie(&self, tie: impl Into<TieRule>) -> Result<Self, NameError> {
        if !self.takes_tie() {
            return Ok(self.clone());
        }
        let mut name = self.without_tie();
        match tie.into() {
            TieRule::First => {}
            rule => name.set("tie", rule.to_string()),
        }
        Self::try_from(&name)
    }

    /// The same strategy with another slack; unchanged if it knows none.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not take it.
    pub fn with_slack(&self, slack: Slack) -> Result<Self, NameError> {
        if !self.has_parameter("slack") {
            return Ok(self.clone());
        }
        let mut name = self.name.clone();
        name.parameters.retain(|(key, _)| key != "slack");
        if !slack.is_none() {
            name.set("slack", slack.to_string());
        }
        Self::try_from(&name)
    }

    /// The allocator for a machine.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not work on such a machine.
    pub fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError> {
        (self.strategy.build)(&self.name, topology, seed)
    }
}

impl TryFrom<&StrategyName> for AllocatorSpec {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let known = |s: &&Strategy| s.name == name.name || s.aliases.contains(&name.name.as_str());
        let strategy = all().iter().find(known).ok_or_else(|| {
            let hint = match nearest(&name.name, all().iter().map(|s| s.name.as_str())) {
                Some(near) => format!("unknown; did you mean \"{near}\"? (replay list allocators)"),
                None => "unknown (replay list allocators)".to_string(),
            };
            name.error("allocator", hint)
        })?;
        let named =
            StrategyName { name: strategy.name.clone(), parameters: name.parameters.clone() };
        Ok(Self { name: (strategy.canonical)(&named)?, strategy })
    }
}

impl std::str::FromStr for AllocatorSpec {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name: StrategyName =
            text.parse().map_err(|e: NameError| NameError { kind: "allocator", ..e })?;
        Self::try_from(&name)
    }
}

impl std::fmt::Display for AllocatorSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

impl std::fmt::Debug for AllocatorSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AllocatorSpec({self})")
    }
}

#[cfg(test)]
mod tests;
