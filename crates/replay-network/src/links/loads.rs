//! The loads of all running jobs, and the slowdowns that follow.

use std::collections::BTreeMap;

use crate::ChannelId;

/// Slowdowns agree if none changes by more than this share of itself.
pub const AGREED: f64 = 1e-3;

/// A job is looked at again once its slowdown may have changed by more than this share of itself. Below
/// [`AGREED`]: what a job feels is an estimate.
const FELT: f64 = AGREED / 10.0;

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
}

/// What a job does alone where it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Footprint {
    /// The links that it reserves, each once.
    pub links: Vec<Reserved>,
    /// What of it must come to an end: the job is as slow as the slowest of these.
    pub streams: Vec<Stream>,
}

/// Packets one after another. If those that cross the job's link number l waited w_l cycles each, the
/// stream would take 1 + sum of weight_l w_l times as long.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stream {
    /// Numbers of links, and their weights in packets a cycle.
    pub weights: Vec<(u32, f64)>,
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
    shared: Shared,
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
    /// The largest weight of the link in a stream of the job.
    weight: f64,
}

/// A job with which another shares links.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    slot: Slot,
    /// By how much it would be slower if each of its packets waited for a whole one of the other's that it
    /// finds on its way: twice what it waits where nobody else does.
    onto: f64,
}

#[derive(Clone, Debug)]
struct Running {
    footprint: Footprint,
    neighbours: Vec<Neighbour>,
    /// How much its slowdown may have changed since it was looked at, roughly.
    felt: f64,
    slowdown: f64,
    open: bool,
}

impl LinkLoads {
    /// No jobs, on a network of so many channels.
    pub fn new(channels: usize) -> Self {
        Self {
            links: vec![Load::default(); channels],
            jobs: Vec::new(),
            open: Vec::new(),
            shared: Shared::default(),
        }
    }

    /// A job starts. Slowdowns are those of before until [`settle`](Self::settle).
    pub fn start(&mut self, footprint: Footprint) -> Slot {
        let slot = self.jobs.iter().position(Option::is_none).unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() - 1
        });
        let mut weights = vec![0.0f64; footprint.links.len()];
        for &(link, weight) in footprint.streams.iter().flat_map(|stream| &stream.weights) {
            weights[link as usize] = weights[link as usize].max(weight);
        }
        // By slot, the most that this job and one there can do to each other.
        let mut both: BTreeMap<Slot, [f64; 2]> = BTreeMap::new();
        for (&Reserved { link, share, hold }, weight) in footprint.links.iter().zip(weights) {
            let load = &mut self.links[link.index()];
            for other in &load.sharers {
                let [onto, from] = both.entry(other.slot).or_default();
                *onto += other.weight * share * hold;
                *from += weight * other.share * other.hold;
            }
            load.sharers.push(Sharer { slot, share, hold, weight });
            load.sums = load.sums.with(1.0, share, hold);
        }
        for (&other, &[_, from]) in &both {
            if let Some(job) = &mut self.jobs[other] {
                job.neighbours.push(Neighbour { slot, onto: from });
            }
        }
        let neighbours: Vec<Neighbour> =
            both.iter().map(|(&slot, &[onto, _])| Neighbour { slot, onto }).collect();
        self.felt(&neighbours, 1.0, 1.0);
        self.open.push(slot);
        self.jobs[slot] =
            Some(Running { footprint, neighbours, slowdown: 1.0, felt: 0.0, open: true });
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
        }
        self.felt(&ended.neighbours, 1.0 / ended.slowdown, ended.slowdown);
        for neighbour in &ended.neighbours {
            if let Some(job) = &mut self.jobs[neighbour.slot] {
                job.neighbours.retain(|other| other.slot != slot);
                // Who is alone again is so to the last bit.
                if job.neighbours.is_empty() {
                    job.felt = f64::INFINITY;
                }
            }
        }
        self.felt(&ended.neighbours, 0.0, 1.0);
        Some(ended.footprint)
    }

    /// How many times longer a job takes among those that run than alone; 1 for a slot without
    /// a job.
    pub fn slowdown(&self, slot: Slot) -> f64 {
        self.jobs.get(slot).and_then(Option::as_ref).map_or(1.0, |job| job.slowdown)
    }

    /// Finds the slowdowns that agree with each other. What it does is a function of the order in
    /// which jobs started and ended. After some hundred rounds they are taken as they
    /// are, and the next time goes on from there: [`agree`](Self::agree) tells.
    pub fn settle(&mut self) {
        let mut round = Vec::new();
        for _ in 0..ROUNDS {
            std::mem::swap(&mut round, &mut self.open);
            if round.is_empty() {
                return;
            }
            round.sort_unstable();
            for slot in round.drain(..) {
                self.adjust(slot);
            }
        }
    }

    /// Whether the slowdowns agree with each other to within [`AGREED`].
    pub fn agree(&self) -> bool {
        self.open.is_empty()
    }

    /// Gives a job the slowdown that goes with the others', and looks at those again whom that
    /// concerns.
    fn adjust(&mut self, slot: Slot) {
        let Some(job) = &mut self.jobs[slot] else { return };
        (job.open, job.felt) = (false, 0.0);
        let old = job.slowdown;
        self.shared.look(&job.footprint, old, &self.links);
        // Who is alone is so to the last bit.
        let is_alone = self.shared.links.is_empty();
        let new = if is_alone { 1.0 } else { self.shared.confirmed(old, &job.footprint) };
        if (new - old).abs() <= AGREED * old && !is_alone || new == old {
            return;
        }
        job.slowdown = new;
        for own in &job.footprint.links {
            let load = &mut self.links[own.link.index()];
            let without = load.sums.with(-1.0, own.share / old, own.hold);
            load.sums = without.with(1.0, own.share / new, own.hold);
        }
        let neighbours = std::mem::take(&mut job.neighbours);
        self.felt(&neighbours, (1.0 / new - 1.0 / old).abs(), new.max(old));
        if let Some(job) = &mut self.jobs[slot] {
            job.neighbours = neighbours;
        }
    }

    /// A job reserves links for more or less of the time, by this part of its shares. Its neighbours are
    /// looked at again if this and what they have felt before can matter to them. Where jobs are slow, queues
    /// are long, and a packet more delays many: by about as many as both are slower.
    fn felt(&mut self, neighbours: &[Neighbour], part: f64, slowdown: f64) {
        for &Neighbour { slot, onto } in neighbours {
            let Some(job) = &mut self.jobs[slot] else { continue };
            job.felt += onto * part * slowdown * job.slowdown;
            if !job.open && job.felt > FELT * job.slowdown {
                job.open = true;
                self.open.push(slot);
            }
        }
    }
}

impl Load {
    /// Adds up anew what its sharers come to: nothing is left of those who are gone.
    fn sum(&mut self, jobs: &[Option<Running>]) {
        self.sums = self.sharers.iter().fold(Sums::default(), |sums, sharer| {
            let slowdown = jobs[sharer.slot].as_ref().map_or(1.0, |job| job.slowdown);
            sums.with(1.0, sharer.share / slowdown, sharer.hold)
        });
    }
}

/// The links that a job shares, and what it waits on each of its links; kept for their memory.
#[derive(Clone, Debug, Default)]
struct Shared {
    /// The job's part in a link, its number among the job's, and what all of its sharers come to without the job.
    links: Vec<(Reserved, u32, Sums)>,
    /// By link of the job; 0 where it is alone.
    waits: Vec<f64>,
}

impl Shared {
    /// Looks at a job whose present slowdown is `slowdown`.
    fn look(&mut self, footprint: &Footprint, slowdown: f64, links: &[Load]) {
        self.links.clear();
        self.waits.clear();
        self.waits.resize(footprint.links.len(), 0.0);
        for (number, own) in (0..).zip(&footprint.links) {
            let load = &links[own.link.index()];
            // Alone on a link: nothing to wait for, to the last bit.
            if load.sharers.len() >= 2 {
                let others = load.sums.with(-1.0, own.share / slowdown, own.hold);
                self.links.push((*own, number, others));
            }
        }
    }

    /// The slowdown that a job's waits ask for if it has a slowdown already.
    fn wanted(&mut self, slowdown: f64, footprint: &Footprint) -> f64 {
        for &(own, number, others) in &self.links {
            let share = own.share / slowdown;
            self.waits[number as usize] = others.with(1.0, share, own.hold).wait(share, own.hold);
        }
        let waits = &self.waits[..];
        let late = |stream: &Stream| -> f64 {
            stream.weights.iter().map(|&(link, weight)| weight * waits[link as usize]).sum()
        };
        1.0 + footprint.streams.iter().map(late).fold(0.0, f64::max)
    }

    /// The slowdown f that the job's own waits confirm, the others' as they are: f = wanted(f). A slower
    /// job reserves less, so that its waits fall as f grows, and there is one such f.
    fn confirmed(&mut self, old: f64, footprint: &Footprint) -> f64 {
        let at_old = self.wanted(old, footprint);
        if (at_old - old).abs() <= AGREED * old {
            return old;
        }
        // The root lies between f and what f asks for. Excess: by how much f asks for more than it is.
        let (mut low, mut high) = if at_old > old { (old, at_old) } else { (at_old.max(1.0), old) };
        let mut excess = |f: f64| self.wanted(f, footprint) - f;
        let (mut at_low, mut at_high) = match at_old > old {
            true => (at_old - old, excess(high)),
            false => (excess(low), at_old - old),
        };
        // The chord; where it creeps at one end, half the other end's excess (Illinois).
        let mut last = 0;
        while high - low > 0.1 * AGREED * low {
            let chord = low + (high - low) * at_low / (at_low - at_high);
            let middle = if chord > low && chord < high { chord } else { (low + high) / 2.0 };
            let at_middle = excess(middle);
            if at_middle.abs() <= 0.1 * AGREED * middle {
                return middle;
            }
            if at_middle > 0.0 {
                (low, at_low) = (middle, at_middle);
                at_high /= if last > 0 { 2.0 } else { 1.0 };
                last = 1;
            } else {
                (high, at_high) = (middle, at_middle);
                at_low /= if last < 0 { 2.0 } else { 1.0 };
                last = -1;
            }
            if high - low <= f64::EPSILON * 4.0 * low {
                break;
            }
        }
        low
    }
}
