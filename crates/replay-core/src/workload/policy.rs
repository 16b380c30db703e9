//! Cleaning policies: what becomes of a record on its way to a job, as plain switches.

use serde::Serialize;

use super::extra_fields::Extra;

/// Where a job's size comes from (SWF fields 5 and 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeSource {
    /// Field 5, allocated processors.
    Allocated,
    /// Field 5; field 8 (requested processors) where 5 is not positive.
    AllocatedElseRequested,
    /// Field 8; field 5 where 8 is not positive.
    RequestedElseAllocated,
    /// Nodes of Frontier's descriptor in field 21; field 5 where that is none.
    FrontierNodes,
    /// Field 5, but at least the processors on one node that CERIT's request in field 21 asks for.
    CeritProcessors,
    /// Different nodes of CERIT's list in field 19; where that is none, field 5 over the processors
    /// per node of field 21.
    CeritNodes,
}

impl SizeSource {
    /// Whether jobs count nodes where the log lists a node for each of their processors.
    pub fn counts_nodes(self) -> bool {
        self == Self::CeritNodes
    }

    /// Whether it looks at fields after the eighteenth.
    pub(super) fn is_extra(self) -> bool {
        matches!(self, Self::FrontierNodes | Self::CeritProcessors | Self::CeritNodes)
    }

    /// Whether these fields hold what it looks for there.
    pub(super) fn is_told_by(self, extra: Extra<'_>) -> bool {
        match self {
            // One of no node has no size.
            Self::FrontierNodes => extra.descriptor().is_some_and(|found| found.nodes > 0),
            Self::CeritProcessors => extra.processors_per_node().is_some(),
            Self::CeritNodes => extra.nodes().is_some() || extra.processors_per_node().is_some(),
            Self::Allocated | Self::AllocatedElseRequested | Self::RequestedElseAllocated => false,
        }
    }
}

/// What to do with a value that cannot stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// The job is dropped.
    Drop,
    /// The value becomes 0.
    Zero,
}

/// How times with a fraction become whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Towards zero, as a cast to an integer does.
    Truncate,
    /// To the nearest second, halves away from zero.
    Nearest,
}

/// The estimate where field 9 does not say, and the least that it may be: a multiple of the run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EstimateRule {
    /// Is field 9 (requested time) used at all?
    pub requested: bool,
    /// Does a requested time of 0 count as unknown, like a negative one?
    pub zero_is_unknown: bool,
    /// Estimate in run times where field 9 is unknown.
    pub missing: u8,
    /// Least estimate in run times; 0 = whatever the user said.
    pub floor: u8,
}

/// What to do with a job larger than the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oversize {
    /// An error that names the line.
    Error,
    /// The job is dropped.
    Drop,
    /// The job gets the whole machine.
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

/// A word that is no [`Oversize`] rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no rule for jobs larger than the machine: error, drop or clamp")]
pub struct UnknownOversize(pub String);

/// A cleaning policy: every switch there is. The presets are constants, see [`Policy::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Name on the command line.
    pub name: &'static str,
    /// Whose rules these are, in one line.
    pub summary: &'static str,
    /// Source of the size. A job whose size is not positive is dropped by every policy.
    pub size: SizeSource,
    /// A negative run time (field 4).
    pub negative_run: Repair,
    /// Are jobs with run time 0 dropped?
    pub drop_zero_run: bool,
    /// Run times are lengthened to the next multiple of so many seconds *above* them; 0 = left alone.
    pub run_grain: u32,
    /// Source and bounds of the estimate, from the run time before any lengthening.
    pub estimate: EstimateRule,
    /// Are jobs dropped whose estimate is not above their run time (of field 4)?
    pub drop_tight_estimate: bool,
    /// A negative submit time (field 2).
    pub negative_submit: Repair,
    /// Are jobs dropped that were cancelled (status 5) before they ran (run time 0 or less)?
    pub drop_cancelled: bool,
    /// Times with a fraction.
    pub rounding: Rounding,
    /// A job larger than the machine.
    pub oversize: Oversize,
    /// Do jobs get new numbers, from 0, in file order?
    pub renumber: bool,
    /// Is every change and every drop an error?
    pub strict: bool,
}

/// One switch of a policy in words, for listings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyRow {
    /// The switch.
    pub rule: &'static str,
    /// What the policy does.
    pub setting: String,
}

impl Policy {
    /// The policy of the default.
    pub const DEFAULT: &str = "johnson";

    /// The switches in words, in the order in which they act.
    pub fn describe(&self) -> Vec<PolicyRow> {
        let row = |rule, setting: &str| PolicyRow { rule, setting: setting.to_owned() };
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
                    SizeSource::FrontierNodes => "nodes of field 21, else field 5",
                    SizeSource::CeritProcessors => "field 5, at least ppn of field 21",
                    SizeSource::CeritNodes => {
                        "nodes of field 19, else field 5 over ppn of field 21"
                    }
                },
            ),
            row("size not positive", "job dropped"),
            row("cancelled before it ran", kept(self.drop_cancelled)),
            row("negative run time", repair(self.negative_run)),
            row("run time 0", kept(self.drop_zero_run)),
            row("estimate", &self.estimate.describe()),
            row("estimate not above run time", kept(self.drop_tight_estimate)),
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
        match (self.requested, self.floor) {
            (false, _) => runs(self.missing),
            (true, 0) => format!("field 9; {} where unknown", runs(self.missing)),
            (true, floor) if floor == self.missing => format!("field 9, at least {}", runs(floor)),
            (true, floor) => {
                format!("field 9, at least {}; {} where unknown", runs(floor), runs(self.missing))
            }
        }
    }
}
