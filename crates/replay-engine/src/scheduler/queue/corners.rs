//! Lower bounds on sizes and estimates of a set of jobs.

/// Maximum number of corners.
const MAX_CORNERS: usize = 8;

/// Lower bounds on a set of jobs. Every job has a corner whose size and estimate do not exceed those of the job.
/// Corners are in order of ascending size and thus descending estimate. A job is stored as a corner if no other job has
/// both a smaller size and a shorter estimate. There are at most eight corners; if more than eight jobs would be
/// corners, neighbouring jobs share a corner. The minimum work, size times estimate, is also stored. The minimum work
/// is the more effective bound in a queue ordered by work.
#[derive(Clone, Copy, Debug)]
pub struct Corners {
    corners: [(u32, i64); MAX_CORNERS],
    count: usize,
    work: i64,
}

/// Returns the work in processor-seconds, saturating at 2^63 - 1.
fn work(size: u32, estimate: i64) -> i64 {
    estimate.max(0).saturating_mul(i64::from(size))
}

impl Corners {
    /// The bounds of an empty set.
    pub const NONE: Self = Self { corners: [(0, 0); MAX_CORNERS], count: 0, work: i64::MAX };

    fn all(&self) -> &[(u32, i64)] {
        &self.corners[..self.count]
    }

    /// Returns whether the set may contain a job of at most this size and estimate.
    pub fn reach(&self, size: u32, estimate: i64) -> bool {
        self.work <= work(size, estimate) && self.behind(size, estimate)
    }

    /// Returns whether any corner has at most this size and at most this estimate.
    fn behind(&self, size: u32, estimate: i64) -> bool {
        self.all().iter().any(|corner| corner.0 <= size && corner.1 <= estimate)
    }

    /// Returns whether the set may contain a job of at most this size.
    pub fn reach_size(&self, size: u32) -> bool {
        self.all().first().is_some_and(|corner| corner.0 <= size)
    }

    /// Adds a job.
    pub fn add(&mut self, size: u32, estimate: i64) {
        self.work = self.work.min(work(size, estimate));
        self.corner(size, estimate);
    }

    fn corner(&mut self, size: u32, estimate: i64) {
        if self.behind(size, estimate) {
            return;
        }
        let mut merged = [(0, 0); MAX_CORNERS + 1];
        let mut count = 0;
        let mut push = |corner| {
            merged[count] = corner;
            count += 1;
        };
        // Remove the corners that have neither a smaller size nor a shorter estimate than the new
        // corner.
        let kept = |corner: &&(u32, i64)| corner.0 < size || corner.1 < estimate;
        self.all().iter().filter(kept).filter(|corner| corner.0 < size).for_each(|&c| push(c));
        push((size, estimate));
        self.all().iter().filter(kept).filter(|corner| corner.0 >= size).for_each(|&c| push(c));
        if count > MAX_CORNERS {
            // Merge the two neighbouring corners for which the merged corner adds the least area.
            let added_area = |i: usize| {
                let ((size, longer), (larger, estimate)) = (merged[i], merged[i + 1]);
                let wider = f64::from(larger - size) / f64::from(size.max(1));
                wider * (longer - estimate) as f64 / estimate.max(1) as f64
            };
            let least = (0..count - 1).min_by(|&i, &j| added_area(i).total_cmp(&added_area(j)));
            let at = least.unwrap_or(0);
            merged[at].1 = merged[at + 1].1;
            merged.copy_within(at + 2..count, at + 1);
            count -= 1;
        }
        self.corners.copy_from_slice(&merged[..MAX_CORNERS]);
        self.count = count;
    }

    /// Adds the jobs of another set.
    pub fn join(&mut self, other: &Self) {
        self.work = self.work.min(other.work);
        other.all().iter().for_each(|&(size, estimate)| self.corner(size, estimate));
    }
}

impl PartialEq for Corners {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all() && self.work == other.work
    }
}
