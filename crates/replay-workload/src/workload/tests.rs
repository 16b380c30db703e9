//! Tests of the policies and of loading.

use proptest::prelude::*;

use super::*;
use crate::swf::{self, ReadOptions, Record};

/// Returns a record with these values; other fields are unknown.
fn record(submit: f64, run: f64, allocated: i64, requested: i64, time: f64, status: i64) -> Record {
    Record {
        job_number: 7,
        submit_time: submit,
        run_time: run,
        allocated_processors: allocated,
        requested_processors: requested,
        requested_time: time,
        status,
        ..Record::UNKNOWN
    }
}

/// `(submit, run, estimate, size, number)`, or the reason for the drop.
type Outcome = Result<(i64, i64, i64, u32, i64), DropReason>;

fn outcome(policy: &Policy, record: Record) -> Outcome {
    let (jobs, report) = policy.apply([(3, record)], None).unwrap();
    match jobs.first() {
        Some(job) => Ok((job.submit, job.run, job.estimate, job.size, job.number)),
        None => Err(*report.drops.keys().next().unwrap()),
    }
}

#[test]
fn policies_clean_records_by_their_rules() {
    use Policy as P;
    let plain = record(5.0, 100.0, 4, 8, 300.0, 1);
    let low_estimate = record(5.0, 100.0, 4, 8, 60.0, 1);
    let no_estimate = record(5.0, 100.0, 4, 8, -1.0, 1);
    let no_size = record(5.0, 100.0, -1, 8, 300.0, 1);
    let no_run = record(5.0, -1.0, 4, 8, 300.0, 1);
    let cancelled = record(5.0, 0.0, 4, 8, 300.0, 5);
    let zero_run = record(5.0, 0.0, 4, 8, 0.0, 1);
    let early = record(-1.0, 100.0, 4, 8, 300.0, 1);
    let fraction = record(5.75, 100.5, 4, 8, 300.0, 1);
    let zero_estimate = record(5.0, 100.0, 4, 8, 0.0, 1);
    let half_estimate = record(5.0, 100.0, 4, 8, 0.5, 1);
    let one_second = record(5.0, 1.0, 4, 8, -1.0, 1);
    let table: [(&Policy, Record, Outcome); 33] = [
        (&P::JOHNSON, plain, Ok((5, 100, 300, 4, 7))),
        (&P::JOHNSON, low_estimate, Ok((5, 100, 100, 4, 7))),
        (&P::JOHNSON, no_estimate, Ok((5, 100, 100, 4, 7))),
        (&P::JOHNSON, no_size, Err(DropReason::SizeUnknown)),
        (&P::JOHNSON, no_run, Ok((5, 0, 300, 4, 7))),
        (&P::JOHNSON, cancelled, Ok((5, 0, 300, 4, 7))),
        (&P::JOHNSON, early, Ok((0, 100, 300, 4, 7))),
        (&P::JOHNSON, fraction, Ok((5, 100, 300, 4, 7))),
        (&P::STRICT, plain, Ok((5, 100, 300, 4, 7))),
        (&P::PWA, plain, Ok((5, 100, 300, 4, 7))),
        (&P::PWA, no_size, Ok((5, 100, 300, 8, 7))),
        (&P::PWA, no_run, Err(DropReason::RunNegative)),
        (&P::PWA, cancelled, Err(DropReason::Cancelled)),
        (&P::PWA, zero_run, Ok((5, 0, 0, 4, 7))),
        (&P::PWA, early, Err(DropReason::SubmitNegative)),
        (&P::PWA, fraction, Ok((6, 101, 300, 4, 7))),
        (&P::SST, low_estimate, Ok((5, 100, 60, 4, 7))),
        (&P::SST, no_estimate, Ok((5, 100, 200, 4, 7))),
        (&P::SST, zero_estimate, Ok((5, 100, 200, 4, 7))),
        (&P::SST, half_estimate, Ok((5, 100, 200, 4, 7))),
        (&P::JOHNSON, half_estimate, Ok((5, 100, 100, 4, 7))),
        // The estimate equals the lengthened run time.
        (&P::BATSIM, one_second, Ok((5, 2, 2, 4, 0))),
        (&P::SST, no_run, Err(DropReason::RunNegative)),
        (&P::SST, no_size, Err(DropReason::SizeUnknown)),
        (&P::BATSIM, plain, Ok((5, 101, 300, 4, 0))),
        (&P::BATSIM, low_estimate, Ok((5, 101, 200, 4, 0))),
        (&P::BATSIM, zero_run, Err(DropReason::RunZero)),
        (&P::BATSIM, no_run, Err(DropReason::RunNegative)),
        (&P::BATSIM, early, Ok((0, 101, 300, 4, 0))),
        (&P::ACCASIM, plain, Ok((5, 100, 100, 8, 7))),
        (&P::ACCASIM, no_size, Ok((5, 100, 100, 8, 7))),
        (&P::ACCASIM, record(5.0, 9.0, 4, -1, -1.0, 1), Ok((5, 9, 9, 4, 7))),
        (&P::ACCASIM, record(5.0, 9.0, 0, -1, -1.0, 1), Err(DropReason::SizeUnknown)),
    ];
    for (policy, record, expected) in table {
        assert_eq!(outcome(policy, record), expected, "{} on {record:?}", policy.name);
    }
}

#[test]
fn strict_names_line_and_field() {
    let error = Policy::STRICT
        .apply([(17, record(0.0, 100.0, 4, 4, 60.0, 1))], None)
        .unwrap_err()
        .in_file("t.swf");
    let expected = "t.swf:17: job 7 would be changed (estimate raised to run time; requested time, field 9 of 18): \
                    policy strict forbids changes";
    assert_eq!(error.to_string(), expected);
    let error = Policy::STRICT.apply([(18, Record::UNKNOWN)], None).unwrap_err();
    assert_eq!(
        (error.line, error.field, error.problem),
        (18, swf::Field::AllocatedProcessors.into(), Problem::Drop(DropReason::SizeUnknown))
    );
}

/// An invalid size is reported with the field that contains it.
#[test]
fn fields_after_the_eighteenth_are_named() {
    let record = "1 0 0 60 8 -1 -1 8 60 -1 1 1 1 -1 -1 -1 -1 -1";
    let load = |extra: &str, policy: &str| {
        let policy = Policy::by_name(policy).expect("a policy");
        let text = format!("; MaxProcs: 16\n{record} {extra}\n{record} 1 -1 frontier:excl:2x56\n");
        Workload::from_reader(text.as_bytes(), "t.swf", policy, &Window::ALL, Default::default())
    };
    let error = |extra: &str, policy: &str| load(extra, policy).expect_err(extra).to_string();
    let message = error("1 -1 frontier:excl:9999999999x112", "frontier");
    let words = "t.swf:2: job 1 has 9999999999 processors, which do not fit in 32 bits (field 21)";
    assert_eq!(message, words);
    let message = error("{7} q 1:ppn=9999999999", "cerit");
    assert_eq!(message, words);
    let strict = error("1 2 3", "strict");
    assert_eq!(
        strict,
        "t.swf:2: job 1 has more than 18 fields: policy strict forbids extra fields"
    );
    // A descriptor with zero nodes gives no size. Field 5 is used for a job whose descriptor gives no size, and the
    // report mentions this source.
    let made = load("-1 -1 frontier:excl:0x112", "frontier").expect("two jobs");
    assert_eq!(made.jobs.iter().map(|job| job.size).collect::<Vec<_>>(), [8, 2]);
    let report = made.report.to_string();
    assert!(
        report.ends_with("; sizes of 1 record taken from these fields, all others from field 5"),
        "{report}"
    );
}

#[test]
fn jobs_larger_than_the_machine() {
    let records = [(1, record(0.0, 1.0, 4, 4, 1.0, 1)), (2, record(0.0, 1.0, 64, 4, 1.0, 1))];
    let error = Policy::JOHNSON.apply(records, Some(16)).unwrap_err();
    assert_eq!(
        (error.line, error.problem),
        (2, Problem::LargerThanMachine { size: 64, procs: 16 })
    );
    let with = |oversize| Policy { oversize, ..Policy::JOHNSON }.apply(records, Some(16)).unwrap();
    let (jobs, report) = with(Oversize::Drop);
    assert_eq!((jobs.len(), report.drops[&DropReason::LargerThanMachine]), (1, 1));
    let (jobs, report) = with(Oversize::Clamp);
    assert_eq!((jobs[1].size, report.changes[&Change::SizeClamped]), (16, 1));
    let huge = [(1, record(0.0, 1.0, 1 << 40, 4, 1.0, 1))];
    assert!(matches!(
        Policy::JOHNSON.apply(huge, None).unwrap_err().problem,
        Problem::SizeOutOfRange { .. }
    ));
}

#[test]
fn policies_have_names_and_descriptions() {
    for policy in Policy::ALL {
        assert_eq!(Policy::by_name(&policy.name.to_uppercase()), Ok(policy));
        assert!(policy.describe().iter().all(|row| !row.setting.is_empty()));
    }
    let rows: Vec<_> = Policy::ALL.iter().map(|policy| policy.describe()).collect();
    for (index, row) in rows.iter().enumerate() {
        assert!(!rows[..index].contains(row), "two policies have the same description: {row:?}");
    }
    assert!(Policy::by_name("quarks").unwrap_err().to_string().ends_with(
        "known are johnson, strict, pwa, sst, batsim, accasim, frontier, cerit, cerit-nodes"
    ));
    let json = serde_json::to_value(&Policy::SST).unwrap();
    assert_eq!(
        (json["name"].as_str(), json["estimate"]["missing"].as_u64()),
        (Some("sst"), Some(2))
    );
}

fn load(text: &[u8], window: &Window) -> Result<Workload, LoadError> {
    Workload::from_reader(
        text,
        "dir/t.swf.gz",
        &Policy::JOHNSON,
        window,
        ReadOptions { max_errors: 1 },
    )
}

#[test]
fn loading_sorts_hashes_and_reports() {
    let text = b"; UnixStartTime: 0\n1 9 0 5 2\nbad\n2 3 0 5 2\n3 9 0 5 0\n4 3 0 5 2\n";
    let workload = load(text, &Window::parse(Some("3"), Some(2), None).unwrap()).unwrap();
    assert_eq!(
        (workload.name.as_str(), workload.digest.as_str()),
        ("t", blake3::hash(text).to_hex().as_str())
    );
    assert_eq!(
        workload.jobs.iter().map(|job| (job.number, job.line)).collect::<Vec<_>>(),
        [(2, 4), (4, 6)]
    );
    assert_eq!(
        workload.report.to_string(),
        "t: 4 records, 3 jobs kept; 1 dropped (size not positive 1); 3 changed (estimate set from run time 3); \
         1 bad line skipped (not a number 1, first in line 3); 1 outside the window (0 before, 1 after)"
    );
    let json = serde_json::to_value(&workload.report).unwrap();
    assert_eq!(json["drops"]["size-unknown"], 1);
    let mut workload = workload;
    let error = workload.fit_to_machine(1, Oversize::Error).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("dir/t.swf.gz:4: job 2 needs 2 processors, but the machine has 1"),
        "{error}"
    );
}

#[test]
fn loads_without_jobs_are_errors() {
    assert!(matches!(load(b"", &Window::ALL), Err(LoadError::NoRecords { .. })));
    assert!(matches!(load(b"1 0 0 5 0\n", &Window::ALL), Err(LoadError::NoJobs { .. })));
    let late = Window { from: Some(Start::Seconds(99)), ..Window::ALL };
    let error = load(b"1 0 0 5 1\n", &late).unwrap_err().to_string();
    assert_eq!(
        error,
        "dir/t.swf.gz: the window contains none of the 1 jobs, which were submitted from second 0 to 0"
    );
    let missing =
        Workload::load("no/such.swf", &Policy::JOHNSON, &Window::ALL, ReadOptions::default())
            .unwrap_err();
    assert!(missing.to_string().starts_with("no/such.swf: cannot read: "), "{missing}");
}

/// Jobs that are dropped after cleaning are not counted as changed.
#[test]
fn changes_are_those_of_jobs_kept() {
    // Two estimates are raised, one is unknown, and one is unchanged. Two waits are known. One size is 16.
    let text =
        b"1 0 5 50 4 -1 -1 4 10\n2 1 -1 50 4 -1 -1 4 10\n3 2 -1 50 4\n4 3 0 50 16 -1 -1 16 60\n";
    let mut workload = load(text, &Window::ALL).expect("a trace");
    let counts = |workload: &Workload| {
        let report = &workload.report;
        let of = |change| report.changes.get(&change).copied();
        let changes = [Change::EstimateRaised, Change::EstimateFromRun, Change::SizeClamped];
        (report.kept, report.changed, changes.map(of))
    };
    assert_eq!(counts(&workload), (4, 3, [Some(2), Some(1), None]));
    let mut dropped = workload.clone();
    dropped.fit_to_machine(8, Oversize::Drop).expect("a rule");
    assert_eq!(counts(&dropped), (3, 3, [Some(2), Some(1), None]));
    workload.fit_to_machine(8, Oversize::Clamp).expect("a rule");
    assert_eq!(counts(&workload), (4, 4, [Some(2), Some(1), Some(1)]));
}

/// A file may contain records with fewer and records with more than 18 fields. The report counts the records for each
/// number of fields.
#[test]
fn counts_records_by_number_of_fields() {
    let to = |last: usize| (6..=last).map(|field| format!(" {field}")).collect::<String>();
    let record = |number: u32, last: usize| format!("{number} {number} 0 5 1{}\n", to(last));
    let report = |lengths: &[usize]| {
        let records = (1..).zip(lengths).map(|(number, &last)| record(number, last));
        let text: String = records.collect();
        load(text.as_bytes(), &Window::ALL).expect("a trace").report.to_string()
    };
    let words = "; fields: 9 in 1 record, 17 in 2 records, 18 in 3 records, 21 in 1 record; missing fields are \
                 unknown; 1 record with 21 fields: other text 1; ignored";
    let mixed = report(&[17, 18, 21, 18, 9, 17, 18]);
    assert!(mixed.contains(words), "{mixed}");
    assert!(report(&[17, 18]).contains("; fields: 17 in 1 record, 18 in 1 record; missing fields"));
    // The counts are reported only if some records have fewer than 18 fields and the number of fields varies.
    for lengths in [&[17, 17][..], &[18, 18], &[18, 21]] {
        assert!(!report(lengths).contains("fields: 1"), "{lengths:?}");
    }
}

#[test]
fn counts_repeated_job_numbers() {
    let repeated = |text: &[u8]| load(text, &Window::ALL).expect("a trace").report;
    let report = repeated(
        b"7 0 0 5 1\n-1 0 0 5 1\n-1 0 0 5 1\n3 0 0 5 1\n7 0 0 5 1\n3 0 0 5 1\n7 0 0 5 1\n",
    );
    let expected = Repeated { count: 3, first_line: 5, job: 7 };
    assert_eq!(report.repeated, expected);
    let words = "; 3 records with the number of an earlier record, first in line 5: job 7";
    assert!(report.to_string().ends_with(words), "{report}");
    assert!(repeated(b"7 0 0 5 1\n3 0 0 5 1\n9 0 0 5 1\n").repeated.is_empty());
}

fn any_record() -> impl Strategy<Value = Record> {
    let time =
        || prop_oneof![Just(-1.0), Just(0.0), -5.0..500.0f64, (0..500i64).prop_map(|n| n as f64)];
    (time(), time(), -1i64..40, -1i64..40, time(), -1i64..6)
        .prop_map(|(s, r, a, q, t, status)| record(s, r, a, q, t, status))
}

proptest! {
    #[test]
    fn counts_add_up_and_jobs_are_valid(
        records in proptest::collection::vec(any_record(), 0..60),
        which in 0usize..Policy::ALL.len(),
        procs in proptest::option::of(1u32..50),
        oversize in prop_oneof![Just(Oversize::Drop), Just(Oversize::Clamp)],
    ) {
        let policy = Policy { oversize, strict: false, ..Policy::ALL[which].clone() };
        let numbered = records.iter().enumerate().map(|(index, record)| (index as u64 + 1, *record));
        let (jobs, report) = policy.apply(numbered, procs).unwrap();
        prop_assert_eq!(report.read, report.kept + report.dropped());
        prop_assert_eq!(report.kept, jobs.len() as u64);
        prop_assert!(report.changed <= report.kept);
        prop_assert!(report.changed <= report.changes.values().sum::<u64>());
        for job in &jobs {
            prop_assert!(job.size >= 1 && procs.is_none_or(|procs| job.size <= procs));
            prop_assert!(job.submit >= 0 && job.run >= 0 && job.estimate >= 0);
            prop_assert!(policy.estimate.floor == 0 || job.estimate >= job.run);
        }
        for pair in jobs.windows(2) {
            prop_assert!((pair[0].submit, pair[0].line) < (pair[1].submit, pair[1].line), "order is stable");
        }
    }

    #[test]
    fn strict_admits_exactly_the_records_that_johnson_keeps_unchanged(record in any_record()) {
        let (_, report) = Policy::JOHNSON.apply([(1, record)], None).unwrap();
        let untouched = report.changed == 0 && report.dropped() == 0;
        prop_assert_eq!(Policy::STRICT.apply([(1, record)], None).is_ok(), untouched);
    }
}
