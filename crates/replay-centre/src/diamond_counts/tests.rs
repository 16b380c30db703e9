use crate::diamond_counts::*;
use proptest::prelude::*;
use replay_engine::topology::{NodeId, Topology};

proptest! {
    #[test]
    fn agrees_with_direct_counting(
        width in 1u16..20, height in 1u16..40, seeds in proptest::collection::vec(any::<u64>(), 3),
    ) {
        let grid = Grid::mesh2(width, height).expect("small");
        let mut machine = Machine::new(Topology::Grid(grid.clone()));
        let mut counts = DiamondCounts::new(&grid).expect("a 2D mesh");
        for seed in seeds {
            // Change the state of a pseudo-random quarter of the machine and count again.
            let turn: Vec<_> = machine.topology().nodes()
                .filter(|n| (u64::from(n.0) + 1).wrapping_mul(seed | 1) >> 32 & 3 == 0).collect();
            let (free, busy): (Vec<_>, Vec<_>) = turn.into_iter().partition(|&n| machine.is_free(n));
            machine.occupy(&free);
            machine.release(&busy);
            counts.update(&machine);
            let (w, h) = (isize::from(width as i16), isize::from(height as i16));
            let is_free = |x: isize, y: isize| x >= 0 && x < w && y >= 0 && y < h
                && machine.is_free(NodeId((x * h + y) as u32));
            for x in 0..w {
                for y in 0..h {
                    let (ux, uy) = (x as usize, y as usize);
                    let (lane, i) = (uy / LANES * LANES, uy % LANES);
                    for reach in [0, 1, 2, 5, 17, 60] {
                        let r = reach as isize;
                        let along_y = (-r..=r).filter(|d| is_free(x, y + d)).count() as u16;
                        let along_x = (-r..=r).filter(|d| is_free(x + d, y)).count() as u16;
                        prop_assert_eq!(counts.strip_y(ux, uy, reach), along_y);
                        prop_assert_eq!(counts.strip_x(ux, uy, reach), along_x);
                    }
                    prop_assert_eq!(counts.free_lanes(ux, lane)[i], u8::from(is_free(x, y)));
                    for radius in [0, 1, 2, h / 2, h, w, w + h - 2] {
                        let within = machine.free_nodes().filter(|n| {
                            let (px, py) = (n.0 as isize / h, n.0 as isize % h);
                            (px - x).abs() + (py - y).abs() <= radius
                        });
                        let counted = counts.within(ux, lane, radius as usize)[i];
                        prop_assert_eq!(usize::from(counted), within.count());
                    }
                    for offset in [-50, 1 - h, -1, 0, 1, h - 1, 50] {
                        prop_assert_eq!(counts.is_free(ux, uy, offset), is_free(x, y + offset));
                    }
                }
            }
        }
    }
}
