//! Cleaning policies: one switch for each decision in turning a record into a job.

use serde::{Deserialize, Serialize};

use super::extra_fields::Extra;

/// Source of a job's size (SWF fields 5 and 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeSource {
    /// Field 5, allocated processors.
    Allocated,
    /// The size is field 5 or, if field 5 is not positive, field 8 (requested processors).
    AllocatedElseRequested,
    /// The size is field 8 or, if field 8 is not positive, field 5.
    RequestedElseAllocated,
    /// The size is the number of nodes in Frontier's descriptor in field 21; if field 21 is not a descriptor, the size
    /// is field 5.
    FrontierNodes,
    /// The size is field 5, but at least the number of processors per node in CERIT's request (field 21).
    CeritProcessors,
    /// The size is the number of distinct nodes in CERIT's list in field 19. If field 19 is not a list, the size is
    /// field 5 divided by the number of processors per node in field 21.
    CeritNodes,
}

impl SizeSource {
    /// Returns whether sizes are numbers of nodes although the log lists a node for each processor.
    pub fn counts_nodes(self) -> bool {
        self == Self::CeritNodes
    }

    /// Returns whether the size may come from a field after field 18.
    pub(super) fn is_extra(self) -> bool {
        matches!(self, Self::FrontierNodes | Self::CeritProcessors | Self::CeritNodes)
    }

    /// Returns whether the fields after field 18 contain the size.
    pub(super) fn is_found_in(self, extra: Extra<'_>) -> bool {
        match self {
            // A descriptor with zero nodes gives no size.
            Self::FrontierNodes => extra.descriptor().is_some_and(|found| found.nodes > 0),
            Self::CeritProcessors => extra.processors_per_node().is_some(),
            Self::CeritNodes => extra.nodes().is_some() || extra.processors_per_node().is_some(),
            Self::Allocated | Self::AllocatedElseRequested | Self::RequestedElseAllocated => false,
        }
    }
}

/// The treatment of an invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// The job is dropped.
    Drop,
    /// The value becomes 0.
    Zero,
}

/// The rule by which fractional times are rounded to whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Times are rounded towards zero, like a cast to an integer.
    Truncate,
    /// Times are rounded to the nearest second; halves are rounded away from zero.
    Nearest,
}

/// Rule for estimates: the estimate if field 9 is unknown, and the minimum estimate. The estimate for an unknown field
/// 9 and the minimum estimate are multiples of the run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EstimateRule {
    /// Whether field 9 (requested time) is used.
    pub requested: bool,
    /// Whether a requested time of 0 whole seconds means unknown, like a negative time.
    pub zero_is_unknown: bool,
    /// Estimate if field 9 is unknown, as a multiple of the run time.
    pub missing: u8,
    /// Minimum estimate, as a multiple of the run time; 0 keeps any requested time.
    pub floor: u8,
}

/// The treatment of a job larger than the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oversize {
    /// A job larger than the machine is an error. The error contains the line of the job.
    Error,
    /// The job is dropped.
    Drop,
    /// The size of the job is reduced to the size of the machine.
    Clamp,
}

impl std::str::FromStr for Oversize {
    type Err = UnknownOversize;

    fn from_str(text: &str) -> Result<Oversize, UnknownOversize> {
        match text {
            "error" => Ok(Oversize::Error),
            "drop" => Ok(Oversize::Drop),
            "clamp" => Ok(Oversize::Clamp),
            _ => Err(UnknownOversize(text.to_owned())),
        }
    }
}

/// Error: a text is not a rule for jobs larger than the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a rule for jobs larger than the machine: use error, drop or clamp")]
pub struct UnknownOversize(pub String);

/// A cleaning policy. The named policies are constants, see [`Policy::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Name on the command line.
    pub name: &'static str,
    /// Origin and main rules, in one line.
    pub summary: &'static str,
    /// Source of the size. Every policy drops jobs without a positive size.
    pub size: SizeSource,
    /// Rule for a negative run time (field 4).
    pub negative_run: Repair,
    /// Whether jobs with run time 0 are dropped.
    pub drop_zero_run: bool,
    /// Run times are lengthened to the next *greater* multiple of this number of seconds; 0 leaves run times unchanged.
    pub run_grain: u32,
    /// Source and bounds of the estimate. Multiples refer to the run time before it is lengthened.
    pub estimate: EstimateRule,
    /// Rule for a negative submit time (field 2).
    pub negative_submit: Repair,
    /// Whether jobs that were cancelled before they ran (status 5 and a run time of 0 or less) are dropped.
    pub drop_cancelled: bool,
    /// Rule for fractional times.
    pub rounding: Rounding,
    /// Rule for jobs larger than the machine.
    pub oversize: Oversize,
    /// Whether jobs are renumbered 0, 1, 2, ... in file order.
    pub renumber: bool,
    /// Whether every change and every drop is an error.
    pub strict: bool,
}

/// Description of a rule of a policy, for listings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRow {
    /// Name of the rule.
    pub rule: String,
    /// Setting of the rule.
    pub setting: String,
}

impl Policy {
    /// Name of the default policy.
    pub const DEFAULT: &str = "johnson";

    /// Returns descriptions of the rules, in the order in which they are applied.
    pub fn describe(&self) -> Vec<PolicyRow> {
        let row = |rule: &str, setting: &str| PolicyRow {
            rule: rule.to_string(),
            setting: setting.to_string(),
        };
        let repair = |repair| match repair {
            Repair::Drop => "job dropped",
            Repair::Zero => "becomes 0",
        };
        let kept = |dropped| if dropped { "job dropped" } else { "kept" };
        vec![
            row(
                "size",
                match self.size {
                    SizeSource::Allocated => "field 5",
                    SizeSource::AllocatedElseRequested => "field 5, else 8",
                    SizeSource::RequestedElseAllocated => "field 8, else 5",
                    SizeSource::FrontierNodes => {
                        "the nodes in field 21, or, without these, field 5"
                    }
                    SizeSource::CeritProcessors => "field 5, at least ppn of field 21",
                    SizeSource::CeritNodes => {
                        "the nodes in field 19, or, without these, field 5 divided by the ppn in field 21"
                    }
                },
            ),
            row("size not positive", "job dropped"),
            row("cancelled before it ran", kept(self.drop_cancelled)),
            row("negative run time", repair(self.negative_run)),
            row("run time 0", kept(self.drop_zero_run)),
            row("estimate", &self.estimate.describe()),
            row(
                "run time",
                &match self.run_grain {
                    0 => "field 4".to_owned(),
                    1 => "field 4 and one second".to_owned(),
                    grain => format!("next multiple of {grain} s above field 4"),
                },
            ),
            row("negative submit time", repair(self.negative_submit)),
            row(
                "fractions of seconds",
                match self.rounding {
                    Rounding::Truncate => "cut off",
                    Rounding::Nearest => "rounded to nearest",
                },
            ),
            row(
                "larger than the machine",
                match self.oversize {
                    Oversize::Error => "error",
                    Oversize::Drop => "job dropped",
                    Oversize::Clamp => "gets the whole machine",
                },
            ),
            row("job numbers", if self.renumber { "from 0, in file order" } else { "field 1" }),
            row(
                "fields after the 18th",
                match (self.strict, self.size.is_extra()) {
                    (true, _) => "error",
                    (_, true) => "read for the size, counted",
                    _ => "ignored, counted",
                },
            ),
            row("any change or drop", if self.strict { "error" } else { "reported" }),
        ]
    }
}

impl EstimateRule {
    fn describe(&self) -> String {
        let runs = |times: u8| match times {
            1 => "run time".to_owned(),
            n => format!("{n} x run time"),
        };
        let unknown = if self.zero_is_unknown { "0 or unknown" } else { "unknown" };
        match (self.requested, self.floor) {
            (false, _) => runs(self.missing),
            (true, 0) => format!("field 9; {} if {unknown}", runs(self.missing)),
            (true, floor) if floor == self.missing => format!("field 9, at least {}", runs(floor)),
            (true, floor) => {
                format!("field 9, at least {}; {} if {unknown}", runs(floor), runs(self.missing))
            }
        }
    }
}
