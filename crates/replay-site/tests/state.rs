//! The present state of a site: planned and expected starts, draws, reasons, and messages about the files.

use std::fs;
use std::path::Path;

use replay_engine::workload::UnknownPartition;
use replay_site::site::{Site, SiteOptions};
use replay_site::state::check::{Agreement, compare};
use replay_site::state::when::{WhenRow, when};
use replay_site::state::{PresentState, StateOptions, asked, read};

const CONF: &str =
    "NodeName=n[0-3] CPUs=1\nPartitionName=p Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE\n";

/// Returns the line of a running job.
fn running(id: u32, start: i64, minutes: u32, nodes: &str, count: u32) -> String {
    format!(
        "JobId={id} JobName=a b=c UserId=u{id}(1) GroupId=g(1) Priority=1 Nice=0 Account=a QOS=normal JobState=RUNNING \
         Reason=None Dependency=(null) TimeLimit={minutes} SubmitTime=0 EligibleTime=0 AccrueTime=0 StartTime={start} \
         Partition=p NodeList={nodes} NumNodes={count}\n"
    )
}

/// Returns the line of a waiting job.
fn waiting(id: u32, submit: i64, nodes: u32, minutes: u32, priority: u32) -> String {
    format!(
        "JobId={id} JobName=x UserId=u{id}(1) GroupId=g(1) Priority={priority} Nice=0 Account=a QOS=normal \
         JobState=PENDING Reason=None Dependency=(null) TimeLimit={minutes} SubmitTime={submit} EligibleTime={submit} \
         AccrueTime={submit} StartTime=Unknown Partition=p NodeList=(null) NumNodes={nodes}\n"
    )
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
}

/// Reads the state at the instant 20 of a site with these files.
fn state(files: &[(&str, &str)]) -> Result<(Site, PresentState), String> {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &[("slurm.conf", CONF), ("now.txt", "20\n")]);
    write(folder.path(), files);
    let (mut site, _) =
        Site::read(folder.path(), SiteOptions::default()).map_err(|e| e.to_string())?;
    let state = read(&mut site, folder.path(), StateOptions::default());
    let state =
        state.map_err(|e| e.to_string().replace(&format!("{}/", folder.path().display()), ""))?;
    Ok((site, state))
}

fn rows(files: &[(&str, &str)], draws: u64) -> Vec<WhenRow> {
    let (site, state) = state(files).expect("a state");
    when(&site, &state, draws).expect("starts")
}

/// Returns the planned start and nodes of each waiting job.
fn plans(files: &[(&str, &str)]) -> Vec<(Option<i64>, Option<String>)> {
    rows(files, 0).into_iter().map(|row| (row.plan, row.plan_nodes)).collect()
}

fn at(start: i64, nodes: &str) -> (Option<i64>, Option<String>) {
    (Some(start), Some(nodes.to_string()))
}

#[test]
fn plans_are_those_of_the_next_pass() {
    let jobs = running(1, 0, 11, "n[0-1]", 2)
        + &running(2, 10, 10, "n[2-3]", 2)
        + &waiting(3, 15, 2, 60, 5)
        + &waiting(4, 15, 2, 9, 4);
    assert_eq!(plans(&[("jobs.txt", &jobs)]), [at(660, "0-1"), at(660, "2-3")]);
    let rows = self::rows(&[("jobs.txt", &jobs)], 0);
    assert_eq!(rows[0].reason, Some("Resources"));
    assert_eq!(rows[0].blocked_by.as_deref(), Some("running: 1 until 660"));
    // Every job runs to its limit: the second job starts on the nodes that are free first.
    assert_eq!((rows[0].expected, rows[1].expected), (Some(610), Some(660)));

    let busy = running(1, 0, 100, "n[0-1]", 2);
    let jobs = busy.clone() + &waiting(2, 20, 4, 60, 400) + &waiting(3, 20, 2, 300, 300);
    assert_eq!(plans(&[("jobs.txt", &jobs)]), [at(6000, "0-3"), at(9600, "0-1")]);
    let rows = self::rows(&[("jobs.txt", &jobs)], 0);
    assert_eq!(rows[1].reason, Some("Priority"));
    assert_eq!(rows[1].blocked_by.as_deref(), Some("1 job before it (4.0 node hours): 2"));
    let conf = format!("{CONF}SchedulerParameters=bf_min_prio_reserve=500\n");
    assert_eq!(plans(&[("jobs.txt", &jobs), ("slurm.conf", &conf)]), [(None, None), at(20, "2-3")]);
    let conf = format!("{CONF}SchedulerParameters=bf_window=60\n");
    assert_eq!(
        plans(&[("jobs.txt", &jobs), ("slurm.conf", &conf)]),
        [(Some(6000), None), at(20, "2-3")]
    );
    let conf = format!("{CONF}SchedulerParameters=bf_max_job_test=2\n");
    let jobs =
        busy + &waiting(2, 20, 4, 60, 9) + &waiting(3, 20, 4, 60, 8) + &waiting(4, 20, 1, 10, 7);
    let files = [("jobs.txt", &jobs[..]), ("slurm.conf", &conf)];
    assert_eq!(plans(&files), [at(6000, "0-3"), (Some(9600), None), (None, None)]);
    assert!(self::rows(&files, 0)[2].expected.is_some());
}

#[test]
fn limits_name_their_value_and_the_end_that_clears_them() {
    let conf = format!("AccountingStorageEnforce=limits\n{CONF}");
    let qos = "Name|Priority|MaxTRESPU\nnormal|0|node=3\n";
    let jobs = running(1, 0, 100, "n[0-1]", 2) + &waiting(2, 20, 2, 60, 9).replace("u2(", "u1(");
    let rows = self::rows(&[("jobs.txt", &jobs), ("slurm.conf", &conf), ("qos.txt", qos)], 0);
    assert_eq!((rows[0].plan, rows[0].expected), (None, Some(6000)));
    assert_eq!(rows[0].reason, Some("QOSMaxNodePerUserLimit"));
    let expected =
        "QOSMaxNodePerUserLimit: at most 3 nodes, 2 held by 1 running job, 2 asked; clears at 6000";
    assert_eq!(rows[0].blocked_by.as_deref(), Some(expected));
}

#[test]
fn dependent_held_and_later_jobs_wait() {
    let after = |dependency: &str| {
        waiting(2, 15, 1, 60, 9).replace("Dependency=(null)", &format!("Dependency={dependency}"))
    };
    let busy = running(1, 0, 100, "n[0-1]", 2);
    let one = |line: &str| self::rows(&[("jobs.txt", &(busy.clone() + line))], 0).remove(0);
    let row = one(&after("afterany:1(unfulfilled)"));
    assert_eq!((row.plan, row.expected, row.reason), (None, Some(6000), Some("Dependency")));
    let row = one(&after("after:1+5(unfulfilled)"));
    assert_eq!((row.plan, row.expected), (None, Some(300)));
    for unknown in ["afterok:77", "singleton", "afternotok:1"] {
        let (site, state) =
            state(&[("jobs.txt", &(busy.clone() + &after(unknown)))]).expect("a state");
        assert!(state.notes[0].contains("wait for ever"), "{:?}", state.notes);
        assert_eq!(when(&site, &state, 0).expect("starts")[0].expected, None);
    }
    let row = one(&waiting(2, 15, 1, 60, 0));
    assert_eq!((row.plan, row.expected, row.reason), (None, None, Some("JobHeldAdmin")));
    let row = one(&waiting(2, 15, 1, 60, 5).replace("EligibleTime=15", "EligibleTime=500"));
    assert_eq!((row.plan, row.expected, row.reason), (None, Some(500), Some("BeginTime")));
}

#[test]
fn arrays_are_expanded_and_nodes_leave_service() {
    let array =
        waiting(7, 15, 1, 60, 9).replace("JobName", "ArrayJobId=7 ArrayTaskId=3-4,8%1 JobName");
    let (site, state) = state(&[("jobs.txt", &array)]).expect("a state");
    let ids: Vec<&str> = state.names.iter().map(|names| &names.id[..]).collect();
    assert_eq!(ids, ["7_3", "7_4", "7_8"]);
    assert!(state.notes[0].contains("limit of running tasks"));
    let rows = when(&site, &state, 0).expect("starts");
    assert_eq!(rows.iter().map(|row| row.plan).collect::<Vec<_>>(), [Some(20); 3]);
    let squeue = "JOBID|START_TIME|SCHEDNODES\n7_[3-4,8]|20|n0\n9|N/A|(null)\n";
    let found = compare(&rows, squeue, "squeue.txt", |plan, listed| plan == listed);
    let expected = Agreement { agreeing: 1, unknown: 1, ..Agreement::default() };
    assert_eq!(found.expect("a comparison"), expected);

    // The node of the running job leaves service when the job ends.
    let nodes = "NodeName=n0 State=MIXED+DRAIN\nNodeName=n1 State=DOWN*\nNodeName=n2 State=IDLE\nNodeName=n3 State=IDLE\n";
    let jobs = running(1, 0, 10, "n0", 1) + &waiting(2, 15, 3, 60, 9) + &waiting(3, 15, 2, 60, 8);
    let rows = self::rows(&[("jobs.txt", &jobs), ("nodes.txt", nodes)], 0);
    assert_eq!((rows[0].plan, rows[0].expected), (Some(600), None));
    assert_eq!(rows[1].expected, Some(600));
}

#[test]
fn draws_do_not_depend_on_other_jobs() {
    let mut history = "User|Account|State|Elapsed|Timelimit\n".to_string();
    for minutes in 1..=20 {
        history += &format!("u1|a|COMPLETED|00:{minutes:02}:00|00:20:00\n");
    }
    let jobs = running(1, 0, 100, "n[0-3]", 4) + &waiting(2, 20, 4, 60, 9);
    let files = [("jobs.txt", &jobs[..]), ("history.txt", &history)];
    let first = rows(&files, 200);
    let [low, median, high] = first[0].quantiles.map(|start| start.expect("a start"));
    assert!(20 < low && low < median && median < high && high <= 6000, "{low} {median} {high}");
    assert_eq!(rows(&files, 200), first);
    let more = jobs.clone() + &waiting(3, 20, 1, 60, 1);
    let again = rows(&[("jobs.txt", &more), ("history.txt", &history)], 200);
    assert_eq!(again[0].quantiles, first[0].quantiles);
    // A job that has run for 90 % of its limit ends later than all shorter jobs of its user.
    let late = running(1, -5380, 100, "n[0-3]", 4) + &waiting(2, 20, 4, 60, 9);
    let row = rows(&[("jobs.txt", &late), ("history.txt", &history)], 50).remove(0);
    assert!(row.quantiles[0] >= Some(320), "{:?}", row.quantiles);
}

#[test]
fn a_job_can_be_asked_for() {
    let jobs = running(1, 0, 100, "n[0-1]", 2) + &waiting(2, 20, 4, 60, 9);
    let (mut site, mut state) = state(&[("jobs.txt", &jobs)]).expect("a state");
    asked::submit(&mut site, &mut state, "nodes=1,time=10,user=u9,account=a").expect("a job");
    let rows = when(&site, &state, 0).expect("starts");
    assert_eq!(
        (&rows[1].job[..], rows[1].plan, rows[1].started_by),
        ("new", Some(20), Some("backfill"))
    );
    for (text, problem) in [
        ("time=10", "nodes: a number of nodes is missing"),
        ("nodes=0", "nodes: \"0\" is not a number of nodes"),
        ("nodes=1,partition=p+q", "partition: there is no partition q"),
        (
            "nodes=1,cpus=3",
            "cpus: unknown; known are nodes, time, user, account, partition, qos, nice",
        ),
    ] {
        assert_eq!(asked::submit(&mut site, &mut state, text), Err(problem.to_string()));
    }
}

#[test]
fn invalid_states_have_messages() {
    let good = running(1, 0, 100, "n[0-1]", 2);
    for (jobs, problem) in [
        (running(1, 0, 100, "n[8-9]", 2), "jobs.txt:1: job 1: NodeList: slurm.conf has no node n8"),
        (
            running(1, 30, 100, "n0", 1),
            "jobs.txt:1: job 1: StartTime 30 is after the present instant 20",
        ),
        (running(1, 0, 100, "n0", 2), "jobs.txt:1: job 1: NodeList has 1 nodes, but NumNodes is 2"),
        (
            good.clone() + &running(2, 0, 100, "n[1-2]", 2),
            "jobs.txt:2: job 2: NodeList: job 1 runs on node n1 as well; partitions whose jobs share nodes are not supported",
        ),
        (good.replace("Partition=p", "Partition=q"), "jobs.txt:1: job 1: there is no partition q"),
        (good.replace("QOS=normal", "QOS=x"), "jobs.txt:1: job 1: there is no QOS x"),
        (
            "JobId=1 JobName=x\n   UserId=u(1)\n".to_string(),
            "jobs.txt:2: the line does not begin with JobId=; make the file with scontrol show job -o",
        ),
        (
            "JOBID PARTITION NAME\n".to_string(),
            "jobs.txt:1: the line does not begin with JobId=; make the file with scontrol show job -o",
        ),
        (
            good.replace("TimeLimit=100", "TimeLimit=x"),
            "jobs.txt:1: TimeLimit: \"x\" is not a time",
        ),
    ] {
        let error = state(&[("jobs.txt", &jobs)]).expect_err(problem);
        assert!(error.starts_with(problem), "{error}");
    }
    let (_, empty) = state(&[("jobs.txt", "No jobs in the system\n")]).expect("no jobs");
    assert_eq!(empty.jobs.len(), 0);
    let lost = waiting(2, 15, 1, 60, 9).replace("Partition=p", "Partition=q");
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &[("slurm.conf", CONF), ("jobs.txt", &lost)]);
    let (mut site, _) = Site::read(folder.path(), SiteOptions::default()).expect("a site");
    let error = read(&mut site, folder.path(), StateOptions::default()).expect_err("no instant");
    assert!(error.to_string().contains("now.txt: there is no such file"), "{error}");
    fs::write(folder.path().join("now.txt"), "1970-01-01T00:00:20").expect("a file");
    let drop = StateOptions { unknown: UnknownPartition::Drop, ..StateOptions::default() };
    let state = read(&mut site, folder.path(), drop).expect("a state");
    assert_eq!(state.notes, ["1 job of unknown partitions or QOS left out"]);
}
