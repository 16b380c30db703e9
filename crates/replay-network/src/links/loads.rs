//! The link loads of all running jobs, and the resulting slowdowns.

use std::collections::BTreeMap;

use crate::ChannelId;

/// Slowdowns agree with each other if recomputing the slowdowns changes no slowdown by more than this relative
/// difference.
pub const AGREED: f64 = 1e-3;

/// A job's slowdown is recomputed once it may have changed by more than this relative difference. The value is below
/// [`AGREED`] because the accumulated change is only an estimate.
const RECHECK: f64 = AGREED / 10.0;

/// Upper bound of the reserved share of a link in the computation of waits. At a share of 1, the wait would be
/// infinite.
const FULL: f64 = 1.0 - 1e-6;

/// Number of rounds after which slowdowns are accepted even if they do not agree.
const ROUNDS: usize = 400;

/// The reservation of a link by a job, in a run without other jobs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reserved {
    /// The link; virtual channels are separate links.
    pub link: ChannelId,
    /// Share of the job's time during which the link is reserved; the share is greater than 0.
    pub share: f64,
    /// Mean number of cycles for which a packet reserves the link.
    pub hold: f64,
}

/// The use of links by a job, in a run without other jobs.
#[derive(Clone, PartialEq, Debug)]
pub struct Footprint {
    /// The links that the job reserves, without duplicates.
    pub links: Vec<Reserved>,
    /// Streams of packets. The job ends when all streams have ended, so the slowest stream determines the slowdown of
    /// the job.
    pub streams: Vec<Stream>,
}

/// A sequence of packets that are sent one after another. Suppose that every packet that crosses link number l of the
/// job waits w_l cycles there. The duration of the stream then grows by the factor 1 + sum of weight_l w_l.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stream {
    /// Numbers of links, each with its weight in packets per cycle.
    pub weights: Vec<(u32, f64)>,
}

/// The number of a running job.
pub type Slot = usize;

/// The loads of the links of a network.
#[derive(Clone, Debug)]
pub struct LinkLoads {
    links: Vec<Load>,
    /// The running job of each slot; `None` for a free slot.
    jobs: Vec<Option<Running>>,
    /// Slots of the jobs whose slowdowns must be recomputed.
    open: Vec<Slot>,
    shared: Shared,
}

/// The load of a link.
#[derive(Clone, Debug, Default)]
struct Load {
    /// The jobs that reserve the link.
    sharers: Vec<Sharer>,
    /// Sums over the jobs that reserve the link.
    sums: Sums,
}

/// Sums over the jobs that reserve a link. In the formulas, s is the job's share, and h is the job's hold.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Sum of s h / 2, where s is a job's share and h is its hold. The sum is the mean remaining time of the
    /// reservation that a header finds.
    residual: f64,
    /// Sum of s / (1 + s), where s is a job's share.
    queueing: f64,
    /// Sum of s^2 h / (2 (1 + s)), where s is a job's share and h is its hold.
    own: f64,
}

impl Sums {
    /// Returns the sums after adding a job (`sign` 1) or removing a job (`sign` -1).
    fn with(self, sign: f64, share: f64, hold: f64) -> Self {
        let sharing = sign * share / (1.0 + share);
        Self {
            residual: self.residual + sign * share * hold / 2.0,
            queueing: self.queueing + sharing,
            own: self.own + sharing * share * hold / 2.0,
        }
    }

    /// Returns the time for which a header of a job waits at the link for the packets of the other jobs. `share` and
    /// `hold` are the values of the waiting job.
    fn wait(self, share: f64, hold: f64) -> f64 {
        let queued = (self.residual * self.queueing - self.own) / (1.0 - self.queueing.min(FULL));
        ((self.residual - share * hold / 2.0 + queued) / (1.0 + share)).max(0.0)
    }
}

#[derive(Clone, Copy, Debug)]
struct Sharer {
    slot: Slot,
    share: f64,
    hold: f64,
    /// Largest weight of the link among the streams of the job.
    weight: f64,
}

/// A job that shares links with another job.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    slot: Slot,
    /// Estimated effect of this job on the neighbour's slowdown. Suppose that each packet of the neighbour waits for
    /// the whole hold time of every packet of this job that it finds on its path. The effect is the increase of the
    /// neighbour's slowdown that would result. If no other jobs run, the actual increase is half of this value.
    effect: f64,
}

#[derive(Clone, Debug)]
struct Running {
    footprint: Footprint,
    neighbours: Vec<Neighbour>,
    /// Estimated change of the slowdown since the slowdown was last computed.
    pending_change: f64,
    slowdown: f64,
    open: bool,
}

impl LinkLoads {
    /// Creates the loads of a network with `channels` channels and no jobs.
    pub fn new(channels: usize) -> Self {
        Self {
            links: vec![Load::default(); channels],
            jobs: Vec::new(),
            open: Vec::new(),
            shared: Shared::default(),
        }
    }

    /// Starts a job. Slowdowns do not change until [`settle`](Self::settle).
    pub fn start(&mut self, footprint: Footprint) -> Slot {
        let slot = self.jobs.iter().position(Option::is_none).unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() - 1
        });
        let mut weights = vec![0.0f64; footprint.links.len()];
        for &(link, weight) in footprint.streams.iter().flat_map(|stream| &stream.weights) {
            weights[link as usize] = weights[link as usize].max(weight);
        }
        // For each slot of another job, the largest effect of this job on the other job, and the largest effect of the
        // other job on this job.
        let mut both: BTreeMap<Slot, [f64; 2]> = BTreeMap::new();
        for (&Reserved { link, share, hold }, weight) in footprint.links.iter().zip(weights) {
            let load = &mut self.links[link.index()];
            for other in &load.sharers {
                let [effect, from] = both.entry(other.slot).or_default();
                *effect += other.weight * share * hold;
                *from += weight * other.share * other.hold;
            }
            load.sharers.push(Sharer { slot, share, hold, weight });
            load.sums = load.sums.with(1.0, share, hold);
        }
        for (&other, &[_, from]) in &both {
            if let Some(job) = &mut self.jobs[other] {
                job.neighbours.push(Neighbour { slot, effect: from });
            }
        }
        let neighbours: Vec<Neighbour> =
            both.iter().map(|(&slot, &[effect, _])| Neighbour { slot, effect }).collect();
        self.propagate(&neighbours, 1.0, 1.0);
        self.open.push(slot);
        self.jobs[slot] =
            Some(Running { footprint, neighbours, slowdown: 1.0, pending_change: 0.0, open: true });
        slot
    }

    /// Ends a job and returns its footprint; `None` if the slot has no job.
    pub fn end(&mut self, slot: Slot) -> Option<Footprint> {
        let ended = self.jobs.get_mut(slot)?.take()?;
        self.open.retain(|&open| open != slot);
        for reserved in &ended.footprint.links {
            let load = &mut self.links[reserved.link.index()];
            load.sharers.retain(|sharer| sharer.slot != slot);
            load.sum(&self.jobs);
        }
        self.propagate(&ended.neighbours, 1.0 / ended.slowdown, ended.slowdown);
        for neighbour in &ended.neighbours {
            if let Some(job) = &mut self.jobs[neighbour.slot] {
                job.neighbours.retain(|other| other.slot != slot);
                // A job that no longer shares links has a slowdown of exactly 1.
                if job.neighbours.is_empty() {
                    job.pending_change = f64::INFINITY;
                }
            }
        }
        self.propagate(&ended.neighbours, 0.0, 1.0);
        Some(ended.footprint)
    }

    /// Returns the slowdown of a job: the ratio of its time with the other running jobs to its time without other jobs.
    /// Returns 1 for a slot without a job.
    pub fn slowdown(&self, slot: Slot) -> f64 {
        self.jobs.get(slot).and_then(Option::as_ref).map_or(1.0, |job| job.slowdown)
    }

    /// Computes slowdowns that agree with each other. The result depends only on the order in which jobs started and
    /// ended. After some hundred rounds, slowdowns are accepted even if they do not agree, and the next call continues
    /// from these slowdowns. [`agree`](Self::agree) returns whether the slowdowns agree.
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

    /// Returns whether the slowdowns agree with each other within [`AGREED`].
    pub fn agree(&self) -> bool {
        self.open.is_empty()
    }

    /// Sets a job's slowdown to the value that agrees with the other jobs, and marks the jobs that are affected by the
    /// change.
    fn adjust(&mut self, slot: Slot) {
        let Some(job) = &mut self.jobs[slot] else { return };
        (job.open, job.pending_change) = (false, 0.0);
        let old = job.slowdown;
        self.shared.collect(&job.footprint, old, &self.links);
        // A job that shares no link has a slowdown of exactly 1.
        let is_alone = self.shared.links.is_empty();
        let new = if is_alone { 1.0 } else { self.shared.solve(old, &job.footprint) };
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
        self.propagate(&neighbours, (1.0 / new - 1.0 / old).abs(), new.max(old));
        if let Some(job) = &mut self.jobs[slot] {
            job.neighbours = neighbours;
        }
    }

    /// Propagates a change of a job's reservations. Each share of the job changes by the fraction `part`. A neighbour
    /// is marked if the accumulated changes may affect its slowdown. If jobs are slow, queues are long. One more packet
    /// then delays about f g packets, where f and g are the slowdowns of the two jobs.
    fn propagate(&mut self, neighbours: &[Neighbour], part: f64, slowdown: f64) {
        for &Neighbour { slot, effect } in neighbours {
            let Some(job) = &mut self.jobs[slot] else { continue };
            job.pending_change += effect * part * slowdown * job.slowdown;
            if !job.open && job.pending_change > RECHECK * job.slowdown {
                job.open = true;
                self.open.push(slot);
            }
        }
    }
}

impl Load {
    /// Recomputes the sums, so that no rounding errors remain from jobs that have ended.
    fn sum(&mut self, jobs: &[Option<Running>]) {
        self.sums = self.sharers.iter().fold(Sums::default(), |sums, sharer| {
            let slowdown = jobs[sharer.slot].as_ref().map_or(1.0, |job| job.slowdown);
            sums.with(1.0, sharer.share / slowdown, sharer.hold)
        });
    }
}

/// The links that a job shares, and the waits of the job on all its links. The buffers are reused in later calls.
#[derive(Clone, Debug, Default)]
struct Shared {
    /// For each shared link: the job's reservation, the number of the link within the job, and the sums without the
    /// job.
    links: Vec<(Reserved, u32, Sums)>,
    /// Waiting time on each link of the job; 0 on a link that the job does not share.
    waits: Vec<f64>,
}

impl Shared {
    /// Collects the shared links of a job. `slowdown` is the current slowdown of the job.
    fn collect(&mut self, footprint: &Footprint, slowdown: f64, links: &[Load]) {
        self.links.clear();
        self.waits.clear();
        self.waits.resize(footprint.links.len(), 0.0);
        for (number, own) in (0..).zip(&footprint.links) {
            let load = &links[own.link.index()];
            // If only one job uses a link, the wait of this job is exactly 0.
            if load.sharers.len() >= 2 {
                let others = load.sums.with(-1.0, own.share / slowdown, own.hold);
                self.links.push((*own, number, others));
            }
        }
    }

    /// Returns the slowdown that the job's waits imply, assuming that the job's current slowdown is `slowdown`.
    fn implied(&mut self, slowdown: f64, footprint: &Footprint) -> f64 {
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

    /// Solves f = implied(f) for the slowdown f of a job. The slowdowns of all other jobs stay unchanged. A slower job
    /// reserves its links for a smaller share of the time. The waits of the job therefore fall as its slowdown f grows,
    /// and there is exactly one solution.
    fn solve(&mut self, old: f64, footprint: &Footprint) -> f64 {
        let at_old = self.implied(old, footprint);
        if (at_old - old).abs() <= AGREED * old {
            return old;
        }
        // The solution lies between `old` and implied(`old`). The excess at a slowdown f is implied(f) - f.
        let (mut low, mut high) = if at_old > old { (old, at_old) } else { (at_old.max(1.0), old) };
        let mut excess = |f: f64| self.implied(f, footprint) - f;
        let (mut at_low, mut at_high) = match at_old > old {
            true => (at_old - old, excess(high)),
            false => (excess(low), at_old - old),
        };
        // Use the regula falsi with the Illinois method: if an end of the interval does not move, its excess is halved.
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
