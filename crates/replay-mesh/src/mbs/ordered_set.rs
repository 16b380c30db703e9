//! A set of small numbers, which are read in increasing order.
//!
//! In the papers, lists of free pages and free blocks are sorted. If entries are numbered in list
//! order, a sorted list is equivalent to a set of bits. The summary of the set has one bit per
//! word, which is set if the word is not zero. Finding the first member therefore reads only a few
//! words (the summary for [`MAX_POINTS`](replay_engine::topology::MAX_POINTS) has 256 words). Insertion and
//! removal take constant time.

use replay_engine::bits::{self, WORD as BITS};

/// A set of the numbers 0 to `universe` - 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderedSet {
    universe: usize,
    words: Vec<u64>,
    /// The summary: bit w is set iff `words[w]` is not zero.
    summary: Vec<u64>,
    count: usize,
}

impl OrderedSet {
    /// Creates the empty set of numbers below `universe`.
    pub fn new(universe: usize) -> Self {
        let words = vec![0; universe.div_ceil(BITS)];
        Self { universe, summary: vec![0; words.len().div_ceil(BITS)], words, count: 0 }
    }

    /// Returns the number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether `number`, which must be below the universe, is a member.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        bits::get(&self.words, number)
    }

    /// Adds a number, which must be below the universe. Has no effect if the number is a member.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        let word = number / BITS;
        self.count += usize::from(!self.contains(number));
        self.words[word] |= 1 << (number % BITS);
        self.summary[word / BITS] |= 1 << (word % BITS);
    }

    /// Removes a number. Has no effect if the number is not a member.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        if self.contains(number) {
            self.put(number / BITS, self.words[number / BITS] & !(1 << (number % BITS)));
        }
    }

    /// Returns the smallest member.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        let word = self.first_word()?;
        Some(word * BITS + self.words[word].trailing_zeros() as usize)
    }

    /// Removes and returns the smallest member.
    #[inline]
    pub fn pop_first(&mut self) -> Option<usize> {
        let word = self.first_word()?;
        let bits = self.words[word];
        self.put(word, bits & (bits - 1));
        Some(word * BITS + bits.trailing_zeros() as usize)
    }

    /// Removes members in increasing order while `wanted` returns true. The first member for which
    /// `wanted` returns false stays in the set.
    #[inline]
    pub fn pop_while(&mut self, mut wanted: impl FnMut(usize) -> bool) {
        while let Some(word) = self.first_word() {
            let mut bits = self.words[word];
            while bits != 0 && wanted(word * BITS + bits.trailing_zeros() as usize) {
                bits &= bits - 1;
            }
            self.put(word, bits);
            if bits != 0 {
                return;
            }
        }
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.summary.fill(0);
        self.count = 0;
    }

    /// Adds every number below the universe.
    pub fn fill(&mut self) {
        (0..self.universe).for_each(|number| self.insert(number));
    }

    /// Returns the members in increasing order.
    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        bits::ones(&self.words)
    }

    #[inline]
    fn first_word(&self) -> Option<usize> {
        let at = self.summary.iter().position(|&bits| bits != 0)?;
        Some(at * BITS + self.summary[at].trailing_zeros() as usize)
    }

    /// Replaces a word by a subset of its bits.
    #[inline]
    fn put(&mut self, word: usize, bits: u64) {
        self.count -= (self.words[word] ^ bits).count_ones() as usize;
        self.words[word] = bits;
        if bits == 0 {
            self.summary[word / BITS] &= !(1 << (word % BITS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_universe_may_be_empty_or_end_inside_a_word() {
        assert_eq!(OrderedSet::new(0).first(), None);
        let mut set = OrderedSet::new(130);
        set.fill();
        assert_eq!((set.len(), set.iter().last()), (130, Some(129)));
        set.clear();
        assert_eq!(set, OrderedSet::new(130));
    }

    proptest! {
        #[test]
        fn behaves_like_a_sorted_set(
            steps in proptest::collection::vec((0usize..9000, 0u8..5, 0usize..200), 1..200),
        ) {
            let (mut set, mut plain) = (OrderedSet::new(9000), BTreeSet::new());
            for (number, step, few) in steps {
                match step {
                    0 | 1 => {
                        set.insert(number);
                        plain.insert(number);
                    }
                    2 => {
                        set.remove(number);
                        plain.remove(&number);
                    }
                    3 => prop_assert_eq!(set.pop_first(), plain.pop_first()),
                    _ => {
                        let mut popped = Vec::new();
                        set.pop_while(|n| popped.len() < few && { popped.push(n); true });
                        let expected: Vec<_> = plain.iter().copied().take(few).collect();
                        expected.iter().for_each(|n| { plain.remove(n); });
                        prop_assert_eq!(popped, expected);
                    }
                }
                prop_assert_eq!(set.len(), plain.len());
                prop_assert_eq!(set.is_empty(), plain.is_empty());
                prop_assert_eq!(set.first(), plain.first().copied());
                prop_assert_eq!(set.contains(number), plain.contains(&number));
            }
            prop_assert!(set.iter().eq(plain.iter().copied()));
        }
    }
}
