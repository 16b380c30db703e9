use std::fmt;
use std::str::FromStr;

/// One of `count` parts of a plan. The part with number `number` (from 1) contains every `count`-th cell, beginning
/// with cell `number`. Because neighbouring cells have similar costs, the parts also have similar costs. If cells that
/// run together share work, the parts are [blocks](Self::of_block) instead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shard {
    number: u32,
    count: u32,
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Returns whether this part is the whole plan.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Number of parts.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns part `number` of the same division into parts; `None` if there is no such part.
    pub fn sibling(self, number: u32) -> Option<Self> {
        (1..=self.count).contains(&number).then_some(Self { number, ..self })
    }

    /// Returns the part that contains a cell, for the same number of parts.
    pub fn of_cell(self, run: u32) -> Self {
        Self { number: run % self.count + 1, ..self }
    }

    /// Returns the part that contains a cell if each part is a block of successive cells; `cells` is the number of all
    /// cells. The sizes of the blocks differ by at most 1.
    pub fn of_block(self, cell: u32, cells: u32) -> Self {
        let number = u64::from(cell) * u64::from(self.count) / u64::from(cells.max(1));
        Self { number: number as u32 + 1, ..self }
    }

    /// Returns the reason why the parts of a command that reads these traces again for its merge cannot be merged.
    pub fn problem(self, traces: &[impl AsRef<str>]) -> Option<String> {
        traces.iter().any(|name| name.as_ref() == "-").then(|| {
            format!(
                "--shard {self}: standard input cannot be read again by replay merge; name a file"
            )
        })
    }

    /// Returns the numbers of the cells of this part, in ascending order, for a plan with `cells` cells.
    pub fn cells(self, cells: u32) -> impl Iterator<Item = u32> {
        (self.number - 1..cells).step_by(self.count as usize)
    }
}

/// Error from parsing a shard.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is not a shard: write i/n with 1 <= i <= n, such as 2/4")]
pub struct ShardError(String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parsed = text.split_once('/').and_then(|(number, count)| {
            let (number, count) = (number.trim().parse().ok()?, count.trim().parse().ok()?);
            Self { number: 1, count }.sibling(number)
        });
        parsed.ok_or_else(|| ShardError(text.to_string()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_and_formats_shards() {
        for text in ["1/1", "2/4", "4/4"] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()), Ok(text.into()));
        }
        for bad in ["", "0/4", "5/4", "1", "1/0", "-1/4", "1/4/2", "a/b"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_cell_is_in_one_shard(cells in 0u32..200, count in 1u32..20) {
            let whole = Shard { number: 1, count };
            let mut all: Vec<u32> = Vec::new();
            for number in 1..=count {
                let shard = whole.sibling(number).expect("a part");
                let cells: Vec<u32> = shard.cells(cells).collect();
                prop_assert!(cells.iter().all(|&run| whole.of_cell(run) == shard));
                all.extend(cells);
            }
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..cells));
        }

        #[test]
        fn blocks_are_successive_and_equally_large(cells in 0u32..200, count in 1u32..20) {
            let whole = Shard { number: 1, count };
            let numbers: Vec<u32> = (0..cells).map(|cell| whole.of_block(cell, cells).number).collect();
            prop_assert!(numbers.is_sorted());
            let sizes = (1..=count).map(|number| numbers.iter().filter(|&&of| of == number).count());
            let sizes: Vec<usize> = sizes.collect();
            prop_assert_eq!(sizes.iter().sum::<usize>(), cells as usize);
            let (least, most) = (sizes.iter().min(), sizes.iter().max());
            prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
        }
    }
}
