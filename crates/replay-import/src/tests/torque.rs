use super::*;

#[test]
fn imports_torque_events() {
    let made = made("torque", TORQUE);
    assert_eq!(
        jobs(&made),
        [[100, 322, 2445, 3, 172_800, 5], [0, 100, 60, 1, -1, 1], [300, 100, 1, 2, -1, 0]]
    );
    assert_eq!(made.nodes, "job,nodes\n1,\"26,27,28\"\n2,\"26\"\n3,\"8,9\"\n");
    // One of these events is the deletion of job 73; the log also contains the end of this job.
    assert_eq!(made.report.count("event other than the end of a job"), 3);
    let gone = (
        (Class::Passed, "deleted or aborted job without an end"),
        Count { count: 2, first: 5, file: 0 },
    );
    assert_eq!(made.report.counts.get(&gone.0), Some(&gone.1));
    let eligible = super::made("torque[submit=eligible]", TORQUE);
    assert_eq!(jobs(&eligible)[0], [200, 222, 2445, 3, 172_800, 5]);
    let error = |from: &str, to: &str| super::error("torque", &TORQUE.replace(from, to));
    for (from, to, words) in [
        ("start=1322 exec", "start=soon exec", "log:3:97: start \"soon\": not a time"),
        ("00:46:08;E", "00:46;E", "log:4:1: date \"03/18/2017 00:46\": not a time"),
        (";A;74.bw;", ";A", "log:8:"),
        (" end=1060", "", "log:4:29: end \""),
        (
            "host=26/0 Resource_List.nodect=1",
            "host=26/x",
            "exec_host \"26/x\": not a list of nodes",
        ),
        ("host=26/0 Resource_List.nodect=1", "host=26/", "exec_host \"26/\": not a list of nodes"),
    ] {
        assert!(error(from, to).contains(words), "{words} not in\n{}", error(from, to));
    }
}

/// If no other size is recorded, the requested sizes are used: 2 + 3 nodes or 2 * 2 + 3 processors.
#[test]
fn torque_uses_requested_sizes() {
    let log = |nodes: &str| {
        format!(
            "03/18/2017 00:46:07;E;1.s;qtime=100 start=110 end=160 Resource_List.nodes={nodes}\n"
        )
    };
    for (nodes, count, cores) in
        [("2:ppn=2+3:ppn=1:x", 5, 7), ("2:x:ppn=4#excl", 2, 8), ("n01:ppn=2+n02", 2, 3)]
    {
        assert_eq!(jobs(&made("torque", &log(nodes)))[0][3], count, "{nodes}");
        assert_eq!(jobs(&made("torque[size=cores]", &log(nodes)))[0][3], cores, "{nodes}");
    }
    let message = error("torque", &log("2++1"));
    assert!(message.contains("Resource_List.nodes \"2++1\": not a number"), "{message}");
}

/// Deletions are matched with an earlier or later end of the same job. Names may contain blanks.
#[test]
fn torque_matches_deletions_and_reads_names_with_blanks() {
    let log = "\
03/18/2017 00:00:01;E;70.bw;user=John Smith group=g queue=low ctime=900 start=1000 Resource_List.nodect=1 end=1060 Exit_status=0
03/18/2017 00:00:02;D;70.bw;requestor=John Smith

03/18/2017 00:00:03;A;70.bw;
03/18/2017 00:00:04;D;70.aw;
03/18/2017 00:00:05;D;70.aw;
03/18/2017 00:00:06;D;71.bw;
03/18/2017 00:00:07;E;71.bw;user=John Smith  Jr. ctime=900 start=1000 Resource_List.nodect=1 end=1060 Exit_status=0
";
    let made = super::made("torque", log);
    for user in ["; User: 1 John Smith\n", "; User: 2 John Smith  Jr.\n"] {
        assert!(made.header.contains(user), "{}", made.header);
    }
    let counts: Vec<_> =
        made.report.counts.iter().map(|(key, c)| (key.1, c.count, c.first)).collect();
    let expected = [
        ("no time limits: backfilling will know all run times", 2, 1),
        ("blank line", 1, 3),
        ("deleted or aborted job without an end", 1, 5),
        ("event other than the end of a job", 3, 2),
        ("further record of a job without an end", 1, 5),
    ];
    assert_eq!(counts, expected);
    assert_eq!((made.report.accounted(), made.report.lines), (8, 8));
    assert_eq!(made.ids, "job,id\n1,70.bw\n2,71.bw\n");
}

/// Returns a record of the end of a job, with the given fields in addition to its times.
fn ended(id: &str, fields: &str) -> String {
    format!("03/18/2017 00:46:07;E;{id};user=ann qtime=100 start=110 end=160 {fields}\n")
}

/// Arrays have records of their own, in addition to the records of their tasks.
#[test]
fn records_of_arrays_are_not_jobs() {
    let hosts = "exec_host=n1/0*4 Resource_List.nodect=1";
    let log = [
        ended("4[1].srv", &format!("{hosts} array_index=1")),
        ended("4[2].srv", hosts),
        ended("4[].srv", "array_indices=1-2 Resource_List.nodect=1 session=0"),
        // An early version of PBS Pro writes no start.
        ended("5[].srv", "Resource_List.nodect=1").replace("start=110", "start=0"),
        ended("6[1-9:2]", hosts),
        ended("7.srv", "array_indices=1-2 Resource_List.nodect=1"),
        "03/18/2017 00:46:08;D;4[].srv;requestor=ann\n".to_string(),
        "03/18/2017 00:46:08;A;8[3-4].srv;\n".to_string(),
        "03/18/2017 00:46:08;D;8[5].srv;requestor=ann\n".to_string(),
    ];
    let made = made("torque", &log.concat());
    assert_eq!(made.ids, "job,id\n1,4[1].srv\n2,4[2].srv\n");
    let array = made.report.count("record of an array, whose tasks are jobs of their own");
    assert_eq!((array, made.report.of(Class::Dropped)), (6, 0));
    assert_eq!(made.report.count("deleted or aborted job without an end"), 1);
}

/// A number of nodes is a number in front of other text; the nodes of the job decide if the record names them.
#[test]
fn torque_reads_numbers_with_text_after_them() {
    let text = "text after the size, ignored";
    let bad = "unreadable size; another field of the record is used";
    for (fields, cores, size, note) in [
        ("exec_host=n3/0-27+n4/0-27 Resource_List.nodect=2:ppn=24:gpu=4", false, 2, Some(text)),
        ("exec_host=n3/0-27+n4/0-27 Resource_List.nodect=3:ppn=24", false, 2, Some(text)),
        ("Resource_List.nodect=3:ppn=24", false, 3, Some(text)),
        ("unique_node_count=4,x exec_host=n1/0", false, 1, Some(text)),
        ("exec_host=n3/0+n4/0 Resource_List.nodect=2x", false, 2, Some(bad)),
        ("Resource_List.nodes=5:ppn=2 Resource_List.nodect=many", false, 5, Some(bad)),
        ("unique_node_count=x Resource_List.nodect=7", false, 7, Some(bad)),
        ("exec_host=n1/0*4+n2/1-3 Resource_List.ncpus=8:x", true, 7, Some(text)),
        ("Resource_List.ncpus=8;mem=3", true, 8, Some(text)),
        ("exec_host=n1/0,2+n2/0 Resource_List.ncpus=8gb", true, 3, Some(bad)),
        ("exec_host=n1/0,2+n2/0", true, 3, None),
        ("exec_host=n1/0+n2/0 unique_node_count=0 Resource_List.nodect=0", false, 2, None),
    ] {
        let source = if cores { "torque[size=cores]" } else { "torque" };
        let made = made(source, &ended("1.s", fields));
        assert_eq!(jobs(&made)[0][..4], [0, 10, 50, size], "{fields}");
        for what in [text, bad] {
            assert_eq!(made.report.count(what), u64::from(note == Some(what)), "{fields}");
        }
    }
    let none = format!("{}{}", ended("1.s", ""), ended("2.s", "Resource_List.nodect=1"));
    assert_eq!(made("torque", &none).report.count("no size"), 1);
    for (fields, words) in [
        ("Resource_List.nodect=2x4", "Resource_List.nodect \"2x4\": not a number"),
        ("Resource_List.nodect=2.5", "Resource_List.nodect \"2.5\": not a number"),
    ] {
        let message = error("torque", &ended("1.s", fields));
        assert!(message.contains(words), "{message}");
    }
}

/// A job is kept if a value that it does not need is unreadable.
#[test]
fn torque_keeps_jobs_with_unreadable_limits() {
    let limit = "unreadable time limit, treated as unknown";
    let text = "text after the time limit, ignored";
    for (walltime, estimate, note) in [
        ("3600", 3600, None),
        ("90:00", 5400, None),
        ("2:00:00:00", 172_800, None),
        ("48:00:00:ppn=2", 172_800, Some(text)),
        ("48:00:00,mem=4gb", 172_800, Some(text)),
        ("1:60", -1, Some(limit)),
        ("48h", -1, Some(limit)),
        ("48:ppn=2", -1, Some(limit)),
        ("48:00:x", -1, Some(limit)),
        ("-1", -1, Some(limit)),
    ] {
        let fields = format!("Resource_List.nodect=1 Resource_List.walltime={walltime}");
        let made = made("torque", &ended("1.s", &fields));
        assert_eq!(jobs(&made)[0][4], estimate, "{walltime}");
        for what in [text, limit] {
            assert_eq!(made.report.count(what), u64::from(note == Some(what)), "{walltime}");
        }
    }
    let log = "03/18/2017 00:46:07;E;1.s;qtime=soon ctime=90 etime=x start=110 end=160 \
               Resource_List.nodect=1 Exit_status=ok\n";
    let made = made("torque[submit=eligible]", log);
    assert_eq!(jobs(&made), [[0, 20, 50, 1, -1, -1]]);
    for what in [
        "unreadable qtime; ctime is used",
        "unreadable etime, ignored",
        "unreadable exit status, treated as unknown",
    ] {
        assert_eq!(made.report.count(what), 1, "{what}");
    }
}

/// A record without a start belongs to a job that never started.
#[test]
fn torque_keeps_jobs_that_never_started() {
    let log =
        ended("1.s", "Resource_List.nodect=2 Exit_status=271").replace("start=110", "start=0");
    let made = made("torque", &log);
    assert_eq!(jobs(&made), [[0, -1, 0, 2, -1, 5]]);
    assert_eq!(made.report.count("never started"), 1);
    let open = ended("2.s", "Resource_List.nodect=2").replace("end=160", "end=0");
    let made = super::made("torque", &format!("{log}{open}"));
    assert_eq!(made.report.count("neither end nor run time"), 1);
}

/// Two records with the same id and the same start describe one run. A requeued job has another start.
#[test]
fn the_last_record_of_a_run_is_used() {
    let first = ended("9.s", "exec_host=n1/0 Resource_List.nodect=1 Exit_status=271");
    let later = first.replace("end=160", "end=300").replace("=271", "=0");
    let other = ended("8.s", "exec_host=n2/0 Resource_List.nodect=1 Exit_status=0");
    let requeued = later.replace("start=110", "start=400").replace("end=300", "end=410");
    let log = [&*first, &other, &later, &requeued].map(str::to_string).concat();
    let made = made("torque", &log);
    let again = "further record of a run (same id and start), which replaces the earlier record";
    let expected = [[0, 10, 190, 1, -1, 1], [0, 10, 50, 1, -1, 1], [0, 300, 10, 1, -1, 1]];
    assert_eq!(jobs(&made), expected);
    assert_eq!(made.nodes, "job,nodes\n1,\"n1\"\n2,\"n2\"\n3,\"n1\"\n");
    assert_eq!(made.ids, "job,id\n1,9.s\n2,8.s\n3,9.s\n");
    let report = &made.report;
    assert_eq!((report.count(again), report.count("repeated job id, kept")), (1, 1));
    assert_eq!(report.counts[&(Class::Passed, again)].first, 3);
    // The last record is used even if its run is shorter.
    let made = super::made("torque", &format!("{later}{first}"));
    assert_eq!(jobs(&made), [[0, 10, 50, 1, -1, 5]]);
    let elsewhere = first.replace("n1/0", "n3/0");
    let made = super::made("torque", &format!("{later}{elsewhere}"));
    let what = "further record of a run on other nodes; the nodes of the first record are kept";
    assert_eq!((made.report.count(what), made.nodes.as_str()), (1, "job,nodes\n1,\"n1\"\n"));
    // The second record may be in another file.
    let mut swf = Vec::new();
    let inputs = [("a", first.as_bytes()), ("b", later.as_bytes())];
    let inputs = inputs.map(|(name, text)| (name.to_string(), Ok(Input::Stream(Box::new(text)))));
    let report = import_all(inputs, &how("torque", None), Outputs::trace(&mut swf)).expect("a log");
    assert_eq!((report.jobs, report.accounted(), report.lines), (1, 2, 2));
    assert!(report.to_string().contains("first in line 1 of b"), "{report}");
}
