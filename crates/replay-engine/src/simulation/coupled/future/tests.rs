use super::*;
use crate::allocator::{Capabilities, Request, Times};
use crate::simulation::Outages;
use crate::simulation::coupled::outage_state::OutageState;
use crate::simulation::coupled::reserved::Reserved;
use crate::topology::Topology;
use proptest::prelude::*;

/// Examines only the fullest of the rows of eight processors that have enough free processors, and needs consecutive
/// processors there. A start can therefore make a place, and an end can take one away. Until `patience` seconds after
/// its submission, a job waits for a row in which it takes all free processors.
#[derive(Clone)]
struct FullestRow {
    patience: i64,
}

impl Allocator for FullestRow {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        if size > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        let rows = machine.free_map().chunks(8).zip(0..);
        let rows = rows.map(|(row, at)| (row.iter().filter(|free| **free).count(), at, row));
        let fullest = rows.filter(|row| row.0 >= size).min_by_key(|row| row.0);
        let (free, at, row) = fullest.ok_or(Refusal::Fragmented)?;
        let base = row.windows(size).position(|nodes| nodes.iter().all(|&free| free));
        let base = at * 8 + base.ok_or(Refusal::Fragmented)?;
        let until = request.times.submitted.unwrap_or(0) + self.patience;
        if free > size && request.times.now < until {
            return Err(Refusal::Postponed { until });
        }
        chosen.extend((base..base + size).map(|node| NodeId(node as u32)));
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reserves_by_trial: true, ..Capabilities::coupled() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// After each start and end, the kept future gives the same place as a search on new copies. Jobs end before, at
    /// and after their estimated ends, several jobs have equal estimated ends, and the head changes.
    #[test]
    fn the_kept_future_agrees_with_new_copies(
        steps in proptest::collection::vec((0i64..4, 0usize..4, 1u32..=8, 0i64..16, 0usize..64), 1..60),
        heads in proptest::collection::vec((1u32..=8, 0i64..20), 1..6),
        patience in 0i64..12,
        (guess, forgets) in (0i64..40, any::<bool>()),
    ) {
        let topology: Topology = "4x8".parse().expect("a mesh");
        let mut allocator = FullestRow { patience };
        let mut machine = Machine::new(topology.clone());
        let mut running: Vec<(i64, Vec<NodeId>)> = Vec::new();
        let mut future: Option<Future> = None;
        let (none, mut now) = (Outages::NONE, 0);
        for (step, &(passed, kind, size, estimate, which)) in steps.iter().enumerate() {
            now += passed;
            if kind < 2 && !running.is_empty() {
                let due = running.iter().position(|job| kind == 0 && job.0 == now);
                let (end, nodes) = running.remove(due.unwrap_or(which % running.len()));
                machine.release(&nodes);
                future.iter_mut().for_each(|future| future.complete(end, &nodes));
            } else {
                let (mut nodes, times) = (Vec::new(), Times { now, ..Times::default() });
                let request = Request { times, ..Request::of_size(size) };
                if allocator.allocate(&machine, request, &mut nodes).is_err() {
                    continue;
                }
                machine.occupy(&nodes);
                let end = now + estimate;
                future.iter_mut().for_each(|future| future.start(end, &nodes));
                let at = running.partition_point(|job| job.0 <= end);
                running.insert(at, (end, nodes));
            }
            let head = step / 7 % heads.len();
            let (size, submitted) = heads[head];
            let times = Times { submitted: Some(submitted), ..Times::default() };
            let request = Request { times, ..Request::of_size(size) };
            let job = JobId(head as u32);
            let (before, is_replaceable) = (Some(guess).filter(|_| forgets), false);
            let query = PlaceQuery { job, request, least: size, now, before, is_replaceable };
            let down = OutageState::new(&none, topology.processors());
            let held: Vec<(i64, &[NodeId])> =
                running.iter().map(|(end, nodes)| (*end, &nodes[..])).collect();
            let expected = Reserved::find(query, &machine, &down, &allocator, held.iter().copied());
            let expected = expected.expect("no cancellation").map(|found| (found.at, found.taken));
            let kept = future.get_or_insert_with(|| Future::new(machine.clone(), Box::new(allocator.clone())));
            let found = kept.find(query, None, machine.free_count(), &held).expect("no cancellation");
            let found = found.map(|(at, place)| {
                let mut taken = vec![false; topology.processors()];
                place.iter().for_each(|node| taken[node.index()] = true);
                (at, taken)
            });
            prop_assert_eq!(found, expected, "step {}", step);
        }
    }
}
