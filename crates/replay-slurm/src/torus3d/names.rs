use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::placement::menu::{AnchorRule, Anchors, Menu, wrapped};
use crate::placement::ties::{CandidateFilter, TermWeights, TermWeightsError};
use crate::placement::{Layout, Torus};
use crate::torus3d::described::Described;
use crate::torus3d::frequencies::Frequencies;
use crate::torus3d::tied::{Choice, Rule, Tied};
use crate::torus3d::tuned::{DEFAULT_TUNING, Tuning};
use crate::torus3d::{Fit, Placements};
use replay_engine::allocator::{Allocator, AllocatorOptions, grid_of};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::Topology;

/// Options of `slurm-torus3d` and `placements`.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacementOptions {
    /// Whether the machine must be a torus in three dimensions.
    torus_only: bool,
    /// File that defines the boxes and the machine, instead of a menu.
    file: Option<Described>,
    /// Name of the topology in the file.
    entry: Option<String>,
    menu: Menu,
    turned: bool,
    anchors: Anchors,
    flush: bool,
    fit: Fit,
    segment: Option<u32>,
    /// Whether all sets of positions of a job's parts are searched.
    exact: bool,
    /// The rule that decides among free boxes.
    tie: Tie,
    shapes: Shapes,
    slack: Slack,
    frequencies: Frequencies,
    tuning: Tuning,
}

/// Rule that decides among free boxes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tie {
    /// Slurm's rule.
    Slurm,
    /// Fixed weights of terms.
    Weights(TermWeights),
    /// The rule with the smallest loss so far. On several tori, and for jobs in parts, Slurm's rule decides.
    Auto,
}

const SLURM: &str = "slurm";
const AUTO: &str = "auto";

impl FromStr for Tie {
    type Err = TermWeightsError;

    fn from_str(text: &str) -> Result<Self, TermWeightsError> {
        match text {
            SLURM => Ok(Self::Slurm),
            AUTO => Ok(Self::Auto),
            _ => text.parse().map(Self::Weights),
        }
    }
}

impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slurm => f.write_str(SLURM),
            Self::Auto => f.write_str(AUTO),
            Self::Weights(weights) => weights.fmt(f),
        }
    }
}

/// Tolerance for the compactness of a box, relative to the most compact free box.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slack {
    /// A fixed fraction; 0 if there is no limit.
    Share(f64),
    /// The fraction with the smallest loss so far.
    Auto,
}

impl FromStr for Slack {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let share = text.parse().ok().filter(|share| (0.0..=100.0).contains(share));
        share.map(Self::Share).ok_or_else(|| "neither a number from 0 to 100 nor auto".to_string())
    }
}

impl fmt::Display for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => share.fmt(f),
            Self::Auto => f.write_str(AUTO),
        }
    }
}

/// Rule that selects which boxes of the requested size are compared by their terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shapes {
    All,
    First,
}

impl PlacementOptions {
    /// Returns the weighted terms for a torus; `None` if Slurm's rule decides.
    fn tied(&self, torus: &Arc<Torus>, wrapped: [bool; 3], seed: u64) -> Option<Tied> {
        let filter = match (self.shapes, self.slack) {
            (Shapes::First, _) => Some(CandidateFilter::First),
            (Shapes::All, Slack::Share(0.0)) => Some(CandidateFilter::All),
            (Shapes::All, Slack::Share(slack)) => Some(CandidateFilter::Compact(slack)),
            (Shapes::All, Slack::Auto) => None,
        };
        let choice = match self.tie {
            Tie::Weights(weights) => Choice::Fixed(weights, filter.unwrap_or_default()),
            Tie::Auto if !self.is_slurms() => Choice::Tuned(filter, self.tuning, seed),
            Tie::Auto | Tie::Slurm => return None,
        };
        let rule = Rule { choice, frequencies: self.frequencies.clone() };
        Some(Tied::new(torus.clone(), wrapped, rule))
    }
}

impl PlacementOptions {
    /// Returns whether Slurm's rule decides on a machine with one torus.
    fn is_slurms(&self) -> bool {
        match self.tie {
            Tie::Slurm => true,
            Tie::Auto => self.segment.is_some(),
            Tie::Weights(_) => false,
        }
    }

    /// Returns the division of jobs into parts: the size of a part, and a flag that is set if all sets of positions of
    /// the parts are searched.
    fn parts(&self) -> Option<(u32, bool)> {
        self.segment.map(|segment| (segment, self.exact))
    }

    /// Returns the tori of a machine with their boxes.
    fn layout(&self, machine: &Topology, sizes: &[u32]) -> Result<Layout, String> {
        let Some(file) = &self.file else {
            let place = AnchorRule { anchors: self.anchors, flush: self.flush };
            return self.menu.layout(machine, place, self.turned, sizes);
        };
        let described = file.machine(self.entry.as_deref())?;
        match described == *machine {
            true => Ok(file.config(self.entry.as_deref())?.layout),
            false => Err(format!("{file} describes a different machine, {described}")),
        }
    }

    /// Creates the strategy on a machine. `sizes` are the sizes of the jobs. A menu that depends on the job sizes is
    /// empty while these sizes are not known.
    pub fn placements(
        &self,
        machine: &Topology,
        sizes: &[u32],
        seed: u64,
    ) -> Result<Placements, String> {
        let layout = self.layout(machine, sizes)?;
        let tied = match layout.toruses() {
            [torus] => {
                let grid = match machine {
                    Topology::MultiTorus(all) => all.parts().first().map(|part| &part.grid),
                    _ => machine.grid(),
                };
                // The boxes of a file wrap around on every axis.
                let walled = grid.filter(|_| self.file.is_none());
                self.tied(torus, walled.map_or([true; 3], wrapped), seed)
            }
            toruses if matches!(self.tie, Tie::Weights(_)) => {
                return Err(format!(
                    "tie compares boxes of one torus, and this machine has {} tori; use tie=slurm",
                    toruses.len()
                ));
            }
            _ => None,
        };
        let numbers =
            layout.numbers(machine).ok_or("the machine and the file have different processors")?;
        let placements = Placements::new(numbers, layout, self.fit, self.parts(), tied);
        Ok(match self.menu {
            Menu::Trace if self.file.is_none() => {
                placements.for_sizes(self.clone(), machine.clone(), seed)
            }
            _ => placements,
        })
    }
}

impl PlacementOptions {
    /// Returns the machine that the file describes; `None` without a file.
    pub fn described(&self) -> Option<Result<Topology, String>> {
        self.file.as_ref().map(|file| file.machine(self.entry.as_deref()))
    }
}

impl AllocatorOptions for PlacementOptions {
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let is_torus = match topology {
            Topology::MultiTorus(_) => true,
            _ => {
                let grid = grid_of(topology)?;
                // Along an axis of extent two, both directions lead to the same neighbour.
                let wraps = grid.axes().iter().all(|axis| axis.wrapped || axis.extent <= 2);
                wraps && grid.dimensions() == 3
            }
        };
        if self.torus_only && !is_torus {
            return Err("needs a torus in three dimensions; use placements on a mesh".into());
        }
        if self.slack == Slack::Auto && (self.tie != Tie::Auto || self.is_slurms()) {
            return Err("slack=auto requires tie=auto".into());
        }
        if self.slack == Slack::Auto && self.shapes == Shapes::First {
            return Err(
                "slack=auto compares boxes of all shapes and cannot be used with shapes=first"
                    .into(),
            );
        }
        if matches!(self.tie, Tie::Weights(_)) && self.segment.is_some() {
            return Err(
                "segment is a parameter of Slurm's rule and cannot be used with weights in tie"
                    .into(),
            );
        }
        Ok(Box::new(self.placements(topology, &[], seed)?))
    }

    fn reduced(&self) -> Self {
        // Orientations can be omitted only if the menu is a list.
        let turned = self.turned && matches!(self.menu, Menu::List(_));
        let mut reduced = Self { turned, ..self.clone() };
        match &self.file {
            // The file defines the boxes and their positions.
            Some(file) => {
                (reduced.menu, reduced.anchors, reduced.turned) =
                    (Menu::Powers, Anchors::Aligned, false);
                reduced.file = Some(file.by_content());
            }
            None => reduced.entry = None,
        }
        reduced.exact &= reduced.segment.is_some();
        reduced.flush |= reduced.file.is_some();
        if self.is_slurms() && self.segment.is_some() {
            // Slurm's rule and the default rule treat jobs in parts in the same way, so the default rule is written.
            reduced.tie = if self.torus_only { Tie::Slurm } else { Tie::Auto };
        }
        if self.is_slurms() {
            (reduced.shapes, reduced.frequencies) = (Shapes::All, Frequencies::Seen);
        }
        let shares = reduced.slack != Slack::Auto;
        if shares && (self.is_slurms() || reduced.shapes == Shapes::First) {
            reduced.slack = Slack::Share(0.0);
        }
        if self.is_slurms() || self.tie != Tie::Auto {
            reduced.tuning = DEFAULT_TUNING;
        }
        reduced
    }
}

/// Returns the table of `slurm-torus3d` and `placements`.
pub(crate) fn table() -> Table<PlacementOptions> {
    let with_defaults = |torus_only, fit, tie| PlacementOptions {
        torus_only,
        file: None,
        entry: None,
        menu: Menu::Powers,
        turned: false,
        anchors: Anchors::Aligned,
        flush: true,
        fit,
        segment: None,
        exact: false,
        tie,
        shapes: Shapes::All,
        slack: Slack::Share(0.0),
        frequencies: Frequencies::Seen,
        tuning: DEFAULT_TUNING,
    };
    let with_parameters = |entry: Entry<PlacementOptions>| {
        entry
            .source("Slurm 26.05, plugin topology/torus3d")
            .param(
                "file",
                kind::typed("FILE").listed("FILE").or("none"),
                "a topology.yaml that defines the machine (several tori and cells without nodes are possible) and, in \
                    place of menu, anchors and orient, the boxes; --machine FILE is equivalent",
                |o: &mut PlacementOptions| &mut o.file,
            )
            .param(
                "topology",
                kind::typed("NAME").listed("NAME").or("none"),
                "name of the topology in the file; by default the topology with cluster_default: true, otherwise the \
                    first topology",
                |o| &mut o.entry,
            )
            .param(
                "menu",
                kind::typed("pow2|all|tpu-v4|trace|list:AxBxC+..").listed("pow2|all|tpu-v4|trace|list:AxBxC+.."),
                "boxes that jobs may have: boxes whose sides are powers of two or sides of the machine, all boxes \
                    (machines of up to 512 processors), slices of TPU v4 pods, the most compact boxes for every size \
                    of the trace, or a list",
                |o| &mut o.menu,
            )
            .param(
                "anchors",
                kind::one_of(&Anchors::ALL),
                "distance between positions of a box: its sides, half its sides, or one processor",
                |o| &mut o.anchors,
            )
            .param(
                "flush",
                kind::yes_no(),
                "on an axis that does not wrap: whether the last position is flush with the wall even if it is not a multiple of the distance",
                |o| &mut o.flush,
            )
            .param(
                "orient",
                kind::one_of(&[("given", false), ("all", true)]),
                "orientation of the boxes of a list: as given, or all; boxes of other menus have all orientations",
                |o| &mut o.turned,
            )
            .param(
                "fit",
                kind::one_of(&[("exact", Fit::Exact), ("up", Fit::Up)]),
                "if no box has the size of a job, the job is omitted from the run (exact) or gets the next larger box \
                    (up)",
                |o| &mut o.fit,
            )
            .param(
                "segment",
                kind::integer(1..=1_000_000).or("none"),
                "number of processors of a part; a job whose size is a larger multiple is divided into parts, and \
                    each part gets a box",
                |o| &mut o.segment,
            )
            .param(
                "exact-segments",
                kind::yes_no(),
                "with segment, if placing one part after the other fails: yes searches all sets of positions, which \
                    can take long; with no, the search is repeated as in Slurm and can miss a solution",
                |o| &mut o.exact,
            )
            .param(
                "tie",
                kind::typed("slurm|auto|LF,EQ,NF,WF,EF,DL"),
                "slurm: the rule that Slurm ships; auto: a rule that tunes itself during the replay, from past jobs \
                    only (slurm with segment, and on several tori); or the weights of six terms (0 if omitted): worth \
                    of lost larger boxes, worth of lost equal boxes, contact with busy neighbours, contact with \
                    walls, neighbours that end at the same time, delay of larger boxes by estimates",
                |o| &mut o.tie,
            )
            .param(
                "shapes",
                kind::one_of(&[("all", Shapes::All), ("first", Shapes::First)]),
                "with tie: boxes of all shapes and orientations are compared, or only boxes of the first shape and \
                    orientation that fits",
                |o| &mut o.shapes,
            )
            .param(
                "slack",
kind::typed("0..100|auto"),
                "with tie: if slack is above 0, only boxes whose sum of pairwise distances is at most (1 + slack) \
                    times the least sum are compared; with tie=auto, auto tunes the slack",
                |o| &mut o.slack,
            )
            .param(
                "freq",
                kind::typed("seen|one|FILE|SIZE:WEIGHT+..").listed("seen|one|FILE|SIZE:WEIGHT+.."),
                "with tie: the worth of a box is its size times a factor: the frequency of the size among the started jobs and the requesting job (seen), 1 (one), or the weight of the size in a list or in a file of lines size,weight",
                |o| &mut o.frequencies,
            )
            .param(
                "shadows",
                kind::integer(1..=64),
                "tie=auto: number of shadow machines, each replaying the jobs with its own rule; each shadow machine adds one decision per job",
                |o| &mut o.tuning.shadows,
            )
            .param(
                "every",
                kind::integer(16..=1_000_000),
                "tie=auto: number of job starts between comparisons of the shadow machines",
                |o| &mut o.tuning.every,
            )
            .param(
                "memory",
                kind::integer(16..=100_000_000),
                "tie=auto: number of job starts after which the weight of an observation falls to 1/e",
                |o| &mut o.tuning.memory,
            )
    };
    let slurm = Entry::new("slurm-torus3d", with_defaults(true, Fit::Exact, Tie::Slurm)).about(
        "Boxes from a menu on a 3D torus by the rule that Slurm ships: in the first orientation that fits, the position that takes the fewest free positions from the next larger box. Jobs whose size is not on the menu are omitted from the run and counted. O(free positions) per decision.",
    );
    let placements = Entry::new("placements", with_defaults(false, Fit::Up, Tie::Auto)).about(
        "Boxes from a menu on any mesh or torus, by a rule that tunes itself during the replay, or by the rule of slurm-torus3d with tie=slurm. A job gets the next larger box on the menu, which is internal fragmentation. On an axis that does not wrap, the last position is flush with the wall. O(free positions) per decision, and again for every shadow machine: with tie=auto, fewer than 10,000 jobs a second.",
    );
    Table::new("allocator", [with_parameters(slurm), with_parameters(placements)])
}
