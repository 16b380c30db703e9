use crate::paging::*;
use proptest::prelude::*;
use replay_engine::topology::Coord;

/// Index and processors of a page.
type Page = (usize, Vec<NodeId>);

/// A machine and an allocator with the same history.
struct Bench {
    machine: Machine,
    paging: Paging,
}

impl Bench {
    fn new(machine: &str, index: Curve, size: u32) -> Self {
        Self::walked(machine, index, size, Walk::FirstTaken)
    }

    fn walked(machine: &str, index: Curve, size: u32, walk: Walk) -> Self {
        let topology: Topology = machine.parse().expect("a machine");
        let paging = Paging::new(topology.grid().expect("a grid"), index, size, walk);
        Self { machine: Machine::new(topology), paging }
    }

    fn start(&mut self, size: u32) -> Vec<NodeId> {
        let mut chosen = Vec::new();
        let served = self.paging.allocate(&self.machine, Request::of_size(size), &mut chosen);
        assert_eq!(served, Ok(()));
        // `occupy` panics if a processor is busy or chosen twice.
        self.machine.occupy(&chosen);
        chosen
    }

    fn end(&mut self, nodes: &[NodeId]) {
        self.machine.release(nodes);
        self.paging.on_event(&self.machine, MachineEvent::Released(nodes));
    }

    fn coords(&self, nodes: &[NodeId]) -> Vec<Coord> {
        let grid = self.machine.topology().grid().expect("a grid");
        nodes.iter().map(|&node| grid.coord(node)).collect()
    }
}

/// Vector V-PAG0 of the specification.
#[test]
fn takes_single_processors_in_row_major_order() {
    let mut bench = Bench::new("4x4", Curve::RowMajor, 0);
    let first = bench.start(6);
    assert_eq!(
        bench.coords(&first),
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [0, 1, 0], [1, 1, 0]]
    );
    let second = bench.start(3);
    assert_eq!(bench.coords(&second), [[2, 1, 0], [3, 1, 0], [0, 2, 0]]);
    bench.end(&first);
    let third = bench.start(8);
    let expected: Vec<_> = first.iter().copied().chain([NodeId(6), NodeId(10)]).collect();
    assert_eq!(third, expected, "the six released ones, (1, 2) and (2, 2)");
}

/// Vector V-PAG1 of the specification: a job of 3 x 3 gets 3 pages; a quarter of the processors of
/// these pages is lost.
#[test]
fn allocates_whole_pages() {
    let mut bench = Bench::new("4x4", Curve::RowMajor, 1);
    let nodes = bench.start(9);
    assert_eq!(nodes.len(), 12);
    let coords = bench.coords(&nodes);
    assert_eq!([coords[0], coords[4], coords[8]], [[0, 0, 0], [2, 0, 0], [0, 2, 0]]);
    assert_eq!(coords[..4], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
    let census = bench.paging.stats().census.expect("pages");
    assert_eq!((census.blocks, census.busy_list, census.operations), (3, 3, 3));
    assert!(!bench.paging.capabilities().keeps_schedule);
    let mut chosen = Vec::new();
    let refused = bench.paging.allocate(&bench.machine, Request::of_size(5), &mut chosen);
    assert_eq!((refused, chosen.len()), (Err(Refusal::TooFewFree), 0));
    bench.end(&nodes);
    assert_eq!(bench.paging.stats().census.expect("units").busy_list, 0);
}

/// The pages of vector V-PAG1 are used from the last allocated page to the first; each page is
/// row-major.
#[test]
fn last_taken_reverses_the_order_of_allocation() {
    let mut bench = Bench::walked("4x4", Curve::RowMajor, 1, Walk::LastTaken);
    let nodes = bench.start(9);
    let coords = bench.coords(&nodes);
    assert_eq!([coords[0], coords[4], coords[8]], [[0, 2, 0], [2, 0, 0], [0, 0, 0]]);
    assert_eq!(coords[..4], [[0, 2, 0], [1, 2, 0], [0, 3, 0], [1, 3, 0]]);
    bench.end(&nodes);
    assert_eq!(bench.start(9), nodes);
}

#[test]
fn border_pages_count_their_processors() {
    // The pages are 4 x 4, 2 x 4 (at the right), 4 x 1 (at the top) and 2 x 1 (in the corner).
    let mut bench = Bench::new("6x5", Curve::RowMajor, 2);
    let taken = [17, 5]
        .map(|size| (bench.start(size).len(), bench.paging.stats().census.expect("units").blocks));
    assert_eq!(taken, [(24, 2), (6, 2)]);
    assert_eq!(bench.machine.free_count(), 0);
}

#[test]
fn begin_resets_the_allocator() {
    let mut bench = Bench::new("7x5", Curve::Snake, 1);
    let first = bench.start(11);
    bench.paging.begin(&RunSetup::default()).expect("it works");
    assert_eq!(bench.paging.stats().census, Some(Census::default()));
    bench.machine = Machine::new("7x5".parse().expect("a mesh"));
    assert_eq!(bench.start(11), first);
}

#[test]
fn pages_follow_the_index() {
    let bases = |index| {
        let mut bench = Bench::new("8x8", index, 1);
        let nodes = bench.start(20);
        let coords = bench.coords(&nodes);
        [0, 1, 2, 3, 4].map(|page| (coords[4 * page][0] / 2, coords[4 * page][1] / 2))
    };
    assert_eq!(bases(Curve::RowMajor), [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)]);
    assert_eq!(bases(Curve::Snake), [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1)]);
    assert_eq!(bases(Curve::ShuffledRowMajor), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]);
    assert_eq!(bases(Curve::ShuffledSnake), [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0)]);
}

#[test]
fn names_have_one_canonical_form() {
    let canonical = |text: &str| {
        let spec = crate::allocator(text);
        spec.map(|spec| spec.to_string()).map_err(|e| e.to_string())
    };
    assert_eq!(canonical("paging[size=0,index=row-major]").as_deref(), Ok("paging"));
    assert_eq!(
        canonical("paging[size=2,index=snake]").as_deref(),
        Ok("paging[index=snake,size=2]")
    );
    assert_eq!(
        canonical("paging[walk=last-taken,size=2]").as_deref(),
        Ok("paging[size=2,walk=last-taken]")
    );
    assert!(canonical("paging[size=16]").expect_err("too large").contains("from 0 to 15"));
    assert!(canonical("paging[size=-1]").is_err());
    assert!(canonical("paging[index=hilbert]").expect_err("not one").contains("shuffled-snake"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Compares with a sorted list of (index, processors). A job gets the first pages until it has
    /// enough processors. Every request is served if enough processors are free. A release restores
    /// the list.
    #[test]
    fn takes_the_first_free_pages(
        machine in proptest::sample::select(vec!["8x8", "7x5", "torus:9x6", "4x3x5", "6x6x6", "1x70"]),
        index in proptest::sample::select(INDEXES.map(|(_, index)| index).to_vec()),
        size in 0u32..5,
        walk in proptest::sample::select(WALKS.map(|(_, walk)| walk).to_vec()),
        history in proptest::collection::vec((0.0..1.0f64, any::<bool>()), 1..40),
    ) {
        let mut bench = Bench::walked(machine, index, size, walk);
        let page = |page: usize| (page, bench.paging.nodes[bench.paging.page(page)].to_vec());
        let mut free: Vec<Page> = (0..bench.paging.free.len()).map(page).collect();
        let processors = |pages: &[Page]| pages.iter().map(|(_, nodes)| nodes.len()).sum::<usize>();
        let whole = free.clone();
        let mut held: Vec<(Vec<Page>, Vec<NodeId>)> = Vec::new();
        for (share, end) in history {
            if end && !held.is_empty() {
                let (pages, nodes) = held.swap_remove((share * held.len() as f64) as usize);
                bench.end(&nodes);
                free.extend(pages);
                free.sort();
            }
            let available = bench.machine.free_count();
            prop_assert_eq!(processors(&free), available);
            if available == 0 { continue; }
            let wanted = 1 + ((available - 1) as f64 * share * share) as usize;
            let mut pages = Vec::new();
            while processors(&pages) < wanted {
                pages.push(free.remove(0));
            }
            let nodes = bench.start(wanted as u32);
            let mut walked = pages.clone();
            if walk == Walk::LastTaken { walked.reverse(); }
            let expected: Vec<_> = walked.into_iter().flat_map(|(_, nodes)| nodes).collect();
            prop_assert_eq!(&nodes, &expected);
            if size == 0 { prop_assert_eq!(nodes.len(), wanted); }
            held.push((pages, nodes));
        }
        for (_, nodes) in held {
            bench.end(&nodes);
        }
        prop_assert!(bench.paging.free.iter().eq(whole.iter().map(|&(page, _)| page)));
        prop_assert_eq!(bench.paging.stats().census.expect("units").busy_list, 0);
    }

    /// Every processor is on exactly one page, and the processor's coordinates determine this page.
    #[test]
    fn pages_tile_the_machine(x in 1u16..20, y in 1u16..20, size in 0u32..5) {
        let grid = Grid::mesh2(x, y).expect("small");
        let paging = Paging::new(&grid, Curve::Snake, size, Walk::FirstTaken);
        let mut nodes = paging.nodes.clone();
        nodes.sort();
        prop_assert!(nodes.into_iter().eq((0..grid.processors() as u32).map(NodeId)));
        for page in 0..paging.free.len() {
            let at = |node: &NodeId| grid.coord(*node).map(|position| position >> size);
            let nodes = &paging.nodes[paging.page(page)];
            prop_assert!(nodes.iter().all(|node| at(node) == at(&nodes[0])));
        }
    }
}
