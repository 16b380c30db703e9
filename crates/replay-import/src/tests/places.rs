//! Tests of jobs whose lists of nodes cannot be written to the nodes file: these jobs are kept.

use super::*;

#[test]
fn keeps_jobs_with_unreadable_lists_of_nodes() {
    let log = "JobID|Submit|Start|End|AllocNodes|State|NodeList\n\
               1|0|5|65|4|COMPLETED|n[1-4]\n\
               2|1|6|66|2|COMPLETED|n[1-\n\
               3|2|7|67|2|COMPLETED|n[0-9999999]\n\
               4|3|8|68|2|COMPLETED|n[0-9999999999]\n\
               5|4|9|69|2|COMPLETED|n[3,...\n\
               6|4|9|69|2|COMPLETED|None assigned\n";
    let made = made("sacct", log);
    assert_eq!((made.report.jobs, made.report.nodes), (6, 1));
    assert_eq!(made.nodes, "job,nodes\n1,\"n[1-4]\"\n");
    let shown = made.report.to_string();
    for words in [
        "noted     unreadable node list, omitted: 2, first in line 3",
        "noted     list of nodes longer than any machine allows, omitted: 2, first in line 4",
        "; 0 malformed",
    ] {
        assert!(shown.contains(words), "{words} not in\n{shown}");
    }
    assert!(!shown.contains("differs"), "{shown}");
}

/// Older versions of Slurm record a start for a job that was cancelled while it waited.
#[test]
fn recognises_jobs_cancelled_while_waiting() {
    let log = "JobID|Submit|Start|End|ElapsedRaw|AllocNodes|ReqNodes|State|NodeList\n\
               1|0|5|65|60|4|4|COMPLETED|n[1-4]\n\
               2|1|6|6|0|0|8|CANCELLED by 7|None assigned\n\
               3|1|6|6|0|2|2|CANCELLED by 7|n[1-2]\n\
               4|1|6|9|3|0|2|CANCELLED by 7|n[1-2]\n";
    let made = made("sacct", log);
    assert_eq!(jobs(&made)[1], [1, -1, 0, 8, -1, 5]);
    assert_eq!(jobs(&made)[2], [1, 5, 0, 2, -1, 5]);
    assert_eq!(made.report.count("never started"), 1);
    assert_eq!(made.report.count("size not positive"), 1);
}

#[test]
fn keeps_rows_with_unreadable_lists_of_nodes() {
    let map = "time = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\nnodes = 'w'\n";
    let log = "s,r,n,w\n1,5,2,\"a,b\"\n2,5,2,a[\n3,5,2,\"a[0-9999999]\"\n";
    let made = csv(map, log);
    assert_eq!((made.report.jobs, made.report.nodes), (3, 1));
    assert_eq!(made.report.count("unreadable node list, omitted"), 1);
    assert_eq!(made.report.count("list of nodes longer than any machine allows, omitted"), 1);
}

#[test]
fn reads_lists_of_nodes_in_python_notation() {
    let map = "separator = ';'\ntime = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\nnodes = 'w'\n";
    let log = "s;r;n;w\n1;5;2;[4, 17]\n2;5;2;['n1', 'n2']\n3;5;2;[1-2]\n4;5;1;[]\n5;5;2;n[1-2]\n";
    let made = csv(map, log);
    assert_eq!(made.nodes, "job,nodes\n1,\"4,17\"\n2,\"n1,n2\"\n3,\"1-2\"\n5,\"n[1-2]\"\n");
    assert_eq!(made.report.count("unreadable node list, omitted"), 0);
}

#[test]
fn refuses_invalid_headers() {
    let message = error("sacct", "7|0|5|65|4|COMPLETED\n");
    assert!(
        message.starts_with("log:1: this is not a header of sacct -P")
            && message.contains("sacct -n"),
        "{message}"
    );
    let map = "time = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\n";
    let failed = run(&how("csv", Some(map)), b"s;r;n\n1;5;2\n").err().expect("one column");
    let words = "log:1: the header has a single column, \"s;r;n\": the names are separated by another character";
    assert_eq!(failed.to_string(), words);
}

/// A Torque record with invalid hosts is kept if another field contains the size. If no other field contains the size,
/// the hosts are the only source of the size.
#[test]
fn keeps_torque_records_with_invalid_hosts_and_a_size() {
    let record = |more: &str| {
        format!(
            "03/01/2026 09:00:05;E;7.srv;user=a qtime=100 start=110 end=170 exec_host=/0+n2/0{more}\n\
             03/01/2026 09:00:05;E;8.srv;user=a qtime=100 start=110 end=170 exec_host=n1/0+n2/0\n"
        )
    };
    let made = made("torque", &record(" Resource_List.nodect=2"));
    assert_eq!((made.report.jobs, made.nodes.as_str()), (2, "job,nodes\n2,\"n1,n2\"\n"));
    assert_eq!(made.report.count("unreadable node list, omitted"), 1);
    assert!(error("torque", &record("")).contains("exec_host \"/0\": not a list of nodes"));
}
