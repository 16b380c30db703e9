//! Tests of reader and writer together.

use std::io::BufReader;

use proptest::prelude::*;

use super::*;

fn read(
    bytes: &[u8],
    max_errors: usize,
) -> (Vec<(u64, Record)>, Option<Error>, Header, ErrorTally) {
    let mut reader = Reader::new(bytes, "t.swf").with_options(ReadOptions { max_errors });
    let (mut records, mut failure) = (Vec::new(), None);
    for item in reader.records() {
        match item {
            Ok(record) => records.push(record),
            Err(error) => failure = Some(error),
        }
    }
    let (_, header, tally) = reader.into_parts();
    (records, failure, header, tally)
}

#[test]
fn stores_the_first_of_many_bad_lines() {
    let (_, failure, _, tally) = read("x\n".repeat(5000).as_bytes(), usize::MAX);
    assert!(failure.is_none());
    assert_eq!((tally.total(), tally.errors().len()), (5000, 1000));
    assert!(tally.errors().iter().map(|error| error.line).eq(1..=1000));
}

#[test]
fn accepts_line_ends_blank_lines_and_comments_anywhere() {
    let text = b"\xef\xbb\xbf; MaxProcs: 8\r\n\r\n1 0 0 5 2\r\n \t\n  ; Note: midway\n2 1 0 5 2";
    let (records, failure, header, _) = read(text, 0);
    assert!(failure.is_none());
    assert_eq!(
        records.iter().map(|(line, r)| (*line, r.job_number)).collect::<Vec<_>>(),
        [(3, 1), (6, 2)]
    );
    assert_eq!(header.raw(), b"; MaxProcs: 8\r\n  ; Note: midway\n");
    assert_eq!((header.max_procs(), header.get("Note")), (Some(8), Some("midway")));
}

#[test]
fn an_empty_file_has_no_records() {
    let (records, failure, header, _) = read(b"", 0);
    assert!(records.is_empty() && failure.is_none() && header.entries().is_empty());
}

#[test]
fn strict_reading_stops_at_the_first_bad_line() {
    let (records, failure, ..) = read(b"1 0 0 5 2\n2 0 0 5 2 1 1 1 12x\n3 0 0 5 2\n", 0);
    assert_eq!(records.len(), 1);
    let shown = failure.unwrap().to_string();
    let first = "t.swf:2:17: requested time \"12x\" is not a number (field 9 of 18)\n";
    assert!(shown.starts_with(first) && shown.ends_with("^^^"), "{shown}");
}

#[test]
fn collecting_counts_by_reason_up_to_the_limit() {
    let text = b"1 0 0 5 2\nx\n2 0 0\n3 y 0 0 1\n4 0 0 5 2\n";
    let (records, failure, _, tally) = read(text, 3);
    assert!(failure.is_none());
    assert_eq!(records.len(), 2);
    assert_eq!((tally.total(), tally.errors().len()), (3, 3));
    assert!(
        tally
            .to_string()
            .starts_with("3 bad lines: not a number 2, too few fields 1\nfirst: t.swf:2:1: "),
        "{tally}"
    );
    let (_, failure, ..) = read(text, 2);
    assert!(
        matches!(failure, Some(Error::TooMany { limit: 2, tally, .. }) if tally.total() == 3 && tally.errors().len() == 2)
    );
}

#[test]
fn binary_data_are_one_error() {
    let with_line_ends: Vec<u8> = (0..=255u8).cycle().take(100_000).collect();
    let (_, failure, ..) = read(&with_line_ends, 0);
    assert!(matches!(failure, Some(Error::NotText { line: 1, column: 1, .. })), "{failure:?}");
    let (_, failure, ..) = read(&vec![b'7'; 2_000_000], 1_000_000);
    assert!(matches!(failure, Some(Error::NotText { line: 1, .. })), "{failure:?}");
    let shown = failure.unwrap().to_string();
    assert!(
        shown.ends_with("a line longer than 1048576 bytes: this is not an SWF trace"),
        "{shown}"
    );
}

/// A line with a control byte is counted as a bad line.
#[test]
fn a_control_byte_is_counted() {
    let text = b"1 0 0 5 2\n2 0 0 \0 2\n3 1 0 5 2 \x1b[31m\n4 2 0 5 2\n";
    let (records, failure, _, tally) = read(text, 2);
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(records.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(tally.by_reason().get(&Reason::ControlByte), Some(&2));
    let shown = tally.to_string();
    let words =
        "2 bad lines: a control byte 2\nfirst: t.swf:2:7: control byte 0x00 (field 4 of 18)\n";
    assert!(shown.starts_with(words), "{shown}");
}

#[test]
fn truncated_gzip_is_an_error() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&b"1 0 0 5 2\n".repeat(1000)).unwrap();
    let packed = encoder.finish().unwrap();
    let decoder = Decoder::new(&packed[..packed.len() - 9]).unwrap();
    let mut reader = Reader::new(BufReader::new(decoder), "t.swf.gz");
    let failure = reader.records().find_map(Result::err).unwrap();
    assert!(matches!(failure, Error::Gzip { fault: GzipFault::Truncated, .. }), "{failure}");
    assert!(!reader.read_record(&mut Record::default()).unwrap(), "a failed reader is at its end");
}

fn seconds() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(-1.0),
        (0i64..1 << 53).prop_map(|n| n as f64),
        0.0..1e9f64,
        (0i64..100_000).prop_map(|n| n as f64 / 100.0)
    ]
}

prop_compose! {
    fn record()(t in [seconds(), seconds(), seconds(), seconds(), seconds(), seconds()], n: [i64; 12]) -> Record {
        Record {
            job_number: n[0], submit_time: t[0], wait_time: t[1], run_time: t[2], allocated_processors: n[1],
            average_cpu_time: t[3], used_memory: n[2], requested_processors: n[3], requested_time: t[4],
            requested_memory: n[4], status: n[5], user: n[6], group: n[7], executable: n[8], queue: n[9],
            partition: n[10], preceding_job: n[11], think_time: t[5],
        }
    }
}

proptest! {
    #[test]
    fn reading_inverts_writing(
        records in proptest::collection::vec(record(), 0..20),
        header in "(;[ -~]{0,30}\r?\n){0,5}(;[ -~]{0,9})?",
        capacity in 1usize..200,
    ) {
        let mut writer = Writer::new(Vec::new());
        writer.write_header(&Header::parse(header.as_bytes())).unwrap();
        for record in &records {
            writer.write_record(record).unwrap();
        }
        let bytes = writer.into_inner();
        // A small buffer splits lines at every position.
        let mut reader = Reader::new(BufReader::with_capacity(capacity, bytes.as_slice()), "t.swf");
        let again: Vec<Record> = reader.records().map(|item| item.unwrap().1).collect();
        prop_assert_eq!(again, records);
        let mut raw = header.into_bytes();
        if raw.last().is_some_and(|&byte| byte != b'\n') {
            raw.push(b'\n');
        }
        prop_assert_eq!(reader.header().raw(), raw);
    }

    /// Each line is counted once, as a record, comment, blank or bad line.
    #[test]
    fn counts_every_line_once(
        lines in proptest::collection::vec("[;x]?[0-9 .\0-]{0,12}\r?|1 0 0 5 [0-9]|1 0 0 5 2 -1 -1 -1 x", 0..30),
        last in "(1 2 3 4 5)?",
    ) {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>() + &last;
        let mut reader = Reader::new(text.as_bytes(), "t.swf").with_options(ReadOptions { max_errors: 1000 });
        let records = reader.records().filter(|item| item.is_ok()).count() as u64;
        let OtherLines { comments, blank } = reader.other_lines();
        let counted = records + comments + blank + reader.tally().total() as u64;
        prop_assert_eq!((counted, reader.line()), (text.lines().count() as u64, text.lines().count() as u64));
    }

    #[test]
    fn the_reader_accepts_any_bytes_without_panicking(bytes in proptest::collection::vec(any::<u8>(), 0..600), max_errors in 0usize..4) {
        let (records, failure, _, tally) = read(&bytes, max_errors);
        prop_assert!(tally.total() <= max_errors);
        prop_assert!(records.len() <= 300);
        if let Some(error) = failure {
            prop_assert!(error.to_string().starts_with("t.swf:"));
        }
    }
}
