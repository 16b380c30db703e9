//! The least sizes and estimates of a set of jobs.

/// Most corners kept.
const MOST: usize = 8;

/// Lower bounds on a set of jobs: for every job a corner with no larger size and no longer
/// estimate, by ascending size and so by descending estimate. With up to eight jobs that no
/// other one undercuts in both the corners are these jobs; where there are more, neighbours
/// share a corner. And the least work, size times estimate, of any job: in a queue ordered by
/// work no corner tells as much.
#[derive(Clone, Copy, Debug)]
pub struct Corners {
    corners: [(u32, i64); MOST],
    count: usize,
    work: i64,
}

/// Processor-seconds; more than 2^63 are as many.
fn work(size: u32, estimate: i64) -> i64 {
    estimate.max(0).saturating_mul(i64::from(size))
}

impl Corners {
    /// Of no job.
    pub const NONE: Self = Self { corners: [(0, 0); MOST], count: 0, work: i64::MAX };

    fn all(&self) -> &[(u32, i64)] {
        &self.corners[..self.count]
    }

    /// Whether there can be a job of at most this size and estimate.
    pub fn reach(&self, size: u32, estimate: i64) -> bool {
        self.work <= work(size, estimate) && self.behind(size, estimate)
    }

    /// Whether it is behind a corner.
    fn behind(&self, size: u32, estimate: i64) -> bool {
        self.all().iter().any(|corner| corner.0 <= size && corner.1 <= estimate)
    }

    /// Whether there can be a job of at most this size.
    pub fn reach_size(&self, size: u32) -> bool {
        self.all().first().is_some_and(|corner| corner.0 <= size)
    }

    /// Takes in a job.
    pub fn add(&mut self, size: u32, estimate: i64) {
        self.work = self.work.min(work(size, estimate));
        self.corner(size, estimate);
    }

    fn corner(&mut self, size: u32, estimate: i64) {
        if self.behind(size, estimate) {
            return;
        }
        let mut merged = [(0, 0); MOST + 1];
        let mut count = 0;
        let mut push = |corner| {
            merged[count] = corner;
            count += 1;
        };
        // Those it undercuts in both go.
        let kept = |corner: &&(u32, i64)| corner.0 < size || corner.1 < estimate;
        self.all().iter().filter(kept).filter(|corner| corner.0 < size).for_each(|&c| push(c));
        push((size, estimate));
        self.all().iter().filter(kept).filter(|corner| corner.0 >= size).for_each(|&c| push(c));
        if count > MOST {
            // The two whose common corner claims least that is not theirs.
            let claim = |i: usize| {
                let ((size, longer), (larger, estimate)) = (merged[i], merged[i + 1]);
                let wider = f64::from(larger - size) / f64::from(size.max(1));
                wider * (longer - estimate) as f64 / estimate.max(1) as f64
            };
            let least = (0..count - 1).min_by(|&i, &j| claim(i).total_cmp(&claim(j)));
            let at = least.unwrap_or(0);
            merged[at].1 = merged[at + 1].1;
            merged.copy_within(at + 2..count, at + 1);
            count -= 1;
        }
        self.corners.copy_from_slice(&merged[..MOST]);
        self.count = count;
    }

    /// Takes in the jobs of another set.
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
