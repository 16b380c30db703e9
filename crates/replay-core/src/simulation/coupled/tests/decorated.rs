//! A scheduler in a decorator that changes nothing decides like the bare one.

use super::*;
use crate::scheduler::registry::standard;
use crate::scheduler::{Decorator, Selection};
use crate::simulation::WhenDown;
use crate::simulation::outages::Window;

/// Changes nothing.
struct Identity(Box<dyn Scheduler>);

impl Decorator for Identity {
    fn inner(&self) -> &dyn Scheduler {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Scheduler {
        self.0.as_mut()
    }
}

/// Keeps what the scheduler selects, with its reasons.
struct Recorded(Box<dyn Scheduler>, Vec<Selection>);

impl Decorator for Recorded {
    fn inner(&self) -> &dyn Scheduler {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Scheduler {
        self.0.as_mut()
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let selected = self.0.next_job(system)?;
        self.1.push(selected);
        Some(selected)
    }
}

/// Jobs of which many wait and some end early.
fn busy(largest: u32) -> Vec<Job> {
    let one = |i: i64| {
        let run = 1 + i * 37 % 41;
        job(3 * i, run, run + i % 3 * 10, 1 + (i * i * 7 % i64::from(largest)) as u32)
    };
    (0..120).map(one).collect()
}

/// A quarter of 16 processors is out of service for a while; one for ever.
fn outages(running: WhenDown) -> Outages {
    let window = |from, until, nodes: std::ops::Range<u32>| {
        let nodes = nodes.map(NodeId).collect();
        Window { from, until, nodes }
    };
    let windows = vec![window(40, Some(160), 0..4), window(90, None, 9..10)];
    Outages { windows, running, walls: false }
}

/// All events of a run, as text.
#[derive(Default)]
struct Events(String);

impl Events {
    fn add(&mut self, event: impl std::fmt::Debug) {
        self.0 += &format!("{event:?}\n");
    }
}

impl Observer for Events {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.add((from, to, state));
    }

    fn refused(&mut self, job: JobId, refusal: Refusal) {
        self.add((job, refusal));
    }

    fn reduced(&mut self, job: JobId, asked: u32, reduction: &Reduction) {
        self.add((job, asked, reduction));
    }

    fn started(&mut self, job: JobId, now: i64, nodes: &[NodeId], census: Option<Census>) {
        self.add((job, now, nodes, census));
    }

    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.add((job, now, nodes, again));
    }
}

/// Everything that a run shows: its events, what was selected and why, and what it cost.
fn shown(
    jobs: &[Job],
    outages: &Outages,
    scheduler: Box<dyn Scheduler>,
    allocator: &mut dyn Allocator,
) -> Result<String, String> {
    let topology: Topology = "4x4".parse().expect("a machine");
    let scene = Scene { jobs, topology: &topology, timed: false, stop: &Stop::new() };
    let course = Course { follows: &[], outages };
    let mut scheduler = Recorded(scheduler, Vec::new());
    let (mut events, service) = (Events::default(), &mut RunTimes::default());
    let overhead = simulate_amid(scene, course, &mut scheduler, allocator, service, &mut events);
    let overhead = overhead.map_err(|error| error.to_string())?;
    Ok(format!("{overhead:?} {:?} {}", scheduler.1, events.0))
}

#[test]
fn a_scheduler_in_a_decorator_decides_like_the_bare_one() {
    let variants = [
        "easy[guard=place]",
        "easy[order=smallest]",
        "out-of-order[order=largest]",
        "conservative[order=smallest]",
        "scan[direction=down,turn=batch]",
        "lazy[patience=0]",
        "largest",
    ];
    let mut compared = 0;
    for name in standard().names().chain(variants) {
        let spec: SchedulerSpec = name.parse().expect("a scheduler");
        let bare = || spec.build(16);
        let decorated = || Box::new(Identity(bare())) as Box<dyn Scheduler>;
        assert_eq!(decorated().capabilities(), bare().capabilities(), "{name}");
        for allocator in ["mc1x1", "first-fit", "frame-sliding", "buddy"] {
            for outages in [Outages::NONE, outages(WhenDown::Drain), outages(WhenDown::Requeue)] {
                let jobs = busy(if outages.is_empty() { 16 } else { 8 });
                let allocator: AllocatorSpec = allocator.parse().expect("a strategy");
                let topology = "4x4".parse().expect("a machine");
                let mut allocator = allocator.build(&topology, 1).expect("it works there");
                let mut run = |scheduler| shown(&jobs, &outages, scheduler, allocator.as_mut());
                let expected = run(bare());
                compared += usize::from(expected.is_ok());
                assert_eq!(run(decorated()), expected, "{name}");
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
