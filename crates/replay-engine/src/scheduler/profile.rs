//! The future number of free processors as a step function of time.

mod holes;
mod raises;

use holes::{Holes, capped};
pub use raises::Chance;
use raises::Raises;

/// Maximum number of steps per block; a block with more steps is split.
const MAX_STEPS: usize = 128;

/// The future number of free processors: a step function of time, stored in blocks of steps. For each block and each
/// job size, there is an upper bound on the duration for which a job could run in the block ([`Holes`]).
///
/// With n steps, the cost of a change is O(log n), plus a pass over a block, plus O(1) for each block that the change
/// covers entirely. A search for a hole reads only the blocks whose upper bound is long enough for the job.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The blocks in order of time; never empty.
    blocks: Vec<Block>,
    /// Start times of the blocks.
    begins: Vec<i64>,
    holes: Holes,
    /// `None` if raises are not tracked.
    tracked: Option<Tracked>,
}

/// Raises for the search of reservations that can move.
#[derive(Clone, Debug)]
struct Tracked {
    /// The raises since the begin of the pass before the current one.
    current: Raises,
    /// The raises since the begin of the current pass.
    next: Raises,
}

/// Steps in order of time; never empty. The first step of the first block starts in the past.
#[derive(Clone, Debug)]
struct Block {
    /// Start times of the steps.
    times: Vec<i64>,
    /// For each step, the number of free processors from the start of the step on, minus `raised`.
    free: Vec<i64>,
    raised: i64,
}

/// A step: its block and its index in the block.
type Place = (usize, usize);

impl Block {
    fn free(&self, i: usize) -> i64 {
        self.free[i] + self.raised
    }
}

impl Profile {
    /// Creates a profile in which `processors` are always free.
    pub fn new(processors: u32) -> Self {
        let free = vec![i64::from(processors)];
        Self {
            blocks: vec![Block { times: vec![i64::MIN], free, raised: 0 }],
            begins: vec![i64::MIN],
            holes: Holes::new(processors),
            tracked: None,
        }
    }

    /// Begins a pass over all reservations, which are between `now` and `last`. If this function returns `false`, each
    /// reservation must be visited: raises were not tracked since the previous pass. Otherwise only reservations that
    /// [`may_move`](Self::may_move) must be visited.
    pub fn begin_pass(&mut self, now: i64, last: i64) -> bool {
        match &mut self.tracked {
            Some(tracked) if tracked.current.cover(now, last) => {
                tracked.next.clear();
                true
            }
            _ => {
                let raises = Raises::new(now, last, self.holes.classes());
                self.tracked = Some(Tracked { current: raises.clone(), next: raises });
                false
            }
        }
    }

    /// Ends a pass. The raises since its begin decide which reservations the next pass visits.
    pub fn end_pass(&mut self) {
        if let Some(Tracked { current, next }) = &mut self.tracked {
            current.copy(next);
        }
    }

    /// Stops tracking raises, which costs more than it saves if few jobs wait.
    pub fn stop_tracking(&mut self) {
        self.tracked = None;
    }

    /// Returns how a reservation may move to an earlier time, given that it was the earliest possible one when it
    /// was made or visited in the previous pass. Valid from [`begin_pass`](Self::begin_pass) until
    /// [`end_pass`](Self::end_pass).
    #[inline]
    pub fn chance(&self, size: u32, duration: i64, reserved: i64) -> Chance {
        match (&self.tracked, self.holes.known_class(size)) {
            (Some(tracked), Some(class)) => {
                tracked.current.chance(size, class, capped(duration), reserved)
            }
            _ => Chance::ANY,
        }
    }

    /// Returns the earliest start at or after `now` at which `size` processors are free for `duration` contiguous
    /// seconds. `size` must be at most the number of processors, and `duration` must be at least 1.
    pub fn earliest(&mut self, now: i64, size: u32, duration: i64) -> i64 {
        let last = self.blocks.len() - 1;
        let end = (last, self.blocks[last].times.len());
        // From the last step on, all processors are free.
        self.first_hole(now, size, duration, end).unwrap_or(i64::MAX)
    }

    /// Returns the earliest start of a job between `now` and `reserved`. The job already has a reservation from
    /// `reserved` on, and the profile contains this reservation. The other parameters have the
    /// same meaning as in [`earliest`](Self::earliest).
    pub fn earlier(
        &mut self,
        now: i64,
        size: u32,
        duration: i64,
        reserved: i64,
        chance: Chance,
    ) -> i64 {
        if reserved <= now {
            return reserved;
        }
        // Walk back from the reservation while the job fits.
        let mut start = reserved;
        let mut place = self.place(reserved - 1);
        while self.blocks[place.0].free(place.1) >= i64::from(size) {
            start = self.blocks[place.0].times[place.1].max(now);
            match self.before(place) {
                Some(before) if start > now => place = before,
                _ => return start,
            }
        }
        if !chance.hole {
            return start;
        }
        // All earlier holes end at or before this step.
        self.first_hole(now, size, duration, place).unwrap_or(start)
    }

    /// Returns the start of the first hole that is long enough for the job and ends before the step
    /// at `end`. The step at `end` has fewer than `size` free processors or is beyond the last
    /// step.
    fn first_hole(&mut self, now: i64, size: u32, duration: i64, end: Place) -> Option<i64> {
        let (class, inserted) = self.holes.class(size, self.blocks.len());
        if let (Some(Tracked { current, next }), true) = (&mut self.tracked, inserted) {
            current.insert_class(class);
            next.insert_class(class);
        }
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

    /// Returns the start of the first hole in the block that is long enough. If no hole is long enough, returns the
    /// length of the longest hole.
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

    /// Returns the end of the interval that begins at the start of `block` and in which at least `size` processors are
    /// free.
    fn end_of_run(&self, block: usize, size: i64) -> i64 {
        for block in &self.blocks[block..] {
            let size = size - block.raised;
            if let Some(i) = block.free.iter().position(|&free| free < size) {
                return block.times[i];
            }
        }
        i64::MAX
    }

    /// Subtracts `size` processors between `from` and `to`.
    pub fn take(&mut self, from: i64, to: i64, size: u32) {
        self.change(from, to, -i64::from(size));
    }

    /// Adds `size` processors between `from` and `to`.
    pub fn give(&mut self, from: i64, to: i64, size: u32) {
        self.change(from, to, i64::from(size));
    }

    fn change(&mut self, from: i64, to: i64, by: i64) {
        if from >= to {
            return;
        }
        let mut first = self.step_at(self.place(from), from);
        let blocks = self.blocks.len();
        let last = self.step_at(self.place_after(first, to), to);
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
            self.track_steps(first, last);
            self.raise_bounds(first, last, least, most + by, by);
        }
        // Merge the later step first, so that the position of the earlier step stays valid.
        self.merge(last);
        self.merge(first);
    }

    /// Returns whether the number of free processors is negative anywhere between `from` and `to`.
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

    /// Records the steps between two places as raised.
    fn track_steps(&mut self, first: Place, last: Place) {
        let Some(Tracked { current, next }) = &mut self.tracked else { return };
        for b in first.0..=last.0 {
            let block = &self.blocks[b];
            let begin = if b == first.0 { first.1 } else { 0 };
            let end = if b == last.0 { last.1 } else { block.times.len() };
            for i in begin..end {
                let until = match block.times.get(i + 1) {
                    Some(&until) => until,
                    None => self.begins[b + 1],
                };
                current.step(block.times[i], until, block.free(i));
                next.step(block.times[i], until, block.free(i));
            }
        }
    }

    /// Updates the upper bounds of all holes that appeared or grew because the steps from `first` to `last` were
    /// raised. `least` is the height of the lowest step before the change, and `most` is the height of the highest step
    /// after the change.
    fn raise_bounds(&mut self, first: Place, last: Place, least: i64, most: i64, by: i64) {
        for class in self.holes.between(least, most, self.tracked.is_some()) {
            let size = i64::from(self.holes.size(class));
            // A raise to a size of the class that is not its first size makes a hole too.
            let below =
                if self.tracked.is_some() { i64::from(self.holes.top(class)) } else { size };
            let mut place = first;
            while place < last {
                let free = self.blocks[place.0].free(place.1);
                if free < size || free - by >= below {
                    let Some(after) = self.after(place) else { break };
                    place = after;
                    continue;
                }
                // Find the beginning and end of the hole of this size that contains the step.
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
                if let Some(Tracked { current, next }) = &mut self.tracked {
                    let length = capped(until.saturating_sub(from));
                    current.hole(class, from, length);
                    next.hole(class, from, length);
                }
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

    /// Removes the part of the profile before `now`.
    pub fn forget_before(&mut self, now: i64) {
        let (b, i) = self.place(now);
        self.blocks.drain(..b);
        self.begins.drain(..b);
        self.holes.forget(b);
        self.blocks[0].times.drain(..i);
        self.blocks[0].free.drain(..i);
        self.begins[0] = self.blocks[0].times[0];
    }

    /// Returns the step that contains `time`.
    fn place(&self, time: i64) -> Place {
        let b = self.begins.partition_point(|&begin| begin <= time).saturating_sub(1);
        let i = self.blocks[b].times.partition_point(|&t| t <= time).saturating_sub(1);
        (b, i)
    }

    /// Returns the step that contains `time`, which is not before the step at `from`. Takes time proportional to the
    /// logarithm of the distance in steps if both steps are in the same block.
    fn place_after(&self, from: Place, time: i64) -> Place {
        let (b, i) = from;
        if self.begins.get(b + 1).is_some_and(|&begin| begin <= time) {
            return self.place(time);
        }
        let times = &self.blocks[b].times[i..];
        let mut end = 4;
        while end < times.len() && times[end] <= time {
            end *= 4;
        }
        let begin = end / 4;
        let end = end.min(times.len());
        let ahead = times[begin..end].partition_point(|&t| t <= time);
        (b, i + (begin + ahead).saturating_sub(1))
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

    /// Returns the step that starts at `time`, creating it if necessary. The step at `place` contains `time`.
    fn step_at(&mut self, (b, i): Place, time: i64) -> Place {
        let block = &mut self.blocks[b];
        if block.times[i] >= time {
            return (b, i);
        }
        block.times.insert(i + 1, time);
        let free = block.free[i];
        block.free.insert(i + 1, free);
        if block.times.len() <= MAX_STEPS {
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

    /// Removes a step that has the same height as the previous step.
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
