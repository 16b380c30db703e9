//! Windows of the jobs of a trace, and what they take.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::seconds::Seconds;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::TimelineError;
use replay_core::stop::{Stop, worked};
use replay_experiment::{Cell, CellError, Measure, Trace, Watch, run_cell, run_together};

/// From so many jobs on a window is long enough to fill its machine.
pub const ENOUGH: usize = 128;

/// Student's t for an interval that holds the mean of so many windows in 19 of 20 cases: of three, four and so on.
const STUDENT: [f64; 8] = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// One window says nothing of others, and two say little: their jobs may be so many times too cheap or too dear.
pub const ALONE: f64 = 2.0;

/// Windows in which cells of several kinds run: each is cut out, and scheduled, once.
#[derive(Default)]
pub struct Windows(Mutex<HashMap<Key, Arc<Window>>>);

/// Where its trace is in memory, and which jobs.
type Key = (usize, Range<usize>);

/// Some jobs of a trace, or all.
pub struct Window {
    /// Held, as windows are known by its place in memory.
    of: Arc<Trace>,
    trace: Arc<Trace>,
    /// What each scheduler took, in seconds of a processor.
    scheduled: Mutex<Vec<(SchedulerSpec, f64)>>,
}

impl Windows {
    /// These jobs of a trace.
    pub fn of(&self, trace: &Arc<Trace>, jobs: Range<usize>) -> Arc<Window> {
        let cut = || {
            let all = &trace.workload.jobs;
            let cut = match jobs.len() == all.len() {
                true => trace.clone(),
                false => Arc::new(trace.with_jobs(all[jobs.clone()].to_vec())),
            };
            Arc::new(Window { of: trace.clone(), trace: cut, scheduled: Mutex::default() })
        };
        let mut known = lock(&self.0);
        let window = known.entry((Arc::as_ptr(trace) as usize, jobs.clone())).or_insert_with(cut);
        debug_assert!(Arc::ptr_eq(&window.of, trace));
        window.clone()
    }
}

impl Window {
    /// Schedules it, unless somebody has; what that took whoever did it, or `None` if it was stopped.
    pub fn schedule(&self, scheduler: &SchedulerSpec, stop: &Stop) -> Option<f64> {
        let mut known = lock(&self.scheduled);
        if let Some((_, took)) = known.iter().find(|(of, _)| of == scheduler) {
            return Some(*took);
        }
        let begin = worked();
        // What else is wrong its cells tell.
        if let Err(TimelineError::Stopped(_)) = self.trace.schedule(scheduler, stop) {
            return None;
        }
        let took = (worked() - begin).as_secs_f64();
        known.push((scheduler.clone(), took));
        Some(took)
    }

    /// Runs cells in it that are done as one, each on an empty machine.
    pub fn run(&self, cells: &[(u32, Cell)], measure: Measure, stop: &Stop) -> Course {
        let in_window =
            |(run, cell): &(u32, Cell)| (*run, Cell { trace: self.trace.clone(), ..cell.clone() });
        let cells: Vec<_> = cells.iter().map(in_window).collect();
        let marks = Mutex::new(Vec::<(u64, f64)>::new());
        let begin = worked();
        let since = || (worked() - begin).as_secs_f64();
        let jobs_done = |jobs: u64| {
            let mut marks = lock(&marks);
            let before = marks.last().map_or(0, |&(before, _)| before);
            if jobs > 0 {
                marks.push((before + jobs, since()));
            }
        };
        let watch = Watch { jobs_done: &jobs_done, ..Watch::new(stop) };
        let outcomes = run_together(&cells, measure, watch)
            .unwrap_or_else(|| vec![run_cell(0, &cells[0].1, measure, watch)]);
        let took = since();
        // What fails costs what it costs.
        let stopped =
            |outcome: &Result<_, CellError>| outcome.as_ref().is_err_and(CellError::is_stopped);
        let ended = !outcomes.iter().any(stopped);
        let marks = marks.into_inner().unwrap_or_else(PoisonError::into_inner);
        Course::new(&marks, took, outcomes.len(), self.trace.workload.jobs.len(), ended)
    }
}

/// How far a cell was in a window, and when, in seconds of a processor.
#[derive(Clone, PartialEq, Debug)]
pub struct Course {
    /// How many jobs had processors, and when: ascending, the first the first job.
    marks: Vec<(f64, f64)>,
    /// What it took until its end, or until it was stopped.
    pub took: f64,
    /// Jobs of the window.
    pub jobs: usize,
    /// Whether it came to its end.
    pub ended: bool,
}

/// What jobs of a window cost each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// From the first to the middle one, where the machine fills.
    pub early: f64,
    /// From there on.
    pub late: f64,
    /// How many there are in both.
    pub jobs: f64,
}

impl Course {
    /// Of so many cells that were done as one.
    fn new(marks: &[(u64, f64)], took: f64, cells: usize, jobs: usize, ended: bool) -> Self {
        let cells = cells.max(1) as f64;
        let mut marks: Vec<_> =
            marks.iter().map(|&(jobs, at)| (jobs as f64 / cells, at / cells)).collect();
        if let (true, Some(&(told, _))) = (ended, marks.last()) {
            // A strategy may turn jobs away, or start one twice: all are meant.
            let of_all = jobs as f64 / told;
            marks.iter_mut().for_each(|(jobs, _)| *jobs *= of_all);
        }
        Self { marks, took: took / cells, jobs, ended }
    }

    /// Where not even the schedule of the window was made in time.
    pub fn unscheduled(jobs: usize) -> Self {
        Self { marks: Vec::new(), took: 0.0, jobs, ended: false }
    }

    /// What it took until the first job had processors; `None` if none had.
    pub fn set_up(&self) -> Option<f64> {
        match self.marks.first() {
            Some(&(_, at)) => Some(at),
            // All were turned away, or the cell failed at once.
            None => self.ended.then_some(self.took),
        }
    }

    /// Jobs that had processors.
    pub fn placed(&self) -> f64 {
        if self.ended { self.jobs as f64 } else { self.marks.last().map_or(0.0, |&(jobs, _)| jobs) }
    }

    /// What each job took after the first, all in all.
    pub fn each(&self) -> f64 {
        let after = self.took - self.set_up().unwrap_or(self.took);
        after / (self.placed() - 1.0).max(1.0)
    }

    /// What each took at least that was begun after the first, where the cell was stopped; nothing is known of them if
    /// the first had no processors yet.
    pub fn last_at_least(&self) -> f64 {
        self.marks.first().map_or(0.0, |&(_, at)| (self.took - at) / self.placed().max(1.0))
    }

    /// What jobs cost while the machine filled, and then; `None` if too few had processors to tell.
    pub fn costs(&self) -> Option<Costs> {
        // What is told at the end of a window has what comes after its last job.
        let told = self.marks.len() - usize::from(self.ended && self.marks.len() > 2);
        let marks = &self.marks[..told];
        let (&(one, begin), &(last, end)) = (marks.first()?, marks.last()?);
        let half = (one + last) / 2.0;
        let (middle, between) = *marks.iter().rev().find(|(jobs, _)| *jobs <= half)?;
        if middle <= one || last <= middle {
            return None;
        }
        let (early, late) = ((between - begin) / (middle - one), (end - between) / (last - middle));
        let rest = match self.ended {
            true => (self.took - end - late * (self.jobs as f64 - last)).max(0.0),
            false => 0.0,
        };
        let rest = rest / self.placed().max(1.0);
        Some(Costs { early: early + rest, late: late + rest, jobs: self.placed() })
    }
}

/// What a lock guards is whole whoever held it last.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a job of all these costs, of which windows tell some. The machine is full at the end of a window, so that
/// late jobs count; what changed in its course may change as much again, once more in a short one, and once more if the strategy `learns`. How windows differ tells how far
/// their mean is from that of all.
pub fn of_all(windows: &[Costs], jobs: usize, learns: bool) -> Seconds {
    let sum = |of: fn(&Costs) -> f64| windows.iter().map(of).sum::<f64>();
    let count = windows.len() as f64;
    let usual = sum(|window| window.late) / count.max(1.0);
    if usual <= 0.0 {
        return Seconds::default();
    }
    let unseen = (1.0 - sum(|window| window.jobs) / jobs as f64).clamp(0.0, 1.0);
    // A short window does not fill its machine; who learns goes on to do so.
    let short = windows.iter().any(|window| window.jobs < ENOUGH as f64);
    let again = unseen * (1.0 + f64::from(short) + f64::from(learns));
    let trend = (usual * count / sum(|window| window.early).max(f64::MIN_POSITIVE)).ln();
    let logs = windows.iter().map(|window| window.late.max(f64::MIN_POSITIVE).ln());
    let mean = logs.clone().sum::<f64>() / count;
    let deviation =
        (logs.map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    let student = windows.len().checked_sub(3).and_then(|place| STUDENT.get(place));
    let away = student.map_or(ALONE.ln(), |t| t * deviation / count.sqrt()) * unseen.sqrt();
    let least = usual * (trend.min(0.0) * again - away).exp();
    let most = usual * (trend.max(0.0) * again + away).exp();
    Seconds { usual, least, most, open: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_tells_the_set_up_from_jobs_and_early_ones_from_late() {
        let marks = [(1, 10.0), (2, 14.0), (3, 18.0), (4, 20.0), (5, 22.0), (6, 25.0)];
        let course = Course::new(&marks, 25.0, 1, 6, true);
        assert_eq!((course.set_up(), course.placed(), course.each()), (Some(10.0), 6.0, 3.0));
        // The last job took two, and what came after it one: a sixth of it is of each.
        let costs = course.costs().expect("enough jobs");
        assert_eq!((costs.early, costs.late), (4.0 + 1.0 / 6.0, 2.0 + 1.0 / 6.0));
        // Of two cells each has half.
        let both: Vec<_> = marks.iter().map(|&(jobs, at)| (2 * jobs, 2.0 * at)).collect();
        assert_eq!(Course::new(&both, 50.0, 2, 6, true), course);
        // Where half of the jobs are turned away the others stand for all.
        assert_eq!(Course::new(&marks, 25.0, 1, 12, true).placed(), 12.0);
    }

    #[test]
    fn what_was_stopped_tells_how_far_it_came() {
        let none = Course::new(&[], 5.0, 1, 99, false);
        assert_eq!((none.set_up(), none.placed(), none.costs()), (None, 0.0, None));
        // Nothing but what came before the first decision, and that decision, is known.
        assert_eq!(none.last_at_least(), 0.0);
        let two = Course::new(&[(1, 4.0), (2, 10.0)], 10.0, 1, 99, false);
        // One was made since the first, and another begun.
        assert_eq!((two.placed(), two.last_at_least(), two.costs()), (2.0, 3.0, None));
        let failed = Course::new(&[], 5.0, 1, 99, true);
        assert_eq!((failed.set_up(), failed.each()), (Some(5.0), 0.0));
    }

    #[test]
    fn windows_that_differ_tell_less() {
        let sized = |early: f64, late: f64, jobs: f64| Costs { early, late, jobs };
        let window = |early: f64, late: f64| sized(early, late, 10.0);
        let alike = of_all(&[window(1.0, 1.0); 5], 1000, false);
        assert_eq!(alike, Seconds::exactly(1.0));
        let differ = [window(1.0, 0.5), window(1.0, 1.0), window(1.0, 1.5)];
        let differ = of_all(&differ, 1000, false);
        assert!(differ.usual == 1.0 && differ.least < 0.4 && differ.most > 2.0, "{differ:?}");
        // A single one may be twice too dear; not if it has seen nearly all.
        let one = of_all(&[window(1.0, 1.0)], 100_000, false);
        assert!(one.least > 0.49 && one.least < 0.51 && one.most > 1.99, "{one:?}");
        assert!(of_all(&[window(1.0, 1.0)], 11, false).least > 0.8);
        // What became cheaper by half may become so once more.
        let falls = of_all(&[sized(2.0, 1.0, 200.0); 5], 1_000_000, false);
        assert!(falls.least > 0.49 && falls.least < 0.51 && falls.most == 1.0, "{falls:?}");
        // And once again where the windows were short.
        let falls = of_all(&[window(2.0, 1.0); 5], 1_000_000, false);
        assert!(falls.least > 0.24 && falls.least < 0.26 && falls.most == 1.0, "{falls:?}");
        // A strategy that learns may go on to do so.
        let learnt = of_all(&[sized(2.0, 1.0, 200.0); 5], 1_000_000, true);
        assert!(learnt.least > 0.24 && learnt.least < 0.26 && learnt.most == 1.0, "{learnt:?}");
        assert_eq!(of_all(&[], 9, false), Seconds::default());
    }
}
