//! Lists of nodes that no side file can tell of: their jobs are kept.

use super::*;

#[test]
fn a_job_outlives_its_list_of_nodes() {
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
        "noted     list of nodes that cannot be read, left out: 2, first in line 3",
        "noted     list of more nodes than a machine has, left out: 2, first in line 4",
        "; 0 malformed",
    ] {
        assert!(shown.contains(words), "{words} not in\n{shown}");
    }
    assert!(!shown.contains("unlike"), "{shown}");
}

/// Older versions of Slurm tell a start of a job that was cancelled while it waited.
#[test]
fn cancelled_while_it_waited() {
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
fn nor_does_it_need_one_in_a_table() {
    let map = "time = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\nnodes = 'w'\n";
    let log = "s,r,n,w\n1,5,2,\"a,b\"\n2,5,2,a[\n3,5,2,\"a[0-9999999]\"\n";
    let made =
        run(&how("csv", Some(map)), log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((made.report.jobs, made.report.nodes), (3, 1));
    assert_eq!(made.report.count("list of nodes that cannot be read, left out"), 1);
    assert_eq!(made.report.count("list of more nodes than a machine has, left out"), 1);
}

#[test]
fn lists_as_programs_write_them() {
    let map = "separator = ';'\ntime = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\nnodes = 'w'\n";
    let log = "s;r;n;w\n1;5;2;[4, 17]\n2;5;2;['n1', 'n2']\n3;5;2;[1-2]\n4;5;1;[]\n5;5;2;n[1-2]\n";
    let made =
        run(&how("csv", Some(map)), log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(made.nodes, "job,nodes\n1,\"4,17\"\n2,\"n1,n2\"\n3,\"1-2\"\n5,\"n[1-2]\"\n");
    assert_eq!(made.report.count("list of nodes that cannot be read, left out"), 0);
}

#[test]
fn headers_that_are_none() {
    let told = error("sacct", "7|0|5|65|4|COMPLETED\n");
    assert!(
        told.starts_with("log:1: this is no header of sacct -P") && told.contains("sacct -n"),
        "{told}"
    );
    let map = "time = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\n";
    let failed = run(&how("csv", Some(map)), b"s;r;n\n1;5;2\n").err().expect("one column");
    let words =
        "log:1: there is one column, \"s;r;n\": what stands between names is another character";
    assert_eq!(failed.to_string(), words);
}

/// Of a record of Torque the hosts may be the only thing that tells the size.
#[test]
fn nor_in_a_record_that_tells_the_size() {
    let record = |more: &str| {
        format!(
            "03/01/2026 09:00:05;E;7.srv;user=a qtime=100 start=110 end=170 exec_host=/0+n2/0{more}\n\
             03/01/2026 09:00:05;E;8.srv;user=a qtime=100 start=110 end=170 exec_host=n1/0+n2/0\n"
        )
    };
    let made = made("torque", &record(" Resource_List.nodect=2"));
    assert_eq!((made.report.jobs, made.nodes.as_str()), (2, "job,nodes\n2,\"n1,n2\"\n"));
    assert_eq!(made.report.count("list of nodes that cannot be read, left out"), 1);
    assert!(error("torque", &record("")).contains("exec_host \"/0\": not a list of nodes"));
}
