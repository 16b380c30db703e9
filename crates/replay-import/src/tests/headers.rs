//! Tests of headers within a log, as in concatenated dumps.

use super::*;

const FIRST: &str = "JobID|Submit|Start|End|AllocNodes|State\n1|0|5|65|4|COMPLETED\n";

/// For each reason: the number of headers that were counted for this reason, and the line of the
/// first of them.
type Headers = Vec<(&'static str, u64, u64)>;

/// Returns submit time and size of each job, and the counts of headers.
fn imported(source: &str, map: Option<&str>, log: &str) -> (Vec<[i64; 2]>, Headers) {
    let made = run(&how(source, map), log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let passed = made.report.counts.iter().filter(|(key, _)| key.1.starts_with("header"));
    let passed = passed.map(|(key, count)| (key.1, count.count, count.first)).collect();
    assert_eq!(made.report.accounted(), made.report.lines);
    (jobs(&made).iter().map(|job| [job[0], job[3]]).collect(), passed)
}

const AGAIN: &str = "header, repeated";
const OTHER: &str = "header with other columns, used for the lines that follow";

#[test]
fn counts_repeated_headers() {
    let (jobs, passed) = imported("sacct", None, &[FIRST, FIRST, FIRST].concat());
    assert_eq!(jobs, [[0, 4]; 3]);
    assert_eq!(passed, [("header", 1, 1), (AGAIN, 2, 3)]);
    // In this log, every line ends with a delimiter.
    let trailing = FIRST.replace('\n', "|\n");
    assert_eq!(imported("sacct", None, &trailing.repeat(2)).1, [("header", 1, 1), (AGAIN, 1, 3)]);
}

#[test]
fn another_header_holds_for_the_following_lines() {
    let second = "State,AllocNodes,JobID,Start,User,Submit,End\nCOMPLETED,9,2,12,ann,10,70\n";
    let (jobs, passed) = imported("sacct", None, &[FIRST, second, FIRST].concat());
    assert_eq!(jobs, [[0, 4], [10, 9], [0, 4]]);
    assert_eq!(passed, [("header", 1, 1), (OTHER, 2, 3)]);
    let lacks = [FIRST, "JobID|Submit|Start|End|AllocNodes\n"].concat();
    assert!(error("sacct", &lacks).starts_with("log:3: there is no column \"State\""));
    // A line that resembles a header but is not a header is malformed.
    let word = [FIRST, "JobID|0|5|65|4|COMPLETED\n"].concat();
    assert!(error("sacct", &word).contains("not a job id"));
}

#[test]
fn handles_headers_within_tables() {
    let map = "time = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\n";
    let log = "s,r,n\n1,5,2\ns,r,n\n2,5,3\nn,more,r,s\n4,x,5,3\n";
    let (jobs, passed) = imported("csv", Some(map), log);
    assert_eq!(jobs, [[0, 2], [1, 3], [2, 4]]);
    assert_eq!(passed, [("header", 1, 1), (OTHER, 1, 5), (AGAIN, 1, 3)]);
    let failed = run(&how("csv", Some(map)), b"s,r,n\n1,5,2\ns,r,m\n").err().expect("no size");
    assert!(failed.to_string().starts_with("log:3: there is no column \"n\""), "{failed}");
    let dirlab = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n1,1,0,1,2,5,60,90,Pass\n";
    let (jobs, passed) = imported("dirlab", None, &dirlab.repeat(2));
    assert_eq!((jobs, passed), (vec![[0, 2], [5, 2]], vec![("header", 1, 1), (AGAIN, 1, 3)]));
    let rfold = "#job id,arrival time (sec),topology,shape,size,duration (sec)\n1,5,T2D,2x2,4,60\n";
    let (jobs, passed) = imported("rfold", None, &rfold.repeat(2));
    assert_eq!((jobs, passed), (vec![[0, 4]; 2], vec![("header", 1, 1), (AGAIN, 1, 3)]));
    let cobalt = "COBALT_JOBID,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,NODES_USED\n\
                  7,2026-03-01 08:00:00,2026-03-01 08:00:05,2026-03-01 08:01:05,4\n";
    assert_eq!(imported("cobalt", None, &cobalt.repeat(2)).1, [("header", 1, 1), (AGAIN, 1, 3)]);
}
