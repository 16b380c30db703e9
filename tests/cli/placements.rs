//! The table of placements: other columns can be recomputed from it.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use polars::prelude::*;

use super::dir::Dir;

trials!(
    no_two_jobs_share_a_processor_and_metrics_follow,
    interrupted_jobs_have_several_rows,
    writes_placements_on_other_machines,
    sweep_writes_the_same_placements,
    tables_have_estimates_and_labels_of_the_log,
    bytes_do_not_depend_on_threads,
    requires_an_output_directory,
);

/// A row of `placements.parquet`. `filled` contains the base and the sides of the box that the processors fill.
struct Row {
    run: i64,
    job: i64,
    times: [i64; 2],
    nodes: Vec<i64>,
    filled: Option<([i64; 3], [i64; 3])>,
}

fn table(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).expect("the file")).finish().expect("Parquet")
}

fn integers(table: &DataFrame, name: &str) -> Vec<Option<i64>> {
    table.column(name).expect(name).i64().expect(name).iter().collect()
}

fn rows(path: &Path) -> Vec<Row> {
    let table = table(path);
    let all = |name: &str| integers(&table, name).into_iter().map(|v| v.expect("a number"));
    let nodes = table.column("nodes").expect("nodes").list().expect("lists").clone();
    let nodes = (0..nodes.len()).map(|i| {
        let list = nodes.get_as_series(i).expect("a list");
        list.i64().expect("numbers").into_no_null_iter().collect::<Vec<i64>>()
    });
    let of_box = ["base_x", "base_y", "base_z", "side_x", "side_y", "side_z"];
    let of_box = of_box.map(|name| integers(&table, name));
    let times = all("start").zip(all("end"));
    let rows = all("run").zip(all("job")).zip(times).zip(nodes).enumerate();
    rows.map(|(i, (((run, job), (start, end)), nodes))| {
        let [a, b, c, x, y, z] = [0, 1, 2, 3, 4, 5].map(|k| of_box[k][i]);
        let triple = |a: Option<i64>, b: Option<i64>, c: Option<i64>| Some([a?, b?, c?]);
        let filled = triple(a, b, c).zip(triple(x, y, z));
        Row { run, job, times: [start, end], nodes, filled }
    })
    .collect()
}

/// Tables of jobs have estimates, users, groups, queues, partitions and strategies; their metadata has the start time of
/// the trace.
fn tables_have_estimates_and_labels_of_the_log() {
    let log = "; MaxProcs: 16\n; UnixStartTime: 843484160\n\
               7 0 -1 100 4 -1 -1 4 300 -1 1 5 6 -1 0 3 -1 -1\n\
               8 10 -1 50 8 -1 -1 8 60 -1 1 -1 -1 -1 1 -1 -1 -1\n";
    let dir = Dir::new().file("a.swf", log);
    let run = "--trace a.swf --alloc mc1x1 --tie none --tie 2,13,20,6 --sched easy -q";
    dir.replay(&format!("{run} --no-plots --placements --out out")).code(0);
    dir.replay(&format!("sweep {run} --placements --job-table --out sweep")).code(0);
    dir.replay(&format!("contend {run} --scale 0.1 --no-plots --out contend")).code(0);
    for (folder, jobs_file, files) in [
        ("out", "jobs", &["jobs", "placements"][..]),
        ("sweep", "jobs", &["jobs", "placements"]),
        ("contend", "contend_jobs", &["contend_jobs"]),
    ] {
        let jobs = table(&dir.path(&format!("{folder}/{jobs_file}.parquet")));
        assert_eq!(integers(&jobs, "job"), [7, 8, 7, 8].map(Some));
        assert_eq!(integers(&jobs, "estimate"), [300, 60, 300, 60].map(Some));
        assert_eq!(integers(&jobs, "user"), [Some(5), None, Some(5), None]);
        assert_eq!(integers(&jobs, "group"), [Some(6), None, Some(6), None]);
        assert_eq!(integers(&jobs, "queue"), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(integers(&jobs, "partition"), [Some(3), None, Some(3), None]);
        for file in files {
            let table = table(&dir.path(&format!("{folder}/{file}.parquet")));
            let texts = |name: &str| -> Vec<Option<String>> {
                let column = table.column(name).expect(name).str().expect(name);
                column.iter().map(|text| text.map(str::to_string)).collect()
            };
            assert!(texts("scheduler").iter().all(|text| text.as_deref() == Some("easy")));
            assert!(texts("allocator").iter().all(|text| text.as_deref() == Some("mc1x1")));
            let tie = Some("2,13,20,6".to_string());
            assert_eq!(texts("tie"), [None, None, tie.clone(), tie]);
        }
        let path = dir.path(&format!("{folder}/{jobs_file}.parquet"));
        let file = File::open(path).expect("the file");
        let mut reader = ParquetReader::new(file);
        let metadata = reader.get_metadata().expect("metadata").clone();
        let pairs = metadata.key_value_metadata().clone().expect("pairs");
        let value = |key: &str| {
            let pair = pairs.iter().find(|pair| pair.key == key);
            pair.and_then(|pair| pair.value.clone()).expect(key)
        };
        let configuration: serde_json::Value =
            serde_json::from_str(&value("configuration")).expect("JSON");
        assert_eq!(configuration["traces"][0]["unix_start_time"], 843_484_160);
        assert_eq!(value("unit:estimate"), "s");
        assert!(value("about:user").contains("field 12"));
        assert!(value("about:queue").contains("field 15"));
    }
}

/// Asserts that no processor is held by two jobs at a time.
fn assert_no_sharing<'a>(rows: impl Iterator<Item = &'a Row>, processors: usize) {
    let mut held: Vec<Vec<[i64; 2]>> = vec![Vec::new(); processors];
    for row in rows {
        let mut distinct = row.nodes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), row.nodes.len(), "job {}", row.job);
        for &node in &row.nodes {
            held[node as usize].push(row.times);
        }
    }
    for times in &mut held {
        times.retain(|[start, end]| start < end);
        times.sort_unstable();
        assert!(times.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{times:?}");
    }
}

fn no_two_jobs_share_a_processor_and_metrics_follow() {
    let allocators = [
        "mc1x1",
        "hilbert-best-fit",
        "random",
        "gabl",
        "first-fit",
        "mbs",
        "paging[size=1]",
        "turning-busy-list",
        "rsr[t=1,inner=first-fit]",
    ];
    let dir = Dir::with_trace();
    let list = allocators.join(",");
    dir.replay(&format!(
        "-q --jobs 600 --sched easy --alloc {list} --tie 2,13,20,6 --out out --no-plots --placements"
    ))
    .code(0);
    let rows = rows(&dir.path("out/placements.parquet"));
    let (runs, jobs) = (table(&dir.path("out/runs.parquet")), table(&dir.path("out/jobs.parquet")));
    let of_jobs = ["run", "job", "start", "end", "served_size", "held_size"];
    let of_jobs = of_jobs.map(|name| integers(&jobs, name));
    let known: HashMap<(i64, i64), [i64; 4]> = (0..jobs.height())
        .map(|i| {
            let [run, job, rest @ ..] =
                [0, 1, 2, 3, 4, 5].map(|k: usize| of_jobs[k][i].expect("a number"));
            ((run, job), rest)
        })
        .collect();
    assert_eq!(rows.len(), known.len(), "a row for each job");
    let totals = integers(&runs, "total_pairwise_l1");
    for (run, total) in (0..).zip(&totals) {
        let of_run = || rows.iter().filter(move |row| row.run == run);
        assert_no_sharing(of_run(), 100);
        let mut sum = 0;
        for row in of_run() {
            let [start, end, served, held] = known[&(run, row.job)];
            assert_eq!((row.times, row.nodes.len() as i64), ([start, end], held));
            let place = |node: &i64| [node / 10, node % 10];
            let places: Vec<_> = row.nodes.iter().map(place).collect();
            let of_job = &places[..served as usize];
            for (i, a) in of_job.iter().enumerate() {
                let far = |b: &[i64; 2]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs();
                sum += of_job[..i].iter().map(far).sum::<i64>();
            }
            let Some(([x, y, z], [a, b, c])) = row.filled else {
                assert!(!allocators[run as usize].ends_with("first-fit"));
                continue;
            };
            assert_eq!((a * b, z, c), (held, 0, 1));
            let inside = |at: &[i64; 2]| (x..x + a).contains(&at[0]) && (y..y + b).contains(&at[1]);
            assert!(places.iter().all(inside));
        }
        assert_eq!(Some(sum), *total, "run {run}");
    }
    assert!(rows.iter().any(|row| row.filled.is_none()));
}

fn interrupted_jobs_have_several_rows() {
    let jobs = "; MaxProcs: 16\n1 0 -1 100 16 -1 -1 16 100\n2 10 -1 10 12 -1 -1 12 10\n";
    let down = "from,until,what\n50,200,box 0 0 0 3\n";
    let dir = Dir::new().file("j.swf", jobs).file("down.csv", down);
    for (rule, expected) in [
        ("drain", vec![(1, [0, 100]), (2, [100, 110])]),
        ("requeue", vec![(1, [0, 50]), (1, [200, 300]), (2, [300, 310])]),
        ("kill", vec![(1, [0, 50]), (2, [50, 60])]),
    ] {
        dir.replay(&format!(
            "--trace j.swf --alloc mc1x1 --down down.csv --down-rule {rule} --out {rule} --placements -q"
        ))
        .code(0);
        let rows = rows(&dir.path(&format!("{rule}/placements.parquet")));
        assert_no_sharing(rows.iter(), 16);
        let times: Vec<_> = rows.iter().map(|row| (row.job, row.times)).collect();
        assert_eq!(times, expected, "{rule}");
    }
}

fn writes_placements_on_other_machines() {
    let dir = Dir::with_trace();
    for (machine, allocator, points) in
        [("5x5x2*2", "mc1x1", 50), ("hypercube:7", "cube-buddy", 128)]
    {
        dir.replay(&format!(
            "--jobs 200 --machine {machine} --alloc {allocator} --out {allocator} --placements -q"
        ))
        .code(0);
        let rows = rows(&dir.path(&format!("{allocator}/placements.parquet")));
        assert_eq!(rows.len(), 200);
        assert_no_sharing(rows.iter(), points);
        assert_eq!(rows.iter().any(|row| row.filled.is_some()), machine.contains('x'));
    }
}

fn sweep_writes_the_same_placements() {
    let dir = Dir::with_trace();
    let grid = "--jobs 150 --alloc mc1x1,gabl --seed 0,1";
    dir.replay(&format!("-q {grid} --tie 1,1,1,1 --out run --no-plots --placements")).code(0);
    let sweep = format!("sweep -q {grid} --tie 1,1,1,1 --placements --out sweep");
    dir.replay(&sweep).code(0).prints("placements.parquet");
    let [run, swept] =
        ["run", "sweep"].map(|name| table(&dir.path(name).join("placements.parquet")));
    assert!(run.equals_missing(&swept) && run.height() == 600);
    // Resuming a finished sweep writes the placements of all cells.
    std::fs::remove_file(dir.path("sweep/placements.parquet")).expect("it was there");
    dir.replay(&format!("{sweep} --threads 1")).code(0);
    assert!(table(&dir.path("sweep/placements.parquet")).equals_missing(&run));
    dir.replay(&format!("{sweep} --shard 1/2")).refused(&["--placements", "--shard"]);
}

fn bytes_do_not_depend_on_threads() {
    let dir = Dir::with_trace();
    for threads in [1, 4] {
        dir.replay(&format!(
            "-q --jobs 300 --alloc mm,random,mbs --seed 0..3 --out t{threads} --threads {threads} --no-plots --placements"
        ))
        .code(0);
    }
    assert!(dir.read("t1/placements.parquet") == dir.read("t4/placements.parquet"));
}

fn requires_an_output_directory() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 9 --placements").refused(&["--out <DIR>"]);
    dir.replay("sweep --jobs 9 --placements --print-config").refused(&["--out <DIR>"]);
    dir.replay("--jobs 9 --alloc random --out plain --no-plots").code(0);
    assert!(!dir.path("plain/placements.parquet").exists());
}
