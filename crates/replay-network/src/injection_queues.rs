//! The injection queues of the processing elements.

use super::network_event::Packet;
use super::usage::NONE;
use replay_engine::topology::NodeId;

/// A queue of packets for each node. The head of a queue is not stored; a packet remains head until its tail has left.
#[derive(Clone, Debug)]
pub struct InjectionQueues {
    queues: Vec<Queue>,
    pool: Vec<Queued>,
    /// First free entry of the pool. Free entries are linked by `next`.
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

    /// Returns the number of queued packets for which memory is allocated.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.pool.len()
    }

    /// Adds a packet. Returns `true` if the packet becomes head of its queue at once; otherwise the packet is stored.
    pub fn enqueue(&mut self, packet: &Packet) -> bool {
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

    /// Removes the head of a node's queue after its tail has left. Returns the new head; `None` if no packet waits.
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

    /// Packets leave in the same order as with queues of the standard library, and the pool is no larger than the
    /// largest number of waiting packets.
    #[test]
    fn packets_leave_in_the_order_handed_over() {
        let mut queues = InjectionQueues::new(3);
        let mut plain = vec![VecDeque::new(); 3];
        for tag in 0..1000u64 {
            let src = NodeId((tag * 7 / 3 % 3) as u32);
            let queue: &mut VecDeque<u64> = &mut plain[src.index()];
            if tag % 5 < 3 && queue.len() < 4 {
                let packet = Packet { src, dst: src, flits: 1, tag };
                assert_eq!(queues.enqueue(&packet), queue.is_empty());
                queue.push_back(tag);
            } else if queue.pop_front().is_some() {
                assert_eq!(queues.tail_left(src).map(|p| p.tag), queue.front().copied());
            }
        }
        assert!(queues.places() <= 9, "{}", queues.places());
    }
}
