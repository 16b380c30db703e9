//! The loads of all running jobs, and the slowdowns that follow.

use crate::network::ChannelId;

/// Slowdowns agree if none changes by more than this share of itself.
pub const AGREED: f64 = 1e-6;

/// Of a link no more than this share is ever taken as reserved: beyond it waits have no bound.
const FULL: f64 = 1.0 - 1e-6;

/// After so many rounds slowdowns are taken as they are.
const ROUNDS: usize = 400;

/// A link as a job reserves it, alone where it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reserved {
    /// The link, one of its virtual channels.
    pub link: ChannelId,
    /// The share of the job's time for which it is reserved, above 0.
    pub share: f64,
    /// Cycles for which a packet reserves it, mean.
    pub hold: f64,
    /// The part of the job's packets that crosses it.
    pub part: f64,
}

/// What a job does alone where it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Footprint {
    /// Mean latency of its packets, cycles; above 0.
    pub latency: f64,
    /// The links that it reserves, each once.
    pub links: Vec<Reserved>,
}

/// The number of a running job.
pub type Slot = usize;

/// Loads of links.
#[derive(Clone, Debug)]
pub struct LinkLoads {
    links: Vec<Load>,
    /// Running jobs by slot.
    jobs: Vec<Option<Running>>,
    /// Slots whose slowdown is to be looked at.
    open: Vec<Slot>,
}

/// A link.
#[derive(Clone, Debug, Default)]
struct Load {
    /// Who reserves it, with which part of their footprint.
    sharers: Vec<Sharer>,
    /// What they come to together.
    sums: Sums,
}

/// A link's sharers added up, s their shares of the time and h their holds.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Of s h / 2: cycles for which a header finds the link reserved.
    rest: f64,
    /// Of s / (1 + s).
    crowd: f64,
    /// Of s^2 h / (2 (1 + s)).
    own: f64,
}

impl Sums {
    /// The same with one more that reserves the link, or with one less.
    fn with(self, sign: f64, share: f64, hold: f64) -> Self {
        let sharing = sign * share / (1.0 + share);
        Self {
            rest: self.rest + sign * share * hold / 2.0,
            crowd: self.crowd + sharing,
            own: self.own + sharing * share * hold / 2.0,
        }
    }

    /// The wait of a header of one of them for the others' packets.
    fn wait(self, share: f64, hold: f64) -> f64 {
        let queued = (self.rest * self.crowd - self.own) / (1.0 - self.crowd.min(FULL));
        ((self.rest - share * hold / 2.0 + queued) / (1.0 + share)).max(0.0)
    }
}

#[derive(Clone, Copy, Debug)]
struct Sharer {
    slot: Slot,
    share: f64,
    hold: f64,
}

#[derive(Clone, Debug)]
struct Running {
    footprint: Footprint,
    slowdown: f64,
    open: bool,
}

impl LinkLoads {
    /// No jobs, on a network of so many channels.
    pub fn new(channels: usize) -> Self {
        Self { links: vec![Load::default(); channels], jobs: Vec::new(), open: Vec::new() }
    }

    /// A job starts. Slowdowns are those of before until [`settle`](Self::settle).
    pub fn start(&mut self, footprint: Footprint) -> Slot {
        let slot = self.jobs.iter().position(Option::is_none).unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() - 1
        });
        for &Reserved { link, share, hold, .. } in &footprint.links {
            self.links[link.index()].sharers.push(Sharer { slot, share, hold });
        }
        self.jobs[slot] = Some(Running { footprint, slowdown: 1.0, open: false });
        self.changed(slot);
        self.look_at(slot);
        slot
    }

    /// A job ends; what it was.
    pub fn end(&mut self, slot: Slot) -> Option<Footprint> {
        let ended = self.jobs.get_mut(slot)?.take()?;
        self.open.retain(|&open| open != slot);
        for reserved in &ended.footprint.links {
            let load = &mut self.links[reserved.link.index()];
            load.sharers.retain(|sharer| sharer.slot != slot);
            load.sum(&self.jobs);
            for sharer in &load.sharers {
                look_at(&mut self.jobs, &mut self.open, sharer.slot);
            }
        }
        Some(ended.footprint)
    }

    /// How many times longer a job takes among those that run than alone; 1 for a slot without
    /// a job.
    pub fn slowdown(&self, slot: Slot) -> f64 {
        self.jobs.get(slot).and_then(Option::as_ref).map_or(1.0, |job| job.slowdown)
    }

    /// Finds the slowdowns that agree with each other. What it does is a function of the order in
    /// which jobs started and ended. Returns whether they agree to within [`AGREED`].
    pub fn settle(&mut self) -> bool {
        let mut round = Vec::new();
        for _ in 0..ROUNDS {
            std::mem::swap(&mut round, &mut self.open);
            if round.is_empty() {
                return true;
            }
            round.sort_unstable();
            for slot in round.drain(..) {
                self.adjust(slot);
            }
        }
        self.open.is_empty()
    }

    /// Gives a job the slowdown that goes with the others', and looks at those again whom that
    /// concerns.
    fn adjust(&mut self, slot: Slot) {
        let Some(job) = &mut self.jobs[slot] else { return };
        job.open = false;
        let old = job.slowdown;
        let new = balanced(&job.footprint, old, &self.links);
        if (new - old).abs() <= AGREED * old {
            return;
        }
        job.slowdown = new;
        self.changed(slot);
    }

    /// Sums up the links of a job anew, and looks at those with whom it shares them.
    fn changed(&mut self, slot: Slot) {
        let Some(links) =
            self.jobs[slot].as_mut().map(|job| std::mem::take(&mut job.footprint.links))
        else {
            return;
        };
        for reserved in &links {
            let load = &mut self.links[reserved.link.index()];
            load.sum(&self.jobs);
            for sharer in load.sharers.iter().filter(|sharer| sharer.slot != slot) {
                look_at(&mut self.jobs, &mut self.open, sharer.slot);
            }
        }
        if let Some(job) = &mut self.jobs[slot] {
            job.footprint.links = links;
        }
    }

    fn look_at(&mut self, slot: Slot) {
        look_at(&mut self.jobs, &mut self.open, slot);
    }
}

fn look_at(jobs: &mut [Option<Running>], open: &mut Vec<Slot>, slot: Slot) {
    if let Some(job) = jobs[slot].as_mut().filter(|job| !job.open) {
        job.open = true;
        open.push(slot);
    }
}

impl Load {
    /// Adds up what its sharers come to. Anew each time: nothing is left of those who are gone.
    fn sum(&mut self, jobs: &[Option<Running>]) {
        self.sums = self.sharers.iter().fold(Sums::default(), |sums, sharer| {
            let slowdown = jobs[sharer.slot].as_ref().map_or(1.0, |job| job.slowdown);
            sums.with(1.0, sharer.share / slowdown, sharer.hold)
        });
    }
}

/// The slowdown f of a job that its own waits confirm, the others' as they are: f = 1 + waits(f) /
/// latency. A slower job reserves less, so that waits fall as f grows, and there is one such f.
fn balanced(footprint: &Footprint, old: f64, links: &[Load]) -> f64 {
    // Alone on a link: nothing to wait for, to the last bit.
    let shared = || {
        let own = footprint.links.iter().map(|own| (own, &links[own.link.index()]));
        own.filter(|(_, load)| load.sharers.len() > 1)
    };
    let wanted = |slowdown: f64| {
        let waits = shared().map(|(own, load)| {
            let share = own.share / slowdown;
            let sums = load.sums.with(-1.0, own.share / old, own.hold).with(1.0, share, own.hold);
            own.part * sums.wait(share, own.hold)
        });
        1.0 + waits.sum::<f64>() / footprint.latency
    };
    let at_old = wanted(old);
    if (at_old - old).abs() <= AGREED * old {
        return at_old;
    }
    // The root lies between f and what f asks for; halved on a scale of ratios.
    let (mut low, mut high) = if at_old > old { (old, at_old) } else { (at_old.max(1.0), old) };
    for _ in 0..60 {
        if high - low <= 0.1 * AGREED * low {
            break;
        }
        let middle = (low * high).sqrt();
        if wanted(middle) > middle { low = middle } else { high = middle }
    }
    low
}
