//! Processors free in the future, as a step function of time.

mod holes;

use holes::Holes;

/// Most steps in a block; a block that has more is cut in two.
const BLOCK: usize = 128;

/// Processors free in the future: a step function of time, kept in blocks of steps, with a
/// bound for each block on how long a job of each size could run there
/// ([`Holes`]).
///
/// With n steps, changing the function costs O(log n) and a pass over a block, besides whole
/// blocks that it covers; a search looks at the blocks whose bound admits the job.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Never empty.
    blocks: Vec<Block>,
    /// When each block begins.
    begins: Vec<i64>,
    holes: Holes,
}

/// Steps in order of time; never empty. The very first begins in the past.
#[derive(Clone, Debug)]
struct Block {
    /// When each step begins.
    times: Vec<i64>,
    /// Processors free from then on, less `raised`.
    free: Vec<i64>,
    raised: i64,
}

/// A step: its block, and its place there.
type Place = (usize, usize);

impl Block {
    fn free(&self, i: usize) -> i64 {
        self.free[i] + self.raised
    }
}

impl Profile {
    /// `processors` free for ever.
    pub fn new(processors: u32) -> Self {
        let free = vec![i64::from(processors)];
        Self {
            blocks: vec![Block { times: vec![i64::MIN], free, raised: 0 }],
            begins: vec![i64::MIN],
            holes: Holes::new(processors),
        }
    }

    /// Earliest start, not before `now`, at which `size` processors are free for `duration`
    /// seconds on end. No more than there are; at least one second.
    pub fn earliest(&mut self, now: i64, size: u32, duration: i64) -> i64 {
        let last = self.blocks.len() - 1;
        let end = (last, self.blocks[last].times.len());
        // In the end all processors are free.
        self.first_hole(now, size, duration, end).unwrap_or(i64::MAX)
    }

    /// As [`earliest`](Self::earliest), for a job that has a reservation from `reserved` on,
    /// not before `now`, where nothing is taken twice: not later than that.
    pub fn earlier(&mut self, now: i64, size: u32, duration: i64, reserved: i64) -> i64 {
        if reserved <= now {
            return reserved;
        }
        // Back from the reservation as far as there is room beside it.
        let mut start = reserved;
        let mut place = self.place(reserved - 1);
        while self.blocks[place.0].free(place.1) >= i64::from(size) {
            start = self.blocks[place.0].times[place.1].max(now);
            match self.before(place) {
                Some(before) if start > now => place = before,
                _ => return start,
            }
        }
        // Every hole before ends there.
        self.first_hole(now, size, duration, place).unwrap_or(start)
    }

    /// Start of the first hole for the job that begins and ends before the step at `end`,
    /// which has less than `size` free, or is beyond the last.
    fn first_hole(&mut self, now: i64, size: u32, duration: i64, end: Place) -> Option<i64> {
        let class = self.holes.class(size, self.blocks.len());
        let mut block = 0;
        loop {
            block = self.holes.next(class, block, end.0 + 1, duration);
            if block > end.0 {
                return None;
            }
            let longest = match self.scan(block, now, i64::from(size), duration, end) {
                Ok(start) => return Some(start),
                Err(longest) => longest,
            };
            if block == end.0 {
                return None;
            }
            if self.holes.size(class) == size {
                self.holes.set(class, block, longest);
            } else {
                let level = i64::from(self.holes.size(class));
                let enough = self.holes.bound(class, block);
                match self.scan(block, i64::MIN, level, enough, end) {
                    Ok(_) => {}
                    Err(longest) => self.holes.set(class, block, longest),
                }
            }
            block += 1;
        }
    }

    /// Start of the first hole in the block that is long enough; otherwise how long the
    /// longest is.
    fn scan(
        &self,
        block: usize,
        now: i64,
        size: i64,
        duration: i64,
        end: Place,
    ) -> Result<i64, i64> {
        let Block { times, free, raised } = &self.blocks[block];
        let size_here = size - raised;
        let steps = if block == end.0 { end.1 } else { times.len() };
        let mut longest = 0;
        let mut i = 0;
        while i < steps {
            if free[i] < size_here {
                i += 1;
                continue;
            }
            let start = times[i].max(now);
            while i < steps && free[i] >= size_here {
                i += 1;
            }
            let until = if i < times.len() { times[i] } else { self.end_of_run(block + 1, size) };
            let length = until.saturating_sub(start);
            if length >= duration {
                return Ok(start);
            }
            longest = longest.max(length);
        }
        Err(longest)
    }

    /// Until when `size` are free from the beginning of a block on.
    fn end_of_run(&self, block: usize, size: i64) -> i64 {
        for block in &self.blocks[block..] {
            let size = size - block.raised;
            if let Some(i) = block.free.iter().position(|&free| free < size) {
                return block.times[i];
            }
        }
        i64::MAX
    }

    /// Takes `size` processors from `from` until `to`.
    pub fn take(&mut self, from: i64, to: i64, size: u32) {
        self.change(from, to, -i64::from(size));
    }

    /// Gives back `size` processors from `from` until `to`.
    pub fn give(&mut self, from: i64, to: i64, size: u32) {
        self.change(from, to, i64::from(size));
    }

    fn change(&mut self, from: i64, to: i64, by: i64) {
        if from >= to {
            return;
        }
        let mut first = self.step_at(from);
        let blocks = self.blocks.len();
        let last = self.step_at(to);
        if blocks < self.blocks.len() {
            first = self.place(from);
        }
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for b in first.0..=last.0 {
            let block = &mut self.blocks[b];
            let begin = if b == first.0 { first.1 } else { 0 };
            let end = if b == last.0 { last.1 } else { block.times.len() };
            if by > 0 {
                for &free in &block.free[begin..end] {
                    least = least.min(free + block.raised);
                    most = most.max(free + block.raised);
                }
            }
            if end - begin == block.times.len() {
                block.raised += by;
            } else {
                block.free[begin..end].iter_mut().for_each(|free| *free += by);
            }
        }
        if by > 0 {
            self.bound(first, last, least, most + by, by);
        }
        // The later one first: the other keeps its place.
        self.merge(last);
        self.merge(first);
    }

    /// Whether fewer than none are free somewhere from `from` until `to`.
    pub fn overbooked(&self, from: i64, to: i64) -> bool {
        let mut place = Some(self.place(from));
        while let Some((b, i)) = place {
            if self.blocks[b].times[i] >= to {
                break;
            }
            if self.blocks[b].free(i) < 0 {
                return true;
            }
            place = self.after((b, i));
        }
        false
    }

    /// Notes the holes that came about or grew when steps from `first` until `last`, of
    /// which the lowest had `least`, were raised by `by`, the highest to `most`.
    fn bound(&mut self, first: Place, last: Place, least: i64, most: i64, by: i64) {
        for class in self.holes.between(least, most) {
            let size = i64::from(self.holes.size(class));
            let mut place = first;
            while place < last {
                let free = self.blocks[place.0].free(place.1);
                if free < size || free - by >= size {
                    let Some(after) = self.after(place) else { break };
                    place = after;
                    continue;
                }
                // A run of this size through the step: where it begins and ends.
                let mut begin = place;
                while let Some(before) = self.before(begin) {
                    if self.blocks[before.0].free(before.1) < size {
                        break;
                    }
                    begin = before;
                }
                let mut end = self.after(place);
                while let Some((b, i)) = end {
                    if self.blocks[b].free(i) < size {
                        break;
                    }
                    end = self.after((b, i));
                }
                let until = end.map_or(i64::MAX, |(b, i)| self.blocks[b].times[i]);
                let mut from = self.blocks[begin.0].times[begin.1];
                let last_block = match end {
                    None => self.blocks.len() - 1,
                    Some((b, 0)) => b - 1,
                    Some((b, _)) => b,
                };
                for b in begin.0..=last_block {
                    from = from.max(self.blocks[b].times[0]);
                    self.holes.raise(class, b, until.saturating_sub(from));
                }
                match end {
                    Some(end) => place = end,
                    None => break,
                }
            }
        }
    }

    /// Forgets what was before `now`.
    pub fn forget_before(&mut self, now: i64) {
        let (b, i) = self.place(now);
        self.blocks.drain(..b);
        self.begins.drain(..b);
        self.holes.forget(b);
        self.blocks[0].times.drain(..i);
        self.blocks[0].free.drain(..i);
        self.begins[0] = self.blocks[0].times[0];
    }

    /// The step that `time` lies in.
    fn place(&self, time: i64) -> Place {
        let b = self.begins.partition_point(|&begin| begin <= time).saturating_sub(1);
        let i = self.blocks[b].times.partition_point(|&t| t <= time).saturating_sub(1);
        (b, i)
    }

    fn before(&self, (b, i): Place) -> Option<Place> {
        match (b, i) {
            (0, 0) => None,
            (_, 0) => Some((b - 1, self.blocks[b - 1].times.len() - 1)),
            _ => Some((b, i - 1)),
        }
    }

    fn after(&self, (b, i): Place) -> Option<Place> {
        if i + 1 < self.blocks[b].times.len() {
            return Some((b, i + 1));
        }
        (b + 1 < self.blocks.len()).then_some((b + 1, 0))
    }

    /// The step that begins at `time`, made if there is none.
    fn step_at(&mut self, time: i64) -> Place {
        let (b, i) = self.place(time);
        let block = &mut self.blocks[b];
        if block.times[i] >= time {
            return (b, i);
        }
        block.times.insert(i + 1, time);
        let free = block.free[i];
        block.free.insert(i + 1, free);
        if block.times.len() <= BLOCK {
            return (b, i + 1);
        }
        let half = block.times.len() / 2;
        let (times, free) = (block.times.split_off(half), block.free.split_off(half));
        let raised = block.raised;
        self.begins.insert(b + 1, times[0]);
        self.blocks.insert(b + 1, Block { times, free, raised });
        self.holes.split(b);
        if i + 1 < half { (b, i + 1) } else { (b + 1, i + 1 - half) }
    }

    /// Removes a step that is as high as the one before.
    fn merge(&mut self, place: Place) {
        let Some(before) = self.before(place) else { return };
        let (b, i) = place;
        if self.blocks[b].free(i) != self.blocks[before.0].free(before.1) {
            return;
        }
        let block = &mut self.blocks[b];
        block.times.remove(i);
        block.free.remove(i);
        if block.times.is_empty() {
            self.blocks.remove(b);
            self.begins.remove(b);
            self.holes.remove(b);
        } else if i == 0 {
            self.begins[b] = block.times[0];
        }
    }
}
