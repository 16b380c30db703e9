use std::sync::Arc;
use std::time::Instant;

use super::{Cell, Measure, Pace, RunResult, Watch};
use crate::allocator::{Allocator, Census};
use crate::cluster;
use crate::metrics::by_size::by_size;
use crate::metrics::run::{JobMeasures, PlacementMeans, RunMetrics, ScheduleMetrics};
use crate::metrics::{Locality, Series, SystemRecorder, system};
use crate::simulation::{CoupledError, Observer, Scene, simulate};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Runs a cell whose allocator may refuse or hands out units.
pub fn run(
    run: u32,
    cell: &Cell,
    measure: Measure,
    watch: Watch<'_>,
    allocator: &mut dyn Allocator,
) -> Result<RunResult, CoupledError> {
    let topology = &cell.trace.topology;
    // Of a cluster: what jobs can hold.
    let slots = topology.slots();
    let workload = &cell.trace.workload;
    let jobs = &workload.jobs;
    let mut scheduler = cell.scheduler.build(slots as u32);
    let placements = Placements {
        jobs,
        pace: Pace::new(watch, jobs.len()),
        measure,
        locality: Locality::new(topology),
        pairwise: vec![0; jobs.len()],
        means: PlacementMeans::default(),
        measured: Vec::with_capacity(if measure.jobs { jobs.len() } else { 0 }),
    };
    let mut observers = (SystemRecorder::new(jobs.len()), placements);
    let begin = Instant::now();
    let shapes = &workload.shapes;
    let scene = Scene { jobs, shapes, topology, timed: true, stop: watch.stop };
    let mut service = cluster::service(topology, allocator, 1.0);
    let overhead =
        simulate(scene, scheduler.as_mut(), allocator, service.as_mut(), &mut observers)?;
    let seconds = begin.elapsed().as_secs_f64();
    let (recorder, Placements { pairwise, means, mut measured, .. }) = observers;
    let served = system::as_served(jobs, &recorder);
    let starts = recorder.starts();
    measured.sort_by_key(|job| (job.submit, job.number));
    let origin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
    let system = recorder.metrics(origin, slots, &overhead);
    let schedule = ScheduleMetrics::new(&served, starts, slots);
    Ok(RunResult {
        run,
        key: cell.key(),
        processors: topology.processors(),
        metrics: RunMetrics::new(&schedule, pairwise.iter().sum(), &means, None, Some(system)),
        by_size: by_size(&served, starts, &pairwise),
        jobs: measured,
        series: Arc::new(Series::new(&served, starts)),
        seconds,
        allocator_seconds: Some(overhead.time.as_secs_f64()),
    })
}

/// Measures every allocation.
struct Placements<'a> {
    jobs: &'a [Job],
    pace: Pace<'a>,
    measure: Measure,
    locality: Locality,
    pairwise: Vec<u64>,
    means: PlacementMeans,
    measured: Vec<JobMeasures>,
}

impl Observer for Placements<'_> {
    fn started(&mut self, id: JobId, now: i64, nodes: &[NodeId], _: Option<Census>) {
        self.pace.started();
        let job = &self.jobs[id.index()];
        // Processes communicate; processors lost to internal fragmentation do not.
        let pairwise_l1 = self.locality.pairwise_l1(&nodes[..job.size as usize]);
        self.pairwise[id.index()] = pairwise_l1;
        if !self.measure.placements && !self.measure.jobs {
            return;
        }
        let mut placement = self.locality.placement(nodes);
        placement.pairwise_l1 = pairwise_l1;
        self.means.record(&placement);
        if self.measure.jobs {
            let &Job { number, submit, run, size, .. } = job;
            let start = now;
            self.measured.push(JobMeasures {
                number,
                submit,
                start,
                run,
                size,
                placement,
                tied: None,
            });
        }
    }
}
