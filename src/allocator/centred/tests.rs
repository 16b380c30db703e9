use super::*;
use crate::allocator::centre::cases::{grids, machine, options, sorted};
use proptest::prelude::*;

/// Compares the engines with the definition on a machine and on the states that follow
/// from their own decisions.
fn agrees(
    grid: &Grid,
    product: bool,
    options: CentreOptions,
    mut machine: Machine,
    shares: &[f64],
) -> Result<(), TestCaseError> {
    let (mut fast, rule) = if product {
        (Centred::mm(grid, options), Centred::mm_rule(options))
    } else {
        (Centred::gen_alg(grid, options), Centred::gen_alg_rule(options))
    };
    for share in shares {
        let free = machine.free_count();
        if free == 0 {
            break;
        }
        let size = 1 + ((free - 1) as f64 * share) as usize;
        let request = Request::of_size(size as u32);
        let mut chosen = Vec::new();
        prop_assert_eq!(fast.allocate(&machine, request, &mut chosen), Ok(()));
        if size < free {
            let expected = rule.choose(&machine, grid, size).map(|winner| sorted(winner.nodes));
            prop_assert_eq!(Some(sorted(chosen.clone())), expected);
            let tied = rule.tied_sets(&machine, grid, size);
            prop_assert_eq!(fast.tied_sets(&machine, request), Some(tied));
        }
        // The next decision follows on the state this one leaves.
        machine.occupy(&chosen);
    }
    Ok(())
}

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
        let machine = machine(&grid, busy, seed);
        agrees(&grid, product, options, machine, &shares)?;
    }
}
