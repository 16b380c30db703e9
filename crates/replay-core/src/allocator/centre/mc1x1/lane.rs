use std::ops::{BitAnd, BitOr, Not};

/// An unsigned integer of one vector lane. 16 bits where sums cannot outgrow them, which
/// doubles the lanes a vector holds; else 32.
pub trait Lane:
    Copy
    + Default
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + From<u16>
    + Into<u32>
{
    /// The largest value.
    const MAX: Self;

    /// The value, cut to [`Lane::MAX`].
    fn clamp_from(value: u32) -> Self;

    /// All ones where the condition holds: a mask to `&` with.
    fn mask(condition: bool) -> Self;

    /// Sum modulo the width.
    fn plus(self, other: Self) -> Self;

    /// Difference modulo the width.
    fn minus(self, other: Self) -> Self;

    /// Sum, at most [`Lane::MAX`].
    fn saturating_plus(self, other: Self) -> Self;

    /// Difference, at least 0.
    fn saturating_minus(self, other: Self) -> Self;
}

macro_rules! lane {
    ($type:ty) => {
        impl Lane for $type {
            const MAX: Self = <$type>::MAX;

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

lane!(u16);
lane!(u32);
