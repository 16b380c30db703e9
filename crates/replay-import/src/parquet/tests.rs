//! Tests with tables that have every supported type of column.

use std::io::Write;

use polars_arrow::array::{
    BooleanArray, ListArray, MutableListArray, MutablePrimitiveArray, NullArray, PrimitiveArray,
    TryExtend, Utf8Array, Utf8ViewArray,
};
use polars_arrow::datatypes::{ArrowSchema, TimeUnit};
use polars_arrow::record_batch::RecordBatchT;
use polars_parquet::write::{
    CompressionOptions, Encoding, FileWriter, RowGroupIterator, StatisticsOptions, Version,
    WriteOptions,
};
use proptest::prelude::*;

use super::*;
use crate::tests::{Made, jobs, run};
use crate::{Class, Import, Input, Outputs, import, import_all};

type Table = Vec<(&'static str, Box<dyn Array>)>;

/// Returns a file with row groups of `rows` rows and small pages.
fn written(table: &Table, rows: usize) -> Vec<u8> {
    written_as(table, rows, Encoding::Plain)
}

fn written_as(table: &Table, rows: usize, encoding: Encoding) -> Vec<u8> {
    let options = WriteOptions {
        statistics: StatisticsOptions::empty(),
        version: Version::V1,
        compression: CompressionOptions::Snappy,
        data_page_size: Some(512),
    };
    let field = |(name, array): &(&str, Box<dyn Array>)| {
        Field::new((*name).into(), array.dtype().clone(), true)
    };
    let schema: ArrowSchema = table.iter().map(field).collect();
    let all = table[0].1.len();
    let groups = (0..all).step_by(rows).map(|start| {
        let arrays = table.iter().map(|(_, array)| array.sliced(start, rows.min(all - start)));
        RecordBatchT::try_new(rows.min(all - start), schema.clone().into(), arrays.collect())
    });
    let groups: Vec<_> = groups.collect::<Result<_, _>>().expect("columns of one length");
    let lengths: Vec<u64> = groups.iter().map(|group| group.len() as u64).collect();
    let encodings = vec![vec![encoding]; table.len()].into();
    let groups = groups.into_iter().map(Ok);
    let groups = RowGroupIterator::try_new(groups, &schema, options, encodings).expect("a schema");
    let mut writer = FileWriter::try_new(Vec::new(), schema, options).expect("a schema");
    for (group, rows) in groups.zip(lengths) {
        writer.write(rows, group.expect("a group")).expect("memory");
    }
    writer.end(None).expect("memory");
    writer.into_inner()
}

fn ints(values: impl IntoIterator<Item = i64>) -> Box<dyn Array> {
    PrimitiveArray::<i64>::from_vec(values.into_iter().collect()).boxed()
}

fn times(unit: TimeUnit, zone: Option<&str>, values: &[Option<i64>]) -> Box<dyn Array> {
    let dtype = ArrowDataType::Timestamp(unit, zone.map(Into::into));
    PrimitiveArray::<i64>::from(values.to_vec()).to(dtype).boxed()
}

fn words(values: &[&str]) -> Box<dyn Array> {
    Utf8ViewArray::from_slice(values.iter().map(|word| Some(*word)).collect::<Vec<_>>()).boxed()
}

fn lists(values: &[Option<Vec<i64>>]) -> Box<dyn Array> {
    let mut lists = MutableListArray::<i64, MutablePrimitiveArray<i64>>::new();
    let items = |list: &Vec<i64>| list.iter().map(|item| Some(*item)).collect::<Vec<_>>();
    lists.try_extend(values.iter().map(|list| list.as_ref().map(items))).expect("short lists");
    let lists: ListArray<i64> = lists.into();
    lists.boxed()
}

fn how(source: &str, map: Option<&str>) -> Import {
    Import { file: "t.parquet".to_string(), ..crate::tests::how(source, map) }
}

fn made(source: &str, map: Option<&str>, bytes: &[u8]) -> Made {
    run(&how(source, map), bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn error(source: &str, map: Option<&str>, bytes: &[u8]) -> String {
    match run(&how(source, map), bytes) {
        Ok(_) => panic!("it is imported"),
        Err(error) => error.to_string(),
    }
}

/// 2024-03-01T00:00:00Z.
const DAY: i64 = 1_709_251_200;

fn pm100(limits: [i64; 4]) -> Table {
    let at = |offsets: [Option<i64>; 4]| offsets.map(|at| at.map(|at| (DAY + at) * 1_000_000));
    let time = |offsets| times(TimeUnit::Microsecond, Some("UTC"), &at(offsets));
    vec![
        ("cores_per_task", ints([4, 4, 4, 4])),
        ("job_id", ints([11, 12, 13, 14])),
        ("user_id", ints([7, 8, 7, 7])),
        ("submit_time", time([Some(0), Some(10), Some(20), Some(30)])),
        ("start_time", time([Some(5), Some(10), None, Some(40)])),
        ("end_time", time([Some(605), Some(70), Some(25), None])),
        ("time_limit", ints(limits)),
        ("num_nodes_alloc", PrimitiveArray::<i32>::from_vec(vec![3, 1, 2, 1]).boxed()),
        ("nodes", lists(&[Some(vec![5, 6, 9]), Some(vec![7]), Some(vec![]), None])),
        ("partition", words(&["prod", "dbg", "prod", "prod"])),
        ("job_state", words(&["COMPLETED", "TIMEOUT", "CANCELLED by 17", "RUNNING"])),
    ]
}

#[test]
fn imports_jobs_of_marconi100() {
    for rows in [1, 3, 100] {
        let made = made("pm100", None, &written(&pm100([10, 1, 5, 5]), rows));
        let jobs = jobs(&made);
        assert_eq!(jobs, [[0, 5, 600, 3, 600, 1], [10, 0, 60, 1, 60, 0], [20, -1, 0, 2, 300, 5]]);
        assert_eq!(made.nodes, "job,nodes\n1,\"5,6,9\"\n2,\"7\"\n");
        assert!(made.header.contains(&format!("; UnixStartTime: {DAY}\n")), "{}", made.header);
        assert!(made.header.contains("; Queue: 2 dbg\n"), "{}", made.header);
        let shown = made.report.to_string();
        for words in [
            "t.parquet: 4 rows, 3 jobs kept; 1 dropped; 0 that are not jobs; 0 malformed",
            "noted     limit read in minutes (limit=seconds reads limits in seconds): 3, first in row 1",
            "noted     never started: 1, first in row 3",
            "dropped   not ended when the log was written: 1, first in row 4",
        ] {
            assert!(shown.contains(words), "{words} not in\n{shown}");
        }
    }
    // The only completed job ran for 600 s, which exceeds its limit of 9 if this limit is read in minutes.
    let seconds = made("pm100", None, &written(&pm100([9, 60, 300, 5]), 2));
    assert_eq!(jobs(&seconds)[1], [10, 0, 60, 1, 60, 0]);
    let words = "limit read in seconds, because too many jobs exceeded a limit in minutes";
    assert_eq!(seconds.report.count(words), 3);
}

/// Unless the user specifies the unit, limits are read in minutes, and the report counts the long limits.
#[test]
fn the_user_may_specify_the_unit_of_limits() {
    let bytes = written(&pm100([86_400, 60, 300, 5]), 4);
    let limits = |source: &str| {
        let made = made(source, None, &bytes);
        let limits: Vec<i64> = jobs(&made).iter().map(|job| job[4]).collect();
        (limits, made)
    };
    let (auto, made) = limits("pm100");
    assert_eq!(auto, [5_184_000, 3600, 18_000]);
    let long = "limit above 31 days if read in minutes; the unit may be seconds";
    assert_eq!(made.report.count(long), 1);
    for (source, note, factor) in [
        ("pm100[limit=seconds]", "limit read in seconds", 1),
        ("pm100[limit=minutes]", "limit read in minutes", 60),
    ] {
        let (found, made) = limits(source);
        assert_eq!(found, [86_400 * factor, 60 * factor, 300 * factor]);
        assert_eq!((made.report.count(note), made.report.count(long)), (3, 0));
        assert!(made.header.contains(&format!("; Note: replay import {source}\n")));
    }
}

#[test]
fn drops_rows_without_a_number_of_nodes() {
    let mut table = pm100([10, 1, 5, 5]);
    let nodes = [Some(3), None, None, Some(1)];
    table[7].1 = PrimitiveArray::<i32>::from(nodes.to_vec()).boxed();
    let made = made("pm100", None, &written(&table, 4));
    // One of the two jobs without a number of nodes never started.
    let never = "never started, and no requested size";
    let counts = ["no size", never].map(|what| made.report.count(what));
    assert_eq!((made.records.len(), counts), (1, [1, 1]));
}

#[test]
fn imports_jobs_of_fugaku() {
    let time =
        |at: [i64; 2]| times(TimeUnit::Nanosecond, None, &at.map(|at| Some(at * 1_000_000_000)));
    let table: Table = vec![
        ("jid", ints([1, 2])),
        ("usr", words(&["a", "b"])),
        ("adt", time([DAY, DAY + 1])),
        ("sdt", time([DAY + 2, DAY + 2])),
        ("edt", time([DAY + 62, DAY + 3])),
        ("nnumr", ints([158_976, 1])),
        ("elpl", PrimitiveArray::<f64>::from(vec![Some(86_400.0), Some(f64::NAN)]).boxed()),
        ("exit state", words(&["completed", "failed"])),
    ];
    let made = made("fdata", None, &written(&table, 10));
    assert_eq!(jobs(&made), [[0, 2, 60, 158_976, 86_400, 1], [1, 1, 1, 1, -1, 0]]);
    assert_eq!(made.report.count("limit read in seconds"), 1);
    let zoned =
        super::super::parquet::tests::made("fdata[zone=+09:00]", None, &written(&table, 10));
    let start = format!("; UnixStartTime: {}\n", DAY - 9 * 3600);
    assert!(zoned.header.contains(&start), "{}", zoned.header);
}

const MAP: &str = "time = 'unix'\n[columns]\nsubmit = 's'\nrun = { column = 'r', unit = 'minutes' }\nsize = 'n'\n";

/// All column types for numbers and for text give the same jobs. The declared type of a column takes precedence over
/// the map.
#[test]
fn supports_all_types() {
    let bytes = |submit: Box<dyn Array>, run: Box<dyn Array>, size: Box<dyn Array>| {
        written(
            &vec![
                ("s", submit),
                ("r", run),
                ("n", size),
                ("x", NullArray::new(ArrowDataType::Null, 2).boxed()),
            ],
            9,
        )
    };
    let jobs = |bytes: &[u8]| jobs(&made("parquet", Some(MAP), bytes));
    let expected = [[0, -1, 120, 4, -1, -1], [60, -1, 60, 8, -1, -1]];
    let plain = || (ints([1000, 1060]), ints([2, 1]), ints([4, 8]));
    let (submit, run, size) = plain();
    assert_eq!(jobs(&bytes(submit, run, size)), expected);
    let sizes: [Box<dyn Array>; 7] = [
        PrimitiveArray::<i8>::from_vec(vec![4, 8]).boxed(),
        PrimitiveArray::<u16>::from_vec(vec![4, 8]).boxed(),
        PrimitiveArray::<u64>::from_vec(vec![4, 8]).boxed(),
        PrimitiveArray::<f32>::from_vec(vec![4.0, 8.0]).boxed(),
        words(&["4", " 8.0 "]),
        Utf8Array::<i64>::from_slice(["4", "8"]).boxed(),
        PrimitiveArray::<i128>::from_vec(vec![400, 800]).to(ArrowDataType::Decimal(9, 2)).boxed(),
    ];
    for size in sizes {
        let (submit, run, _) = plain();
        let kind = format!("{:?}", size.dtype());
        assert_eq!(jobs(&bytes(submit, run, size)), expected, "{kind}");
    }
    let (_, _, size) = plain();
    let days = PrimitiveArray::<i32>::from_vec(vec![19_000, 19_001]).to(ArrowDataType::Date32);
    let spans = PrimitiveArray::<i64>::from_vec(vec![120_000, 60_400]);
    let spans = spans.to(ArrowDataType::Duration(TimeUnit::Millisecond));
    let made = jobs(&bytes(days.boxed(), spans.boxed(), size));
    assert_eq!(made, [[0, -1, 120, 4, -1, -1], [86_400, -1, 60, 8, -1, -1]]);
    let flags = BooleanArray::from_slice([true, false]).boxed();
    let (submit, run, _) = plain();
    let wrong = error("parquet", Some(MAP), &bytes(submit, run, flags));
    assert!(wrong.starts_with("t.parquet: row 1, column n \"true\": not a number\n"), "{wrong}");
}

/// The table has more rows than one batch. The boundaries of row groups and pages differ from the boundaries of
/// batches. The columns are written with and without a dictionary.
#[test]
fn decodes_in_batches() {
    let n = 2 * BATCH as i64 + 1234;
    let table = || -> Table {
        let nodes: Vec<_> = (0..n).map(|i| Some((0..i % 4).map(|k| i + k).collect())).collect();
        let names: Vec<String> = (0..n).map(|i| format!("user {}", i % 50)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (submit, run) = (ints(0..n), ints((0..n).map(|i| i % 7 + 1)));
        vec![
            ("s", submit),
            ("r", run),
            ("n", ints((0..n).map(|i| i % 9 + 1))),
            ("l", lists(&nodes)),
            ("u", words(&names)),
        ]
    };
    let map = format!("{MAP}nodes = 'l'\nuser = 'u'\n");
    for (rows, encoding) in [
        (usize::MAX / 2, Encoding::Plain),
        (BATCH - 77, Encoding::Plain),
        (40_000, Encoding::RleDictionary),
    ] {
        let made =
            made("parquet", Some(&map), &written_as(&table(), rows.min(n as usize), encoding));
        assert_eq!(made.records.len() as i64, n);
        for (i, record) in (0..).zip(&made.records) {
            let is =
                (record.submit_time as i64, record.run_time as i64, record.allocated_processors);
            assert_eq!(
                (is, record.user),
                ((i, 60 * (i % 7 + 1), i % 9 + 1), i % 50 + 1),
                "row {i}"
            );
        }
        let mut nodes = made.nodes.lines().skip(1);
        for i in (0..n).filter(|i| i % 4 > 0) {
            let list: Vec<String> = (0..i % 4).map(|k| (i + k).to_string()).collect();
            assert_eq!(nodes.next(), Some(&*format!("{},\"{}\"", i + 1, list.join(","))));
        }
        assert_eq!(nodes.next(), None);
    }
}

#[test]
fn errors_name_row_and_column() {
    let table = |submit: Vec<Option<i64>>| {
        let rows = submit.len();
        let column = || ints(vec![1; rows]);
        let submit = PrimitiveArray::<i64>::from(submit).boxed();
        written(
            &vec![("s", submit), ("r", column()), ("n", column()), ("l", lists(&vec![None; rows]))],
            2,
        )
    };
    let good = table(vec![Some(1), Some(2), Some(3)]);
    let empty = error("parquet", Some(MAP), &table(vec![Some(1), Some(2), None]));
    assert!(empty.starts_with("t.parquet: row 3, column s \"\": a value is missing\n"), "{empty}");
    let limited = Import { max_errors: 1, ..how("parquet", Some(MAP)) };
    let made =
        run(&limited, &table(vec![None, Some(2), Some(3)])).unwrap_or_else(|e| panic!("{e}"));
    let shown = made.report.to_string();
    assert!(shown.contains("malformed a value is missing: 1, first in row 1"), "{shown}");
    for (map, words) in [
        (MAP.replace("'n'", "'m'"), "t.parquet: there is no column \"m\" (is it \"s\"?)"),
        (MAP.replace("'r'", "'l'").replace("minutes", "HH:MM:SS"), "t.parquet: no job in the log"),
        (MAP.replace("'n'", "'l'"), "dropped   no size: 3, first in row 1"),
    ] {
        let error = error("parquet", Some(&map), &good);
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(
        error("parquet", Some(MAP), &table(Vec::new())).lines().next(),
        Some("t.parquet: no job in the log")
    );
    for bytes in
        [&b""[..], b"PAR", b"a,b\n1,2\n", b"PAR1", b"PAR1PAR1", b"PAR1\xff\xff\xff\xffPAR1"]
    {
        let error = error("parquet", Some(MAP), bytes);
        assert!(
            error.starts_with("t.parquet: this is not Parquet") || error.contains(": damaged"),
            "{error}"
        );
    }
    assert!(error("parquet", None, &good).contains("parquet needs --map FILE"));
    assert!(error("pm100", Some(MAP), &good).contains("has known columns"));
    assert!(error("pm100", None, &good).contains("no column"));
    assert!(error("csv", Some(MAP), &good).contains("this is Parquet"));
}

/// A file that is read in place gives the same trace as a stream.
#[test]
fn reads_a_file_in_place() {
    let bytes = written(&pm100([10, 1, 5, 5]), 2);
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&bytes).expect("a disk");
    let mut swf = Vec::new();
    let outputs = Outputs::trace(&mut swf);
    let inputs = [("t.parquet".to_string(), Ok(Input::File(file)))];
    let report = import_all(inputs, &how("pm100", None), outputs).expect("a table");
    assert_eq!(report.jobs, 3);
    let mut streamed = Vec::new();
    let outputs = Outputs::trace(&mut streamed);
    import(bytes.as_slice(), &how("pm100", None), outputs).expect("a table");
    assert_eq!(swf, streamed);
}

proptest! {
    /// For any damage, the reader returns jobs or an error that names the file; it never panics.
    #[test]
    fn damaged_files_give_jobs_or_an_error(
        at in any::<proptest::sample::Index>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..6),
        cut in 0usize..6,
        from_end in any::<bool>(),
    ) {
        let mut file = written(&pm100([10, 1, 5, 5]), 2);
        // In half of the cases the damage is in the footer, which is at the end.
        let at = if from_end { file.len() - 1 - at.index(400) } else { at.index(file.len()) };
        let end = (at + cut).min(file.len());
        file.splice(at..end, bytes);
        match run(&Import { max_errors: 9, ..how("pm100", None) }, &file) {
            Ok(made) => {
                prop_assert_eq!(made.records.len() as u64, made.report.jobs);
                prop_assert!(made.report.of(Class::Malformed) <= 9);
            }
            Err(error) => prop_assert!(error.to_string().starts_with("t.parquet")),
        }
    }
}
