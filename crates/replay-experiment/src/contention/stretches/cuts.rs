//! Where a run may be cut.

use std::ops::Range;

use super::Isolation;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::Timeline;
use replay_core::stop::Stop;
use replay_core::workload::Job;

/// How many times as long as alone jobs are assumed to take, in halves. Where nothing is in the system even
/// if they take three times as long it is hardly so that something is; and what is empty at none of
/// these, is no guess.
const LONGER: [i64; 8] = [3, 4, 6, 8, 12, 16, 24, 32];

/// First jobs of about `parts` parts of a run: the first job, and jobs at whose arrival nothing is in the
/// system by a schedule of numbers alone, first come, first served. Of those that part the work evenly, more or less,
/// the ones are taken that are so with the longest times; the work of a job is its packets.
pub fn guess(isolation: &Isolation, processors: u32, parts: u64, stop: &Stop) -> Vec<usize> {
    let mut cuts = vec![0];
    if parts < 2 {
        return cuts;
    }
    let sure = sure(isolation, processors, stop);
    let share = work(isolation, 0..isolation.jobs.len()) / parts;
    // Work up to the job, and up to the last cut; the best place for the next.
    let (mut done, mut from) = (0, 0);
    let mut best: Option<(usize, usize, u64)> = None;
    for (place, &sure) in sure.iter().enumerate() {
        if done - from > share + share / 2
            && let Some((_, cut, before)) = best.take()
        {
            cuts.push(cut);
            from = before;
        }
        let is_far = place > 0 && done - from >= share / 2;
        if is_far && sure > best.map_or(0, |best| best.0) {
            best = Some((sure, place, done));
        }
        done += work(isolation, place..place + 1);
    }
    cuts.extend(best.map(|(_, cut, _)| cut));
    cuts
}

/// By job, at how many of these times, the shortest first, nothing is in the system when it arrives.
fn sure(isolation: &Isolation, processors: u32, stop: &Stop) -> Vec<usize> {
    let mut sure = vec![0; isolation.jobs.len()];
    for (before, halves) in LONGER.into_iter().enumerate() {
        let times = isolation.jobs.iter().zip(&isolation.service);
        let longer = |run: u64| (run as i64).saturating_mul(halves) / 2;
        let jobs: Vec<Job> = times.map(|(job, &run)| Job { run: longer(run), ..*job }).collect();
        let mut fcfs = SchedulerSpec::fcfs().build(processors);
        // What cannot be scheduled so is run in one piece.
        let timeline = Timeline::compute(&jobs, processors, fcfs.as_mut(), stop);
        let Ok(timeline) = timeline else { break };
        let (mut end, mut any) = (i64::MIN, false);
        for ((job, start), sure) in jobs.iter().zip(timeline.starts()).zip(&mut sure) {
            if *sure == before && job.submit > end {
                *sure += 1;
                any = true;
            }
            end = end.max(start.saturating_add(job.run));
        }
        if !any {
            break;
        }
    }
    sure
}

/// The work of jobs: their packets, and one for each of them.
pub fn work(isolation: &Isolation, jobs: Range<usize>) -> u64 {
    let quotas = isolation.quotas.get(jobs).unwrap_or_default();
    quotas.iter().fold(0, |sum, quota| sum.saturating_add(quota.saturating_add(1)))
}
