//! Reservations of the cycles of links. Two virtual channels share a link.

/// For every link, the reserved future cycles in ascending order.
#[derive(Clone, Debug, Default)]
pub struct LinkReservations {
    cycles: Vec<Vec<u64>>,
}

impl LinkReservations {
    pub fn new(links: usize) -> Self {
        Self { cycles: vec![Vec::new(); links] }
    }

    /// Reserves the first free cycle of the link that is not before `earliest`, and returns this cycle. Discards
    /// reservations before `now`; `earliest` must not be before `now`.
    pub fn reserve(&mut self, link: usize, now: u64, earliest: u64) -> u64 {
        let taken = &mut self.cycles[link];
        let expired = taken.partition_point(|&cycle| cycle < now);
        taken.drain(..expired);
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
    fn reserves_the_first_free_cycle() {
        let mut reservations = LinkReservations::new(2);
        let reserved = [5, 5, 4, 4, 9].map(|earliest| reservations.reserve(1, 4, earliest));
        assert_eq!(reserved, [5, 6, 4, 7, 9]);
        assert_eq!(reservations.reserve(0, 4, 5), 5);
        assert_eq!((reservations.reserve(1, 8, 8), reservations.reserve(1, 8, 8)), (8, 10));
    }
}
