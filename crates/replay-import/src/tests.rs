//! Tests of every kind of log. The logs are small and were written for these tests.

mod accounting;
mod counted;
mod damaged;
mod headers;
mod not_set;
mod places;
mod slurm;
mod tables;
mod torque;

use proptest::prelude::*;

use super::*;
use replay_workload::swf::{Reader, Record};

const SACCT: &str = "\
JobID|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|TimelimitRaw|AllocNodes|ReqNodes|AllocCPUS|NodeList|State
11|ann|phys|batch|2026-03-01T08:00:00|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|01:00:00|02:00:00|120|4|4|256|n[001-004]|COMPLETED
11.batch|||||2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|01:00:00|||1|1|64|n001|COMPLETED
11.0|||||2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|01:00:00|||4|4|256|n[001-004]|COMPLETED
12|bob|chem|batch|2026-03-01T08:02:00|2026-03-01T08:02:00|Unknown|2026-03-01T08:40:00|00:00:00|00:10:00||0|8|0|None assigned|CANCELLED by 2017
13_1|cid|bio|fast|2026-03-01T08:03:00|2026-03-01T08:03:00|2026-03-01T08:03:02|2026-03-01T08:13:02|00:10:00|2-12||2|2|64|n[5-6],m1|TIMEOUT
13_[3-6%2]|cid|bio|fast|2026-03-01T08:03:00|2026-03-01T08:03:00|Unknown|Unknown|00:00:00|00:20:00|20|0|1|0|None assigned|PENDING
14+0|ann|phys|batch|2026-03-01T07:59:00|2026-03-01T10:00:00|2026-03-01T10:00:04|2026-03-01T12:00:04|02:00:00|UNLIMITED||2|2|128|n[001-002]|PREEMPTED
15|ann|phys|batch|2026-03-01T08:10:00|2026-03-01T08:10:00|2026-03-01T13:00:00|Unknown|00:50:00|04:00:00|240|1|1|64|n001|RUNNING
16|bob|chem|batch|2026-03-01T08:12:00|2026-03-01T08:12:00|2026-03-01T08:11:00|2026-03-01T09:00:00|00:49:00|90|90|1|1|64|n003|FAILED
17|bob|chem|batch|2026-03-01T08:13:00|2026-03-01T08:13:00|2026-03-01T14:06:00|2026-03-01T14:07:00|00:01:00|01:30|1|1|1|64|n003|ODD_END
17|bob|chem|batch|2026-03-01T14:08:00|2026-03-01T14:08:00|2026-03-01T14:10:00|2026-03-01T14:20:00|00:10:00|01:30|1|1|1|64|n004|COMPLETED
";

/// The result of an import: the header and the records of the trace, the other output files, and the report.
pub(super) struct Made {
    pub header: String,
    pub records: Vec<Record>,
    pub nodes: String,
    shapes: String,
    ids: String,
    pub report: Report,
}

pub(super) fn how(source: &str, map: Option<&str>) -> Import {
    let map = map.map(|text| ColumnMap::parse(text, "map.toml").expect("a map"));
    Import { map, ..Import::new(source.parse().expect("a source"), "log") }
}

/// Removes the last line, which names the trace, from an output file other than the trace.
fn rows(text: Vec<u8>, swf: &[u8]) -> String {
    let last = format!("# trace blake3:{}\n", blake3::hash(swf).to_hex());
    let text = String::from_utf8(text).expect("text");
    text.strip_suffix(&last).expect("a line that names the trace").to_string()
}

pub(super) fn run(how: &Import, log: &[u8]) -> Result<Made, ImportError> {
    let (mut swf, mut nodes, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let mut ids = Vec::new();
    let outputs = Outputs {
        swf: &mut swf,
        nodes: Some(&mut nodes),
        shapes: Some(&mut shapes),
        ids: Some(&mut ids),
    };
    let report = import(log, how, outputs)?;
    assert_eq!(report.accounted(), report.lines, "every line is in one count: {report}");
    let mut reader = Reader::new(swf.as_slice(), "made.swf");
    let records = reader.records().map(|record| record.expect("what was written").1).collect();
    let header = String::from_utf8(reader.header().raw().to_vec()).expect("text");
    let beside = [nodes, shapes, ids].map(|text| rows(text, &swf));
    let [nodes, shapes, ids] = beside;
    Ok(Made { header, records, nodes, shapes, ids, report })
}

fn made(source: &str, log: &str) -> Made {
    run(&how(source, None), log.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn csv(map: &str, log: &str) -> Made {
    run(&how("csv", Some(map)), log.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns submit time, wait, run time, size, estimate and status of every job.
pub(super) fn jobs(made: &Made) -> Vec<[i64; 6]> {
    let job = |r: &Record| {
        let times = [r.submit_time, r.wait_time, r.run_time].map(|time| time as i64);
        let [submit, wait, run] = times;
        [submit, wait, run, r.allocated_processors, r.requested_time as i64, r.status]
    };
    made.records.iter().map(job).collect()
}

fn error(source: &str, log: &str) -> String {
    match run(&how(source, None), log.as_bytes()) {
        Ok(_) => panic!("it is imported: {log}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn imports_sacct_line_by_line() {
    let made = made("sacct", SACCT);
    // The part of the heterogeneous job has the earliest submit time, one minute before the submit time of the job in
    // the first line.
    assert_eq!(
        jobs(&made),
        [
            [60, 5, 3600, 4, 7200, 1],
            [180, -1, 0, 8, 600, 5],
            [240, 2, 600, 2, 216_000, 0],
            [0, 7264, 7200, 2, -1, 2],
            [840, 21_180, 60, 1, 60, 0],
            [22_140, 120, 600, 1, 60, 1],
        ]
    );
    let first = &made.records[0];
    assert_eq!((first.user, first.group, first.queue, first.partition), (1, 1, 1, -1));
    assert_eq!((made.records[2].user, made.records[2].queue), (3, 2));
    for line in ["; UnixStartTime: 1772351940\n", "; User: 2 bob\n", "; Queue: 2 fast\n"] {
        assert!(made.header.contains(line), "{}", made.header);
    }
    let nodes =
        "job,nodes\n1,\"n[001-004]\"\n3,\"n[5-6],m1\"\n4,\"n[001-002]\"\n5,\"n003\"\n6,\"n004\"\n";
    assert_eq!(made.nodes, nodes);
    let shown = made.report.to_string();
    for words in [
        "log: 12 lines, 6 jobs kept; 3 dropped; 3 that are not jobs; 0 malformed",
        "noted     never started: 1, first in line 5",
        "noted     task of an array: 1, first in line 6",
        "noted     length of the node list differs from the number of nodes: 1, first in line 6",
        "noted     part of a heterogeneous job: 1, first in line 8",
        "noted     repeated job id, kept: 1, first in line 12",
        "noted     unknown state, treated as failed: 1, first in line 11",
        "dropped   not ended when the log was written: 1, first in line 9\n            hint: export the log again",
        "dropped   array of tasks that did not start: 1, first in line 7",
        "dropped   started before it was submitted: 1, first in line 10",
        "not a job step of a job: 2, first in line 3",
        "noted     tasks of arrays that did not start: 4, first in line 7",
        "not a job header: 1, first in line 1",
    ] {
        assert!(shown.contains(words), "{words} not in\n{shown}");
    }
}

#[test]
fn imports_sacct_by_its_parameters() {
    let sizes = |made: &Made| jobs(made).iter().map(|job| job[3]).collect::<Vec<_>>();
    let cores = SACCT.replace("AllocNodes|ReqNodes|AllocCPUS", "AllocNodes|ReqCPUS|AllocCPUS");
    assert_eq!(sizes(&made("sacct[size=cores]", &cores)), [256, 8, 64, 128, 64, 64]);
    let eligible = made("sacct[submit=eligible]", SACCT);
    assert_eq!(jobs(&eligible)[3], [7200, 4, 7200, 2, -1, 2]);
    assert_eq!(
        eligible.report.count("submission moved to the time at which the job became eligible"),
        1
    );
    let running = made("sacct[running=yes]", SACCT);
    assert_eq!(jobs(&running)[4], [660, 17_400, 3000, 1, 14_400, -1]);
    let zoned = made("sacct[zone=+01:00]", SACCT);
    assert!(zoned.header.contains("; UnixStartTime: 1772348340\n"), "{}", zoned.header);
    assert_eq!(jobs(&zoned), jobs(&made("sacct", SACCT)));
}

/// The job runs on the day on which summer time ends in Prague. The time from 02:30 to 03:30 can be one hour or two
/// hours; the elapsed time determines which of the two is used.
#[test]
fn the_elapsed_time_of_sacct_determines_the_hour() {
    let log = |raw: &str, elapsed: &str| {
        format!(
            "JobID|Submit|Start|End|ElapsedRaw|Elapsed|AllocNodes|State\n\
             1|2024-10-27T02:20:00|2024-10-27T02:30:00|2024-10-27T03:30:00|{raw}|{elapsed}|4|COMPLETED\n"
        )
    };
    let made = |raw, elapsed| made("sacct[zone=Europe/Prague]", &log(raw, elapsed));
    for (raw, elapsed, wait, run) in [
        ("3600", "01:00:00", 4200, 3600),
        ("7200", "02:00:00", 600, 7200),
        ("", "01:00:00", 4200, 3600),
        ("", "", 600, 7200),
    ] {
        let made = made(raw, elapsed);
        assert_eq!(jobs(&made), [[0, wait, run, 4, -1, 1]], "{raw} {elapsed}");
        assert_eq!(made.report.count(super::entry::noted::ELAPSED), 0);
    }
}

/// The log has another delimiter, a delimiter at the end of every line, or delimiters in job names.
#[test]
fn imports_sacct_with_other_delimiters() {
    let expected = jobs(&made("sacct", SACCT));
    for delimiter in [";", "^", "\t"] {
        assert_eq!(jobs(&made("sacct", &SACCT.replace('|', delimiter))), expected);
    }
    assert_eq!(jobs(&made("sacct", &SACCT.replace('\n', "|\n"))), expected);
    assert_eq!(jobs(&made("sacct", &SACCT.replace('\n', "\r\n"))), expected);
    let named = |line: &str| format!("JobID|JobName|Submit|Start|End|NNodes|State\n{line}\n");
    let times = "2026-03-01T08:00:00|1772352005|1772352065";
    let log = named(&format!("5|a|b \"|c|{times}|3|COMPLETED"));
    assert_eq!(jobs(&made("sacct", &log)), [[0, 5, 60, 3, -1, 1]]);
    let log = named(&format!("5|a|{times}|3|COMPLETED|x")).replace("JobName", "Comment");
    assert!(error("sacct", &log).contains("too many fields"), "{}", error("sacct", &log));
}

#[test]
fn errors_name_line_and_column() {
    for (log, words) in [
        (
            SACCT.replace("08:12:00|2026", "08:62:00|2026"),
            "log:10:19: Submit \"2026-03-01T08:62:00\": not a time",
        ),
        (SACCT.replace("13_1|", "x13|"), "log:6:1: JobID \"x13\": not a job id"),
        (SACCT.replace("|90|90|1|", "|9O|90|x|"), "AllocNodes \"x\": not a number"),
        (SACCT.replace("|UNLIMITED||2|", "|SOME||2|"), "Timelimit \"SOME\": not a duration"),
        (SACCT.replace("JobID", "Job"), "log:1: there is no column \"JobID\" (is it \"Job\"?)"),
        (
            SACCT.replace("End|Elapsed", "Fin|Lapse"),
            "none of the columns End, ElapsedRaw and Elapsed",
        ),
        ("x\n".to_string(), "this is not a header of sacct -P"),
        (String::new(), "there is no header line"),
        ("PAR1\0\0".to_string(), "this is Parquet"),
        ("JobID|Submit|Start|End|NNodes|State\n".to_string(), "no job in the log"),
    ] {
        let error = error("sacct", &log);
        assert!(error.contains(words), "{words} not in\n{error}");
    }
    let caret = error("sacct", &SACCT.replace("13_1|", "x13|"));
    let hint = "\n    | ^^^\nhint: check the job id in this line; --max-errors N skips up to N malformed lines";
    assert!(caret.ends_with(hint), "{caret}");
}

#[test]
fn skips_malformed_lines_up_to_a_limit() {
    let log = SACCT.replace("13_1|", "x13|").replace("|FAILED", "") + "oh\n";
    let limited = |max_errors| run(&Import { max_errors, ..how("sacct", None) }, log.as_bytes());
    let made = limited(3).unwrap_or_else(|error| panic!("{error}"));
    let shown = made.report.to_string();
    let words = "malformed not a job id: 1, first in line 6\n            hint: check the job id";
    assert!(shown.contains(words), "{shown}");
    assert!(shown.contains("malformed too few fields: 2, first in line 10"), "{shown}");
    assert_eq!(made.report.jobs, 5);
    let error = limited(2).err().map(|error| error.to_string()).unwrap_or_default();
    let words = [
        "log: reading stopped after 3 malformed lines (at most 2 allowed)\n",
        "first: log:6:1: JobID",
    ];
    assert!(words.iter().all(|words| error.contains(words)), "{error}");
}

const COBALT: &str = "\
JOB_NAME,COBALT_JOBID,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,NODES_USED,NODES_REQUESTED,LOCATION,EXIT_STATUS
\"a,b\",40.00000,2015-01-01 00:00:00.000000,2015-01-01 01:06:41.000000,2015-01-01 01:29:54.000000,47,short,21600.0,512.0,512.0,MIR-04880-37BB1-512,143
c,41.00000,2015-01-01 00:11:40.000000,2015-01-01 00:38:33.000000,2015-01-01 01:28:14.000000,25,short,7200.0,1024.0,924.0,MIR-048C0-77BF1-1024,0
d,41.00000,2015-01-01 00:11:40.000000,2015-01-01 00:38:33.000000,2015-01-01 01:28:14.000000,25,short,7200.0,512.0,512.0,MIR-04880-37BB1-513,0
e,42.00000,2015-01-01 00:11:40.000000,2015-01-01 00:38:33.000000,2015-01-01 01:28:14.000000,25,short,,129,,\"0-127,256\",0
f,43.00000,2015-01-01 00:11:40.000000,2015-01-01 00:38:33.000000,2015-01-01 01:28:14.000000,25,short,,512,,MIR-UNKNOWN,0
";

#[test]
fn imports_cobalt_with_boxes() {
    let made = made("cobalt", COBALT);
    assert_eq!(jobs(&made)[0], [0, 4001, 1393, 512, 21_600, 0]);
    assert_eq!(jobs(&made)[3], [700, 1613, 2981, 129, -1, 1]);
    assert_eq!(made.records[1].requested_processors, 924);
    let nodes = "job,nodes\n1,\"A0-3 B4-7 C8-11 D8-11 E0-1\"\n2,\"A0-7 B4-7 C8-11 D12-15 E0-1\"\n4,\"0-127,256\"\n";
    assert_eq!(made.nodes, nodes);
    assert_eq!(made.report.count("impossible location, omitted"), 1);
    assert_eq!(made.report.count("repeated job id, kept"), 1);
    assert_eq!(made.report.count("no location"), 1);
    let error = error("cobalt", &COBALT.replace("2015-01-01 01:06:41", "2015-01-32 01:06:41"));
    assert!(error.contains("log:2:43: START_TIMESTAMP \"2015-01-32"), "{error}");
    let open = COBALT.replace("\"a,b\"", "\"a,b");
    assert!(super::tests::error("cobalt", &open).contains("unclosed quote"));
}

#[test]
fn parses_locations_of_cobalt() {
    use super::cobalt::{Location, location};
    let ranges = |text: &str| match location(text) {
        Location::Torus(ranges) => Some(ranges),
        _ => None,
    };
    // The box wraps around the side of dimension A: 6 to 1 stands for 6, 7, 0, 1.
    let wrapped = Some([(6, 1), (0, 3), (0, 3), (0, 3), (0, 1)]);
    assert_eq!(ranges("MIR-60000-13331-512"), wrapped);
    assert_eq!(ranges("MIR-00000-7BFF1-49152"), Some([(0, 7), (0, 11), (0, 15), (0, 15), (0, 1)]));
    for odd in [
        "MIR-00000-33331-511",
        "MIR-0000-3333-256",
        "MIR-00000-8BFF1-55296",
        "OTH-60000-13331-512",
        "x",
    ] {
        assert_eq!(location(odd), Location::Odd, "{odd}");
    }
}

#[test]
fn imports_sacct_without_an_end() {
    let row = |state: &str, elapsed: &str| {
        format!(
            "JobID|Submit|Start|End|ElapsedRaw|AllocNodes|State\n1|100|110|160|50|2|COMPLETED\n\
             2|100|120|Unknown|{elapsed}|2|{state}\n"
        )
    };
    let made = made("sacct", &row("COMPLETED", "70"));
    assert_eq!(jobs(&made), [[0, 10, 50, 2, -1, 1], [0, 20, 70, 2, -1, 1]]);
    assert_eq!(
        made.report.count("end computed from the elapsed time, because the log has no end"),
        1
    );
    for (state, elapsed) in [("COMPLETED", ""), ("RUNNING", "70"), ("SUSPENDED", "70")] {
        let made = super::tests::made("sacct", &row(state, elapsed));
        assert_eq!(jobs(&made).len(), 1, "{state}");
        assert_eq!(made.report.count("not ended when the log was written"), 1, "{state}");
    }
}

/// Submit times follow from intervals, and shapes are kept if they match the size.
#[test]
fn imports_dirlab_and_rfold() {
    let dirlab = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n\
                  0,1,0,64,2,0,233.4,43200,Pass\n9,2,0,64,1,10,18.5,0,Killed\n3,1,0,64,1,5,7,60,Failed\n";
    let made = super::tests::made("dirlab", dirlab);
    assert_eq!(
        jobs(&made),
        [[0, -1, 233, 2, 43_200, 1], [10, -1, 19, 1, -1, 5], [15, -1, 7, 1, 60, 0]]
    );
    assert!(!made.header.contains("UnixStartTime"), "{}", made.header);
    let rfold = "#job id,arrival time (sec),topology,shape,size,duration (sec)\n\
                 0,5.0,T3D_NT,8x8x8,512,2610.0\n1,26.0,T2D,4x4,16,2.0\n2,30.0,CLOS,0.46,0.46,120.0\n3,31,T2D,4x4,15,1\n";
    let made = super::tests::made("rfold", rfold);
    assert_eq!(
        jobs(&made),
        [[0, -1, 2610, 512, -1, -1], [21, -1, 2, 16, -1, -1], [26, -1, 1, 15, -1, -1]]
    );
    assert_eq!(made.shapes, "job,w,h,d\n1,8,8,8\n2,4,4,1\n");
    assert_eq!(made.report.count("size with a fraction"), 1);
    assert_eq!(made.report.count("shape does not match the size, omitted"), 1);
    let up = super::tests::made("rfold[round-up=yes]", rfold);
    assert_eq!((jobs(&up)[2], up.report.of(Class::Dropped)), ([25, -1, 120, 1, -1, -1], 0));
}

const TORQUE: &str = "\
03/18/2017 00:00:00;Q;70.bw;queue=normal
03/18/2017 00:05:22;S;70.bw;user=ann queue=normal qtime=1000 start=1322
03/18/2017 00:46:07;E;70.bw;user=ann group=g queue=normal ctime=999 qtime=1000 etime=1100 start=1322 exec_host=26/0+26/1+27/0-31+28/0,2 Resource_List.nodect=9 Resource_List.walltime=48:00:00 total_execution_slots=96 unique_node_count=3 end=3767 Exit_status=271
03/18/2017 00:46:08;E;71.bw;user=bob group=g queue=low ctime=900 start=1000 exec_host=26/0 Resource_List.nodect=1 end=1060 Exit_status=0
03/18/2017 01:43:17;D;72.bw;requestor=ann
03/18/2017 01:43:18;D;73.bw;requestor=ann
03/18/2017 01:43:19;E;73.bw;user=bob qtime=1200 start=1300 exec_host=9/0+8/0+9/1 end=1301 Exit_status=-11 Exit_status=2
03/18/2017 02:24:04;A;74.bw;
";

const MAP: &str = "separator = ';'\ntime = 'iso'\nzone = '+01:00'\n[columns]\nid = 'job'\nsubmit = 'when'\nstart = 'began'\n\
    end = 'ended'\nsize = 'hosts'\nestimate = { column = 'limit', unit = 'minutes' }\nuser = 'who'\n\
    status = { column = 'result', ok = ['ok'], failed = ['fail'] }\n";

#[test]
fn imports_a_table_by_a_map() {
    let log = "job;when;began;ended;who;hosts;limit;result\n\
               a;2025-05-01T01:00:00;2025-05-01 01:00:10;2025-05-01T00:01:10+00:00;ann;2;240;ok\n\
               b;2025-05-01T01:00:05;2025-05-01 01:00:10;;ann;2;240;ok\n\
               c;2025-05-01T01:00:20;2025-05-01 01:00:20;2025-05-01T01:00:21;bob;3;;what\n";
    let import = |map: &str, log: &str| csv(map, log);
    let made = import(MAP, log);
    assert_eq!(jobs(&made), [[0, 10, 60, 2, 14_400, 1], [20, 0, 1, 3, -1, -1]]);
    assert_eq!(
        (made.report.count("no run time"), made.report.count("status that is not in the map")),
        (1, 1)
    );
    let columns = "time = 'unix-ms'\n[columns]\nsubmit = 't'\nwait = { column = 'w', unit = 'hours' }\n\
                   run = { column = 'r', unit = 'HH:MM:SS' }\nsize = 'n'\nnodes = 'l'\n";
    let made = import(columns, "t,w,r,n,l\n1499,0.5,10:00:01,2,\"n[1-2]\"\n2500,,1:00:00,1,\n");
    assert_eq!(jobs(&made), [[0, 1800, 36_001, 2, -1, -1], [2, -1, 3600, 1, -1, -1]]);
    assert_eq!(made.nodes, "job,nodes\n1,\"n[1-2]\"\n");
    let missing = run(&how("csv", Some(&MAP.replace("'hosts'", "'host'"))), log.as_bytes());
    let missing = missing.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(missing.contains("no column \"host\" (is it \"hosts\"?)"), "{missing}");
    let nothing = run(&how("csv", None), log.as_bytes()).err().map(|error| error.to_string());
    assert!(nothing.unwrap_or_default().contains("csv needs --map"));
}

/// Rows with the same id become one job, even if the rows are in two files or belong to two runs. The job lasts from
/// the earliest start to the latest end.
#[test]
fn merges_rows_of_one_job() {
    let one = COBALT.replace("41.00000,2015-01-01 00:11:40", "41.00000,2015-01-01 00:10:40");
    let header = COBALT.lines().next().unwrap_or_default();
    let other = format!(
        "{header}\nz,40,2015-01-01 00:00:00,2015-01-01 02:00:00,2015-01-01 02:30:00,47,short,,1024,1024,MIR-048C0-77BF1-1024,0\n"
    );
    let import = |source: &str| {
        let (mut swf, mut nodes) = (Vec::new(), Vec::new());
        let outputs = Outputs { nodes: Some(&mut nodes), ..Outputs::trace(&mut swf) };
        let input =
            |text: &str| Ok(Input::Stream(Box::new(std::io::Cursor::new(text.to_string()))));
        let inputs = [("a.csv".to_string(), input(&one)), ("b.csv".to_string(), input(&other))];
        let report = import_all(inputs, &how(source, None), outputs);
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        let records = Reader::new(swf.as_slice(), "made.swf").records().collect::<Vec<_>>();
        let records: Vec<Record> = records.into_iter().map(|r| r.expect("a record").1).collect();
        let nodes = String::from_utf8(nodes).expect("text");
        let (header, shapes, ids) = Default::default();
        Made { header, records, nodes, shapes, ids, report }
    };
    let joined = import("cobalt[join=yes]");
    // Job 40 starts at 1:06:41 in the first file and ends at 2:30 in the second file. The two runs of job 41 overlap.
    assert_eq!(
        jobs(&joined),
        [
            [0, 4001, 4999, 1024, 21_600, 1],
            [640, 1673, 2981, 1024, 7200, 1],
            [700, 1613, 2981, 129, -1, 1],
            [700, 1613, 2981, 512, -1, 1]
        ]
    );
    let shown = joined.report.to_string();
    for words in [
        "a.csv and 1 more: 8 lines, 4 jobs kept",
        "not a job row merged with an earlier row of its job: 2, first in line 4 of a.csv",
        "noted     rows of one job on different nodes; the nodes of the first row are kept: 1, first in line 2 of b.csv",
    ] {
        assert!(shown.contains(words), "{words} not in\n{shown}");
    }
    assert!(
        joined.nodes.starts_with("job,nodes\n1,\"A0-3 B4-7 C8-11 D8-11 E0-1\"\n"),
        "{}",
        joined.nodes
    );
    assert_eq!(import("cobalt").records.len(), 6);
    let none = run(
        &how("csv[join=yes]", Some(&MAP.replace("id = 'job'\n", ""))),
        b"job;when;began;ended;who;hosts;limit;result\n",
    );
    let none = none.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(none.contains("join=yes needs the key \"id\""), "{none}");
}

/// A merged job does not depend on the order of its rows.
#[test]
fn merging_does_not_depend_on_the_order_of_rows() {
    let map =
        "time = 'unix'\n[columns]\nid = 'i'\nsubmit = 's'\nstart = 'b'\nend = 'e'\nsize = 'n'\n";
    let rows = ["7,100,110,160,4", "7,100,200,230,2", "7,90,,95,8"];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let rows: Vec<&str> = order.iter().map(|&at| rows[at]).collect();
        let log = format!("i,s,b,e,n\n{}\n8,300,300,310,1\n", rows.join("\n"));
        let made =
            run(&how("csv[join=yes]", Some(map)), log.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(jobs(&made)[0][..4], [0, 20, 120, 8], "{order:?}");
        assert_eq!(made.records.len(), 2);
    }
}

/// A job that is deleted in one file and ends in the next file is not counted as deleted.
#[test]
fn matches_events_across_files() {
    let lines: Vec<&str> = TORQUE.split_inclusive('\n').collect();
    let halves = [lines[..6].concat(), lines[6..].concat()];
    let mut swf = Vec::new();
    let outputs = Outputs::trace(&mut swf);
    let name = |at: usize| format!("2017031{at}");
    let inputs = halves
        .iter()
        .enumerate()
        .map(|(at, half)| (name(at), Ok(Input::Stream(Box::new(half.as_bytes())))));
    let report = import_all(inputs, &how("torque", None), outputs).expect("a log");
    assert_eq!((report.jobs, report.lines), (3, 8));
    let shown = report.to_string();
    let words = "deleted or aborted job without an end: 2, first in line 5 of 20170310";
    assert!(shown.contains(words), "{shown}");
}

/// An uncompressed and a compressed log give the same trace, byte for byte.
#[test]
fn compressed_logs_give_the_same_trace() {
    let bytes = |log: &[u8]| {
        let mut swf = Vec::new();
        let outputs = Outputs::trace(&mut swf);
        import(log, &how("sacct", None), outputs).expect("a log");
        swf
    };
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(SACCT.as_bytes()).expect("memory");
    assert_eq!(bytes(SACCT.as_bytes()), bytes(&packer.finish().expect("memory")));
}

#[test]
fn times_too_far_apart_are_dropped() {
    let map = "time = 'seconds'\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n";
    let log = "t,r,n\n0,1,1\n9007199254740991,1,1\n-9007199254740991,1,1\n5,9007199254740991,1\n7,1,0\n8,1,2\n";
    let made = csv(map, log);
    assert_eq!(jobs(&made), [[0, -1, 1, 1, -1, -1], [8, -1, 1, 2, -1, -1]]);
    assert_eq!(made.report.count("times too far apart"), 3);
    assert_eq!(made.report.count("size not positive"), 1);
}

#[test]
fn names_have_one_canonical_form() {
    for (text, canonical) in [
        ("sacct", "sacct"),
        ("pbs", "torque"),
        ("sacct[zone=UTC,size=cores]", "sacct[size=cores]"),
        ("cobalt[zone=-06:00]", "cobalt[zone=-06:00]"),
    ] {
        assert_eq!(text.parse::<Source>().expect(text).to_string(), canonical);
    }
    let advice = "csv[sise=cores]".parse::<Source>().expect_err("no such key").to_string();
    assert!(advice.contains("round-up"), "{advice}");
    assert!("sact".parse::<Source>().expect_err("no name").to_string().contains("sacct"));
}

#[test]
fn counts_tasks_of_sacct_arrays_with_steps() {
    let log = SACCT.replace("13_[3-6%2]", "13_[1,3-5,10-20:2%4]");
    let shown = made("sacct", &log).report.to_string();
    assert!(shown.contains("tasks of arrays that did not start: 10, first in line 7"), "{shown}");
}

/// In quoted text, doubled quotes are replaced by single quotes. Other text is unchanged.
#[test]
fn replaces_doubled_quotes_in_quoted_text_only() {
    let map = "time = \"unix\"\n[columns]\nid = \"i\"\nuser = \"who \\\"x\\\"\"\nsubmit = \"s\"\nrun = \"r\"\nsize = \"n\"\n";
    let log = "i,\"who \"\"x\"\"\",s,r,n\n\"a\"\"b\",\"an\"\"n\",0,5,1\na\"\"b,\"\"\"\",1,5,1\n";
    let made = csv(map, log);
    assert_eq!(made.ids, "job,id\n1,\"a\"\"b\"\n2,\"a\"\"\"\"b\"\n");
    for line in ["; User: 1 an\"n\n", "; User: 2 \"\n"] {
        assert!(made.header.contains(line), "{}", made.header);
    }
}

/// If the interval in a malformed line can be read, it is added to the submit times of later jobs.
#[test]
fn dirlab_uses_intervals_of_malformed_lines() {
    let header = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n";
    let log = format!(
        "{header}0,1,0,64,2,0,9,60,Pass\n1,1,0,64,1,10,9\n2,1,0,64,1,20,x,60,Pass\n3,1,0,64,1,40,9,60,\"Pa\n\
         4,1,0\n5,1,0,64,1,80,9,60,Pass\n"
    );
    let made = run(&Import { max_errors: 9, ..how("dirlab", None) }, log.as_bytes());
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(jobs(&made).iter().map(|job| job[0]).collect::<Vec<_>>(), [0, 150]);
}
