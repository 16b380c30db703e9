use crate::journal::CellId;
use replay_engine::workload::{Follows, Job, RecordedValues, Shake};

/// Format number of ids. Increase this number whenever a change of the code alters the results of cells.
const FORMAT: u32 = 2;

/// The configuration of a cell, which determines its id.
#[derive(Clone, Debug)]
pub struct CellConfiguration<'a> {
    /// Digest of the replayed jobs, see [`jobs_digest`].
    pub jobs: &'a str,
    /// Canonical name of the machine.
    pub topology: &'a str,
    /// Digest of the machine, if the machine is described by a file; see
    /// [`content_digest`](replay_engine::topology::content_digest).
    pub machine: Option<&'a str>,
    /// Canonical name of the scheduler.
    pub scheduler: &'a str,
    /// Identity of the allocator; see
    /// [`AllocatorSpec::identity`](replay_engine::allocator::registry::AllocatorSpec::identity).
    pub strategy: &'a str,
    /// Seed.
    pub seed: u64,
    /// Whether ties are counted.
    pub ties: bool,
    /// Whether placements are measured.
    pub placements: bool,
    /// Perturbation of the jobs, and the index of the copy; `None` for unperturbed jobs. The total number of copies
    /// does not affect the id.
    pub shaken: Option<(Shake, u32)>,
    /// Digest of the recorded start times, if the cell repeats the recorded start times.
    pub recorded: Option<&'a str>,
    /// Digest of the recorded placements, if the cell repeats the recorded placements.
    pub places: Option<&'a str>,
    /// Digest of the outages, if there are outages.
    pub outages: Option<&'a str>,
    /// Digest of the partitions of the jobs, if there are partitions.
    pub partitions: Option<&'a str>,
    /// Digest of the set of jobs that are missing from the run with recorded start times, if any jobs are missing.
    pub log_jobs: Option<&'a str>,
}

impl CellConfiguration<'_> {
    /// The id.
    pub fn id(&self) -> CellId {
        // Each line contains one field. Every text is a canonical name or a digest, and contains no line breaks.
        let Self { jobs, topology, scheduler, strategy, seed, ties, placements, .. } = self;
        let mut text = format!(
            "replay cell {FORMAT}\n{jobs}\n{topology}\n{scheduler}\n{strategy}\n{seed}\n{ties}\n{placements}\n"
        );
        if let Some((shake, copy)) = self.shaken {
            text.push_str(&shake.identity(copy));
        }
        let digests = [
            ("machine", self.machine),
            ("recorded", self.recorded),
            // The key `placed` was introduced when time metrics began to include jobs without a placement.
            ("placed", self.places),
            ("down", self.outages),
            ("partitions", self.partitions),
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

/// Returns the BLAKE3 digest, in hexadecimal, of jobs and the dependencies between them.
pub fn chains_digest(jobs: &[Job], follows: &[Vec<Follows>]) -> String {
    let mut text = jobs_digest(jobs);
    for (follows, job) in follows.iter().zip(0..) {
        for Follows { job: before, earliest, lag } in follows {
            text.push_str(&format!("\n{job} {} {earliest} {lag}", before.0));
        }
    }
    text_digest(&text)
}

/// Returns the BLAKE3 digest, in hexadecimal, of a text.
pub fn text_digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Returns the BLAKE3 digest, in hexadecimal, of the recorded start times of jobs. The schedule of the scheduler
/// `recorded` depends on the jobs and on their recorded start times.
pub fn starts_digest(jobs: &[Job], waits: &RecordedValues) -> String {
    let mut digest = Digest::default();
    for job in jobs {
        // The value `i64::MIN` marks an unknown start, because it does not occur in logs.
        digest.take(&waits.start(job).unwrap_or(i64::MIN).to_le_bytes());
    }
    digest.hex()
}

/// Returns the BLAKE3 digest, in hexadecimal, of all properties of jobs that schedulers and allocators use, including
/// shapes and user limits if there are any. The digest depends on the trace, the cleaning policy, the window and the
/// treatment of jobs that are larger than the machine. A changed comment in the trace does not change the digest; a
/// corrected cleaning rule changes it.
pub fn jobs_digest(jobs: &[Job]) -> String {
    let mut digest = Digest::default();
    for job in jobs {
        for time in [job.number, job.submit, job.run, job.estimate] {
            digest.take(&time.to_le_bytes());
        }
        digest.take(&job.size.to_le_bytes());
    }
    if jobs.iter().any(|job| job.shape.is_some()) {
        // If some jobs have shapes, a job without a shape is hashed as a shape with sides of 0.
        for side in jobs.iter().flat_map(|job| job.shape.unwrap_or_default()) {
            digest.take(&side.to_le_bytes());
        }
    }
    // Some allocators use the users' limits. Cleaning computes the estimates from these limits.
    if jobs.iter().any(|job| job.limit.is_some()) {
        for job in jobs {
            digest.take(&job.limit.map_or(-1, i64::from).to_le_bytes());
        }
    }
    digest.hex()
}

/// Digest of many small numbers. The numbers are buffered, because BLAKE3 is fastest if it hashes many chunks at once.
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
