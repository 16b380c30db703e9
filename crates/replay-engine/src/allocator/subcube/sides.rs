//! The mesh that a job requests: its own shape, or a mesh that a rule selects.
//!
//! Jobs of traces have no shape. The thesis of Turner allocates meshes, but it gives no rule for
//! their sides (it uses 20 x 30 for 600 processors without giving a reason). The rules in this
//! module are specific to this implementation.

use crate::allocator::Request;

/// Rule that converts a number of processors into the sides of a mesh with x <= y.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SidesRule {
    /// The mesh with the smallest subcube; among several such meshes, the mesh with the smallest
    /// area, then the mesh nearest to a square. The subcube of this mesh is the smallest subcube
    /// that can hold the job. A prime number of processors becomes a row.
    #[default]
    Exact,
    /// The best mesh by the criteria of `Exact` among meshes with y <= 4 x. The mesh may have more
    /// processors than requested.
    Compact,
    /// A row, which consists of consecutive codewords of a Gray code.
    Row,
}

impl SidesRule {
    /// Every rule with its name.
    pub const ALL: [(&'static str, SidesRule); 3] =
        [("exact", SidesRule::Exact), ("compact", SidesRule::Compact), ("row", SidesRule::Row)];

    /// Returns the sides for `size` processors; `size` must be at least one.
    fn sides(self, size: u32) -> [u32; 2] {
        if self == SidesRule::Row {
            return [1, size];
        }
        let root = size.isqrt() + u32::from(size.isqrt().pow(2) < size);
        let mesh = |x: u32| [x, size.div_ceil(x).max(x)];
        let fits = |&[x, y]: &[u32; 2]| self == SidesRule::Exact || y <= 4 * x;
        let rank = |&[x, y]: &[u32; 2]| (bits(x) + bits(y), x * y, y - x);
        (1..=root).map(mesh).filter(fits).min_by_key(rank).unwrap_or([1, size])
    }
}

/// Returns the number of bits that are needed to number the positions along a side: ceil(log2
/// side).
pub fn bits(side: u32) -> u32 {
    u32::BITS - side.saturating_sub(1).leading_zeros()
}

/// Sides of requests on a hypercube. Sides that the rule selects are cached.
#[derive(Clone, Debug)]
pub struct Sides {
    rule: SidesRule,
    /// For each size, the cached sides; zeros if not computed yet.
    known: Vec<[u16; 2]>,
}

impl Sides {
    /// Creates the sides for requests of up to 2^`n` processors.
    pub fn new(n: u32, rule: SidesRule) -> Self {
        Self { rule, known: vec![[0; 2]; (1 << n) + 1] }
    }

    /// Returns the sides of the requested mesh: the shape of the request, or the sides that the
    /// rule selects. Returns `None` if the request has no processors, or more processors than the
    /// machine.
    pub fn of(&mut self, request: Request) -> Option<[u32; 3]> {
        let known = self.known.get_mut(request.size as usize)?;
        if let Some(shape) = request.shape {
            return shape.iter().all(|&side| side > 0).then(|| shape.map(u32::from));
        }
        if request.size == 0 {
            return None;
        }
        if *known == [0; 2] {
            // There are at most 2^15 processors, so each side fits.
            *known = self.rule.sides(request.size).map(|side| side as u16);
        }
        Some([u32::from(known[0]), u32::from(known[1]), 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rule: SidesRule, size: u32) -> [u32; 3] {
        Sides::new(15, rule).of(Request::of_size(size)).expect("it fits")
    }

    #[test]
    fn returns_the_sides_of_each_rule() {
        assert_eq!(of(SidesRule::Exact, 600), [24, 25, 1]);
        assert_eq!(of(SidesRule::Exact, 12), [3, 4, 1]);
        assert_eq!(of(SidesRule::Exact, 13), [1, 13, 1]);
        assert_eq!(of(SidesRule::Exact, 1 << 15), [128, 256, 1]);
        assert_eq!(of(SidesRule::Compact, 13), [2, 7, 1]);
        assert_eq!(of(SidesRule::Compact, 31), [4, 8, 1]);
        assert_eq!(of(SidesRule::Compact, 3), [1, 3, 1]);
        assert_eq!(of(SidesRule::Row, 12), [1, 12, 1]);
        let mut sides = Sides::new(4, SidesRule::Exact);
        let shaped = Request::shaped(12, Some([4, 3, 1]));
        assert_eq!(sides.of(shaped), Some([4, 3, 1]));
        assert_eq!(sides.of(Request::of_size(17)), None);
    }

    /// Compares the selected mesh with every mesh that has x <= y and can hold the job: no mesh is
    /// better by the rule. The subcube of the selected mesh is the smallest subcube that can hold
    /// the job.
    #[test]
    fn rules_find_the_best_of_all_meshes() {
        for size in 1..=300u32 {
            for (rule, cap) in [(SidesRule::Exact, u32::MAX), (SidesRule::Compact, 4)] {
                let all = (1..=size).flat_map(|x| (x..=size).map(move |y| [x, y]));
                let held = all.filter(|[x, y]| {
                    x * y >= size && u64::from(*y) <= u64::from(cap) * u64::from(*x)
                });
                let best = held.min_by_key(|&[x, y]| (bits(x) + bits(y), x * y, y - x));
                let [x, y, _] = of(rule, size);
                assert_eq!(best, Some([x, y]), "{size} {rule:?}");
                assert_eq!(bits(x) + bits(y), bits(size), "{size} {rule:?}");
            }
        }
    }
}
