use super::*;
use crate::allocator::centre::cases::{agrees, grids, machine, options};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn agrees_with_the_definition(
        grid in grids(),
        product: bool,
        options in options(),
        // Hardly any busy: complete diamonds are alike, and scored once.
        busy in prop_oneof![1 => Just(0.0), 1 => 0.0..0.03f64, 6 => 0.0..0.95f64],
        seed: u64,
        shares in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let (mut fast, rule) = if product {
            (Pairwise::mm(&grid, options), Pairwise::mm_rule(options))
        } else {
            (Pairwise::gen_alg(&grid, options), Pairwise::gen_alg_rule(options))
        };
        agrees(&mut fast, &rule, &grid, machine(&grid, busy, seed), &shares)?;
    }
}
