//! Upper bounds on the lengths of holes of a profile, by job size.

/// Maximum number of sizes with their own bounds.
const MAX_CLASSES: usize = 32;

/// Number of blocks checked at a time.
const STRIDE: usize = 16;

/// Upper bounds on the lengths of holes, for each job size and each block of steps. A bound is an
/// upper limit on the contiguous time, in seconds, for which enough processors for a job of this
/// size are free. The contiguous time begins when the processors become free, or at the start of
/// the block.
///
/// The first 32 requested sizes have their own bounds; every other size uses the bounds of the next
/// smaller size that has bounds.
#[derive(Clone, Debug)]
pub struct Holes {
    /// Sizes with their own bounds, in ascending order.
    sizes: Vec<u32>,
    /// The largest size that uses the bounds of each class.
    tops: Vec<u32>,
    /// For each job size, the index of its class in `sizes` plus one; 0 if the size has not been
    /// requested.
    class_of: Vec<u8>,
    /// Bounds in seconds, for each class and each block.
    bounds: Vec<Vec<i32>>,
}

/// Returns a duration in seconds, at most `i32::MAX`.
#[inline]
pub fn capped(seconds: i64) -> i32 {
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

impl Holes {
    /// Creates a table without bounds.
    pub fn new(processors: u32) -> Self {
        Self {
            sizes: Vec::new(),
            tops: Vec::new(),
            class_of: vec![0; processors as usize + 1],
            bounds: Vec::new(),
        }
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the class with the bounds that apply to a size; `None` if the size has not been requested.
    #[inline]
    pub fn known_class(&self, size: u32) -> Option<usize> {
        usize::from(self.class_of[size as usize]).checked_sub(1)
    }

    /// Returns the class with the bounds that apply to a size, and whether this class was inserted now.
    pub fn class(&mut self, size: u32, blocks: usize) -> (usize, bool) {
        match self.known_class(size) {
            Some(class) => (class, false),
            None => {
                let classes = self.classes();
                let class = self.enter(size, blocks);
                (class, self.classes() > classes)
            }
        }
    }

    fn enter(&mut self, size: u32, blocks: usize) -> usize {
        let at = self.sizes.partition_point(|&other| other < size);
        if self.sizes.len() == MAX_CLASSES && at > 0 {
            self.class_of[size as usize] = at as u8;
            self.tops[at - 1] = self.tops[at - 1].max(size);
            return at - 1;
        }
        if self.sizes.len() == MAX_CLASSES {
            // The size is smaller than all other sizes. The first class is used for this size from
            // now on.
            self.sizes[0] = size;
            self.bounds[0].fill(i32::MAX);
            self.class_of[size as usize] = 1;
            return 0;
        }
        // A larger number of processors is never free for longer than a smaller number.
        let bounds = match at.checked_sub(1) {
            Some(smaller) => self.bounds[smaller].clone(),
            None => vec![i32::MAX; blocks],
        };
        self.sizes.insert(at, size);
        self.tops.insert(at, size);
        self.bounds.insert(at, bounds);
        for class in self.class_of.iter_mut().filter(|class| usize::from(**class) > at) {
            *class += 1;
        }
        self.class_of[size as usize] = at as u8 + 1;
        at
    }

    /// Returns the size of a class.
    pub fn size(&self, class: usize) -> u32 {
        self.sizes[class]
    }

    /// Returns the largest size that uses the bounds of a class.
    pub fn top(&self, class: usize) -> u32 {
        self.tops[class]
    }

    /// Returns the classes whose first size is greater than `least` and at most `most`. With `shared`, it is sufficient
    /// that one of the sizes of the class is greater than `least`.
    pub fn between(&self, least: i64, most: i64, shared: bool) -> std::ops::Range<usize> {
        let above = |sizes: &[u32], free| sizes.partition_point(|&size| i64::from(size) <= free);
        let first = above(if shared { &self.tops } else { &self.sizes }, least);
        first..above(&self.sizes, most).max(first)
    }

    /// Returns the first block between `from` and `end` that can have a hole of at least this
    /// length; `end` if there is no such block.
    pub fn next(&self, class: usize, from: usize, end: usize, duration: i64) -> usize {
        let duration = capped(duration);
        let bounds = &self.bounds[class][..end];
        let mut from = from;
        while from + STRIDE <= end {
            let group = &bounds[from..from + STRIDE];
            if group.iter().fold(false, |any, &bound| any | (bound >= duration)) {
                break;
            }
            from += STRIDE;
        }
        let ahead = bounds[from.min(end)..].iter().position(|&bound| bound >= duration);
        ahead.map_or(end, |ahead| from + ahead)
    }

    /// Returns the bound of a block.
    pub fn bound(&self, class: usize, block: usize) -> i64 {
        i64::from(self.bounds[class][block])
    }

    /// Sets the bound of a block to the length of its longest hole, in seconds.
    pub fn set(&mut self, class: usize, block: usize, longest: i64) {
        self.bounds[class][block] = capped(longest);
    }

    /// Raises the bound of a block to at least this length.
    pub fn raise(&mut self, class: usize, block: usize, length: i64) {
        let bound = &mut self.bounds[class][block];
        *bound = (*bound).max(capped(length));
    }

    /// Copies the bounds of a block that was split.
    pub fn split(&mut self, block: usize) {
        for bounds in &mut self.bounds {
            bounds.insert(block + 1, bounds[block]);
        }
    }

    /// Removes the bounds of a block.
    pub fn remove(&mut self, block: usize) {
        for bounds in &mut self.bounds {
            bounds.remove(block);
        }
    }

    /// Removes the bounds of the first `blocks` blocks.
    pub fn forget(&mut self, blocks: usize) {
        for bounds in &mut self.bounds {
            bounds.drain(..blocks);
        }
    }
}
