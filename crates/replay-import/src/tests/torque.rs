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
