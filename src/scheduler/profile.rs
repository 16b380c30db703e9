/// Processors free in the future, as a step function of time.
#[derive(Clone, Debug)]
pub struct Profile {
    /// (from this time on, free processors); times increase; the first is the past.
    steps: Vec<(i64, i64)>,
}

impl Profile {
    /// `processors` free for ever.
    pub fn new(processors: u32) -> Self {
        Self { steps: vec![(i64::MIN, i64::from(processors))] }
    }

    /// Earliest start, not before `now`, at which `size` processors are free for
    /// `duration` seconds on end.
    pub fn earliest(&self, now: i64, size: u32, duration: i64) -> i64 {
        let size = i64::from(size);
        let first = self.steps.partition_point(|&(time, _)| time <= now) - 1;
        let mut start = now;
        for (i, &(time, free)) in self.steps.iter().enumerate().skip(first) {
            if time > start && time - start >= duration {
                break;
            }
            if free < size {
                start = self.steps.get(i + 1).map_or(i64::MAX, |&(next, _)| next);
            }
        }
        start
    }

    /// Takes `size` processors (gives them back if negative) from `from` until `to`.
    pub fn take(&mut self, from: i64, to: i64, size: i64) {
        if from >= to {
            return;
        }
        let (first, last) = (self.step_at(from), self.step_at(to));
        for (_, free) in &mut self.steps[first..last] {
            *free -= size;
        }
        self.merge_around(last);
        self.merge_around(first);
    }

    /// Forgets what was before `now`.
    pub fn forget_before(&mut self, now: i64) {
        let first = self.steps.partition_point(|&(time, _)| time <= now) - 1;
        self.steps.drain(..first);
    }

    /// Index of the step that begins at `time`, made if there is none.
    fn step_at(&mut self, time: i64) -> usize {
        let at = self.steps.partition_point(|&(t, _)| t < time);
        if self.steps.get(at).is_none_or(|&(t, _)| t != time) {
            let free = if at == 0 { self.steps[0].1 } else { self.steps[at - 1].1 };
            self.steps.insert(at, (time, free));
        }
        at
    }

    fn merge_around(&mut self, at: usize) {
        if at > 0 && self.steps.get(at).is_some_and(|step| step.1 == self.steps[at - 1].1) {
            self.steps.remove(at);
        }
    }
}
