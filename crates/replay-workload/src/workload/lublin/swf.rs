//! Writes generated jobs in SWF, so that other simulators can read the same workload.

use super::{JobKind, SyntheticJob};
use crate::swf::{Header, Record, Writer, header_fields};
use std::io::{self, Write};

impl SyntheticJob {
    /// Returns the job as an SWF record with the given job number. The record contains the submit time, run time, size
    /// (allocated and requested), estimate, queue ([`JobKind::queue`]) and the status 1 (completed). All other fields
    /// are unknown.
    #[must_use]
    pub fn to_record(&self, job_number: i64) -> Record {
        Record {
            job_number,
            submit_time: self.submit as f64,
            run_time: self.run as f64,
            allocated_processors: i64::from(self.size),
            requested_processors: i64::from(self.size),
            requested_time: self.estimate as f64,
            status: 1,
            queue: self.kind.queue(),
            ..Record::UNKNOWN
        }
    }
}

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
    let header = header(jobs, processors, fields)?;
    let mut writer = Writer::new(out);
    writer.write_header(&Header::parse(header.as_bytes()))?;
    for (number, job) in (1..).zip(jobs) {
        writer.write_record(&job.to_record(number))?;
    }
    writer.into_inner().flush()
}

fn header(jobs: &[SyntheticJob], processors: u32, fields: &[(&str, &str)]) -> io::Result<String> {
    let count = jobs.len();
    let mut text = format!(
        "; Version: 2.2\n; MaxJobs: {count}\n; MaxRecords: {count}\n; MaxProcs: {processors}\n"
    );
    for kind in [JobKind::Interactive, JobKind::Batch] {
        if jobs.iter().any(|job| job.kind == kind) {
            text += &format!("; Queue: {} {kind}\n", kind.queue());
        }
    }
    Ok(text + &header_fields(fields)?)
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
        let expected: Vec<Record> = (1..).zip(&jobs).map(|(n, job)| job.to_record(n)).collect();
        assert_eq!(records, expected);
        let header = reader.header();
        assert_eq!((header.max_procs(), header.max_jobs()), (Some(128), Some(500)));
        assert_eq!(header.computer(), Some("none"));
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

    #[test]
    fn refuses_fields_that_would_break_the_header() {
        for field in
            [("", "x"), (" ", "x"), ("a:b", "x"), ("a\nb", "x"), ("a", "x\n1 2 3"), ("a", "\r")]
        {
            let error = written(&[], &[field]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{field:?}");
        }
    }
}
