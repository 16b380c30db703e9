use crate::journal::CellId;
use replay_core::workload::{Follows, Job, Shake, Waits};

/// Format of ids: increase it when the same cell would give other numbers.
const FORMAT: u32 = 2;

/// Configuration that determines the id of a cell.
#[derive(Clone, Debug)]
pub struct CellConfiguration<'a> {
    /// Digest of the replayed jobs; see [`jobs_digest`].
    pub jobs: &'a str,
    /// Canonical name of the machine.
    pub topology: &'a str,
    /// Canonical name of the scheduler.
    pub scheduler: &'a str,
    /// Identity of the allocator; see
    /// [`AllocatorSpec::identity`](replay_core::allocator::registry::AllocatorSpec::identity).
    pub strategy: &'a str,
    /// Seed.
    pub seed: u64,
    /// Whether ties are counted.
    pub ties: bool,
    /// Whether placements are measured.
    pub placements: bool,
    /// Perturbation of the jobs and number of the copy; `None` for unperturbed jobs. The number of copies is ignored.
    pub shaken: Option<(Shake, u32)>,
    /// Digest of the recorded start times, if the cell repeats them.
    pub recorded: Option<&'a str>,
    /// Digest of the recorded placements, if the cell repeats them.
    pub places: Option<&'a str>,
    /// Digest of the outages, if any.
    pub outages: Option<&'a str>,
    /// Digest of the jobs that the run with recorded starts lacks, if any.
    pub log_jobs: Option<&'a str>,
}

impl CellConfiguration<'_> {
    /// The id.
    pub fn id(&self) -> CellId {
        // One field per line: every text is a canonical name or a digest without line breaks.
        let Self { jobs, topology, scheduler, strategy, seed, ties, placements, .. } = self;
        let mut text = format!(
            "replay cell {FORMAT}\n{jobs}\n{topology}\n{scheduler}\n{strategy}\n{seed}\n{ties}\n{placements}\n"
        );
        if let Some((shake, copy)) = self.shaken {
            text.push_str(&shake.identity(copy));
        }
        let digests = [
            ("recorded", self.recorded),
            // The key dates from the change that included jobs without a placement in time measures.
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

/// BLAKE3 digest in hexadecimal of jobs of which some follow others.
pub fn chains_digest(jobs: &[Job], follows: &[Option<Follows>]) -> String {
    let mut text = jobs_digest(jobs);
    for (follows, job) in follows.iter().zip(0..) {
        if let Some(Follows { job: before, earliest, lag }) = follows {
            text.push_str(&format!("\n{job} {} {earliest} {lag}", before.0));
        }
    }
    text_digest(&text)
}

/// BLAKE3 digest in hexadecimal of a text.
pub fn text_digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// BLAKE3 digest in hexadecimal of the recorded start times of jobs, which the scheduler `recorded` uses in addition
/// to the jobs.
pub fn starts_digest(jobs: &[Job], waits: &Waits) -> String {
    let mut digest = Digest::default();
    for job in jobs {
        // `i64::MIN` does not occur in logs.
        digest.take(&waits.start(job).unwrap_or(i64::MIN).to_le_bytes());
    }
    digest.hex()
}

/// BLAKE3 digest in hexadecimal of jobs as seen by schedulers and allocators, including shapes and user limits if
/// present. It represents the combination of the trace's text, cleaning policy, window and fit to the machine: a
/// comment in the trace does not change it, a corrected cleaning rule does.
pub fn jobs_digest(jobs: &[Job]) -> String {
    let mut digest = Digest::default();
    for job in jobs {
        for time in [job.number, job.submit, job.run, job.estimate] {
            digest.take(&time.to_le_bytes());
        }
        digest.take(&job.size.to_le_bytes());
    }
    if jobs.iter().any(|job| job.shape.is_some()) {
        // A job without a shape has sides of 0 if other jobs have shapes.
        for side in jobs.iter().flat_map(|job| job.shape.unwrap_or_default()) {
            digest.take(&side.to_le_bytes());
        }
    }
    // Some allocators use the users' limits, from which cleaning derives estimates.
    if jobs.iter().any(|job| job.limit.is_some()) {
        for job in jobs {
            digest.take(&job.limit.map_or(-1, i64::from).to_le_bytes());
        }
    }
    digest.hex()
}

/// Digest of many small numbers, buffered because BLAKE3 is fastest on many chunks at once.
#[derive(Default)]
struct Digest {
    hasher: blake3::Hasher,
    numbers: Vec<u8>,
}

impl Digest {
    const BUFFER_SIZE: usize = 1 << 16;

    fn take(&mut self, number: &[u8]) {
        self.numbers.extend_from_slice(number);
        if self.numbers.len() >= Self::BUFFER_SIZE {
            self.hasher.update(&self.numbers);
            self.numbers.clear();
        }
    }

    /// The digest in hexadecimal.
    fn hex(mut self) -> String {
        self.hasher.update(&self.numbers);
        self.hasher.finalize().to_hex().to_string()
    }
}
