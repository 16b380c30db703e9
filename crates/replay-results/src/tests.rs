use std::fs::{self, File};
use std::path::Path;

use polars::prelude::{AnyValue, DataFrame, DataType, ParquetReader, SerReader};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::compare::REPLAYED;
use super::*;
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::estimate::StopRule;
use replay_engine::metrics::{
    Allocation, JobMeasures, PairwiseMetrics, Placement, RunMetrics, ScheduleMetrics, SizeRow,
    SystemRecorder, TieStatistics, by_size,
};
use replay_engine::simulation::Overhead;
use replay_engine::table::{Get, Table};
use replay_engine::topology::NodeId;
use replay_engine::workload::stochastic::StochasticStream;
use replay_engine::workload::{Job, Policy, Window, Workload};
use replay_experiment::contention::{ContentionRun, Correlations, JobContention, TraceRun};
use replay_experiment::files::ResultFolder;
use replay_experiment::search::{
    Extent, Found, Origin, Portability, PortabilityCell, SearchRow, SkippedWorkRow, Tried,
};
use replay_experiment::stream::{Life, Metric, Point, StreamRow, estimate};
use replay_experiment::{Measure, RunContext, RunKey, RunResult, Trace, WithRun};
use replay_import::columns::Footer;
use replay_import::damaged;
use replay_published::{Check, Measured, NotRun, Tolerance};

/// Returns a run of jobs of these sizes on 16 processors, one after another.
fn run(number: u32, tie: Option<&str>, sizes: &[u32]) -> RunResult {
    let job = |(i, &size): (usize, &u32)| Job {
        number: i as i64 + 1,
        submit: 7 * i as i64,
        run: 11,
        estimate: 20,
        size,
        line: 0,
        shape: None,
        limit: None,
    };
    let jobs: Vec<Job> = sizes.iter().enumerate().map(job).collect();
    let starts: Vec<i64> = (0..jobs.len() as i64).map(|i| 11 * i).collect();
    let pairwise: Vec<u64> = sizes.iter().map(|&size| u64::from(size * (size - 1))).collect();
    let mut ties = TieStatistics::default();
    sizes.iter().for_each(|&size| ties.record(size));
    let measures = jobs.iter().zip(&starts).map(|(job, &start)| JobMeasures {
        number: job.number,
        submit: job.submit,
        arrival: job.submit,
        start,
        run: job.run,
        own_run: job.run,
        estimate: job.estimate,
        labels: Default::default(),
        size: job.size,
        served_size: job.size,
        points: job.size,
        held: job.size,
        placement: Some(placement(job.size)),
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
            copy: 0,
        },
        turned_away: Vec::new(),
        groups: Vec::new(),
        processors: 16,
        metrics: RunMetrics {
            pairwise: PairwiseMetrics::new(pairwise.iter().sum(), jobs.len() as u64),
            ties: ties.metrics().filter(|_| tie.is_none()),
            schedule: ScheduleMetrics::new(&jobs, &starts, 16),
            ..RunMetrics::default()
        },
        by_size: by_size::by_size(&jobs, &starts, &pairwise),
        jobs: measures.collect(),
        allocations: allocations(sizes),
        over_log: None,
        series: Default::default(),
        hierarchy_series: Default::default(),
        seconds: f64::from(number),
        allocator_seconds: None,
    }
}

/// Returns allocations of the first processors of a mesh; some allocations fill a box.
fn allocations(sizes: &[u32]) -> Vec<Allocation> {
    let mesh = "4x4".parse().expect("a mesh");
    let of = |(i, &size): (i64, &u32)| {
        let numbers = if size == 3 { vec![0, 1, 5] } else { (0..size).collect() };
        let nodes: Vec<NodeId> = numbers.into_iter().map(NodeId).collect();
        Allocation::new(&mesh, i, [11 * i, 11 * i + 11], &nodes)
    };
    (0..).zip(sizes).map(of).collect()
}

fn placement(size: u32) -> Placement {
    Placement {
        pairwise_l1: u64::from(size * (size - 1)),
        diameter: size - 1,
        bounding_box: [size, 1, 1],
        dispersal: 1.0 / 3.0,
        weighted_dispersal: f64::from(size) / 3.0,
        components: 1,
        hierarchy: None,
    }
}

fn write(dir: &Path, results: &[RunResult], with_jobs: bool) -> Vec<String> {
    let metadata = [("command".to_string(), "replay run".to_string())];
    let kept = Measure { jobs: with_jobs, ..Measure::default() };
    let mut tables = Tables::create(dir, &metadata, kept).expect("a folder to write in");
    for result in results {
        tables.write(result).expect("written");
    }
    let paths = tables.finish(&[]).expect("finished");
    let name = |path: &std::path::PathBuf| path.file_name()?.to_str().map(str::to_string);
    paths.iter().filter_map(name).collect()
}

fn data_frame<Row: Table>(rows: &[Row]) -> DataFrame {
    frame(rows).expect("a data frame")
}

fn table(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).expect("the file")).finish().expect("Parquet")
}

#[test]
fn files_are_complete_and_documented() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = [run(0, None, &[1, 2, 2, 16]), run(1, Some("2,13,20,6"), &[3, 1])];
    let names = write(dir.path(), &results, true);
    let expected = ["runs.parquet", "runs.csv", "by_size.parquet", "by_size.csv", "jobs.parquet"];
    assert_eq!(names, expected);
    assert_eq!(fs::read_dir(dir.path()).expect("the folder").count(), expected.len());

    let file = File::open(dir.path().join("jobs.parquet")).expect("the file");
    let mut reader = ParquetReader::new(file);
    let metadata = reader.get_metadata().expect("metadata").clone();
    assert_eq!(metadata.row_groups.len(), 1);
    let pairs = metadata.key_value_metadata().clone().expect("pairs");
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key)?.value.clone();
    assert_eq!(value("command").as_deref(), Some("replay run"));
    assert_eq!(value("unit:wait").as_deref(), Some("s"));
    assert_eq!(value("about:job").as_deref(), Some("job number in the trace"));
}

/// Directories that were written by other programs have no digests, so a damaged table in them is detected only when it
/// is read. Reading a damaged table must return an error or values, but not panic.
#[test]
fn damaged_tables_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = [run(0, None, &[1, 2, 2, 16]), run(1, Some("2,13,20,6"), &[3, 1])];
    write(dir.path(), &results, true);
    let folder = ResultFolder::open(dir.path()).expect("a folder");
    assert_eq!(read::runs(&folder, &REPLAYED, &[]).expect("whole").0.len(), 2);
    let mut seed = ChaCha8Rng::seed_from_u64(7);
    let (mut rejected, mut read_whole) = (0, 0);
    for name in ["runs.parquet", "jobs.parquet"] {
        let path = dir.path().join(name);
        let whole = fs::read(&path).expect("a table");
        for attempt in 0..300 {
            fs::write(&path, damage(&whole, attempt, &mut seed)).expect("a table");
            let outcome = match name {
                "runs.parquet" => {
                    let columns = [ScheduleMetrics::mean_wait, PairwiseMetrics::mean_pairwise_l1];
                    read::runs(&folder, &REPLAYED, &columns).map(drop)
                }
                _ => read::JobsTable::open(&folder, &REPLAYED)
                    .and_then(|jobs| jobs.of(0, None).and(jobs.of(1, None)))
                    .map(drop),
            };
            match outcome {
                Ok(()) => read_whole += 1,
                Err(error) => {
                    assert!(error.to_string().contains(name), "{error}");
                    rejected += 1;
                }
            }
        }
        fs::write(&path, whole).expect("a table");
    }
    // Some mutations change only values or unused metadata, so the table remains readable.
    assert!(rejected > 100 && read_whole > 20, "{rejected} {read_whole}");
}

/// Returns a copy of a table with one of several kinds of damage, mostly in the footer.
fn damage(whole: &[u8], attempt: usize, seed: &mut ChaCha8Rng) -> Vec<u8> {
    let (mut bytes, length) = (whole.to_vec(), whole.len());
    let footer = length - length / 4;
    match attempt % 4 {
        0 => bytes[seed.random_range(0..length)] = seed.random(),
        1 => bytes[seed.random_range(footer..length)] ^= 1 << seed.random_range(0..8),
        2 => {
            let from = seed.random_range(footer..length);
            (from..length.min(from + 4)).for_each(|at| bytes[at] = seed.random());
        }
        _ => {
            let from = seed.random_range(0..length - 16);
            bytes.drain(from..from + seed.random_range(1..16));
        }
    }
    bytes
}

#[test]
fn rejects_row_counts_beyond_the_file() {
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path(), &[run(0, None, &[1, 2])], false);
    let path = dir.path().join("runs.parquet");
    let mut file = File::open(&path).expect("the table");
    let mut metadata = damaged::footer(&mut file).expect("as it was written");
    metadata.num_rows = 1 << 40;
    let rejected = damaged::counts(&metadata, 1000).expect_err("more rows than its groups have");
    assert!(
        rejected.contains("1099511627776 rows according to the file, but 1 in its row groups"),
        "{rejected}"
    );
}

#[test]
fn reads_any_range_of_rows() {
    let dir = tempfile::tempdir().expect("a folder");
    let result = run(0, Some("2,13,20,6"), &[1, 3, 2, 16, 4, 3, 1]);
    let rows: Vec<_> = result.allocation_rows().collect();
    let mut files =
        files::Files::create::<WithRun<'_, Allocation>>(dir.path(), &[], false).expect("a file");
    for group in [&rows[..2], &rows[2..3], &rows[3..]] {
        files.append(group).expect("rows");
        files.flush().expect("written");
    }
    let path = files.finish().expect("finished").remove(0);
    let mut file = File::open(path).expect("the table");
    let footer = Footer::read(&mut file).expect("a footer");
    assert_eq!((footer.rows(), footer.metadata.row_groups.len()), (rows.len(), 3));
    let columns = <WithRun<'_, Allocation>>::columns();
    let names: Vec<&str> = columns.iter().map(|column| column.name.text()).collect();
    for start in 0..=rows.len() {
        for end in start..=rows.len() {
            let read = footer.batch(&mut file, &names, start..end).expect("rows of the table");
            assert!(
                DataFrame::from(read).equals_missing(&data_frame(&rows[start..end])),
                "{start}..{end}"
            );
        }
    }
    assert!(footer.batch(&mut file, &names, 0..rows.len() + 1).is_err());
    let missing = footer.batch(&mut file, &["job", "depth"], 0..1);
    assert_eq!(missing.expect_err("no such column"), "no column \"depth\"");
}

/// Checks that small runs share groups of rows, and that a group does not grow without bound.
#[test]
fn small_runs_share_groups_of_rows() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs: Vec<RunResult> = (0..90).map(|number| run(number, None, &[1; 1000])).collect();
    write(dir.path(), &runs, true);
    let mut file = File::open(dir.path().join("jobs.parquet")).expect("the table");
    let footer = Footer::read(&mut file).expect("a footer");
    let groups = footer.metadata.row_groups.len();
    assert!((2..10).contains(&groups), "{groups}");
}

#[test]
fn csv_has_full_precision() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = [run(0, None, &[1, 2, 16]), run(1, Some("2,13,20,6"), &[2])];
    write(dir.path(), &results, false);
    let text = fs::read_to_string(dir.path().join("runs.csv")).expect("a file");
    let frame = data_frame(&results);
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
                    // A reader that infers types must not read a float as an integer.
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
fn an_invalid_path_fails_immediately() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let problem = Tables::create(&file.path().join("below"), &[], Measure::default()).err();
    assert!(problem.is_some_and(|problem| problem.to_string().starts_with("cannot write")));
}

#[test]
fn an_unfinished_file_does_not_have_the_final_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let kept = Measure { jobs: true, ..Measure::default() };
    let mut tables = Tables::create(dir.path(), &[], kept).expect("a folder to write in");
    tables.write(&run(0, None, &[1])).expect("written");
    let of_jobs = || -> Vec<String> {
        let names = fs::read_dir(dir.path()).expect("a folder");
        let names =
            names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.filter(|name: &String| name.starts_with("jobs.parquet")).collect()
    };
    let begun = of_jobs();
    assert!(begun.len() == 1 && begun[0].ends_with(".part"), "{begun:?}");
    drop(tables);
    assert!(of_jobs().is_empty());
}

/// Checks that rows are equal after they have been written and read. Checks that two files of a table can be
/// concatenated even if a column of one file contains only nulls.
fn round_trip<Row: Table>(rows: &[Row]) {
    let dir = tempfile::tempdir().expect("a folder");
    let parts: Vec<&[Row]> = rows.chunks(1).chain([&[] as &[Row], rows]).collect();
    let frames: Vec<DataFrame> = parts
        .iter()
        .map(|rows| {
            let metadata = [("commit".to_string(), "abc".to_string())];
            let paths = super::write(dir.path(), rows, &metadata).expect("written");
            assert_eq!(
                paths,
                ["parquet", "csv"].map(|end| dir.path().join(format!("{}.{end}", Row::NAME)))
            );
            let text = fs::read_to_string(&paths[1]).expect("a file");
            assert_eq!(text, replay_engine::table::csv(rows).expect("text"));
            let read = table(&paths[0]);
            assert!(read.equals_missing(&data_frame(rows)), "{}", Row::NAME);
            let dtypes = Row::columns().into_iter().map(|column| match column.get {
                Get::Text(_) => DataType::String,
                Get::I64(_) => DataType::Int64,
                Get::U64(_) => DataType::UInt64,
                Get::F64(_) => DataType::Float64,
                Get::List(_) => DataType::List(Box::new(DataType::Int64)),
            });
            assert!(read.dtypes().into_iter().eq(dtypes), "{}", Row::NAME);
            read
        })
        .collect();
    for above in &frames {
        for below in &frames {
            let both = above.vstack(below).expect(Row::NAME);
            assert_eq!(both.height(), above.height() + below.height());
        }
    }
}

#[test]
fn files_of_one_table_can_be_concatenated() {
    // The first run counts ties and has no tie vector; the second run has a tie vector and does not count ties.
    let mut runs = [run(0, None, &[1, 2, 2, 16]), run(1, Some("2,13,20,6"), &[3, 1])];
    let recorder = SystemRecorder::new(1);
    runs[1].metrics.system = Some(recorder.metrics(0, 16, &Overhead::default()));
    round_trip(&runs);
    round_trip::<WithRun<'_, SizeRow>>(
        &runs.iter().flat_map(RunResult::size_rows).collect::<Vec<_>>(),
    );
    let jobs: Vec<WithRun<'_, JobMeasures>> = runs.iter().flat_map(RunResult::job_rows).collect();
    round_trip(&jobs);
    let allocations: Vec<_> = runs.iter().flat_map(RunResult::allocation_rows).collect();
    round_trip(&allocations);
    let csv = replay_engine::table::csv(&allocations[..4]).expect("text");
    let expected = ["0,fcfs,mc1x1,,0,0,11,0,0,0,0,1,1,1", "0,fcfs,mc1x1,,1,11,22,0-1,0,0,0,1,2,1"];
    assert!(csv.lines().skip(1).zip(expected).all(|(line, expected)| line == expected), "{csv}");
    let mut json = Vec::new();
    let columns = <WithRun<'_, Allocation>>::columns();
    replay_engine::table::write_json_line(&columns, &allocations[4], &mut json).expect("memory");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!((&json["nodes"], &json["base_x"]), (&[0, 1, 5].into(), &serde_json::Value::Null));
    assert_eq!(json["nodes"].as_array().map(Vec::len), Some(3));

    let plain = SearchRow {
        searched: "made".to_string(),
        origin: Origin::None,
        rank: None,
        candidate: None,
        value: Some(1.0 / 3.0),
        improvement_percent: 0.0,
        shaken: None,
        test_shaken: None,
        behind: None,
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
        value: None,
        shaken: None,
        test_shaken: None,
        behind: None,
        test_improvement_percent: Some(0.1),
        excess_percent: Some(0.0),
        candidate: "2,13,20,6@0.1".parse().ok(),
        feasible: Some(true),
        worst: Some((42, 6, 3.5, "made".to_string())),
        extent: Extent::Stopped,
        ..plain.clone()
    };
    round_trip(&[plain, found]);
    round_trip(&[SkippedWorkRow {
        searched: "made".to_string(),
        reason: "stopped",
        about: "for a reason",
        evaluations: 3,
        decisions: 9,
    }]);
    let candidate = "2,13,20,6@0.1".parse().expect("a candidate");
    let cell = PortabilityCell {
        candidate,
        value: 0.5,
        improvement_percent: 1.0,
        excess_percent: 0.0,
        copies: None,
    };
    let matrix = Portability {
        found: vec![Found { candidate, on: "made".to_string(), width: None }],
        parts: vec![Tried { name: "a".to_string(), topology: "4x4".to_string(), baseline: 1.0 }],
        cells: vec![vec![cell]],
    };
    round_trip(&matrix.rows());

    let check = |ours| Check {
        suite: "made",
        figure: "Fig. 1".to_string(),
        workload: "made".to_string(),
        log: matches!(ours, Measured::Judged(_)).then(|| "made".to_string()),
        what: "a number".to_string(),
        printed: "1.5".to_string(),
        published: 1.5,
        ours,
        margin: 0.0,
        tolerance: Tolerance::Below,
        note: "noted".to_string(),
        is_claim: false,
        known: None,
        swaps: Vec::new(),
        over_packets: None,
        sample: replay_published::Sample::Outside,
        printed_bound: false,
    };
    round_trip(&[check(Measured::Judged(1.0)), check(Measured::NotRun(NotRun::NoValue))]);
}

#[test]
fn tables_of_streams_and_contention_can_be_concatenated() {
    // The first strategy has units, and the second strategy has no units.
    let rows = ["paging", "mc1x1[tie=2,13,20,6]"].map(|allocator| {
        let point = Point {
            topology: "4x4".parse().expect("a machine"),
            stream: StochasticStream { jobs: 5, ..StochasticStream::new([4, 4, 1]) },
            scheduler: replay_strategies::scheduler("fcfs").expect("a scheduler"),
            allocator: replay_strategies::allocator(allocator).expect("an allocator"),
            life: Life::RunTimes,
            counting: Default::default(),
        };
        let rule = StopRule::exactly(2);
        let (stop, watched) = (CancelToken::new(), [Metric::FinishTime]);
        let context = RunContext::new(&stop);
        let estimates = estimate(context, &point, 1, &rule, &watched).expect("a stream");
        StreamRow(point, estimates)
    });
    round_trip(&rows);
    let csv = replay_engine::table::csv(&rows).expect("text");
    assert!(csv.contains(",mc1x1,\"2,13,20,6\",5,0,2,"), "{csv}");

    let text = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 1\n";
    let jobs = Workload::from_reader(
        text.as_bytes(),
        "tiny.swf",
        &Policy::JOHNSON,
        &Window::ALL,
        Default::default(),
    );
    let trace = Trace::new(
        jobs.expect("a trace").into(),
        "4x4".parse().expect("a machine"),
        "johnson",
        &[],
    );
    let trace = std::sync::Arc::new(trace);
    let contended = |number, packets: &[u64]| {
        let job = |&packets: &u64| JobContention {
            number: 1,
            size: 4,
            packets,
            target: 10,
            isolated: 11,
            alone: 11,
            service: 12,
            wait: 0,
            latency: 3.0,
            blocked: 1.0,
            hops: 2.0,
            placement: placement(4),
        };
        let system = SystemRecorder::new(1).metrics(0, 16, &Overhead::default());
        let result =
            TraceRun { jobs: packets.iter().map(job).collect(), system, link_use: Vec::new() };
        let key = run(0, (number == 0).then_some("2,13,20,6"), &[1]).key;
        ContentionRun::new(number, key, trace.clone(), "n-body".to_string(), result)
    };
    // In the second run, no job sends packets.
    let runs = [contended(0, &[5, 0]), contended(1, &[0, 0])];
    round_trip(&runs);
    round_trip(&runs.iter().flat_map(ContentionRun::job_rows).collect::<Vec<_>>());
    round_trip(&Correlations::of(&runs));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn tables_round_trip_and_are_reproducible(
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
        let sizes: Vec<_> = results.iter().flat_map(RunResult::size_rows).collect();
        let jobs: Vec<_> = results.iter().flat_map(RunResult::job_rows).collect();
        let frames =
            [("runs", data_frame(&results)), ("by_size", data_frame(&sizes)), ("jobs", data_frame(&jobs))];
        for (name, frame) in frames {
            let path = a.path().join(format!("{name}.parquet"));
            prop_assert!(table(&path).equals_missing(&frame));
        }
    }
}
