//! Chapters 2 and 3: subcubes, and what meshes leave of them.

use super::{AFL, FL, defect, printed};
use crate::claim::claim;
use crate::exchange::{self, with_swaps};
use crate::{Check, Tolerance, VerifyError};
use replay_core::allocator::Request;
use replay_core::allocator::hypercube::buddy::Buddy;
use replay_core::allocator::hypercube::cube::Cube;
use replay_core::allocator::hypercube::cubic::Subcubes;
use replay_core::allocator::hypercube::free_list::FreeList;
use replay_core::allocator::hypercube::gray_code::GrayCode;
use replay_core::allocator::hypercube::mesh::Mesh;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::machine::Machine;
use replay_core::topology::Topology;

/// What these checks are about.
pub const MACHINE: &str = "hypercube";

const EXACT: Tolerance = Tolerance::Absolute(0.0);

/// The checks of both chapters.
pub fn checks() -> Result<Vec<Check>, VerifyError> {
    let mut checks = with_swaps(of([FL, AFL])?, [[FL, AFL]], |_| of([AFL, FL]))?;
    let strategies = NAMES.map(|(name, ..)| name);
    let exchanges = exchange::pairs(&strategies);
    checks.extend(with_swaps(recognized(None)?, exchanges, |pair| recognized(Some(pair)))?);
    Ok(checks)
}

/// Dimensions of the hypercube on which subcubes are counted.
const N: u32 = 6;

/// A strategy, and how many subcubes of k dimensions section 2.2 has it recognize among n.
type Recognizes = (&'static str, fn() -> Box<dyn Subcubes>, fn(u32) -> u32);

const NAMES: [Recognizes; 3] = [
    ("buddy", || Box::new(Buddy::new(N)), |k| 1 << (N - k)),
    ("gray code", || Box::new(GrayCode::new(N)), |k| 1 << (N - k + 1)),
    ("free list", || Box::new(FreeList::new(N)), |k| (1 << (N - k)) * binomial(N, k)),
];

fn binomial(n: u32, k: u32) -> u32 {
    (0..k).fold(1, |value, i| value * (n - i) / (i + 1))
}

/// The subcubes of `k` dimensions that a strategy takes when their processors are the only free ones.
fn count(strategy: fn() -> Box<dyn Subcubes>, k: u32) -> u32 {
    let mut found = 0;
    for stars in (0..1u32 << N).filter(|stars| stars.count_ones() == k) {
        for base in (0..1u32 << N).filter(|base| base & stars == 0) {
            let cube = Cube { stars, base };
            let mut subcubes = strategy();
            for node in (0..1 << N).filter(|&node| !cube.contains(node)) {
                subcubes.lose(Cube { stars: 0, base: node });
            }
            found += u32::from(subcubes.take(k) == Some(cube));
        }
    }
    found
}

/// Section 2.2: how many subcubes each strategy recognizes.
fn recognized(exchanged: Option<[&'static str; 2]>) -> Result<Vec<Check>, VerifyError> {
    let standing_for = |name: &'static str| match exchanged {
        Some([a, b]) if name == a => b,
        Some([a, b]) if name == b => a,
        _ => name,
    };
    let machine = format!("hypercube:{N}");
    let mut checks = Vec::new();
    for (name, _, formula) in NAMES {
        let own = standing_for(name);
        let strategy = NAMES.iter().find(|(other, ..)| *other == own).map(|(_, make, _)| *make);
        let strategy = strategy.ok_or_else(|| defect("a strategy without subcubes"))?;
        let what = format!("{name}: subcubes of 3 dimensions recognized");
        let (text, ours) = (formula(3).to_string(), f64::from(count(strategy, 3)));
        checks.push(printed("section 2.2", &machine, &what, &text, ours, EXACT)?);
        let what =
            format!("{name}: dimensions 0 to {N} whose number of subcubes is not the printed");
        let differ = (0..=N).filter(|&k| count(strategy, k) != formula(k)).count();
        let check = claim("section 2.2", &machine, &what, "0", differ as f64, EXACT)?;
        checks.push(match name {
            "gray code" => check.known(
                2.0,
                "twice the buddy system's holds from 1 to n - 1 dimensions: there are no more single \
                 processors than 2^n and no more whole hypercubes than one",
            ),
            _ => check,
        });
    }
    Ok(checks)
}

/// The checks with these strategies as the free list and the auxiliary one.
fn of([fl, afl]: [&str; 2]) -> Result<Vec<Check>, VerifyError> {
    let ten = "hypercube:10";
    let machine: Topology = ten.parse().map_err(defect)?;
    let request = Request::shaped(600, Some([20, 30, 1]));
    let held = |name: &str| {
        let spec: AllocatorSpec = name.parse().map_err(defect)?;
        let mut allocator = spec.build(&machine, 0).map_err(defect)?;
        Ok::<f64, VerifyError>(allocator.bounds(request).max_processors as f64)
    };
    let left = |x: u32, y: u32| {
        let mut cubes = Vec::new();
        Mesh::new([x, y, 1]).append_leftover(&mut cubes);
        cubes
    };
    let mut checks = vec![
        printed("section 3.1", ten, "20x30 mesh: processors held, FL", "1024", held(fl)?, EXACT)?,
        printed("section 3.1", ten, "20x30 mesh: processors held, AFL", "600", held(afl)?, EXACT)?,
    ];
    let cubes = left(20, 30);
    let nodes: usize = cubes.iter().map(|cube| cube.processors()).sum();
    let what = "20x30 mesh: processors left";
    checks.push(printed("section 3.3.1", ten, what, "424", nodes as f64, EXACT)?);
    let mut dimensions: Vec<u32> = cubes.iter().map(|cube| cube.dimension()).collect();
    dimensions.sort_unstable_by(|a, b| b.cmp(a));
    for (place, dimension) in ["8", "7", "5", "3"].iter().zip(&dimensions) {
        let what = format!("20x30 mesh: dimensions of a cube left ({} in all)", dimensions.len());
        checks.push(printed("section 3.3.1", ten, &what, place, f64::from(*dimension), EXACT)?);
    }
    let small = left(4, 6);
    let what = "4x6 mesh: dimensions of the only cube left";
    let only = match small.as_slice() {
        [cube] => f64::from(cube.dimension()),
        _ => f64::NAN,
    };
    checks.push(printed("chapter 4", "hypercube:6", what, "3", only, EXACT)?);
    let five = left(5, 5);
    let nodes: usize = five.iter().map(|cube| cube.processors()).sum();
    let what = "5x5 mesh: processors left";
    checks.push(printed("Fig. 3.4", "hypercube:6", what, "39", nodes as f64, EXACT)?);
    let meet = |(i, a): (usize, &Cube)| five[..i].iter().filter(|b| a.distance(**b) == 0).count();
    let overlapping: usize = five.iter().enumerate().map(meet).sum();
    let what = "5x5 mesh: pairs of cubes left that share processors";
    checks.push(claim("Fig. 3.4", "hypercube:6", what, "0", overlapping as f64, EXACT)?);
    checks.extend(five_cube([fl, afl])?);
    let sides = || (1..=16).flat_map(|x| (1..=16).map(move |y| (x, y)));
    let largest = sides().flat_map(|(x, y)| left(x, y)).map(|cube| cube.dimension()).max();
    let what = "meshes up to 16x16: dimensions of the largest cube left";
    let largest = largest.map_or(f64::NAN, f64::from);
    checks.push(printed("section 4.1", ten, what, "6", largest, EXACT)?);
    Ok(checks)
}

/// Chapter 4: of a 5-cube on which the free list has placed a mesh of 4 x 2 a 4-cube and a 3-cube are left, which the
/// next mesh of 4 x 6 cannot use; the auxiliary list places 4 x 6 and 4 x 2 on one 5-cube.
fn five_cube([fl, afl]: [&str; 2]) -> Result<Vec<Check>, VerifyError> {
    let five = "hypercube:5";
    let topology: Topology = five.parse().map_err(defect)?;
    let request = |x: u16, y: u16| Request::shaped(u32::from(x * y), Some([x, y, 1]));
    let placed = |name: &str, requests: &[Request]| {
        let spec: AllocatorSpec = name.parse().map_err(defect)?;
        let mut allocator = spec.build(&topology, 0).map_err(defect)?;
        let mut machine = Machine::new(topology.clone());
        let mut count = 0;
        for &request in requests {
            let mut nodes = Vec::new();
            if allocator.allocate(&machine, request, &mut nodes).is_ok() {
                machine.occupy(&nodes);
                count += 1;
            }
        }
        Ok::<f64, VerifyError>(f64::from(count))
    };
    let both = [request(4, 6), request(4, 2)];
    let mut checks = Vec::new();
    for (what, text, ours) in [
        ("AFL: of 4x6 and 4x2 meshes so many placed", "2", placed(afl, &both)?),
        ("FL: of 4x6 and 4x2 meshes so many placed", "1", placed(fl, &both)?),
        (
            "FL: beside a 4x2 mesh one of 4x6 placed",
            "0",
            placed(fl, &[request(4, 2), request(4, 6)])? - 1.0,
        ),
        (
            "FL: beside a 4x2 mesh a 4-cube and a 3-cube placed",
            "2",
            placed(fl, &[request(4, 2), request(4, 4), request(4, 2)])? - 1.0,
        ),
    ] {
        checks.push(printed("chapter 4", five, what, text, ours, EXACT)?);
    }
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn what_is_printed_is_so() {
        let checks = checks().expect("they run");
        assert_eq!(checks.len(), 21);
        for check in checks {
            assert_eq!(check.surprise(), None, "{}: {:?}", check.what, check.ours);
            let expected = match (check.is_claim, &check.known) {
                (_, Some(_)) => Verdict::Contradicts,
                (true, None) => Verdict::Within,
                (false, None) => Verdict::Same,
            };
            assert_eq!(check.verdict(), expected, "{}: {:?}", check.what, check.ours);
        }
    }

    #[test]
    fn a_gray_code_sees_twice_the_subcubes_of_the_buddy_system() {
        let [buddy, gray, _] = NAMES.map(|(_, strategy, _)| strategy);
        assert_eq!((count(buddy, 2), count(gray, 2)), (16, 32));
        assert_eq!((count(buddy, 0), count(gray, 0)), (64, 64));
    }
}
