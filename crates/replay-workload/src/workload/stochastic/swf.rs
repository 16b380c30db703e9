//! Writes a stream as a trace, so that other simulators can read the same workload.
//!
//! SWF cannot represent shapes, so they are written to a separate file ([`write_shapes`](super::write_shapes)).

use super::Stream;
use crate::swf::{Header, Record, Writer, header_fields};
use crate::workload::Job;
use std::io::{self, Write};

/// Writes a stream in SWF. A tick is written as a second, so that a reader returns the same integers.
///
/// The header has `Version`, `MaxJobs`, `MaxRecords`, `MaxProcs` (`processors`) and a `Note` on the ticks. The given
/// `fields` follow in their order, as lines `; key: value`. `out` should be buffered; it is flushed at the end.
///
/// # Errors
/// Errors of `out`; [`io::ErrorKind::InvalidInput`], before anything is written, if the key of a field
/// is blank or contains a colon, or if a key or value contains a line break.
pub fn write_swf(
    stream: &Stream,
    processors: u32,
    fields: &[(&str, &str)],
    out: impl Write,
) -> io::Result<()> {
    let header = header(stream, processors, fields)?;
    let mut writer = Writer::new(out);
    writer.write_header(&Header::parse(header.as_bytes()))?;
    for job in &stream.jobs {
        writer.write_record(&record(job))?;
    }
    writer.into_inner().flush()
}

/// Returns the record of a job: submit time, run time, size (allocated and requested), estimate and the status 1
/// (completed). All other fields are unknown.
fn record(job: &Job) -> Record {
    Record {
        job_number: job.number,
        submit_time: job.submit as f64,
        run_time: job.run as f64,
        allocated_processors: i64::from(job.size),
        requested_processors: i64::from(job.size),
        requested_time: job.estimate as f64,
        status: 1,
        ..Record::UNKNOWN
    }
}

fn header(stream: &Stream, processors: u32, fields: &[(&str, &str)]) -> io::Result<String> {
    let (count, ticks) = (stream.jobs.len(), stream.ticks_per_unit);
    let text = format!(
        "; Version: 2.2\n; MaxJobs: {count}\n; MaxRecords: {count}\n; MaxProcs: {processors}\n\
         ; Note: A second stands for a tick; {ticks} ticks are one time unit of the model.\n"
    );
    Ok(text + &header_fields(fields)?)
}

#[cfg(test)]
mod tests {
    use super::super::StochasticStream;
    use super::*;
    use crate::workload::{Policy, Window, Workload};

    fn written(stream: &Stream, fields: &[(&str, &str)]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        write_swf(stream, 64, fields, &mut out).map(|()| out)
    }

    #[test]
    fn a_strict_reader_returns_the_written_jobs() {
        let model = StochasticStream::new([4, 4, 4]);
        let stream = model.generate(3, 5).expect("a possible model");
        let swf = written(&stream, &[("Computer", "none")]).expect("memory takes all");
        let read = Workload::from_reader(
            swf.as_slice(),
            "stream.swf",
            &Policy::STRICT,
            &Window::ALL,
            Default::default(),
        )
        .expect("a trace without flaws");
        let jobs: Vec<Job> = read.jobs.iter().map(|&job| Job { line: 0, ..job }).collect();
        // SWF has no shapes.
        let shapeless = stream.jobs.iter().map(|&job| Job { shape: None, ..job });
        assert_eq!(jobs, shapeless.collect::<Vec<_>>());
    }

    #[test]
    fn the_header_describes_the_trace() {
        let model = StochasticStream { jobs: 2, ..StochasticStream::new([4, 4, 4]) };
        let stream = model.generate(3, 5).expect("a possible model");
        let swf = written(&stream, &[("Note", "seed 3"), ("Note", "")]).expect("memory takes all");
        let text = String::from_utf8(swf).expect("ASCII");
        let header = "; Version: 2.2\n; MaxJobs: 2\n; MaxRecords: 2\n; MaxProcs: 64\n\
                      ; Note: A second stands for a tick; 1000000 ticks are one time unit of the model.\n\
                      ; Note: seed 3\n; Note: \n";
        assert!(text.starts_with(header), "{text}");
        assert_eq!(text.lines().count(), 9);
    }

    #[test]
    fn refuses_fields_that_would_break_the_header() {
        let stream = Stream { jobs: vec![], ticks_per_unit: 1 };
        for field in
            [("", "x"), (" ", "x"), ("a:b", "x"), ("a\nb", "x"), ("a", "x\n1 2 3"), ("a", "\r")]
        {
            let error = written(&stream, &[field]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{field:?}");
        }
    }
}
