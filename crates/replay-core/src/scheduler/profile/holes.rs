//! How long the holes of a profile are, by size of job.

/// Most sizes told apart.
const CLASSES: usize = 32;

/// Blocks looked at together.
const STRIDE: usize = 16;

/// For each size of job and each block of steps an upper bound on how long so many processors
/// are free on end, from where they become free or where the block begins.
///
/// The first 32 sizes that are asked for have bounds of their own; a further one goes by
/// those of the next smaller.
#[derive(Clone, Debug)]
pub struct Holes {
    /// Sizes with bounds, ascending.
    sizes: Vec<u32>,
    /// By size of job its place in `sizes`, plus one; 0 if nobody has asked.
    class_of: Vec<u8>,
    /// By class and block, in seconds.
    bounds: Vec<Vec<i32>>,
}

fn capped(seconds: i64) -> i32 {
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

impl Holes {
    /// Nothing is known of any block.
    pub fn new(processors: u32) -> Self {
        Self { sizes: Vec::new(), class_of: vec![0; processors as usize + 1], bounds: Vec::new() }
    }

    /// The class whose bounds a size goes by.
    pub fn class(&mut self, size: u32, blocks: usize) -> usize {
        match self.class_of[size as usize] {
            0 => self.enter(size, blocks),
            class => usize::from(class) - 1,
        }
    }

    fn enter(&mut self, size: u32, blocks: usize) -> usize {
        let at = self.sizes.partition_point(|&other| other < size);
        if self.sizes.len() == CLASSES && at > 0 {
            self.class_of[size as usize] = at as u8;
            return at - 1;
        }
        if self.sizes.len() == CLASSES {
            // Smaller than all: the first class serves it from now on.
            self.sizes[0] = size;
            self.bounds[0].fill(i32::MAX);
            self.class_of[size as usize] = 1;
            return 0;
        }
        // So many processors are free on end no longer than fewer are.
        let bounds = match at.checked_sub(1) {
            Some(smaller) => self.bounds[smaller].clone(),
            None => vec![i32::MAX; blocks],
        };
        self.sizes.insert(at, size);
        self.bounds.insert(at, bounds);
        for class in self.class_of.iter_mut().filter(|class| usize::from(**class) > at) {
            *class += 1;
        }
        self.class_of[size as usize] = at as u8 + 1;
        at
    }

    /// The size whose bounds the class has.
    pub fn size(&self, class: usize) -> u32 {
        self.sizes[class]
    }

    /// The classes of sizes above `least` and up to `most`.
    pub fn between(&self, least: i64, most: i64) -> std::ops::Range<usize> {
        let above = |free: i64| self.sizes.partition_point(|&size| i64::from(size) <= free);
        above(least)..above(most).max(above(least))
    }

    /// The first block from `from` on that can have a hole of this length; `end` if none
    /// before it can.
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

    /// The bound of a block.
    pub fn bound(&self, class: usize, block: usize) -> i64 {
        i64::from(self.bounds[class][block])
    }

    /// The block is known to have no longer hole.
    pub fn set(&mut self, class: usize, block: usize, longest: i64) {
        self.bounds[class][block] = capped(longest);
    }

    /// The block has a hole of this length.
    pub fn raise(&mut self, class: usize, block: usize, length: i64) {
        let bound = &mut self.bounds[class][block];
        *bound = (*bound).max(capped(length));
    }

    /// A block was cut in two.
    pub fn split(&mut self, block: usize) {
        for bounds in &mut self.bounds {
            bounds.insert(block + 1, bounds[block]);
        }
    }

    /// A block is gone.
    pub fn remove(&mut self, block: usize) {
        for bounds in &mut self.bounds {
            bounds.remove(block);
        }
    }

    /// So many first blocks are gone.
    pub fn forget(&mut self, blocks: usize) {
        for bounds in &mut self.bounds {
            bounds.drain(..blocks);
        }
    }
}
