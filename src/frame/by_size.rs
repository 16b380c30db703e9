use super::column::{Column, Get::*};
use crate::metrics::SizeRow;

type C = Column<SizeRow>;

/// One row per job size of a run, by ascending size; the run's names are repeated so that
/// the table can be read alone.
#[rustfmt::skip]
pub(super) static COLUMNS: &[C] = &[
    C::new("run", "", "number of the run in its grid, from 0; joins the tables", U64(|r, _| Some(r.run.into()))),
    C::new("trace", "", "trace: its file name without .swf and .gz", Text(|r, _| Some(&r.key.trace))),
    C::new("topology", "", "machine, such as 10x10", Text(|r, _| Some(&r.key.topology))),
    C::new("scheduler", "", "scheduler", Text(|r, _| Some(&r.key.scheduler))),
    C::new("allocator", "", "allocator without its tie vector", Text(|r, _| Some(&r.key.allocator))),
    C::new("tie", "", "tie vector SR,AF,WF,BF or auto; null without tie-breaking", Text(|r, _| r.key.tie.as_deref())),
    C::new("size", "processors", "job size", U64(|_, s| Some(s.size.into()))),
    C::new("jobs", "jobs", "jobs of this size", U64(|_, s| Some(s.jobs))),
    C::new("rank", "", "rank of the size by number of jobs, 1 for the most frequent; of equally frequent sizes the larger first", U64(|_, s| Some(s.rank.into()))),
    C::new("mean_pairwise_l1", "hops", "mean over these jobs of the sum of hop distances over all pairs of the processors asked for, not of those lost to internal fragmentation", F64(|_, s| Some(s.mean_pairwise_l1))),
    C::new("mean_wait", "s", "mean wait of these jobs", F64(|_, s| Some(s.mean_wait))),
    C::new("mean_turnaround", "s", "mean turnaround of these jobs", F64(|_, s| Some(s.mean_turnaround))),
];
