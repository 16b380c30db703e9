use std::collections::HashMap;

use crate::paging::*;
use proptest::prelude::*;
use replay_contract::{Bench, Expected, Oracle, check_names, starts_and_ends};

/// Index and processors of a page.
type Page = (usize, Vec<NodeId>);

fn on(machine: &str, index: Curve, size: u32) -> Bench<Paging> {
    walked(machine, index, size, Walk::FirstTaken)
}

fn walked(machine: &str, index: Curve, size: u32, walk: Walk) -> Bench<Paging> {
    Bench::on_grid(machine, |grid| Paging::new(grid, index, size, walk))
}

/// A sorted list of free pages. A job gets the first pages until it has enough processors. Every request is served if
/// enough processors are free.
struct Pages {
    free: Vec<Page>,
    held: HashMap<NodeId, Vec<Page>>,
    walk: Walk,
}

fn processors(pages: &[Page]) -> usize {
    pages.iter().map(|(_, nodes)| nodes.len()).sum()
}

impl Oracle for Pages {
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        assert_eq!(processors(&self.free), machine.free_count());
        if request.size as usize > machine.free_count() {
            return Expected::Refused(None);
        }
        let mut pages = Vec::new();
        while processors(&pages) < request.size as usize {
            pages.push(self.free.remove(0));
        }
        let mut walked = pages.clone();
        if self.walk == Walk::LastTaken {
            walked.reverse();
        }
        let nodes: Vec<NodeId> = walked.into_iter().flat_map(|(_, nodes)| nodes).collect();
        self.held.insert(nodes[0], pages);
        Expected::Nodes(nodes)
    }

    fn on_event(&mut self, _: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(nodes) = event {
            self.free.extend(self.held.remove(&nodes[0]).expect("a job"));
            self.free.sort();
        }
    }
}

/// Vector V-PAG0 of the specification.
#[test]
fn takes_single_processors_in_row_major_order() {
    let mut bench = on("4x4", Curve::RowMajor, 0);
    let first = bench.serve(Request::of_size(6));
    assert_eq!(
        bench.coords(&first),
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [0, 1, 0], [1, 1, 0]]
    );
    let second = bench.serve(Request::of_size(3));
    assert_eq!(bench.coords(&second), [[2, 1, 0], [3, 1, 0], [0, 2, 0]]);
    bench.end(&first);
    let third = bench.serve(Request::of_size(8));
    let expected: Vec<_> = first.iter().copied().chain([NodeId(6), NodeId(10)]).collect();
    assert_eq!(third, expected, "the six released ones, (1, 2) and (2, 2)");
}

/// Vector V-PAG1 of the specification: a job of 3 x 3 gets 3 pages; a quarter of the processors of
/// these pages is lost.
#[test]
fn allocates_whole_pages() {
    let mut bench = on("4x4", Curve::RowMajor, 1);
    let nodes = bench.serve(Request::of_size(9));
    assert_eq!(nodes.len(), 12);
    let coords = bench.coords(&nodes);
    assert_eq!([coords[0], coords[4], coords[8]], [[0, 0, 0], [2, 0, 0], [0, 2, 0]]);
    assert_eq!(coords[..4], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
    let census = bench.census();
    assert_eq!((census.blocks, census.busy_list, census.operations), (3, 3, 3));
    assert!(!bench.allocator.capabilities().keeps_schedule);
    assert_eq!(bench.start(Request::of_size(5)), Err(Refusal::TooFewFree));
    bench.end_all();
}

/// The pages of vector V-PAG1 are used from the last allocated page to the first; each page is
/// row-major.
#[test]
fn last_taken_reverses_the_order_of_allocation() {
    let mut bench = walked("4x4", Curve::RowMajor, 1, Walk::LastTaken);
    let nodes = bench.serve(Request::of_size(9));
    let coords = bench.coords(&nodes);
    assert_eq!([coords[0], coords[4], coords[8]], [[0, 2, 0], [2, 0, 0], [0, 0, 0]]);
    assert_eq!(coords[..4], [[0, 2, 0], [1, 2, 0], [0, 3, 0], [1, 3, 0]]);
    bench.end(&nodes);
    assert_eq!(bench.serve(Request::of_size(9)), nodes);
}

#[test]
fn border_pages_count_their_processors() {
    // The pages are 4 x 4, 2 x 4 (at the right), 4 x 1 (at the top) and 2 x 1 (in the corner).
    let mut bench = on("6x5", Curve::RowMajor, 2);
    let mut taken = |size| (bench.serve(Request::of_size(size)).len(), bench.census().blocks);
    let taken = [taken(17), taken(5)];
    assert_eq!(taken, [(24, 2), (6, 2)]);
    assert_eq!(bench.machine.free_count(), 0);
}

#[test]
fn begin_resets_the_allocator() {
    let mut bench = on("7x5", Curve::Snake, 1);
    let first = bench.serve(Request::of_size(11));
    bench.begin();
    assert_eq!(bench.serve(Request::of_size(11)), first);
}

#[test]
fn pages_follow_the_index() {
    let bases = |index| {
        let mut bench = on("8x8", index, 1);
        let nodes = bench.serve(Request::of_size(20));
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
    let canonical = [
        ("paging[size=0,index=row-major]", "paging"),
        ("paging[size=2,index=snake]", "paging[index=snake,size=2]"),
        ("paging[walk=last-taken,size=2]", "paging[size=2,walk=last-taken]"),
    ];
    let invalid = [
        ("paging[size=16]", "from 0 to 15"),
        ("paging[size=-1]", "from 0 to 15"),
        ("paging[index=hilbert]", "shuffled-snake"),
    ];
    check_names(crate::allocator, &canonical, &invalid);
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
        history in starts_and_ends(1..80),
    ) {
        let bench = walked(machine, index, size, walk);
        let paging = &bench.allocator;
        let page = |page: usize| (page, paging.nodes[paging.page(page)].to_vec());
        let free: Vec<Page> = (0..paging.free.len()).map(page).collect();
        let whole = free.clone();
        let mut bench = bench.with_oracle(Pages { free, held: HashMap::new(), walk });
        let wanted = |machine: &Machine, share: f64, _| {
            Request::of_size(1 + (machine.free_count().saturating_sub(1) as f64 * share * share) as u32)
        };
        bench.run(&history, wanted, |_| ());
        // With single processors the bench checks that jobs get exactly their sizes.
        prop_assert!(size > 0 || bench.allocator.capabilities().keeps_schedule);
        bench.end_all();
        prop_assert!(bench.allocator.free.iter().eq(whole.iter().map(|&(page, _)| page)));
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
