//! The named cleaning policies.

use std::sync::LazyLock;

use crate::naming::{Entry, NameError, Table};

use super::policy::{EstimateRule, Oversize, Policy, Repair, Rounding, SizeSource};

impl Policy {
    /// The rules of Johnson, Bunde and Leung, "A tie-breaking strategy for processor allocation in meshes" (section I),
    /// which reproduce the paper's figures. The size is field 5; jobs without a positive size are dropped. A negative
    /// run time becomes 0; a run time of 0 is kept. The estimate is max(field 9, run time), so no job is killed at its
    /// estimate. The paper does not state how negative submit times and fractions of seconds are treated. In this
    /// policy, a negative submit time becomes 0, and fractions of seconds are truncated.
    pub const JOHNSON: Policy = Policy {
        name: "johnson",
        summary: "Johnson, Bunde, Leung: allocated size, estimate at least the run time (default)",
        size: SizeSource::Allocated,
        negative_run: Repair::Zero,
        drop_zero_run: false,
        run_grain: 0,
        estimate: EstimateRule { requested: true, zero_is_unknown: false, missing: 1, floor: 1 },
        negative_submit: Repair::Zero,
        drop_cancelled: false,
        rounding: Rounding::Truncate,
        oversize: Oversize::Error,
        renumber: false,
        strict: false,
    };

    /// The rules of `johnson`, but a record that these rules would change or drop is an error.
    pub const STRICT: Policy = Policy {
        name: "strict",
        summary: "the rules of johnson; a record that would be changed or dropped is an error",
        strict: true,
        ..Policy::JOHNSON
    };

    /// Rules that follow the advice of the Parallel Workloads Archive in the usual interpretation. The size is field 5,
    /// or field 8 if field 5 is unknown. Jobs that never ran (run time unknown, or cancelled with run time 0) caused no
    /// load and are dropped. Other jobs with run time 0 ran for less than half a second and are kept. Estimates below
    /// the run time are raised to the run time, because logs contain jobs that exceeded their estimate without being
    /// killed.
    pub const PWA: Policy = Policy {
        name: "pwa",
        summary: "Parallel Workloads Archive: size from field 5, else from field 8; jobs that never ran are dropped",
        size: SizeSource::AllocatedElseRequested,
        negative_run: Repair::Drop,
        drop_cancelled: true,
        negative_submit: Repair::Drop,
        rounding: Rounding::Nearest,
        ..Policy::JOHNSON
    };

    /// The rules of SST's scheduler element: an estimate of 0 or less, in whole seconds, becomes twice the run time;
    /// estimates below the run time are kept.
    pub const SST: Policy = Policy {
        name: "sst",
        summary: "SST scheduler element: missing estimates are twice the run time, low estimates are kept",
        negative_run: Repair::Drop,
        estimate: EstimateRule { requested: true, zero_is_unknown: true, missing: 2, floor: 0 },
        ..Policy::JOHNSON
    };

    /// The rules of Batsim's converter with its defaults (grain 1, wall time factor 2). These rules make every run time
    /// one second too long. The converter also drops jobs whose estimate does not exceed field 4. There are no such
    /// jobs, because an estimate is at least twice field 4.
    pub const BATSIM: Policy = Policy {
        name: "batsim",
        summary: "Batsim's SWF converter: run time one second longer, estimate at least twice the run time",
        negative_run: Repair::Drop,
        drop_zero_run: true,
        run_grain: 1,
        estimate: EstimateRule { requested: true, zero_is_unknown: false, missing: 2, floor: 2 },
        renumber: true,
        ..Policy::JOHNSON
    };

    /// The rules of AccaSim's default reader: the size is field 8, or field 5 if field 8 is unknown. The reader
    /// provides no estimates, so this policy uses the run time as the estimate. An unknown run time is replaced by 0.
    pub const ACCASIM: Policy = Policy {
        name: "accasim",
        summary: "AccaSim: size from field 8, else from field 5; no estimates (the run time is used)",
        size: SizeSource::RequestedElseAllocated,
        estimate: EstimateRule { requested: false, zero_is_unknown: false, missing: 1, floor: 1 },
        ..Policy::JOHNSON
    };

    /// Rules for records of 21 fields as in logs of Frontier (2024 and later). In these logs, fields 5 and 8 contain
    /// numbers of processors in some records and numbers of nodes in others. Sizes are numbers of nodes, from the
    /// descriptor in field 21. All other rules are the rules of `pwa`.
    pub const FRONTIER: Policy = Policy {
        name: "frontier",
        summary: "like pwa, with sizes in nodes from field 21 of Frontier's records (site:mode:NODESxCORES)",
        size: SizeSource::FrontierNodes,
        ..Policy::PWA
    };

    /// Rules for records of 21 fields as in logs of CERIT-SC and MetaCentrum. Sizes are numbers of processors.
    pub const CERIT: Policy = Policy {
        name: "cerit",
        summary: "like pwa, with sizes in processors from CERIT's records, at least ppn of field 21",
        size: SizeSource::CeritProcessors,
        ..Policy::PWA
    };

    /// Rules for records of 21 fields as in logs of CERIT-SC and MetaCentrum. Sizes are numbers of nodes.
    pub const CERIT_NODES: Policy = Policy {
        name: "cerit-nodes",
        summary: "like pwa, with sizes in nodes from the list in field 19 of CERIT's records",
        size: SizeSource::CeritNodes,
        ..Policy::PWA
    };

    /// All named policies; the first is the default.
    pub const ALL: [&'static Policy; 9] = [
        &Policy::JOHNSON,
        &Policy::STRICT,
        &Policy::PWA,
        &Policy::SST,
        &Policy::BATSIM,
        &Policy::ACCASIM,
        &Policy::FRONTIER,
        &Policy::CERIT,
        &Policy::CERIT_NODES,
    ];

    /// Returns the policy with this name.
    ///
    /// # Errors
    /// [`NameError`] with the nearest name if the name is unknown.
    ///
    /// ```
    /// use replay_workload::workload::Policy;
    ///
    /// assert_eq!(Policy::by_name("sst").map(|policy| policy.estimate.missing), Ok(2));
    /// let error = Policy::by_name("jonson").unwrap_err();
    /// assert!(error.to_string().contains("did you mean \"johnson\"?"));
    /// ```
    pub fn by_name(name: &str) -> Result<&'static Policy, NameError> {
        TABLE.read(name)
    }
}

static TABLE: LazyLock<Table<&'static Policy>> = LazyLock::new(|| {
    let entry = |policy: &'static Policy| Entry::new(policy.name, policy).about(policy.summary);
    Table::new("policy", Policy::ALL.map(entry))
});

impl Default for Policy {
    /// Returns [`Policy::JOHNSON`].
    fn default() -> Policy {
        Policy::JOHNSON
    }
}

impl std::str::FromStr for Policy {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Policy, NameError> {
        Policy::by_name(name).cloned()
    }
}
