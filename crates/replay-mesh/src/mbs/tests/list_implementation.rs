//! Implementation of MBS with lists of blocks and their coordinates, as described in the paper.

use std::collections::{BTreeMap, HashMap};

use crate::mbs::forest::{Division, ListOrder};
use crate::mbs::{Splitting, SubMesh};
use replay_contract::{Expected, Oracle};
use replay_engine::allocator::{MachineEvent, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid, NodeId};

/// Lists of free blocks, and the rules by which blocks are split and listed.
pub struct ListImplementation {
    octets: bool,
    by_number: bool,
    ahead: bool,
    dimensions: usize,
    machine: [u16; 3],
    /// Free blocks in list order, grouped by volume.
    pub free: BTreeMap<u32, BTreeMap<Coord, SubMesh>>,
    /// Blocks of the running jobs, by the first processor of each job.
    pub held: HashMap<NodeId, Vec<SubMesh>>,
}

impl Oracle for ListImplementation {
    /// Every request is served if enough processors are free.
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        if request.size as usize > machine.free_count() {
            return Expected::Refused(None);
        }
        let (units, mut nodes) = (self.allocate(request.size), Vec::new());
        let grid = machine.topology().grid().expect("a grid");
        units.iter().for_each(|unit| unit.append_to(grid, &mut nodes));
        self.held.insert(nodes[0], units);
        Expected::Nodes(nodes)
    }

    fn on_event(&mut self, _: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(nodes) = event {
            let units = self.held.remove(&nodes[0]).expect("a job");
            self.release(units);
        }
    }
}

impl ListImplementation {
    /// Creates the lists of an empty machine; blocks are merged as far as possible.
    pub fn new(grid: &Grid, division: Division, order: ListOrder, splitting: Splitting) -> Self {
        let mut lists = Self {
            octets: division == Division::Corners,
            by_number: order == ListOrder::ByNumber,
            ahead: splitting == Splitting::Ahead,
            dimensions: grid.dimensions(),
            machine: grid.axes().map(|axis| axis.extent),
            free: BTreeMap::new(),
            held: HashMap::new(),
        };
        let single = |base| SubMesh { base, sides: [1, 1, 1] };
        lists.release(grid.coords().into_iter().map(single).collect());
        lists
    }

    fn key(&self, [x, y, z]: Coord) -> Coord {
        if self.by_number { [x, y, z] } else { [z, y, x] }
    }

    fn insert(&mut self, area: SubMesh) {
        let key = self.key(area.base);
        self.free.entry(area.volume()).or_default().insert(key, area);
    }

    fn count(&self, volume: u32) -> u32 {
        self.free.get(&volume).map_or(0, |list| list.len() as u32)
    }

    fn first(&mut self, volume: u32) -> Option<SubMesh> {
        self.free.get_mut(&volume)?.pop_first().map(|(_, area)| area)
    }

    /// Returns the block that consists of this block and its buddies; `None` if it extends past the
    /// machine.
    fn parent(&self, area: SubMesh) -> Option<SubMesh> {
        let mut parent = area;
        let double = |parent: &mut SubMesh, axis: usize| {
            parent.sides[axis] *= 2;
            parent.base[axis] = parent.base[axis] / parent.sides[axis] * parent.sides[axis];
            parent.base[axis] + parent.sides[axis] <= self.machine[axis]
        };
        if self.octets {
            return (0..self.dimensions).all(|axis| double(&mut parent, axis)).then_some(parent);
        }
        // The sides are doubled one after the other, if the doubled side fits the machine.
        let exponent = |axis: usize| area.sides[axis].ilog2();
        let next = (0..3).filter(|&axis| double(&mut area.clone(), axis));
        let axis = next.min_by_key(|&axis| (exponent(axis), axis))?;
        double(&mut parent, axis).then_some(parent)
    }

    fn split(&self, area: SubMesh) -> Vec<SubMesh> {
        let longest = *area.sides.iter().max().expect("there are three sides");
        let last =
            area.sides.iter().rposition(|&side| side == longest).expect("one side is the longest");
        let axes = if self.octets { (0..self.dimensions).collect() } else { vec![last] };
        axes.into_iter().fold(vec![area], |parts, axis| {
            let halved = |part: SubMesh, upper: u16| {
                let mut half = part;
                half.sides[axis] /= 2;
                half.base[axis] += upper * half.sides[axis];
                half
            };
            parts.into_iter().flat_map(|part| [0, 1].map(|upper| halved(part, upper))).collect()
        })
    }

    fn arity(&self) -> u32 {
        if self.octets { 1 << self.dimensions } else { 2 }
    }

    fn generate(&mut self, volume: u32) -> bool {
        let larger = self.free.iter().find(|(v, list)| **v > volume && !list.is_empty());
        let Some((&from, _)) = larger else { return false };
        let Some(mut area) = self.first(from) else { return false };
        while area.volume() > volume {
            let parts = self.split(area);
            area = *parts.iter().min_by_key(|part| self.key(part.base)).expect("parts");
            parts.into_iter().filter(|part| *part != area).for_each(|part| self.insert(part));
        }
        self.insert(area);
        true
    }

    fn allocate(&mut self, size: u32) -> Vec<SubMesh> {
        let arity = self.arity();
        let mut volume = 1;
        while volume <= size {
            volume *= arity;
        }
        let (mut units, mut rest, mut missing) = (Vec::new(), size, 0);
        while volume >= 1 {
            let wanted = rest / volume + missing * arity;
            rest %= volume;
            if self.ahead {
                while self.count(volume) < wanted && self.generate(volume) {}
            }
            missing = wanted;
            while missing > 0 && (self.count(volume) > 0 || self.generate(volume)) {
                units.extend(self.first(volume));
                missing -= 1;
            }
            volume /= arity;
        }
        units
    }

    /// Inserts all blocks and merges all buddies that can be merged.
    fn release(&mut self, units: Vec<SubMesh>) {
        units.into_iter().for_each(|unit| self.insert(unit));
        loop {
            let areas: Vec<_> =
                self.free.values().flat_map(|list| list.values().copied()).collect();
            let mergeable = areas
                .iter()
                .filter_map(|&area| self.parent(area))
                .find(|&parent| self.split(parent).iter().all(|part| areas.contains(part)));
            let Some(parent) = mergeable else { return };
            for part in self.split(parent) {
                let key = self.key(part.base);
                self.free.entry(part.volume()).or_default().remove(&key);
            }
            self.insert(parent);
        }
    }
}
