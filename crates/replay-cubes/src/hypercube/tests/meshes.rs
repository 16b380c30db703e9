use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::hypercube::lists::Coalescer;
use replay_engine::allocator::subcube::{Cube, Mesh, deposit};

fn mesh(x: u32, y: u32) -> Mesh {
    Mesh::new([x, y, 1])
}

fn leftover(mesh: &Mesh) -> Vec<Cube> {
    let mut cubes = Vec::new();
    mesh.append_leftover(&mut cubes);
    cubes
}

fn region(mesh: &Mesh) -> Vec<Cube> {
    let mut cubes = Vec::new();
    mesh.append_region(&mut cubes);
    cubes
}

fn shapes(up_to: u32) -> impl Iterator<Item = Mesh> {
    (1..=up_to).flat_map(move |x| (1..=up_to).map(move |y| mesh(x, y)))
}

/// The table of section 4.4 of the specification: request, dimension, number of unused processors,
/// unused cubes in order.
#[test]
fn leftovers_agree_with_the_table() {
    let table: [(u32, u32, u32, u32, &[&str]); 15] = [
        (20, 30, 10, 424, &["111*******", "10********", "0****1000*", "110**1000*"]),
        (4, 6, 5, 8, &["**10*"]),
        (5, 5, 6, 39, &["111***", "10****", "0**111", "110111", "0**10*", "11010*"]),
        (4, 2, 3, 0, &[]),
        (2, 5, 4, 6, &["*111", "*10*"]),
        (2, 3, 3, 2, &["*10"]),
        (3, 3, 4, 7, &["10**", "0*10", "1110"]),
        (1, 3, 2, 1, &["10"]),
        (1, 5, 3, 3, &["111", "10*"]),
        (3, 5, 5, 17, &["**111", "**10*", "100**", "10110"]),
        (5, 3, 5, 17, &["111**", "10***", "0**10", "11010"]),
        (6, 7, 6, 22, &["10****", "0**100", "11*100"]),
        (9, 16, 8, 112, &["1101****", "111*****", "10******"]),
        (
            31,
            31,
            10,
            63,
            &["10000*****", "0****10000", "11***10000", "101**10000", "1001*10000", "1000110000"],
        ),
        (1, 1, 0, 0, &[]),
    ];
    for (x, y, k, left, expected) in table {
        let mesh = mesh(x, y);
        let cubes = leftover(&mesh);
        let texts: Vec<String> = cubes.iter().map(|cube| cube.text(k)).collect();
        assert_eq!(
            (mesh.dimension(), texts),
            (k, expected.iter().map(|t| t.to_string()).collect())
        );
        assert_eq!(cubes.iter().map(|cube| cube.processors() as u32).sum::<u32>(), left);
    }
}

/// P1: the mesh and the leftover cubes together partition the subcube.
#[test]
fn mesh_and_leftover_partition_the_subcube() {
    let in_space = (1..=9).flat_map(|x| (1..=5).map(move |y| Mesh::new([x, y, 11 - x])));
    for mesh in shapes(32).chain(in_space) {
        let mut seen = vec![0; 1 << mesh.dimension()];
        for cube in region(&mesh).into_iter().chain(leftover(&mesh)) {
            cube.nodes().for_each(|node| seen[node.index()] += 1);
        }
        assert!(seen.iter().all(|&times| times == 1), "{mesh:?}");
    }
}

fn dimensions(cubes: &[Cube]) -> Vec<u32> {
    let mut dimensions: Vec<u32> = cubes.iter().map(|cube| cube.dimension()).collect();
    dimensions.sort_unstable();
    dimensions
}

/// P2: unused cubes of a subcube of k dimensions have at most k - 2 dimensions. For meshes up to 16
/// x 16, unused cubes therefore have at most 6 dimensions. P3: unused cubes have the same
/// dimensions if the sides are swapped. P4: there are at most 14 unused cubes for meshes up to 32 x
/// 32; the maximum occurs for 25 x 23.
#[test]
fn leftovers_are_few_and_small() {
    let mut most = BTreeMap::new();
    for mesh in shapes(32) {
        let [x, y, _] = mesh.sides;
        let cubes = leftover(&mesh);
        assert!(cubes.iter().all(|cube| cube.dimension() + 2 <= mesh.dimension()), "{x}x{y}");
        let largest = dimensions(&cubes).last().copied().unwrap_or(0);
        assert!(x.max(y) > 16 || largest <= 6, "{x}x{y}");
        let swapped = leftover(&Mesh::new([y, x, 1]));
        assert_eq!(dimensions(&cubes), dimensions(&swapped), "{x}x{y}");
        most.entry(cubes.len()).or_insert(vec![]).push((x, y));
    }
    let (count, at) = most.pop_last().expect("shapes");
    assert_eq!(count, 14);
    assert!(at.contains(&(25, 23)), "{at:?}");
}

/// P5: the mesh and the leftover cubes coalesce to one subcube, in any order of pairs.
#[test]
fn mesh_and_leftover_coalesce() {
    use rand::seq::SliceRandom;
    let mut random = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(5);
    let mut coalescer = Coalescer::new(10);
    for mesh in shapes(32) {
        let whole = Cube::whole(mesh.dimension());
        let mut cubes = [region(&mesh), leftover(&mesh)].concat();
        for _ in 0..4 {
            let mut result = cubes.clone();
            coalescer.coalesce(&mut result);
            assert_eq!(result, [whole], "{:?}", mesh.sides);
            cubes.shuffle(&mut random);
        }
    }
}

type Channel = (u32, u32);

/// Returns the directed channels of the e-cube route, lowest differing bit first.
fn route(from: u32, to: u32) -> impl Iterator<Item = Channel> {
    let mut at = from;
    std::iter::from_fn(move || {
        let differing = at ^ to;
        let next = at ^ (differing & differing.wrapping_neg());
        let channel = (at, next);
        at = next;
        (differing != 0).then_some(channel)
    })
}

pub(super) fn all_pairs(nodes: &[u32]) -> HashSet<Channel> {
    let pairs = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| (a, b)));
    pairs.flat_map(|(a, b)| route(a, b)).collect()
}

fn nodes(mesh: &Mesh, host: Cube) -> Vec<u32> {
    let mut nodes = Vec::new();
    mesh.append_to(host, &mut nodes);
    nodes.into_iter().map(|node| node.0).collect()
}

/// P6 (theorem 1): the mesh shares no directed channel with a leftover cube, with a second mesh in
/// a leftover cube, or with a leftover cube of the second mesh. P7: in 48 of the 64 shapes,
/// messages of the mesh pass routers of other jobs.
#[test]
fn jobs_in_one_subcube_share_no_channels() {
    let (mut nested, mut passing) = (0, 0);
    for mesh in shapes(8) {
        // The host has fixed dimensions between its spanned dimensions.
        let host = Cube { stars: 0b1101_1011, base: 0b0010_0100 };
        let stars = (0..mesh.dimension()).fold(0, |stars, i| stars | deposit(1 << i, host.stars));
        let host = Cube { stars, base: host.base };
        let own = nodes(&mesh, host);
        let used = all_pairs(&own);
        let members: BTreeSet<u32> = own.iter().copied().collect();
        passing += u32::from(used.iter().any(|(_, to)| !members.contains(to)));
        for cube in leftover(&mesh) {
            let cube = cube.within(host);
            let inside: Vec<u32> = cube.nodes().map(|node| node.0).collect();
            assert!(used.is_disjoint(&all_pairs(&inside)), "{:?} {cube}", mesh.sides);
            // These small meshes are placed in leftover cubes of exactly their dimension.
            for second in [[1, 3, 1], [2, 3, 1], [3, 2, 1], [3, 3, 1]].map(Mesh::new) {
                if second.dimension() != cube.dimension() {
                    continue;
                }
                nested += 1;
                let own = all_pairs(&nodes(&second, cube));
                assert!(used.is_disjoint(&own));
                for rest in leftover(&second) {
                    let rest = rest.within(cube);
                    let inside: Vec<u32> = rest.nodes().map(|node| node.0).collect();
                    let others = all_pairs(&inside);
                    assert!(used.is_disjoint(&others) && own.is_disjoint(&others));
                }
            }
        }
    }
    assert!(nested > 80, "{nested} nested meshes");
    assert_eq!(passing, 48);
}

/// With shuffled dimensions of the host, jobs share channels.
#[test]
fn shuffled_dimensions_share_channels() {
    let shuffled = |node: u32| {
        [3, 0, 4, 1, 2, 5]
            .iter()
            .enumerate()
            .fold(0, |result, (to, from)| result | (node >> from & 1) << to)
    };
    let share_channels = |shape: Mesh| {
        let of = |cube: Cube| cube.nodes().map(|node| shuffled(node.0)).collect::<Vec<_>>();
        let whole = Cube::whole(shape.dimension());
        let own: Vec<u32> = nodes(&shape, whole).into_iter().map(shuffled).collect();
        let used = all_pairs(&own);
        leftover(&shape).into_iter().any(|cube| !used.is_disjoint(&all_pairs(&of(cube))))
    };
    assert!(shapes(8).any(share_channels));
}

/// Figure 3.1: meshes of 2 x 3 and 2 x 5 in the columns of a Gray code share four channels. One of
/// these channels is 0110 -> 0010.
#[test]
fn adjacent_meshes_share_channels() {
    let columns = |columns: &[u32]| -> Vec<u32> {
        columns.iter().flat_map(|&column| [column << 1, column << 1 | 1]).collect()
    };
    let small = columns(&[0b000, 0b001, 0b011]);
    let large = columns(&[0b010, 0b110, 0b111, 0b101, 0b100]);
    let path: Vec<Channel> = route(0b0100, 0b1010).collect();
    assert_eq!(path, [(0b0100, 0b0110), (0b0110, 0b0010), (0b0010, 0b1010)]);
    let small = all_pairs(&small);
    let mut shared: Vec<Channel> = all_pairs(&large).intersection(&small).copied().collect();
    shared.sort_unstable();
    assert_eq!(shared, [(0b0100, 0b0000), (0b0101, 0b0001), (0b0110, 0b0010), (0b0111, 0b0011)]);
}

#[test]
fn neighbours_in_the_mesh_are_neighbours_in_the_cube() {
    for sides in [[5, 3, 1], [1, 7, 1], [3, 5, 2], [4, 1, 3]] {
        let mesh = Mesh::new(sides);
        let host: Cube = "1**0*1***0".parse().expect("a subcube");
        let stars = (0..mesh.dimension()).fold(0, |stars, i| stars | deposit(1 << i, host.stars));
        let host = Cube { stars, base: host.base };
        let mut all = Vec::new();
        mesh.append_to(host, &mut all);
        assert_eq!((all.len() as u32, all[0].0), (mesh.processors(), host.base));
        let at = |x: u32, y: u32, z: u32| all[((z * sides[1] + y) * sides[0] + x) as usize].0;
        for (x, y, z) in (0..sides[0])
            .flat_map(|x| (0..sides[1]).flat_map(move |y| (0..sides[2]).map(move |z| (x, y, z))))
        {
            for (x2, y2, z2) in [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)] {
                if x2 < sides[0] && y2 < sides[1] && z2 < sides[2] {
                    assert!((at(x, y, z) ^ at(x2, y2, z2)).is_power_of_two());
                }
            }
        }
        mesh.append_rest_to(host, &mut all);
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (host.processors(), host.processors()));
        assert!(all.iter().all(|node| host.contains(node.0)));
    }
}
