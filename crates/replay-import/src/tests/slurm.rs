//! Tests of Slurm's logs: text that contains delimiters and line breaks, states and values that are not usual, logs without
//! a header, and JSON.

use super::*;

fn counts(made: &Made, class: Class) -> Vec<(&'static str, u64, u64)> {
    let own = made.report.counts.iter().filter(|(key, _)| key.0 == class);
    own.map(|(key, count)| (key.1, count.count, count.first)).collect()
}

/// Returns size, wait, run time and status of every job.
fn sizes(made: &Made) -> Vec<[i64; 4]> {
    jobs(made).iter().map(|job| [job[3], job[1], job[2], job[5]]).collect()
}

fn skipping(source: &str, log: &str) -> Made {
    let how = Import { max_errors: 99, ..how(source, None) };
    run(&how, log.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn delimiters_in_free_text_do_not_move_columns() {
    for (log, expected) in [
        (include_str!("cases/constraints.txt"), vec![[2, 10, 3600, 1], [2, 240, 3370, 1]]),
        (include_str!("cases/constraints-cores.txt"), vec![[2, 240, 3370, 1]]),
        (include_str!("cases/submit-line.txt"), vec![[2, 10, 3600, 1], [4, 240, 3360, 1]]),
        (include_str!("cases/two-texts.txt"), vec![[2, 10, 3600, 1], [4, 240, 3360, 1]]),
    ] {
        let made = made("sacct", log);
        assert_eq!(sizes(&made), expected, "{log}");
        let repaired = counts(&made, Class::Repaired);
        assert_eq!(
            repaired.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(),
            [("delimiter within free text", 1)]
        );
        // The same log with a delimiter at the end of each line.
        assert_eq!(sizes(&super::made("sacct", &log.replace('\n', "|\n"))), expected);
    }
}

/// Every column with free text may contain the delimiter, wherever the column is.
#[test]
fn every_free_text_may_contain_the_delimiter() {
    let texts = [
        "SubmitLine",
        "JobName",
        "WorkDir",
        "Comment",
        "AdminComment",
        "SystemComment",
        "Constraints",
        "Reason",
        "Extra",
        "Container",
        "StdOut",
        "StdErr",
        "StdIn",
        "Licenses",
    ];
    let columns = ["JobID", "AllocNodes", "Submit", "Start", "End", "State", "User"];
    let values = [
        "7",
        "3",
        "2024-05-01T10:00:00",
        "2024-05-01T10:00:10",
        "2024-05-01T10:01:10",
        "TIMEOUT",
        "ann",
    ];
    for text in texts {
        for at in 0..=columns.len() {
            let (mut columns, mut values) = (columns.to_vec(), values.to_vec());
            columns.insert(at, text);
            values.insert(at, "a|b || c|3|2");
            // A second text, which has no delimiter.
            columns.insert(2, "Reason");
            values.insert(2, "None");
            columns.dedup();
            if columns.iter().filter(|own| **own == text).count() > 1 {
                continue;
            }
            let log = format!("{}\n{}\n", columns.join("|"), values.join("|"));
            let result = run(&how("sacct", None), log.as_bytes());
            match result {
                Ok(made) => {
                    assert_eq!(sizes(&made), [[3, 10, 60, 0]], "{log}");
                    assert!(made.header.contains("; User: 1 ann\n"), "{log}");
                }
                Err(error) => {
                    assert!(error.to_string().contains("in several ways"), "{log}{error}")
                }
            }
        }
    }
}

#[test]
fn ambiguous_records_are_malformed() {
    // The user is `b` or `ann`.
    let log = "JobID|JobName|User|Comment|AllocNodes|Submit|Start|End|State\n\
               1|a|b|ann|x|2|100|110|170|COMPLETED\n\
               2|a|ann|x|2|100|110|170|COMPLETED\n";
    assert!(
        error("sacct", log)
            .contains("too many fields, which can be assigned to the columns in several ways")
    );
    let made = skipping("sacct", log);
    assert_eq!(made.ids, "job,id\n1,2\n");
    // No split gives a state, or times in order.
    let head = "JobID|JobName|AllocNodes|Submit|Start|End|State\n";
    for line in
        ["1|a|b|2|100|110|170|WHAT", "1|a|b|2|100|90|170|FAILED", "1|a|b|x|100|110|170|FAILED"]
    {
        assert!(error("sacct", &format!("{head}{line}\n")).contains("too many fields"), "{line}");
    }
    // Only free text takes surplus fields.
    let head = "JobID|AllocNodes|Submit|Start|End|State|NodeList\n";
    assert!(
        error("sacct", &format!("{head}1|2|100|110|170|FAILED|n1|n2\n"))
            .contains("too many fields")
    );
}

#[test]
fn records_over_several_lines_are_joined() {
    let made = made("sacct", include_str!("cases/lines.txt"));
    assert_eq!(sizes(&made), [[2, 10, 3600, 1], [4, 240, 3360, 1], [1, 240, 3360, 1]]);
    assert_eq!(counts(&made, Class::Repaired), [("record over several lines, joined", 1, 3)]);
    assert_eq!(counts(&made, Class::Passed)[0], ("continuation line of a record", 1, 4));
    let made = super::made("sacct", include_str!("cases/lines-at-end.txt"));
    assert_eq!(sizes(&made), [[2, 10, 3600, 1], [4, 240, 3360, 1]]);
    assert_eq!(counts(&made, Class::Repaired), [("record over several lines, joined", 1, 2)]);
    assert_eq!(counts(&made, Class::Passed)[0], ("continuation line of a record", 1, 3));
}

/// The text of a record may have several lines with delimiters, in several columns, and at the end of the log.
#[test]
fn texts_of_several_lines_may_contain_delimiters() {
    let log = "JobID|JobName|AllocNodes|Submit|Comment|Start|End|State|WorkDir\n\
               1|a\nb|c\nd|2|100|x | y\n\nz|110|170|COMPLETED|/home\n\
               /of a\nuser\n\
               2.batch|b|2|100||110|170|COMPLETED|\n\
               2|b|4|100|q\nr|110|170|FAILED|/x|y\n";
    let made = made("sacct", log);
    assert_eq!(sizes(&made), [[2, 10, 60, 1], [4, 10, 60, 0]]);
    assert_eq!(made.report.count("step of a job"), 1);
    assert_eq!(made.ids, "job,id\n1,1\n2,2\n");
}

#[test]
fn a_record_that_is_cut_takes_no_other_record() {
    let head = "JobID|AllocNodes|Submit|SubmitLine|Start|End|State\n";
    let good = [
        "2|3|100|b|110|170|FAILED\n",
        "2|3|100|b\nc|110|170|FAILED\n",
        "2|3|100|b|c\nd|110|170|FAILED\n",
    ];
    for cut in ["1|2|100|a\n", "1|2|100|a\nb | c\n", "1|2|100|a|110\n", "1|2\n", "1\n"] {
        for good in good {
            let made = skipping("sacct", &format!("{head}{cut}{good}{cut}"));
            assert_eq!(
                (sizes(&made), made.ids.as_str()),
                (vec![[3, 10, 60, 0]], "job,id\n1,2\n"),
                "{cut}{good}"
            );
            assert_eq!(
                made.report.of(Class::Malformed),
                2 * cut.lines().count() as u64,
                "{cut}{good}"
            );
        }
    }
    // If the header begins with free text, a line may be a record or continue a text. Then no job is made of both.
    let head = "SubmitLine|JobID|AllocNodes|Submit|Start|End|State\n";
    let made = skipping(
        "sacct",
        &format!("{head}a|1|2|100|110|170|FAILED\nb\nc|2|3|100|110|170|FAILED\n"),
    );
    assert_eq!(made.report.jobs, 2, "{}", made.report);
}

/// A malformed record is not taken for a part of the text of the record before it.
#[test]
fn malformed_records_after_free_text_are_counted() {
    let log = "JobID|AllocNodes|Submit|Start|End|State|Comment\n\
               1|2|100|110|170|FAILED|a\n\
               2|x|100|110|170|FAILED|b\n\
               3|2|100|110\n\
               4|2|100|110|170|FAILED|c\n";
    let made = skipping("sacct", log);
    assert_eq!((made.report.jobs, made.report.of(Class::Malformed)), (2, 2), "{}", made.report);
    assert!(error("sacct", log).starts_with("log:3:3: AllocNodes \"x\": not a number"));
}

#[test]
fn imports_both_parts_of_a_resized_job() {
    let made = made("sacct", include_str!("cases/resizing.txt"));
    assert_eq!(jobs(&made), [[0, 10, 7200, 8, -1, 2], [7210, 0, 3600, 2, -1, 1]]);
    let open = include_str!("cases/resizing.txt")
        .replace("12:00:10|02", "Unknown|02")
        .replace("2024-05-01TUnknown", "Unknown");
    assert_eq!(super::made("sacct", &open).report.count("not ended when the log was written"), 1);
}

#[test]
fn invalid_durations_do_not_stop_an_import() {
    let log = include_str!("cases/invalid.txt");
    let made = made("sacct", log);
    assert_eq!(sizes(&made), [[8, 10, 7200, 1]]);
    assert_eq!(counts(&made, Class::Dropped), [("ended before it started", 1, 3)]);
    for elapsed in ["-0:00:16", "-00:00:05", "-5"] {
        assert_eq!(
            sizes(&super::made("sacct", &log.replace("INVALID", elapsed))),
            [[8, 10, 7200, 1]]
        );
    }
    // If the times are in order, the job is kept without its elapsed time.
    let head = "JobID|Submit|Start|End|ElapsedRaw|Timelimit|State|AllocNodes\n";
    for elapsed in ["INVALID", "-16", "4294967280"] {
        let made = super::made(
            "sacct",
            &format!(
                "{head}1|100|110|170|{elapsed}|INVALID|FAILED|4294967294\n2|100|110|170|{elapsed}|INVALID|FAILED|4\n"
            ),
        );
        assert_eq!(jobs(&made), [[0, 10, 60, 4, -1, 0]]);
        assert_eq!(made.report.count("elapsed time that is negative or INVALID, ignored"), 1);
        assert_eq!(
            made.report.count("time limit that is negative or INVALID, treated as unknown"),
            1
        );
        assert_eq!(made.report.count("size not positive"), 1);
    }
}

#[test]
fn hints_at_shared_nodes() {
    let log = include_str!("cases/shared.txt");
    let note = "job with fewer processors than its nodes have";
    let nodes = made("sacct", log);
    assert!(counts(&nodes, Class::Noted).contains(&(note, 7, 3)), "{}", nodes.report);
    assert!(nodes.report.to_string().contains("sacct[size=cores]"));
    assert_eq!(sizes(&nodes), [[1, 10, 3600, 1]; 8]);
    let cores = made("sacct[size=cores]", log);
    assert_eq!((cores.report.count(note), sizes(&cores)[1][0]), (0, 6));
    assert_eq!(made("sacct", &log.replace(",6,1", ",36,1")).report.count(note), 0);
    // Nodes of another partition have fewer processors.
    let log = "JobID|Partition|NCPUS|NNodes|Submit|Start|End|State\n1|a|72|2|1|2|3|FAILED\n2|b|16|1|1|2|3|FAILED\n";
    assert_eq!(made("sacct", log).report.count(note), 0);
}

#[test]
fn hints_at_the_zone_of_local_times() {
    let log = include_str!("cases/summer-time.txt");
    let note = "elapsed time differs from end minus start by whole or half hours";
    let made = made("sacct", log);
    assert_eq!(counts(&made, Class::Dropped).iter().map(|one| one.1).sum::<u64>(), 2);
    assert_eq!(
        made.report.count("elapsed time differs from end minus start; end minus start is used"),
        2
    );
    assert!(counts(&made, Class::Noted).contains(&(note, 3, 2)), "{}", made.report);
    assert!(made.report.to_string().contains("sacct[zone=Europe/Prague]"));
    let zoned = super::made("sacct[zone=Europe/Prague]", log);
    let times: Vec<[i64; 2]> = jobs(&zoned).iter().map(|job| [job[1], job[2]]).collect();
    assert_eq!(times, [[4800, 1200], [900, 7200], [600, 3600], [1200, 1200]]);
    assert_eq!(zoned.report.count(note), 0);
    // Other differences, such as those of suspended jobs, are no sign of local times.
    let log = log.replace("|7200|", "|7000|").replace("|1200|", "|1111|");
    assert_eq!(super::made("sacct", &log).report.count(note), 0);
}

fn headed(header: &str, log: &str) -> Result<Made, ImportError> {
    run(&Import { header: Some(header.to_string()), ..how("sacct", None) }, log.as_bytes())
}

/// The header may have blanks around names, quoted names, another order, other cases, and delimiters of any kind.
#[test]
fn accepts_variants_of_headers() {
    let line = "7|4|2024-05-01T10:00:00|2024-05-01T10:00:10|2024-05-01T10:01:10|FAILED|8\n";
    let header = "JobID|NNodes|Submit|Start|End|State|NCPUS";
    for header in [
        header.to_string(),
        header.to_lowercase(),
        header.replace("|S", "| S"),
        header.replace("NNodes", "\"NNodes\"").replace("State", "\"State\""),
    ] {
        for delimiter in ["|", ",", ";", "\t", "\u{2603}", "@@", "^|^"] {
            let log = format!("{header}\n{line}").replace('|', delimiter);
            assert_eq!(sizes(&made("sacct", &log)), [[4, 10, 60, 0]], "{log}");
        }
    }
}

#[test]
fn imports_logs_without_a_header() {
    let log = include_str!("cases/no-header.txt");
    let names = "JobID,Submit,Start,End,State,AllocNodes";
    for (header, log) in [
        (names.to_string(), log.to_string()),
        (names.replace(',', "|"), log.to_string()),
        (names.to_string(), log.replace('\n', "|\n")),
        (names.to_string(), log.replace('|', "\u{2603}")),
        (names.to_string(), log.replace('|', "^|^")),
        (names.to_string(), log.replace("100|", "100_[1-3%2]|") + log),
        (names.to_string(), log.replace("100|", "100.batch|") + log),
        // A file with a header, and a file with a header between records.
        (names.to_string(), format!("100.0{}{}\n{log}", &log[3..], names.replace(',', "|"))),
        (names.to_string(), format!("{}\n{log}", names.replace(',', "|"))),
    ] {
        let made = headed(&header, &log).unwrap_or_else(|error| panic!("{log}{error}"));
        assert_eq!(sizes(&made), [[2, 10, 3600, 1]], "{log}");
    }
    let short =
        headed("JobID,Submit,Start,State,AllocNodes", log).err().expect("no end").to_string();
    assert!(short.contains("none of the columns End"), "{short}");
    let other = headed("JobID,Submit,Start,End,State,User,AllocNodes", log)
        .err()
        .expect("7 columns")
        .to_string();
    assert!(other.contains("7 columns of --header"), "{other}");
    assert_eq!(sizes(&made("sacct", include_str!("cases/snow.txt"))), [[2, 10, 3600, 1]]);
    let torque = Import { header: Some("a,b".to_string()), ..how("torque", None) };
    assert!(matches!(run(&torque, b"x"), Err(ImportError::Usage(_))));
    let map = "separator = ';'\ntime = 'unix'\n[columns]\nsubmit = 's'\nrun = 'r'\nsize = 'n'\n";
    let csv = Import { header: Some("s,r,n".to_string()), ..how("csv", Some(map)) };
    let made = run(&csv, b"5;60;2\n9;60;3\n").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(made.report.jobs, 2);
}

#[test]
fn warns_of_missing_time_limits() {
    let head = "JobID|Submit|Start|End|Timelimit|State|AllocNodes\n";
    let made = |limits: [&str; 2]| {
        let line = |limit: &&str| format!("1|100|110|170|{limit}|COMPLETED|2\n");
        super::made("sacct", &format!("{head}{}", limits.iter().map(line).collect::<String>()))
    };
    let none = made(["UNLIMITED", "Partition_Limit"]);
    for (what, count) in [
        ("no time limits: backfilling will know all run times", 2),
        ("unlimited time limit, treated as unknown", 1),
        ("time limit of the partition, treated as unknown", 1),
    ] {
        assert_eq!(none.report.count(what), count, "{what}");
    }
    let one = made(["", "00:10:00"]);
    assert_eq!(one.report.count("no time limit: backfilling will know the run time"), 1);
    assert_eq!(counts(&made(["00:10:00", "10"]), Class::Noted), [("repeated job id, kept", 1, 3)]);
}

#[test]
fn imports_json() {
    let log = include_str!("cases/sacct.json");
    let made = skipping("sacct-json", log);
    assert_eq!(
        jobs(&made),
        [
            [0, 5, 3600, 4, 7200, 1],
            [120, -1, 0, 8, -1, 5],
            [180, 2, 600, 2, 600, 0],
            [240, 60, 60, 2, 240, 2],
        ]
    );
    assert_eq!(made.ids, "job,id\n1,11\n2,12\n3,13_1\n4,20+1\n");
    assert_eq!(made.nodes, "job,nodes\n1,\"n[001-004]\"\n3,\"n[5-6]\"\n");
    for line in ["; UnixStartTime: 1772352000\n", "; User: 2 bob\n", "; Queue: 2 fast\n"] {
        assert!(made.header.contains(line), "{}", made.header);
    }
    let shown = made.report.to_string();
    for words in [
        "log: 7 records, 4 jobs kept; 2 dropped; 0 that are not jobs; 1 malformed",
        "dropped   not ended when the log was written: 1, first in record 7",
        "noted     tasks of arrays that did not start: 4, first in record 4",
        "noted     unlimited time limit, treated as unknown: 1, first in record 2",
        "malformed not a time: 1, first in record 6",
    ] {
        assert!(shown.contains(words), "{words} not in\n{shown}");
    }
    let error = error("sacct-json", log);
    assert!(
        error.starts_with("log: record 6, field time.start \"\"soon\"\": not a time"),
        "{error}"
    );
    let cores =
        run(&Import { max_errors: 9, ..how("sacct-json[size=cores]", None) }, log.as_bytes());
    let cores = cores.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(jobs(&cores).iter().map(|job| job[3]).collect::<Vec<_>>(), [256, 512, 64]);
}

#[test]
fn imports_json_of_the_controller() {
    let log = include_str!("cases/squeue.json");
    let made = made("sacct-json", log);
    assert_eq!(jobs(&made), [[0, 10, 60, 2, 3600, 1]]);
    assert_eq!(made.report.count("not ended when the log was written"), 1);
    assert_eq!(jobs(&super::made("sacct-json[size=cores]", log))[0][3], 128);
    // Several documents, and an array of jobs.
    assert_eq!(super::made("sacct-json", &format!("\u{feff}{log}\n {log}")).report.jobs, 2);
    let array = log.split_once("\"jobs\": ").expect("jobs").1.trim_end().trim_end_matches('}');
    assert_eq!(super::made("sacct-json", array).report.jobs, 1);
    for (wrong, words) in [
        ("{\"jobs\": [", "EOF while parsing"),
        ("{}", "there is no array \"jobs\""),
        ("JobID|State", "this is not the JSON of sacct --json"),
        ("", "there is no array"),
        ("{\"jobs\": []}", "no job in the log"),
        ("{\"jobs\": [7]}", "record 1"),
    ] {
        assert!(error("sacct-json", wrong).contains(words), "{}", error("sacct-json", wrong));
    }
}

fn selected(source: &str, log: &str, select: Selection) -> Made {
    let how = Import { select, max_errors: 9, ..how(source, None) };
    run(&how, log.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn imports_selected_jobs() {
    let list = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let none = Selection::default();
    let ids = |made: &Made| {
        made.ids
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).unwrap_or_default().to_string())
            .collect::<Vec<_>>()
    };
    let made = selected("sacct", SACCT, Selection { partitions: list(&["fast"]), ..none.clone() });
    assert_eq!((ids(&made), made.report.count("partition not selected")), (list(&["13_1"]), 5));
    let made = selected("sacct", SACCT, Selection { users: list(&["ann", "cid"]), ..none.clone() });
    assert_eq!(
        (ids(&made), made.report.count("user not selected")),
        (list(&["11", "13_1", "14+0"]), 3)
    );
    let made =
        selected("sacct", SACCT, Selection { states: list(&["completed", "TO"]), ..none.clone() });
    assert_eq!(
        (ids(&made), made.report.count("state not selected")),
        (list(&["11", "13_1", "17"]), 3)
    );
    let time = |text: &str| Some(text.parse::<When>().expect("a time"));
    let made = selected(
        "sacct",
        SACCT,
        Selection {
            from: time("2026-03-01T08:02:00"),
            until: time("2026-03-01T14:08:00"),
            ..none.clone()
        },
    );
    assert_eq!(
        (ids(&made), made.report.count("submitted at a time that is not selected")),
        (list(&["12", "13_1", "17"]), 3)
    );
    // Dates are in the zone of the log.
    for (zone, count) in [("UTC", 6), ("+01:00", 6), ("Europe/Prague", 6)] {
        let made = selected(
            &format!("sacct[zone={zone}]"),
            SACCT,
            Selection { from: time("2026-03-01"), until: time("2026-03-02"), ..none.clone() },
        );
        assert_eq!(made.report.jobs, count, "{zone}");
    }
    // Other kinds of logs.
    let json = include_str!("cases/sacct.json");
    let made = selected(
        "sacct-json",
        json,
        Selection { partitions: list(&["batch"]), from: time("1772352120"), ..none.clone() },
    );
    assert_eq!(ids(&made), ["12", "20+1"]);
    let made =
        selected("torque", TORQUE, Selection { states: list(&["completed"]), ..none.clone() });
    assert_eq!(made.report.jobs, 1);
    let map = "time = 'unix'\n[columns]\nid = 'i'\nsubmit = 's'\nrun = 'r'\nsize = 'n'\nstatus = { column = 'z', slurm = true }\n";
    let by_state = Import {
        select: Selection { states: list(&["to"]), ..none.clone() },
        ..how("csv", Some(map))
    };
    let made = run(&by_state, b"i,s,r,n,z\n1,1,2,3,FAILED\n2,1,2,3,TIMEOUT\n")
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ids(&made), ["2"]);
    let dated = Import {
        select: Selection { from: time("2026-01-01"), ..none.clone() },
        ..how("dirlab", None)
    };
    assert!(matches!(run(&dated, b""), Err(ImportError::Usage(_))));
    let made = Import { select: Selection { users: list(&["zoe"]), ..none }, ..how("sacct", None) };
    let error = run(&made, SACCT.as_bytes()).err().expect("no job").to_string();
    assert!(
        error.contains("no job in the log") && error.contains("user not selected: 6"),
        "{error}"
    );
    for text in ["", "yesterday", "2026-13-01", "2026-03-01T25:00:00"] {
        assert!(text.parse::<When>().is_err(), "{text}");
    }
}
