//! Names of the strategies for hypercubes.

use std::sync::LazyLock;

use crate::hypercube::auxiliary::{Auxiliary, Release};
use crate::hypercube::block_search::BlockSearch;
use crate::hypercube::cubic::{Cubic, Subcubes};
use crate::hypercube::non_cubic::NonCubic;
use crate::hypercube::{free_list, maximal_set, multiple_gray_code};
use replay_engine::allocator::subcube::SidesRule;
use replay_engine::allocator::{Allocator, AllocatorOptions};
use replay_engine::naming::{Entry, Table, Value, kind, spelled};
use replay_engine::topology::{Hypercube, Topology};

/// Cubic strategy that allocates subcubes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recognition {
    /// The buddy strategy ([`BlockSearch::buddy`]).
    Buddy,
    /// The Gray code strategy ([`BlockSearch::gray_code`]).
    GrayCode,
    /// The modified buddy strategy ([`BlockSearch::modified_buddy`]).
    ModifiedBuddy,
    /// The multiple Gray code strategy ([`multiple_gray_code`]).
    MultipleGrayCode {
        /// Number of codes, at least 1; `None` for all codes.
        codes: Option<u32>,
    },
    /// The free list ([`free_list`]).
    FreeList,
    /// The maximal set ([`maximal_set`]).
    MaximalSet,
}

spelled!(Recognition, RECOGNITIONS);

impl Recognition {
    /// Creates the state for a hypercube of `n` dimensions.
    ///
    /// # Errors
    /// A message if more codes are requested than exist for `n` dimensions.
    pub fn subcubes(self, n: u32) -> Result<Box<dyn Subcubes>, String> {
        Ok(match self {
            Self::Buddy => Box::new(BlockSearch::buddy(n)),
            Self::GrayCode => Box::new(BlockSearch::gray_code(n)),
            Self::ModifiedBuddy => Box::new(BlockSearch::modified_buddy(n)),
            Self::MultipleGrayCode { codes } => {
                let most = multiple_gray_code::complete_codes(n);
                let codes = codes.unwrap_or(most);
                if codes > most {
                    return Err(format!(
                        "codes={codes}: {most} codes recognise every subcube of {n} dimensions; use at most \
                         {most}"
                    ));
                }
                Box::new(multiple_gray_code::MultipleGrayCode::new(n, codes))
            }
            Self::FreeList => Box::new(free_list::FreeList::new(n)),
            Self::MaximalSet => Box::new(maximal_set::MaximalSet::new(n)),
        })
    }

    fn codes(&mut self) -> Option<&mut Option<u32>> {
        match self {
            Self::MultipleGrayCode { codes } => Some(codes),
            _ => None,
        }
    }
}

static RECOGNITIONS: LazyLock<Table<Recognition>> =
    LazyLock::new(|| Table::new("cubic strategy", entries(|it| it, |it| it)));

/// Returns an entry for each cubic strategy, with options of any type that contains a
/// [`Recognition`].
fn entries<T: Value>(
    options: fn(Recognition) -> T,
    field: fn(&mut T) -> &mut Recognition,
) -> Vec<Entry<T>> {
    let entry = |name, it| Entry::new(name, options(it));
    // This number of codes recognises every subcube of the largest hypercube.
    let most_codes = multiple_gray_code::complete_codes(Hypercube::MAX_DIMENSIONS.into());
    vec![
        entry("cube-buddy", Recognition::Buddy)
            .aliases(&["hypercube-buddy"])
            .about("On a hypercube: the first free aligned range of 2^k addresses; O(N / 2^k).")
            .source("Knowlton 1965; Turner 1995, section 2.2"),
        entry("gray-code", Recognition::GrayCode)
.about("On a hypercube: the first free range along a Gray code, which recognises twice as many \
                 subcubes as the buddy system; O(N / 2^k).")
            .source("Chen, Shin 1987; Turner 1995, section 2.2"),
        entry("modified-buddy", Recognition::ModifiedBuddy)
.about("On a hypercube: a free aligned range of 2^(k-1) addresses and the first free range among \
                 its partners; O(n N / 2^k).")
            .source("Al-Dhelaan, Bose 1989; Turner 1995, section 2.2"),
        entry("multiple-gray-code", Recognition::MultipleGrayCode { codes: None })
.about("On a hypercube: the first free range along the first Gray code that has a free range; with all codes, every free subcube is recognised.")
            .source("Chen, Shin 1987")
            .case(
                "codes",
                kind::integer(1..=most_codes).or("all"),
                "number of codes; C(n, n/2) codes recognise every subcube of n dimensions",
                move |options| field(options).codes(),
            ),
        entry("cube-free-list", Recognition::FreeList)
            .aliases(&["fl"])
.about("On a hypercube: lists of free subcubes by dimension; the smallest sufficient subcube is split (FL). Every free subcube is recognised. O(n) if a sufficient subcube is listed.")
            .source("Kim, Das, Lin 1991; Turner 1995, sections 2.2 and 3.3.2"),
        entry("maximal-set", Recognition::MaximalSet)
            .aliases(&["mss"])
.about("On a hypercube: the smallest sufficient subcube of a maximal set of disjoint free \
                 subcubes (MSS); every free subcube is recognised.")
            .source("Dutt, Hayes 1988"),
    ]
}

const SHAPE: &str =
    "mesh for a job without a shape: exact (least area), compact (sides up to 1 : 4), row";

/// Options of a strategy that gives a job one whole subcube.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicOptions {
    /// Cubic strategy.
    pub recognition: Recognition,
    /// Rule that selects the mesh of a job without shape.
    pub sides: SidesRule,
}

impl AllocatorOptions for CubicOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let cube = cube_of(topology)?;
        let subcubes = self.recognition.subcubes(cube.dimensions().into())?;
        Ok(Box::new(Cubic::new(cube, self.sides, subcubes)))
    }
}

/// Returns the table of `cube-buddy`, `gray-code`, `modified-buddy`, `multiple-gray-code`,
/// `cube-free-list` and `maximal-set`.
pub fn cubic() -> Table<CubicOptions> {
    let options = |recognition| CubicOptions { recognition, sides: SidesRule::default() };
    let entries = entries(options, |options| &mut options.recognition);
    let shaped = |entry: Entry<CubicOptions>| {
        entry.param("shape", kind::one_of(&SidesRule::ALL), SHAPE, |options| &mut options.sides)
    };
    Table::new("allocator", entries.into_iter().map(shaped))
}

/// Options of the auxiliary free list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxiliaryOptions {
    /// Cubic strategy that is used if the auxiliary list has no sufficient cube.
    pub over: Recognition,
    /// Destination of a subcube from the auxiliary list when its job ends.
    pub release: Release,
    /// Rule that selects the mesh of a job without shape.
    pub sides: SidesRule,
}

impl AllocatorOptions for AuxiliaryOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let cube = cube_of(topology)?;
        let subcubes = self.over.subcubes(cube.dimensions().into())?;
        Ok(Box::new(Auxiliary::new(cube, self.sides, self.release, subcubes)))
    }
}

/// Returns the table of `afl`.
pub fn auxiliary() -> Table<AuxiliaryOptions> {
    let options = AuxiliaryOptions {
        over: Recognition::FreeList,
        release: Release::default(),
        sides: SidesRule::default(),
    };
    let afl = Entry::new("afl", options)
        .aliases(&["auxiliary-free-list"])
        .about(
"On a hypercube: exactly the mesh of the job; the unused parts of its subcube are the first choice for other jobs, and merge when the job ends (AFL); O(n + k^2) with lists.",
        )
        .source("Turner 1995, chapter 3")
        .param(
            "over",
            kind::parsed::<Recognition>(
                "cube-buddy|gray-code|modified-buddy|multiple-gray-code[codes=..]|cube-free-list|maximal-set",
            ),
            "cubic strategy used if the list has no sufficient cube",
            |options| &mut options.over,
        )
        .param(
            "release",
            kind::one_of(&Release::ALL),
"destination of a subcube of the list when its job ends: the free subcubes (literal), the \
             owner if it still runs (owner), or also the lender of the owner's subcube (heir)",
            |options| &mut options.release,
        )
        .param("shape", kind::one_of(&SidesRule::ALL), SHAPE, |options| &mut options.sides);
    Table::new("allocator", [afl])
}

/// Options of non-cubic allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NonCubicOptions {
    /// Maximum number of subcubes of a job.
    pub cubes: u32,
    /// Whether each subcube of a job must be adjacent to another subcube of the job.
    pub adjacent: bool,
}

impl AllocatorOptions for NonCubicOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(NonCubic::new(cube_of(topology)?, self.cubes, self.adjacent)))
    }
}

/// Returns the table of `non-cubic`.
pub fn non_cubic() -> Table<NonCubicOptions> {
    const MOST: u32 = Hypercube::MAX_DIMENSIONS as u32 + 1;
    let non_cubic = Entry::new("non-cubic", NonCubicOptions { cubes: MOST, adjacent: true })
        .aliases(&["nc"])
        .about(
"On a hypercube: a job of p processors gets a subcube of the free list for each 1 in the binary form of p; each subcube is adjacent to another subcube of the job.",
        )
        .source("Kim, Das, Lin 1991; Turner 1995, section 3.1")
        .param(
            "cubes",
            kind::integer(1..=MOST),
            "maximum number of subcubes of a job; a size that needs more subcubes is rounded up",
            |options| &mut options.cubes,
        )
        .param(
            "adjacent",
            kind::yes_no(),
            "whether each subcube must be adjacent to another subcube of the job",
            |options| &mut options.adjacent,
        );
    Table::new("allocator", [non_cubic])
}

/// Returns the hypercube of a machine.
fn cube_of(topology: &Topology) -> Result<&Hypercube, String> {
    match topology {
        Topology::Hypercube(cube) => Ok(cube),
        _ => Err("needs a hypercube such as hypercube:7".to_string()),
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn names_have_one_canonical_form() {
        let canonical = [
            ("FL", "cube-free-list"),
            ("mss[shape=exact]", "maximal-set"),
            ("gray_code[shape=row]", "gray-code[shape=row]"),
            ("multiple-gray-code[codes=3]", "multiple-gray-code[codes=3]"),
            ("afl[over=fl,release=literal]", "afl"),
            ("afl[release=heir,over=cube-buddy]", "afl[over=cube-buddy,release=heir]"),
            ("afl[over=multiple-gray-code[codes=2]]", "afl[over=multiple-gray-code[codes=2]]"),
            ("nc[cubes=16,adjacent=no]", "non-cubic[adjacent=no]"),
        ];
        let invalid = [
            ("gray-code[codes=2]", "unknown parameter \"codes\""),
            ("multiple-gray-code[codes=0]", "not an integer from 1 to 6435"),
            ("afl[over=first-fit]", "cubic strategy \"first-fit\": unknown"),
            ("afl[release=mine]", "literal, owner, heir"),
            ("non-cubic[cubes=0]", "not an integer from 1 to 16"),
        ];
        replay_contract::check_names(crate::allocator, &canonical, &invalid);
    }

    #[test]
    fn other_machines_are_refused() {
        let afl = crate::allocator("afl").expect("a strategy");
        let mesh = "4x4".parse().expect("a machine");
        let error = afl.build(&mesh, 0).err().expect("no hypercube").to_string();
        assert_eq!(error, "allocator \"afl\": needs a hypercube such as hypercube:7");
    }
}
