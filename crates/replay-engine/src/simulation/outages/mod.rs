//! Outages: processors out of service for maintenance or failures.
//!
//! A [file](OutageFile) contains *windows*: intervals during which given processors are out of service. A processor is
//! in service when no window covers it.
//!
//! * At the beginning of a window, the free processors of the window go out of service. A [rule](WhenDown) defines what
//!   happens to busy processors: they go out of service when their job ends, or the job is interrupted.
//! * At the end of a window, the processors of the window return, except processors that another window covers.
//! * At equal times, the order is: completions, returns of processors, beginnings of outages, arrivals, and the
//!   scheduler.
//!
//! A schedule with outages depends on the positions of jobs, so it cannot be computed as a [timeline](super::Timeline).
//! All allocators use the [coupled](super::Simulation::is_coupled) simulation. Schedulers that use estimates are given
//! all windows in advance, as intervals with the number of unavailable processors in each ([`Outages::steps`]).
//! Schedulers that do not use estimates use only the number of free processors. In a tie value, a processor out of
//! service counts neither as a free nor as a busy neighbour; with an option, it counts as a wall.
//!
//! Not every allocator [supports](crate::allocator::Capabilities::supports_outages) outages. Allocators that choose
//! only by the free processors support outages. Allocators with their own state are notified when processors go out of
//! service and return, and declare whether they support outages.

mod file;

pub use file::{OutageError, OutageFile};

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use crate::naming::hint;
use crate::sanitize::excerpt;
use crate::scheduler::{FOREVER, Outage};
use crate::topology::NodeId;

/// Treatment of jobs on processors that go out of service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhenDown {
    /// A job runs to its end. Its processors go out of service when the job ends.
    #[default]
    Drain,
    /// Jobs are interrupted and are recorded as completed.
    Kill,
    /// Jobs are interrupted, return to their position in the order of arrival, and run again from the beginning.
    Requeue,
}

impl WhenDown {
    /// All rules with their names.
    pub const ALL: [(&'static str, WhenDown); 3] =
        [("drain", WhenDown::Drain), ("kill", WhenDown::Kill), ("requeue", WhenDown::Requeue)];

    /// Returns the name of the rule.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }
}

/// Error of parsing a [`WhenDown`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{word}\" is not one of drain, kill, requeue{advice}")]
pub struct WhenDownError {
    word: String,
    advice: String,
}

impl FromStr for WhenDown {
    type Err = WhenDownError;

    fn from_str(word: &str) -> Result<Self, WhenDownError> {
        let word = word.trim();
        let known = Self::ALL.iter().find(|(name, _)| *name == word);
        known.map(|(_, rule)| *rule).ok_or_else(|| {
            let advice = hint(word, Self::ALL.iter().map(|(name, _)| *name));
            WhenDownError { word: excerpt(word), advice }
        })
    }
}

/// An interval during which processors are out of service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The second at which the processors go out of service, in trace time.
    pub from: i64,
    /// The second at which the processors return; `None` if they never return.
    pub until: Option<i64>,
    /// The processors in scan order, without duplicates.
    pub nodes: Vec<NodeId>,
}

/// The windows of a machine, with the rule for running jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outages {
    /// The windows in file order.
    pub windows: Vec<Window>,
    /// Treatment of jobs on processors that go out of service.
    pub running: WhenDown,
    /// Whether tie values count a processor out of service as a wall.
    pub walls: bool,
}

impl Outages {
    /// Outages without windows.
    pub const NONE: Outages =
        Outages { windows: Vec::new(), running: WhenDown::Drain, walls: false };

    /// Returns whether there are no windows.
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Returns the processors that a window covers at time `now`, in ascending order.
    pub fn down_at(&self, now: i64) -> Vec<NodeId> {
        let open =
            |window: &&Window| window.from <= now && window.until.is_none_or(|until| now < until);
        let open = self.windows.iter().filter(open);
        let mut nodes: Vec<NodeId> = open.flat_map(|window| window.nodes.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Returns the intervals in which processors are out of service, in order of time and without overlap. Each
    /// interval contains the number of processors that at least one window covers.
    pub fn steps(&self) -> Vec<Outage> {
        let mut changes: BTreeMap<i64, Vec<(bool, NodeId)>> = BTreeMap::new();
        for Window { from, until, nodes } in &self.windows {
            let begin = nodes.iter().map(|&node| (true, node));
            changes.entry(*from).or_default().extend(begin);
            let end = nodes.iter().map(|&node| (false, node));
            changes.entry(until.unwrap_or(FOREVER)).or_default().extend(end);
        }
        let mut covered: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut steps: Vec<Outage> = Vec::new();
        let mut since = None;
        for (now, changes) in changes {
            if let Some((from, processors)) = since
                && processors > 0
            {
                match steps.last_mut() {
                    Some(last) if last.until == from && last.processors == processors => {
                        last.until = now;
                    }
                    _ => steps.push(Outage { from, until: now, processors }),
                }
            }
            for (begins, node) in changes {
                let windows = covered.entry(node).or_default();
                match begins {
                    true => *windows += 1,
                    false => *windows -= 1,
                }
                if *windows == 0 {
                    covered.remove(&node);
                }
            }
            since = Some((now, covered.len() as u32));
        }
        steps
    }

    /// Returns the intervals of [`steps`](Self::steps) from `now` on, counting only `nodes`.
    pub(crate) fn steps_of(&self, nodes: &[NodeId], now: i64) -> Vec<Outage> {
        let ahead =
            self.windows.iter().filter(|window| window.until.is_none_or(|until| now < until));
        let held: HashSet<NodeId> = nodes.iter().copied().collect();
        let of = |window: &Window| Window {
            from: window.from.max(now),
            until: window.until,
            nodes: window.nodes.iter().copied().filter(|node| held.contains(node)).collect(),
        };
        let windows = ahead.map(of).filter(|window| !window.nodes.is_empty()).collect();
        Self { windows, ..Self::NONE }.steps()
    }

    /// Returns a text that identifies these outages, without blank lines; empty if there are no windows.
    pub fn identity(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut text = format!("down {} {}", self.running.name(), self.walls);
        for Window { from, until, nodes } in &self.windows {
            let until = until.map_or_else(|| "end".to_string(), |until| until.to_string());
            text += &format!("\n{from} {until}");
            nodes.iter().for_each(|node| text += &format!(" {}", node.0));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window((from, length, nodes): &(i64, Option<i64>, Vec<u32>)) -> Window {
        let until = length.map(|length| from + length);
        Window { from: *from, until, nodes: nodes.iter().map(|&node| NodeId(node)).collect() }
    }

    proptest! {
        /// At every time, the steps agree with a direct count of the covered processors.
        #[test]
        fn steps_count_covered_processors(
            windows in proptest::collection::vec((
                0i64..20,
                proptest::option::of(1i64..10),
                proptest::collection::btree_set(0u32..6, 1..5).prop_map(|set| set.into_iter().collect()),
            ), 0..6),
        ) {
            let outages =
                Outages { windows: windows.iter().map(window).collect(), ..Outages::default() };
            let steps = outages.steps();
            prop_assert!(steps.windows(2).all(|pair| pair[0].until <= pair[1].from));
            for now in 0..40 {
                let is_covered = |node: u32| outages.windows.iter().any(|window| {
                    let over = window.until.is_some_and(|until| until <= now);
                    window.from <= now && !over && window.nodes.contains(&NodeId(node))
                });
                let expected = (0..6).filter(|&node| is_covered(node)).count() as u32;
                let at = steps.iter().find(|step| step.from <= now && now < step.until);
                prop_assert_eq!(at.map_or(0, |step| step.processors), expected, "at {}", now);
                let down = outages.down_at(now);
                prop_assert!(down.iter().map(|node| node.0).eq((0..6).filter(|&node| is_covered(node))));
            }
        }
    }
}
