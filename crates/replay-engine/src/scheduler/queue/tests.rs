use proptest::prelude::*;

use super::corners::Corners;
use super::*;
use crate::workload::JobId;

/// An operation on a queue. The operations are: add jobs; remove or refuse the first job within
/// bounds; remove the head; make refused jobs available again.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrivals(usize),
    First(Bounds, Option<Until>),
    Head,
    Retry(Until),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let bounds = (0..40u32, 0..100i64, 0..20u32);
    let bounds = bounds.prop_map(|(size, estimate, extra)| Bounds { size, estimate, extra });
    let until = || proptest::sample::select(vec![Until::Completion, Until::Change, Until::Instant]);
    let refusal = proptest::option::of(until());
    let event = prop_oneof![
        1 => (1..400usize).prop_map(Event::Arrivals),
        8 => (bounds, refusal).prop_map(|(bounds, refused)| Event::First(bounds, refused)),
        4 => Just(Event::Head),
        1 => until().prop_map(Event::Retry),
    ];
    proptest::collection::vec(event, 1..200)
}

proptest! {
    /// Compares the queue with a sorted list that is searched linearly.
    #[test]
    fn agrees_with_a_sorted_list(
        events in events(),
        jobs in proptest::collection::vec((1..60u32, 0..5u32, 0..200i64), 1..300),
        order in proptest::sample::select(QueueOrder::ALL.map(|(_, order)| order).to_vec()),
    ) {
        let mut queue = Queue::new(order);
        let mut list: Vec<(QueuedJob, Option<Until>)> = Vec::new();
        let mut ids = 0..;
        for event in events {
            match event {
                Event::Arrivals(count) => for (id, &(size, more, estimate)) in
                    ids.by_ref().zip(jobs.iter().cycle()).take(count)
                {
                    let job = QueuedJob { id: JobId(id), size, takes: size + more, estimate, turn: id.into() };
                    let at = order.position(&list, |(other, _)| other, &job);
                    list.insert(at, (job, None));
                    queue.arrive(job);
                },
                Event::First(bounds, refused) => {
                    let may = |(job, over): &(QueuedJob, Option<Until>)| {
                        over.is_none() && job.size <= bounds.size
                            && (job.estimate <= bounds.estimate || job.takes <= bounds.extra)
                    };
                    let expected = list.iter().position(may);
                    let found = queue.first(&bounds).map(|(place, waiting)| (place, waiting.job));
                    prop_assert_eq!(found.map(|(_, job)| job), expected.map(|at| list[at].0));
                    if let (Some((place, _)), Some(at)) = (found, expected) {
                        match refused {
                            None => {
                                queue.remove(place);
                                list.remove(at);
                            }
                            Some(until) => {
                                queue.refuse(place, until);
                                list[at].1 = Some(until);
                            }
                        }
                    }
                }
                Event::Head => {
                    let found = queue.head().map(|(place, waiting)| (place, waiting.job, waiting.refused));
                    prop_assert_eq!(found.map(|(_, job, refused)| (job, refused)), list.first().copied());
                    if let Some((place, ..)) = found {
                        queue.remove(place);
                        list.remove(0);
                    }
                }
                Event::Retry(until) => {
                    queue.retry(until);
                    list.iter_mut().filter(|(_, over)| *over == Some(until)).for_each(|it| it.1 = None);
                }
            }
            prop_assert_eq!(queue.len(), list.len());
        }
    }

    /// Every job is covered by a corner. If there are at most eight jobs, every corner is a job.
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
