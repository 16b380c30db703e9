//! Files of a site: priorities that controllers printed, and the messages about invalid files.

use std::fs;
use std::path::Path;

use replay_engine::workload::{Policy, UnknownPartition, Window, Workload};
use replay_site::assoc::Associations;
use replay_site::cases::answer_priorities;
use replay_site::jobs::{JobOptions, PartitionField, site_jobs};
use replay_site::qos;
use replay_site::sidecar::Sidecar;
use replay_site::site::{Site, SiteOptions};

#[test]
fn priorities_of_the_sample_are_those_of_a_controller() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fixtures/site");
    let cases = fs::read_to_string(folder.join("site-priority.csv")).expect("cases");
    // The priorities are removed from the input.
    let input: String = cases
        .lines()
        .map(|line| line.rsplit_once(',').expect("a row").0.to_string() + "\n")
        .collect();
    for input in [input, cases.clone()] {
        let mut output = Vec::new();
        let site = |name: &str| {
            let folder = folder.join(format!("site-{name}"));
            Site::read(&folder, SiteOptions::default()).map(|(site, _)| site)
        };
        let count = answer_priorities(input.as_bytes(), "cases.csv", site, &mut output)
            .expect("priorities");
        assert_eq!((String::from_utf8(output).expect("text"), count), (cases.clone(), 20));
    }
}

#[test]
fn invalid_cases_have_messages() {
    let header = "partition,qos,nodes,cpus,limit,nice,fairshare,waited";
    for (row, problem) in [
        ("x,normal,1,,60,0,1,", "c.csv:2: partition: the site has no partition x"),
        ("all,x,1,,60,0,1,", "c.csv:2: qos: the site has no qos x"),
        ("all,normal,x,,60,0,1,", "c.csv:2: nodes: \"x\" is not a whole number"),
        ("all,normal,1,,60,0,-1,", "c.csv:2: fairshare: the value is not a number of at least 0"),
        ("all,normal,1,,60,0,1,2s", "c.csv:2: waited: \"2s\" is not a number of seconds"),
        ("all,normal", "c.csv:2: 2 fields, but the header has 8"),
    ] {
        let input = format!("{header}\n{row}\n");
        let site = |_: &str| Ok(Site::of_machine(4, None));
        let error = answer_priorities(input.as_bytes(), "c.csv", site, Vec::new()).expect_err(row);
        assert_eq!(error.to_string(), problem);
    }
}

#[test]
fn associations_have_messages() {
    let read = |text: &str, cluster| {
        let read = Associations::read(text, "assoc.txt", cluster);
        read.map(|(_, warnings)| warnings.iter().map(ToString::to_string).collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    let root = "ID|Account|User|Share|ParentName|\n1|root||1||\n";
    for (rows, problem) in [
        ("2|a||1|b|\n", "3: ParentName: there is no account b"),
        ("2|a|u|1||\n", "3: Account: there is no account a"),
        ("2|a||1|b|\n3|b||1|a|\n", "3: account a is above itself"),
        ("2|a||1|root|\n3|a|u|1||\n4|a|u|1||\n", "5: user u in account a is given twice"),
        ("2|a||1|root|\n3|a||1|root|\n", "4: account a is given twice"),
        ("2|a||-3|root|\n", "3: Share: \"-3\" is neither a number of shares nor parent"),
        ("2||u|1||\n", "3: Account: a name is missing"),
        ("2|a||1\n", "3: 4 fields, but the header has 5"),
    ] {
        assert_eq!(read(&format!("{root}{rows}"), None), Err(format!("assoc.txt:{problem}")));
    }
    let error = read("Account|User|Share|ParentName|\nroot||1||\n", None).expect_err("no ID");
    assert!(
        error.starts_with("assoc.txt:1: the column ID is missing; print the table with sacctmgr"),
        "{error}"
    );
    let clusters = "Cluster|ID|Account|User|Share|ParentName|\nc|1|root||1||\nd|2|root||1||\n";
    let error = read(clusters, None).expect_err("two clusters");
    assert_eq!(error, "assoc.txt:3: several clusters: c, d; select one with --cluster");
    assert_eq!(read(clusters, Some("d")), Ok(vec![]));
    let columns =
        "ID|Account|User|Partition|Share|ParentName|MaxWall|GrpTRES|GrpTRESMins|\n1|root|||1||||\n";
    for (row, problem) in [
        (
            "2|root|u|p|1|||||\n",
            "3: `Partition`: associations of a user with a partition are ignored",
        ),
        (
            "2|root|u||1||||cpu=9|\n",
            "3: `GrpTRESMins` is not modelled: budgets limit the usage of a group",
        ),
        ("2|root|u||1|||mem=9|||\n", ""),
    ] {
        let text = columns.replace("|1||||\n", "|1|||||\n") + row;
        match problem {
            "" => assert!(read(&text, None).is_err()),
            _ => assert_eq!(read(&text, None), Ok(vec![format!("assoc.txt:{problem}")])),
        }
    }
    let text = columns.replace("|1||||\n", "|1|||||\n") + "2|root|u||1||x|node=2,mem=9||\n";
    let error = read(&text, None).expect_err("a time");
    assert!(error.starts_with("assoc.txt:3: MaxWall: \"x\" is not a time"), "{error}");
    let text = text.replace("|x|", "|1:00:00|");
    let warning =
        "assoc.txt:3: `GrpTRES=mem` is not modelled: only node, cpu and billing limit jobs here";
    assert_eq!(read(&text, None), Ok(vec![warning.to_string()]));
}

#[test]
fn qos_have_messages() {
    let read = |rows: &str| {
        let text = format!("Name|Priority|Flags|UsageFactor|MaxTRES|MaxWall|Preempt|\n{rows}\n");
        qos::read(&text, "qos.txt")
            .map(|(qos, warnings)| (qos.len(), warnings))
            .map_err(|e| e.to_string())
    };
    for (rows, problem) in [
        ("a|x||||||", "2: Priority: \"x\" is not a whole number from 0 to 4294967295"),
        ("a|1||-1||||", "2: UsageFactor: \"-1\" is not a factor"),
        ("a|1|||node||", "2: 6 fields, but the header has 7"),
        ("a|1|||node|||", "2: MaxTRES: \"node\" is not a pair NAME=COUNT, such as node=3"),
        ("a|1||||||\na|1||||||", "3: QOS a is given twice"),
    ] {
        assert_eq!(read(rows), Err(format!("qos.txt:{problem}")));
    }
    let (count, warnings) = read("a|1|NoReserve,DenyOnLimit||||b|").expect("a QOS");
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(count, 1);
    assert!(
        warnings[0].contains("`Preempt` is not modelled")
            && warnings[1].contains("`Flags=NoReserve`")
    );
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

const CONF: &str = "NodeName=n[0-3] CPUs=2\nPartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE\nPartitionName=q Nodes=n0\n";

#[test]
fn sites_have_messages() {
    let read = |files: &[(&str, &str)]| {
        let folder = folder(files);
        let read = Site::read(folder.path(), SiteOptions::default());
        let plain = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
        read.map(|(_, warnings)| warnings.iter().map(|w| plain(w.to_string())).collect::<Vec<_>>())
            .map_err(|e| plain(e.to_string()))
    };
    assert_eq!(read(&[]), Err("slurm.conf: there is no such file".to_string()));
    let limits = ("qos.txt", "Name|Priority|MaxWall|\nnormal|0|10|\n");
    let warning = "qos.txt: limits are not enforced: AccountingStorageEnforce of slurm.conf has neither limits nor safe";
    assert_eq!(read(&[("slurm.conf", CONF), limits]), Ok(vec![warning.to_string()]));
    let enforced = format!("{CONF}AccountingStorageEnforce=limits\n");
    assert_eq!(read(&[("slurm.conf", &enforced), limits]), Ok(vec![]));
    let conf = format!("{CONF}PartitionName=r Nodes=n1 QOS=x\n");
    let error = "slurm.conf:4: partition r: there is no QOS x";
    assert_eq!(read(&[("slurm.conf", &conf)]), Err(error.to_string()));
    let conf = format!("{CONF}TopologyPlugin=topology/tree\n");
    let error =
        "slurm.conf: `TopologyPlugin`: there is no topology.conf or topology.yaml beside this file";
    assert_eq!(read(&[("slurm.conf", &conf)]), Err(error.to_string()));
    let blocks = ("topology.conf", "BlockName=b Nodes=n[0-3]\n");
    let error = "topology.conf: does not match TopologyPlugin of slurm.conf: one has switches, the other blocks";
    assert_eq!(read(&[("slurm.conf", &conf), blocks]), Err(error.to_string()));
    let part = ("topology.conf", "SwitchName=s Nodes=n[1-4]\n");
    let error = read(&[("slurm.conf", CONF), part]).expect_err("a node without a switch");
    assert!(error.contains("does not have node n0, which slurm.conf has"), "{error}");
    let more = ("topology.conf", "SwitchName=s Nodes=n[0-5]\n");
    let warning = "topology.conf: 2 nodes are not in slurm.conf and are left out";
    assert_eq!(read(&[("slurm.conf", CONF), more]), Ok(vec![warning.to_string()]));
    let weights = format!("{CONF}PriorityWeightFairshare=1\n");
    let warning = "slurm.conf: `PriorityWeightFairshare`: there is no assoc.txt, so the fair share of all jobs is 0";
    assert_eq!(read(&[("slurm.conf", &weights)]), Ok(vec![warning.to_string()]));
}

fn workload(text: &str) -> Workload {
    let workload = Workload::from_reader(
        text.as_bytes(),
        "t.swf",
        &Policy::JOHNSON,
        &Window::ALL,
        Default::default(),
    );
    workload.expect("a trace")
}

const TRACE: &str = "; MaxProcs: 8\n; Queue: 1 p\n; Queue: 2 q (short jobs)\n\
    1 0 -1 60 3 -1 -1 3 61 -1 1 7 1 -1 1 -1 -1 -1\n2 5 -1 60 1 -1 -1 1 -1 -1 1 8 2 -1 2 -1 -1 -1\n";

#[test]
fn jobs_of_a_trace_have_partitions_users_and_sizes_in_nodes() {
    let folder = folder(&[("slurm.conf", CONF)]);
    let site = || Site::read(folder.path(), SiteOptions::default()).expect("a site").0;
    let trace = workload(TRACE);
    let options = JobOptions { partitions: PartitionField::Queue, ..JobOptions::default() };
    let mut with_queues = site();
    let jobs = site_jobs(&mut with_queues, &trace, None, options).expect("jobs");
    let found: Vec<_> = jobs
        .jobs
        .iter()
        .map(|job| (job.number, job.nodes, job.limit, &job.partitions[..]))
        .collect();
    assert_eq!(found, [(1, 2, Some(2), &[0][..]), (2, 1, None, &[1][..])]);
    assert_eq!(jobs.notes, ["sizes are divided by 2 CPUs per node and rounded up"]);
    // Groups are accounts, as they differ.
    let names = |at: usize| {
        let one = &with_queues.associations.all()[at];
        (one.account.clone(), one.user.clone().unwrap_or_default())
    };
    assert_eq!(names(jobs.jobs[1].association), ("2".to_string(), "8".to_string()));
    let jobs = site_jobs(&mut site(), &trace, None, JobOptions::default()).expect("jobs");
    assert!(jobs.jobs.iter().all(|job| job.partitions == [0]));
    let other = TRACE.replace("2 q (short jobs)", "2 r");
    let error = site_jobs(&mut site(), &workload(&other), None, options).expect_err("a queue");
    assert_eq!(
        error.to_string(),
        "t.swf:5: job 2: there is no partition r; --unknown drop leaves such jobs out"
    );
    let options = JobOptions { unknown: UnknownPartition::Drop, ..options };
    let jobs = site_jobs(&mut site(), &workload(&other), None, options).expect("jobs");
    assert_eq!((jobs.jobs.len(), &jobs.indexes[..]), (1, &[0][..]));
    assert_eq!(jobs.notes[1], "1 job of unknown partitions or QOS left out");
}

#[test]
fn sidecars_name_partitions_in_order() {
    let folder = folder(&[
        ("slurm.conf", CONF),
        ("assoc.txt", "ID|Account|User|Share|ParentName|\n1|root||1||\n2|a||1|root|\n3|a|u|1||\n"),
    ]);
    let site = || Site::read(folder.path(), SiteOptions::default()).expect("a site").0;
    let read = |text: &str| Sidecar::read(text.as_bytes(), "t.site.csv").map_err(|e| e.to_string());
    let sidecar =
        "job,user,account,partition,qos,nice\n1,u,a,q p,normal,-5\n# a comment\n2,v,a,,,\n";
    let mut site_of_jobs = site();
    let jobs = site_jobs(
        &mut site_of_jobs,
        &workload(TRACE),
        Some(&read(sidecar).expect("a sidecar")),
        JobOptions::default(),
    );
    let jobs = jobs.expect("jobs");
    assert_eq!((&jobs.jobs[0].partitions[..], jobs.jobs[0].nice), (&[1, 0][..], -5));
    assert_eq!((jobs.jobs[1].association, site_of_jobs.associations.all()[3].parent), (3, Some(0)));
    assert_eq!(jobs.notes[1], "1 user without an association added below root with share 1");
    assert_eq!(jobs.sharing_jobs, 0);
    for (text, problem) in [
        ("job,user\n", "1: the column account is missing"),
        (
            "job,user,account,partition,qos,nice,x\n",
            ": unknown column x; known are job, user, account, partition, qos, nice, eligible, priority, cpus, reason",
        ),
        ("job,user,account,partition,qos,nice\nx,,,,,\n", "2: job: \"x\" is not a whole number"),
        (
            "job,user,account,partition,qos,nice\n1,,,,,\n\n1,,,,,\n",
            "4: job 1 is given twice; the first time on line 2",
        ),
        (
            "job,user,account,partition,qos,nice\n1,,,,,1.5\n",
            "2: nice: \"1.5\" is not a whole number",
        ),
    ] {
        let expected = if problem.starts_with(':') {
            format!("t.site.csv{problem}")
        } else {
            format!("t.site.csv:{problem}")
        };
        assert_eq!(read(text).expect_err(text), expected);
    }
    let one = read("job,user,account,partition,qos,nice\n1,u,a,p,normal,0\n").expect("a sidecar");
    let error = site_jobs(&mut site(), &workload(TRACE), Some(&one), JobOptions::default())
        .expect_err("job 2");
    assert_eq!(error.to_string(), "t.site.csv: there is no row for job 2");
    let unknown = read(&sidecar.replace("normal", "fast")).expect("a sidecar");
    let error = site_jobs(&mut site(), &workload(TRACE), Some(&unknown), JobOptions::default())
        .expect_err("a QOS");
    assert_eq!(
        error.to_string(),
        "t.site.csv:2: job 1: there is no QOS fast; --unknown drop leaves such jobs out"
    );
}
