//! Compares 2,000 decisions of `replay place` on 60 random machines with a direct implementation of
//! the rules of Slurm 26.05, `topology/torus3d`. The implementation does not use the library.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::dir::Dir;
use cases::{Case, row};

mod cases;

trials!(matches_the_rules_in_two_thousand_decisions);

const MACHINES: usize = 60;
const DECISIONS: usize = 2000;

type Nodes = BTreeSet<u32>;

/// A linear congruential generator that gives the same numbers on all platforms.
struct Rng(u64);

impl Rng {
    /// Returns a number in `0..end`.
    fn below(&mut self, end: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    fn percent(&mut self, share: u32) -> bool {
        self.below(100) < share
    }

    /// Returns random side lengths: for each axis, a length from 1 to its limit.
    fn sides(&mut self, limits: [u32; 3]) -> [u32; 3] {
        limits.map(|limit| 1 + self.below(limit))
    }
}

struct Anchor {
    base: [u32; 3],
    cells: BTreeSet<u32>,
    nodes: Nodes,
}

struct Placement {
    sides: [u32; 3],
    size: u32,
    anchors: Vec<Anchor>,
    overlaps: bool,
}

struct Torus {
    sides: [u32; 3],
    /// The node of each cell, or `None` for a hole.
    nodes: Vec<Option<u32>>,
    placements: Vec<Placement>,
}

/// A machine and its `topology.yaml`.
struct Machine {
    toruses: Vec<Torus>,
    nodes: u32,
    yaml: String,
}

/// Returns the positions of rule A1: steps of `step` from `seed` until `seed` recurs.
fn positions(length: u32, step: u32, seed: u32) -> Vec<u32> {
    let mut all = vec![seed];
    let mut at = (seed + step) % length;
    while at != seed {
        all.push(at);
        at = (at + step) % length;
    }
    all
}

fn map([x, y, z]: [u32; 3]) -> String {
    format!("{{x: {x}, y: {y}, z: {z}}}")
}

impl Torus {
    fn cell(&self, [x, y, z]: [u32; 3]) -> u32 {
        x + self.sides[0] * (y + self.sides[1] * z)
    }

    fn coord(&self, cell: u32) -> [u32; 3] {
        [
            cell % self.sides[0],
            cell / self.sides[0] % self.sides[1],
            cell / self.sides[0] / self.sides[1],
        ]
    }

    fn anchor(&self, base: [u32; 3], sides: [u32; 3]) -> Anchor {
        let mut cells = BTreeSet::new();
        for x in 0..sides[0] {
            for y in 0..sides[1] {
                for z in 0..sides[2] {
                    let at = [base[0] + x, base[1] + y, base[2] + z];
                    cells.insert(self.cell([0, 1, 2].map(|axis| at[axis] % self.sides[axis])));
                }
            }
        }
        let nodes = cells.iter().filter_map(|&cell| self.nodes[cell as usize]).collect();
        Anchor { base, cells, nodes }
    }

    /// Adds a random placement and writes its entry into the file.
    fn allow(&mut self, rng: &mut Rng, yaml: &mut String) {
        let sides = rng.sides(self.sides);
        let spacing = self.sides.map(|side| if rng.percent(40) { 0 } else { 1 + rng.below(side) });
        let seed = self.sides.map(|side| if rng.percent(60) { 0 } else { rng.below(side) });
        writeln!(
            yaml,
            "          - {{dims: {}, anchor_spacing: {}, anchor_seed: {}}}",
            map(sides),
            map(spacing),
            map(seed)
        )
        .expect("text");
        let along = |axis: usize| {
            let step = if spacing[axis] == 0 { sides[axis] } else { spacing[axis] };
            positions(self.sides[axis], step, seed[axis])
        };
        let mut anchors = Vec::new();
        for x in along(0) {
            for y in along(1) {
                for z in along(2) {
                    anchors.push(self.anchor([x, y, z], sides));
                }
            }
        }
        let size = sides.iter().product();
        self.placements.push(Placement { sides, size, anchors, overlaps: false });
    }

    /// Sorts the placements by size (rule A5) and marks those whose anchors overlap (rule A6).
    fn order(&mut self) {
        self.placements.sort_by_key(|one| one.size);
        let overlaps = |index: usize| {
            let of_size = |one: &&Placement| one.size == self.placements[index].size;
            let mine = &self.placements[index].anchors;
            let all = self.placements.iter().filter(of_size).flat_map(|one| &one.anchors);
            let share = |one: &Anchor, other: &Anchor| {
                !std::ptr::eq(one, other) && !one.cells.is_disjoint(&other.cells)
            };
            all.into_iter().any(|other| mine.iter().any(|one| share(one, other)))
        };
        let all: Vec<bool> = (0..self.placements.len()).map(overlaps).collect();
        self.placements.iter_mut().zip(all).for_each(|(one, overlaps)| one.overlaps = overlaps);
    }
}

impl Machine {
    fn draw(rng: &mut Rng) -> Self {
        let mut machine = Machine { toruses: Vec::new(), nodes: 0, yaml: String::new() };
        let yaml = &mut machine.yaml;
        yaml.push_str("- topology: m\n  torus3d:\n    toruses:\n");
        for index in 0..1 + rng.below(3) {
            let sides = rng.sides([6, 5, 4]);
            writeln!(yaml, "      - name: t{index}\n        dims: {}", map(sides)).expect("text");
            let cells = sides.iter().product::<u32>();
            let holes = rng.percent(40);
            let mut torus = Torus { sides, nodes: Vec::new(), placements: Vec::new() };
            for _ in 0..cells {
                let node = (!holes || !rng.percent(7)).then_some(machine.nodes);
                machine.nodes += u32::from(node.is_some());
                torus.nodes.push(node);
            }
            if torus.nodes.iter().all(Option::is_none) {
                torus.nodes[0] = Some(machine.nodes);
                machine.nodes += 1;
            }
            yaml.push_str("        regions:\n");
            for (cell, node) in torus.nodes.iter().enumerate() {
                let Some(node) = node else { continue };
                let at = map(torus.coord(cell as u32));
                writeln!(
                    yaml,
                    "          - {{anchor: {at}, dims: {{x: 1, y: 1, z: 1}}, nodes: n{node}}}"
                )
                .expect("text");
            }
            // The first torus always has placements; other toruses may have no placement.
            let count = if index > 0 && rng.percent(8) { 0 } else { 1 + rng.below(5) };
            if count > 0 {
                yaml.push_str("        placements:\n");
            }
            (0..count).for_each(|_| torus.allow(rng, yaml));
            torus.order();
            machine.toruses.push(torus);
        }
        machine
    }

    /// Selects a placement by rules D2 to D8. Returns the indices of torus, placement and anchor,
    /// and the cost.
    fn decide(
        &self,
        free: &Nodes,
        size: u32,
        needed: &Nodes,
        weights: &[u64],
    ) -> Option<[usize; 4]> {
        let mut best: Option<([usize; 4], u64, usize)> = None;
        for (t, torus) in self.toruses.iter().enumerate() {
            let count = torus.nodes.iter().flatten().filter(|node| free.contains(node)).count();
            for (p, placement) in torus.placements.iter().enumerate() {
                for (a, anchor) in placement.anchors.iter().enumerate() {
                    let is_candidate = placement.size == size
                        && anchor.nodes.len() == anchor.cells.len()
                        && anchor.nodes.is_subset(free)
                        && anchor.nodes.is_superset(needed);
                    if !is_candidate {
                        continue;
                    }
                    let weight = anchor.nodes.iter().map(|&node| weights[node as usize]).max();
                    let weight = weight.unwrap_or(0);
                    let next = torus.placements[p..].iter().find(|one| one.size > size);
                    let lost = |other: &&Anchor| {
                        !other.nodes.is_disjoint(&anchor.nodes) && other.nodes.is_subset(free)
                    };
                    let cost = next.map_or(0, |next| next.anchors.iter().filter(lost).count());
                    let better = match &best {
                        None => true,
                        Some((other, heaviest, fewest)) => {
                            let same = (other[0], other[1]) == (t, p);
                            if weight != *heaviest {
                                weight < *heaviest
                            } else if same && cost != other[3] {
                                cost < other[3]
                            } else {
                                count < *fewest
                            }
                        }
                    };
                    if better {
                        best = Some(([t, p, a, cost], weight, count));
                    }
                }
            }
        }
        best.map(|(pick, ..)| pick)
    }

    fn anchor(&self, pick: &[usize; 4]) -> &Anchor {
        &self.toruses[pick[0]].placements[pick[1]].anchors[pick[2]]
    }

    /// Places a job in segments of `part` nodes by rules S1 to S5.
    fn parts(
        &self,
        free: &Nodes,
        size: u32,
        part: u32,
        weights: &[u64],
    ) -> Result<Vec<[usize; 4]>, &'static str> {
        let order: Vec<u32> = free.iter().copied().collect();
        let (mut free, mut cursor, mut why) = (free.clone(), 0, None);
        loop {
            let (mut left, mut picks) = (free.clone(), Vec::new());
            while (picks.len() as u32) < size / part {
                let Some(pick) = self.decide(&left, part, &Nodes::new(), weights) else { break };
                left = &left - &self.anchor(&pick).nodes;
                picks.push(pick);
            }
            if picks.len() as u32 == size / part {
                return Ok(picks);
            }
            let failed = if picks.is_empty() { "no_fit" } else { "segment_no_fit" };
            let why = *why.get_or_insert(failed);
            let overlaps = |pick: &[usize; 4]| self.toruses[pick[0]].placements[pick[1]].overlaps;
            if !picks.iter().any(overlaps) || free.len() as u32 <= size {
                return Err(why);
            }
            let Some(&from) = order.get(cursor) else { return Err(why) };
            let chosen: Nodes =
                picks.iter().flat_map(|pick| self.anchor(pick).nodes.iter().copied()).collect();
            let Some(&node) = chosen.range(from..).next() else { return Err(why) };
            free.remove(&node);
            cursor += usize::from(node == from);
        }
    }

    /// Checks a request by rules D1, S1 and R1 to R3, then places it.
    ///
    /// # Errors
    ///
    /// The status of the refusal.
    fn place(&self, case: &Case) -> Result<Vec<[usize; 4]>, &'static str> {
        let Case { free, required, size, segment, weights, .. } = case;
        let part = segment.filter(|part| part <= size).unwrap_or(*size);
        let mut placements = self.toruses.iter().flat_map(|torus| &torus.placements);
        if part == 0 || size % part != 0 || !placements.any(|one| one.size == part) {
            return Err("bad_config");
        }
        if !required.is_subset(free) {
            return Err("req_not_avail");
        }
        let of = |torus: &Torus| torus.nodes.iter().flatten().copied().collect::<Nodes>();
        let unplaced = |torus: &&Torus| torus.placements.is_empty();
        if self.toruses.iter().filter(unplaced).any(|torus| !of(torus).is_disjoint(required)) {
            return Err("req_no_match");
        }
        let count = required.len() as u32;
        if count > *size {
            return Err("req_too_many");
        }
        if part == *size {
            return self
                .decide(free, *size, required, weights)
                .map(|pick| vec![pick])
                .ok_or("no_fit");
        }
        match count {
            0 => self.parts(free, *size, part, weights),
            few if few < *size => Err("bad_config"),
            _ => self.parts(required, *size, part, weights),
        }
    }

    /// Returns the fragmentation by rule F1.
    fn fragmentation(&self, free: &Nodes) -> u32 {
        let placements = self.toruses.iter().flat_map(|torus| &torus.placements);
        let blocked = |one: &Placement| {
            one.anchors.iter().filter(|anchor| !anchor.nodes.is_subset(free)).count() as u32
                * one.size
        };
        placements.map(blocked).sum()
    }

    /// Returns the nodes of a job in rank order by rules K1 to K5.
    fn ranks(&self, job: &Nodes) -> String {
        let mut keys = BTreeSet::new();
        for (index, torus) in self.toruses.iter().enumerate() {
            let mine: BTreeMap<u32, [u32; 3]> = (0u32..)
                .zip(&torus.nodes)
                .filter_map(|(cell, node)| {
                    Some((node.filter(|node| job.contains(node))?, torus.coord(cell)))
                })
                .collect();
            let whole = mine.len() == torus.nodes.iter().flatten().count();
            let arcs = [0, 1, 2].map(|axis| {
                let used: BTreeSet<u32> = mine.values().map(|at| at[axis]).collect();
                if whole {
                    (0, torus.sides[axis])
                } else {
                    arc(&used.into_iter().collect::<Vec<_>>(), torus.sides[axis])
                }
            });
            // On these small toruses, the codes keep all bits.
            let bits = arcs.map(|(_, span)| (0..).find(|bits| 1 << bits >= span).unwrap_or(0));
            for (&node, at) in &mine {
                let at = [0, 1, 2]
                    .map(|axis| (at[axis] + torus.sides[axis] - arcs[axis].0) % torus.sides[axis]);
                let (mut code, mut place) = (0u64, 0);
                for bit in 0..16 {
                    for axis in (0..3).filter(|&axis| bit < bits[axis]) {
                        code |= u64::from(at[axis] >> bit & 1) << place;
                        place += 1;
                    }
                }
                keys.insert(((index as u64 + 1) * 65536 + code, node));
            }
        }
        keys.iter().map(|(_, node)| node.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the columns that `replay place` adds to a row.
    fn answer(&self, case: &Case) -> [String; 6] {
        let before = self.fragmentation(&case.free).to_string();
        let picks = match self.place(case) {
            Err(status) => {
                let none = String::new();
                return [status.into(), none.clone(), none.clone(), before.clone(), before, none];
            }
            Ok(picks) => picks,
        };
        let job: Nodes =
            picks.iter().flat_map(|pick| self.anchor(pick).nodes.iter().copied()).collect();
        let shown = picks.iter().map(|pick| {
            let [[w, d, h], [x, y, z]] =
                [self.toruses[pick[0]].placements[pick[1]].sides, self.anchor(pick).base];
            format!("t{}:{w}x{d}x{h}@{x}-{y}-{z}:{}", pick[0], pick[3])
        });
        let after = self.fragmentation(&(&case.free - &job)).to_string();
        let shown = shown.collect::<Vec<_>>().join(";");
        ["ok".into(), ranges(&job), shown, before, after, self.ranks(&job)]
    }
}

/// Returns the start and the span of the shortest arc that covers the used positions (rule K3).
fn arc(used: &[u32], length: u32) -> (u32, u32) {
    let (Some(&first), Some(&last)) = (used.first(), used.last()) else { return (0, 1) };
    let count = used.len() as u32;
    if count == 1 {
        return (first, 1);
    }
    if count == length {
        return (0, length);
    }
    if 2 * (last - first) < length + count {
        return (first, last - first + 1);
    }
    let (mut gap, mut start) = (length - (last - first + 1), first);
    for i in 1..used.len() {
        let inner = used[i] - used[i - 1] - 1;
        if inner > gap {
            (gap, start) = (inner, used[i]);
        }
    }
    (start, length - gap)
}

fn ranges(nodes: &Nodes) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &node in nodes {
        match runs.last_mut() {
            Some(run) if run.1 + 1 == node => run.1 = node,
            _ => runs.push((node, node)),
        }
    }
    let shown = |&(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    runs.iter().map(shown).collect::<Vec<_>>().join(",")
}

fn matches_the_rules_in_two_thousand_decisions() {
    let mut rng = Rng(20_260_501);
    let machines: Vec<Machine> = (0..MACHINES).map(|_| Machine::draw(&mut rng)).collect();
    let cases: Vec<Case> = (0..DECISIONS).map(|_| Case::draw(&mut rng, &machines)).collect();
    let mut table = String::from("topology,weights,free,required,n,segment\n");
    cases.iter().for_each(|case| table += &(row(&case.fields()) + "\n"));
    let dir = machines.iter().enumerate().fold(Dir::new(), |dir, (index, machine)| {
        dir.file(&format!("m/m{index}.yaml"), &machine.yaml)
    });
    let out = dir.file("c.csv", table).replay("place --machines m --cases c.csv -q").code(0);
    let mut counts = BTreeMap::new();
    let rows: Vec<&str> = out.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), DECISIONS);
    for (index, (case, got)) in cases.iter().zip(rows).enumerate() {
        let answer = machines[case.machine].answer(case);
        *counts.entry(answer[0].clone()).or_insert(0) += 1;
        let expected = row(&[&case.fields()[..], &answer[..]].concat());
        assert_eq!(got, expected, "decision {index} on\n{}", machines[case.machine].yaml);
    }
    // Every status occurs, and most decisions place a job.
    assert_eq!(counts.len(), 7, "{counts:?}");
    assert!(counts["ok"] > DECISIONS / 3 && counts.values().all(|&count| count >= 5), "{counts:?}");
}
