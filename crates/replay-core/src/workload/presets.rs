//! The named policies: one table.

use std::sync::LazyLock;

use crate::naming::{Entry, NameError, Table};

use super::policy::{EstimateRule, Oversize, Policy, Repair, Rounding, SizeSource};

impl Policy {
    /// The rules of Johnson, Bunde and Leung, "A tie-breaking strategy for processor allocation in
    /// meshes" (section I), which reproduce its figures. Size from field 5, dropped if not
    /// positive; negative run time becomes 0, run time 0 is kept; estimate = max(field 9, run time), so no
    /// job is ever killed at its estimate. What the paper leaves open is decided here: a negative submit
    /// time becomes 0, fractions are cut off.
    pub const JOHNSON: Policy = Policy {
        name: "johnson",
        summary: "Johnson, Bunde, Leung: allocated size, estimate at least the run time (default)",
        size: SizeSource::Allocated,
        negative_run: Repair::Zero,
        drop_zero_run: false,
        run_grain: 0,
        estimate: EstimateRule { requested: true, zero_is_unknown: false, missing: 1, floor: 1 },
        drop_tight_estimate: false,
        negative_submit: Repair::Zero,
        drop_cancelled: false,
        rounding: Rounding::Truncate,
        oversize: Oversize::Error,
        renumber: false,
        strict: false,
    };

    /// The rules of `johnson`, but a record they would change or drop is an error.
    pub const STRICT: Policy = Policy {
        name: "strict",
        summary: "the rules of johnson; a record that would be changed or dropped is an error",
        strict: true,
        ..Policy::JOHNSON
    };

    /// The usual reading of the Parallel Workloads Archive's advice: field 5, or 8 where 5 is
    /// unknown; jobs that never ran (run time unknown, or cancelled with run time 0) are no load and are
    /// dropped; other jobs of run time 0 ran less than half a second and stay. Estimates below the
    /// run time are raised to it: logs hold jobs that overran, and none of them was killed for it.
    pub const PWA: Policy = Policy {
        name: "pwa",
        summary: "Parallel Workloads Archive: size from field 5 else 8, jobs that never ran dropped",
        size: SizeSource::AllocatedElseRequested,
        negative_run: Repair::Drop,
        drop_cancelled: true,
        negative_submit: Repair::Drop,
        rounding: Rounding::Nearest,
        ..Policy::JOHNSON
    };

    /// SST's scheduler element: an estimate of 0 or less becomes twice the run time, too low ones stay.
    pub const SST: Policy = Policy {
        name: "sst",
        summary: "SST scheduler element: missing estimates are twice the run time, low ones stay",
        negative_run: Repair::Drop,
        estimate: EstimateRule { requested: true, zero_is_unknown: true, missing: 2, floor: 0 },
        ..Policy::JOHNSON
    };

    /// Batsim's converter with its defaults (grain 1, wall time factor 2): every job one second too long.
    pub const BATSIM: Policy = Policy {
        name: "batsim",
        summary: "Batsim's SWF converter: run time one second longer, estimate at least twice the run time",
        negative_run: Repair::Drop,
        drop_zero_run: true,
        run_grain: 1,
        estimate: EstimateRule { requested: true, zero_is_unknown: false, missing: 2, floor: 2 },
        drop_tight_estimate: true,
        renumber: true,
        ..Policy::JOHNSON
    };

    /// AccaSim's default reader: field 8, else 5; it has no estimates, so they are the run time here,
    /// and a run time that is unknown counts as 0.
    pub const ACCASIM: Policy = Policy {
        name: "accasim",
        summary: "AccaSim: size from field 8 else 5, no estimates (they are the run time)",
        size: SizeSource::RequestedElseAllocated,
        estimate: EstimateRule { requested: false, zero_is_unknown: false, missing: 1, floor: 1 },
        ..Policy::JOHNSON
    };

    /// Records of 21 fields as those of Frontier (2024 and later), whose fields 5 and 8 are processors
    /// or nodes as it happens: sizes in nodes, from the descriptor in field 21. The rest as `pwa`.
    pub const FRONTIER: Policy = Policy {
        name: "frontier",
        summary: "as pwa, sizes in nodes from field 21 of Frontier's records (site:mode:NODESxCORES)",
        size: SizeSource::FrontierNodes,
        ..Policy::PWA
    };

    /// Records of 21 fields as those of CERIT-SC and MetaCentrum, sizes in processors.
    pub const CERIT: Policy = Policy {
        name: "cerit",
        summary: "as pwa, sizes in processors of CERIT's records, at least ppn of field 21",
        size: SizeSource::CeritProcessors,
        ..Policy::PWA
    };

    /// The same, sizes in nodes.
    pub const CERIT_NODES: Policy = Policy {
        name: "cerit-nodes",
        summary: "as pwa, sizes in nodes from the list in field 19 of CERIT's records",
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

    /// The policy of that name.
    ///
    /// # Errors
    /// [`NameError`] with the name nearest to it.
    ///
    /// ```
    /// use replay_core::workload::Policy;
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
    /// [`Policy::JOHNSON`].
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
