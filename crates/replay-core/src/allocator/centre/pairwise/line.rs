use super::contest::Contest;
use crate::machine::Machine;
use crate::topology::Grid;

/// Scores candidates on a mesh of one dimension.
///
/// There the candidates of Gen-Alg and MM are the free processors, and the nearest to one of
/// them are so many in a row, in scan order. Of two that are equally near the first is
/// taken: by scan order, and by the carried order too, for the candidate before lies on its
/// side. So the rows move on with the candidates, and their scores follow from sums.
#[derive(Debug)]
pub struct Line {
    /// Where the free processors are, in scan order.
    places: Vec<u64>,
    /// By number of free processors before: the sum of their places, and of their places
    /// times their numbers.
    sums: Vec<[u64; 2]>,
}

impl Line {
    /// `None` unless `grid` is a mesh with at most one dimension that is longer than one.
    pub fn new(grid: &Grid) -> Option<Self> {
        let long = grid.axes().iter().filter(|axis| axis.extent > 1).count();
        (long <= 1 && !grid.is_wrapped()).then(|| Self { places: Vec::new(), sums: Vec::new() })
    }

    /// Enters the score of every candidate into the contest.
    pub fn compete(
        &mut self,
        machine: &Machine,
        size: usize,
        contest: &mut Contest,
        admitted: impl Fn(u64) -> u64,
    ) {
        self.places.clear();
        self.places.extend(machine.free_nodes().map(|node| u64::from(node.0)));
        let (mut places, mut products) = (0, 0);
        self.sums.clear();
        self.sums.push([0, 0]);
        for (number, &place) in (0..).zip(&self.places) {
            places += place;
            products += number * place;
            self.sums.push([places, products]);
        }
        let mut first = 0;
        for (index, &centre) in self.places.iter().enumerate() {
            let nearer = |first: usize| {
                let next = self.places.get(first + size)?;
                Some(*next > centre && next - centre < centre.abs_diff(self.places[first]))
            };
            while index >= first + size || nearer(first) == Some(true) {
                first += 1;
            }
            contest.enter(self.score(first, size), index, &admitted);
        }
    }

    /// The pairwise sum of so many processors from the `first` on: each is as often added as
    /// there are others before it, and taken off as often as there are others behind.
    fn score(&self, first: usize, size: usize) -> u64 {
        let ([places, products], [end_places, end_products]) =
            (self.sums[first], self.sums[first + size]);
        let (places, products) = (end_places - places, end_products - products);
        2 * (products - first as u64 * places) - (size as u64 - 1) * places
    }
}
