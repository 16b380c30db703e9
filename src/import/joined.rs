//! Rows of one job made one: several runs within a submission, or a job in two files.

use std::collections::HashMap;

use super::entry::{Entry, UNKNOWN};

/// Jobs by what their log calls them, in the order of their first rows.
#[derive(Default)]
pub(super) struct Joined {
    places: HashMap<String, usize>,
    jobs: Vec<Job>,
}

/// A job that holds its own text.
pub(super) struct Job {
    /// Without text.
    numbers: Entry<'static>,
    /// User, group, queue, nodes.
    words: [String; 4],
}

impl Job {
    fn new(entry: &Entry<'_>) -> Job {
        let &Entry { submit, wait, run, size, requested, estimate, status, shape, .. } = entry;
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
            user,
            group,
            queue,
            nodes,
            shape,
        };
        let words = [entry.user, entry.group, entry.queue, entry.nodes].map(str::to_string);
        Job { numbers, words }
    }

    /// The job.
    pub fn entry(&self) -> Entry<'_> {
        let [user, group, queue, nodes] = &self.words;
        Entry { user, group, queue, nodes, ..self.numbers }
    }

    /// Takes in another row of it: from the first submission and start to the last end, with the largest
    /// size and limit, the status of the row that ended last, and the first words.
    fn join(&mut self, row: &Entry<'_>) -> impl Iterator<Item = &'static str> + use<> {
        let own = &mut self.numbers;
        let started =
            |entry: &Entry<'_>| (entry.wait != UNKNOWN).then(|| entry.submit + entry.wait);
        // One that never started, or of which nobody knows when, runs from its submission on.
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
        for (word, other) in self.words.iter_mut().zip([row.user, row.group, row.queue, row.nodes])
        {
            if word.is_empty() {
                word.push_str(other);
            }
        }
        let joined = Some("row joined with an earlier one of its job");
        let elsewhere =
            elsewhere.then_some("rows of one job on different nodes, those of the first kept");
        [joined, elsewhere].into_iter().flatten()
    }
}

impl Joined {
    /// Takes a row. What is to be told of it.
    pub fn take(&mut self, row: &Entry<'_>) -> Vec<&'static str> {
        match self.places.get(row.id) {
            Some(&place) => self.jobs[place].join(row).collect(),
            None => {
                self.places.insert(row.id.to_string(), self.jobs.len());
                self.jobs.push(Job::new(row));
                Vec::new()
            }
        }
    }

    /// The jobs.
    pub fn jobs(self) -> impl Iterator<Item = Job> {
        self.jobs.into_iter()
    }
}
