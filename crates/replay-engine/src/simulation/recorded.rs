//! The recorded schedule of a log.

use std::fmt;

use super::{Event, Timeline, TimelineError};
use crate::cancel::CancelToken;
use crate::number::{counted, grouped};
use crate::workload::{Job, JobId};

/// Maximum number of jobs listed individually.
const MAX_LISTED: usize = 10;

/// Order of events at one time: first completions, then the start and end of each job of run time 0, then all other
/// starts.
mod order {
    pub const END: u8 = 0;
    pub const MOMENT: u8 = 1;
    pub const START: u8 = 2;
}

/// Statistics of the times at which a log oversubscribes the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overfull {
    /// Number of jobs that started with too few processors free, assuming that these jobs hold no processors.
    pub jobs: u64,
    /// Number of jobs that started with too few processors free, assuming that all jobs hold their recorded number of
    /// processors.
    pub all_counted: u64,
    /// Number of maximal time spans in which more processors were busy than the machine has. Processors of jobs of run
    /// time 0 are not counted as busy.
    pub spans: u64,
    /// Length of the longest span in seconds.
    pub longest: i64,
    /// Maximum number of busy processors in excess of the machine's processors.
    pub worst: u64,
    /// Job numbers of the first jobs that started with too few processors free.
    pub first: Vec<i64>,
}

impl fmt::Display for Overfull {
    /// Formats the counts as a text that begins with `12 jobs start with too few processors free; if these jobs are
    /// counted as busy, 23 do`. The text continues with the number of periods, their maximum length, the maximum number
    /// of excess processors, and the first jobs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overfull { jobs, all_counted, spans, longest, worst, first } = self;
        let (start, s) = if *jobs == 1 { ("starts", "") } else { ("start", "s") };
        write!(f, "{} {start} with too few processors free; ", counted(*jobs, "job"))?;
        // If only jobs of run time 0 find too few processors free, there are no spans.
        if *spans > 0 {
            let (worst, periods) = (counted(*worst, "processor"), counted(*spans, "period"));
            let (all, longest) = (grouped(*all_counted), grouped(longest.unsigned_abs()));
            let does = if *all_counted == 1 { "does" } else { "do" };
            write!(
                f,
                "if these jobs are counted as busy, {all} {does}, in {periods} of at most {longest} s, with at most \
                    {worst} too many; "
            )?;
        }
        write!(f, "first job{s}")?;
        first
            .iter()
            .enumerate()
            .try_for_each(|(i, number)| write!(f, "{}{number}", if i == 0 { " " } else { ", " }))
    }
}

impl Timeline {
    /// Builds the schedule in which each job starts at the time that `start` returns, for a machine with `processors`
    /// processors. At equal times, completions come first, then the start and end of each job of run time 0, then all
    /// other starts. Within each group, events are in the order of jobs. A job for which too few processors are free
    /// keeps its start time but has no events: it is [unplaced](Timeline::unplaced). A job for which `start` returns
    /// `None` is unplaced, too; its start time is `i64::MIN`.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine, or on cancellation.
    pub fn recorded(
        jobs: &[Job],
        processors: u32,
        start: impl Fn(&Job) -> Option<i64>,
        stop: &CancelToken,
    ) -> Result<(Self, Overfull), TimelineError> {
        super::timeline::check_sizes(jobs, processors)?;
        let starts: Vec<Option<i64>> = jobs.iter().map(start).collect();
        let mut times: Vec<(i64, u8, JobId)> = Vec::with_capacity(2 * jobs.len());
        for ((job, start), id) in jobs.iter().zip(&starts).zip((0..).map(JobId)) {
            match *start {
                None => {}
                Some(start) if job.run == 0 => times.push((start, order::MOMENT, id)),
                Some(start) => {
                    times.push((start, order::START, id));
                    times.push((start + job.run, order::END, id));
                }
            }
        }
        times.sort_unstable();
        let mut events = Vec::with_capacity(times.len());
        let (mut free, mut busy) = (processors, 0u64);
        let mut unplaced: Vec<bool> = starts.iter().map(Option::is_none).collect();
        let mut overfull = Overfull::default();
        // Start of the current span, and the tentative end of the span. An event at the tentative end can still
        // continue the span.
        let (mut since, mut until) = (None, None);
        for (now, kind, id) in times {
            stop.check()?;
            let job = &jobs[id.index()];
            if kind != order::END && job.size > free {
                unplaced[id.index()] = true;
                overfull.jobs += 1;
                if overfull.first.len() < MAX_LISTED {
                    overfull.first.push(job.number);
                }
            }
            let is_placed = !unplaced[id.index()];
            match kind {
                order::END => {
                    busy -= u64::from(job.size);
                    if is_placed {
                        free += job.size;
                        events.push(Event::End(id));
                    }
                }
                order::START => {
                    busy += u64::from(job.size);
                    overfull.all_counted += u64::from(busy > u64::from(processors));
                    if is_placed {
                        free -= job.size;
                        events.push(Event::Start(id));
                    }
                }
                _ => {
                    if is_placed {
                        events.extend([Event::Start(id), Event::End(id)]);
                    }
                    continue;
                }
            }
            let too_many = busy.saturating_sub(u64::from(processors));
            overfull.worst = overfull.worst.max(too_many);
            match (since, too_many > 0) {
                // At equal times, completions come first. A span that ends and begins again at the same time therefore
                // continues.
                (Some(_), true) if until == Some(now) => until = None,
                (Some(_), true) if until.is_none() => {}
                (_, true) => {
                    (since, until) = (Some(now), None);
                    overfull.spans += 1;
                }
                (Some(from), false) if until.is_none() => {
                    overfull.longest = overfull.longest.max(now - from);
                    until = Some(now);
                }
                _ => {}
            }
        }
        let unplaced = (0..).map(JobId).zip(unplaced).filter_map(|(id, is)| is.then_some(id));
        let starts = starts.into_iter().map(|start| start.unwrap_or(i64::MIN));
        let mut timeline = Self::new(events, starts.collect());
        timeline.unplaced = unplaced.collect();
        Ok((timeline, overfull))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn job(number: i64, submit: i64, run: i64, size: u32) -> Job {
        Job { number, line: number as u32, ..Job::exact(submit, run, size) }
    }

    fn recorded(jobs: &[Job], waits: &[i64]) -> Result<(Timeline, Overfull), TimelineError> {
        let start = |job: &Job| waits.get(job.number as usize).map(|wait| job.submit + wait);
        Timeline::recorded(jobs, 4, start, &CancelToken::new())
    }

    #[test]
    fn completions_come_before_starts() {
        let jobs = [job(0, 0, 10, 4), job(1, 2, 0, 4), job(2, 3, 5, 4), job(3, 9, 0, 3)];
        let (timeline, overfull) = recorded(&jobs, &[0, 8, 7, 1]).expect("a schedule");
        use Event::{End, Start};
        let [a, b, c, d] = [0, 1, 2, 3].map(JobId);
        // Jobs of run time 0 run one after the other, before other starts.
        let events = [Start(a), End(a), Start(b), End(b), Start(d), End(d), Start(c), End(c)];
        assert_eq!(timeline.events(), events);
        assert_eq!((timeline.starts(), timeline.unplaced()), (&[0, 10, 10, 10][..], &[][..]));
        assert_eq!(overfull, Overfull::default());
    }

    /// A job of run time 0 that finds too few processors free is unplaced, but does not make a time span.
    #[test]
    fn jobs_of_run_time_0_do_not_oversubscribe() {
        let jobs = [job(0, 0, 10, 3), job(1, 5, 0, 2), job(2, 5, 3, 1)];
        let (timeline, overfull) = recorded(&jobs, &[0; 3]).expect("a schedule");
        assert_eq!(timeline.unplaced(), [JobId(1)]);
        let expected = Overfull { jobs: 1, first: vec![1], ..Overfull::default() };
        assert_eq!(overfull, expected);
        let shown = "1 job starts with too few processors free; first job 1";
        assert_eq!(overfull.to_string(), shown);
    }

    /// A job without a recorded start has no events and holds no processors.
    #[test]
    fn jobs_without_a_recorded_start_are_unplaced() {
        let jobs = [job(0, 0, 10, 4), job(1, 5, 5, 4)];
        let (timeline, overfull) = recorded(&jobs[..], &[0]).expect("a schedule");
        let a = JobId(0);
        assert_eq!(timeline.events(), [Event::Start(a), Event::End(a)]);
        assert_eq!((timeline.starts(), timeline.unplaced()), (&[0, i64::MIN][..], &[JobId(1)][..]));
        assert_eq!(overfull, Overfull::default());
    }

    #[test]
    fn oversubscription_is_reported() {
        let jobs = [job(0, 0, 10, 3), job(1, 0, 20, 2), job(2, 0, 5, 1), job(3, 10, 5, 4)];
        let (timeline, overfull) = recorded(&jobs, &[0, 2, 3, 1]).expect("a schedule");
        assert_eq!(timeline.unplaced(), [JobId(1)]);
        let expected =
            Overfull { jobs: 1, all_counted: 3, spans: 2, longest: 8, worst: 2, first: vec![1] };
        assert_eq!(overfull, expected);
        let shown = "1 job starts with too few processors free; if these jobs are counted as busy, 3 do, in 2 periods \
            of at most \
                     8 s, with at most 2 processors too many; first job 1";
        assert_eq!(overfull.to_string(), shown);
    }

    /// Between the times 2 and 12, five processors are busy on a machine of four processors. At time 10, a job starts
    /// when another job ends.
    #[test]
    fn adjacent_spans_are_merged() {
        let jobs = [job(0, 0, 12, 3), job(1, 2, 8, 2), job(2, 10, 2, 2), job(3, 20, 1, 4)];
        let (_, overfull) = recorded(&jobs, &[0; 4]).expect("a schedule");
        assert_eq!((overfull.jobs, overfull.spans, overfull.longest), (2, 1, 10));
    }

    proptest! {
        /// Spans agree with a count of busy processors in every second.
        #[test]
        fn spans_agree_with_a_count_by_seconds(
            jobs in proptest::collection::vec((0i64..30, 0i64..9, 1u32..5), 1..20)
        ) {
            let waits = vec![0; jobs.len()];
            let jobs: Vec<Job> = (0..).zip(&jobs).map(|(i, &(t, run, n))| job(i, t, run, n)).collect();
            let (_, overfull) = recorded(&jobs, &waits).expect("a schedule");
            let busy = |t: i64| jobs.iter().filter(|job| (job.submit..job.submit + job.run).contains(&t))
                .map(|job| u64::from(job.size)).sum::<u64>();
            let seconds: Vec<u64> = (0..40).map(|t| busy(t).saturating_sub(4)).collect();
            let spans: Vec<_> = seconds.chunk_by(|a, b| (*a > 0) == (*b > 0)).filter(|span| span[0] > 0).collect();
            let longest = spans.iter().map(|span| span.len()).max().unwrap_or(0) as i64;
            let worst = seconds.iter().copied().max().unwrap_or(0);
            prop_assert_eq!((overfull.spans, overfull.longest, overfull.worst), (spans.len() as u64, longest, worst));
            // At equal times, completions come before starts. Jobs with equal start times are in the order of jobs.
            let finds_too_many = |&(at, one): &(usize, &Job)| {
                let before = jobs.iter().enumerate().filter(|&(place, other)| {
                    let is_there = (other.submit..other.submit + other.run).contains(&one.submit);
                    is_there && (other.submit, place) <= (one.submit, at)
                });
                one.run > 0 && before.map(|(_, other)| u64::from(other.size)).sum::<u64>() > 4
            };
            let all = jobs.iter().enumerate().filter(finds_too_many).count();
            prop_assert_eq!(overfull.all_counted, all as u64);
        }

        /// Each job starts at its recorded time, and the number of held processors never exceeds the number of
        /// processors of the machine.
        #[test]
        fn starts_are_those_of_the_log_and_processors_suffice(
            jobs in proptest::collection::vec((0i64..50, 0i64..30, 0i64..20, 1u32..5), 1..40)
        ) {
            let waits: Vec<i64> = jobs.iter().map(|job| job.1).collect();
            let jobs: Vec<Job> = (0..).zip(&jobs).map(|(i, &(t, _, run, n))| job(i, t, run, n)).collect();
            let (timeline, overfull) = recorded(&jobs, &waits).expect("a schedule");
            for ((job, wait), start) in jobs.iter().zip(&waits).zip(timeline.starts()) {
                prop_assert_eq!(start - job.submit, *wait);
            }
            prop_assert_eq!(timeline.unplaced().len() as u64, overfull.jobs);
            let mut held = 0;
            for event in timeline.events() {
                match event {
                    Event::Start(id) => held += jobs[id.index()].size,
                    Event::End(id) => held -= jobs[id.index()].size,
                }
                prop_assert!(held <= 4);
            }
            prop_assert_eq!(held, 0);
        }
    }
}
