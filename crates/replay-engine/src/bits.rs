//! Rows of bits, stored in words of 64 bits: bit `i` of a row is bit `i % 64` of word `i / 64`.

/// Number of bits of a word.
pub const WORD: usize = u64::BITS as usize;

/// Sets the bits of `row` to `flags`. Bits after the last flag become 0.
#[inline]
pub fn pack(flags: &[bool], row: &mut [u64]) {
    // The highest byte of the product with this constant consists of the lowest bits of the eight
    // bytes.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    for (word, flags) in row.iter_mut().zip(flags.chunks(WORD)) {
        let (eights, rest) = flags.as_chunks::<8>();
        let rest = rest.iter().rev().fold(0, |bits, &flag| bits << 1 | u64::from(flag));
        *word = eights.iter().rev().fold(rest, |bits, eight| {
            let bytes = u64::from_le_bytes(eight.map(u8::from));
            bits << 8 | bytes.wrapping_mul(GATHER) >> (WORD - 8)
        });
    }
}

/// Returns the lowest set bit.
#[inline]
pub fn first(row: &[u64]) -> Option<usize> {
    let word = row.iter().position(|&word| word != 0)?;
    Some(word * WORD + row[word].trailing_zeros() as usize)
}

/// Returns whether a bit is set.
#[inline]
pub fn get(row: &[u64], bit: usize) -> bool {
    row[bit / WORD] >> (bit % WORD) & 1 == 1
}

/// Returns the set bits in ascending order.
#[inline]
pub fn ones(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| i * WORD + rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            bit
        })
    })
}

/// Returns the maximal runs of set bits in ascending order; each run is given by its first bit and
/// its length.
#[inline]
pub fn runs(row: &[u64]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bits = row.len() * WORD;
    // Returns the first bit from `from` on that differs from `value`.
    let change = move |from: usize, value: u64| {
        let mut at = from;
        while at < bits {
            let word = (row[at / WORD] ^ value) >> (at % WORD);
            if word != 0 {
                return at + word.trailing_zeros() as usize;
            }
            at = (at / WORD + 1) * WORD;
        }
        bits
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = change(at, 0);
        at = change(start, u64::MAX);
        (start < bits).then(|| (start, at - start))
    })
}

/// Returns whether all `length` bits from bit `start` on are set.
#[inline]
pub fn all(row: &[u64], start: usize, length: usize) -> bool {
    masks(start, length).all(|(word, mask)| row[word] & mask == mask)
}

/// Clears `length` bits from `start` on.
#[inline]
pub fn clear(row: &mut [u64], start: usize, length: usize) {
    masks(start, length).for_each(|(word, mask)| row[word] &= !mask);
}

/// Sets `length` bits from `start` on.
#[inline]
pub fn set(row: &mut [u64], start: usize, length: usize) {
    masks(start, length).for_each(|(word, mask)| row[word] |= mask);
}

/// Returns whether any of the `length` bits from bit `start` on is set.
#[inline]
pub fn any_of(row: &[u64], start: usize, length: usize) -> bool {
    masks(start, length).any(|(word, mask)| row[word] & mask != 0)
}

/// Computes `to = a & b`, word by word.
#[inline]
pub fn and(to: &mut [u64], a: &[u64], b: &[u64]) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = a & b;
    }
}

/// Returns word `i` of the row shifted down by `shift` bits.
#[inline]
pub fn down(row: &[u64], i: usize, shift: usize) -> u64 {
    let word = |i: usize| row.get(i).copied().unwrap_or(0);
    let (i, bits) = (i + shift / WORD, shift % WORD);
    // Two shifts, by 63 - `bits` and by 1, replace a shift by 64 - `bits`, which would not be legal
    // for `bits` = 0.
    word(i) >> bits | word(i + 1) << (WORD - 1 - bits) << 1
}

/// Returns word `i` of the row shifted up by `shift` bits.
#[inline]
pub fn up(row: &[u64], i: usize, shift: usize) -> u64 {
    let word = |i: Option<usize>| i.and_then(|i| row.get(i)).copied().unwrap_or(0);
    let (whole, bits) = (shift / WORD, shift % WORD);
    word(i.checked_sub(whole)) << bits | word(i.checked_sub(whole + 1)) >> (WORD - 1 - bits) >> 1
}

/// Returns the words that contain the bits `start..start + length`. Each word has a mask of its
/// bits in this range.
fn masks(start: usize, length: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = start + length;
    (start / WORD..end.div_ceil(WORD)).map(move |word| {
        let below = |bit: usize| match bit.saturating_sub(word * WORD) {
            0 => 0,
            bits => u64::MAX >> (WORD - bits.min(WORD)),
        };
        (word, below(end) & !below(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(flags: &[bool]) -> Vec<u64> {
        let mut row = vec![u64::MAX; flags.len().div_ceil(WORD)];
        pack(flags, &mut row);
        row
    }

    fn plain_runs(flags: &[bool]) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for at in (0..flags.len()).filter(|&at| flags[at]) {
            match runs.last_mut() {
                Some((start, length)) if *start + *length == at => *length += 1,
                _ => runs.push((at, 1)),
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn rows_behave_like_lists_of_flags(
            // Runs are long, so that they cross word boundaries.
            flags in proptest::collection::vec((any::<bool>(), 1usize..70), 1..8)
                .prop_map(|runs| runs.into_iter().flat_map(|(f, n)| vec![f; n]).collect::<Vec<_>>()),
            start in 0.0..1.0f64,
            share in 0.0..1.0f64,
        ) {
            let row = packed(&flags);
            let set: Vec<_> = (0..flags.len()).filter(|&i| flags[i]).collect();
            prop_assert_eq!(ones(&row).collect::<Vec<_>>(), set.clone());
            prop_assert_eq!(first(&row), set.first().copied());
            prop_assert_eq!(runs(&row).collect::<Vec<_>>(), plain_runs(&flags));
            let start = (flags.len() as f64 * start) as usize;
            let length = ((flags.len() - start) as f64 * share) as usize;
            let range = start..start + length;
            prop_assert_eq!(all(&row, start, length), flags[range.clone()].iter().all(|&f| f));
            prop_assert_eq!(get(&row, start), flags[start]);
            let mut cleared = row.clone();
            clear(&mut cleared, start, length);
            let rest: Vec<_> = set.iter().copied().filter(|i| !range.contains(i)).collect();
            prop_assert_eq!(ones(&cleared).collect::<Vec<_>>(), rest.clone());
            prop_assert_eq!(any_of(&row, start, length), flags[range.clone()].contains(&true));
            super::set(&mut cleared, start, length);
            let mut filled: Vec<_> = rest.into_iter().chain(range).collect();
            filled.sort_unstable();
            prop_assert_eq!(ones(&cleared).collect::<Vec<_>>(), filled);
            let moved: Vec<_> = (0..row.len()).map(|i| down(&row, i, start)).collect();
            let expected: Vec<_> = set.iter().filter_map(|i| i.checked_sub(start)).collect();
            prop_assert_eq!(ones(&moved).collect::<Vec<_>>(), expected);
            let moved: Vec<_> = (0..row.len()).map(|i| up(&row, i, start)).collect();
            let expected: Vec<_> =
                set.iter().map(|i| i + start).filter(|&i| i < row.len() * WORD).collect();
            prop_assert_eq!(ones(&moved).collect::<Vec<_>>(), expected);
        }
    }
}
