//! Chapters 2 and 3: recognition of subcubes, and the subcubes that remain free after a mesh has been allocated.

use super::{AFL, FL, printed};
use crate::claim::claim;
use crate::exchange::{self, substitute, with_swaps};
use crate::{Check, Sample, Tolerance, VerifyError, defect};
use replay_cubes::hypercube::block_search::BlockSearch;
use replay_cubes::hypercube::cubic::Subcubes;
use replay_cubes::hypercube::free_list::FreeList;
use replay_engine::allocator::Request;
use replay_engine::allocator::subcube::{Cube, Mesh};
use replay_engine::machine::Machine;
use replay_engine::topology::{NodeId, Topology};

/// Name of the machine in the checks.
pub const MACHINE: &str = "hypercube";

const EXACT: Tolerance = Tolerance::Absolute(0.0);

/// Checks the statements of chapters 2 to 4 about subcubes and meshes.
pub fn checks() -> Result<Vec<Check>, VerifyError> {
    let mut checks = with_swaps(of([FL, AFL])?, [[FL, AFL]], |_| of([AFL, FL]))?;
    let strategies = NAMES.map(|(name, ..)| name);
    let exchanges = exchange::pairs(&strategies);
    checks.extend(with_swaps(recognized(None)?, exchanges, |pair| recognized(Some(pair)))?);
    let exchanges = exchange::pairs(&SECTION_3_1);
    checks.extend(with_swaps(section_3_1(None)?, exchanges, |pair| section_3_1(Some(pair)))?);
    Ok(checks)
}

/// Dimensions of the hypercube on which subcubes are counted.
const N: u32 = 6;

/// Name of a strategy, its constructor, and the number of k-dimensional subcubes that it recognizes according to
/// section 2.2.
type Recognizes = (&'static str, fn() -> Box<dyn Subcubes>, fn(u32) -> u32);

const NAMES: [Recognizes; 3] = [
    ("buddy", || Box::new(BlockSearch::buddy(N)), |k| 1 << (N - k)),
    ("gray code", || Box::new(BlockSearch::gray_code(N)), |k| 1 << (N - k + 1)),
    ("free list", || Box::new(FreeList::new(N)), |k| (1 << (N - k)) * binomial(N, k)),
];

fn binomial(n: u32, k: u32) -> u32 {
    (0..k).fold(1, |value, i| value * (n - i) / (i + 1))
}

/// Counts the `k`-dimensional subcubes that a strategy recognizes. A strategy recognizes a subcube if it allocates the
/// subcube when all other processors are busy.
fn count(strategy: fn() -> Box<dyn Subcubes>, k: u32) -> u32 {
    let mut found = 0;
    for stars in (0..1u32 << N).filter(|stars| stars.count_ones() == k) {
        for base in (0..1u32 << N).filter(|base| base & stars == 0) {
            let cube = Cube { stars, base };
            let mut subcubes = strategy();
            for node in (0..1 << N).filter(|&node| !cube.contains(node)) {
                subcubes.withdraw(Cube { stars: 0, base: node });
            }
            found += u32::from(subcubes.take(k) == Some(cube));
        }
    }
    found
}

/// Checks the number of subcubes that each strategy recognizes (section 2.2).
fn recognized(exchanged: Option<[&'static str; 2]>) -> Result<Vec<Check>, VerifyError> {
    let machine = format!("hypercube:{N}");
    let mut checks = Vec::new();
    for (name, _, formula) in NAMES {
        let own = substitute(exchanged, name);
        let strategy = NAMES.iter().find(|(other, ..)| *other == own).map(|(_, make, _)| *make);
        let strategy = strategy.ok_or_else(|| defect("unknown strategy"))?;
        let what = format!("{name}: subcubes of 3 dimensions recognized");
        let (text, ours) = (formula(3).to_string(), f64::from(count(strategy, 3)));
        checks.push(printed("section 2.2", &machine, &what, &text, ours, EXACT)?);
        let what = format!(
            "{name}: dimensions from 0 to {N} whose number of subcubes differs from the printed number"
        );
        let differ = (0..=N).filter(|&k| count(strategy, k) != formula(k)).count();
        let check = claim("section 2.2", &machine, &what, "0", differ as f64, EXACT)?;
        checks.push(match name {
            "gray code" => check.known(
                2.0,
                "the strategy recognizes twice as many subcubes as the buddy system only for 1 to n - 1 dimensions: there are only 2^n single \
                 processors and one whole hypercube",
            ),
            _ => check,
        });
    }
    Ok(checks)
}

/// Checks chapters 2 to 4 with the given strategies in the roles of FL and AFL.
fn of([fl, afl]: [&str; 2]) -> Result<Vec<Check>, VerifyError> {
    let ten = "hypercube:10";
    let machine: Topology = ten.parse().map_err(defect)?;
    let request = Request::shaped(600, Some([20, 30, 1]));
    let held = |name: &str| {
        let spec = replay_strategies::allocator(name).map_err(defect)?;
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
        let what =
            format!("20x30 mesh: dimensions of a remaining subcube ({} in all)", dimensions.len());
        checks.push(printed("section 3.3.1", ten, &what, place, f64::from(*dimension), EXACT)?);
    }
    let small = left(4, 6);
    let what = "4x6 mesh: dimensions of the only remaining subcube";
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
    let what = "5x5 mesh: pairs of remaining subcubes that share processors";
    checks.push(claim("Fig. 3.4", "hypercube:6", what, "0", overlapping as f64, EXACT)?);
    let near = |(i, a): (usize, &Cube)| five[..i].iter().filter(|b| a.distance(**b) == 1).count();
    let adjacent: usize = five.iter().enumerate().map(near).sum();
    let what = "5x5 mesh: pairs of adjacent remaining subcubes";
    let check = claim("Fig. 3.4", "hypercube:6", what, "1", adjacent as f64, Tolerance::Above)?;
    checks.push(Check {
        note: "\"many\": the bound chosen for replay is more than one".to_string(),
        ..check
    });
    checks.extend(partitions()?);
    checks.extend(five_cube([fl, afl])?);
    let sides = || (1..=16).flat_map(|x| (1..=16).map(move |y| (x, y)));
    let largest = sides().flat_map(|(x, y)| left(x, y)).map(|cube| cube.dimension()).max();
    let what = "meshes up to 16x16: dimensions of the largest remaining subcube";
    let largest = largest.map_or(f64::NAN, f64::from);
    checks.push(printed("section 4.1", ten, what, "6", largest, EXACT)?);
    Ok(checks)
}

/// Checks sections 3.4.5 and 3.4.6: a mesh in a cube of k dimensions leaves at most k^2 subcubes free. The number of
/// these subcubes plus the number of the mesh's own subcubes is also at most k^2. A mesh of a single processor is
/// excluded, because k is then 0.
fn partitions() -> Result<Vec<Check>, VerifyError> {
    let (mut left, mut all) = (0.0_f64, 0.0_f64);
    for (x, y) in (1..=32).flat_map(|x| (1..=32).map(move |y| (x, y))).skip(1) {
        let mesh = Mesh::new([x, y, 1]);
        let mut cubes = Vec::new();
        let mut share = |append: fn(&Mesh, &mut Vec<Cube>)| {
            append(&mesh, &mut cubes);
            cubes.len() as f64 / f64::from(mesh.dimension().pow(2))
        };
        left = left.max(share(Mesh::append_leftover));
        all = all.max(share(Mesh::append_region));
    }
    let mut checks = Vec::new();
    for (what, most) in [("left", left), ("left or of the mesh", all)] {
        let what =
            format!("meshes up to 32x32: number of cubes {what} divided by k^2, largest value");
        let at_most = Tolerance::AtMost(0.0);
        let check = claim("sections 3.4.5, 3.4.6", "hypercube:10", &what, "1", most, at_most)?;
        checks.push(check.printed_bound());
    }
    Ok(checks)
}

/// Allocates processors to the requests of a sequence on an empty machine, and returns the allocated processors of each
/// request. The list of processors is empty for a refused request.
fn allocated(
    machine: &str,
    strategy: &str,
    requests: &[Request],
) -> Result<Vec<Vec<NodeId>>, VerifyError> {
    let topology: Topology = machine.parse().map_err(defect)?;
    let spec = replay_strategies::allocator(strategy).map_err(defect)?;
    let mut allocator = spec.build(&topology, 0).map_err(defect)?;
    let mut machine = Machine::new(topology);
    let mut allocated = Vec::new();
    for &request in requests {
        let mut nodes = Vec::new();
        if allocator.allocate(&machine, request, &mut nodes).is_ok() {
            machine.occupy(&nodes);
        }
        allocated.push(nodes);
    }
    Ok(allocated)
}

/// Returns how many requests of a sequence a strategy places.
fn placed(machine: &str, strategy: &str, requests: &[Request]) -> Result<f64, VerifyError> {
    let allocated = allocated(machine, strategy, requests)?;
    Ok(allocated.iter().filter(|nodes| !nodes.is_empty()).count() as f64)
}

/// Creates a request for a mesh.
fn mesh(x: u16, y: u16) -> Request {
    Request::shaped(u32::from(x * y), Some([x, y, 1]))
}

/// Splits an allocation into the subcubes that were allocated one after the other. Returns the dimensions of these
/// subcubes.
fn dimensions(mut nodes: &[NodeId]) -> Vec<u32> {
    let mut dimensions = Vec::new();
    while let Some(first) = nodes.first() {
        let differing = |of: &[NodeId]| of.iter().fold(0, |bits, node| bits | (node.0 ^ first.0));
        // 2^k processors that differ in k bits form a subcube.
        let is_cube = |k: &u32| differing(&nodes[..1 << k]).count_ones() == *k;
        let k = (0..=nodes.len().ilog2()).rev().find(is_cube).unwrap_or(0);
        dimensions.push(k);
        nodes = &nodes[1 << k..];
    }
    dimensions
}

/// Strategies of [`section_3_1`]. The first strategy allocates two subcubes per job, the second strategy one subcube
/// per bit of the job's size, and the third strategy one subcube per job.
const SECTION_3_1: [&str; 3] = ["non-cubic[cubes=2]", "non-cubic", FL];

/// Checks section 3.1, which is about subcubes for 11 processors and about meshes of 2 x 5 and 2 x 3 on 16 processors.
fn section_3_1(exchanged: Option<[&'static str; 2]>) -> Result<Vec<Check>, VerifyError> {
    let figure = "section 3.1, Kim et al.";
    let four = "hypercube:4";
    let [two, several, fl] = SECTION_3_1.map(|name| substitute(exchanged, name));
    let eleven = |strategy: &str| {
        let allocated = allocated(four, strategy, &[Request::shaped(11, None)])?;
        Ok::<Vec<NodeId>, VerifyError>(allocated.concat())
    };
    let mut checks = Vec::new();
    for (strategy, places) in [(two, ["3", "2"].as_slice()), (several, ["3", "1", "0"].as_slice())]
    {
        let found = dimensions(&eleven(strategy)?);
        for (i, place) in places.iter().enumerate() {
            let ours = found.get(i).map_or(f64::NAN, |&dimension| f64::from(dimension));
            let what =
                format!("11 processors in {} cubes: dimensions of cube {}", places.len(), i + 1);
            checks.push(printed(figure, four, &what, place, ours, EXACT)?);
        }
    }
    let held = eleven(two)?.len() as f64;
    let check = printed(figure, four, "11 processors in 2 cubes: processors", "11", held, EXACT)?;
    checks.push(check.known(12.0, "cubes of 3 and 2 dimensions hold 8 and 4 processors"));
    let fitted = |check: Check| Check {
        note: "the rule of the strategy was fitted to this example".to_string(),
        ..check.sample(Sample::Fitted)
    };
    let mut checks: Vec<Check> = checks.into_iter().map(fitted).collect();
    let both = placed(four, fl, &[mesh(2, 5), mesh(2, 3)])?;
    let what = "FL: number of meshes placed, out of 2x5 and 2x3";
    checks.push(printed("Fig. 3.1", four, what, "1", both, EXACT)?);
    Ok(checks)
}

/// Checks chapter 4: after the free list has placed a 4 x 2 mesh on a 5-cube, a 4-cube and a 3-cube remain free. The
/// next mesh of 4 x 6 cannot use these cubes. The auxiliary free list places a 4 x 6 mesh and a 4 x 2 mesh on the same
/// 5-cube.
fn five_cube([fl, afl]: [&str; 2]) -> Result<Vec<Check>, VerifyError> {
    let five = "hypercube:5";
    let placed = |name: &str, requests: &[Request]| placed(five, name, requests);
    let both = [mesh(4, 6), mesh(4, 2)];
    let mut checks = Vec::new();
    for (what, text, ours) in [
        ("AFL: number of meshes placed, out of 4x6 and 4x2", "2", placed(afl, &both)?),
        ("FL: number of meshes placed, out of 4x6 and 4x2", "1", placed(fl, &both)?),
        (
            "FL: number of 4x6 meshes placed beside a 4x2 mesh",
            "0",
            placed(fl, &[mesh(4, 2), mesh(4, 6)])? - 1.0,
        ),
        (
            "FL: number of cubes placed beside a 4x2 mesh, out of a 4-cube and a 3-cube",
            "2",
            placed(fl, &[mesh(4, 2), mesh(4, 4), mesh(4, 2)])? - 1.0,
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
    fn printed_numbers_agree_except_declared_ones() {
        let checks = checks().expect("runs without error");
        assert_eq!(checks.len(), 31);
        for check in checks {
            assert_eq!(check.undeclared_change(), None, "{}: {:?}", check.what, check.ours);
            let expected = match (check.is_claim, &check.known) {
                (true, Some(_)) => Verdict::Contradicts,
                (false, Some(_)) => Verdict::Differs,
                (true, None) => Verdict::Within,
                (false, None) => Verdict::Same,
            };
            assert_eq!(check.verdict(), expected, "{}: {:?}", check.what, check.ours);
        }
    }

    #[test]
    fn subcubes_are_found_in_the_processors_of_a_job() {
        let nodes = |numbers: &[u32]| numbers.iter().map(|&node| NodeId(node)).collect::<Vec<_>>();
        assert_eq!(dimensions(&nodes(&[4, 5, 7, 6, 0, 1, 8])), [2, 1, 0]);
        // The first four processors differ in three bits, so they are not a subcube.
        assert_eq!(dimensions(&nodes(&[0, 1, 2, 6])), [1, 1]);
        assert_eq!(dimensions(&[]), [0; 0]);
    }

    #[test]
    fn a_gray_code_recognizes_twice_the_subcubes_of_the_buddy_system() {
        let [buddy, gray, _] = NAMES.map(|(_, strategy, _)| strategy);
        assert_eq!((count(buddy, 2), count(gray, 2)), (16, 32));
        assert_eq!((count(buddy, 0), count(gray, 0)), (64, 64));
    }
}
