use crate::torus3d::*;
use replay_engine::allocator::Times;
use replay_engine::topology::Topology;

fn built(name: &str, machine: &str) -> Result<(Box<dyn Allocator>, Machine), String> {
    let topology: Topology = machine.parse().expect(machine);
    let spec = crate::allocator(name).expect(name);
    let allocator = spec.build(&topology, 0).map_err(|e| e.to_string())?;
    Ok((allocator, Machine::new(topology)))
}

fn start(bench: &mut (Box<dyn Allocator>, Machine), size: u32) -> Result<Vec<[u16; 3]>, Refusal> {
    start_at(bench, size, Times::default())
}

fn start_at(
    (allocator, machine): &mut (Box<dyn Allocator>, Machine),
    size: u32,
    times: Times,
) -> Result<Vec<[u16; 3]>, Refusal> {
    let mut chosen = Vec::new();
    allocator.allocate(machine, Request { times, ..Request::of_size(size) }, &mut chosen)?;
    machine.occupy(&chosen);
    let grid = machine.topology().grid().expect("a grid");
    Ok(chosen.iter().map(|&node| grid.coord(node)).collect())
}

/// Vector V18 of the rule, as jobs of a replay.
#[test]
fn places_jobs_by_the_rule_without_a_file() {
    let menu = "slurm-torus3d[menu=list:2x2x2+2x2x4+4x4x4+8x8x8,orient=all]";
    let mut bench = built(menu, "torus:8x8x8").expect("works");
    let corners = [64, 8, 16, 8, 64, 16, 8].map(|size| {
        let cells = start(&mut bench, size).expect("fits");
        assert_eq!(cells.len(), size as usize);
        [0, 1, 2].map(|axis| cells.iter().map(|cell| cell[axis]).min().expect("some"))
    });
    let expected = [[0, 0, 0], [0, 0, 4], [0, 2, 4], [0, 0, 6], [0, 4, 0], [2, 0, 4], [0, 4, 4]];
    assert_eq!(corners, expected);
}

fn end((allocator, machine): &mut (Box<dyn Allocator>, Machine), cells: &[[u16; 3]]) {
    let grid = machine.topology().grid().expect("a grid").clone();
    let nodes: Vec<NodeId> = cells.iter().map(|&at| grid.node(at)).collect();
    machine.release(&nodes);
    allocator.on_event(machine, MachineEvent::Released(&nodes));
}

/// There are three boxes of four processors. One box is busy for a long time. The other two boxes are half busy: the
/// first for 10 s, and the second for 1,000 s.
#[test]
fn minimizes_the_delay_of_larger_jobs() {
    let halves = |tie: &str| {
        let name = format!("placements[menu=list:2x1x1+4x1x1{tie}]");
        let mut bench = built(&name, "12x1").expect("works");
        let limits = [10, 5, 1000, 5].map(|limit| Times {
            now: 100,
            limit: Some(limit),
            submitted: None,
            job: None,
        });
        let jobs = limits.map(|times| start_at(&mut bench, 2, times).expect("fits"));
        assert_eq!(jobs.each_ref().map(|cells| cells[0][0]), [0, 2, 4, 6]);
        start_at(&mut bench, 4, Times { now: 100, limit: Some(1000), submitted: None, job: None })
            .expect("fits");
        end(&mut bench, &jobs[1]);
        end(&mut bench, &jobs[3]);
        bench
    };
    // Returns the position of a new job that has this estimate and arrives 5 s later.
    let first_position = |tie: &str, limit: Option<u32>| {
        let cells =
            start_at(&mut halves(tie), 2, Times { now: 105, limit, submitted: None, job: None })
                .expect("fits");
        cells[0][0]
    };
    let delay = ",tie=0,0,0,0,0,1";
    assert_eq!(
        first_position(",tie=slurm", Some(500)),
        2,
        "Slurm's rule takes the first of equals"
    );
    assert_eq!(first_position(delay, Some(500)), 6);
    assert_eq!(first_position(delay, Some(5)), 2);
    // Without an estimate, the mean of the other jobs, about 400 s, is used.
    assert_eq!(first_position(delay, None), 6);
    // The job is placed next to the job that ends at the same time.
    let same_end = ",tie=0,0,0,0,1";
    assert_eq!(first_position(same_end, Some(5)), 2);
    assert_eq!(first_position(same_end, Some(1000)), 6);
    assert_eq!(first_position(same_end, None), 2, "its end is not known");
    // A new replay starts without statistics.
    let mut bench = halves(delay);
    bench.0.begin(&RunSetup::default()).expect("it works");
    bench.1 = Machine::new(bench.1.topology().clone());
    assert_eq!(start(&mut bench, 4).map(|cells| cells[0]), Ok([0, 0, 0]));
}

#[test]
fn weights_replace_the_rule_of_slurm() {
    let name = |text: &str| crate::allocator(text).map(|spec| spec.to_string());
    assert_eq!(name("slurm-torus3d[tie=slurm]").as_deref(), Ok("slurm-torus3d"));
    assert_eq!(name("placements[tie=auto]").as_deref(), Ok("placements"));
    let identity = |text: &str| crate::allocator(text).map(|spec| spec.identity());
    assert_eq!(identity("placements[segment=8,tie=slurm]"), identity("placements[segment=8]"));
    assert_ne!(identity("placements[tie=slurm]"), identity("placements"));
    assert_eq!(name("placements[tie=1,0,0]").as_deref(), Ok("placements[tie=1]"));
    for bad in ["placements[tie=1,2,3,4,5,6,7]", "placements[tie=much]", "placements[slack=-1]"] {
        assert!(name(bad).is_err(), "{bad}");
    }
    let segments = built("slurm-torus3d[menu=list:2x2x2,segment=8,tie=1]", "torus:4x4x4").err();
    assert!(segments.expect("refused").contains("segment"));
    // With a weight on walls, the corners of a mesh are preferred to its middle.
    let mut mesh = built("placements[menu=list:1x1x1,tie=0,0,0,1]", "3x3").expect("works");
    let corners: Vec<_> = (0..4).map(|_| start(&mut mesh, 1).expect("fits")[0]).collect();
    assert_eq!(corners, [[0, 0, 0], [0, 2, 0], [2, 0, 0], [2, 2, 0]]);
}

#[test]
fn released_boxes_are_reused_in_rank_order() {
    let mut bench = built("slurm-torus3d", "torus:4x4x4").expect("works");
    let first = start(&mut bench, 8).expect("fits");
    // The processors of a cube along its Morton curve; x varies fastest.
    let cube =
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]];
    // The flat boxes of 8 processors come first.
    assert_eq!(first[0], [0, 0, 0]);
    assert_eq!(start(&mut bench, 64), Err(Refusal::TooFewFree));
    end(&mut bench, &first);
    let (allocator, _) = &mut bench;
    assert_eq!(allocator.stats().census.map(|census| census.busy_list), Some(0));
    let mut cubes = built("slurm-torus3d[menu=list:2x2x2]", "torus:4x4x4").expect("works");
    assert_eq!(start(&mut cubes, 8), Ok(cube.to_vec()));
    assert_eq!(start(&mut bench, 64).map(|cells| cells.len()), Ok(64));
}

#[test]
fn sizes_off_the_menu_never_start_or_are_rounded_up() {
    let mut exact = built("slurm-torus3d", "torus:4x4x4").expect("works");
    assert!(!exact.0.bounds(Request::of_size(3)).servable);
    assert!(exact.0.bounds(Request::of_size(4)).servable);
    let mut up = built("placements", "4x4").expect("works");
    assert_eq!(up.0.bounds(Request::of_size(3)).max_processors, 4);
    assert_eq!(start(&mut up, 3).map(|cells| cells.len()), Ok(4));
    assert!(!up.0.bounds(Request::of_size(17)).servable);
}

#[test]
fn parts_of_a_job_are_separate_boxes() {
    let name = "slurm-torus3d[menu=list:2x2x2,segment=8]";
    let mut bench = built(name, "torus:4x4x4").expect("works");
    assert_eq!(start(&mut bench, 24).map(|cells| cells.len()), Ok(24));
    assert_eq!(
        bench.0.stats().census.map(|census| (census.blocks, census.busy_list)),
        Some((3, 3))
    );
    assert!(!bench.0.bounds(Request::of_size(12)).servable);
}

#[test]
fn slurm_torus3d_requires_a_3d_torus() {
    let refused = |name, machine| built(name, machine).err().expect("refused");
    assert!(refused("slurm-torus3d", "4x4x4").contains("needs a torus"));
    assert!(refused("slurm-torus3d", "torus:4x4").contains("three dimensions"));
    assert!(refused("placements[menu=all]", "32x32").contains("512"));
    // The box at the last position ends at the wall.
    let mut mesh = built("placements[menu=list:2x2x1]", "5x2").expect("works");
    assert_eq!(start(&mut mesh, 4).map(|cells| cells[0]), Ok([0, 0, 0]));
    assert_eq!(start(&mut mesh, 4).map(|cells| cells[0]), Ok([2, 0, 0]));
    assert_eq!(start(&mut mesh, 4), Err(Refusal::TooFewFree));
}

/// On a torus, boxes wrap around an axis of extent two, as around all other axes. On a mesh, an axis of extent two has
/// walls.
#[test]
fn an_axis_of_two_of_a_torus_has_no_walls() {
    use crate::placement::menu::wrapped;
    let of = |machine: &str| {
        let topology: Topology = machine.parse().expect("a machine");
        wrapped(topology.grid().expect("a grid"))
    };
    assert_eq!(of("torus:8x8x2"), [true; 3]);
    assert_eq!(of("8x8x2"), [false; 3]);
    assert_eq!(of("2x2x2"), [false; 3]);
}

/// The frequencies include the requesting job, so a box of its size has a worth even if this size has not been
/// requested before.
#[test]
fn the_requesting_job_is_counted() {
    // The first job prefers the position that overlaps the fewest equal boxes. On a row of five processors, this
    // position is next to a wall.
    let mut bench = built("placements[menu=list:2x1x1,tie=0,1,anchors=all]", "5x1").expect("works");
    let cells = start(&mut bench, 2).expect("fits");
    assert_eq!(cells[0][0], 0);
    let mut bench =
        built("placements[menu=list:2x1x1,tie=0,-1,anchors=all]", "5x1").expect("works");
    let cells = start(&mut bench, 2).expect("fits");
    assert_eq!(cells[0][0], 1, "it meets two others there");
}

/// Builds an allocator from a file, on the machine that the file describes; processors are numbered as in the rule's
/// vectors.
fn described(toruses: &str, parameters: &str) -> (Box<dyn Allocator>, Machine) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let text = format!("- topology: t\n  torus3d:\n    toruses:\n{toruses}");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("written");
    let path = file.path().display();
    let spec =
        crate::allocator(&format!("slurm-torus3d[file={path}{parameters}]")).expect("a strategy");
    let options = spec.options::<PlacementOptions>().expect("options of boxes");
    let machine = options.described().expect("a machine").expect("the file describes a machine");
    (spec.build(&machine, 0).expect("works"), Machine::new(machine))
}

fn torus(name: &str, nodes: &str, placements: &str) -> String {
    format!(
        "    - {{name: {name}, dims: {{x: 4, y: 2, z: 1}}, {nodes}, placements: [{placements}]}}\n"
    )
}

fn numbers(bench: &mut (Box<dyn Allocator>, Machine), size: u32) -> Option<Vec<u32>> {
    let (allocator, machine) = bench;
    let mut chosen = Vec::new();
    allocator.allocate(machine, Request::of_size(size), &mut chosen).ok()?;
    machine.occupy(&chosen);
    let mut numbers: Vec<u32> = chosen.iter().map(|node| node.0).collect();
    numbers.sort_unstable();
    Some(numbers)
}

const SQUARE: &str = "{dims: {x: 2, y: 2, z: 1}}";

/// Vectors V10 and V11 of the rule, as jobs of a replay.
#[test]
fn the_fuller_of_several_tori_wins() {
    let tori = torus("a", "nodes: 'a[0-7]'", SQUARE) + &torus("b", "nodes: 'b[0-7]'", SQUARE);
    let mut bench = described(&tori, "");
    assert_eq!(bench.1.processors(), 16);
    let (allocator, machine) = &mut bench;
    // These processors go out of service.
    let busy = [10, 11, 14, 15].map(NodeId);
    machine.withdraw(&busy);
    allocator.on_event(machine, MachineEvent::NodesDown(&busy));
    assert_eq!(numbers(&mut bench, 4), Some(vec![8, 9, 12, 13]));
    assert_eq!(numbers(&mut bench, 4), Some(vec![0, 1, 4, 5]));
    let (allocator, machine) = &mut bench;
    machine.restore(&busy);
    allocator.on_event(machine, MachineEvent::NodesUp(&busy));
    // Both tori have the same number of free processors, so the first torus wins.
    assert_eq!(numbers(&mut bench, 4), Some(vec![2, 3, 6, 7]));
    assert_eq!(numbers(&mut bench, 4), Some(vec![10, 11, 14, 15]));
    assert_eq!(numbers(&mut bench, 4), None);
    let mut parts = described(&tori, ",segment=4");
    assert_eq!(numbers(&mut parts, 8), Some((0..8).collect()));
    assert_eq!(numbers(&mut parts, 8), Some((8..16).collect()));
    assert_eq!(numbers(&mut parts, 4), None);
}

/// Vector V12: the cell (3, 1, 0) is a hole.
#[test]
fn boxes_with_holes_are_not_allocated() {
    let whole = "regions: [{dims: {x: 4, y: 1, z: 1}, nodes: 'n[0-3]'}, {anchor: {y: 1}, dims: {x: 3, y: 1, z: 1}, nodes: 'n[4-6]'}]";
    let one = "{dims: {x: 1, y: 1, z: 1}}";
    let tori = torus("a", whole, &format!("{one}, {SQUARE}"));
    let mut bench = described(&tori, "");
    assert_eq!(bench.1.topology().to_string(), "toruses:4x2x1[7]");
    assert_eq!(numbers(&mut bench, 1), Some(vec![0]));
    assert_eq!(numbers(&mut bench, 1), Some(vec![4]));
    let mut bench = described(&tori, "");
    assert_eq!(numbers(&mut bench, 4), Some(vec![0, 1, 4, 5]));
    assert_eq!(numbers(&mut bench, 4), None, "the other has a hole");
    // Weighted terms give the same result.
    let mut bench = described(&tori, ",tie=1");
    assert_eq!(numbers(&mut bench, 4), Some(vec![0, 1, 4, 5]));
    assert_eq!(numbers(&mut bench, 4), None);
}
