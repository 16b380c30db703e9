use std::fs;

use super::*;
use crate::sweep::CellConfiguration;
use crate::{RunKey, RunResult};
use proptest::prelude::*;
use replay_engine::metrics::measure::{Finished, Placed, Scope, Setup};
use replay_engine::metrics::{Locality, Measures, SizeRow};

fn id(number: u64) -> CellId {
    let configuration = CellConfiguration {
        jobs: "digest",
        topology: "4x4",
        machine: None,
        scheduler: "fcfs",
        strategy: "random",
        seed: number,
        ties: false,
        placements: false,
        shaken: None,
        recorded: None,
        places: None,
        outages: None,
        partitions: None,
        log_jobs: None,
    };
    configuration.id()
}

fn folder(dir: &tempfile::TempDir) -> Dir {
    Dir::open(dir.path()).expect("a folder")
}

/// A result with numbers that are hard to represent in text.
fn result(run: u32) -> RunResult {
    let jobs = [replay_engine::workload::Job {
        number: 1,
        submit: 0,
        run: 7,
        estimate: 7,
        size: 3,
        line: 1,
        shape: None,
        limit: None,
    }];
    let schedule = replay_engine::metrics::ScheduleMetrics::new(&jobs, &[0], 16);
    let mesh = "4x4".parse().expect("a machine");
    let nodes = [0, 5, 10].map(replay_engine::topology::NodeId);
    let placement = Locality::new(&mesh).placement(&nodes, 3);
    let setup =
        Setup { hierarchy: None, jobs: 1, origin: 0, placements: true, scope: Scope::Allocations };
    let mut measures = Measures::new(&setup);
    measures.placed(&Placed { size: 3, pairwise_l1: 8, placement: Some(&placement), tied: None });
    let mean = f64::from(run) / 3.0 + 0.1;
    RunResult {
        run,
        key: RunKey {
            trace: "a \"trace\"\nof two lines".to_string(),
            topology: "4x4".to_string(),
            scheduler: "fcfs".to_string(),
            allocator: "random".to_string(),
            tie: None,
            policy: "johnson".to_string(),
            seed: u64::from(run),
            copy: 0,
        },
        turned_away: Vec::new(),
        groups: Vec::new(),
        processors: 16,
        metrics: measures.finish(&Finished { schedule: Some(&schedule), coupled: None }),
        by_size: vec![SizeRow {
            size: 3,
            jobs: 1,
            size_rank: 1,
            mean_pairwise_l1: Some(mean),
            mean_leaves: None,
            mean_wait: 1e-300,
            mean_turnaround: f64::from(run).sqrt(),
        }],
        jobs: Vec::new(),
        allocations: Vec::new(),
        over_log: None,
        series: Default::default(),
        hierarchy_series: Default::default(),
        seconds: 0.1 + 0.2,
        allocator_seconds: None,
    }
}

/// Creates a directory with a journal of `cells` cells. Every third cell has failed. Also returns the text of the
/// journal.
fn journal(cells: u32) -> (tempfile::TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::<RunResult>::open(&folder(&dir), true).expect("a journal");
    for run in 0..cells {
        let failure = format!("why {run}\n");
        let outcome = if run % 3 == 2 { Err(failure.as_str()) } else { Ok(&result(run)) };
        journal.append(id(run.into()), outcome).expect("a record");
    }
    let text = fs::read(journal.path()).expect("its text");
    (dir, text)
}

/// Returns whether the records of the first `cells` cells are as expected: a cell must have an undamaged record if
/// `expected` is true for it, and no record if `expected` is false.
fn holds(journal: &mut Journal<RunResult>, cells: u32, expected: impl Fn(u32) -> bool) -> bool {
    (0..cells).all(|run| match journal.read(id(run.into())).expect("readable") {
        None => !expected(run),
        Some(Outcome::Failed(why)) => {
            expected(run) && run % 3 == 2 && why == format!("why {run}\n")
        }
        Some(Outcome::Done(found)) => {
            let made = result(run);
            expected(run)
                && run % 3 != 2
                && (found.run, &found.key, found.processors) == (run, &made.key, 16)
                && found.metrics == made.metrics
                && found.by_size == made.by_size
        }
    })
}

#[test]
fn records_can_be_read_in_any_order() {
    let (dir, _) = journal(20);
    let mut journal = Journal::<RunResult>::open(&folder(&dir), true).expect("a journal");
    assert_eq!((journal.len(), journal.damaged()), (20, &[][..]));
    assert!(holds(&mut journal, 25, |run| run < 20));
    for run in [19, 0, 7, 6, 13] {
        assert_eq!(
            journal.read(id(run)).expect("readable").is_some(),
            journal.failed(id(run)).is_some()
        );
    }
}

#[test]
fn the_last_record_of_a_cell_counts() {
    let (dir, _) = journal(3);
    let mut journal = Journal::<RunResult>::open(&folder(&dir), true).expect("a journal");
    assert_eq!(journal.failed(id(2)), Some(true));
    journal.append(id(2), Ok(&result(2))).expect("a record");
    assert_eq!((journal.failed(id(2)), journal.len()), (Some(false), 3));
    let again = Journal::<RunResult>::open(&folder(&dir), true).expect("a journal");
    assert_eq!(again.failed(id(2)), Some(false));
}

#[test]
fn other_files_are_kept() {
    for text in ["my notes\n", "replay journal 1\n", "replay journal of mine\n", "x"] {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(JOURNAL_FILE);
        fs::write(&path, text).expect("a file");
        let of_another_version = text.ends_with("1\n");
        match Journal::<RunResult>::open(&folder(&dir), true).expect_err(text) {
            JournalError::Version(_) => assert!(of_another_version, "{text}"),
            JournalError::Foreign(_) => assert!(!of_another_version, "{text}"),
            error => panic!("{error}"),
        }
        assert_eq!(fs::read_to_string(&path).expect("the file"), text);
        // Only a journal can be discarded; its version does not matter.
        assert_eq!(discard(&folder(&dir), true).is_ok(), of_another_version, "{text}");
        assert_eq!(path.exists(), !of_another_version, "{text}");
    }
    // A truncated header is treated as a journal only if a sweep has begun in the directory.
    for text in [&b""[..], b"replay jour"] {
        let dir = tempfile::tempdir().expect("a folder");
        let (dir, path) = (folder(&dir), dir.path().join(JOURNAL_FILE));
        fs::write(&path, text).expect("a file");
        assert!(matches!(Journal::<RunResult>::open(&dir, false), Err(JournalError::Foreign(_))));
        assert!(matches!(discard(&dir, false), Err(JournalError::Foreign(_))));
        assert_eq!(fs::read(&path).expect("the file"), text);
        assert!(Journal::<RunResult>::open(&dir, true).is_ok_and(|journal| journal.is_empty()));
    }
    let (dir, _) = journal(3);
    for _ in 0..2 {
        discard(&folder(&dir), true).expect("gone");
        assert!(!dir.path().join(JOURNAL_FILE).exists());
    }
    // The target of a link does not belong to the directory, even if the target is a journal.
    let (elsewhere, text) = journal(3);
    let target = elsewhere.path().join(JOURNAL_FILE);
    std::os::unix::fs::symlink(&target, dir.path().join(JOURNAL_FILE)).expect("a link");
    for rejected in
        [Journal::<RunResult>::open(&folder(&dir), true).err(), discard(&folder(&dir), true).err()]
    {
        assert!(rejected.expect("a link").to_string().contains("is a symbolic link"));
    }
    assert_eq!(fs::read(&target).expect("the file"), text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After truncation at any byte, complete records are kept, and the cells without a complete record run again.
    #[test]
    fn an_incomplete_end_is_truncated(cut in 0usize..10_000) {
        const CELLS: u32 = 6;
        let (dir, text) = journal(CELLS);
        let cut = cut % (text.len() + 1);
        fs::write(dir.path().join(JOURNAL_FILE), &text[..cut]).expect("a file");
        // Reference: the number of lines that end before the truncation, not counting the header.
        let lines = text[..cut].iter().filter(|&&byte| byte == b'\n').count() as u32;
        let whole = lines.saturating_sub(1);
        let mut reader = Journal::<RunResult>::read_only(&folder(&dir)).expect("a journal");
        prop_assert!(holds(&mut reader, CELLS, |run| run < whole));
        let mut journal = Journal::<RunResult>::open(&folder(&dir), true).expect("a journal");
        prop_assert!(holds(&mut journal, CELLS, |run| run < whole));
        for run in whole..CELLS {
            let failure = format!("why {run}\n");
            let outcome = if run % 3 == 2 { Err(failure.as_str()) } else { Ok(&result(run)) };
            journal.append(id(run.into()), outcome).expect("a record");
        }
        prop_assert_eq!(fs::read(journal.path()).expect("its text"), text);
    }

    /// After a change of any byte, the record that contains this byte is skipped, and all other records are kept.
    #[test]
    fn a_damaged_record_is_skipped(at in 0usize..10_000, flip in 1u8..=255) {
        const CELLS: u32 = 6;
        let (dir, mut text) = journal(CELLS);
        let header = HEADER.len();
        let at = header + at % (text.len() - header - 1);
        let newline = text[at] == b'\n';
        let line = text[header..at].iter().filter(|&&byte| byte == b'\n').count() as u32;
        text[at] ^= flip;
        fs::write(dir.path().join(JOURNAL_FILE), &text).expect("a file");
        let mut journal = Journal::<RunResult>::open(&folder(&dir), true).expect("a journal");
        prop_assert!(!journal.damaged().is_empty());
        // If the damaged byte is a line break, the next line is also invalid.
        let lost = |run| run == line || (newline && run == line + 1);
        prop_assert!(holds(&mut journal, CELLS, |run| !lost(run)));
    }
}
