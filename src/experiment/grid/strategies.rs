use std::collections::HashSet;

use super::error::{GridError, PathError, Step};
use super::{AllocatorEntry, Ties, Values};
use crate::allocator::registry::AllocatorSpec;
use crate::naming::{NameError, StrategyName};

/// Combinations of parameters that a grid may have before equal strategies are removed:
/// what can be looked through in some seconds.
pub const MOST_COMBINATIONS: u64 = 10_000_000;

/// The distinct allocation strategies of a grid, in order.
///
/// A strategy is made when it is asked for: ten thousand tie vectors take four bytes
/// each, not ten thousand names.
#[derive(Clone, Debug)]
pub struct Strategies {
    axes: Vec<Axis>,
    /// Number of each distinct strategy among all combinations, ascending.
    distinct: Vec<u32>,
    combinations: u64,
}

/// An allocator and the lists of its parameters: a number in mixed radix, the last list
/// counting fastest.
#[derive(Clone, Debug)]
struct Axis {
    base: StrategyName,
    /// Lists with the key they belong to; neighbours of one key are joined by commas.
    lists: Vec<(String, Vec<String>)>,
    combinations: u64,
}

impl Strategies {
    /// The strategies of these allocators. Two that always choose the same processors
    /// are one: the first stays.
    pub(super) fn new(entries: &[AllocatorEntry]) -> Result<Self, PathError> {
        let mut axes = Vec::with_capacity(entries.len());
        let mut combinations = 0u64;
        for (place, entry) in entries.iter().enumerate() {
            let axis = Axis::new(place, entry)?;
            combinations = combinations.saturating_add(axis.combinations);
            axes.push(axis);
        }
        if combinations > MOST_COMBINATIONS {
            let problem = format!(
                "{combinations} combinations of parameters, more than {MOST_COMBINATIONS}: take wider steps, \
                     or let a search choose (replay search)"
            );
            return Err(GridError::at(&[Step::Key("allocator")], problem));
        }
        let mut seen = HashSet::new();
        let mut distinct = Vec::new();
        let mut number = 0u32;
        for (place, axis) in axes.iter().enumerate() {
            for index in 0..axis.combinations {
                let path = [Step::Key("allocator"), Step::Item(place)];
                let spec = axis.get(index).map_err(|e| GridError::at(&path, e))?;
                // Sixteen bytes stand for the text; a chance meeting needs some 2^64 of them.
                let digest = blake3::hash(spec.strategy().as_bytes());
                if seen.insert(digest.as_bytes().first_chunk::<16>().copied()) {
                    distinct.push(number);
                }
                number += 1;
            }
        }
        Ok(Self { axes, distinct, combinations })
    }

    /// Number of distinct strategies.
    pub fn len(&self) -> usize {
        self.distinct.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.distinct.is_empty()
    }

    /// Number of combinations before equal strategies were removed.
    pub fn combinations(&self) -> u64 {
        self.combinations
    }

    /// Strategy number `index` (below [`len`](Self::len)).
    ///
    /// # Errors
    /// None: every strategy was made once when the grid was resolved.
    pub fn get(&self, index: usize) -> Result<AllocatorSpec, NameError> {
        let (axis, index) = self.place(index);
        self.axes[axis].get(index)
    }

    /// Which entry of the grid strategy number `index` comes from.
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

impl Axis {
    fn new(place: usize, entry: &AllocatorEntry) -> Result<Self, PathError> {
        let here = [Step::Key("allocator"), Step::Item(place)];
        let at = |keys: &[&str], problem: String| {
            let path: Vec<_> = here.into_iter().chain(keys.iter().map(|&k| Step::Key(k))).collect();
            GridError::at(&path, problem)
        };
        let base: StrategyName = entry.name.parse().map_err(|e: NameError| {
            at(&["name"], NameError { kind: "allocator", ..e }.to_string())
        })?;
        AllocatorSpec::try_from(&base).map_err(|e| at(&["name"], e.to_string()))?;
        let mut lists = Vec::new();
        let mut list = |keys: &[&str], key: &str, values: Vec<String>| {
            if base.get(key).is_some() {
                return Err(at(keys, format!("\"{}\" has it already", entry.name)));
            }
            if values.is_empty() {
                return Err(at(keys, "an empty list".to_string()));
            }
            lists.push((key.to_string(), values));
            Ok(())
        };
        for (key, values) in &entry.parameters {
            // As in a typed name.
            let name = key.to_ascii_lowercase().replace('_', "-");
            let values = values.texts().map_err(|e| at(&[key], e.to_string()))?;
            for value in &values {
                // Each value alone, so that the error can name its key.
                let mut one = StrategyName::plain(&base.name);
                one.set(&name, value);
                AllocatorSpec::try_from(&one).map_err(|e| at(&[key], e.problem))?;
            }
            list(&[key], &name, values)?;
        }
        let texts =
            |keys: &[&str], values: &Values| values.texts().map_err(|e| at(keys, e.to_string()));
        match &entry.tie {
            None => {}
            Some(Ties::Vectors(vectors)) => list(&["tie"], "tie", texts(&["tie"], vectors)?)?,
            Some(Ties::Product(ranges)) => {
                for (key, values) in ranges.lists() {
                    let integers: Vec<i32> =
                        values.integers().map_err(|e| at(&["tie", key], e.to_string()))?;
                    let texts = integers.iter().map(ToString::to_string).collect();
                    list(&["tie", key], "tie", texts)?;
                }
            }
        }
        let sizes = lists.iter().map(|(_, values)| values.len() as u64);
        let combinations = sizes.fold(1u64, u64::saturating_mul);
        let axis = Self { base: base.clone(), lists, combinations };
        if entry.tie.is_some() {
            // Each parameter is known to be good alone: what is left is the vectors.
            axis.get(0).map_err(|e| at(&["tie"], e.to_string()))?;
        }
        Ok(axis)
    }

    fn get(&self, mut index: u64) -> Result<AllocatorSpec, NameError> {
        let mut chosen = vec![""; self.lists.len()];
        for (slot, (_, values)) in chosen.iter_mut().zip(&self.lists).rev() {
            *slot = &values[(index % values.len() as u64) as usize];
            index /= values.len() as u64;
        }
        let mut name = self.base.clone();
        for ((key, _), value) in self.lists.iter().zip(chosen) {
            match name.parameters.last_mut() {
                Some((last, joined)) if last == key => {
                    joined.push(',');
                    joined.push_str(value);
                }
                _ => name.set(key, value),
            }
        }
        AllocatorSpec::try_from(&name)
    }
}
