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

/// Every source with times or sizes as numbers follows the same rules.
#[test]
fn every_source_has_the_rules_for_numbers_that_are_not_set() {
    let sge = |start: &str, end: &str, slots: &str| {
        format!(
            "all.q:n1:phys:ann:job.sh:41:sge:0:1772352000:{start}:{end}:0:0:3600:1.5:0.2:99104.0:0:0:0:0:1957:15:0:48.0:\
             20:0:0:0:151:47:NONE:defaultdepartment:NONE:{slots}:0:50.7:4.4:0.3:-u ann:0.0:NONE:5944487936.0:0:0\n"
        )
    };
    let gwf = |wait: &str, run: &str, size: &str, asked: &str| {
        format!(
            "1 1108771200 {wait} {run} {size} -1 -1 {asked} 900 -1 1 U1 G1 -1 Q1 P1{}\n",
            " -1".repeat(13)
        )
    };
    for value in NOT_SET {
        let sge = |start, end, slots| {
            super::made("sge", &(sge(start, end, slots) + &sge("1772352020", "1772352030", "7")))
        };
        let (start, end) = ("1772352010", "1772355610");
        assert_eq!(values(&sge(start, end, "8")), [[10, 3600, 8], [20, 10, 7]]);
        assert_eq!(sge(start, end, value).report.count("no size"), 1, "{value}");
        assert_eq!(sge(start, value, "8").report.count("neither end nor run time"), 1, "{value}");
        assert_eq!(sge(value, end, "8").report.count("never started"), 1, "{value}");
        let gwf = |wait, run, size, asked| {
            super::made("gwf", &(gwf(wait, run, size, asked) + &gwf("1", "2", "7", "7")))
        };
        let long = "run time or wait of more than 10 years";
        assert_eq!(values(&gwf("5", "60", "4", "4")), [[5, 60, 4], [1, 2, 7]]);
        assert_eq!(gwf("5", value, "4", "4").report.count(long), 1, "{value}");
        assert_eq!(gwf(value, "60", "4", "4").report.count(long), 1, "{value}");
        assert_eq!(values(&gwf("5", "60", value, "3")), [[5, 60, 3], [1, 2, 7]], "{value}");
    }
}

#[test]
fn lsf_reads_neither_numbers_that_are_not_set_nor_grouped_numbers() {
    let record = super::accounting::record;
    let ran = record("1", [100, 160, 760], "2 \"16*a\" \"16*b\"", 64, 0, 0);
    // The job was killed before it started.
    let killed = record("2", [300, 0, 400], "0", 32, 14, 0);
    for value in NOT_SET {
        let unknown = killed.replace("33554438 4 ", &format!("33554438 {value} "));
        for source in ["lsf", "lsf[size=nodes]"] {
            let made = made(source, &(ran.clone() + &killed));
            assert_eq!(made.report.jobs, 2);
        }
        let made = made("lsf[size=nodes]", &(ran.clone() + &unknown));
        assert_eq!(made.report.jobs, 1, "{}", made.report);
        assert_eq!(made.report.count("never started, and no requested size"), 1);
        let unknown = killed.replace(" 0 0 0 \"ann\"", &format!(" 0 0 {value} \"ann\""));
        assert_eq!(super::made("lsf", &(ran.clone() + &unknown)).report.count("never started"), 1);
        let unknown = ran.replace(" 760 1 ", &format!(" {value} 1 "));
        assert!(error("lsf", &unknown).contains("event time"), "{value}");
    }
    let grouped = error("lsf", &ran.replace("16*a", "1,024*a"));
    assert!(grouped.contains("execHosts \"1,024*a\": not a list of nodes"), "{grouped}");
}
