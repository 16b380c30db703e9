//! The queues of the processing elements.

use super::network_event::Packet;
use super::usage::NONE;
use replay_core::topology::NodeId;

/// A queue for each node. Its head has been taken out but counts until its tail has left.
#[derive(Clone, Debug)]
pub struct InjectionQueues {
    queues: Vec<Queue>,
    pool: Vec<Queued>,
    /// First of the vacant places of the pool, which are linked by `next`.
    vacant: u32,
}

#[derive(Clone, Debug)]
struct Queue {
    sending: bool,
    first: u32,
    last: u32,
}

#[derive(Clone, Debug)]
struct Queued {
    packet: Packet,
    next: u32,
}

impl InjectionQueues {
    pub fn new(nodes: usize) -> Self {
        let queue = Queue { sending: false, first: NONE, last: NONE };
        Self { queues: vec![queue; nodes], pool: Vec::new(), vacant: NONE }
    }

    /// Packets that there is room for.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.pool.len()
    }

    /// Whether the packet is at once the head of its queue; otherwise it is kept.
    pub fn hand_over(&mut self, packet: &Packet) -> bool {
        let queue = &mut self.queues[packet.src.index()];
        if !queue.sending {
            queue.sending = true;
            return true;
        }
        let queued = Queued { packet: *packet, next: NONE };
        let place = match self.pool.get_mut(self.vacant as usize) {
            Some(vacant) => {
                let place = self.vacant;
                self.vacant = vacant.next;
                *vacant = queued;
                place
            }
            None => {
                self.pool.push(queued);
                self.pool.len() as u32 - 1
            }
        };
        match queue.first {
            NONE => queue.first = place,
            _ => self.pool[queue.last as usize].next = place,
        }
        queue.last = place;
        false
    }

    /// The head's tail has left: the packet that is now head, if there is one.
    pub fn tail_left(&mut self, node: NodeId) -> Option<Packet> {
        let queue = &mut self.queues[node.index()];
        let place = queue.first;
        let Some(queued) = self.pool.get_mut(place as usize) else {
            queue.sending = false;
            return None;
        };
        queue.first = queued.next;
        queued.next = self.vacant;
        self.vacant = place;
        Some(queued.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Against plain queues; the pool grows no further than the most that ever waited.
    #[test]
    fn packets_leave_in_the_order_handed_over() {
        let mut senders = InjectionQueues::new(3);
        let mut plain = vec![VecDeque::new(); 3];
        for tag in 0..1000u64 {
            let src = NodeId((tag * 7 / 3 % 3) as u32);
            let queue: &mut VecDeque<u64> = &mut plain[src.index()];
            if tag % 5 < 3 && queue.len() < 4 {
                let packet = Packet { src, dst: src, flits: 1, tag };
                assert_eq!(senders.hand_over(&packet), queue.is_empty());
                queue.push_back(tag);
            } else if queue.pop_front().is_some() {
                assert_eq!(senders.tail_left(src).map(|p| p.tag), queue.front().copied());
            }
        }
        assert!(senders.places() <= 9, "{}", senders.places());
    }
}
