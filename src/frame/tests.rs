use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use polars::prelude::{AnyValue, DataFrame, ParquetReader, SerReader};
use proptest::prelude::*;

use super::*;
use crate::experiment::{RunKey, RunResult};
use crate::metrics::run::PlacementMeans;
use crate::metrics::{
    JobMeasures, Placement, RunMetrics, ScheduleMetrics, SystemRecorder, TieStatistics, by_size,
};
use crate::simulation::Overhead;
use crate::workload::Job;

/// A run of jobs of these sizes on 16 processors, one after another.
fn run(number: u32, tie: Option<&str>, sizes: &[u32]) -> RunResult {
    let job = |(i, &size): (usize, &u32)| Job {
        number: i as i64 + 1,
        submit: 7 * i as i64,
        run: 11,
        estimate: 20,
        size,
        line: 0,
    };
    let jobs: Vec<Job> = sizes.iter().enumerate().map(job).collect();
    let starts: Vec<i64> = (0..jobs.len() as i64).map(|i| 11 * i).collect();
    let pairwise: Vec<u64> = sizes.iter().map(|&size| u64::from(size * (size - 1))).collect();
    let mut ties = TieStatistics::default();
    sizes.iter().for_each(|&size| ties.record(size));
    let placement = |size: u32| Placement {
        pairwise_l1: u64::from(size * (size - 1)),
        diameter: size - 1,
        bounding_box: [size, 1, 1],
        dispersal: 1.0 / 3.0,
        weighted_dispersal: f64::from(size) / 3.0,
        components: 1,
    };
    let measures = jobs.iter().zip(&starts).map(|(job, &start)| JobMeasures {
        number: job.number,
        submit: job.submit,
        start,
        run: job.run,
        size: job.size,
        placement: placement(job.size),
        tied: tie.is_none().then_some(job.size),
    });
    RunResult {
        run: number,
        key: RunKey {
            trace: "made, by \"hand\"".to_string(),
            topology: "4x4".to_string(),
            scheduler: "fcfs".to_string(),
            allocator: "mc1x1".to_string(),
            tie: tie.map(str::to_string),
            policy: "plain".to_string(),
            seed: 1,
        },
        processors: 16,
        metrics: RunMetrics::new(
            &ScheduleMetrics::new(&jobs, &starts, 16),
            pairwise.iter().sum(),
            &PlacementMeans::default(),
            tie.is_none().then_some(ties),
            None,
        ),
        by_size: by_size::by_size(&jobs, &starts, &pairwise),
        jobs: measures.collect(),
        series: Default::default(),
        seconds: f64::from(number),
        allocator_seconds: None,
    }
}

fn write(dir: &Path, results: &[RunResult], with_jobs: bool) -> Vec<String> {
    let metadata = [("command".to_string(), "replay run".to_string())];
    let mut tables = Tables::create(dir, &metadata, with_jobs).expect("a folder to write in");
    for result in results {
        tables.write(result).expect("written");
    }
    let paths = tables.finish().expect("finished");
    let name = |path: &std::path::PathBuf| path.file_name()?.to_str().map(str::to_string);
    paths.iter().filter_map(name).collect()
}

fn read(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).expect("the file")).finish().expect("Parquet")
}

#[test]
fn columns_are_documented_once_each() {
    for table in Table::ALL {
        let columns = describe(table);
        let names: HashSet<_> = columns.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), columns.len());
        assert!(columns.iter().all(|column| !column.about.is_empty()));
    }
}

#[test]
fn every_metric_is_a_column() {
    let mut metrics = run(0, None, &[1]).metrics;
    let recorder = SystemRecorder::new(1);
    metrics.system = Some(recorder.metrics(0, 16, &Overhead::default()));
    let mut metrics = serde_json::to_value(&metrics).expect("JSON");
    let names: HashSet<_> = describe(Table::Runs).iter().map(|column| column.name).collect();
    let fields = metrics.as_object_mut().expect("an object");
    let mut system = fields.remove("system").expect("was set");
    let system = system.as_object_mut().expect("an object");
    // The makespan is the finish time counted from the first arrival.
    system.remove("finish_time").expect("a field");
    for field in fields.keys().chain(system.keys()) {
        assert!(names.contains(field.as_str()), "{field}");
    }
}

#[test]
fn files_are_whole_named_and_documented() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = [run(0, None, &[1, 2, 2, 16]), run(1, Some("2,13,20,6"), &[3, 1])];
    let names = write(dir.path(), &results, true);
    let expected = ["runs.parquet", "runs.csv", "by_size.parquet", "by_size.csv", "jobs.parquet"];
    assert_eq!(names, expected);
    assert_eq!(fs::read_dir(dir.path()).expect("the folder").count(), expected.len());

    let file = File::open(dir.path().join("jobs.parquet")).expect("the file");
    let mut reader = ParquetReader::new(file);
    let metadata = reader.get_metadata().expect("metadata").clone();
    assert_eq!(metadata.row_groups.len(), 2);
    let pairs = metadata.key_value_metadata().clone().expect("pairs");
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key)?.value.clone();
    assert_eq!(value("command").as_deref(), Some("replay run"));
    assert_eq!(value("unit:wait").as_deref(), Some("s"));
    assert_eq!(value("about:job").as_deref(), Some("job number in the trace"));
}

#[test]
fn csv_has_full_precision() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = [run(0, None, &[1, 2, 16]), run(1, Some("2,13,20,6"), &[2])];
    write(dir.path(), &results, false);
    let text = fs::read_to_string(dir.path().join("runs.csv")).expect("a file");
    let frame = runs_frame(&results).expect("a frame");
    let mut lines = ::csv::Reader::from_reader(text.as_bytes());
    assert!(
        lines
            .headers()
            .expect("names")
            .iter()
            .eq(frame.columns().iter().map(|c| c.name().as_str()))
    );
    for (row, line) in lines.records().enumerate() {
        for (column, field) in frame.columns().iter().zip(&line.expect("a record")) {
            match column.get(row).expect("a value") {
                AnyValue::Null => assert_eq!(field, "", "{}", column.name()),
                AnyValue::String(text) => assert_eq!(field, text),
                AnyValue::Float64(value) => {
                    assert_eq!(field.parse(), Ok(value));
                    // A reader that guesses types must not take it for an integer.
                    assert!(field.contains(['.', 'e']), "{}: {field}", column.name());
                }
                value => assert_eq!(field, value.to_string()),
            }
        }
    }
    assert_eq!(text.lines().count(), 3);
    assert!(text.contains("\"made, by \"\"hand\"\"\""), "{text}");
}

#[test]
fn a_bad_path_fails_at_once() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let problem = Tables::create(&file.path().join("below"), &[], false).err();
    assert!(problem.is_some_and(|problem| problem.to_string().starts_with("cannot write")));
}

#[test]
fn an_unfinished_file_does_not_have_the_final_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut tables = Tables::create(dir.path(), &[], true).expect("a folder to write in");
    tables.write(&run(0, None, &[1])).expect("written");
    let part = dir.path().join("jobs.parquet.part");
    assert!(part.exists() && !dir.path().join("jobs.parquet").exists());
    drop(tables);
    assert!(!part.exists() && !dir.path().join("jobs.parquet").exists());
}

#[test]
fn a_search_is_read_back() {
    use crate::experiment::search::{Extent, Origin, SearchRow};
    use crate::report::SEARCH_COLUMNS;

    let plain = SearchRow {
        searched: "made".to_string(),
        origin: Origin::None,
        rank: None,
        candidate: None,
        value: Some(1.0 / 3.0),
        improvement_percent: 0.0,
        test_improvement_percent: None,
        feasible: None,
        excess_percent: None,
        worst: None,
        extent: Extent::Whole,
        evaluation: None,
        decisions: 7,
    };
    let found = SearchRow {
        rank: Some(1),
        evaluation: Some(5),
        test_improvement_percent: Some(0.1),
        excess_percent: Some(0.0),
        candidate: "2,13,20,6@0.1".parse().ok(),
        feasible: Some(true),
        worst: Some((42, 6, 3.5, "made".to_string())),
        extent: Extent::Prefix(0.5),
        ..plain.clone()
    };
    let dir = tempfile::tempdir().expect("a folder");
    let path = write_search(dir.path(), &[], &[plain.clone(), found.clone()]).expect("written");
    let frame = read(&path);
    assert!(frame.equals_missing(&search_frame(&[plain, found]).expect("a frame")));
    assert_eq!(frame.shape(), (2, SEARCH_COLUMNS.len()));
    // No value was lost because its column holds another kind.
    assert!(frame.columns().iter().all(|column| column.null_count() < 2
        || column.name() == "test_improvement_percent"
        || column.name() == "excess_percent"));
    assert_eq!(fs::read_dir(dir.path()).expect("the folder").count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_written_is_read_back_and_the_bytes_repeat(
        runs in proptest::collection::vec(
            (proptest::option::of("[0-9]{1,2}(,[0-9]{1,2}){3}"), proptest::collection::vec(1u32..17, 1..20)),
            0..4,
        ),
    ) {
        let results: Vec<_> = (0..).zip(&runs).map(|(i, (tie, sizes))| run(i, tie.as_deref(), sizes)).collect();
        let (a, b) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let names = write(a.path(), &results, true);
        write(b.path(), &results, true);
        for name in &names {
            prop_assert_eq!(fs::read(a.path().join(name))?, fs::read(b.path().join(name))?);
        }
        let frames = [runs_frame(&results), by_size_frame(&results), jobs_frame(&results)];
        for (table, frame) in Table::ALL.into_iter().zip(frames) {
            let path = a.path().join(format!("{}.parquet", table.name()));
            let frame = frame.expect("a frame");
            prop_assert!(read(&path).equals_missing(&frame));
        }
    }
}
