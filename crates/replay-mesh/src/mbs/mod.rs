//! The Multiple Buddy Strategy (Lo et al. 1997, section 3.3; restated in Bani-Mohammad 2008,
//! appendix A), in two and three dimensions, and its variants in the scheduler element of SST.
//!
//! The machine is divided into blocks whose sides are powers of two ([`forest`]). Free blocks are
//! recorded by class ([`records`]). The size of a job is written in base 4 (2D), 8 (3D) or 2
//! (halves); each digit is the number of requested blocks of one class. From the largest class
//! down, the job gets the first free blocks in list order. If a class has too few free blocks, the
//! smallest larger block is split. If there is no larger block, the job requests blocks of the next
//! smaller class instead. Released blocks merge with their buddies. A job gets exactly the
//! requested number of processors whenever enough processors are free; its shape is ignored.
//! Wrapped dimensions are treated as if they did not wrap.
//!
//! | | blocks | list order | splitting |
//! |---|---|---|---|
//! | `mbs` | squares, in 3D cubes | row-major | ahead |
//! | `octet-mbs` | cubes | processor number | on demand |
//! | `granular-mbs` | boxes of one, two, four, ... | processor number | on demand |
//!
//! Cost: a decision takes O(log n) splits and one step per allocated processor. A release takes at
//! most one merge per released processor.

pub mod forest;
pub mod ordered_set;
pub mod records;

use self::forest::{Division, Forest, ListOrder};
use self::records::Records;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup,
    Stats, grid_of, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::counted;
use replay_engine::topology::{Grid, NodeId, Topology};

/// Time at which a larger block is split.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Splitting {
    /// If a class has fewer free blocks than requested, larger blocks are split before any block of
    /// the class is taken. The new buddies and the existing blocks are then taken in list order (Lo
    /// et al., algorithm 3).
    Ahead,
    /// A larger block is split when a block is needed and its class has no free block. Existing
    /// blocks are thus taken first (Bani-Mohammad, appendix A; SST).
    OnDemand,
}

impl Splitting {
    /// Every rule with its name.
    pub const ALL: [(&'static str, Splitting); 2] =
        [("ahead", Splitting::Ahead), ("on-demand", Splitting::OnDemand)];
}

/// The MBS allocator. [`Census::operations`] counts the blocks that are taken, split, merged and
/// released.
#[derive(Debug)]
pub struct Mbs {
    pub(super) records: Records,
    splitting: Splitting,
    /// Number of blocks of each running job, indexed by the first processor of the job.
    blocks_at: Vec<u32>,
    census: Census,
    explanation: ExplanationLog,
}

impl Mbs {
    /// Creates an allocator for `grid`.
    pub fn new(grid: &Grid, division: Division, order: ListOrder, splitting: Splitting) -> Self {
        Self {
            records: Records::new(Forest::new(grid, division, order)),
            splitting,
            blocks_at: vec![0; grid.processors()],
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Creates the strategy of the paper: squares or cubes in row-major order, with splitting
    /// ahead.
    pub fn classic(grid: &Grid) -> Self {
        Self::new(grid, Division::Corners, ListOrder::RowMajor, Splitting::Ahead)
    }

    /// Takes all processors of an area as one unit, for a job that another strategy has placed. The
    /// processors must be free. [`MachineEvent::Released`] releases the unit.
    pub fn carve(&mut self, area: SubMesh, first: NodeId) {
        self.records.carve(area);
        self.started(first, 1);
    }

    fn started(&mut self, first: NodeId, blocks: u32) {
        self.blocks_at[first.index()] = blocks;
        self.census.add_job(blocks);
    }
}

impl Allocator for Mbs {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.records.reset();
        self.blocks_at.fill(0);
        self.census = Census::default();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        require_free(machine, request.size.into())?;
        self.explanation.sentence(|| self.records.describe());
        let (records, explanation) = (&mut self.records, &self.explanation);
        let arity = records.forest().arity();
        let (mut blocks, mut missing) = (0, 0);
        for class in (0..records.forest().classes()).rev() {
            let wanted = records.forest().digit(request.size, class) + arity * missing;
            if self.splitting == Splitting::Ahead {
                while records.free(class) < wanted as usize && records.generate(class) {}
            }
            missing = wanted;
            let (before, from) = (records.free(class), chosen.len());
            while missing > 0 {
                if records.take(class, chosen) {
                    missing -= 1;
                } else if !records.generate(class) {
                    break;
                }
            }
            blocks += wanted - missing;
            if wanted > 0 {
                explanation.sentence(|| {
                    let bases: Vec<String> = chosen[from..]
                        .chunks(records.forest().volume(class) as usize)
                        .map(|block| block[0].0.to_string())
                        .collect();
                    let rest = match missing {
                        0 => String::new(),
                        n => format!("; the remaining {n} as blocks of the next smaller size"),
                    };
                    format!(
                        "blocks needed: {wanted}, of {} each; free blocks of this size before larger blocks are split: {before}; taken: {}{rest}",
                        counted(records.forest().volume(class) as u64, "processor"),
                        match bases.len() {
                            0 => "none".to_string(),
                            n => format!("{n}, at {}", bases.join(", ")),
                        }
                    )
                });
            }
        }
        debug_assert_eq!(chosen.len(), request.size as usize);
        if let Some(&first) = chosen.first() {
            self.started(first, blocks);
        }
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                self.records.release(nodes);
                if let Some(first) = nodes.first() {
                    self.census.busy_list -= std::mem::take(&mut self.blocks_at[first.index()]);
                }
            }
            MachineEvent::NodesDown(nodes) => {
                self.records.carve_each(nodes);
            }
            MachineEvent::NodesUp(nodes) => {
                self.records.release(nodes);
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        let census = Census { operations: self.records.operations, ..self.census };
        Stats { census: Some(census), ..Stats::default() }
    }
}

/// Options that distinguish the variants of MBS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MbsOptions {
    /// Division of a block into buddies.
    pub division: Division,
    /// Order of free blocks of a class.
    pub order: ListOrder,
    /// Time at which a larger block is split.
    pub splitting: Splitting,
    /// Whether the variant requires three dimensions.
    pub needs_3d: bool,
}

impl AllocatorOptions for MbsOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let (grid, Self { division, order, splitting, .. }) = (grid_of(topology)?, *self);
        // In two dimensions, the cubes of SST would be equal to the squares of MBS.
        if self.needs_3d && grid.dimensions() == 2 {
            return Err("needs three dimensions; use mbs in two dimensions".to_string());
        }
        Ok(Box::new(Mbs::new(grid, division, order, splitting)))
    }
}

/// Returns the table of `mbs`, `granular-mbs` and `octet-mbs`.
pub fn table() -> Table<MbsOptions> {
    let of_sst = |division| MbsOptions {
        division,
        order: ListOrder::ByNumber,
        splitting: Splitting::OnDemand,
        needs_3d: division == Division::Corners,
    };
    let classic = MbsOptions {
        division: Division::Corners,
        order: ListOrder::RowMajor,
        splitting: Splitting::Ahead,
        needs_3d: false,
    };
    let classic = Entry::new("mbs", classic)
        .aliases(&["multiple-buddy"])
        .about("Blocks of a buddy system: the digits of the size in base 4 (2D) or 8 (3D) are the numbers of blocks of each class; never refuses if enough processors are free; O(n).")
        .source("Lo et al. 1997, section 3.3")
        .param(
            "splitting",
            kind::one_of(&Splitting::ALL),
            "when larger blocks are split: before the first block of a class is taken (ahead), or when the class has no free block (on-demand)",
            |o| &mut o.splitting,
        )
        .param(
            "order",
            kind::one_of(&ListOrder::ALL),
            "order of free blocks of a class: by y and then x of their bases, or by x and then y (in 3D by z first or last)",
            |o| &mut o.order,
        );
    let granular = Entry::new("granular-mbs", of_sst(Division::Halves))
        .about("MBS with blocks that double along one dimension at a time; O(n).")
        .source("scheduler element of SST (GranularMBSAllocator)");
    let octet = Entry::new("octet-mbs", of_sst(Division::Corners))
        .about("MBS with cubes, listed by processor number; 3D only; O(n).")
        .source("scheduler element of SST (OctetMBSAllocator)");
    Table::new("allocator", [classic, granular, octet])
}

#[cfg(test)]
mod tests;
