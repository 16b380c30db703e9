//! What a job is going to send.

use std::sync::Arc;

use super::program::Program;
use super::quota::Quota;

/// The program and the quota of a job; one plan may serve all jobs of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who sends to whom.
    pub program: Arc<Program>,
    /// How many packets.
    pub quota: Quota,
    /// With the job's number, the key of all that it draws.
    pub seed: u64,
}
