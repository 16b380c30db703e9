//! Numbers of 32 bits that stand for unknown values, and numbers that are cut or grouped.

use super::*;

const NOT_SET: [&str; 3] = ["2147483647", "4294967294", "4294967295"];

fn csv(time: &str, columns: &str, log: &str) -> Made {
    let names = columns.split(',').map(|name| format!("{name} = '{name}'\n")).collect::<String>();
    let map = format!("time = '{time}'\n[columns]\n{names}");
    let log = format!("{columns}\n{log}");
    run(&how("csv", Some(&map)), log.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the wait, the run time and the size of each job.
fn values(made: &Made) -> Vec<[i64; 3]> {
    jobs(made).iter().map(|job| [job[1], job[2], job[3]]).collect()
}

#[test]
fn durations_and_sizes_that_are_not_set_are_no_numbers() {
    for value in NOT_SET {
        let log = format!("1,0,5,{value},4\n2,10,{value},10,4\n3,20,5,10,{value}\n4,30,5,10,4\n");
        let made = csv("seconds", "id,submit,wait,run,size", &log);
        assert_eq!(values(&made), [[5, 10, 4]], "{value}");
        assert_eq!(made.report.count("run time or wait of more than 10 years"), 2);
        assert_eq!(made.report.count("no size"), 1);
        let log = format!("1,0,5,10,{value},3\n2,0,5,10,4,{value}\n");
        let made = csv("seconds", "id,submit,wait,run,size,requested", &log);
        assert_eq!(values(&made), [[5, 10, 3], [5, 10, 4]], "{value}");
        assert_eq!(made.report.count("no allocated size; the requested size is used"), 1);
    }
}

#[test]
fn times_that_are_not_set_have_not_happened() {
    for value in NOT_SET {
        let log = format!(
            "1,1700000000,{value},1700000100,4\n2,1700000000,1700000010,{value},4\n\
             3,1700000000,1700000010,1700000100,4\n"
        );
        let made = csv("unix", "id,submit,start,end,size", &log);
        assert_eq!(values(&made), [[10, 90, 4]], "{value}");
        let zero = csv("unix", "id,submit,start,end,size", &log.replace(value, "0"));
        assert_eq!(made.report.to_string(), zero.report.to_string());
        let log = format!(
            "JobID|Submit|Start|End|State|AllocNodes\n1|1700000000|{value}|1700000100|COMPLETED|2\n\
             2|1700000000|1700000010|{value}|COMPLETED|2\n3|1700000000|1700000010|1700000100|COMPLETED|2\n"
        );
        assert_eq!(values(&super::made("sacct", &log)), [[10, 90, 2]], "{value}");
        let pbs = format!(
            "11/15/2017 01:23:58;E;1.s;ctime=1510709028 start=1510709630 end={value} Resource_List.nodect=2\n\
             11/15/2017 01:23:58;E;2.s;ctime=1510709028 start=1510709630 end=1510709930 Resource_List.nodect={value}\n\
             11/15/2017 01:23:58;E;3.s;ctime=1510709028 start=1510709630 end=1510709930 Resource_List.nodect={value} exec_host=a/0+b/0\n"
        );
        let made = super::made("torque", &pbs);
        assert_eq!(values(&made), [[602, 300, 2]], "{value}");
        assert_eq!(made.report.count("neither end nor run time"), 1);
        assert_eq!(made.report.count("no size"), 1);
    }
}

/// A comma before digits can separate thousands; the number before it is not the value.
#[test]
fn grouped_numbers_are_not_cut_at_the_comma() {
    for pair in [
        "Resource_List.nodect=1,024",
        "Resource_List.nodect=1;024",
        "Resource_List.nodect=1, 024",
        "Resource_List.nodect=1'024",
        "Resource_List.nodes=1,024",
        "Resource_List.nodes=1.5",
        "unique_node_count=2,147",
    ] {
        let log = format!("11/15/2017 01:23:58;E;1.s;ctime=100 start=110 end=160 {pair}\n");
        assert!(error("torque", &log).contains("not a number"), "{pair}");
    }
}

/// A record that is cut after its id is malformed; it does not belong to the text of the record before it.
#[test]
fn a_cut_record_is_not_the_text_of_the_record_before() {
    let header = "JobID|AllocNodes|Submit|Start|End|State|JobName\n";
    let record = |id: u32| {
        format!("{id}|5|2024-05-01T10:00:00|2024-05-01T10:01:00|2024-05-01T11:00:00|COMPLETED|a\n")
    };
    for cut in ["7|2", "7|", "7_1|2|2024", "7.batch|2"] {
        let log = format!("{header}{}{cut}\n{}", record(6), record(8));
        let made = run(&Import { max_errors: 1, ..how("sacct", None) }, log.as_bytes());
        let made = made.unwrap_or_else(|error| panic!("{cut}: {error}"));
        assert_eq!(
            (
                made.report.jobs,
                made.report.malformed.values().map(|count| count.count).sum::<u64>()
            ),
            (2, 1),
            "{cut}"
        );
    }
    for text in ["line 2", "7", "seven|2", "7.5 GB|2"] {
        let log = format!("{header}{}{text}\n{}", record(6), record(8));
        assert_eq!(super::made("sacct", &log).report.jobs, 2, "{text}");
    }
}
