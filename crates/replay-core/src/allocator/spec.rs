//! A strategy as chosen by a user, whatever its options. Strategies around others hold one as a
//! parameter; which names there are is the [`registry`](super::registry)'s matter, above.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::centre::{CentreOptions, TieBreaking, TieRule};
use super::{Allocator, AllocatorOptions};
use crate::naming::{NameError, Setting, StrategyName, Table};
use crate::topology::Topology;
use crate::topology::curve::Curve;

/// An allocation strategy as chosen by a user: its typed options, and the table that names
/// them. Cheap to clone.
#[derive(Clone)]
pub struct AllocatorSpec(Arc<dyn Chosen>);

/// A value for a parameter of one strategy, read and ready to be put into its options.
#[derive(Clone, Debug)]
pub struct ParameterValue(Arc<dyn Any + Send + Sync>);

impl AllocatorSpec {
    /// The strategy of these options, named by a table.
    pub fn new<O: AllocatorOptions>(table: &Arc<Table<O>>, options: O) -> Self {
        let typed = table.name(&options);
        Self(Arc::new(Typed { table: table.clone(), typed, options }))
    }

    /// The strategy that a table gives a name, for a [`Registry`](crate::naming::Registry).
    ///
    /// # Errors
    /// As [`Table::parse`].
    pub fn parse<O: AllocatorOptions>(
        table: &Arc<Table<O>>,
        name: &StrategyName,
    ) -> Result<Self, NameError> {
        let options = table.parse(name)?;
        let typed = StrategyName::plain(&name.name);
        Ok(Self(Arc::new(Typed { table: table.clone(), typed, options })))
    }

    /// The canonical name.
    pub fn name(&self) -> StrategyName {
        self.0.name()
    }

    /// What tells strategies apart: two specifications of one identity always choose the
    /// same processors. Tie vectors of one ratio are one, and a vector that gives every
    /// candidate the same value is none.
    pub fn identity(&self) -> String {
        self.0.identity().to_string()
    }

    /// A parameter other than the tie vector that is not at its default and changes nothing as long as
    /// the others are as they are, like `shadows` without `tie=auto`.
    pub fn idle(&self) -> Option<String> {
        let reduced = self.0.identity();
        let told = self.name().parameters;
        told.into_iter().map(|(key, _)| key).find(|key| key != "tie" && reduced.get(key).is_none())
    }

    /// The strategy as it is on a machine: what its options leave to the machine is named. Its canonical
    /// name and identity there are those of whoever types it out.
    pub fn on(&self, topology: &Topology) -> Self {
        self.0.on(topology)
    }

    /// Whether the strategy has a parameter of this name.
    pub fn has_parameter(&self, key: &str) -> bool {
        self.0.has(key)
    }

    /// Reads a value for one of its parameters.
    ///
    /// # Errors
    /// [`NameError`] if it has no such parameter, or the text is no legal value.
    pub fn value(&self, key: &str, text: &str) -> Result<ParameterValue, NameError> {
        self.0.value(key, text)
    }

    /// The same strategy with values of its parameters, in this order, and a way to break
    /// ties, if it does by a vector.
    ///
    /// # Errors
    /// [`NameError`] if they do not go together, or a value was read for other options.
    pub fn with<'a>(
        &self,
        values: impl IntoIterator<Item = &'a ParameterValue>,
        tie: Option<TieRule>,
    ) -> Result<Self, NameError> {
        self.0.with(&mut values.into_iter(), &|breaking| {
            breaking.tie = tie.unwrap_or(breaking.tie);
        })
    }

    /// What it shares with strategies that differ from it in nothing but how they break ties, where
    /// many of them can be replayed as one.
    pub fn shared(&self, topology: &Topology) -> Option<CentreOptions> {
        self.0.shared(topology)
    }

    /// The machine that its options describe, if they do.
    ///
    /// # Errors
    /// [`NameError`] with what is wrong with the description.
    pub fn described(&self) -> Result<Option<Topology>, NameError> {
        let described = self.0.described().transpose();
        described.map_err(|problem| self.name().error("allocator", problem))
    }

    /// Whether its placements are those that a log tells.
    pub fn recorded(&self) -> bool {
        self.0.recorded()
    }

    /// The curve along which it places jobs, if it does.
    pub fn curve(&self) -> Option<Curve> {
        self.0.curve()
    }

    /// Whether the strategy breaks ties by a vector.
    pub fn takes_tie(&self) -> bool {
        self.0.tie_breaking().is_some()
    }

    /// How the strategy breaks ties; `None` if it does not by a vector.
    pub fn tie_breaking(&self) -> Option<TieBreaking> {
        self.0.tie_breaking()
    }

    /// The vector by which it breaks ties, or that it tunes one; `None` if it has no rule.
    pub fn tie(&self) -> Option<TieRule> {
        self.0.tie_breaking().map(|breaking| breaking.tie).filter(|&tie| tie != TieRule::First)
    }

    /// The canonical name without the tie vector.
    pub fn without_tie(&self) -> StrategyName {
        let mut name = self.name();
        if self.takes_tie() {
            name.parameters.retain(|(key, _)| key != "tie");
        }
        name
    }

    /// The same strategy with another way to break ties; unchanged if it takes no vector.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not tune itself and is told to.
    pub fn with_tie(&self, tie: impl Into<TieRule>) -> Result<Self, NameError> {
        self.with([], Some(tie.into()))
    }

    /// The same strategy with another way to break ties and another slack; unchanged if it
    /// takes no vector.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not tune itself and is told to.
    pub fn with_tie_breaking(&self, tie_breaking: TieBreaking) -> Result<Self, NameError> {
        self.0.with(&mut std::iter::empty(), &|breaking| *breaking = tie_breaking)
    }

    /// The allocator for a machine.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not work on such a machine.
    pub fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError> {
        let allocator = self.0.build(topology, seed)?;
        if topology.slots() > topology.processors() && allocator.capabilities().hosts.is_none() {
            let problem = "gives a job whole processors; on hosts that jobs share there is elmer";
            return Err(self.name().error("allocator", problem));
        }
        Ok(allocator)
    }
}

/// Options of whatever type, with the table that names them.
trait Chosen: Send + Sync {
    fn name(&self) -> StrategyName;
    fn identity(&self) -> StrategyName;
    fn on(&self, topology: &Topology) -> AllocatorSpec;
    fn has(&self, key: &str) -> bool;
    fn value(&self, key: &str, text: &str) -> Result<ParameterValue, NameError>;
    fn tie_breaking(&self) -> Option<TieBreaking>;
    fn shared(&self, topology: &Topology) -> Option<CentreOptions>;
    fn described(&self) -> Option<Result<Topology, String>>;
    fn recorded(&self) -> bool;
    fn curve(&self) -> Option<Curve>;
    fn with(
        &self,
        values: &mut dyn Iterator<Item = &ParameterValue>,
        change: &dyn Fn(&mut TieBreaking),
    ) -> Result<AllocatorSpec, NameError>;
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError>;
}

struct Typed<O> {
    table: Arc<Table<O>>,
    /// The name as typed, without parameters: it says which there are.
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
        // In ids of cells a vector stands behind all other parameters.
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
        self.table.entry(&self.typed).is_ok_and(|entry| entry.has(key))
    }

    fn value(&self, key: &str, text: &str) -> Result<ParameterValue, NameError> {
        let setting = self.table.setting(&self.typed, key, text)?;
        Ok(ParameterValue(Arc::new(setting)))
    }

    fn tie_breaking(&self) -> Option<TieBreaking> {
        self.options.clone().tie_breaking().copied()
    }

    fn shared(&self, topology: &Topology) -> Option<CentreOptions> {
        self.options.shared(topology)
    }

    fn described(&self) -> Option<Result<Topology, String>> {
        self.options.described()
    }

    fn recorded(&self) -> bool {
        self.options.recorded()
    }

    fn curve(&self) -> Option<Curve> {
        self.options.curve()
    }

    fn with(
        &self,
        values: &mut dyn Iterator<Item = &ParameterValue>,
        change: &dyn Fn(&mut TieBreaking),
    ) -> Result<AllocatorSpec, NameError> {
        let mut options = self.options.clone();
        for value in values {
            let Some(setting) = value.0.downcast_ref::<Setting<O>>() else {
                return Err(self.name().error(self.table.kind(), "a value of another strategy"));
            };
            setting(&mut options);
        }
        if let Some(breaking) = options.tie_breaking() {
            change(breaking);
        }
        self.table.go_together(&self.typed, &options)?;
        let (table, typed) = (self.table.clone(), self.typed.clone());
        Ok(AllocatorSpec(Arc::new(Typed { table, typed, options })))
    }

    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, NameError> {
        let built = self.options.build(topology, seed);
        built.map_err(|problem| self.name().error(self.table.kind(), problem))
    }
}

/// By canonical name, as for a parameter that is itself a strategy.
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
