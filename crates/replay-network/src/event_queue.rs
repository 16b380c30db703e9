//! A queue of events: a ring of buckets, one per cycle.
//!
//! The events of one cycle are returned in the order in which they were added. Releases are an exception: they are
//! ordered by a key that the caller gives. Events beyond the ring are kept in a heap. An event moves from the heap into
//! the ring as soon as the ring reaches the cycle of the event. Events that are added later for this cycle therefore
//! come after the moved event. Adding and removing an event take constant time; the search for the next busy cycle
//! reads one bit per cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of cycles in the ring.
const REACH: u64 = 64 * WORDS as u64;
const WORDS: usize = 4;

/// An event; the number is chosen by the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// A channel for which a header waits becomes free.
    Release(u32),
    /// A network event is reported to the caller.
    Report(u32),
    /// A header requests a channel.
    Request(u32),
}

#[derive(Clone, Default, Debug)]
struct Bucket {
    releases: Vec<u32>,
    network_events: Vec<u32>,
    requests: Vec<u32>,
}

/// The future events and the current cycle.
#[derive(Clone, Debug)]
pub struct EventQueue {
    now: u64,
    buckets: Box<[Bucket]>,
    /// One bit per bucket: set if the bucket may contain events.
    busy: [u64; WORDS],
    /// Number of requests of this cycle that were removed.
    requests_taken: usize,
    network_events_taken: usize,
    /// Whether releases were added to this cycle since its releases were last sorted.
    unsorted: bool,
    /// Events beyond the ring, each with its cycle and its number in the order of addition.
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
            network_events_taken: 0,
            unsorted: false,
            far: BinaryHeap::new(),
            entered_far: 0,
        }
    }

    /// Returns the current cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Adds an event at a cycle. The cycle must not be in the past.
    ///
    /// Always inlined, because the kind of event is a constant in every caller.
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
            Event::Report(what) => bucket.network_events.push(what),
            Event::Request(worm) => bucket.requests.push(worm),
        }
    }

    #[cold]
    fn enter_far(&mut self, at: u64, event: Event) {
        self.far.push(Reverse((at, self.entered_far, event)));
        self.entered_far += 1;
    }

    #[inline]
    fn current(&mut self) -> &mut Bucket {
        &mut self.buckets[(self.now % REACH) as usize]
    }

    /// Removes the release of this cycle that has the least key.
    #[inline]
    pub fn next_release(&mut self, key: impl Fn(u32) -> u64) -> Option<u32> {
        if self.unsorted {
            self.unsorted = false;
            self.current().releases.sort_unstable_by_key(|&channel| Reverse(key(channel)));
        }
        self.current().releases.pop()
    }

    /// Removes the next network event of this cycle.
    #[inline]
    pub fn next_network_event(&mut self) -> Option<u32> {
        let taken = self.network_events_taken;
        let event = self.current().network_events.get(taken).copied();
        self.network_events_taken += usize::from(event.is_some());
        event
    }

    /// Returns whether this cycle has network events that have not been removed.
    #[inline]
    pub fn has_network_event(&mut self) -> bool {
        let taken = self.network_events_taken;
        self.current().network_events.len() > taken
    }

    /// Removes the next request of this cycle.
    #[inline]
    pub fn next_request(&mut self) -> Option<u32> {
        let taken = self.requests_taken;
        let request = self.current().requests.get(taken).copied();
        self.requests_taken += usize::from(request.is_some());
        request
    }

    /// Returns the next cycle with events after the current cycle.
    pub fn next_busy(&self) -> Option<u64> {
        let here = (self.now % REACH) as usize;
        let ahead =
            |from: usize, bits: u64| (bits != 0).then(|| from + bits.trailing_zeros() as usize);
        // Search the rest of the current word, then all other words around the ring, then the
        // beginning of the current word.
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

    /// Advances to a cycle; there must be no events between the current cycle and cycle `at`.
    /// Events that remain in the current cycle are discarded.
    pub fn go_to(&mut self, at: u64) {
        let slot = (self.now % REACH) as usize;
        let bucket = &mut self.buckets[slot];
        bucket.releases.clear();
        bucket.network_events.clear();
        bucket.requests.clear();
        self.busy[slot / 64] &= !(1 << (slot % 64));
        (self.requests_taken, self.network_events_taken) = (0, 0);
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
        /// The queue returns the same events as a sorted list, even if events are added while the queue advances.
        #[test]
        fn events_come_by_cycle_then_in_the_order_entered(
            entries in proptest::collection::vec((0u64..700, 0u64..40, 0u8..3), 1..200)
        ) {
            let mut queue = EventQueue::new();
            let mut listed = Vec::new();
            let mut found = Vec::new();
            let drain = |queue: &mut EventQueue, found: &mut Vec<(u64, Event)>| {
                let now = queue.now();
                while let Some(x) = queue.next_release(u64::from) { found.push((now, Event::Release(x))) }
                while let Some(x) = queue.next_network_event() { found.push((now, Event::Report(x))) }
                while let Some(x) = queue.next_request() { found.push((now, Event::Request(x))) }
            };
            let go = |queue: &mut EventQueue, to: u64, found: &mut Vec<(u64, Event)>| {
                drain(queue, found);
                while let Some(at) = queue.next_busy().filter(|&at| at <= to) {
                    queue.go_to(at);
                    drain(queue, found);
                }
                if to > queue.now() {
                    queue.go_to(to);
                }
            };
            let mut now = 0;
            for (i, &(ahead, pass, kind)) in entries.iter().enumerate() {
                let i = i as u32;
                let event = [Event::Release(i), Event::Report(i), Event::Request(i)][usize::from(kind)];
                // Do not add events to the current cycle, because all its events have been removed.
                queue.enter(now + ahead + 1, event);
                listed.push((now + ahead + 1, event));
                now += pass;
                go(&mut queue, now, &mut found);
            }
            go(&mut queue, now + 2000, &mut found);
            listed.sort();
            prop_assert_eq!(found, listed);
        }
    }
}
