//! Writes generated jobs in SWF, so that other simulators can read the same workload.

use super::{JobKind, SyntheticJob};
use crate::swf::{Record, write_generated};
use std::io::{self, Write};

/// Writes jobs in SWF, numbered from 1 in the given order.
///
/// The header starts with `Version`, `MaxJobs`, `MaxRecords`, `MaxProcs` (`processors`) and a `Queue` line for each
/// kind of job that has a queue. After these lines, `fields` follow in their order, as lines `; key: value`. `out`
/// should be buffered; it is flushed at the end.
///
/// # Errors
/// Returns the errors of `out`. Returns [`io::ErrorKind::InvalidInput`], before anything is written, if the key of a
/// field is blank or contains a colon, or if a key or value contains a line break.
pub fn write_swf(
    jobs: &[SyntheticJob],
    processors: u32,
    fields: &[(&str, &str)],
    out: impl Write,
) -> io::Result<()> {
    let has = |kind: &JobKind| jobs.iter().any(|job| job.kind == *kind);
    let queues = [JobKind::Interactive, JobKind::Batch].into_iter().filter(has);
    let queues: String = queues.map(|kind| format!("; Queue: {} {kind}\n", kind.queue())).collect();
    let records: Vec<_> = (1..).zip(jobs).map(|(number, job)| record(number, job)).collect();
    write_generated(&records, processors, &queues, fields, out)
}

/// Returns the record of a job with its queue ([`JobKind::queue`]).
fn record(number: i64, job: &SyntheticJob) -> Record {
    let record = Record::generated(number, job.submit, job.run, job.size, job.estimate);
    Record { queue: job.kind.queue(), ..record }
}

#[cfg(test)]
mod tests {
    use super::super::LublinFeitelson;
    use super::*;
    use crate::swf::Reader;

    fn written(jobs: &[SyntheticJob], fields: &[(&str, &str)]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        write_swf(jobs, 128, fields, &mut out).map(|()| out)
    }

    #[test]
    fn a_reader_returns_the_written_jobs() {
        let jobs = LublinFeitelson::batch_and_interactive(128)
            .generate(500, 2)
            .expect("published constants");
        let out = written(&jobs, &[("Computer", "none")]).expect("memory takes all");
        let mut reader = Reader::new(out.as_slice(), "synthetic.swf");
        let records: Vec<Record> =
            reader.records().map(|record| record.expect("a valid trace").1).collect();
        let expected: Vec<Record> = (1..).zip(&jobs).map(|(n, job)| record(n, job)).collect();
        assert_eq!(records, expected);
        let header = reader.header();
        assert_eq!((header.max_procs(), header.integer("MaxJobs")), (Some(128), Some(500)));
        assert_eq!(header.get("Computer"), Some("none"));
        let job = jobs[0];
        assert_eq!(
            (records[0].run_time, records[0].requested_time, records[0].allocated_processors),
            (job.run as f64, job.estimate as f64, i64::from(job.size)),
        );
    }

    #[test]
    fn the_header_describes_the_trace() {
        let jobs = LublinFeitelson::batch(128).generate(2, 2).expect("published constants");
        let out = written(&jobs, &[("Note", "seed 2"), ("Note", "")]).expect("memory takes all");
        let text = String::from_utf8(out).expect("ASCII");
        let header = "; Version: 2.2\n; MaxJobs: 2\n; MaxRecords: 2\n; MaxProcs: 128\n\
                      ; Queue: 1 batch\n; Note: seed 2\n; Note: \n";
        assert!(text.starts_with(header), "{text}");
        assert_eq!(text.lines().count(), 9);
    }
}
