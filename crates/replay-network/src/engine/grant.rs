//! What follows from a header's getting a channel.

use super::Network;
use crate::event_queue::Event;
use crate::log::{Release, Start};
use crate::settings::Switching;
use crate::staircase::Stairs;
use crate::usage::NONE;
use crate::wiring::Leg;
use crate::worm::Worm;

impl Network {
    /// A header gets the channel that it has asked for.
    #[inline]
    pub(super) fn grant(&mut self, slot: u32) {
        let now = self.calendar.now();
        let i = slot as usize;
        let worm = &mut self.worms[i];
        let Worm { at, last, flits, .. } = *worm;
        let channel = worm.head.channel;
        self.lines[channel as usize].hold(slot, flits, now);
        if at > 0 {
            worm.blocked += now - worm.asked;
        }
        if at < last {
            worm.at += 1;
            worm.head.step(&self.legs[i * self.most_legs..][..self.most_legs]);
        }
        if !self.closed || last < 2 {
            return self.grant_by_stairs(slot, at, channel);
        }
        if self.log.is_some() {
            self.record_closed(slot, at, now);
        }
        let pace = self.pace;
        if at < last {
            let next = now + pace.cross(at, last) + pace.route;
            self.calendar.enter(next, Event::Request(slot));
            if let Some(place) = at.checked_sub(flits - 1) {
                self.tail_starts(slot, place, pace.moving(now, flits - 1));
            }
        } else {
            self.labels[i].head_arrived = now + pace.eject;
            for place in (last + 1).saturating_sub(flits)..=last {
                self.tail_starts(slot, place, pace.draining(now, flits - 1, last - place));
            }
        }
    }

    /// The tail is known to start at `start` over the channel at `place` on its path: the
    /// channel before becomes free, and at the ends more.
    #[inline(always)]
    fn tail_starts(&mut self, slot: u32, place: u32, start: u64) {
        let pace = self.pace;
        let last = self.worms[slot as usize].last;
        if place == 0 {
            let left = start + pace.period(0, last);
            self.calendar.enter(left, Event::NetworkEvent(slot << 1));
        } else {
            self.close_behind(
                slot,
                place - 1,
                start + pace.leave(place, last) + pace.kept(place - 1),
            );
        }
        if place == last {
            self.close_behind(slot, last, start + pace.period(last, last) + pace.kept(last));
            let delivered = start + pace.cross(last, last);
            self.calendar.enter(delivered, Event::NetworkEvent(slot << 1 | 1));
        }
    }

    /// It is settled when the last channel that a worm still has becomes free.
    #[inline(always)]
    fn close_behind(&mut self, slot: u32, place: u32, at: u64) {
        let i = slot as usize;
        let worm = &mut self.worms[i];
        let channel = worm.tail.channel;
        if place < worm.last {
            worm.tail.step(&self.legs[i * self.most_legs..][..self.most_legs]);
        }
        let line = &mut self.lines[channel as usize];
        line.close(at);
        if line.first != NONE {
            self.calendar.enter(at, Event::Release(channel));
        }
        if let Some(log) = &mut self.log {
            log.releases.push(Release { tag: self.labels[i].tag, place, cycle: at });
        }
    }

    /// The rest of a grant where the closed form does not hold.
    fn grant_by_stairs(&mut self, slot: u32, at: u32, channel: u32) {
        let now = self.calendar.now();
        let i = slot as usize;
        let Worm { last, flits, .. } = self.worms[i];
        let whole = self.settings.switching != Switching::Wormhole;
        let depth = if whole { flits } else { self.settings.depth.min(flits) };
        let stairs = Stairs { pace: self.pace, last, flits, depth };
        let start = match self.wiring.shared_link(channel) {
            Some(link) => self.bookings.book(link, now, now),
            None => now,
        };
        self.worms[i].blocked += start - now;

        let legs = &self.legs[i * self.most_legs..][..self.most_legs];
        let (wiring, bookings) = (&self.wiring, &mut self.bookings);
        let tag = self.labels[i].tag;
        let mut starts = self.log.as_deref_mut().map(|log| &mut log.starts);
        let mut record = |flit, place, cycle| {
            if let Some(starts) = &mut starts {
                starts.push(Start { tag, flit, place, cycle });
            }
        };
        record(0, at, start);
        let book = |flit: u32, place: u32, earliest: u64| {
            let link = (wiring.shares_links() && 0 < place && place < last)
                .then(|| wiring.shared_link(channel_at(legs, place)))
                .flatten();
            let cycle = link.map_or(earliest, |link| bookings.book(link, now, earliest));
            record(flit, place, cycle);
            cycle
        };
        let mut latest = std::mem::take(&mut self.latest[i]);
        if at < last {
            stairs.climb(&mut latest, at, start, book);
            let leading = match self.settings.switching {
                Switching::StoreAndForward => latest[latest.len() - 1],
                _ => start,
            };
            let next = leading + self.pace.cross(at, last) + self.pace.route;
            self.calendar.enter(next, Event::Request(slot));
            if let Some(place) = at.checked_sub((flits - 1) / depth) {
                self.tail_starts(slot, place, latest[latest.len() - 1]);
            }
        } else {
            self.labels[i].head_arrived = start + self.pace.eject;
            let mut rows = std::mem::take(&mut self.rows);
            let mut tails = std::mem::take(&mut self.tails);
            tails.clear();
            stairs
                .drain(&latest, start, &mut rows, book, |place, start| tails.push((place, start)));
            // The first is where the tail stands, if it has started.
            let known = usize::from(latest.len() == flits as usize);
            for &(place, start) in &tails[known..] {
                self.tail_starts(slot, place, start);
            }
            (self.rows, self.tails) = (rows, tails);
        }
        self.latest[i] = latest;
    }

    /// The crossings that a grant in closed form settles.
    #[cold]
    fn record_closed(&mut self, slot: u32, at: u32, now: u64) {
        let Worm { last, flits, .. } = self.worms[slot as usize];
        let tag = self.labels[slot as usize].tag;
        let Some(log) = &mut self.log else { return };
        for flit in 0..flits {
            let mut push = |place, cycle| log.starts.push(Start { tag, flit, place, cycle });
            if at == last {
                for behind in (0..=flit.min(last)).rev() {
                    push(last - behind, self.pace.draining(now, flit, behind));
                }
            } else if flit <= at {
                push(at - flit, self.pace.moving(now, flit));
            }
        }
    }
}

/// The channel at a place of a route.
fn channel_at(legs: &[Leg], mut place: u32) -> u32 {
    for leg in legs {
        if place < leg.count {
            return leg.first.wrapping_add(leg.step.wrapping_mul(place));
        }
        place -= leg.count;
    }
    NONE
}
