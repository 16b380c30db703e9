use std::fmt;
use std::str::FromStr;

use crate::workload::{Job, Shake};

/// The format of ids: raised when the same cell would give other numbers than before.
const FORMAT: u32 = 2;

/// What a cell computes, as a digest: the same jobs on the same machine under the same
/// strategies, measured in the same way, have the same id in every grid.
///
/// Names do not count: a trace that moved is the same trace, and tie vectors of one
/// ratio are one strategy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId([u8; 16]);

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
    /// [`AllocatorSpec::identity`](crate::allocator::registry::AllocatorSpec::identity).
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
}

impl CellConfiguration<'_> {
    /// The id.
    pub fn id(&self) -> CellId {
        // One field per line: every text is a canonical name or a digest, none has breaks.
        let Self { jobs, topology, scheduler, strategy, seed, ties, placements, shaken } = self;
        let mut text = format!(
            "replay cell {FORMAT}\n{jobs}\n{topology}\n{scheduler}\n{strategy}\n{seed}\n{ties}\n{placements}\n"
        );
        if let Some((Shake { width, seed, .. }, copy)) = shaken {
            text.push_str(&format!("shaken {width} {seed} {copy}\n"));
        }
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        CellId(id)
    }
}

/// BLAKE3 digest (hexadecimal) of jobs as schedulers and allocators see them, with their
/// side lengths if they have shapes. It stands
/// for the trace's text, cleaning policy, window and fit to the machine together: a
/// comment in the trace changes nothing, a mended cleaning rule does.
pub fn jobs_digest(jobs: &[Job]) -> String {
    let mut hasher = blake3::Hasher::new();
    for job in jobs {
        for time in [job.number, job.submit, job.run, job.estimate] {
            hasher.update(&time.to_le_bytes());
        }
        hasher.update(&job.size.to_le_bytes());
    }
    if jobs.iter().any(|job| job.shape.is_some()) {
        // A job without a shape among others has sides of nothing.
        for side in jobs.iter().flat_map(|job| job.shape.unwrap_or_default()) {
            hasher.update(&side.to_le_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CellId({self})")
    }
}

/// A text that is not 32 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is no cell id")]
pub struct CellIdError(String);

impl FromStr for CellId {
    type Err = CellIdError;

    fn from_str(text: &str) -> Result<Self, CellIdError> {
        let error = || CellIdError(text.to_string());
        let legal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 32 || !text.bytes().all(legal) {
            return Err(error());
        }
        u128::from_str_radix(text, 16).map(|id| Self(id.to_be_bytes())).map_err(|_| error())
    }
}
