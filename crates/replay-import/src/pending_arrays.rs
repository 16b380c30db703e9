//! Slurm job arrays with tasks that did not start. A task that occurs in several files is counted once.

use std::collections::HashMap;

use replay_workload::workload::nodes;

/// Largest number of stored arrays; only stored arrays can be compared with the arrays of later files.
const ARRAYS: usize = 1 << 18;

/// Largest number of ranges of an array's tasks.
const RANGES: usize = 1 << 12;

/// Parses a list of tasks in Slurm's notation, `1,3-5,10-20:2`, and returns the number of tasks and their ranges. If a
/// part of the list has more ranges than can be compared, only the first ranges of this part are returned. Returns
/// `None` if the text is not a list of tasks.
pub(super) fn tasks(list: &str) -> Option<(u64, Vec<(u64, u64)>)> {
    let (mut count, mut all) = (0u64, Vec::new());
    for part in list.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, step.parse().ok().filter(|&step: &usize| step > 0)?),
            None => (part, 1),
        };
        let (within, ranges) = (nodes::count(range).ok()?, nodes::ranges(range).ok()?);
        count = count.saturating_add(within.div_ceil(step as u64));
        for (first, last) in ranges {
            match step {
                1 => all.push((first, last)),
                _ => all.extend((first..=last).step_by(step).take(RANGES + 1).map(|t| (t, t))),
            }
        }
    }
    Some((count, all))
}

/// Disjoint ranges of tasks in ascending order. Both ends of a range are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tasks(Vec<(u64, u64)>);

impl Tasks {
    fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    fn add(&mut self, (mut first, mut last): (u64, u64)) {
        self.0.retain(|&(from, to)| {
            let is_apart = to < first.saturating_sub(1) || from > last.saturating_add(1);
            if !is_apart {
                (first, last) = (first.min(from), last.max(to));
            }
            is_apart
        });
        let at = self.0.partition_point(|range| range.0 < first);
        self.0.insert(at, (first, last));
    }

    /// Removes a task that has started.
    fn remove(&mut self, task: u64) {
        let at = self.0.partition_point(|range| range.1 < task);
        let Some(&(first, last)) = self.0.get(at).filter(|range| range.0 <= task) else { return };
        let rest = [(first, task.wrapping_sub(1)), (task + 1, last)];
        let rest = [(task > first, rest[0]), (task < last, rest[1])];
        self.0.splice(at..=at, rest.into_iter().filter(|(is, _)| *is).map(|(_, range)| range));
    }
}

/// An array with tasks that did not start.
struct Array {
    tasks: Tasks,
    /// File and line of the array's first record.
    first: (usize, u64),
}

/// The result of adding a record of tasks that did not start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// The record is the first record of its array, or a further record in the same file.
    New,
    /// An earlier file also has a record of this array.
    Again,
    /// The record is not compared, because too many arrays are stored.
    Full,
}

/// Arrays with tasks that did not start, indexed by id.
#[derive(Default)]
pub(super) struct Pending(HashMap<String, Array>);

impl Pending {
    /// Adds a record of the array `id`. `place` is the file and the line of the record.
    pub fn take(&mut self, id: &str, tasks: Vec<(u64, u64)>, place: (usize, u64)) -> Taken {
        let known = self.0.get(id).map(|array| array.tasks.0.len());
        let is_full = known.is_none() && self.0.len() >= ARRAYS;
        if is_full || known.unwrap_or(0) + tasks.len() > RANGES {
            return Taken::Full;
        }
        let none = || Array { tasks: Tasks::default(), first: place };
        let array = self.0.entry(id.to_string()).or_insert_with(none);
        tasks.into_iter().for_each(|range| array.tasks.add(range));
        match array.first.0 == place.0 {
            true => Taken::New,
            false => Taken::Again,
        }
    }

    /// Removes a task that has started, in this file or in a later file.
    pub fn started(&mut self, id: &str, task: u64) {
        if let Some(array) = self.0.get_mut(id) {
            array.tasks.remove(task);
        }
    }

    /// Returns, for each array, the place of its first record and the number of its tasks that did not start.
    pub fn finish(self) -> impl Iterator<Item = ((usize, u64), u64)> {
        let counts = self.0.into_values().map(|array| (array.first, array.tasks.count()));
        counts.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_lists_of_tasks_with_steps() {
        let steps: Vec<_> = (10..=20).step_by(2).map(|task| (task, task)).collect();
        assert_eq!(tasks("10-20:2"), Some((6, steps.clone())));
        assert_eq!(tasks("1,3-5,10-20:2"), Some((10, [vec![(1, 1), (3, 5)], steps].concat())));
        assert_eq!(
            tasks("0-4000000:2").map(|all| (all.0, all.1.len())),
            Some((2_000_001, RANGES + 1))
        );
        for list in ["", "1-3:0", "1-3:", "1-3:x", "3-1:1", ":2"] {
            assert_eq!(tasks(list), None, "{list}");
        }
    }

    proptest! {
        /// The operations give the same tasks as operations on a set of numbers.
        #[test]
        fn tasks_equal_those_of_a_set(
            steps in proptest::collection::vec((any::<bool>(), 0u64..40, 0u64..6), 0..40),
        ) {
            let (mut tasks, mut expected) = (Tasks::default(), BTreeSet::new());
            for (adds, first, more) in steps {
                if adds {
                    tasks.add((first, first + more));
                    expected.extend(first..=first + more);
                } else {
                    tasks.remove(first);
                    expected.remove(&first);
                }
                prop_assert_eq!(tasks.count(), expected.len() as u64);
                prop_assert!(tasks.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
