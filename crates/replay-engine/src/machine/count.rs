//! Integer types for counts of processors and for sums of counts.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, Not};

/// An unsigned integer in one vector lane, with arithmetic modulo 2^w, where w is the number of bits of the type. 16
/// bits suffice for the counts of machines of at most 65,535 points; a vector register holds twice as many 16-bit
/// integers as 32-bit integers.
pub trait Count:
    Copy
    + Default
    + Ord
    + Debug
    + Send
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + From<bool>
    + From<u16>
    + Into<u32>
    + 'static
{
    /// The largest value.
    const MAX: Self;

    /// Converts a number, which must fit into the type.
    fn of(number: usize) -> Self;

    /// Returns the value, capped at [`Count::MAX`].
    fn clamp_from(value: u32) -> Self;

    /// Returns a mask for `&`: all bits are set if the condition holds, otherwise no bit is set.
    fn mask(condition: bool) -> Self;

    /// Returns the sum modulo 2^w, where w is the number of bits of the type.
    fn plus(self, other: Self) -> Self;

    /// Returns the difference modulo 2^w, where w is the number of bits of the type.
    fn minus(self, other: Self) -> Self;

    /// Returns the product modulo 2^w, where w is the number of bits of the type.
    fn times(self, other: Self) -> Self;

    /// Returns the sum, capped at [`Count::MAX`].
    fn saturating_plus(self, other: Self) -> Self;

    /// Returns the difference, or 0 if it is negative.
    fn saturating_minus(self, other: Self) -> Self;
}

macro_rules! count {
    ($type:ty) => {
        impl Count for $type {
            const MAX: Self = <$type>::MAX;

            #[inline(always)]
            fn of(number: usize) -> Self {
                number as $type
            }

            #[inline(always)]
            fn clamp_from(value: u32) -> Self {
                <$type>::try_from(value).unwrap_or(<$type>::MAX)
            }

            #[inline(always)]
            fn mask(condition: bool) -> Self {
                <$type>::from(condition).wrapping_neg()
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn saturating_plus(self, other: Self) -> Self {
                self.saturating_add(other)
            }

            #[inline(always)]
            fn saturating_minus(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
        }
    };
}

count!(u16);
count!(u32);
