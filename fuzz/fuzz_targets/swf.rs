//! Any bytes as a trace: no panic, a limited number of errors, and records survive a round trip.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use replay_engine::swf::{Decoder, ReadOptions, Reader, Record, Writer};
use replay_engine::workload::{Policy, Window, Workload};

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoder) = Decoder::new(bytes) else { return };
    let options = ReadOptions { max_errors: 8 };
    // A small buffer splits lines at many places.
    let mut reader =
        Reader::new(BufReader::with_capacity(61, decoder), "fuzz.swf").with_options(options);
    let mut records: Vec<(Record, Vec<u8>)> = Vec::new();
    let mut record = Record::default();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => records.push((record, reader.extra().to_vec())),
            Ok(false) => break,
            Err(error) => assert!(error.to_string().starts_with("fuzz.swf:")),
        }
    }
    assert!(reader.tally().total() <= options.max_errors);

    let mut writer = Writer::new(Vec::new());
    let written = writer.write_header(reader.header()).is_ok()
        && records.iter().all(|(record, extra)| writer.write_wide(record, extra).is_ok());
    assert!(written, "writing to memory succeeds");
    let text = writer.into_inner();
    let mut again = Reader::new(text.as_slice(), "again.swf");
    let same = records.iter().all(|(expected, extra)| {
        let read = again.read_record(&mut record).is_ok_and(|read| read);
        read && record == *expected && again.extra() == extra
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
