use super::*;
use crate::allocator::centre::test_cases::{agrees, grids, machine, options, partly_down};
use crate::allocator::{Allocator, Request};
use crate::topology::{Axis, Coord};
use proptest::prelude::*;

/// Returns MM if `product` is set, otherwise Gen-Alg, and the definition of the strategy.
fn fast_and_rule(grid: &Grid, product: bool, options: CentreOptions) -> (Pairwise, CentreRule) {
    if product {
        (Pairwise::mm(grid, options), CentreRule::mm(options))
    } else {
        (Pairwise::gen_alg(grid, options), CentreRule::gen_alg(options))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn agrees_with_the_definition(
        grid in grids(),
        product: bool,
        options in options(),
        // The cases include nearly empty machines, on which complete diamonds are identical and scored only once.
        busy in prop_oneof![1 => Just(0.0), 1 => 0.0..0.03f64, 6 => 0.0..0.95f64],
        seed: u64,
        shares in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let (mut fast, rule) = fast_and_rule(&grid, product, options);
        agrees(&mut fast, &rule, &grid, machine(&grid, busy, seed), &shares)?;
    }

    /// Tests the engines for arbitrary grids, including grids for which a special engine exists.
    #[test]
    fn engines_for_any_grid_agree_with_the_definition(
        grid in grids(),
        product: bool,
        options in options(),
        busy in 0.0..0.95f64,
        seed: u64,
        shares in proptest::collection::vec(0.0..1.0f64, 2),
        survey: bool,
    ) {
        let (mut fast, rule) = fast_and_rule(&grid, product, options);
        fast.engine.scoring = match Balls::new(&grid, options.order) {
            Some(balls) if !survey => Scoring::Balls(Box::new(balls)),
            _ => Scoring::Survey,
        };
        agrees(&mut fast, &rule, &grid, machine(&grid, busy, seed), &shares)?;
    }

    /// The engines agree with the definition if processors are out of service, whether or not these processors count as
    /// walls.
    #[test]
    fn agrees_with_the_definition_during_outages(
        grid in grids(),
        product: bool,
        options in options(),
        busy in 0.0..0.8f64,
        seed: u64,
        share in 2u32..6,
        walls: bool,
        shares in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let (mut fast, rule) = fast_and_rule(&grid, product, options);
        let (machine, _) = partly_down(machine(&grid, busy, seed), share, walls);
        agrees(&mut fast, &rule, &grid, machine, &shares)?;
    }

    /// Gen-Alg is a (2 - 2/k)-approximation of the least sum of pairwise distances (Krumke et al. 1997) for any
    /// distance. MM is a (2 - 1/(2d))-approximation on meshes of d dimensions (Bender et al. 2008). The suite `bounds`
    /// tries every state of meshes that are smaller than the grids of this test.
    #[test]
    fn is_within_the_published_approximation_bounds(
        (grid, wrapped) in any::<bool>().prop_flat_map(|wrapped| (small_grids(wrapped), Just(wrapped))),
        busy in 0.0..0.8f64,
        seed: u64,
        size in 2usize..6,
    ) {
        let machine = machine(&grid, busy, seed);
        let free: Vec<Coord> = machine.free_nodes().map(|node| grid.coord(node)).collect();
        prop_assume!(size < free.len());
        let best = least(&grid, &free, &mut Vec::new(), size, 0, u32::MAX);
        let ratio_of = |mut allocator: Pairwise| {
            let mut chosen = Vec::new();
            let request = Request::of_size(size as u32);
            allocator.allocate(&machine, request, &mut chosen).expect("enough are free");
            let chosen: Vec<Coord> = chosen.iter().map(|node| grid.coord(*node)).collect();
            f64::from(distance(&grid, &chosen)) / f64::from(best)
        };
        let options = CentreOptions::default();
        let gen_alg = ratio_of(Pairwise::gen_alg(&grid, options));
        prop_assert!(gen_alg <= 2.0 - 2.0 / size as f64 + 1e-9, "Gen-Alg: {gen_alg}");
        let mm = ratio_of(Pairwise::mm(&grid, options));
        let dimensions = grid.dimensions() as f64;
        // The theorem on MM holds for meshes. On tori, the bound of Gen-Alg also holds for MM, because MM tries all of
        // Gen-Alg's centres.
        let bound = if wrapped { 2.0 - 2.0 / size as f64 } else { 2.0 - 0.5 / dimensions };
        prop_assert!(mm <= bound + 1e-9, "MM: {mm}");
    }
}

/// Generates meshes or tori small enough to search all subsets.
fn small_grids(wrapped: bool) -> impl Strategy<Value = Grid> {
    let axis = move |max| (1u16..max).prop_map(move |extent| Axis { extent, wrapped });
    prop_oneof![proptest::collection::vec(axis(7), 2), proptest::collection::vec(axis(4), 3)]
        .prop_map(|axes| Grid::new(&axes).expect("small"))
}

/// Returns the sum of pairwise distances.
fn distance(grid: &Grid, set: &[Coord]) -> u32 {
    let pairs = set.iter().enumerate().flat_map(|(i, a)| set[..i].iter().map(move |b| (*a, *b)));
    pairs.map(|(a, b)| grid.l1(a, b)).sum()
}

/// Returns the least sum of pairwise distances of `set` and `more` further free processors; `sum` is the sum of the
/// pairwise distances within `set`. `best` is the smallest sum known so far.
fn least(
    grid: &Grid,
    free: &[Coord],
    set: &mut Vec<Coord>,
    more: usize,
    sum: u32,
    mut best: u32,
) -> u32 {
    if more == 0 || sum >= best {
        return best.min(sum);
    }
    for (i, &next) in free.iter().enumerate() {
        let added: u32 = set.iter().map(|other| grid.l1(next, *other)).sum();
        set.push(next);
        best = least(grid, &free[i + 1..], set, more - 1, sum + added, best);
        set.pop();
    }
    best
}
