use super::*;
use crate::allocator::centre::cases::{grids, machine, options, sorted, wide_grids};
use proptest::prelude::*;

/// Compares the engine with the definition on a machine and on the states that follow
/// from its own decisions.
fn agrees(
    grid: &Grid,
    options: CentreOptions,
    mut machine: Machine,
    shares: &[f64],
) -> Result<(), TestCaseError> {
    let mut fast = Mc1x1::new(grid, options);
    let rule = Mc1x1::rule(options);
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
            if options.order != ShellOrder::Greedy {
                // Whatever vectors this processor has.
                let portable = fast.best_centre_portable(&machine, request.size);
                prop_assert_eq!(fast.best_centre(&machine, request.size), portable);
            }
        }
        // The next decision follows on the state this one leaves.
        machine.occupy(&chosen);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn agrees_with_the_definition(
        grid in grids(),
        options in options(),
        busy in 0.0..0.95f64,
        seed: u64,
        shares in proptest::collection::vec(0.0..1.0f64, 3),
    ) {
        let machine = machine(&grid, busy, seed);
        agrees(&grid, options, machine, &shares)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn agrees_with_the_definition_where_sums_are_wide(
        grid in wide_grids(),
        mut options in options(),
        seed: u64,
        share in 0.1..1.0f64,
    ) {
        if options.order == ShellOrder::Greedy {
            options.order = ShellOrder::Carried;
        }
        let machine = machine(&grid, 0.93, seed);
        agrees(&grid, options, machine, &[share])?;
    }
}
