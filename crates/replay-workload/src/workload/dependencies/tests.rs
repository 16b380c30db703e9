use super::*;
use crate::workload::{Policy, Window, Workload};
use proptest::prelude::*;

/// The sample trace of the specification.
const SAMPLE: &str = "\
; MaxProcs: 16
1 0 -1 100 8 -1 -1 8 200 -1 1 1 1 -1 -1 -1 -1 -1
2 10 -1 50 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 1 20
3 500 -1 50 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 2 -1
4 20 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 99 5
5 30 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 6 0
6 40 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 -1 -1
7 50 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 7 0
8 60 -1 0 4 -1 -1 4 100 -1 0 2 1 -1 -1 -1 1 0
9 70 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 8 0
";

fn read(text: &str) -> Workload {
    let name = "sample.swf";
    let load = Workload::from_reader(
        text.as_bytes(),
        name,
        &Policy::JOHNSON,
        &Window::ALL,
        Default::default(),
    );
    load.expect("a trace")
}

/// Returns the dependencies sorted by job number: number of the job, number of the predecessor, earliest arrival, lag.
fn follows(workload: &Workload, rule: Dependencies) -> Vec<(i64, i64, i64, i64)> {
    let jobs = &workload.jobs;
    let chains = workload.links.chains(jobs, rule);
    let all = jobs.iter().zip(&chains.follows).flat_map(|(job, follows)| {
        follows.iter().map(|f| (job.number, jobs[f.job.index()].number, f.earliest, f.lag))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_unstable();
    all
}

#[test]
fn counts_the_dependencies_of_the_sample() {
    let workload = read(SAMPLE);
    let expected = "7 records with a preceding job: 5 usable (4 earlier in the file, 1 later), 1 absent, 1 referring to itself; \
                    2 with a think time";
    assert_eq!(workload.report.dependencies.to_string(), expected);
    let honoured = [(2, 1, 10, 20), (3, 2, 500, 0), (5, 6, 30, 0), (8, 1, 60, 0), (9, 8, 70, 0)];
    assert_eq!(follows(&workload, Dependencies::Honour), honoured);
    assert!(follows(&workload, Dependencies::Ignore).is_empty());
    // No wait time is known, so no recorded end is known.
    let chains = workload.links.chains(&workload.jobs, Dependencies::Shift);
    assert_eq!((chains.kept(), chains.ignored.no_end), (0, 5));
}

#[test]
fn shift_keeps_the_time_after_the_predecessors_end() {
    let swf = "; MaxProcs: 4\n1 0 10 90 1\n2 150 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 1 7\n\
               3 40 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 1 -1\n";
    let never = i64::MIN;
    // Job 1 ends at 100, and job 2 arrives 50 s after this end. Job 3 was submitted before job 1 ended.
    let shifted = [(2, 1, never, 50), (3, 1, never, 0)];
    assert_eq!(follows(&read(swf), Dependencies::Shift), shifted);
}

/// The log wagap-2013 has a 1 in fields 17 and 18 of every record.
#[test]
fn ignores_a_constant_field_17() {
    let record = |i: i64| format!("{i} {i} 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 1 1\n");
    let workload = read(&(1..=4).map(record).collect::<String>());
    let text = workload.report.dependencies.to_string();
    assert_eq!(
        text,
        "4 records with a preceding job, but the preceding job is 1 in all records (not meaningful); 4 with a think time"
    );
    assert!(follows(&workload, Dependencies::Honour).is_empty());
    let chains = workload.links.chains(&workload.jobs, Dependencies::Honour);
    assert!(
        chains
            .to_string()
            .ends_with("3 whose field 17 is the same in all records (see --deps force)")
    );
    assert_eq!(follows(&workload, Dependencies::Force).len(), 3);
}

#[test]
fn counts_ignored_dependencies() {
    // Cleaning drops job 1; jobs 3, 4 and 5 form a cycle, and job 6 follows job 5.
    let record = |i: i64, before: i64, size: i64| {
        format!("{i} {i} 0 5 {size} -1 -1 {size} -1 -1 1 1 1 -1 -1 -1 {before} 2\n")
    };
    let text: String = [(1, -1, 0), (2, 1, 1), (3, 5, 1), (4, 3, 1), (5, 4, 1), (6, 5, 1)]
        .map(|(i, before, size)| record(i, before, size))
        .concat();
    let workload = read(&text);
    let chains = workload.links.chains(&workload.jobs, Dependencies::Honour);
    assert_eq!((chains.ignored.dropped, chains.ignored.cycles), (1, 1));
    assert_eq!(
        chains.to_string(),
        "3 jobs follow others; ignored: 1 whose predecessor is not replayed, 1 that would close a cycle"
    );
    let numbers: Vec<_> =
        follows(&workload, Dependencies::Honour).iter().map(|f| (f.0, f.1)).collect();
    assert_eq!(numbers, [(3, 5), (4, 3), (6, 5)]);
}

/// Alea's workloads have several predecessors in field 17.
#[test]
fn jobs_may_have_several_predecessors() {
    let swf = "; MaxProcs: 4\n1 0 0 100 1\n2 0 10 300 1\n3 9 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 1&2&2&9 7\n\
               4 400 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1&3 -1\n5 1 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 1&5 -1\n";
    let workload = read(swf);
    let text = workload.report.dependencies.to_string();
    let expected = "3 records with a preceding job, 2 of these with several, in total 6 preceding jobs: 4 usable \
                    (4 earlier in the file, 0 later), 1 absent, 1 referring to itself; 1 with a think time";
    assert_eq!(text, expected);
    let honoured = [(3, 1, 9, 7), (3, 2, 9, 7), (4, 3, 400, 0), (5, 1, 1, 0)];
    assert_eq!(follows(&workload, Dependencies::Honour), honoured);
    assert_eq!(follows(&workload, Dependencies::Force), honoured);
    let never = i64::MIN;
    // Job 3 was submitted before its predecessors ended; job 4 was submitted 386 s after job 3 ended.
    let shifted = [(3, 1, never, 0), (3, 2, never, 0), (4, 3, never, 386), (5, 1, never, 0)];
    assert_eq!(follows(&workload, Dependencies::Shift), shifted);
    assert_eq!(workload.links.chains(&workload.jobs, Dependencies::Honour).kept(), 3);
}

#[test]
fn parses_rules_and_suggests_the_nearest_name() {
    for (name, rule) in Dependencies::ALL {
        assert_eq!((name.parse(), rule.name()), (Ok(rule), name));
    }
    assert_eq!("honor".parse(), Ok(Dependencies::Honour));
    let message = "shfit".parse::<Dependencies>().expect_err("no rule").to_string();
    assert!(message.ends_with("did you mean \"shift\"?"), "{message}");
}

proptest! {
    /// For any contents of field 17, no cycle remains, and every dependency is either kept or counted as ignored.
    #[test]
    fn removes_all_cycles(
        before in proptest::collection::vec(proptest::collection::vec(-1i64..12, 1..4), 1..12)
    ) {
        let record = |(i, before): (usize, &Vec<i64>)| {
            let before: Vec<String> = before.iter().map(i64::to_string).collect();
            format!("{} {i} 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 {} 2\n", i + 1, before.join("&"))
        };
        let workload = read(&before.iter().enumerate().map(record).collect::<String>());
        let chains = workload.links.chains(&workload.jobs, Dependencies::Force);
        let counts = &workload.report.dependencies;
        let kept = chains.follows.iter().flatten().count() as u64;
        prop_assert_eq!(counts.earlier + counts.later, kept + chains.ignored.cycles);
        // Jobs whose predecessors have been removed are removed, until only cycles are left.
        let mut left: Vec<usize> = (0..chains.follows.len()).collect();
        for _ in 0..before.len() {
            let open = left.clone();
            left.retain(|&at| chains.follows[at].iter().any(|f| open.contains(&f.job.index())));
        }
        prop_assert_eq!(left, Vec::<usize>::new());
    }
}
