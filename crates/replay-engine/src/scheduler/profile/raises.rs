//! Summary of the parts of a profile that were raised, by time and by job size.

/// Number of intervals of time with a highest number of free processors.
const INTERVALS: usize = 16384;

/// Number of intervals of time with the lengths of holes.
const REGIONS: usize = 64;

/// Intervals in a region.
const PER_REGION: usize = INTERVALS / REGIONS;

/// Maximum number of seconds in all intervals.
const MAX_SPAN: i64 = 1 << 40;

/// How a reservation may move to an earlier time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chance {
    /// Enough processors may be free in the second before the reservation.
    pub slide: bool,
    /// A hole that ends before the reservation may be long enough.
    pub hole: bool,
}

impl Chance {
    /// Nothing is known.
    pub const ANY: Self = Self { slide: true, hole: true };

    /// Returns whether the reservation may move.
    pub fn any(self) -> bool {
        self.slide || self.hole
    }
}

/// Summary of the raises of a profile since a point in time.
///
/// A reservation that was the earliest possible one can move to an earlier time only if a raise lets the job fit where
/// it did not fit before: either in the second before the reservation, or in a hole that is long enough for the job and
/// ends before the reservation. The summary has upper limits for both cases.
///
/// Time is divided into intervals of equal length. The first and the last interval contain all times before and after.
#[derive(Clone, Debug)]
pub struct Raises {
    /// Start of the first interval.
    begin: i64,
    /// Binary logarithm of the length of an interval in seconds.
    shift: u32,
    /// For each interval, the highest number of free processors of a raised step; 0 if no step was raised.
    highest: Vec<u32>,
    /// For each class of [`Holes`](super::Holes) and each region, the length in seconds of the longest raised hole
    /// that begins in this region or earlier.
    longest: Vec<[i32; REGIONS]>,
}

impl Raises {
    /// Creates a summary without raises whose intervals contain at least twice the time from `begin` to `end`.
    pub fn new(begin: i64, end: i64, classes: usize) -> Self {
        let span = end.saturating_sub(begin).saturating_mul(2).clamp(INTERVALS as i64, MAX_SPAN);
        let shift = (span as u64).div_ceil(INTERVALS as u64).next_power_of_two().ilog2();
        let longest = vec![[0; REGIONS]; classes];
        Self { begin, shift, highest: vec![0; INTERVALS], longest }
    }

    /// Returns whether the intervals are short enough for reservations between `begin` and `end`.
    pub fn cover(&self, begin: i64, end: i64) -> bool {
        let span = (INTERVALS as i64) << self.shift;
        begin.saturating_sub(self.begin) <= span / 2
            && (end.saturating_sub(self.begin) <= span || span >= MAX_SPAN)
    }

    /// Removes all raises.
    pub fn clear(&mut self) {
        self.highest.fill(0);
        self.longest.fill([0; REGIONS]);
    }

    /// Replaces the raises by those of a summary with the same intervals.
    pub fn copy(&mut self, other: &Self) {
        self.highest.copy_from_slice(&other.highest);
        self.longest.copy_from_slice(&other.longest);
    }

    /// Adds a class that was inserted into the classes of [`Holes`](super::Holes).
    pub fn insert_class(&mut self, class: usize) {
        self.longest.insert(class, [0; REGIONS]);
    }

    #[inline]
    fn interval(&self, time: i64) -> usize {
        (time.saturating_sub(self.begin).max(0) >> self.shift).min(INTERVALS as i64 - 1) as usize
    }

    /// Records that a step from `from` to `until` was raised to `free` processors.
    pub fn step(&mut self, from: i64, until: i64, free: i64) {
        let free = u32::try_from(free.max(0)).unwrap_or(u32::MAX);
        let (first, last) = (self.interval(from), self.interval(until - 1));
        for highest in &mut self.highest[first..=last] {
            *highest = (*highest).max(free);
        }
    }

    /// Records that a hole for jobs of a class appeared or grew.
    pub fn hole(&mut self, class: usize, from: i64, length: i32) {
        let first = self.interval(from) / PER_REGION;
        // The lengths do not decrease from region to region.
        let shorter =
            self.longest[class][first..].iter_mut().take_while(|longest| **longest < length);
        shorter.for_each(|longest| *longest = length);
    }

    /// Returns the cases in which a job of this size and class with a reservation of `duration` seconds from `reserved`
    /// on may have an earlier start.
    #[inline]
    pub fn chance(&self, size: u32, class: usize, duration: i32, reserved: i64) -> Chance {
        let before = self.interval(reserved.saturating_sub(1));
        let region = self.interval(reserved) / PER_REGION;
        Chance {
            slide: self.highest[before] >= size,
            hole: self.longest[class][region] >= duration,
        }
    }
}
