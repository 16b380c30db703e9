//! Turnaround times by job size over replications.

use std::collections::BTreeMap;

use super::{Estimates, Metric, Point, StreamRow, paired};
use replay_engine::metrics::estimate::{Accumulator, Estimate};
use replay_engine::metrics::{ScheduleMetrics, Submitted};
use replay_engine::table::{Column, Table};

/// Estimate for the jobs of one size at one point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SizeEstimate {
    /// Requested processors.
    pub size: u32,
    /// Number of counted jobs of this size in all replications.
    pub jobs: u64,
    /// Mean turnaround in time units over the replications that contain a job of this size.
    pub turnaround: Estimate,
}

impl Estimates {
    /// Returns the estimates in order of ascending size; empty unless the point keeps turnaround times by size.
    pub fn by_size(&self) -> Vec<SizeEstimate> {
        let mut sizes: BTreeMap<u32, (u64, Accumulator)> = BTreeMap::new();
        for (&size, of) in self.samples.iter().flat_map(|sample| &sample.by_size) {
            let (jobs, turnaround) = sizes.entry(size).or_default();
            *jobs += of.jobs;
            turnaround.push(of.turnaround);
        }
        let estimate = |(size, (jobs, turnaround)): (u32, (u64, Accumulator))| SizeEstimate {
            size,
            jobs,
            turnaround: turnaround.estimate(self.confidence),
        };
        sizes.into_iter().map(estimate).collect()
    }

    /// Returns the mean turnaround of the jobs of size `size` divided by the mean turnaround of the jobs of size
    /// `base`. The confidence interval is computed over the replications that contain both sizes.
    pub fn size_ratio(&self, size: u32, base: u32) -> Estimate {
        let both = self.samples.iter().filter_map(|sample| {
            let (own, other) = (sample.by_size.get(&size)?, sample.by_size.get(&base)?);
            Some((own.turnaround, other.turnaround))
        });
        paired(both, self.confidence)
    }
}

/// A row of the table: one size at one point.
#[derive(Clone, Copy, Debug)]
pub struct StreamSizeRow<'a> {
    /// The point.
    pub point: &'a Point,
    /// Estimate for the size.
    pub of: SizeEstimate,
}

impl StreamSizeRow<'_> {
    /// Returns one row for each size at each of the given points.
    pub fn rows(results: &[StreamRow]) -> Vec<StreamSizeRow<'_>> {
        let rows = results.iter().flat_map(|StreamRow(point, estimates)| {
            estimates.by_size().into_iter().map(move |of| StreamSizeRow { point, of })
        });
        rows.collect()
    }
}

impl Table for StreamSizeRow<'_> {
    const NAME: &'static str = "stream_by_size";
    const ROW: &'static str =
        "one row per point and job size; measures are means over its replications";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C<'a> = Column<StreamSizeRow<'a>>;
        let caption = Metric::Turnaround.caption();
        let mut columns = Point::columns(|row: &Self| row.point);
        columns.extend([
            C::new(Submitted::SIZE, "processors", "processors that a job requests", |row: &Self| row.of.size),
            C::new(ScheduleMetrics::jobs, "jobs", "number of jobs of the run, size, group or replication", |row: &Self| row.of.jobs),
            C::new(caption.column, caption.unit, caption.meaning, |row: &Self| row.of.turnaround.mean),
            C::new(caption.half_width, caption.unit, caption.half_width_meaning, |row: &Self| row.of.turnaround.half_width),
        ]);
        columns
    }
}
