use super::order::QueueView;
use super::{QueueOrder, QueuedJob};

/// Jobs of a block at most. A search looks at one block in full and at the minima of others.
const BLOCK: usize = 512;

/// Waiting jobs in queue order, in blocks that know their minima: a search for a job that may
/// start passes over whole blocks in which there is none, so that an event costs a small
/// share of the queue's length even when hardly any job may start.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    blocks: Vec<Block>,
    length: usize,
}

/// A job in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub job: QueuedJob,
    /// Completions before its last refusal plus one; 0 if it was never refused.
    pub refused: u64,
}

/// A place in the queue. It stays good until a job [arrives](Queue::insert).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Place {
    block: usize,
    index: usize,
}

impl Place {
    /// The place behind this one.
    pub fn next(self) -> Self {
        Self { index: self.index + 1, ..self }
    }
}

/// The least of every quantity over the jobs of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub size: u32,
    pub takes: u32,
    pub estimate: i64,
}

impl Least {
    const NONE: Self = Self { size: u32::MAX, takes: u32::MAX, estimate: i64::MAX };

    fn with(self, job: &QueuedJob) -> Self {
        Self {
            size: self.size.min(job.size),
            takes: self.takes.min(job.takes),
            estimate: self.estimate.min(job.estimate),
        }
    }
}

#[derive(Clone, Debug)]
struct Block {
    /// May be empty, until the next arrival.
    jobs: Vec<Waiting>,
    least: Least,
}

impl Block {
    fn of(jobs: Vec<Waiting>) -> Self {
        let least = jobs.iter().fold(Least::NONE, |least, waiting| least.with(&waiting.job));
        Self { jobs, least }
    }
}

impl Queue {
    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The head of the queue.
    pub fn head(&self) -> Option<(Place, Waiting)> {
        self.find(Place::default(), |_| true, |_| true)
    }

    /// A job joins the queue. Places found before are no longer good.
    pub fn insert(&mut self, order: QueueOrder, job: QueuedJob) {
        self.blocks.retain(|block| !block.jobs.is_empty());
        let mut index = order.position(&*self, &job);
        let mut at = 0;
        while let Some(block) = self.blocks.get(at)
            && block.jobs.len() < index
        {
            index -= block.jobs.len();
            at += 1;
        }
        if at == self.blocks.len() {
            self.blocks.push(Block::of(Vec::new()));
        }
        self.put(Place { block: at, index }, Waiting { job, refused: 0 });
        let block = &mut self.blocks[at];
        if block.jobs.len() > BLOCK {
            // The end of the queue grows fastest: leave it full there.
            let keep = if index == BLOCK { BLOCK } else { BLOCK / 2 };
            let rest = block.jobs.split_off(keep);
            *block = Block::of(std::mem::take(&mut block.jobs));
            self.blocks.insert(at + 1, Block::of(rest));
        }
    }

    /// Puts a job at a place, before the one that stands there.
    pub fn put(&mut self, place: Place, waiting: Waiting) {
        let block = &mut self.blocks[place.block];
        block.jobs.insert(place.index, waiting);
        block.least = block.least.with(&waiting.job);
        self.length += 1;
    }

    /// Takes the job at a place out of the queue; the next one of its block stands there then.
    pub fn take(&mut self, place: Place) -> Waiting {
        let block = &mut self.blocks[place.block];
        let waiting = block.jobs.remove(place.index);
        *block = Block::of(std::mem::take(&mut block.jobs));
        self.length -= 1;
        waiting
    }

    /// The first job at or behind `from` for which `is` holds. `may` says of a block's minima
    /// whether such a job may be in it.
    pub fn find(
        &self,
        from: Place,
        may: impl Fn(Least) -> bool,
        is: impl Fn(&Waiting) -> bool,
    ) -> Option<(Place, Waiting)> {
        let mut first = from.index;
        for (at, block) in self.blocks.iter().enumerate().skip(from.block) {
            let index = std::mem::take(&mut first).min(block.jobs.len());
            if may(block.least)
                && let Some(ahead) = block.jobs[index..].iter().position(&is)
            {
                let index = index + ahead;
                return Some((Place { block: at, index }, block.jobs[index]));
            }
        }
        None
    }
}

impl QueueView for &Queue {
    fn length(&self) -> usize {
        self.length
    }

    fn after(&self, before: impl Fn(&QueuedJob) -> bool) -> usize {
        let mut after = 0;
        for block in &self.blocks {
            let here = block.jobs.partition_point(|waiting| before(&waiting.job));
            after += here;
            if here < block.jobs.len() {
                break;
            }
        }
        after
    }
}
