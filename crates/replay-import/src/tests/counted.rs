//! Tests of the counts of irregularities in logs.

use super::*;

const MAP: &str = "time = 'unix'\n[columns]\nid = 'i'\nsubmit = 's'\nstart = 'b'\nend = 'e'\nwait = 'w'\n\
    run = { column = 'r', unit = 'minutes' }\nsize = 'n'\nestimate = { column = 'l', unit = 'minutes' }\n\
    status = { column = 'z', ok = ['ok'], failed = ['no'] }\n";

fn table(rows: &str) -> Made {
    csv(MAP, &format!("i,s,b,e,w,r,n,l,z\n{rows}"))
}

/// Returns the notes of the report, each with its count and first line.
fn noted(made: &Made) -> Vec<(&'static str, u64, u64)> {
    let noted = made.report.counts.iter().filter(|(key, _)| key.0 == Class::Noted);
    noted.map(|(key, count)| (key.1, count.count, count.first)).collect()
}

#[test]
fn notes_contradictory_times() {
    let made = table(
        "1,100,110,170,10,1,4,5,ok\n\
         2,100,110,170,20,1,4,5,ok\n\
         3,100,110,890,10,14,4,5,ok\n\
         4,100,110,890,11,9,4,5,ok\n\
         5,100,,900,10,9.5,4,5,ok\n",
    );
    // Durations in minutes have a precision of one minute, so 14 minutes agree with 780 s, which are 13 minutes.
    let expected = [
        ("run time differs from end minus start; the recorded run time is used", 2, 5),
        ("wait differs from start minus submission; the recorded wait is used", 1, 3),
    ];
    assert_eq!(noted(&made), expected);
    assert_eq!(jobs(&made)[1][..3], [0, 20, 60]);
    assert_eq!(jobs(&made)[3][..3], [0, 11, 540]);
}

#[test]
fn counts_jobs_without_times_or_size() {
    let made = table(
        "1,100,,,,,4,5,\n\
         2,101,,,,,4,5,no\n\
         3,102,,,,,4,5,ok\n\
         4,103,110,,,,4,5,\n\
         5,104,110,,,,4,5,ok\n\
         6,105,110,170,,,,5,ok\n\
         7,106,,170,,2,4,5,ok\n\
         8,107,110,170,,,4,5,ok\n",
    );
    // A job with a run time has run, even if its start is unknown.
    assert_eq!(
        jobs(&made),
        [
            [0, -1, 0, 4, 300, 5],
            [1, -1, 0, 4, 300, 5],
            [6, -1, 120, 4, 300, 1],
            [7, 3, 60, 4, 300, 1]
        ]
    );
    for (what, count) in [
        ("never started", 2),
        ("no run time", 2),
        ("not ended when the log was written", 1),
        ("no size", 1),
    ] {
        assert_eq!(made.report.count(what), count, "{what}");
    }
}

#[test]
fn notes_estimates_that_are_not_positive() {
    let made = table("1,1,1,2,,,4,0,ok\n2,1,1,2,,,4,-1,ok\n3,1,1,2,,,4,,ok\n4,1,1,2,,,4,3,ok\n");
    let expected = [
        ("estimate of 0 or less, treated as unknown", 2, 2),
        ("no time limit: backfilling will know the run time", 3, 2),
    ];
    assert_eq!(noted(&made), expected);
    let estimates: Vec<i64> = jobs(&made).iter().map(|job| job[4]).collect();
    assert_eq!(estimates, [-1, -1, -1, 180]);
    let note = "estimate of 0 or less, treated as unknown";
    let zero =
        super::made("sacct", &SACCT.replace("|90|90|", "|0|0|").replace("08:11:00", "08:13:00"));
    assert_eq!(zero.report.count(note), 1);
    let zero = super::made("torque", &TORQUE.replace("walltime=48:00:00", "walltime=00:00:00"));
    assert_eq!((zero.report.count(note), jobs(&zero)[0][4]), (1, -1));
    let zero = super::made("cobalt", &COBALT.replace(",7200.0,", ",0.0,"));
    assert_eq!(zero.report.count(note), 2);
}

#[test]
fn imports_cobalt_without_start_or_end() {
    let cut = COBALT.replace("2015-01-01 01:06:41.000000,2015-01-01 01:29:54.000000", ",");
    let made = super::made("cobalt", &cut);
    assert_eq!((jobs(&made)[0][..3].to_vec(), jobs(&made)[0][5]), (vec![0, -1, 0], 5));
    assert_eq!(made.report.count("never started"), 1);
    let cut = COBALT.replace("2015-01-01 01:29:54.000000", "");
    assert_eq!(super::made("cobalt", &cut).report.count("not ended when the log was written"), 1);
    // After a change of the clocks, or with a wrong zone, the elapsed time may differ by an hour from the difference
    // between end and start.
    let header = COBALT.lines().next().unwrap_or_default();
    let row = "a,1,2015-01-01 00:00:00,2015-01-01 01:00:00,2015-01-01 02:00:00,4,q,9,512,512,,0";
    for (ran, count) in [("3600.4", 0), ("3599", 0), ("7200", 1), ("", 0)] {
        let log = format!("{header},RUNTIME_SECONDS\n{row},{ran}\n");
        let what = "elapsed time differs from end minus start; end minus start is used";
        assert_eq!(super::made("cobalt", &log).report.count(what), count, "{ran}");
    }
}

#[test]
fn detects_a_job_in_two_files() {
    let again = "17|bob|chem|batch|2026-03-01T08:13:00|2026-03-01T08:13:00|2026-03-01T14:06:00|2026-03-01T14:07:00|00:01:00|01:30|1|1|1|64|n003|COMPLETED\n\
                 99|bob|chem|batch|2026-03-01T08:13:00|2026-03-01T08:13:00|2026-03-01T14:06:00|2026-03-01T14:07:00|00:01:00|01:30|1|1|1|64|n003|COMPLETED\n";
    // The last two lines of the second file are copies of lines of the first file.
    let same: Vec<&str> = SACCT.lines().skip(10).collect();
    let second =
        format!("{}\n{again}{}\n", SACCT.lines().next().unwrap_or_default(), same.join("\n"));
    let mut swf = Vec::new();
    let outputs = Outputs::trace(&mut swf);
    let input = |text: &str| Ok(Input::Stream(Box::new(std::io::Cursor::new(text.to_string()))));
    let inputs = [("a".to_string(), input(SACCT)), ("b".to_string(), input(&second))];
    let report = import_all(inputs, &how("sacct", None), outputs).expect("a log");
    assert_eq!(report.jobs, 8, "every record is a job, except those repeated from another file");
    assert_eq!(report.accounted(), report.lines);
    let shown = report.to_string();
    for words in [
        "noted     repeated job id, kept: 1, first in line 12 of a",
        "noted     job id that occurs with other values in an earlier file; the job is kept: 1, first in line 2 of b",
        "dropped   identical job in an earlier file: 2, first in line 4 of b",
    ] {
        assert!(shown.contains(words), "{words} not in\n{shown}");
    }
}

#[test]
fn refuses_ambiguous_headers() {
    let error = super::error;
    assert!(
        error("sacct", &SACCT.replace("User|", "State|"))
            .contains("log:1: column 2 and column 16 are both \"State\"")
    );
    let twice = COBALT.replace("JOB_NAME", "queue_name").replace("QUEUE_NAME", "Queue_Name");
    assert!(error("cobalt", &twice).contains("column 1 and column 7 are both \"QUEUE_NAME\""));
    // Two unused columns may have the same name. If two names differ only in case, the exact spelling is used.
    assert_eq!(super::made("sacct", &SACCT.replace("User|Account|", "Foo|Foo|")).records.len(), 6);
    assert_eq!(super::made("sacct", &SACCT.replace("User|", "state|")).records.len(), 6);
    let without = SACCT.replace("Elapsed|", "Foo|");
    assert_eq!(super::made("sacct", &without).records.len(), 6);
    let words = "log:1: running=yes needs the column ElapsedRaw or Elapsed";
    assert!(error("sacct[running=yes]", &without).contains(words));
}

/// The submit times of later rows include the interval of a row that is dropped.
#[test]
fn dirlab_uses_intervals_of_dropped_rows() {
    let log = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n\
               0,1,0,64,1,0,5,60,Pass\n1,1,0,64,1,1000,x,60,Pass\n2,1,0,64,1,50,5,60,Pass\n\
               3,1,0,64,1,-20,5,60,Pass\n";
    let lenient = Import { max_errors: 1, ..how("dirlab", None) };
    let made = run(&lenient, log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(made.report.count("submitted before the previous job"), 1);
    let submitted: Vec<i64> = jobs(&made).iter().map(|job| job[0]).collect();
    assert_eq!(submitted, [0, 1050, 1030]);
}

#[test]
fn counts_values_missing_from_sacct() {
    let log = "JobID|Submit|Start|End|AllocCPUS|State\n\
               1|2026-03-01T08:00:00|2026-03-01T08:00:05||4|COMPLETED\n\
               2|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T08:01:05|4|COMPLETED\n\
               3|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T08:01:05||COMPLETED\n\
               4|2026-03-01T08:00:00|Unknown|2026-03-01T08:01:05|8|CANCELLED\n";
    let made = made("sacct", log);
    assert_eq!(jobs(&made), [[0, 5, 60, 4, -1, 1], [0, -1, 0, 8, -1, 5]]);
    let expected = [
        ("not ended when the log was written", 1),
        ("no size", 1),
        ("size in processors, because no column has numbers of nodes", 2),
        ("never started", 1),
    ];
    for (what, count) in expected {
        assert_eq!(made.report.count(what), count, "{what}");
    }
}

/// Notes on a job that is dropped are not counted.
#[test]
fn only_notes_on_kept_jobs_are_counted() {
    let made = table(
        "1,100,110,170,20,1,0,5,what\n\
         2,100,110,170,20,1,4,5,ok\n",
    );
    assert_eq!(made.report.count("size not positive"), 1);
    assert_eq!(
        noted(&made),
        [("wait differs from start minus submission; the recorded wait is used", 1, 3)]
    );
    let odd =
        COBALT.replace(",512.0,512.0,MIR-04880-37BB1-513,0", ",0,512.0,MIR-04880-37BB1-513,0");
    let made = super::made("cobalt", &odd);
    assert_eq!(made.report.count("size not positive"), 1);
    assert_eq!(made.report.count("impossible location, omitted"), 0);
}
