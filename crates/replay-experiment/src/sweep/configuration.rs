use crate::journal::CellId;
use replay_core::workload::{Follows, Job, Shake, Waits};

/// The format of ids: raised when the same cell would give other numbers than before.
const FORMAT: u32 = 2;

/// The configuration that an id stands for.
#[derive(Clone, Debug)]
pub struct CellConfiguration<'a> {
    /// Digest of the jobs as they are replayed, see [`jobs_digest`].
    pub jobs: &'a str,
    /// Machine, canonical.
    pub topology: &'a str,
    /// Scheduler, canonical.
    pub scheduler: &'a str,
    /// What tells allocators apart, see
    /// [`AllocatorSpec::identity`](replay_core::allocator::registry::AllocatorSpec::identity).
    pub strategy: &'a str,
    /// Seed.
    pub seed: u64,
    /// Whether ties are counted.
    pub ties: bool,
    /// Whether placements are measured.
    pub placements: bool,
    /// How the jobs are shaken, and the number of the copy; `None` for the jobs as they are. The
    /// number of copies does not count.
    pub shaken: Option<(Shake, u32)>,
    /// What else the cell repeats of the log: a digest.
    pub recorded: Option<&'a str>,
    /// Where the log placed jobs, if the cell repeats that: a digest.
    pub places: Option<&'a str>,
    /// When processors are out of service: a digest.
    pub outages: Option<&'a str>,
    /// Which jobs the run lacks that repeats the log beside it: a digest.
    pub log_jobs: Option<&'a str>,
}

impl CellConfiguration<'_> {
    /// The id.
    pub fn id(&self) -> CellId {
        // One field per line: every text is a canonical name or a digest, none has breaks.
        let Self { jobs, topology, scheduler, strategy, seed, ties, placements, .. } = self;
        let mut text = format!(
            "replay cell {FORMAT}\n{jobs}\n{topology}\n{scheduler}\n{strategy}\n{seed}\n{ties}\n{placements}\n"
        );
        if let Some((shake, copy)) = self.shaken {
            text.push_str(&shake.identity(copy));
        }
        let digests = [
            ("recorded", self.recorded),
            // As placements have been measured since jobs without one are in the measures of times.
            ("placed", self.places),
            ("down", self.outages),
            ("log jobs", self.log_jobs),
        ];
        for (what, digest) in digests {
            if let Some(digest) = digest {
                text.push_str(&format!("{what} {digest}\n"));
            }
        }
        CellId::of(&text)
    }
}

/// The same of jobs of which some follow others.
pub fn chains_digest(jobs: &[Job], follows: &[Option<Follows>]) -> String {
    let mut text = jobs_digest(jobs);
    for (follows, job) in follows.iter().zip(0..) {
        if let Some(Follows { job: before, earliest, lag }) = follows {
            text.push_str(&format!("\n{job} {} {earliest} {lag}", before.0));
        }
    }
    text_digest(&text)
}

/// BLAKE3 digest (hexadecimal) of a text.
pub fn text_digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// BLAKE3 digest (hexadecimal) of when jobs started, as their log says: what the scheduler `recorded`
/// goes by beside the jobs.
pub fn starts_digest(jobs: &[Job], waits: &Waits) -> String {
    let mut digest = Digest::default();
    for job in jobs {
        // No time of a log is the smallest number.
        digest.take(&waits.start(job).unwrap_or(i64::MIN).to_le_bytes());
    }
    digest.hex()
}

/// BLAKE3 digest (hexadecimal) of jobs as schedulers and allocators see them, with their
/// side lengths if they have shapes and what their users said of their run times. It stands for the trace's text, cleaning policy, window and fit to the machine together: a
/// comment in the trace changes nothing, a mended cleaning rule does.
pub fn jobs_digest(jobs: &[Job]) -> String {
    let mut digest = Digest::default();
    for job in jobs {
        for time in [job.number, job.submit, job.run, job.estimate] {
            digest.take(&time.to_le_bytes());
        }
        digest.take(&job.size.to_le_bytes());
    }
    if jobs.iter().any(|job| job.shape.is_some()) {
        // A job without a shape among others has sides of nothing.
        for side in jobs.iter().flat_map(|job| job.shape.unwrap_or_default()) {
            digest.take(&side.to_le_bytes());
        }
    }
    // Some allocators go by what users said; estimates are what cleaning has made of that.
    if jobs.iter().any(|job| job.limit.is_some()) {
        for job in jobs {
            digest.take(&job.limit.map_or(-1, i64::from).to_le_bytes());
        }
    }
    digest.hex()
}

/// A digest of many small numbers. They go in by the ten thousands, as BLAKE3 takes many chunks side by side.
#[derive(Default)]
struct Digest {
    hasher: blake3::Hasher,
    numbers: Vec<u8>,
}

impl Digest {
    const AT_ONCE: usize = 1 << 16;

    fn take(&mut self, number: &[u8]) {
        self.numbers.extend_from_slice(number);
        if self.numbers.len() >= Self::AT_ONCE {
            self.hasher.update(&self.numbers);
            self.numbers.clear();
        }
    }

    /// In hexadecimal.
    fn hex(mut self) -> String {
        self.hasher.update(&self.numbers);
        self.hasher.finalize().to_hex().to_string()
    }
}
