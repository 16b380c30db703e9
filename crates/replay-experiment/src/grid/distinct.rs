//! Detection of equal strategies in a grid.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::ties::{TieRule, TieVector};
use replay_engine::naming::NameError;
use replay_engine::topology::Topology;

/// The distinct strategies of a grid that have been inserted so far. Strategies with the same
/// [identity](AllocatorSpec::identity) on every kind of machine are equal.
///
/// The identity of a strategy with a tie vector depends on the reduced vector and on which entries of the vector are 0.
/// The text of an identity is therefore created only once for each pattern of zeros. Vectors, up to ten million per
/// grid, are compared as numbers.
pub struct DistinctStrategies<'a> {
    machines: &'a [&'a Topology],
    /// Number of each group of strategies, indexed by the digest of the identities that these strategies have on all
    /// machines. A collision of 16-byte digests becomes likely only with about 2^64 identities.
    groups: HashMap<[u8; 16], u32>,
    strategies: HashSet<u128, BuildHasherDefault<AdjacentHasher>>,
}

/// Cached properties of one strategy: one entry for each pattern of zeros in the tie vector.
#[derive(Default)]
pub struct Patterns([Option<Pattern>; 16]);

#[derive(Clone)]
struct Pattern {
    group: u32,
    idle: Option<String>,
}

impl<'a> DistinctStrategies<'a> {
    /// Creates an empty set.
    pub fn new(machines: &'a [&'a Topology]) -> Self {
        Self { machines, groups: HashMap::new(), strategies: HashSet::default() }
    }

    /// Inserts a strategy. Returns whether the strategy is new and, if the strategy has a
    /// [parameter](AllocatorSpec::idle) without effect, this parameter. `build` creates the strategy with a tie rule.
    /// Strategies that differ only in their tie rule share `patterns`.
    ///
    /// # Errors
    /// Returns the error of `build` if it fails.
    pub fn insert(
        &mut self,
        patterns: &mut Patterns,
        tie: Option<TieRule>,
        build: &dyn Fn(Option<TieRule>) -> Result<AllocatorSpec, NameError>,
    ) -> Result<(bool, Option<String>), NameError> {
        let Some(TieRule::Vector(vector)) = tie else {
            let spec = build(tie)?;
            // The name of the strategy can itself contain a tie vector.
            if tie.is_none()
                && let Some(own @ TieRule::Vector(_)) = spec.tie()
            {
                return self.insert(patterns, Some(own), &|tie| {
                    tie.map_or_else(|| Ok(spec.clone()), |tie| spec.with_tie(tie))
                });
            }
            let group = self.group(&spec);
            return Ok((self.strategies.insert(key(group, TieVector::default())), spec.idle()));
        };
        let (place, one) = pattern(vector);
        let cached = match &patterns.0[place] {
            Some(cached) => cached.clone(),
            None => {
                let spec = build(Some(TieRule::Vector(one)))?;
                let cached = Pattern { group: self.group(&spec), idle: spec.idle() };
                patterns.0[place].insert(cached).clone()
            }
        };
        let vector = if vector.is_indifferent() { TieVector::default() } else { vector.reduced() };
        Ok((self.strategies.insert(key(cached.group, vector)), cached.idle))
    }

    fn group(&mut self, spec: &AllocatorSpec) -> u32 {
        let mut hasher = blake3::Hasher::new();
        for machine in self.machines {
            hasher.update(spec.on(machine).identity().as_bytes());
            hasher.update(b"\n");
        }
        let digest = hasher.finalize();
        let mut first = [0; 16];
        first.copy_from_slice(&digest.as_bytes()[..16]);
        let next = self.groups.len() as u32;
        *self.groups.entry(first).or_insert(next)
    }
}

/// Returns the pattern of zeros of a vector in two forms: as a number, and as a vector with the same zeros in which all
/// other entries are 1.
fn pattern(vector: TieVector) -> (usize, TieVector) {
    let is = |number: i32| i32::from(number != 0);
    let [available, wall, border] = vector.factors().map(is);
    let scan_radius = u32::from(vector.scan_radius != 0);
    let digits = [scan_radius as i32, available, wall, border];
    let place = digits.iter().fold(0, |place, digit| 2 * place + digit);
    (place as usize, TieVector { scan_radius, available, wall, border })
}

/// Packs a group number (below 2^24) and a vector (20 bits for SR, 21 bits for each other entry) into one number.
fn key(group: u32, vector: TieVector) -> u128 {
    let offset = TieVector::MAX;
    let radius = u128::from(group) << 20 | u128::from(vector.scan_radius);
    vector.factors().iter().fold(radius, |key, factor| key << 21 | (factor + offset) as u128)
}

/// Hasher that assigns adjacent slots to keys that differ only in BF, because such keys are consecutive in a grid. With
/// this hasher, inserting the nine million vectors of a grid takes 1.3 s. With the standard hasher, the same insertions
/// take 3.3 s because of cache misses.
#[derive(Default)]
struct AdjacentHasher(u64);

impl Hasher for AdjacentHasher {
    fn write_u128(&mut self, key: u128) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let (border, rest) = (key as u64 & ((1 << 21) - 1), key >> 21);
        let mut place = rest as u64 ^ (rest >> 64) as u64;
        for _ in 0..2 {
            place = place.wrapping_mul(ODD);
            place ^= place >> 29;
        }
        // The highest bits distinguish adjacent keys.
        let tag = border.wrapping_mul(ODD) & !(u64::MAX >> 7);
        self.0 = place.wrapping_add(border) ^ tag;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(u128::from(self.0) << 21 | u128::from(byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = TieVector> {
        let most = TieVector::MAX;
        let factor = || prop_oneof![Just(0), Just(2), -9i32..9, Just(most), Just(-most)];
        let radius = prop_oneof![Just(0), 1..4i32, Just(most)];
        (radius, factor(), factor(), factor())
            .prop_map(|(sr, af, wf, bf)| TieVector::new([sr, af, wf, bf]).expect("small"))
    }

    proptest! {
        /// For every strategy with a tie vector, the set treats two strategies as equal exactly if the texts of their
        /// identities are equal.
        #[test]
        fn distinguishes_strategies_by_their_identities(
            vectors in proptest::collection::vec(vector(), 1..40), scaled in 1i32..4,
            parameter in proptest::sample::select(&["", "slack=0.1", "wall=per-wall", "order=scan"][..]),
        ) {
            let machine: Topology = "8x8".parse().expect("a machine");
            let names = replay_strategies::standard().allocators.names();
            let specs = names.map(|name| match parameter {
                "" => name.to_string(),
                parameter => format!("{name}[{parameter}]"),
            });
            let specs: Vec<AllocatorSpec> = specs.filter_map(|name| replay_strategies::allocator(&name).ok())
                .filter(AllocatorSpec::takes_tie).collect();
            prop_assert!(!specs.is_empty());
            let machines = [&machine];
            let mut seen = DistinctStrategies::new(&machines);
            let mut texts = HashSet::new();
            for spec in &specs {
                let more = vectors.iter().filter_map(|v| {
                    let [af, wf, bf] = v.factors().map(|f| f * scaled);
                    TieVector::new([v.scan_radius as i32, af, wf, bf]).ok()
                });
                let rules = vectors.iter().copied().chain(more).map(TieRule::Vector).map(Some);
                let rules = rules.chain([None, Some(TieRule::First), Some(TieRule::Auto)]);
                let mut patterns = Patterns::default();
                for tie in rules {
                    let build = |tie| spec.with([], tie);
                    let inserted = seen.insert(&mut patterns, tie, &build);
                    prop_assert_eq!(inserted.is_ok(), build(tie).is_ok());
                    let (Ok(inserted), Ok(spec)) = (inserted, build(tie)) else { continue };
                    let is_new = texts.insert(spec.on(&machine).identity());
                    prop_assert_eq!(inserted, (is_new, spec.idle()), "{}", spec);
                }
            }
        }
    }
}
