use proptest::prelude::*;

use super::corners::Corners;
use super::*;
use crate::workload::JobId;

/// What happens to a queue: jobs arrive, the first within bounds leaves or is refused, the
/// head leaves, what was refused may be tried again.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrivals(usize),
    First(Bounds, Option<Until>),
    Head,
    Retry(Until),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let bounds = (0..40u32, 0..100i64, 0..20u32);
    let bounds = bounds.prop_map(|(size, estimate, beside)| Bounds { size, estimate, beside });
    let until = || proptest::sample::select(vec![Until::Completion, Until::Change, Until::Instant]);
    let fate = proptest::option::of(until());
    let event = prop_oneof![
        1 => (1..400usize).prop_map(Event::Arrivals),
        8 => (bounds, fate).prop_map(|(bounds, refused)| Event::First(bounds, refused)),
        4 => Just(Event::Head),
        1 => until().prop_map(Event::Retry),
    ];
    proptest::collection::vec(event, 1..200)
}

proptest! {
    /// A queue that is one sorted list, searched through.
    #[test]
    fn a_queue_agrees_with_a_list(
        events in events(),
        jobs in proptest::collection::vec((1..60u32, 0..5u32, 0..200i64), 1..300),
        order in proptest::sample::select(QueueOrder::ALL.map(|(_, order)| order).to_vec()),
    ) {
        let mut queue = Queue::new(order);
        let mut plain: Vec<(QueuedJob, Option<Until>)> = Vec::new();
        let mut ids = 0..;
        for event in events {
            match event {
                Event::Arrivals(count) => for (id, &(size, more, estimate)) in
                    ids.by_ref().zip(jobs.iter().cycle()).take(count)
                {
                    let job = QueuedJob { id: JobId(id), size, takes: size + more, estimate, turn: id.into() };
                    let at = order.position(&plain, |(other, _)| other, &job);
                    plain.insert(at, (job, None));
                    queue.arrive(job);
                },
                Event::First(bounds, refused) => {
                    let may = |(job, over): &(QueuedJob, Option<Until>)| {
                        over.is_none() && job.size <= bounds.size
                            && (job.estimate <= bounds.estimate || job.takes <= bounds.beside)
                    };
                    let expected = plain.iter().position(may);
                    let found = queue.first(&bounds).map(|(place, waiting)| (place, waiting.job));
                    prop_assert_eq!(found.map(|(_, job)| job), expected.map(|at| plain[at].0));
                    if let (Some((place, _)), Some(at)) = (found, expected) {
                        match refused {
                            None => {
                                queue.remove(place);
                                plain.remove(at);
                            }
                            Some(until) => {
                                queue.refuse(place, until);
                                plain[at].1 = Some(until);
                            }
                        }
                    }
                }
                Event::Head => {
                    let found = queue.head().map(|(place, waiting)| (place, waiting.job, waiting.refused));
                    prop_assert_eq!(found.map(|(_, job, refused)| (job, refused)), plain.first().copied());
                    if let Some((place, ..)) = found {
                        queue.remove(place);
                        plain.remove(0);
                    }
                }
                Event::Retry(until) => {
                    queue.retry(until);
                    plain.iter_mut().filter(|(_, over)| *over == Some(until)).for_each(|it| it.1 = None);
                }
            }
            prop_assert_eq!(queue.len(), plain.len());
        }
    }

    /// Every job is behind a corner; of few jobs nothing else is.
    #[test]
    fn corners_bound_every_job(
        jobs in proptest::collection::vec((1..30u32, 0..30i64), 0..40),
        size in 0..32u32,
        estimate in 0..32i64,
    ) {
        let mut corners = Corners::NONE;
        jobs.iter().for_each(|&(size, estimate)| corners.add(size, estimate));
        let fits = |job: &&(u32, i64)| job.0 <= size && job.1 <= estimate;
        let any = jobs.iter().any(|job| fits(&job));
        prop_assert!(corners.reach(size, estimate) || !any);
        prop_assert_eq!(corners.reach_size(size), jobs.iter().any(|job| job.0 <= size));
        if jobs.len() <= 8 {
            prop_assert_eq!(corners.reach(size, estimate), any);
        }
    }
}
