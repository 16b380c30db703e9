//! Any bytes as a trace: no panic, no endless errors, and what was read survives a round trip.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use replay::swf::{Decoder, ReadOptions, Reader, Record, Writer};
use replay::workload::{Policy, Window, Workload};

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoder) = Decoder::new(bytes) else { return };
    let options = ReadOptions { max_errors: 8 };
    // A small buffer cuts lines at many places.
    let mut reader =
        Reader::new(BufReader::with_capacity(61, decoder), "fuzz.swf").with_options(options);
    let mut records: Vec<Record> = Vec::new();
    for item in reader.records() {
        match item {
            Ok((_, record)) => records.push(record),
            Err(error) => assert!(error.to_string().starts_with("fuzz.swf:")),
        }
    }
    assert!(reader.tally().total() <= options.max_errors);

    let mut writer = Writer::new(Vec::new());
    let written = writer.write_header(reader.header()).is_ok()
        && records.iter().all(|record| writer.write_record(record).is_ok());
    assert!(written, "memory does not refuse writes");
    let text = writer.into_inner();
    let mut again = Reader::new(text.as_slice(), "again.swf");
    let same = records.iter().all(|record| {
        again.records().next().is_some_and(|item| item.is_ok_and(|(_, r)| r == *record))
    });
    assert!(same && again.records().next().is_none(), "records differ after a round trip");

    for policy in Policy::ALL {
        if let Ok(workload) =
            Workload::from_reader(bytes, "fuzz.swf", policy, &Window::ALL, options)
        {
            assert_eq!(workload.report.kept, workload.jobs.len() as u64);
        }
    }
});
