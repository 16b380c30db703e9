//! `replay priority`, `replay fairshare`, and the main job with a site.

use std::path::PathBuf;

use super::dir::Dir;

trials!(
    adds_priorities_to_cases,
    prints_fair_shares,
    replays_a_site,
    prints_when_jobs_start,
    writes_tables_of_a_site,
    explains_a_job_of_a_site,
    partitions_are_given_by_options,
    rejects_options_without_effect,
);

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/fixtures/site")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(fixtures().join(name)).expect("a fixture")
}

/// Returns a folder with the files of a sample.
fn sample(name: &str) -> Dir {
    let files = ["slurm.conf", "qos.txt", "assoc.txt", "jobs.swf", "jobs.site.csv"];
    files.iter().fold(Dir::new(), |dir, file| {
        let place =
            if file.starts_with("jobs") { (*file).to_string() } else { format!("site/{file}") };
        dir.file(&place, text(&format!("{name}/{file}")))
    })
}

fn adds_priorities_to_cases() {
    let cases = text("site-priority.csv");
    let command = format!("priority --site {} --cases c.csv -q", fixtures().display());
    let without: String = cases
        .lines()
        .map(|line| line.rsplit_once(',').expect("a row").0.to_string() + "\n")
        .collect();
    let out = Dir::new().file("c.csv", without).replay(&command).code(0).says_nothing();
    assert_eq!(out.stdout, cases);
    let bad = "site,partition,qos,nodes,limit,nice,fairshare\n../x,p,q,1,60,0,1\n";
    Dir::new().file("c.csv", bad).replay(&command).fails(
        3,
        1,
        &["c.csv: site: \"../x\" is not the name"],
    );
    let absent = "priority --site absent --cases c.csv";
    Dir::new().file("c.csv", bad).replay(absent).fails(2, 1, &["--site absent: does not exist"]);
}

fn prints_fair_shares() {
    let conf = "NodeName=n1\nPartitionName=p Nodes=n1\n";
    let assoc = "ID|Account|User|Share|ParentName|\n1|root||1||\n2|root|root|1||\n3|a||5|root|\n4|a|a1|1||\n\
        5|a|a2|1||\n6|b||5|root|\n7|b|b1|1||\n8|b|b2|1||\n9|c||parent|root|\n10|c|c1|2||\n11|c|c2|parent||\n";
    let usage = "account,user,usage\na,a1,100\na,a2,300\nb,b1,200\nb,b2,200\nc,c1,150\nc,c2,50\n";
    let dir =
        || Dir::new().file("s/slurm.conf", conf).file("s/assoc.txt", assoc).file("u.csv", usage);
    let out = dir().replay("fairshare --site s --usage u.csv --format csv").code(0).says_nothing();
    let rows: Vec<Vec<&str>> = out.stdout.lines().map(|line| line.split(',').collect()).collect();
    let header =
        "Account,User,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS";
    assert_eq!(rows[0].join(","), header);
    let row = |user: &str| rows.iter().find(|row| row[1] == user).expect("a user");
    assert_eq!((row("a1")[7], row("a1")[8]), ("0.5714285714285714", "2"));
    assert_eq!((row("c2")[2], row("c2")[7], row("c2")[8]), ("parent", "1.0", "inf"));
    let text = dir().replay("fairshare --site s --usage u.csv").code(0).stdout;
    assert!(text.contains("0.428571") && text.contains("EffectvUsage"), "{text}");
    let other = dir().file("u.csv", "account,user,usage\na,x,1\n");
    other.replay("fairshare --site s --usage u.csv").fails(
        3,
        1,
        &["u.csv:2: there is no user x in account a"],
    );
}

fn prints_when_jobs_start() {
    let now = fixtures().join("now").display().to_string();
    let command = |more: &str| format!("when -q --from-state {now} {more}");
    let json = |more: &str| -> Vec<serde_json::Value> {
        let out = Dir::new().replay(&command(more)).code(0).says_nothing();
        out.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let rows = json("--format json --threads 1");
    let texts: Vec<_> =
        rows.iter().map(|row| [&row["job"], &row["reason"], &row["plan_nodes"]]).collect();
    assert_eq!(texts[0], ["103", "Resources", "0-5"]);
    assert_eq!(
        (&rows[1]["plan"], &rows[1]["started_by"]),
        (&1_793_606_400_i64.into(), &"backfill".into())
    );
    assert_eq!(rows[2]["blocked_by"], "1 job before it (48.0 node hours): 103");
    assert_eq!(rows[3]["reason"], "Dependency");
    assert_eq!(json("--format json --threads 2"), rows);
    let asked = json("--format json --only-job --job nodes=1,time=60,user=ada,account=physics");
    assert_eq!((asked.len(), &asked[0]["job"]), (1, &"new".into()));
    let out =
        Dir::new().replay(&command(&format!("--format csv --check {now}/squeue.txt"))).code(0);
    assert_eq!(
        out.stdout,
        "agreeing,earlier,later,missing,additional,other_nodes,unknown\n3,1,0,0,0,0,0\n"
    );
    for (more, code, problem) in [
        ("--sched easy", 2, "--sched easy: cannot be combined with --from-state"),
        ("--job nodes=x", 2, "--job: nodes: \"x\" is not a number of nodes"),
        ("--now tomorrow", 2, "--now: \"tomorrow\" is not a time"),
        ("--check absent", 2, "--check: absent: cannot be read"),
    ] {
        Dir::new().replay(&command(more)).fails(code, 1, &[problem]);
    }
    let early = command("--now 2026-11-02T05:00:00");
    Dir::new().replay(&early).fails(
        3,
        1,
        &["jobs.txt:2: job 102: StartTime 2026-11-02T06:00:00 is after"],
    );
    Dir::new().replay("when --from-state absent").fails(
        2,
        1,
        &["--from-state absent: there is no such folder"],
    );
}

fn explains_a_job_of_a_site() {
    let steps = |job: &str| -> Vec<serde_json::Value> {
        let command = format!("explain -q --trace jobs.swf --site site --format json --job {job}");
        let out = sample("site-R02").replay(&command).code(0).says_nothing();
        out.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let of = steps("10");
    let events: Vec<_> =
        of.iter().map(|step| [&step["event"], &step["reason"], &step["by"]]).collect();
    let null = serde_json::Value::Null;
    assert_eq!(events[1], [&"waits".into(), &"Resources".into(), &null]);
    assert_eq!(events[2], [&"starts".into(), &null, &"main".into()]);
    assert_eq!(
        (&of[1]["blocked_by"], &of[1]["start"]),
        (&"running: 4 until 625".into(), &625.into())
    );
    // The start is that of the replay.
    assert_eq!((&of[2]["at"], &of[2]["nodes"]), (&415.into(), &"2,8-10".into()));
    let last = steps("29").pop().expect("a step");
    assert_eq!(
        (&last["at"], &last["by"], &last["nodes"]),
        (&2346.into(), &"backfill".into(), &"10".into())
    );
    let limit = &steps("2")[0]["blocked_by"];
    assert!(limit.as_str().is_some_and(|text| text.contains("at most 8 nodes")), "{limit}");
    for (more, problem) in [
        ("--job 99999", "--job 99999"),
        ("--job 1 --sched slurm,slurm[age=1]", "explain: exactly one trace and one scheduler"),
        ("--job 1 --out o", "explain: --out: cannot be combined with --site"),
        ("--job 1 --alloc mm", "--alloc: cannot be combined with --site"),
    ] {
        let command = format!("explain -q --trace jobs.swf --site site {more}");
        sample("site-R02").replay(&command).fails(2, 1, &[problem]);
    }
}

fn writes_tables_of_a_site() {
    let command = "--trace jobs.swf --site site --sched slurm,slurm[interval=300] -q --out o";
    let dir = sample("site-R02");
    dir.replay(command).code(0);
    assert_eq!(
        dir.files("o"),
        [
            "manifest.json",
            "site_jobs.csv",
            "site_jobs.parquet",
            "site_runs.csv",
            "site_runs.parquet"
        ]
    );
    let table = |name: &str| String::from_utf8(dir.read(&format!("o/{name}"))).expect("text");
    assert_eq!(table("site_runs.csv").lines().count(), 3);
    let jobs = table("site_jobs.csv");
    assert_eq!(jobs.lines().count(), 1 + 2 * 43);
    assert!(
        jobs.lines().nth(2).expect("job 2").starts_with("0,2,,,,,QOSMaxNodePerUserLimit,"),
        "{jobs}"
    );
    // The same configuration writes the same bytes; another one does not replace the folder.
    dir.replay(command).code(0);
    assert_eq!(table("site_jobs.csv"), jobs);
    let other = "--trace jobs.swf --site site --limits ignore -q --out o";
    dir.replay(other).fails(2, 1, &["o: the directory contains the results of a site"]);
}

fn replays_a_site() {
    let command = "--trace jobs.swf --site site --sched slurm --format json -q";
    let out = sample("site-R02").replay(command).code(0).says_nothing();
    let json: serde_json::Value = serde_json::from_str(&out.stdout).expect("JSON");
    let jobs = json["runs"][0]["jobs"].as_array().expect("jobs");
    let expected = text("site-R02/expected.csv");
    let mut reader = csv::Reader::from_reader(expected.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(jobs.len(), rows.len());
    for (job, row) in jobs.iter().zip(&rows) {
        for (at, key) in
            ["job", "start", "partition", "nodes", "started_by", "reason"].iter().enumerate()
        {
            let found = match &job[key] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(found, row[at], "{key} of {row:?}");
        }
    }
    let dir = sample("site-R02");
    let out = dir.replay("--trace jobs.swf --site site --sched slurm,slurm[interval=300]").code(0);
    out.says("slurm: never started: AssocMaxWallDurationPerJobLimit 2, QOSMaxNodePerUserLimit 1, QOSGrpNodeLimit 13");
    let out = dir.replay("--trace jobs.swf --site site --format csv -q").code(0);
    assert_eq!(out.stdout.lines().count(), 2);
    dir.replay("--trace jobs.swf --site absent").fails(2, 1, &["--site absent: does not exist"]);
    let conf = text("site-R02/slurm.conf") + "Licenses=a:1\n";
    let dir = sample("site-R02").file("site/slurm.conf", conf);
    dir.replay("--trace jobs.swf --site site").code(0).says("`Licenses` is not modelled");
    dir.replay("--trace jobs.swf --site site --strict").code(3).says("`Licenses` is not modelled");
}

fn partitions_are_given_by_options() {
    let trace = "; MaxProcs: 4\n; Queue: 1 short\n; Queue: 2 long\n1 0 -1 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n\
        2 0 -1 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n3 0 -1 60 4 -1 -1 4 60 -1 1 1 1 -1 2 -1 -1 -1\n";
    let dir = Dir::new().file("t.swf", trace);
    let run = |options: &str| {
        let out =
            dir.replay(&format!("--trace t.swf --sched slurm --format json -q {options}")).code(0);
        let json: serde_json::Value = serde_json::from_str(&out.stdout).expect("JSON");
        let jobs = json["runs"][0]["jobs"].as_array().expect("jobs").clone();
        let row = |job: &serde_json::Value| {
            format!("{} {} {}", job["start"], job["partition"], job["nodes"])
        };
        jobs.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(run(""), ["0 \"all\" \"0-1\"", "0 \"all\" \"2-3\"", "60 \"all\" \"0-3\""]);
    assert_eq!(run("--partitions queue")[2], "60 \"long\" \"0-3\"");
    let options = "--partitions queue --partition short=2-3 --partition long=all";
    assert_eq!(
        run(options),
        ["0 \"short\" \"2-3\"", "60 \"short\" \"2-3\"", "120 \"long\" \"0-3\""]
    );
    let bad = "--trace t.swf --sched slurm --partition short=2-4";
    dir.replay(bad).code(2).says("--partition: partition short: 4 is not a node from 0 to 3");
    // A partition whose nodes are not given has all nodes.
    let one = run("--partitions queue --partition short=2-3");
    assert_eq!(one, ["0 \"short\" \"2-3\"", "60 \"short\" \"2-3\"", "120 \"long\" \"0-3\""]);
    let missing =
        "--trace t.swf --sched slurm --partitions queue --partition short=2-3 --unknown error";
    dir.replay(missing).code(3).says("t.swf:6: job 3: there is no partition long");
    let dropped = missing.replace("error", "drop");
    dir.replay(&dropped).code(0).says("1 job of unknown partitions or QOS left out");
}

fn rejects_options_without_effect() {
    let dir =
        Dir::new().file("t.swf", "; MaxProcs: 4\n1 0 -1 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n");
    for (options, problem) in [
        ("--alloc mc1x1", "--alloc: cannot be combined with --site or --sched slurm"),
        ("--seed 3", "--seed: cannot be combined with --site or --sched slurm"),
        ("--sched slurm,easy", "--sched easy: cannot be combined with --site or --sched slurm"),
        ("--sched slurm[x=1]", "slurm"),
    ] {
        let sched = if options.contains("--sched") { "" } else { "--sched slurm " };
        dir.replay(&format!("--trace t.swf {sched}{options}")).code(2).says(problem);
    }
}
