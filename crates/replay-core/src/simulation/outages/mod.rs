//! Processors out of service at times: maintenance, failures.
//!
//! A [file](OutageFile) tells *windows*: from when until when which processors are to be out of service. A
//! processor is up when no window covers it.
//!
//! * At the beginning of a window the free ones of its processors leave the machine. What happens where
//!   one is busy says a [rule](WhenDown): it leaves when its job ends, or the job is cut off.
//! * At the end they return, unless another window covers them.
//! * At one instant completions come first, then returns, departures, arrivals, and the scheduler.
//!
//! Such a schedule hangs on positions, so that there is no [timeline](super::Timeline) of it: all allocators
//! go through the [coupled](super::Simulation::is_coupled) simulation. Schedulers that go by
//! estimates know all windows beforehand, as so many processors that are taken for so long
//! ([`Outages::steps`]); the others see what is free. Processors out of service are neither free nor
//! neighbours that count in a tie value; they are walls there if the user says so.
//!
//! Not every allocator [can work](crate::allocator::Capabilities::supports_outages) beside this. Those that go by
//! which processors are free can; those that keep books of the machine are told what leaves and what
//! returns, and say so if their books have a place for it.

mod file;

pub use file::{OutageError, OutageFile};

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use crate::naming::nearest;
use crate::sanitize::excerpt;
use crate::scheduler::{FOREVER, Outage};
use crate::topology::NodeId;

/// What happens to jobs on processors that are to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhenDown {
    /// They run to their end, and their processors leave then.
    #[default]
    Drain,
    /// They are cut off, and have run.
    Kill,
    /// They are cut off, and go back to their place in the order of arrival, to run anew.
    Requeue,
}

impl WhenDown {
    /// Every rule with its name.
    pub const ALL: [(&'static str, WhenDown); 3] =
        [("drain", WhenDown::Drain), ("kill", WhenDown::Kill), ("requeue", WhenDown::Requeue)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }
}

/// A word that is no rule for jobs on processors that leave.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{word}\" is none of drain, kill, requeue{advice}")]
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
            let near = nearest(word, Self::ALL.iter().map(|(name, _)| *name));
            let advice = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            WhenDownError { word: excerpt(word), advice }
        })
    }
}

/// A time during which processors are to be out of service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// First second, in trace time.
    pub from: i64,
    /// The second at which they return; `None` if they never do.
    pub until: Option<i64>,
    /// The processors, each once, in scan order.
    pub nodes: Vec<NodeId>,
}

/// The windows of one machine, and what they mean to jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outages {
    /// In the order of the file; none, and all is as without.
    pub windows: Vec<Window>,
    /// What happens to jobs in their way.
    pub running: WhenDown,
    /// Whether processors out of service are walls to their neighbours, in tie values.
    pub walls: bool,
}

impl Outages {
    /// No window.
    pub const NONE: Outages =
        Outages { windows: Vec::new(), running: WhenDown::Drain, walls: false };

    /// Whether there is no window.
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// The processors that are to be out of service at an instant, in ascending order.
    pub fn down_at(&self, now: i64) -> Vec<NodeId> {
        let open =
            |window: &&Window| window.from <= now && window.until.is_none_or(|until| now < until);
        let open = self.windows.iter().filter(open);
        let mut nodes: Vec<NodeId> = open.flat_map(|window| window.nodes.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// How many processors are covered by at least one window, when: in order of time, without overlap.
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

    /// [`steps`](Self::steps) of some processors, from `now` on.
    pub fn steps_of(&self, nodes: &[NodeId], now: i64) -> Vec<Outage> {
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

    /// What tells these from others, as text without blank lines; empty if there is no window.
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
        /// At every instant as many as windows cover.
        #[test]
        fn steps_count_what_is_covered(
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
