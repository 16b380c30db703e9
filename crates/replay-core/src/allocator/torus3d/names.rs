use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::described::Described;
use super::frequencies::Frequencies;
use super::tied::{Choice, Rule, Tied};
use super::tuned::Tuning;
use super::{Fit, Placements};
use crate::allocator::options::grid_of;
use crate::allocator::{Allocator, AllocatorOptions};
use crate::naming::{Entry, Table, kind};
use crate::placement::menu::{Anchors, Menu, Where, wrapped};
use crate::placement::ties::{CandidateFilter, Handles, HandlesError};
use crate::placement::{Layout, Torus};
use crate::topology::Topology;

/// What `slurm-torus3d` and `placements` can be told.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacementOptions {
    /// Whether the machine must be a torus in three dimensions.
    torus_only: bool,
    /// Who says which boxes there are, and on which machine, instead of a menu.
    file: Option<Described>,
    /// Which topology of the file.
    entry: Option<String>,
    menu: Menu,
    turned: bool,
    anchors: Anchors,
    flush: bool,
    fit: Fit,
    segment: Option<u32>,
    /// Whether all sets of parts are searched.
    exact: bool,
    /// The terms that decide instead of Slurm's rule.
    tie: Tie,
    shapes: Shapes,
    slack: Slack,
    frequencies: Frequencies,
    tuning: Tuning,
}

/// What decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tie {
    /// Slurm's rule.
    Slurm,
    /// These weights.
    Weights(Handles),
    /// What did best so far; Slurm's rule for parts of jobs and on several tori.
    Auto,
}

const SLURM: &str = "slurm";
const AUTO: &str = "auto";

impl FromStr for Tie {
    type Err = HandlesError;

    fn from_str(text: &str) -> Result<Self, HandlesError> {
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
            Self::Weights(handles) => handles.fmt(f),
        }
    }
}

/// How much less compact a box may be than the most compact one that is free.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slack {
    /// By this share; 0 stands for any.
    Share(f64),
    /// By what did best so far.
    Auto,
}

impl FromStr for Slack {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let share = text.parse().ok().filter(|share| (0.0..=100.0).contains(share));
        share.map(Self::Share).ok_or_else(|| "not a number from 0 to 100, or auto".to_string())
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

/// Which boxes of a size compete by their terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shapes {
    All,
    First,
}

impl PlacementOptions {
    /// The terms at work on this torus, if they decide.
    fn tied(&self, torus: &Arc<Torus>, wrapped: [bool; 3], seed: u64) -> Option<Tied> {
        let rivals = match (self.shapes, self.slack) {
            (Shapes::First, _) => Some(CandidateFilter::First),
            (Shapes::All, Slack::Share(0.0)) => Some(CandidateFilter::All),
            (Shapes::All, Slack::Share(slack)) => Some(CandidateFilter::Compact(slack)),
            (Shapes::All, Slack::Auto) => None,
        };
        let choice = match self.tie {
            Tie::Weights(handles) => Choice::Fixed(handles, rivals.unwrap_or_default()),
            Tie::Auto if !self.is_slurms() => Choice::Tuned(rivals, self.tuning, seed),
            Tie::Auto | Tie::Slurm => return None,
        };
        let rule = Rule { choice, frequencies: self.frequencies.clone() };
        Some(Tied::new(torus.clone(), wrapped, rule))
    }
}

impl PlacementOptions {
    /// Whether Slurm's rule decides on one torus.
    fn is_slurms(&self) -> bool {
        match self.tie {
            Tie::Slurm => true,
            Tie::Auto => self.segment.is_some(),
            Tie::Weights(_) => false,
        }
    }

    /// Parts of jobs, and whether all sets of their places are searched.
    fn parts(&self) -> Option<(u32, bool)> {
        self.segment.map(|segment| (segment, self.exact))
    }

    /// The tori of a machine with their boxes.
    fn layout(&self, machine: &Topology, sizes: &[u32]) -> Result<Layout, String> {
        let Some(file) = &self.file else {
            let place = Where { anchors: self.anchors, flush: self.flush };
            return self.menu.layout(machine, place, self.turned, sizes);
        };
        let described = file.machine(self.entry.as_deref())?;
        match described == *machine {
            true => Ok(file.config(self.entry.as_deref())?.layout),
            false => Err(format!("{file} describes the machine {described}")),
        }
    }

    /// The strategy on a machine, for jobs of these sizes if the menu goes by them: a menu that is empty as long as nobody knows them.
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
                // The boxes of a file go around on every axis.
                let walled = grid.filter(|_| self.file.is_none());
                self.tied(torus, walled.map_or([true; 3], wrapped), seed)
            }
            toruses if matches!(self.tie, Tie::Weights(_)) => {
                return Err(format!(
                    "tie compares boxes of one torus, and this machine has {}; tie=slurm goes by the rule for several",
                    toruses.len()
                ));
            }
            _ => None,
        };
        let numbers = layout.numbers(machine).ok_or("the machine has other processors")?;
        let placements = Placements::new(numbers, layout, self.fit, self.parts(), tied);
        Ok(match self.menu {
            Menu::Trace if self.file.is_none() => {
                placements.for_sizes(self.clone(), machine.clone(), seed)
            }
            _ => placements,
        })
    }
}

impl AllocatorOptions for PlacementOptions {
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let is_torus = match topology {
            Topology::MultiTorus(_) => true,
            _ => {
                let grid = grid_of(topology)?;
                // Along an axis of two both ways around are the same.
                let wraps = grid.axes().iter().all(|axis| axis.wrapped || axis.extent <= 2);
                wraps && grid.dimensions() == 3
            }
        };
        if self.torus_only && !is_torus {
            return Err("needs a torus in three dimensions; placements works on meshes too".into());
        }
        if self.slack == Slack::Auto && (self.tie != Tie::Auto || self.is_slurms()) {
            return Err("slack=auto goes with tie=auto".into());
        }
        if self.slack == Slack::Auto && self.shapes == Shapes::First {
            return Err("slack=auto lets boxes of all shapes compete, shapes=first does not".into());
        }
        if matches!(self.tie, Tie::Weights(_)) && self.segment.is_some() {
            return Err("segment is a rule of Slurm's; it does not work with weights of tie".into());
        }
        Ok(Box::new(self.placements(topology, &[], seed)?))
    }

    fn described(&self) -> Option<Result<Topology, String>> {
        self.file.as_ref().map(|file| file.machine(self.entry.as_deref()))
    }

    fn reduced(&self) -> Self {
        // Only a list has orientations to be left out.
        let turned = self.turned && matches!(self.menu, Menu::List(_));
        let mut reduced = Self { turned, ..self.clone() };
        match &self.file {
            // The file has boxes, and where they may be.
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
            // Both say the same of parts: that which is usual.
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
            reduced.tuning = Tuning::default();
        }
        reduced
    }
}

/// `slurm-torus3d`, `placements`.
pub fn table() -> Table<PlacementOptions> {
    let usual = |torus_only, fit, tie| PlacementOptions {
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
        tuning: Tuning::default(),
    };
    let with_parameters = |entry: Entry<PlacementOptions>| {
        entry
            .source("Slurm 26.05, plugin topology/torus3d")
            .param(
                "file",
                kind::typed("FILE").listed("FILE").or("none"),
                "a topology.yaml that says which boxes there are, instead of menu, anchors and orient, and which machine: several tori, cells without a node. --machine FILE says the same",
                |o: &mut PlacementOptions| &mut o.file,
            )
            .param(
                "topology",
                kind::typed("NAME").listed("NAME").or("none"),
                "which topology of the file, if not the one with cluster_default: true or the first",
                |o| &mut o.entry,
            )
            .param(
                "menu",
                kind::typed("pow2|all|tpu-v4|trace|list:AxBxC+..").listed("pow2|all|tpu-v4|trace|list:AxBxC+.."),
                "boxes that jobs may have: sides of powers of two or the machine's, all (machines of up to 512 processors), slices of TPU v4 pods, the most compact ones for every size of the trace, or these",
                |o| &mut o.menu,
            )
            .param(
                "anchors",
                kind::one_of(&Anchors::ALL),
                "positions of a box: apart by its sides, by half of them, or by one processor",
                |o| &mut o.anchors,
            )
            .param(
                "flush",
                kind::yes_no(),
                "on an axis that does not wrap: whether the last position lies flush with the wall, also where that is no multiple",
                |o| &mut o.flush,
            )
            .param(
                "orient",
                kind::one_of(&[("given", false), ("all", true)]),
                "boxes of a list as they stand, or turned in every way; those of other menus are turned",
                |o| &mut o.turned,
            )
            .param(
                "fit",
                kind::one_of(&[("exact", Fit::Exact), ("up", Fit::Up)]),
                "a job whose size no box has: it is left out of the run, or it gets the next larger box",
                |o| &mut o.fit,
            )
            .param(
                "segment",
                kind::integer(1..=1_000_000).or("none"),
                "processors of each part of a larger job whose size is a multiple; a part is a box",
                |o| &mut o.segment,
            )
            .param(
                "exact-segments",
                kind::yes_no(),
                "with segment: where one part after the other finds no place, search all sets of places for one that does, which can take long; no tries again as Slurm does, and can miss some",
                |o| &mut o.exact,
            )
            .param(
                "tie",
                kind::typed("slurm|auto|LF,EQ,NF,WF,EF,DL"),
                "slurm for the rule that Slurm ships; auto for one that tunes itself during the replay, by the past alone (with segment, and on several tori, it is slurm); or weights, those left out being 0: worth of larger and of equal boxes lost, contact with busy neighbours and with walls, neighbours that end together, delay of larger boxes by estimates",
                |o| &mut o.tie,
            )
            .param(
                "shapes",
                kind::one_of(&[("all", Shapes::All), ("first", Shapes::First)]),
                "with tie: boxes of all shapes and orientations compete, or those of the first that fits",
                |o| &mut o.shapes,
            )
            .param(
                "slack",
kind::typed("0..100|auto"),
                "with tie, above 0: only boxes compete whose pairwise distances are at most 1 + slack times the least; auto tunes it with tie=auto",
                |o| &mut o.slack,
            )
            .param(
                "freq",
                kind::typed("seen|one|FILE|SIZE:WEIGHT+..").listed("seen|one|FILE|SIZE:WEIGHT+.."),
                "with tie: boxes are worth their size times how often it was asked for so far (jobs that started, and the one that asks), or 1, or its weight in a file of lines size,weight or in a list",
                |o| &mut o.frequencies,
            )
            .param(
                "shadows",
                kind::integer(1..=64),
                "tie=auto: machines beside the real one, each with a way of its own; the cost is that of so many decisions more",
                |o| &mut o.tuning.shadows,
            )
            .param(
                "every",
                kind::integer(16..=1_000_000),
                "tie=auto: starts from one look at these machines to the next",
                |o| &mut o.tuning.every,
            )
            .param(
                "memory",
                kind::integer(16..=100_000_000),
                "tie=auto: starts after which what was observed counts 1/e",
                |o| &mut o.tuning.memory,
            )
    };
    let slurm = Entry::new("slurm-torus3d", usual(true, Fit::Exact, Tie::Slurm)).about(
        "Boxes from a menu on a 3D torus by the rule that Slurm ships: of the first orientation that fits the position that takes the fewest free positions from the next larger box. Jobs of a size that is not on the menu are left out of the run, and counted. O(free positions) per decision.",
    );
    let placements = Entry::new("placements", usual(false, Fit::Up, Tie::Auto)).about(
        "Boxes from a menu on any mesh or torus, by a rule that tunes itself during the replay, or by that of slurm-torus3d with tie=slurm. A job gets the next larger box on the menu, which is internal fragmentation. On an axis that does not wrap the last position lies flush with the wall. O(free positions) per decision, and as much for every shadow machine.",
    );
    Table::new("allocator", [with_parameters(slurm), with_parameters(placements)])
}
