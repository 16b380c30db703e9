//! Tests of tables: notations of times, missing values, node lists, columns without a header, and job tables of
//! simulators.

use super::*;

const TIMES: &str =
    "[columns]\nid = 'id'\nsubmit = 'submit'\nstart = 'start'\nend = 'end'\nsize = 'n'\n";

#[test]
fn reads_dates_in_the_notation_of_the_map() {
    for (format, submit, start, end) in [
        ("%m/%d/%Y %H:%M:%S", "01/26/2016 00:00:37", "01/26/2016 00:01:00", "01/26/2016 00:59:59"),
        ("%d.%m.%Y %H:%M:%S", "26.01.2016 00:00:37", "26.01.2016 00:01:00", "26.01.2016 00:59:59"),
        (
            "%a %b %e %H:%M:%S %Y",
            "Tue Jan 26 00:00:37 2016",
            "Tue Jan 26 00:01:00 2016",
            "Tue Jan 26 00:59:59 2016",
        ),
        (
            "%m/%d/%y %I:%M:%S %p",
            "1/26/16 12:00:37 AM",
            "\"1/26/16 12:01:00 AM\"",
            "1/26/16 12:59:59 AM",
        ),
    ] {
        let map = format!("time = \"{format}\"\n{TIMES}");
        let made = csv(&map, &format!("id,submit,start,end,n\n1,{submit},{start},{end},4\n"));
        assert_eq!(jobs(&made), [[0, 23, 3539, 4, -1, -1]], "{format}");
        assert!(made.header.contains("; UnixStartTime: 1453766437\n"), "{}", made.header);
    }
    // A date in another notation is a malformed line; the other lines are read.
    let map = format!("time = '%d.%m.%Y %H:%M'\nzone = 'Europe/Prague'\n{TIMES}");
    let log = "id,submit,start,end,n\n1,2016-01-26,26.01.2016 00:01,26.01.2016 00:02,4\n\
               2,26.01.2016 00:00,26.01.2016 00:01,26.01.2016 00:03,4\n\
               3,27.03.2016 02:30,27.03.2016 03:30,27.03.2016 03:31,4\n";
    let made = run(&Import { max_errors: 2, ..how("csv", Some(&map)) }, log.as_bytes());
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(jobs(&made), [[0, 60, 120, 4, -1, -1]]);
    assert!(made.header.contains("; UnixStartTime: 1453762800\n"), "{}", made.header);
    assert_eq!(made.report.malformed[&Reason::NotATime].first, 2);
    assert_eq!(made.report.malformed[&Reason::Skipped].first, 4);
}

/// Rows of a dump of Slurm's database: time 0 has not happened, and 4294967295 is an unlimited time.
const DUMP: &str = "\
id_job,nodes_alloc,nodes_req,nodelist,state,time_submit,time_start,time_end,timelimit
1,1,1,['r9-n1'],3,1609459200,1609459260,1609462860,4320
2,2,2,\"['r9-n1', 'r9-n2']\",5,1609459200,1609459270,1609462860,4294967295
3,0,2,[],4,1609459200,0,1609459999,60
4,1,1,['r1-n1'],1,1609459200,1609459999,0,60
";

fn dump_map(keys: &str, start: &str, limit: &str, status: &str) -> String {
    format!(
        "time = 'unix'\n{keys}\n[columns]\nid = 'id_job'\nsubmit = 'time_submit'\nstart = {start}\n\
         end = {{ column = 'time_end', none = [0] }}\nsize = 'nodes_alloc'\nnodes = 'nodelist'\n\
         estimate = {{ column = 'timelimit', unit = 'minutes'{limit} }}\nstatus = {status}\n"
    )
}

#[test]
fn texts_for_missing_values_are_not_numbers() {
    let states = "{ column = 'state', ok = ['3'], failed = ['5'], cancelled = ['4'] }";
    let start = "{ column = 'time_start', none = ['0'] }";
    let limit = ", none = ['4294967295']";
    let made = csv(&dump_map("", start, limit, states), DUMP);
    assert_eq!(jobs(&made), [[0, 60, 3600, 1, 259_200, 1], [0, 70, 3590, 2, -1, 0]]);
    let count = |made: &Made, what: &str| made.report.count(what);
    assert_eq!(count(&made, "never started, and no requested size"), 1);
    assert_eq!(count(&made, "not ended when the log was written"), 1);
    assert_eq!(made.report.of(Class::Dropped), 2);
    // With a requested size, the job that never started is kept. Slurm's numbers of states may be used as states.
    let slurm = "{ column = 'state', slurm = true }\nrequested = 'nodes_req'";
    let made = csv(&dump_map("", start, limit, slurm), DUMP);
    assert_eq!(jobs(&made)[2], [0, -1, 0, 2, 3600, 5]);
    assert_eq!(
        (count(&made, "never started"), count(&made, "status that is not in the map")),
        (1, 0)
    );
    // A list for the table applies to all columns. A number matches in any notation; `null` is another word for `none`.
    let all = csv(&dump_map("null = ['4294967295.0', '0']", "'time_start'", "", states), DUMP);
    assert_eq!(jobs(&all)[1], [0, 70, 3590, 2, -1, 0]);
    assert_eq!(count(&all, "never started, and no requested size"), 1);
    // Without the setting, the report names the missing setting, and no number is made up.
    let made = csv(&dump_map("", "'time_start'", "", states), DUMP);
    assert_eq!(jobs(&made)[1][4], -1);
    assert_eq!(count(&made, "estimate of more than 10 years, treated as unknown"), 1);
    assert_eq!(count(&made, "a time of 0 stands for a missing time"), 1);
    assert!(made.report.to_string().contains("add none = [\"0\"]"), "{}", made.report);
}

#[test]
fn jobs_may_be_marked_as_running() {
    let map = "time = 'seconds'\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n\
               status = { column = 's', ok = ['done'], running = ['busy'] }\n";
    let made = csv(map, "t,r,n,s\n0,5,1,done\n1,5,1,busy\n2,5,1,\n3,5,1,odd\n");
    assert_eq!(jobs(&made).iter().map(|job| job[5]).collect::<Vec<_>>(), [1, -1, -1]);
    assert_eq!(made.report.count("not ended when the log was written"), 1);
    assert_eq!(made.report.count("status that is not in the map"), 1);
}

#[test]
fn node_sets_may_be_separated_by_blanks() {
    let map = "time = 'seconds'\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\nnodes = 'l'\n";
    for (list, written) in [
        ("1-2", "1-2"),
        ("0 3-5", "0,3-5"),
        ("\"0,3-5\"", "0,3-5"),
        ("\"0, 3-5\"", "0, 3-5"),
        ("\"0 ,3-5  7\"", "0,3-5,7"),
        ("39 58 59 60", "39,58,59,60"),
        ("n1 n[2-3 5]", ""),
        ("\"n1 n[2-3,5]\"", "n1,n[2-3,5]"),
        ("[0 3 4]", "0,3,4"),
        ("\"{1,2}\"", "1,2"),
        ("\"['a', 'b']\"", "a,b"),
        ("\"[1, 2]\"", "1,2"),
    ] {
        let made = csv(map, &format!("t,r,n,l\n0,5,4,{list}\n"));
        let expected = if written.is_empty() {
            "job,nodes\n".to_string()
        } else {
            format!("job,nodes\n1,\"{}\"\n", written.replace(", ", ","))
        };
        let found = made.nodes.replace(", ", ",");
        assert_eq!(found, expected, "{list}");
        let odd = made.report.count("unreadable node list, omitted");
        assert_eq!(odd, u64::from(written.is_empty()), "{list}");
    }
}

/// The names of columns may be given for a table without a header, also if its columns are separated by blanks.
#[test]
fn columns_may_be_given_for_tables_without_a_header() {
    for (separator, log) in [(",", "5,a,60,2\n7,b,61,3\n"), (" ", "5 a  60 2\n 7 b\t61 3\n")] {
        let map = format!(
            "time = 'seconds'\nseparator = '{separator}'\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n"
        );
        let import = Import { header: Some("t,x,r,n".to_string()), ..how("csv", Some(&map)) };
        let made = run(&import, log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(jobs(&made), [[0, -1, 60, 2, -1, -1], [2, -1, 61, 3, -1, -1]]);
        assert_eq!((made.report.lines, made.report.of(Class::Passed)), (2, 0));
    }
    for (source, log) in [("gwf", GWF), ("lsf", "x"), ("sge", "x"), ("torque", "x")] {
        let import = Import { header: Some("JobID,SubmitTime".to_string()), ..how(source, None) };
        let error = run(&import, log.as_bytes()).err().map(|error| error.to_string());
        assert!(error.unwrap_or_default().contains("has no columns"), "{source}");
    }
}

#[test]
fn lines_of_comments_are_not_rows() {
    let map = "time = 'seconds'\ncomment = '#'\nseparator = ' '\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n";
    let made = csv(map, "# made by hand\n t  r\tn \n#\n0 5   2\n 3\t6 4\n");
    assert_eq!(jobs(&made), [[0, -1, 5, 2, -1, -1], [3, -1, 6, 4, -1, -1]]);
    assert_eq!((made.report.count("comment"), made.report.count("header")), (2, 1));
}

const GWF: &str = "\
#
# 1 JobID
# 2 SubmitTime in seconds
#
1	1136070024	203761	138467	1	138371.0	98652	1	259200	-1	1	U1	G1	X1	Q1	-1	-1	-1	UNITARY	-1	-1	-1	-1	-1	-1	-1	-1	-1	-1
2 	 1136070690 	 -1 	 -1 	 -1 	 -1 	 -1 	 4 	 600 	 -1 	 5 	 U2 	 G1 	 X1 	 Q1 	 -1 	 -1 	 -1 	 UNITARY 	 -1 	 -1 	 -1 	 -1 	 -1 	 -1 	 -1 	 -1 	 -1 	 -1
3 1136070700 10 20.4 -1 -1 -1 8 -1 -1 0 U2 G2 X2 Q1
4 1136070800 10 -1 2 -1 -1 2 -1 -1 1 U2 G2 X2 Q1 -1 -1 -1 BoT 7 -1 -1 a:1,b:2 -1 -1 -1 -1 -1 -1 extra
5 1136070900 0 60 2
6 1136071000 0
";

#[test]
fn imports_the_grid_workloads_format() {
    let made = run(&Import { max_errors: 1, ..how("gwf", None) }, GWF.as_bytes());
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        jobs(&made),
        [
            [0, 203_761, 138_467, 1, 259_200, 1],
            [666, -1, 0, 4, 600, 5],
            [676, 10, 20, 8, -1, 0],
            [876, 0, 60, 2, -1, -1]
        ]
    );
    let report = &made.report;
    for (what, count) in [
        ("comment", 4),
        ("never started", 1),
        ("no allocated size; the requested size is used", 1),
        ("no run time", 1),
        ("record with another number of fields than the format; missing fields are unknown", 2),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    assert_eq!(report.malformed[&Reason::TooFewFields].first, 10);
    for line in ["; UnixStartTime: 1136070024\n", "; User: 2 U2\n", "; Queue: 1 Q1\n"] {
        assert!(made.header.contains(line), "{}", made.header);
    }
    // Times since the beginning of the log are not dates.
    let made = super::made("gwf", "1 0 5 60 4\n2 100 5 60 4\n");
    assert!(!made.header.contains("UnixStartTime"), "{}", made.header);
    assert_eq!(jobs(&made)[1], [100, 5, 60, 4, -1, -1]);
}

const BATSIM: &str = "\
job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
1,w0,p,0.000000,2,149.000000,1,COMPLETED_SUCCESSFULLY,0.000000,88.510000,88.510000,0,88.51,1,1-2,-1.0,\"\"
2,w0,p,4.709164,4,399.000000,0,COMPLETED_WALLTIME_REACHED,4.709164,265.800000,270.509164,0,265.8,1,0 3-5,-1.0,\"\"
3,w0,p,5.000000,9,100.000000,0,REJECTED,-1.000000,-1.000000,-2.000000,-1,-1,-1,,-1.0,\"\"
4,w0,p,6.000000,1,-1.000000,0,RUNNING,300.000000,-1.000000,-1.000000,-1,-1,-1,0,-1.0,\"\"
5,w0,p,7.000000,2,-1.000000,0,COMPLETED_KILLED,300.000000,20.000000,320.000000,293,313,15,7,-1.0,\"\"
";

#[test]
fn imports_tables_of_batsim() {
    let made = super::made("batsim", BATSIM);
    assert_eq!(
        jobs(&made),
        [
            [0, 0, 89, 2, 149, 1],
            [5, 0, 266, 4, 399, 0],
            [5, -1, 0, 9, 100, 5],
            [7, 293, 20, 1, -1, 5]
        ]
    );
    assert_eq!(made.nodes, "job,nodes\n1,\"1-2\"\n2,\"0,3-5\"\n4,\"7\"\n");
    assert_eq!(made.records[3].requested_processors, 2);
    assert_eq!(made.report.count("never started"), 1);
    assert_eq!(made.report.count("not ended when the log was written"), 1);
    assert!(!made.header.contains("UnixStartTime"), "{}", made.header);
    // Earlier versions have no final state and other names of columns.
    let old = "job_id,submission_time,requested_number_of_processors,requested_time,success,starting_time,finish_time,allocated_processors\n\
               1,0.0,2,149.0,1,0.0,88.5,0-1\n2,0.0,2,149.0,0,0.0,149.0,2 3\n";
    let made = super::made("batsim", old);
    assert_eq!(jobs(&made), [[0, 0, 89, 2, 149, 1], [0, 0, 149, 2, 149, 0]]);
    let error = error("batsim", "job_id,time\n1,2\n");
    assert!(error.contains("there is no column \"submission_time\""), "{error}");
}

#[test]
fn imports_tables_of_evalys() {
    let header = "jobID,submission_time,requested_number_of_processors,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_processors\n";
    let rows = "228,1497296309.0,8,300.0,1,1497296310.0,173.0,1497296483.0,1.0,174.0,1.0,-1,10 9 16 13 15 12 14 11\n\
                248,1497297017.0,4,300.0,0,1497297523.0,173.0,1497297696.0,506.0,679.0,3.9,-1,102 98 103 100\n\
                249,1497297018.0,4,300.0,0,nan,nan,nan,nan,nan,nan,-1,\n";
    let made = super::made("evalys", &format!("{header}{rows}"));
    assert_eq!(
        jobs(&made),
        [[0, 1, 173, 8, 300, 1], [708, 506, 173, 4, 300, 0], [709, -1, 0, 4, 300, 5]]
    );
    assert_eq!(made.nodes, "job,nodes\n1,\"10,9,16,13,15,12,14,11\"\n2,\"102,98,103,100\"\n");
    assert!(made.header.contains("; UnixStartTime: 1497296309\n"), "{}", made.header);
    let simulated = rows.replace("14972", "");
    let made = super::made("evalys", &format!("{header}{simulated}"));
    assert!(!made.header.contains("UnixStartTime"), "{}", made.header);
    assert_eq!(jobs(&made)[0], [0, 1, 173, 8, 300, 1]);
}
