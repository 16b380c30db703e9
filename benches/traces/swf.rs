//! Speed of the SWF reader and writer on one thread, with the LANL-CM5 trace in memory.

use std::hint::black_box;
use std::io::Read;

use super::common::{Failure, trace};
use criterion::{Criterion, Throughput, criterion_group};
use replay::swf::{Decoder, Reader, Record, Writer};
use replay::workload::{Policy, Window, Workload};

const TRACE: &str = "LANL-CM5-1994-4.1-cln";

/// Returns the text of the trace; `None` if it is absent.
fn text() -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = trace(TRACE)? else { return Ok(None) };
    let mut text = Vec::new();
    Decoder::new(std::fs::File::open(path)?)?.read_to_end(&mut text)?;
    Ok(Some(text))
}

fn swf(c: &mut Criterion) {
    let Some(text) = text().expect("a readable trace") else { return };
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

/// Measures the trace if it is present.
pub fn run(_: &[String]) -> Result<(), Failure> {
    benches();
    Criterion::default().configure_from_args().final_summary();
    Ok(())
}
