use crate::busy_list::cases::{busy, grid, meshes, nodes, unit, units};
use crate::gabl::*;
use proptest::prelude::*;
use replay_contract::{Bench, Reference, starts_and_ends};
use replay_engine::allocator::submesh::volume;

impl Gabl {
    /// Adds allocated sub-meshes in the given order. The sub-meshes must be inside the mesh,
    /// disjoint, and busy on the machine.
    fn holding(mut self, units: &[SubMesh]) -> Self {
        units.iter().for_each(|&unit| self.placer.enter(unit));
        self
    }
}

/// State of Figure 4.3: 6 x 6 processors, 19 of them free.
fn figure_4_3() -> Vec<SubMesh> {
    [[1, 4, 5, 5], [0, 2, 1, 3], [4, 3, 5, 3], [5, 2, 5, 2]].map(|a| unit(&a)).to_vec()
}

/// Returns the sub-meshes that a job with these sides gets if the sub-meshes `held` are busy, and
/// the number of searches.
fn parts(
    machine: &str,
    held: &[SubMesh],
    sides: [u16; 3],
    options: GablOptions,
) -> Result<(Vec<SubMesh>, u64), Refusal> {
    let grid = grid(machine);
    parts_by(&grid, held, sides, Gabl::new(&grid, options).holding(held))
}

fn parts_by(
    grid: &Grid,
    held: &[SubMesh],
    sides: [u16; 3],
    gabl: Gabl,
) -> Result<(Vec<SubMesh>, u64), Refusal> {
    let mut bench = Bench::new(busy(grid, held), gabl);
    let chosen = bench.start(Request::shaped(volume(sides) as u32, Some(sides)))?;
    let census = bench.census();
    let mut parts = Vec::new();
    let mut rest = chosen.as_slice();
    while let Some(&base) = rest.first() {
        let (unit_nodes, later) = rest.split_at(bench.allocator.placer.volume_at(base) as usize);
        let last = unit_nodes.last().expect("a unit");
        let unit = SubMesh::spanning(grid.coord(base), grid.coord(*last));
        assert_eq!(nodes(grid, &unit), unit_nodes);
        parts.push(unit);
        rest = later;
    }
    assert_eq!(census.blocks as usize, parts.len());
    assert_eq!(census.busy_list as usize, held.len() + parts.len());
    Ok((parts, census.searches))
}

fn figure_parts(sides: [u16; 3]) -> Result<(Vec<SubMesh>, u64), Refusal> {
    let (grid, held) = (grid("6x6"), figure_4_3());
    let gabl = Gabl::new(&grid, GablOptions::default()).holding(&held);
    let fast = parts_by(&grid, &held, sides, gabl.clone());
    assert_eq!(parts_by(&grid, &held, sides, gabl.listing_all()), fast);
    fast
}

fn addresses(parts: &[[u16; 4]]) -> Vec<SubMesh> {
    parts.iter().map(|a| unit(a)).collect()
}

#[test]
fn divides_a_request_longer_than_the_mesh() {
    // GABL tries 8x2; then 7x2, 6x2 (found), 2x2 (found).
    let expected = (addresses(&[[0, 0, 5, 1], [2, 2, 3, 3]]), 3);
    assert_eq!(figure_parts([8, 2, 1]), Ok(expected.clone()));
    // If the request has the other orientation, turning gives the same sub-meshes.
    assert_eq!(figure_parts([2, 8, 1]), Ok(expected));
}

#[test]
fn shapes_shrink_along_the_longer_side() {
    // Step 6 tries 3x4, 3x3 (found), 2x3, 2x2 (found), 1x2 (found), 1x1 (found).
    let expected = addresses(&[[2, 0, 4, 2], [0, 0, 1, 1], [0, 4, 0, 5], [2, 3, 2, 3]]);
    assert_eq!(figure_parts([4, 4, 1]), Ok((expected, 6)));
}

/// The only box of 65,537 processors, a prime number, has a side that exceeds the range of coordinates.
#[test]
fn serves_a_size_with_a_box_longer_than_any_mesh() {
    let grid = grid("512x512");
    let allocator = Gabl::new(&grid, GablOptions::default());
    let mut bench = Bench::new(busy(&grid, &[]), allocator);
    assert_eq!(bench.start(Request::of_size(65_537)).map(|chosen| chosen.len()), Ok(65_537));
    // 128 rows and one processor.
    assert_eq!(bench.allocator.blocks, 129);
}

#[test]
fn a_job_can_have_all_free_processors() {
    let expected =
        addresses(&[[0, 0, 5, 0], [0, 1, 5, 1], [2, 2, 4, 2], [2, 3, 3, 3], [0, 4, 0, 5]]);
    assert_eq!(figure_parts([19, 1, 1]).map(|(parts, _)| parts), Ok(expected));
    assert_eq!(figure_parts([20, 1, 1]), Err(Refusal::TooFewFree));
}

#[test]
fn a_request_that_fits_gets_one_sub_mesh() {
    assert_eq!(figure_parts([2, 4, 1]), Ok((addresses(&[[2, 0, 3, 3]]), 0)));
    assert_eq!(figure_parts([6, 2, 1]), Ok((addresses(&[[0, 0, 5, 1]]), 0)));
}

/// Six buddy blocks of 2 x 2 are free on an 8 x 8 mesh. Four of these blocks form a strip at the
/// right, and GABL allocates the strip as one sub-mesh.
#[test]
fn finds_strips_across_buddy_blocks() {
    let free: Vec<_> = [(0, 0), (6, 0), (6, 2), (2, 4), (6, 4), (6, 6)]
        .map(|(x, y)| unit(&[x, y, x + 1, y + 1]))
        .to_vec();
    let all = (0..8).flat_map(|x| (0..8).map(move |y| unit(&[x, y, x, y])));
    let held: Vec<_> = all.filter(|cell| !free.iter().any(|block| block.overlaps(cell))).collect();
    for sides in [[2, 8, 1], [8, 2, 1]] {
        let strip = addresses(&[[6, 0, 7, 7]]);
        assert_eq!(parts("8x8", &held, sides, GablOptions::default()), Ok((strip, 0)));
    }
    let upright = GablOptions { rotate: false, ..GablOptions::default() };
    let divided = parts("8x8", &held, [8, 2, 1], upright).expect("enough are free").0;
    assert_eq!(divided.len(), 4);
}

#[test]
fn tie_shrink_selects_the_side() {
    // In a ring of eight free processors, only shapes of width one fit. The shape 2x2 shrinks to
    // vertical pairs by one tie rule, and to horizontal pairs by the other tie rule. Without
    // rotation, two pairs of each orientation fit.
    let middle = [unit(&[1, 1, 1, 1])];
    let shapes = |tie_shrink| {
        let options = GablOptions { rotate: false, tie_shrink };
        let (parts, _) = parts("3x3", &middle, [2, 4, 1], options).expect("8 are free");
        parts.iter().map(|part| part.sides).collect::<Vec<_>>()
    };
    let one = [1, 1, 1];
    let (upright, lying) = ([1, 2, 1], [2, 1, 1]);
    assert_eq!(shapes(TieShrink::First), [upright, upright, one, one, one, one]);
    assert_eq!(shapes(TieShrink::Last), [lying, lying, one, one, one, one]);
}

#[test]
fn the_longest_of_three_sides_shrinks() {
    // In a cube with one busy processor, no row has more than two processors.
    let corner = [unit(&[0, 0, 0, 0, 0, 0])];
    let (parts, searches) =
        parts("2x2x2", &corner, [7, 1, 1], GablOptions::default()).expect("7 are free");
    assert_eq!(parts.iter().map(|part| part.volume()).sum::<u32>(), 7);
    assert!(parts.iter().all(|part| part.sides.iter().max() <= Some(&2)));
    // GABL tries 6x1x1 to 3x1x1, 2x1x1 (found, three times), 1x1x1 (found).
    assert_eq!((parts.len(), searches), (4, 8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// In a random history, every request gets exactly its size if enough processors are free, and
    /// the published search chooses the same sub-meshes. After all jobs have been released, the list is empty.
    #[test]
    fn serves_every_request_that_free_processors_allow(
        grid in meshes(),
        history in starts_and_ends(1..60),
        rotate: bool,
        last: bool,
    ) {
        let tie_shrink = if last { TieShrink::Last } else { TieShrink::First };
        let options = GablOptions { rotate, tie_shrink };
        let published = Gabl::new(&grid, options).listing_all();
        let bench = Bench::new(busy(&grid, &[]), Gabl::new(&grid, options));
        prop_assert!(bench.allocator.capabilities().keeps_schedule);
        let mut bench = bench.with_oracle(Reference(published));
        let size = |machine: &Machine, share: f64, _| {
            Request::of_size(1 + (machine.free_count().saturating_sub(1) as f64 * share * share) as u32)
        };
        bench.run(&history, size, |bench| {
            let too_many = Request::of_size(bench.machine.free_count() as u32 + 1);
            assert_eq!(bench.start(too_many), Err(Refusal::TooFewFree));
            let published = bench.oracle.0.stats().census.expect("units");
            assert_eq!(bench.census().searches, published.searches);
            assert!(bench.census().operations <= published.operations);
        });
        bench.end_all();
    }

    /// In any state, a request with a shape is served iff the number of free processors is at least
    /// the volume of the shape. The shape need not fit the mesh.
    #[test]
    fn a_shape_is_served_iff_its_volume_is_free(
        grid in meshes(),
        attempts in 0usize..30,
        seed: u64,
        sides in [1u16..9, 1u16..9, 1u16..4],
        rotate: bool,
    ) {
        let held = units(&grid, attempts, 4, seed);
        let machine = busy(&grid, &held);
        let options = GablOptions { rotate, ..GablOptions::default() };
        let mut gabl = Gabl::new(&grid, options).holding(&held);
        let request = Request::shaped(1, Some(sides));
        let mut chosen = Vec::new();
        let served = gabl.allocate(&machine, request, &mut chosen).is_ok();
        if machine.free_count() == 0 {
            prop_assert!(!served);
        } else {
            prop_assert_eq!(served, volume(sides) <= machine.free_count() as u64);
        }
        let mut distinct = chosen.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(distinct.len() as u64, if served { volume(sides) } else { 0 });
        prop_assert!(chosen.iter().all(|&node| machine.is_free(node)));
        gabl.on_event(&machine, MachineEvent::Released(&chosen));
        prop_assert_eq!(gabl.stats().census.expect("units").busy_list as usize, held.len());
    }
}

/// A machine on which processors of another owner are busy violates the contract. The request is
/// refused.
#[test]
fn refuses_on_a_machine_with_other_owners() {
    let grid = grid("2x2");
    let mut gabl = Gabl::new(&grid, GablOptions::default());
    let empty = busy(&grid, &[]);
    let mut chosen = Vec::new();
    assert_eq!(gabl.allocate(&empty, Request::of_size(3), &mut chosen), Ok(()));
    // The three processors are not occupied on the machine.
    let mut more = Vec::new();
    assert_eq!(gabl.allocate(&empty, Request::of_size(2), &mut more), Err(Refusal::Fragmented));
    assert!(more.is_empty());
    assert_eq!(gabl.stats().census.expect("units").busy_list, 2);
}
