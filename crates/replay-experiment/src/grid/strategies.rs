use std::mem::discriminant;

use super::distinct::{DistinctStrategies, Patterns};
use super::error::{GridError, PathError, Step};
use super::{AllocatorEntry, Ties};
use replay_engine::allocator::registry::{AllocatorSpec, ParameterValue};
use replay_engine::allocator::ties::{TieRule, TieVector};
use replay_engine::naming::{NameError, StrategyName};
use replay_engine::registries::Registries;
use replay_engine::topology::{Topology, default_machine};

/// Maximum number of parameter combinations of a grid, before equal strategies are removed. Checking this number of
/// combinations takes a few seconds.
pub const MOST_COMBINATIONS: u64 = 10_000_000;

/// The distinct allocation strategies of a grid, in the order of the grid.
///
/// Strategies are created on demand; a stored strategy occupies only four bytes.
#[derive(Clone, Debug)]
pub struct Strategies {
    axes: Vec<Axis>,
    /// Numbers of the distinct strategies in the sequence of all combinations, in ascending order.
    distinct: Vec<u32>,
    combinations: u64,
}

/// An allocator with the lists of values of its parameters. A combination is encoded as a number in mixed radix. The
/// least significant digit of this number encodes the tie rule, and the next digit encodes the value of the last list.
#[derive(Clone, Debug)]
struct Axis {
    base: AllocatorSpec,
    lists: Vec<Vec<ParameterValue>>,
    ties: TieAxis,
    combinations: u64,
}

/// The tie rules of an allocator.
#[derive(Clone, Debug)]
enum TieAxis {
    /// The tie rule that is part of the allocator's name.
    Own,
    /// A list of rules.
    Rules(Vec<TieRule>),
    /// Every combination of four lists, with the last list varying fastest.
    Product([Vec<i32>; 4]),
}

impl Strategies {
    /// Creates the strategies of these allocators. If several strategies always choose the same processors on all
    /// `machines`, only the first of them is kept. If `machines` is empty, the strategies are compared on a mesh,
    /// because the machine in the header of a trace is always a mesh.
    pub(super) fn new(
        entries: &[AllocatorEntry],
        machines: &[Topology],
        registries: &Registries,
    ) -> Result<Self, PathError> {
        let mut kinds: Vec<&Topology> = Vec::new();
        let mesh = default_machine(1).map(|machine| machine.topology);
        let or_mesh = if machines.is_empty() { mesh.as_slice() } else { &[] };
        for machine in machines.iter().chain(or_mesh) {
            // Whether two strategies are equal depends only on the kind of the machine.
            if !kinds.iter().any(|known| discriminant(*known) == discriminant(machine)) {
                kinds.push(machine);
            }
        }
        let mut axes = Vec::with_capacity(entries.len());
        let mut combinations = 0u64;
        for (place, entry) in entries.iter().enumerate() {
            let axis = Axis::new(place, entry, registries)?;
            combinations = combinations.saturating_add(axis.combinations);
            axes.push(axis);
        }
        if combinations > MOST_COMBINATIONS {
            let problem = format!(
                "{combinations} combinations of parameters, more than {MOST_COMBINATIONS}: use wider steps \
                     or replay search"
            );
            return Err(GridError::at(&[Step::Key("allocator")], problem));
        }
        let mut strategies = DistinctStrategies::new(&kinds);
        let mut distinct = Vec::new();
        let mut number = 0u32;
        for (place, axis) in axes.iter().enumerate() {
            let path = [Step::Key("allocator"), Step::Item(place)];
            // A parameter that has no effect in any strategy of an entry is an error.
            let mut idle = None;
            for values in 0..axis.combinations / axis.ties.len() {
                let mut patterns = Patterns::default();
                for tie in 0..axis.ties.len() {
                    let build = |tie| axis.build(values, tie);
                    let inserted = strategies.insert(&mut patterns, axis.ties.get(tie), &build);
                    let (is_new, idle_key) = inserted.map_err(|e| GridError::at(&path, e))?;
                    if (values, tie) == (0, 0) || idle.is_some() {
                        idle = idle_key;
                    }
                    if is_new {
                        distinct.push(number);
                    }
                    number += 1;
                }
            }
            if let Some(key) = idle {
                let spec = axis.get(axis.combinations - 1).map_err(|e| GridError::at(&path, e))?;
                return Err(GridError::at(&path, idle_parameter(&spec, &key)));
            }
        }
        Ok(Self { axes, distinct, combinations })
    }

    /// Creates a list with a single strategy; the strategy need not be in the standard registry.
    #[cfg(test)]
    pub(crate) fn of(base: AllocatorSpec) -> Self {
        let axis = Axis { base, lists: Vec::new(), ties: TieAxis::Own, combinations: 1 };
        Self { axes: vec![axis], distinct: vec![0], combinations: 1 }
    }

    /// Returns the number of distinct strategies.
    pub fn len(&self) -> usize {
        self.distinct.len()
    }

    /// Returns whether there are no strategies.
    pub fn is_empty(&self) -> bool {
        self.distinct.is_empty()
    }

    /// Returns the number of combinations before equal strategies were removed.
    pub fn combinations(&self) -> u64 {
        self.combinations
    }

    /// Returns the strategy with index `index`, which must be below [`len`](Self::len).
    ///
    /// # Errors
    /// In practice none, because every strategy was already created once when the grid was resolved.
    pub fn get(&self, index: usize) -> Result<AllocatorSpec, NameError> {
        let (axis, index) = self.place(index);
        self.axes[axis].get(index)
    }

    /// Calls the function `of` for each strategy and returns the results. The function `of` must not depend on the tie
    /// vector, because it is called only once for consecutive strategies that differ only in the tie vector.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get).
    pub fn of_each<T: Clone>(
        &self,
        mut of: impl FnMut(&AllocatorSpec) -> T,
    ) -> Result<Vec<T>, NameError> {
        let mut all: Vec<T> = Vec::with_capacity(self.len());
        let mut last = None;
        for index in 0..self.len() {
            let (entry, number) = self.place(index);
            let axis = &self.axes[entry];
            let rule = axis.ties.get(number % axis.ties.len()).map(|rule| discriminant(&rule));
            let alike = (entry, number / axis.ties.len(), rule);
            let value = match all.last().filter(|_| last == Some(alike)) {
                Some(value) => value.clone(),
                None => of(&self.get(index)?),
            };
            last = Some(alike);
            all.push(value);
        }
        Ok(all)
    }

    /// Returns the index of the grid entry to which strategy number `index` belongs.
    pub fn entry(&self, index: usize) -> usize {
        self.place(index).0
    }

    fn place(&self, index: usize) -> (usize, u64) {
        let mut number = u64::from(self.distinct[index]);
        let mut entry = 0;
        while number >= self.axes[entry].combinations {
            number -= self.axes[entry].combinations;
            entry += 1;
        }
        (entry, number)
    }
}

/// Returns the error message for a parameter without effect.
pub fn idle_parameter(strategy: &AllocatorSpec, key: &str) -> String {
    format!(
        "allocator {strategy}: {key} has no effect with the other parameters (see replay list \
         allocators)"
    )
}

impl Axis {
    fn new(
        place: usize,
        entry: &AllocatorEntry,
        registries: &Registries,
    ) -> Result<Self, PathError> {
        let here = [Step::Key("allocator"), Step::Item(place)];
        let at = |keys: &[&str], problem: String| {
            let path: Vec<_> = here.into_iter().chain(keys.iter().map(|&k| Step::Key(k))).collect();
            GridError::at(&path, problem)
        };
        let base = registries.allocators.read(&entry.name);
        let base = base.map_err(|e| at(&["name"], e.to_string()))?;
        let written: StrategyName =
            entry.name.parse().map_err(|e: NameError| at(&["name"], e.to_string()))?;
        let check_list = |keys: &[&str], key: &str, values: usize| {
            if written.get(key).is_some() {
                return Err(at(keys, format!("already given in \"{}\"", entry.name)));
            }
            if values == 0 {
                return Err(at(keys, "the list is empty".to_string()));
            }
            Ok(())
        };
        let mut lists = Vec::new();
        for (key, values) in &entry.parameters {
            // Keys are normalized in the same way as in the name of a strategy.
            let name = key.to_ascii_lowercase().replace('_', "-");
            let texts = values.texts().map_err(|e| at(&[key], e.to_string()))?;
            let value = |text: &String| {
                let value = base.value(&name, text)?;
                // Each value is checked separately, so that an error can name the key of the value.
                base.with([&value], None).map(|_| value)
            };
            let values = texts.iter().map(value).collect::<Result<Vec<_>, _>>();
            let values = values.map_err(|e| at(&[key], e.problem))?;
            check_list(&[key], &name, values.len())?;
            lists.push(values);
        }
        let ties = match &entry.tie {
            None => TieAxis::Own,
            Some(Ties::Vectors(vectors)) => {
                let texts = vectors.texts().map_err(|e| at(&["tie"], e.to_string()))?;
                check_list(&["tie"], "tie", texts.len())?;
                let rule = |text: &String| {
                    let value = base.value("tie", text)?;
                    Ok(base.with([&value], None)?.tie().unwrap_or_default())
                };
                let rules = texts.iter().map(rule).collect::<Result<_, NameError>>();
                TieAxis::Rules(rules.map_err(|e| at(&["tie"], e.to_string()))?)
            }
            Some(Ties::Product(ranges)) => {
                if !base.takes_tie() {
                    let unknown = base.value("tie", "none").err();
                    return Err(at(&["tie"], unknown.map_or(String::new(), |e| e.to_string())));
                }
                let mut product: [Vec<i32>; 4] = Default::default();
                for (i, (key, values)) in ranges.lists().into_iter().enumerate() {
                    let keys = ["tie", key];
                    product[i] = values.integers().map_err(|e| at(&keys, e.to_string()))?;
                    check_list(&keys, "tie", product[i].len())?;
                    for &value in &product[i] {
                        let mut vector = [0; 4];
                        vector[i] = value;
                        let checked = TieVector::new(vector);
                        checked.map_err(|problem| at(&keys, format!("{value}: {problem}")))?;
                    }
                }
                TieAxis::Product(product)
            }
        };
        let sizes = lists.iter().map(Vec::len).chain(match &ties {
            TieAxis::Own => vec![],
            TieAxis::Rules(rules) => vec![rules.len()],
            TieAxis::Product(lists) => lists.iter().map(Vec::len).collect(),
        });
        let combinations = sizes.fold(1u64, |all, size| all.saturating_mul(size as u64));
        Ok(Self { base, lists, ties, combinations })
    }

    fn get(&self, index: u64) -> Result<AllocatorSpec, NameError> {
        let ties = self.ties.len();
        self.build(index / ties, self.ties.get(index % ties))
    }

    /// Creates the strategy with the given tie rule and the list values that `values` encodes.
    fn build(&self, mut values: u64, tie: Option<TieRule>) -> Result<AllocatorSpec, NameError> {
        let mut chosen: Vec<_> =
            self.lists.iter().rev().map(|list| &list[digit(&mut values, list.len())]).collect();
        chosen.reverse();
        self.base.with(chosen, tie)
    }
}

impl TieAxis {
    fn len(&self) -> u64 {
        match self {
            Self::Own => 1,
            Self::Rules(rules) => rules.len() as u64,
            // `Axis::new` has checked the size of the product.
            Self::Product(lists) => lists.iter().map(|list| list.len() as u64).product(),
        }
    }

    fn get(&self, mut index: u64) -> Option<TieRule> {
        match self {
            Self::Own => None,
            Self::Rules(rules) => Some(rules[index as usize]),
            Self::Product(lists) => {
                let mut vector = [0; 4];
                for (entry, list) in vector.iter_mut().zip(lists).rev() {
                    *entry = list[digit(&mut index, list.len())];
                }
                Some(TieVector::new(vector).map_or(TieRule::First, TieRule::Vector))
            }
        }
    }
}

/// Removes the least significant digit from a number in mixed radix, and returns the digit.
fn digit(number: &mut u64, length: usize) -> usize {
    let digit = *number % length as u64;
    *number /= length as u64;
    digit as usize
}
