//! Which strategies of a grid are the same.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use replay_core::allocator::centre::{TieRule, TieVector};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::naming::NameError;
use replay_core::topology::Topology;

/// The strategies seen so far, each once: those of one [identity](AllocatorSpec::identity) on every kind of
/// machine are one.
///
/// The identity of a strategy with a vector is that of the strategy with any other vector that has 0 in the same
/// places, but for the vector itself, in its reduced form. So the text of an identity is made once for each
/// pattern of zeros, and the ten million vectors of a grid are told apart by numbers.
pub struct Seen<'a> {
    machines: &'a [&'a Topology],
    /// By digest of the identities on all machines. Sixteen bytes stand for the text; a chance meeting needs some
    /// 2^64 of them.
    groups: HashMap<[u8; 16], u32>,
    strategies: HashSet<u128, BuildHasherDefault<Beside>>,
}

/// What is known of one strategy with vectors of each pattern of zeros.
#[derive(Default)]
pub struct Patterns([Option<Pattern>; 16]);

#[derive(Clone)]
struct Pattern {
    group: u32,
    idle: Option<String>,
}

impl<'a> Seen<'a> {
    /// None so far.
    pub fn new(machines: &'a [&'a Topology]) -> Self {
        Self { machines, groups: HashMap::new(), strategies: HashSet::default() }
    }

    /// Whether a strategy is a new one, and the [parameter](AllocatorSpec::idle) that does nothing in it. It is `made` with a
    /// rule to break ties; `patterns` is for those that are made alike but for that rule.
    ///
    /// # Errors
    /// Of `made`.
    pub fn enter(
        &mut self,
        patterns: &mut Patterns,
        tie: Option<TieRule>,
        made: &dyn Fn(Option<TieRule>) -> Result<AllocatorSpec, NameError>,
    ) -> Result<(bool, Option<String>), NameError> {
        let Some(TieRule::Vector(vector)) = tie else {
            let spec = made(tie)?;
            // A name can have a vector of its own.
            if tie.is_none()
                && let Some(own @ TieRule::Vector(_)) = spec.tie()
            {
                return self.enter(patterns, Some(own), &|tie| {
                    tie.map_or_else(|| Ok(spec.clone()), |tie| spec.with_tie(tie))
                });
            }
            let group = self.group(&spec);
            return Ok((self.strategies.insert(key(group, TieVector::default())), spec.idle()));
        };
        let (place, one) = pattern(vector);
        let known = match &patterns.0[place] {
            Some(known) => known.clone(),
            None => {
                let spec = made(Some(TieRule::Vector(one)))?;
                let known = Pattern { group: self.group(&spec), idle: spec.idle() };
                patterns.0[place].insert(known).clone()
            }
        };
        let vector = if vector.is_indifferent() { TieVector::default() } else { vector.reduced() };
        Ok((self.strategies.insert(key(known.group, vector)), known.idle))
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

/// The number of a vector's pattern of zeros, and the vector of that pattern whose other entries are 1.
fn pattern(vector: TieVector) -> (usize, TieVector) {
    let is = |number: i32| i32::from(number != 0);
    let [available, wall, border] = vector.factors().map(is);
    let scan_radius = u32::from(vector.scan_radius != 0);
    let digits = [scan_radius as i32, available, wall, border];
    let place = digits.iter().fold(0, |place, digit| 2 * place + digit);
    (place as usize, TieVector { scan_radius, available, wall, border })
}

/// A group, below 2^24, and a vector, of 20 bits and three times 21, in one number.
fn key(group: u32, vector: TieVector) -> u128 {
    let offset = TieVector::MAX;
    let radius = u128::from(group) << 20 | u128::from(vector.scan_radius);
    vector.factors().iter().fold(radius, |key, factor| key << 21 | (factor + offset) as u128)
}

/// Keys that differ in BF alone have places beside each other, as they follow each other in a grid: to enter the nine million vectors
/// of a grid takes 1.3 s so, and 3.3 s with the standard hasher, which waits for memory.
#[derive(Default)]
struct Beside(u64);

impl Hasher for Beside {
    fn write_u128(&mut self, key: u128) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let (border, rest) = (key as u64 & ((1 << 21) - 1), key >> 21);
        let mut place = rest as u64 ^ (rest >> 64) as u64;
        for _ in 0..2 {
            place = place.wrapping_mul(ODD);
            place ^= place >> 29;
        }
        // The highest bits tell neighbours apart.
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
    use replay_core::allocator::registry;

    fn vector() -> impl Strategy<Value = TieVector> {
        let most = TieVector::MAX;
        let factor = || prop_oneof![Just(0), Just(2), -9i32..9, Just(most), Just(-most)];
        let radius = prop_oneof![Just(0), 1..4i32, Just(most)];
        (radius, factor(), factor(), factor())
            .prop_map(|(sr, af, wf, bf)| TieVector::new([sr, af, wf, bf]).expect("small"))
    }

    proptest! {
        /// As by the texts of all identities, with every strategy that takes a vector, and what is said of it.
        #[test]
        fn strategies_are_told_apart_as_by_their_identities(
            vectors in proptest::collection::vec(vector(), 1..40), scaled in 1i32..4,
            parameter in proptest::sample::select(&["", "slack=0.1", "wall=per-wall", "order=scan"][..]),
        ) {
            let machine: Topology = "8x8".parse().expect("a machine");
            let names = registry::standard().names();
            let specs = names.map(|name| match parameter {
                "" => name.to_string(),
                parameter => format!("{name}[{parameter}]"),
            });
            let specs: Vec<AllocatorSpec> = specs.filter_map(|name| name.parse().ok())
                .filter(AllocatorSpec::takes_tie).collect();
            prop_assert!(!specs.is_empty());
            let machines = [&machine];
            let mut seen = Seen::new(&machines);
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
                    let made = |tie| spec.with([], tie);
                    let entered = seen.enter(&mut patterns, tie, &made);
                    prop_assert_eq!(entered.is_ok(), made(tie).is_ok());
                    let (Ok(entered), Ok(spec)) = (entered, made(tie)) else { continue };
                    let is_new = texts.insert(spec.on(&machine).identity());
                    prop_assert_eq!(entered, (is_new, spec.idle()), "{}", spec);
                }
            }
        }
    }
}
