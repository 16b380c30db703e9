//! A strategy with options as selected by a user. A strategy that decorates another strategy has the other strategy as
//! a parameter; the [`registry`](super::registry) defines the names.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::ties::{TieBreaking, TieConfig, TieRule};
use super::{Allocator, AllocatorOptions, Batch, BatchBuilder, RecordedOptions};
use crate::naming::{NameError, Setting, StrategyName, Table};
use crate::topology::Topology;

/// An allocation strategy as selected by a user: its typed options and the table that names them. Cheap to clone.
#[derive(Clone)]
pub struct AllocatorSpec(Arc<dyn Chosen>);

/// A parsed value for a parameter of one strategy.
#[derive(Clone, Debug)]
pub struct ParameterValue(Arc<dyn Any + Send + Sync>);

impl AllocatorSpec {
    /// Returns the strategy with these options, named by `table`.
    pub fn new<O: AllocatorOptions>(table: &Arc<Table<O>>, options: O) -> Self {
        let typed = table.name(&options);
        Self(Arc::new(Typed { table: table.clone(), typed, options }))
    }

    /// Returns the strategy that `table` defines for `name`; a [`Registry`](crate::naming::Registry) calls this
    /// function.
    ///
    /// # Errors
    /// The errors of [`Table::parse`].
    pub fn parse<O: AllocatorOptions>(
        table: &Arc<Table<O>>,
        name: &StrategyName,
    ) -> Result<Self, NameError> {
        let options = table.parse(name)?;
        let typed = StrategyName::plain(&name.name);
        Ok(Self(Arc::new(Typed { table: table.clone(), typed, options })))
    }

    /// Returns the canonical name.
    pub fn name(&self) -> StrategyName {
        self.0.name()
    }

    /// Returns a string that identifies the strategy: two specifications with equal identity always choose the same
    /// processors. Tie vectors that are multiples of each other have the same identity. A vector that gives every
    /// candidate the same value has the identity of the strategy without a vector.
    pub fn identity(&self) -> String {
        self.0.identity().to_string()
    }

    /// Returns the name of a parameter that differs from its default but has no effect with the current values of the
    /// other parameters, such as `shadows` without `tie=auto`. The tie vector is never returned.
    pub fn idle(&self) -> Option<String> {
        let reduced = self.0.identity();
        let parameters = self.name().parameters;
        parameters
            .into_iter()
            .map(|(key, _)| key)
            .find(|key| key != "tie" && reduced.get(key).is_none())
    }

    /// Returns the strategy with machine-dependent defaults filled in. The result has the same canonical name and
    /// identity as the strategy with these values given explicitly.
    pub fn on(&self, topology: &Topology) -> Self {
        self.0.on(topology)
    }

    /// Returns whether the strategy has a parameter named `key`.
    pub fn has_parameter(&self, key: &str) -> bool {
        self.0.has(key)
    }

    /// Parses a value for a parameter.
    ///
    /// # Errors
    /// [`NameError`] if the strategy has no parameter named `key`, or if the text is not a legal value.
    pub fn value(&self, key: &str, text: &str) -> Result<ParameterValue, NameError> {
        self.0.value(key, text)
    }

    /// Returns the strategy with the given parameter values, which are set in order. If `tie` is given, it replaces the
    /// tie rule of a strategy that breaks ties by a vector.
    ///
    /// # Errors
    /// [`NameError`] if the values exclude each other, or if a value was parsed for another strategy.
    pub fn with<'a>(
        &self,
        values: impl IntoIterator<Item = &'a ParameterValue>,
        tie: Option<TieRule>,
    ) -> Result<Self, NameError> {
        self.0.with(&mut values.into_iter(), &|breaking| {
            breaking.tie = tie.unwrap_or(breaking.tie);
        })
    }

    /// Returns the options of the strategy if they have type `O`.
    pub fn options<O: AllocatorOptions>(&self) -> Option<&O> {
        self.0.options().downcast_ref()
    }

    /// Returns whether the strategy repeats the placements recorded in a log.
    pub fn recorded(&self) -> bool {
        self.options::<RecordedOptions>().is_some()
    }

    /// Returns a name that is equal for strategies that can be replayed in one [batch](Self::batch). Returns `None` if
    /// the strategy or the machine does not support batches.
    pub fn batch_key(&self, topology: &Topology) -> Option<StrategyName> {
        self.tie_breaking().filter(|breaking| breaking.tie != TieRule::Auto)?;
        let _ = self.0.batch(topology)?;
        self.0.without_ties()
    }

    /// Returns machines for the replay of all `specs` in one [batch](Batch), in which the configurations have the order
    /// of `specs`. Returns `None` for fewer than two strategies, and for strategies that differ in more than their tie
    /// vectors and slacks or do not support a batch.
    pub fn batch<'a>(
        specs: impl Iterator<Item = &'a Self> + Clone,
        topology: &Topology,
    ) -> Option<Box<dyn Batch>> {
        let (first, _) = (specs.clone().next()?, specs.clone().nth(1)?);
        let key = first.batch_key(topology)?;
        let config = |spec: &Self| {
            let TieBreaking { tie, slack } = spec.tie_breaking()?;
            let is_alike = spec.batch_key(topology).is_some_and(|other| other == key);
            is_alike.then(|| TieConfig::new(tie.vector(), slack.fixed()))
        };
        let configs = specs.map(config).collect::<Option<_>>()?;
        Some(first.0.batch(topology)?(configs))
    }

    /// Returns whether the strategy breaks ties by a vector.
    pub fn takes_tie(&self) -> bool {
        self.0.tie_breaking().is_some()
    }

    /// Returns the vector and slack by which the strategy breaks ties; `None` if the strategy has no tie vector.
    pub fn tie_breaking(&self) -> Option<TieBreaking> {
        self.0.tie_breaking()
    }

    /// Returns the tie vector or the self-tuning rule; `None` if the strategy has no tie rule.
    pub fn tie(&self) -> Option<TieRule> {
        self.0.tie_breaking().map(|breaking| breaking.tie).filter(|&tie| tie != TieRule::First)
    }

    /// Returns the canonical name without the tie vector.
    pub fn without_tie(&self) -> StrategyName {
        let mut name = self.name();
        if self.takes_tie() {
            name.parameters.retain(|(key, _)| key != "tie");
        }
        name
    }

    /// Returns the strategy with another tie rule. A strategy without a tie vector is returned unchanged.
    ///
    /// # Errors
    /// [`NameError`] if `tie` requests self-tuning and the strategy does not support it.
    pub fn with_tie(&self, tie: impl Into<TieRule>) -> Result<Self, NameError> {
        self.with([], Some(tie.into()))
    }

    /// Returns the strategy with another tie rule and slack. A strategy without a tie vector is returned unchanged.
    ///
    /// # Errors
    /// [`NameError`] if `tie_breaking` requests self-tuning and the strategy does not support it.
    pub fn with_tie_breaking(&self, tie_breaking: TieBreaking) -> Result<Self, NameError> {
        self.0.with(&mut std::iter::empty(), &|breaking| *breaking = tie_breaking)
    }

    /// Builds the allocator for a machine.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not support the machine.
    pub fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError> {
        let allocator = self.0.build(topology, seed)?;
        if topology.slots() > topology.processors() && !allocator.capabilities().shares_hosts {
            let problem = "allocates whole processors, but jobs share the hosts of this machine";
            return Err(self.name().error("allocator", problem));
        }
        Ok(allocator)
    }
}

/// Type-erased options with the table that names them.
trait Chosen: Send + Sync {
    fn name(&self) -> StrategyName;
    fn identity(&self) -> StrategyName;
    fn on(&self, topology: &Topology) -> AllocatorSpec;
    fn has(&self, key: &str) -> bool;
    fn value(&self, key: &str, text: &str) -> Result<ParameterValue, NameError>;
    fn tie_breaking(&self) -> Option<TieBreaking>;
    fn options(&self) -> &dyn Any;
    fn without_ties(&self) -> Option<StrategyName>;
    fn batch<'a>(&'a self, topology: &'a Topology) -> Option<BatchBuilder<'a>>;
    fn with(
        &self,
        values: &mut dyn Iterator<Item = &ParameterValue>,
        change: &dyn Fn(&mut TieBreaking),
    ) -> Result<AllocatorSpec, NameError>;
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError>;
}

struct Typed<O> {
    table: Arc<Table<O>>,
    /// Name without parameters, as typed by the user. The name selects the entry of the table.
    typed: StrategyName,
    options: O,
}

impl<O: AllocatorOptions> Chosen for Typed<O> {
    fn name(&self) -> StrategyName {
        self.table.name(&self.options)
    }

    fn identity(&self) -> StrategyName {
        let mut reduced = self.options.reduced();
        let mut name = self.table.name(&reduced);
        // In the ids of cells, the tie vector follows all other parameters.
        let vector = |breaking: &mut TieBreaking| matches!(breaking.tie, TieRule::Vector(_));
        if reduced.tie_breaking().is_some_and(vector) {
            name.parameters.sort_by_key(|(key, _)| key == "tie");
        }
        name
    }

    fn on(&self, topology: &Topology) -> AllocatorSpec {
        let (table, typed) = (self.table.clone(), self.typed.clone());
        AllocatorSpec(Arc::new(Typed { table, typed, options: self.options.on(topology) }))
    }

    fn has(&self, key: &str) -> bool {
        self.table.entry(&self.typed).is_ok_and(|entry| entry.has(&self.typed, key))
    }

    fn value(&self, key: &str, text: &str) -> Result<ParameterValue, NameError> {
        let setting = self.table.setting(&self.typed, key, text)?;
        Ok(ParameterValue(Arc::new(setting)))
    }

    fn tie_breaking(&self) -> Option<TieBreaking> {
        self.options.clone().tie_breaking().copied()
    }

    fn options(&self) -> &dyn Any {
        &self.options
    }

    fn without_ties(&self) -> Option<StrategyName> {
        let mut options = self.options.clone();
        *options.tie_breaking()? = TieBreaking::default();
        Some(self.table.name(&options.reduced()))
    }

    fn batch<'a>(&'a self, topology: &'a Topology) -> Option<BatchBuilder<'a>> {
        self.options.batch(topology)
    }

    fn with(
        &self,
        values: &mut dyn Iterator<Item = &ParameterValue>,
        change: &dyn Fn(&mut TieBreaking),
    ) -> Result<AllocatorSpec, NameError> {
        let mut options = self.options.clone();
        for value in values {
            let Some(setting) = value.0.downcast_ref::<Setting<O>>() else {
                return Err(self
                    .name()
                    .error(self.table.kind(), "the value belongs to another strategy"));
            };
            setting(&mut options);
        }
        if let Some(breaking) = options.tie_breaking() {
            change(breaking);
        }
        self.table.check_combination(&self.typed, &options)?;
        let (table, typed) = (self.table.clone(), self.typed.clone());
        Ok(AllocatorSpec(Arc::new(Typed { table, typed, options })))
    }

    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError> {
        let built = self.options.build(topology, seed);
        built.map_err(|problem| self.name().error(self.table.kind(), problem))
    }
}

/// Two strategies are equal if their canonical names are equal. A strategy that is the value of a parameter is also
/// compared by its canonical name.
impl PartialEq for AllocatorSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Display for AllocatorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

impl fmt::Debug for AllocatorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AllocatorSpec({self})")
    }
}
