//! Writes a stream as a trace, so that other simulators can read the same workload.
//!
//! SWF cannot represent shapes, so they are written to a separate file ([`write_shapes`](super::write_shapes)).

use super::Stream;
use crate::swf::{Record, write_generated};
use crate::workload::Job;
use std::io::{self, Write};

/// Writes a stream in SWF. A tick is written as a second, so that a reader returns the same integers.
///
/// The header has `Version`, `MaxJobs`, `MaxRecords`, `MaxProcs` (`processors`) and a `Note` on the ticks. The given
/// `fields` follow in their order, as lines `; key: value`. `out` should be buffered; it is flushed at the end.
///
/// # Errors
/// Errors of `out`, and [`io::ErrorKind::InvalidInput`] for an invalid field, before anything is written. A field is
/// invalid if its key is blank or contains a colon, or if its key or value contains a line break.
pub fn write_swf(
    stream: &Stream,
    processors: u32,
    fields: &[(&str, &str)],
    out: impl Write,
) -> io::Result<()> {
    let record =
        |job: &Job| Record::generated(job.number, job.submit, job.run, job.size, job.estimate);
    let records: Vec<_> = stream.jobs.iter().map(record).collect();
    let ticks = stream.ticks_per_unit;
    let note = format!(
        "; Note: A second stands for a tick; {ticks} ticks are one time unit of the model.\n"
    );
    write_generated(&records, processors, &note, fields, out)
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
}
