//! Integer types for counts of processors.

use std::fmt::Debug;

/// An unsigned integer that counts processors, modulo its width. 16 bits suffice for machines of at
/// most 65,535 points; a vector register holds twice as many 16-bit counts as 32-bit counts.
pub trait Count: Copy + Default + Eq + Debug + Send + From<bool> + Into<u32> + 'static {
    /// Maximum number of points of a machine that this type can count.
    const MAX_POINTS: usize;

    /// Converts a number, which must fit into the type.
    fn of(number: usize) -> Self;

    /// Returns the sum modulo the width.
    fn plus(self, other: Self) -> Self;

    /// Returns the difference modulo the width.
    fn minus(self, other: Self) -> Self;

    /// Returns the product modulo the width.
    fn times(self, other: Self) -> Self;
}

macro_rules! count {
    ($type:ty) => {
        impl Count for $type {
            const MAX_POINTS: usize = <$type>::MAX as usize;

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
