//! What happens when: a ring of buckets, one per cycle.
//!
//! Everything due in one cycle comes out in the order in which it went in, apart from
//! releases, which come out by the key that the caller gives. What is further ahead than the
//! ring reaches waits in a heap and moves into the ring as soon as it is near enough, hence
//! before anything nearer can be entered behind it. Entering and taking out cost constant
//! time; finding the next busy cycle looks at one bit per cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles that the ring reaches ahead.
const REACH: u64 = 64 * WORDS as u64;
const WORDS: usize = 4;

/// Something to happen; the number is the engine's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// A channel for which a header waits becomes free.
    Release(u32),
    /// Something that the outside learns of.
    NetworkEvent(u32),
    /// A header asks for a channel.
    Request(u32),
}

#[derive(Clone, Default, Debug)]
struct Bucket {
    releases: Vec<u32>,
    notices: Vec<u32>,
    requests: Vec<u32>,
}

/// The events ahead, and the present cycle.
#[derive(Clone, Debug)]
pub struct EventQueue {
    now: u64,
    buckets: Box<[Bucket]>,
    /// Bit per bucket: may it hold something?
    busy: [u64; WORDS],
    /// Requests and notices of this cycle taken out so far.
    requests_taken: usize,
    notices_taken: usize,
    /// Whether releases of this cycle have been entered since they were last sorted.
    unsorted: bool,
    /// (cycle, order of entry, event) beyond the ring.
    far: BinaryHeap<Reverse<(u64, u64, Event)>>,
    entered_far: u64,
}

impl EventQueue {
    pub fn new() -> Self {
        Self {
            now: 0,
            buckets: vec![Bucket::default(); REACH as usize].into_boxed_slice(),
            busy: [0; WORDS],
            requests_taken: 0,
            notices_taken: 0,
            unsorted: false,
            far: BinaryHeap::new(),
            entered_far: 0,
        }
    }

    /// The present cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Enters an event at a cycle, which must not be past.
    ///
    /// Inlined everywhere: the kind of event is known at every place that enters one.
    #[inline(always)]
    pub fn enter(&mut self, at: u64, event: Event) {
        debug_assert!(at >= self.now);
        if at - self.now >= REACH {
            return self.enter_far(at, event);
        }
        let slot = (at % REACH) as usize;
        self.busy[slot / 64] |= 1 << (slot % 64);
        let bucket = &mut self.buckets[slot];
        match event {
            Event::Release(channel) => {
                self.unsorted |= at == self.now;
                bucket.releases.push(channel);
            }
            Event::NetworkEvent(what) => bucket.notices.push(what),
            Event::Request(worm) => bucket.requests.push(worm),
        }
    }

    #[cold]
    fn enter_far(&mut self, at: u64, event: Event) {
        self.far.push(Reverse((at, self.entered_far, event)));
        self.entered_far += 1;
    }

    #[inline]
    fn today(&mut self) -> &mut Bucket {
        &mut self.buckets[(self.now % REACH) as usize]
    }

    /// Takes out the release of this cycle whose channel has the least key.
    #[inline]
    pub fn next_release(&mut self, key: impl Fn(u32) -> u64) -> Option<u32> {
        if self.unsorted {
            self.unsorted = false;
            self.today().releases.sort_unstable_by_key(|&channel| Reverse(key(channel)));
        }
        self.today().releases.pop()
    }

    /// Takes out the next notice of this cycle.
    #[inline]
    pub fn next_notice(&mut self) -> Option<u32> {
        let taken = self.notices_taken;
        let notice = self.today().notices.get(taken).copied();
        self.notices_taken += usize::from(notice.is_some());
        notice
    }

    /// Whether a notice of this cycle is left.
    #[inline]
    pub fn has_notice(&mut self) -> bool {
        let taken = self.notices_taken;
        self.today().notices.len() > taken
    }

    /// Takes out the next request of this cycle.
    #[inline]
    pub fn next_request(&mut self) -> Option<u32> {
        let taken = self.requests_taken;
        let request = self.today().requests.get(taken).copied();
        self.requests_taken += usize::from(request.is_some());
        request
    }

    /// The next cycle after this one for which something is entered.
    pub fn next_busy(&self) -> Option<u64> {
        let here = (self.now % REACH) as usize;
        let ahead =
            |from: usize, bits: u64| (bits != 0).then(|| from + bits.trailing_zeros() as usize);
        // The rest of this word, the other words around the ring, the word's beginning.
        let (word, bit) = (here / 64, here % 64);
        let after = self.busy[word] & (u64::MAX << bit << 1);
        let slot = ahead(word * 64, after)
            .or_else(|| {
                (1..WORDS).find_map(|i| {
                    let other = (word + i) % WORDS;
                    ahead(other * 64, self.busy[other])
                })
            })
            .or_else(|| ahead(word * 64, self.busy[word] & !(u64::MAX << bit)));
        match slot {
            Some(slot) => Some(self.now + (slot as u64).wrapping_sub(here as u64) % REACH),
            None => self.far.peek().map(|Reverse((at, ..))| *at),
        }
    }

    /// Goes to a cycle, none with an entry being between. Nothing of the present one may be
    /// left but what the caller has done with.
    pub fn go_to(&mut self, at: u64) {
        let slot = (self.now % REACH) as usize;
        let bucket = &mut self.buckets[slot];
        bucket.releases.clear();
        bucket.notices.clear();
        bucket.requests.clear();
        self.busy[slot / 64] &= !(1 << (slot % 64));
        (self.requests_taken, self.notices_taken) = (0, 0);
        self.now = at;
        while let Some(&Reverse((due, _, event))) = self.far.peek()
            && due - at < REACH
        {
            self.far.pop();
            self.enter(due, event);
        }
        self.unsorted = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list, with entries made while time passes.
        #[test]
        fn events_come_by_cycle_then_in_the_order_entered(
            entries in proptest::collection::vec((0u64..700, 0u64..40, 0u8..3), 1..200)
        ) {
            let mut calendar = EventQueue::new();
            let mut listed = Vec::new();
            let mut found = Vec::new();
            let drain = |calendar: &mut EventQueue, found: &mut Vec<(u64, Event)>| {
                let now = calendar.now();
                while let Some(x) = calendar.next_release(u64::from) { found.push((now, Event::Release(x))) }
                while let Some(x) = calendar.next_notice() { found.push((now, Event::NetworkEvent(x))) }
                while let Some(x) = calendar.next_request() { found.push((now, Event::Request(x))) }
            };
            let go = |calendar: &mut EventQueue, to: u64, found: &mut Vec<(u64, Event)>| {
                drain(calendar, found);
                while let Some(at) = calendar.next_busy().filter(|&at| at <= to) {
                    calendar.go_to(at);
                    drain(calendar, found);
                }
                if to > calendar.now() {
                    calendar.go_to(to);
                }
            };
            let mut now = 0;
            for (i, &(ahead, pass, kind)) in entries.iter().enumerate() {
                let i = i as u32;
                let event = [Event::Release(i), Event::NetworkEvent(i), Event::Request(i)][usize::from(kind)];
                // Never in the present cycle, which has been emptied.
                calendar.enter(now + ahead + 1, event);
                listed.push((now + ahead + 1, event));
                now += pass;
                go(&mut calendar, now, &mut found);
            }
            go(&mut calendar, now + 2000, &mut found);
            listed.sort();
            prop_assert_eq!(found, listed);
        }
    }
}
