//! Dependencies of waiting jobs, as `scontrol show job` prints them: `afterany:12(unfulfilled),afterok:13_4`.

use std::collections::HashMap;

use crate::scheduler::{JobState, Phase};

/// The event of another job that a job waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    /// The end.
    End,
    /// A number of seconds after the start.
    Start(i64),
}

/// What a job waits for before it is eligible.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dependency {
    /// Events of jobs by index; `None` for an event that never comes.
    events: Vec<Option<(usize, Event)>>,
    /// Whether one event is enough.
    is_any: bool,
}

impl Dependency {
    /// Parses a dependency. `jobs` has the indexes of the jobs of each number, and of each number with a task.
    pub fn parse(text: &str, jobs: &HashMap<String, Vec<usize>>) -> Self {
        let is_any = text.contains('?');
        let mut events = Vec::new();
        for part in text.split([',', '?']) {
            let (kind, numbers) = part.split_once(':').unwrap_or((part, ""));
            for number in numbers.split(':') {
                let number = number.split('(').next().unwrap_or(number).trim();
                let (number, minutes) = number.split_once('+').unwrap_or((number, "0"));
                let event = match kind.trim() {
                    "afterany" | "afterok" | "aftercorr" | "afterburstbuffer" => Some(Event::End),
                    "after" => minutes.parse().ok().map(|minutes: i64| Event::Start(60 * minutes)),
                    // All simulated jobs succeed, and names of jobs are not read.
                    _ => None,
                };
                let known = jobs.get(number.strip_suffix("_*").unwrap_or(number));
                match (event, known) {
                    (Some(event), Some(known)) => {
                        events.extend(known.iter().map(|&job| Some((job, event))));
                    }
                    _ => events.push(None),
                }
            }
        }
        Self { events, is_any }
    }

    /// Returns whether the job waits for ever.
    pub fn is_never(&self) -> bool {
        match self.is_any {
            true => self.events.iter().all(Option::is_none),
            false => self.events.iter().any(Option::is_none),
        }
    }

    /// Returns the instant from which the job is eligible; `None` if an event is still to come. The instant is not before
    /// `now`.
    pub(crate) fn fulfilled(
        &self,
        states: &[JobState],
        ends: &[Option<i64>],
        now: i64,
    ) -> Option<i64> {
        let at = |event: &Option<(usize, Event)>| match (*event)? {
            (job, Event::End) => ends[job].filter(|_| states[job].phase == Phase::Ended),
            (job, Event::Start(after)) => states[job].start.as_ref().map(|start| start.at + after),
        };
        let instants: Vec<Option<i64>> = self.events.iter().map(at).collect();
        let found = match self.is_any {
            true => instants.into_iter().flatten().min(),
            false => instants.into_iter().collect::<Option<Vec<i64>>>()?.into_iter().max(),
        };
        found.map(|at| at.max(now))
    }
}
