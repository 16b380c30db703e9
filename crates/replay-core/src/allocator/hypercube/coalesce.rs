//! Coalescing: merging complementary subcubes, dimension by dimension (Turner 1995, figure 3.8).

use super::cube::Cube;
use super::lists::CubeLists;

/// Merges subcubes; the fields are scratch memory.
#[derive(Clone, Debug)]
pub struct Coalescer {
    n: u32,
    lists: CubeLists,
}

impl Coalescer {
    /// Creates a coalescer for subcubes of a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        Self { n, lists: CubeLists::new(n) }
    }

    /// Merges disjoint cubes, from the smallest dimension upwards. Within a dimension, each cube in
    /// order merges with the first complementary cube that has not merged yet. A merged cube can
    /// merge again in the next dimension. On return, `cubes` contains the resulting cubes, largest
    /// first.
    pub fn coalesce(&mut self, cubes: &mut Vec<Cube>) {
        cubes.drain(..).for_each(|cube| self.lists.push(cube));
        for dimension in 0..self.n {
            let mut next = self.lists.first(dimension);
            while let Some(cube) = next {
                let partner = self.lists.partner(cube);
                // The partner may be the cube that follows in the list.
                partner.into_iter().for_each(|partner| self.lists.remove(partner));
                next = self.lists.after(cube);
                if let Some(merged) = partner.and_then(|partner| cube.merged(partner)) {
                    self.lists.remove(cube);
                    self.lists.push(merged);
                }
            }
        }
        for dimension in (0..=self.n).rev() {
            while let Some(cube) = self.lists.first(dimension) {
                self.lists.remove(cube);
                cubes.push(cube);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_merge_level_by_level() {
        let mut cubes: Vec<Cube> = ["0*1", "000", "010", "11*", "101"]
            .iter()
            .map(|text| text.parse().expect("a subcube"))
            .collect();
        Coalescer::new(3).coalesce(&mut cubes);
        let texts: Vec<String> = cubes.iter().map(|cube| cube.text(3)).collect();
        assert_eq!(texts, ["0**", "11*", "101"]);
    }
}
