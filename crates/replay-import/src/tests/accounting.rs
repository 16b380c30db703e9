//! Tests of accounting records of LSF and Grid Engine.

use super::*;

/// Resource usage of a job, from user time to exact user time.
const USAGE: &str = "0.47 1.11 0 0 -1 0 0 149746 0 0 0 0 -1 0 0 0 1907 1746 -1";

/// Returns a record of LSF 10. `hosts` is the number of execution hosts and the hosts; `end` is the status, `exit` the
/// reason of termination.
pub(super) fn record(
    job: &str,
    times: [i64; 3],
    hosts: &str,
    status: i64,
    exit: i64,
    index: i64,
) -> String {
    let [submit, start, end] = times;
    format!(
        "\"JOB_FINISH\" \"10.1\" {end} {job} 1000 33554438 4 {submit} 0 0 {start} \"ann\" \"normal\" \"span[ptile=2]\" \
         \"\" \"\" \"login\" \"/home/ann\" \"\" \"%J.out\" \"\" \"10/1527326745.7610\" 1 \"pac\" {hosts} {status} 60.0 \
         \"name\" \"#!/bin/sh;echo \"\"two words\"\"; \"\"\"\"\" {USAGE} \"\" \"phys\" 0 4 \"\" \"\" {index} 2 25 \"\" \"\" \
         \"\" \"\" 0 \"\" {exit} \"\" -1 \"/phys/ann\" \"\" \"default\" \"\" -1 \"\" \"\" 6160  \"\" {start} \"\" \"\" 1 1032 \"0\" \
         2 host1 1306 0 1287486 242 0 host2 1291 0 643768 66 1 7 \"x\" 43200 0 8688640 \"select[type == any] \" \"\" -1 \
         \"\" -1 0 \"\" 0 0 \"\" {} \"/home/ann\" 0 \"\"\n",
        (end - start).max(0)
    )
}

#[test]
fn imports_records_of_lsf() {
    let log = [
        "#80\n".to_string(),
        record("436", [100, 160, 760], "4 \"a\" \"a\" \"b\" \"b\"", 64, 0, 0),
        "\"EVENT_ADRSV_FINISH\" \"10.1\" 12 34\n".to_string(),
        record("437", [200, 210, 300], "2 \"16*a\" \"16*c\"", 32, 5, 3),
        record("437", [200, 210, 310], "1 \"b\"", 32, 14, 4),
        // The job was killed before it started.
        record("438", [300, 0, 400], "0", 32, 14, 0),
        record("439", [500, 400, 600], "1 \"b\"", 64, 0, 0),
    ];
    let made = made("lsf", &log.concat());
    assert_eq!(
        jobs(&made),
        [
            [0, 60, 600, 4, 43_200, 1],
            [100, 10, 90, 32, 43_200, 0],
            [100, 10, 100, 1, 43_200, 5],
            [200, -1, 0, 4, 43_200, 5]
        ]
    );
    assert_eq!(made.ids, "job,id\n1,436\n2,437[3]\n3,437[4]\n4,438\n");
    assert_eq!(made.nodes, "job,nodes\n1,\"a,b\"\n2,\"a,c\"\n3,\"b\"\n");
    for line in
        ["; UnixStartTime: 100\n", "; User: 1 ann\n", "; Group: 1 phys\n", "; Queue: 1 normal\n"]
    {
        assert!(made.header.contains(line), "{}", made.header);
    }
    let report = &made.report;
    for (what, count) in [
        ("comment", 1),
        ("event other than the end of a job", 1),
        ("never started", 1),
        ("started before it was submitted", 1),
    ] {
        assert_eq!(report.count(what), count, "{what}");
    }
    // Sizes may be numbers of hosts; a job that never started has the hosts that its span implies.
    let nodes = super::made("lsf[size=nodes]", &log.concat());
    assert_eq!(jobs(&nodes).iter().map(|job| job[3]).collect::<Vec<_>>(), [2, 2, 1, 2]);
    let no_span = log.concat().replace("span[ptile=2]", "");
    let nodes = super::made("lsf[size=nodes]", &no_span);
    assert_eq!(nodes.report.count("never started, and no requested size"), 1);
}

/// Records of earlier versions end early; a record may also describe a suspended or resized job.
#[test]
fn imports_unusual_records_of_lsf() {
    let full = record("1", [100, 160, 760], "2 \"a\" \"b\"", 64, 0, 0);
    // Version 7 ends before the run limit, and version 5 before the index of arrays.
    let seven = full.split(" 1 1032 \"0\"").next().unwrap_or_default();
    let five = full.split(" \"\" \"\" 0 2 25").next().unwrap_or_default();
    for text in [seven.to_string() + " 0\n", five.to_string() + "\n"] {
        assert_eq!(jobs(&made("lsf", &text)), [[0, 60, 600, 2, -1, 1]], "{text}");
    }
    let mixed = made("lsf[size=nodes]", &full.replace("2 \"a\" \"b\"", "3 \"b\" \"a\" \"b\""));
    assert_eq!((jobs(&mixed)[0][3], mixed.nodes.as_str()), (2, "job,nodes\n1,\"a,b\"\n"));
    let unlimited = full.replace(" 43200 0 8688640", " -1 4194304 1024");
    assert_eq!(jobs(&made("lsf", &unlimited))[0][4], -1);
    let suspended =
        made("lsf", &full.replace(" \"\" 600 \"/home/ann\"", " \"\" 400 \"/home/ann\""));
    let what = "suspended for a part of its run; the run time includes this part";
    assert_eq!((suspended.report.count(what), jobs(&suspended)[0][2]), (1, 600));
    assert_eq!(made("lsf", &full).report.count(what), 0);
    let resized =
        made("lsf", &full.replace("\"\" 160 \"\" \"\" 1 1032", "\"\" 300 \"\" \"\" 1 1032"));
    let what = "resized job; its last allocation is used for the whole run";
    assert_eq!(resized.report.count(what), 1);
    let begun = made("lsf[submit=eligible]", &full.replace(" 100 0 0 160 ", " 100 130 0 160 "));
    assert_eq!(jobs(&begun)[0][..3], [0, 30, 600]);
    let odd = made("lsf", &full.replace(" 64 60.0", " 4 60.0"));
    assert_eq!(odd.report.count("unknown state, treated as failed"), 1);
    // A line that is cut, or that belongs to another file, is malformed; the other lines are read.
    let cut = |words: &str| full.split(words).next().unwrap_or_default();
    let odd = full.replace("\"pac\" 2 ", "\"pac\" x ");
    let log = format!("{}\n{full}hello\n{odd}{}\n", cut(" 149746"), cut(" words"));
    let made = run(&Import { max_errors: 9, ..how("lsf", None) }, log.as_bytes());
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((jobs(&made).len(), made.report.of(Class::Malformed)), (1, 4), "{}", made.report);
    assert!(
        error("lsf", "hello\n").contains("log:1:1: event type \"hello\": not the type of an event")
    );
}

/// A line of Grid Engine; `times` are submission, start and end; `end` are `failed` and `exit_status`.
fn line(
    job: &str,
    times: [&str; 3],
    end: [i64; 2],
    slots: i64,
    task: i64,
    category: &str,
) -> String {
    let ([submit, start, stop], [failed, exit]) = (times, end);
    format!(
        "all.q:node1:phys:ann:job.sh:{job}:sge:0:{submit}:{start}:{stop}:{failed}:{exit}:90:1.5:0.2:99104.000000:0:0:0:0:\
         1957:15:0:48.000000:20:0:0:0:151:47:proj:defaultdepartment:mpi:{slots}:{task}:50.796277:4.497218:0.339940:\
         {category}:0.000000:NONE:5944487936.000000:0:0\n"
    )
}

#[test]
fn imports_lines_of_grid_engine() {
    let limit = "-u ann -q all.q -l arch=x86_64,h_rt=180300,s_rt=180000 -pe mpi 9";
    let slave = line("41", ["100", "110", "200"], [0, 0], 9, 0, limit)
        .replace(":NONE:5944", ":1.node2:5944");
    let log = [
        "# Version: 6.2u5\n#\n".to_string(),
        line("41", ["100", "110", "200"], [0, 0], 9, 0, limit),
        slave,
        line("42", ["0", "110", "200"], [0, 0], 9, 0, limit),
        line("43", ["150", "160", "260"], [0, 1], 1, 7, "-l h_rt=1:00:00"),
        // The job could not be started; it was rescheduled, and it ran later.
        line("44", ["300", "0", "0"], [1, 0], 2, 0, "NONE"),
        line("44", ["300", "400", "450"], [25, 0], 2, 0, "NONE"),
        line("44", ["300", "500", "550"], [100, 137], 2, 0, "NONE"),
        line("45", ["300", "500", "600"], [100, 137], 2, 0, "-l h_rt=100"),
        line("46", ["300", "310", "0"], [0, 0], 2, 0, "NONE"),
        // The soft limit ended this job before its hard limit.
        line("47", ["300", "310", "510"], [100, 138], 2, 0, "-l s_rt=200,h_rt=300"),
    ];
    let made = made("sge", &log.concat());
    assert_eq!(
        jobs(&made),
        [
            [0, 10, 90, 9, 180_300, 1],
            [50, 10, 100, 1, 3600, 0],
            [200, -1, 0, 2, -1, 5],
            [200, 100, 50, 2, -1, 2],
            [200, 200, 50, 2, -1, 5],
            [200, 200, 100, 2, 100, 0],
            [200, 10, 200, 2, 300, 0]
        ]
    );
    assert_eq!(made.ids, "job,id\n1,41\n2,43.7\n3,44\n4,44\n5,44\n6,45\n7,47\n");
    for (what, count) in [
        ("comment", 2),
        ("task of a parallel job", 2),
        ("never started", 1),
        ("repeated job id, kept", 2),
        ("neither end nor run time", 1),
    ] {
        assert_eq!(made.report.count(what), count, "{what}\n{}", made.report);
    }
    for text in ["; User: 1 ann\n", "; Group: 1 phys\n", "; Queue: 1 all.q\n"] {
        assert!(made.header.contains(text), "{}", made.header);
    }
}

#[test]
fn imports_milliseconds_of_univa_grid_engine() {
    let times = ["1412932860657", "1412932865141", "1412933085629"];
    let log = line("3872561", times, [0, 0], 1, 0, "-u ann -q all.q -binding no_job_binding 0")
        .replace(":0:0\n", ":0:0:NONE:NONE:124411904:115065856:host.x:NONE:qsub -l a=1:2 /tmp/x\n");
    let made = made("sge", &log);
    assert_eq!(jobs(&made), [[0, 4, 221, 1, -1, 1]]);
    assert!(made.header.contains("; UnixStartTime: 1412932861\n"), "{}", made.header);
    assert_eq!(made.report.count("times in milliseconds, rounded to seconds"), 1);
    assert_eq!("uge".parse::<Source>().expect("an alias").to_string(), "sge");
}

#[test]
fn malformed_lines_of_grid_engine_are_counted() {
    let good = line("41", ["100", "110", "200"], [0, 0], 9, 0, "NONE");
    let log = [
        good.clone(),
        "a:b:c\n".to_string(),
        good.replace(":41:", ":x41:"),
        good.replace(":100:110:", ":soon:110:"),
        good.replace(":9:0:50.", ":many:0:50."),
        good.replace("-l", "")
            .replace(":NONE:0.000000", ":-l h_rt=1h:0.000000")
            .replace(":41:", ":42:"),
    ];
    let made = run(&Import { max_errors: 4, ..how("sge", None) }, log.concat().as_bytes());
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((jobs(&made).len(), made.report.of(Class::Malformed)), (2, 4), "{}", made.report);
    assert_eq!(made.report.count("unreadable time limit, treated as unknown"), 1);
    let error = error("sge", &log[3]);
    assert!(error.contains("log:1:38: submission_time \"soon\": not a time"), "{error}");
}
