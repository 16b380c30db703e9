//! Cycles of links that two virtual channels share.

/// For every link, the cycles ahead in which it is taken, ascending.
#[derive(Clone, Debug, Default)]
pub struct LinkReservations {
    cycles: Vec<Vec<u64>>,
}

impl LinkReservations {
    pub fn new(links: usize) -> Self {
        Self { cycles: vec![Vec::new(); links] }
    }

    /// Books the first free cycle of the link that is not before `earliest`. What is past
    /// `now` is forgotten; `earliest` must not be.
    pub fn book(&mut self, link: usize, now: u64, earliest: u64) -> u64 {
        let taken = &mut self.cycles[link];
        let past = taken.partition_point(|&cycle| cycle < now);
        taken.drain(..past);
        let mut place = taken.partition_point(|&cycle| cycle < earliest);
        let mut cycle = earliest;
        while taken.get(place) == Some(&cycle) {
            (place, cycle) = (place + 1, cycle + 1);
        }
        taken.insert(place, cycle);
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_cycle_is_taken() {
        let mut bookings = LinkReservations::new(2);
        let book = [5, 5, 4, 4, 9].map(|earliest| bookings.book(1, 4, earliest));
        assert_eq!(book, [5, 6, 4, 7, 9]);
        assert_eq!(bookings.book(0, 4, 5), 5);
        assert_eq!((bookings.book(1, 8, 8), bookings.book(1, 8, 8)), (8, 10));
    }
}
