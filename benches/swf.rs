//! Speed of the SWF reader and writer on one thread, with the LANL-CM5 trace in memory.
//!
//! The trace is searched for in `$REPLAY_TRACES`, `traces/` and `../shared/traces`. If the trace is absent, the
//! benchmark prints a message and measures nothing.

use std::hint::black_box;
use std::io::Read;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use replay::swf::{Decoder, Reader, Record, Writer};
use replay::workload::{Manifest, Policy, SearchPath, Window, Workload};

const TRACE: &str = "LANL-CM5-1994-4.1-cln";

/// Returns the text of the trace, or prints an error and returns `None`.
fn text() -> Option<Vec<u8>> {
    let search = SearchPath::from_env().with("../shared/traces");
    let found = Manifest::embedded()
        .map_err(|error| error.to_string())
        .and_then(|manifest| search.resolve(TRACE, &manifest).map_err(|error| error.to_string()));
    let path = match found {
        Ok(path) => path,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    let mut text = Vec::new();
    match std::fs::File::open(&path)
        .and_then(Decoder::new)
        .and_then(|mut decoder| decoder.read_to_end(&mut text))
    {
        Ok(_) => Some(text),
        Err(error) => {
            eprintln!("SKIPPED: {}: {error}", path.display());
            None
        }
    }
}

fn swf(c: &mut Criterion) {
    let Some(text) = text() else { return };
    let mut group = c.benchmark_group("swf");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read", |b| {
        b.iter(|| {
            let mut reader = Reader::new(black_box(text.as_slice()), TRACE);
            let (mut record, mut records) = (Record::default(), 0u32);
            while reader.read_record(&mut record).is_ok_and(|more| more) {
                records += 1;
                black_box(&record);
            }
            records
        });
    });
    group.bench_function("load", |b| {
        b.iter(|| {
            Workload::from_reader(
                black_box(text.as_slice()),
                TRACE,
                &Policy::JOHNSON,
                &Window::ALL,
                Default::default(),
            )
            .map(|workload| workload.jobs.len())
        });
    });
    let mut reader = Reader::new(text.as_slice(), TRACE);
    let records: Vec<Record> =
        reader.records().map_while(Result::ok).map(|(_, record)| record).collect();
    group.bench_function("write", |b| {
        b.iter(|| {
            let mut writer = Writer::new(Vec::with_capacity(text.len()));
            for record in &records {
                writer.write_record(record)?;
            }
            Ok::<_, std::io::Error>(writer.into_inner().len())
        });
    });
    group.finish();
}

criterion_group!(benches, swf);
criterion_main!(benches);
