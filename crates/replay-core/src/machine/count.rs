//! How wide counts of processors are.

use std::fmt::Debug;

/// An unsigned integer that counts processors, modulo its width. 16 bits are enough for machines of
/// at most 65,535 points, and double what a vector holds.
pub trait Count: Copy + Default + Eq + Debug + Send + From<bool> + Into<u32> + 'static {
    /// The most points of a machine that it counts.
    const MOST: usize;

    /// The number, which it must be able to hold.
    fn of(number: usize) -> Self;

    /// Sum modulo the width.
    fn plus(self, other: Self) -> Self;

    /// Difference modulo the width.
    fn minus(self, other: Self) -> Self;

    /// Product modulo the width.
    fn times(self, other: Self) -> Self;
}

macro_rules! count {
    ($type:ty) => {
        impl Count for $type {
            const MOST: usize = <$type>::MAX as usize;

            #[inline(always)]
            fn of(number: usize) -> Self {
                number as $type
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
        }
    };
}

count!(u16);
count!(u32);
