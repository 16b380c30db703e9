//! The digest of the jobs of a trace, computed on first use.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::configuration::{chains_digest, jobs_digest};
use crate::Trace;
use replay_engine::workload::{Follows, Workload};

/// BLAKE3 digest of the replayed jobs of a trace, in hexadecimal. The digest is computed on first use, because runs
/// without ids do not need the digest, and hashing a long trace takes a millisecond.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct LazyDigest {
    digest: OnceLock<String>,
    /// The jobs, and the dependencies between the jobs; `None` if the digest was read from a file.
    jobs: Option<(Arc<Workload>, Vec<Vec<Follows>>)>,
}

impl LazyDigest {
    /// Creates the digest of the jobs of a trace.
    pub fn new(trace: &Trace) -> Self {
        let jobs = (trace.workload.clone(), trace.chains().follows.clone());
        Self { digest: OnceLock::new(), jobs: Some(jobs) }
    }
}

impl Deref for LazyDigest {
    type Target = str;

    fn deref(&self) -> &str {
        self.digest.get_or_init(|| match &self.jobs {
            Some((workload, follows)) if follows.is_empty() => jobs_digest(&workload.jobs),
            Some((workload, follows)) => chains_digest(&workload.jobs, follows),
            None => String::new(),
        })
    }
}

impl From<String> for LazyDigest {
    fn from(digest: String) -> Self {
        Self { digest: digest.into(), jobs: None }
    }
}

impl From<LazyDigest> for String {
    fn from(digest: LazyDigest) -> Self {
        digest.to_string()
    }
}

impl PartialEq for LazyDigest {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Display for LazyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for LazyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
