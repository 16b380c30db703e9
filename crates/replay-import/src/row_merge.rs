//! Merges the rows of a job: several runs of one submission, or the same job in two files.

use std::collections::HashMap;

use super::entry::{Entry, State, UNKNOWN};

/// Jobs, indexed by id, in the order of their first rows.
#[derive(Default)]
pub(super) struct Joined {
    places: HashMap<String, usize>,
    jobs: Vec<Job>,
}

/// The result of adding a row of a job.
pub(super) enum Taken {
    /// The row is the first row of its job.
    First,
    /// The row was merged into its job.
    Joined {
        /// Whether the row names other nodes.
        elsewhere: bool,
    },
}

/// A job with which more rows can be merged; the job owns its texts.
pub(super) struct Job {
    /// The values that are not text.
    numbers: Entry<'static>,
    /// Id, user, group, queue and nodes.
    words: [String; 5],
}

impl Job {
    fn new(entry: &Entry<'_>) -> Job {
        let &Entry { submit, wait, run, size, requested, estimate, status, shape, .. } = entry;
        let state = State("");
        let (id, user, group, queue, nodes) = ("", "", "", "", "");
        let numbers = Entry {
            id,
            submit,
            wait,
            run,
            size,
            requested,
            estimate,
            status,
            state,
            user,
            group,
            queue,
            nodes,
            shape,
        };
        let words = [entry.id, entry.user, entry.group, entry.queue, entry.nodes];
        let words = words.map(str::to_string);
        Job { numbers, words }
    }

    /// Returns the job.
    pub fn entry(&self) -> Entry<'_> {
        let [id, user, group, queue, nodes] = &self.words;
        Entry { id, user, group, queue, nodes, ..self.numbers }
    }

    /// Merges another row into the job. The merged job has the earliest submission and start, the latest end, the
    /// largest size and estimate, the status of the row that ended last, and the first text of each text field. Returns
    /// whether the row names other nodes.
    fn join(&mut self, row: &Entry<'_>) -> bool {
        let own = &mut self.numbers;
        let started =
            |entry: &Entry<'_>| (entry.wait != UNKNOWN).then(|| entry.submit + entry.wait);
        // If a job never started or its start is unknown, the submission is used as its start.
        let end = |entry: &Entry<'_>| started(entry).unwrap_or(entry.submit) + entry.run;
        let (first, last) = ([started(own), started(row)], end(own).max(end(row)));
        if end(row) >= end(own) {
            own.status = row.status;
        }
        own.submit = own.submit.min(row.submit);
        let start = first.into_iter().flatten().min();
        own.wait = start.map_or(UNKNOWN, |start| start - own.submit);
        own.run = last - start.unwrap_or(own.submit);
        own.size = own.size.max(row.size);
        own.requested = own.requested.max(row.requested);
        own.estimate = own.estimate.max(row.estimate);
        let [.., nodes] = &mut self.words;
        let elsewhere = nodes != row.nodes && !nodes.is_empty() && !row.nodes.is_empty();
        let others = [row.id, row.user, row.group, row.queue, row.nodes];
        for (word, other) in self.words.iter_mut().zip(others) {
            if word.is_empty() {
                word.push_str(other);
            }
        }
        elsewhere
    }
}

impl Joined {
    /// Adds a row to its job, or creates a job if the row is the first row of this job.
    pub fn take(&mut self, row: &Entry<'_>) -> Taken {
        match self.places.get(row.id) {
            Some(&place) => Taken::Joined { elsewhere: self.jobs[place].join(row) },
            None => {
                self.places.insert(row.id.to_string(), self.jobs.len());
                self.jobs.push(Job::new(row));
                Taken::First
            }
        }
    }

    /// Returns the jobs.
    pub fn jobs(self) -> impl Iterator<Item = Job> {
        self.jobs.into_iter()
    }
}
