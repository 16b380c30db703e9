//! Selection of the frames that are tried for a request.

use std::cmp::Reverse;

use super::shape::ShapeRule;
use super::turning::turned;
use super::volume;
use crate::allocator::Request;
use crate::topology::Grid;

/// Meaning of the parameter `shape`, for strategies that support every [`Shaping`].
pub const SHAPE: &str = "sides for a job without a shape: exact factors nearest to a square, least total side length, or \
    every exact factorisation in turn";

/// Rule that selects the frames of a job without shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shaping {
    /// A single frame, which a rule selects.
    One(ShapeRule),
    /// Every frame of exactly the job's size that fits the machine; the frame nearest to a square comes first. If no
    /// frame of exactly the job's size fits, the frame nearest to a square that can hold the job is used.
    Any,
}

impl Default for Shaping {
    fn default() -> Self {
        Self::One(ShapeRule::Factors)
    }
}

impl Shaping {
    /// Every rule with its name.
    pub const ALL: [(&'static str, Shaping); 3] = [
        ("factors", Shaping::One(ShapeRule::Factors)),
        ("near-square", Shaping::One(ShapeRule::NearSquare)),
        ("any", Shaping::Any),
    ];
}

/// Frames that are tried for a request, in order. Frames are cached by size.
#[derive(Clone, Debug)]
pub struct Shapes {
    grid: Grid,
    shaping: Shaping,
    turn: bool,
    /// For each size, the cached frames; empty for a size that has not been requested yet.
    by_size: Vec<Vec<[u16; 3]>>,
    given: Vec<[u16; 3]>,
    /// Scratch list for the frames of a second request.
    smaller: Vec<[u16; 3]>,
}

impl Shapes {
    /// Creates frames on `grid`. If `turn` is set, the other permutations of each frame are included.
    pub fn new(grid: &Grid, shaping: Shaping, turn: bool) -> Self {
        let (by_size, given, smaller) = (Vec::new(), Vec::new(), Vec::new());
        Self { grid: grid.clone(), shaping, turn, by_size, given, smaller }
    }

    /// Returns the frames for a request. There are no frames if the request exceeds the number of processors of the
    /// grid, or if its shape has a side of 0.
    pub fn of(&mut self, request: Request) -> &[[u16; 3]] {
        if let Some(shape) = request.shape {
            self.given.clear();
            if shape.contains(&0) {
                return &[];
            }
            self.given.extend(turned(shape, self.grid.dimensions(), self.turn));
            return &self.given;
        }
        let size = request.size as usize;
        if size > self.grid.processors() {
            return &[];
        }
        if self.by_size.len() <= size {
            self.by_size.resize_with(size + 1, Vec::new);
        }
        if self.by_size[size].is_empty() {
            self.by_size[size] = self.make(request.size);
        }
        &self.by_size[size]
    }

    /// Returns whether every frame of `asked` that fits the grid contains a frame of `refused`. If the result is true
    /// and no frame of `refused` is free, then no frame of `asked` is free.
    pub fn cover(&mut self, refused: Request, asked: Request) -> bool {
        let mut smaller = std::mem::take(&mut self.smaller);
        smaller.clear();
        smaller.extend_from_slice(self.of(refused));
        let extents = self.grid.axes().map(|axis| axis.extent);
        let within = |a: &[u16; 3], b: &[u16; 3]| (0..3).all(|i| a[i] <= b[i]);
        let frames = self.of(asked);
        let covered = !frames.is_empty()
            && frames.iter().all(|sides| {
                !within(sides, &extents) || smaller.iter().any(|small| within(small, sides))
            });
        self.smaller = smaller;
        covered
    }

    /// Returns the number of processors of the largest frame for a request, but at least the requested number.
    pub fn largest(&mut self, request: Request) -> u64 {
        let largest = self.of(request).iter().map(|&sides| volume(sides)).max();
        largest.unwrap_or(0).max(u64::from(request.size))
    }

    fn make(&self, size: u32) -> Vec<[u16; 3]> {
        let rule = match self.shaping {
            Shaping::One(rule) => rule,
            Shaping::Any => {
                let mut frames = factorisations(size, &self.grid);
                if !frames.is_empty() {
                    let sum = |sides: [u16; 3]| sides.into_iter().map(u32::from).sum::<u32>();
                    frames.sort_by_key(|&sides| (sum(sides), Reverse((sides[0], sides[1]))));
                    return frames;
                }
                ShapeRule::NearSquare
            }
        };
        let shape = rule.shape(size, &self.grid).into_iter();
        shape.flat_map(|shape| turned(shape, self.grid.dimensions(), self.turn)).collect()
    }
}

/// Returns the frames of exactly `size` processors that fit the grid, in every orientation.
pub fn factorisations(size: u32, grid: &Grid) -> Vec<[u16; 3]> {
    let extents = grid.axes().map(|axis| axis.extent);
    let mut frames = Vec::new();
    for x in (1..=extents[0]).filter(|&x| size.is_multiple_of(u32::from(x))) {
        let rest = size / u32::from(x);
        for y in (1..=extents[1]).filter(|&y| rest.is_multiple_of(u32::from(y))) {
            match u16::try_from(rest / u32::from(y)) {
                Ok(z) if z <= extents[2] => frames.push([x, y, z]),
                _ => {}
            }
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn frames(machine: &str, shaping: Shaping, turn: bool, request: Request) -> Vec<[u16; 3]> {
        let topology: Topology = machine.parse().expect("a machine");
        let mut shapes = Shapes::new(topology.grid().expect("a grid"), shaping, turn);
        let first = shapes.of(request).to_vec();
        assert_eq!(shapes.of(request), first, "the second answer comes from the cache");
        first
    }

    #[test]
    fn returns_the_frames_of_a_size() {
        let of = |shaping, turn, size| frames("4x6", shaping, turn, Request::of_size(size));
        assert_eq!(of(Shaping::default(), false, 8), [[4, 2, 1]]);
        assert_eq!(of(Shaping::default(), true, 8), [[4, 2, 1], [2, 4, 1]]);
        assert_eq!(of(Shaping::Any, false, 12), [[4, 3, 1], [3, 4, 1], [2, 6, 1]]);
        assert_eq!(of(Shaping::Any, true, 13), [[3, 5, 1], [5, 3, 1]]);
        assert_eq!(of(Shaping::Any, false, 25), [[0; 3]; 0]);
        // The sum of the sides 65,535 x 1 x 1 exceeds 65,535.
        let long = frames("65535x16", Shaping::Any, false, Request::of_size(65_535));
        assert_eq!(long, [[4369, 15, 1], [13_107, 5, 1], [21_845, 3, 1], [65_535, 1, 1]]);
        let cube = frames("2x2x4", Shaping::Any, false, Request::of_size(4));
        assert_eq!(cube, [[2, 2, 1], [2, 1, 2], [1, 2, 2], [1, 1, 4]]);
    }

    #[test]
    fn keeps_a_given_shape() {
        let request = Request::shaped(5, Some([2, 3, 1]));
        assert_eq!(frames("4x6", Shaping::Any, false, request), [[2, 3, 1]]);
        assert_eq!(frames("4x6", Shaping::Any, true, request), [[2, 3, 1], [3, 2, 1]]);
        let nothing = Request::shaped(1, Some([2, 0, 1]));
        assert_eq!(frames("4x6", Shaping::Any, true, nothing), [[0; 3]; 0]);
    }
}
