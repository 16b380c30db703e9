//! Grants channels to headers and computes the consequences of a grant.

use super::Network;
use crate::event_queue::Event;
use crate::settings::Switching;
use crate::staircase::Stairs;
use crate::usage::NONE;
use crate::wiring::Leg;
use crate::worm::Worm;

impl Network {
    /// Grants the requested channel to a header.
    #[inline]
    pub(super) fn grant(&mut self, slot: u32) {
        let now = self.queue.now();
        let i = slot as usize;
        let worm = &mut self.worms[i];
        let Worm { at, last, flits, .. } = *worm;
        let channel = worm.head.channel;
        self.states[channel as usize].hold(slot, flits, now);
        if at > 0 {
            worm.blocked += now - worm.asked;
        }
        if at < last {
            worm.at += 1;
            worm.head.step(&self.legs[i * self.max_legs..][..self.max_legs]);
        }
        if !self.closed || last < 2 {
            return self.grant_by_stairs(slot, at, channel);
        }
        let timing = self.timing;
        if at < last {
            let next = now + timing.cross(at, last) + timing.route;
            self.queue.enter(next, Event::Request(slot));
            if let Some(place) = at.checked_sub(flits - 1) {
                self.tail_starts(slot, place, timing.moving(now, flits - 1));
            }
        } else {
            self.labels[i].head_arrived = now + timing.eject;
            for place in (last + 1).saturating_sub(flits)..=last {
                self.tail_starts(slot, place, timing.draining(now, flits - 1, last - place));
            }
        }
    }

    /// Processes the event that the tail starts to cross a channel. In cycle `start`, the tail starts to cross the
    /// channel at position `place` on its path. The start of the tail determines the release of the previous channel.
    /// At both ends of the path, the start of the tail determines additional events.
    #[inline(always)]
    fn tail_starts(&mut self, slot: u32, place: u32, start: u64) {
        let timing = self.timing;
        let last = self.worms[slot as usize].last;
        if place == 0 {
            let left = start + timing.period(0, last);
            self.queue.enter(left, Event::Report(slot << 1));
        } else {
            self.close_behind(
                slot,
                place - 1,
                start + timing.leave(place, last) + timing.release_delay(place - 1),
            );
        }
        if place == last {
            self.close_behind(
                slot,
                last,
                start + timing.period(last, last) + timing.release_delay(last),
            );
            let delivered = start + timing.cross(last, last);
            self.queue.enter(delivered, Event::Report(slot << 1 | 1));
        }
    }

    /// Sets the cycle `at` in which the rearmost channel that a worm still holds becomes free.
    #[inline(always)]
    fn close_behind(&mut self, slot: u32, place: u32, at: u64) {
        let i = slot as usize;
        let worm = &mut self.worms[i];
        let channel = worm.tail.channel;
        if place < worm.last {
            worm.tail.step(&self.legs[i * self.max_legs..][..self.max_legs]);
        }
        let state = &mut self.states[channel as usize];
        state.close(at);
        if state.first != NONE {
            self.queue.enter(at, Event::Release(channel));
        }
    }

    /// Completes a grant if the closed form of the timing does not hold.
    fn grant_by_stairs(&mut self, slot: u32, at: u32, channel: u32) {
        let now = self.queue.now();
        let i = slot as usize;
        let Worm { last, flits, .. } = self.worms[i];
        let whole = self.settings.switching != Switching::Wormhole;
        let depth = if whole { flits } else { self.settings.depth.min(flits) };
        let stairs = Stairs { timing: self.timing, last, flits, depth };
        let start = match self.wiring.shared_link(channel) {
            Some(link) => self.reservations.reserve(link, now, now),
            None => now,
        };
        self.worms[i].blocked += start - now;

        let legs = &self.legs[i * self.max_legs..][..self.max_legs];
        let (wiring, reservations) = (&self.wiring, &mut self.reservations);
        let book = |place: u32, earliest: u64| {
            let link = (wiring.shares_links() && 0 < place && place < last)
                .then(|| wiring.shared_link(channel_at(legs, place)))
                .flatten();
            link.map_or(earliest, |link| reservations.reserve(link, now, earliest))
        };
        let mut latest = std::mem::take(&mut self.latest[i]);
        if at < last {
            stairs.climb(&mut latest, at, start, book);
            let leading = match self.settings.switching {
                Switching::StoreAndForward => latest[latest.len() - 1],
                _ => start,
            };
            let next = leading + self.timing.cross(at, last) + self.timing.route;
            self.queue.enter(next, Event::Request(slot));
            if let Some(place) = at.checked_sub((flits - 1) / depth) {
                self.tail_starts(slot, place, latest[latest.len() - 1]);
            }
        } else {
            self.labels[i].head_arrived = start + self.timing.eject;
            let mut rows = std::mem::take(&mut self.rows);
            let mut tails = std::mem::take(&mut self.tails);
            tails.clear();
            stairs
                .drain(&latest, start, &mut rows, book, |place, start| tails.push((place, start)));
            // If a start of the tail was known before this call, this start is the first entry of `tails` and has
            // already been processed.
            let known = usize::from(latest.len() == flits as usize);
            for &(place, start) in &tails[known..] {
                self.tail_starts(slot, place, start);
            }
            (self.rows, self.tails) = (rows, tails);
        }
        self.latest[i] = latest;
    }
}

/// Returns the channel at a position of a route.
fn channel_at(legs: &[Leg], mut place: u32) -> u32 {
    for leg in legs {
        if place < leg.count {
            return leg.first.wrapping_add(leg.step.wrapping_mul(place));
        }
        place -= leg.count;
    }
    NONE
}
