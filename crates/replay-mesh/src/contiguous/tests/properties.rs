//! Compares every strategy with its brute-force definition in random states.

use std::collections::HashMap;

use crate::contiguous::reference::{self, bases, frame, grid};
use crate::contiguous::scan::Scan;
use crate::contiguous::tests::{MESH_STRATEGIES, choice, on_empty, request, serve};
use proptest::prelude::*;
use replay_contract::{Expected, Oracle, starts_and_ends};
use replay_engine::allocator::submesh::{SubMesh, permutations, volume};
use replay_engine::allocator::{MachineEvent, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, NodeId, Topology};

const BUSY: usize = 256;
const MESHES: [&str; 6] = ["6x6", "7x5", "12x9", "3x4x5", "5x5x2", "2x70"];
const TORI: [&str; 5] =
    ["torus:6x5", "torus[x]:7x4", "torus:3x70", "torus:4x3x5", "torus[z]:3x3x4"];

/// Checks every processor and returns the number of free neighbours of a frame.
fn free_neighbours(machine: &Machine, base: Coord, sides: [u16; 3]) -> usize {
    let grid = grid(machine);
    let cells = frame(grid, base, sides).expect("on the grid");
    let beside = |node: NodeId| cells.iter().any(|&cell| grid.l1(cell, grid.coord(node)) == 1);
    machine.free_nodes().filter(|&n| !cells.contains(&grid.coord(n)) && beside(n)).count()
}

/// Returns the best base by `measure=candidates`.
fn by_candidates(machine: &Machine, bases: &[Coord]) -> Option<Coord> {
    let grid = grid(machine);
    let neighbours = |a: Coord| bases.iter().copied().filter(move |&b| grid.l1(a, b) == 1);
    let area = |base: Coord| {
        let mut area = vec![base];
        let mut walked = 0;
        while walked < area.len() {
            let new: Vec<_> = neighbours(area[walked]).filter(|n| !area.contains(n)).collect();
            area.extend(new);
            walked += 1;
        }
        walked
    };
    bases.iter().copied().min_by_key(|&base| (neighbours(base).count(), area(base)))
}

/// Returns the best base by `measure=smallest-box`. The function examines all boxes of the mesh.
fn by_smallest_box(machine: &Machine, sides: [u16; 3]) -> Option<Coord> {
    let grid = grid(machine);
    let extents = grid.axes().map(|axis| axis.extent);
    let mut best: Option<((u64, u32), Coord)> = None;
    for base in grid.coords() {
        for w in sides[0]..=extents[0] {
            for d in sides[1]..=extents[1] {
                for h in sides[2]..=extents[2] {
                    let free = [w, d, h];
                    let key = (volume(free), Scan::RowMajor.rank(grid, base));
                    if best.is_some_and(|(least, _)| least <= key)
                        || !reference::is_free(machine, base, free)
                    {
                        continue;
                    }
                    let can_grow = (0..3).any(|i| {
                        let (mut longer, mut lower) = (free, base);
                        longer[i] += 1;
                        lower[i] = lower[i].wrapping_sub(1);
                        reference::is_free(machine, base, longer)
                            || base[i] > 0 && reference::is_free(machine, lower, longer)
                    });
                    if !can_grow {
                        best = Some((key, base));
                    }
                }
            }
        }
    }
    best.map(|(_, base)| base)
}

/// Returns the first base that Frame Sliding would examine and find free.
fn by_sliding(machine: &Machine, sides: [u16; 3], walls: bool) -> Option<Coord> {
    let start = *bases(machine, [1; 3], Scan::RowMajor).first()?;
    let [outer, middle, inner] = Scan::RowMajor.axes(grid(machine));
    let strides = |axis: usize, base: &Coord, begin: u16| {
        base[axis] >= begin && (base[axis] - begin).is_multiple_of(sides[axis])
    };
    let is_examined = |base: &Coord| {
        if !walls {
            return (0..3).all(|axis| strides(axis, base, start[axis]));
        }
        let first_plane = base[outer] == start[outer];
        let first_row = first_plane && base[middle] == start[middle];
        strides(outer, base, start[outer])
            && strides(middle, base, if first_plane { start[middle] } else { 0 })
            && (strides(inner, base, if first_row { start[inner] } else { 0 })
                || base[inner] + sides[inner] == grid(machine).axes()[inner].extent)
    };
    bases(machine, sides, Scan::RowMajor).into_iter().find(is_examined)
}

/// Returns the choice of the published Adaptive Scan in 2D, which uses a list of sub-meshes.
fn by_adaptive_scan(
    machine: &Machine,
    held: &[SubMesh],
    sides: [u16; 3],
) -> Option<(Coord, [u16; 3])> {
    let [width, length, _] = grid(machine).axes().map(|axis| axis.extent);
    for [w, l] in [[sides[0], sides[1]], [sides[1], sides[0]]] {
        for y in 0..(length + 1).saturating_sub(l) {
            let mut x = 0;
            while x + w <= width {
                let frame = SubMesh { base: [x, y, 0], sides: [w, l, 1] };
                let blockers = held.iter().filter(|held| held.overlaps(&frame));
                match blockers.map(|blocker| blocker.end()[0]).max() {
                    None => return Some((frame.base, frame.sides)),
                    Some(end) => x = end + 1,
                }
            }
        }
    }
    None
}

/// The sub-meshes of the running jobs, by their first processors.
#[derive(Default)]
struct SubMeshes(HashMap<NodeId, SubMesh>);

impl Oracle for SubMeshes {
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        let held: Vec<SubMesh> = self.0.values().copied().collect();
        let found = by_adaptive_scan(machine, &held, request.shape.expect("a shape"));
        found
            .map(|(base, sides)| {
                let nodes = reference::nodes(grid(machine), base, sides);
                self.0.insert(nodes[0], SubMesh { base, sides });
                nodes
            })
            .into()
    }

    fn on_event(&mut self, _: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(nodes) = event {
            self.0.remove(&nodes[0]).expect("a job");
        }
    }
}

/// Generates a machine with busy boxes and single busy processors, so that free frames of all sizes
/// occur.
fn any_machine(names: Vec<&'static str>) -> impl Strategy<Value = Machine> {
    let boxes = proptest::collection::vec(proptest::array::uniform6(0u16..100), 0..5);
    let noise = proptest::collection::vec(0.0..1.0f64, BUSY);
    (proptest::sample::select(names), boxes, noise, 0.0..0.5f64).prop_map(
        |(name, boxes, noise, density)| {
            let topology: Topology = name.parse().expect("a machine");
            let grid = topology.grid().expect("a grid");
            let mut busy: Vec<_> = noise.iter().map(|&n| n < density * density).collect();
            for [x, y, z, w, d, h] in boxes {
                let extents = grid.axes().map(|axis| axis.extent);
                let base = [x % extents[0], y % extents[1], z % extents[2]];
                let sides = [1 + w % 3, 1 + d % 3, 1 + h % 3];
                for cell in frame(grid, base, sides).unwrap_or_default() {
                    busy[grid.node(cell).index()] = true;
                }
            }
            reference::machine(name, &busy)
        },
    )
}

fn on_grid(machine: &Machine, sides: [u16; 3]) -> [u16; 3] {
    if grid(machine).dimensions() == 2 { [sides[0], sides[1], 1] } else { sides }
}

fn whole(machines: &[&[&'static str]]) -> Vec<&'static str> {
    machines.concat()
}

proptest! {
    /// Checks that First Fit takes the first base and finds a free frame of the requested
    /// orientation whenever such a frame exists. For Turning First Fit, checks that it finds a free
    /// frame of any orientation.
    #[test]
    fn first_fit_takes_the_first_base(
        machine in any_machine(whole(&[&MESHES, &TORI])),
        sides in proptest::array::uniform3(1u16..5),
    ) {
        let sides = on_grid(&machine, sides);
        for (scan, option) in [(Scan::RowMajor, ""), (Scan::ColumnMajor, "scan=column-major")] {
            let first = |sides| Some((*bases(&machine, sides, scan).first()?, sides));
            let name = format!("first-fit[{option}]");
            prop_assert_eq!(choice(&name, &machine, sides), first(sides));
            let turned = permutations(sides, grid(&machine).dimensions()).find_map(first);
            prop_assert_eq!(choice(&format!("turning-{name}"), &machine, sides), turned);
        }
    }

    #[test]
    fn best_fit_takes_the_best_base(
        machine in any_machine(whole(&[&MESHES, &TORI])),
        sides in proptest::array::uniform3(1u16..5),
    ) {
        let sides = on_grid(&machine, sides);
        let dimensions = grid(&machine).dimensions();
        type Best<'a> = &'a dyn Fn([u16; 3]) -> Option<Coord>;
        let measures: [(&str, Best); 3] = [
            ("surroundings", &|sides| {
                let bases = bases(&machine, sides, Scan::RowMajor).into_iter();
                bases.min_by_key(|&base| free_neighbours(&machine, base, sides))
            }),
            ("candidates", &|sides| {
                by_candidates(&machine, &bases(&machine, sides, Scan::RowMajor))
            }),
            ("smallest-box", &|sides| by_smallest_box(&machine, sides)),
        ];
        for (measure, best) in measures {
            if measure == "smallest-box" && grid(&machine).is_wrapped() {
                continue;
            }
            let best = |sides| Some((best(sides)?, sides));
            let name = format!("best-fit[measure={measure}]");
            prop_assert_eq!(choice(&name, &machine, sides), best(sides), "{}", &name);
            let turned = permutations(sides, dimensions).find_map(best);
            prop_assert_eq!(choice(&format!("turning-{name}"), &machine, sides), turned, "{}", &name);
        }
    }

    #[test]
    fn frame_sliding_examines_frames_at_its_strides(
        machine in any_machine(MESHES.to_vec()),
        sides in proptest::array::uniform3(1u16..5),
    ) {
        let sides = on_grid(&machine, sides);
        for (name, walls) in [("frame-sliding", true), ("frame-sliding[rows=first]", false)] {
            let expected = by_sliding(&machine, sides, walls).map(|base| (base, sides));
            prop_assert_eq!(choice(name, &machine, sides), expected, "{}", name);
        }
    }

    /// In a history of starts and ends, Adaptive Scan chooses the same sub-meshes as the published
    /// procedure with a list of sub-meshes. At the end all processors are free again.
    #[test]
    fn adaptive_scan_slides_past_blockers(
        topology in proptest::sample::select(vec!["6x6", "9x7", "12x5"]),
        history in starts_and_ends(1..50),
    ) {
        let mut bench = on_empty("adaptive-scan", topology).with_oracle(SubMeshes::default());
        let side = |share: f64| 1 + (5.0 * share) as u16;
        bench.run(&history, |_, a, b| request([side(a), side(b), 1]), |bench| {
            assert_eq!(bench.census().busy_list as usize, bench.running());
        });
        bench.end_all();
    }

    /// Every strategy keeps the contract and allocates one unit to each job. At the end one job can
    /// get the whole machine, in order.
    #[test]
    fn every_strategy_keeps_the_contract(
        topology in proptest::sample::select(vec!["6x6", "9x5", "4x3x5"]),
        history in starts_and_ends(1..50),
    ) {
        for name in MESH_STRATEGIES {
            let mut bench = on_empty(name, topology);
            prop_assert!(!bench.allocator.capabilities().keeps_schedule);
            let wanted = |_: &Machine, a: f64, b: f64| {
                let size = 1 + (19.0 * a) as u32;
                let sides = [1 + (size % 4) as u16, 1 + (size / 4) as u16, 1];
                if b < 0.5 { Request::of_size(size) } else { request(sides) }
            };
            bench.run(&history, wanted, |bench| {
                assert_eq!(bench.census().busy_list as usize, bench.running(), "{name}");
                bench.refuses_by_count();
            });
            bench.end_all();
            let whole = bench.grid().axes().map(|axis| axis.extent);
            let place = serve(&mut bench, whole);
            prop_assert_eq!(place, Some(SubMesh { base: [0; 3], sides: whole }), "{}", name);
        }
    }
}
