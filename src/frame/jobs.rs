use super::column::{Column, Get::*};
use crate::metrics::JobMeasures;

type C = Column<JobMeasures>;

/// One row per job of a run, in order of submission.
#[rustfmt::skip]
pub(super) static COLUMNS: &[C] = &[
    C::new("run", "", "number of the run in its grid, from 0; joins the tables", U64(|r, _| Some(r.run.into()))),
    C::new("job", "", "job number in the trace", I64(|_, j| Some(j.number))),
    C::new("submit", "s", "submission, in trace time", I64(|_, j| Some(j.submit))),
    C::new("start", "s", "start, in trace time", I64(|_, j| Some(j.start))),
    C::new("run_time", "s", "run time", I64(|_, j| Some(j.run))),
    C::new("end", "s", "completion, in trace time", I64(|_, j| Some(j.start + j.run))),
    C::new("size", "processors", "processors", U64(|_, j| Some(j.size.into()))),
    C::new("wait", "s", "start less submission", I64(|_, j| Some(j.wait()))),
    C::new("turnaround", "s", "completion less submission", I64(|_, j| Some(j.turnaround()))),
    C::new("bounded_slowdown", "", "turnaround over run time, run times below 10 s counted as 10 s, at least 1", F64(|_, j| Some(j.bounded_slowdown()))),
    C::new("pairwise_l1", "hops", "sum of hop distances over all pairs of the processors asked for, not of those lost to internal fragmentation", U64(|_, j| Some(j.placement.pairwise_l1))),
    C::new("mean_pairwise_l1", "hops", "mean hop distance over the same pairs; 0 for one processor", F64(|_, j| Some(j.mean_pairwise_l1()))),
    C::new("diameter", "hops", "largest L-infinity distance of two processors of the job, those lost to internal fragmentation included", U64(|_, j| Some(j.placement.diameter.into()))),
    C::new("dispersal", "", "share of the smallest enclosing box that is not the job's, from 0 to 1; processors lost to internal fragmentation are the job's", F64(|_, j| Some(j.placement.dispersal))),
    C::new("weighted_dispersal", "processors", "dispersal times the job's processors, those lost to internal fragmentation included", F64(|_, j| Some(j.placement.weighted_dispersal))),
    C::new("components", "components", "connected components of the job's processors, those lost to internal fragmentation included", U64(|_, j| Some(j.placement.components.into()))),
    C::new("box_x", "processors", "side along x of the smallest box around the job's processors, those lost to internal fragmentation included; on a hypercube the size of the smallest enclosing subcube", U64(|_, j| Some(j.placement.bounding_box[0].into()))),
    C::new("box_y", "processors", "side along y; 1 on a hypercube", U64(|_, j| Some(j.placement.bounding_box[1].into()))),
    C::new("box_z", "processors", "side along z; 1 in two dimensions and on a hypercube", U64(|_, j| Some(j.placement.bounding_box[2].into()))),
    C::new("tied", "sets", "distinct best processor sets of the decision; null if not counted", U64(|_, j| j.tied.map(u64::from))),
];
