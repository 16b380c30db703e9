use super::*;

const MACHINE: &str = "NodeName=n[0-3] CPUs=2\nPartitionName=p Nodes=ALL\n";

fn read(text: &str) -> Result<SlurmConf, String> {
    SlurmConf::read(text, "slurm.conf", false).map_err(|error| error.to_string())
}

/// Returns the contents of a file with `text` after a machine of two lines.
fn with_machine(text: &str) -> Result<SlurmConf, String> {
    read(&format!("{MACHINE}{text}\n"))
}

fn warnings(text: &str) -> Vec<String> {
    let conf = with_machine(text).expect("a valid file");
    conf.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn settings_have_slurms_defaults_and_the_values_of_the_file() {
    let conf = with_machine("").expect("a valid file");
    assert_eq!(conf.priority, PrioritySettings::default());
    assert_eq!(conf.scheduler, SchedulerSettings::default());
    assert_eq!(conf.warnings, []);
    let p = &conf.partitions[0];
    assert_eq!((p.tier, p.factor, p.max_time, &p.nodes[..]), (1, 1, None, &[0, 1, 2, 3][..]));
    let conf = with_machine(
        "priorityweightage = 1 # a comment\nPriorityWeightTRES=CPU=3,Node=4\\\n\nPriorityMaxAge=1-0\n\
         PriorityFlags=NO_FAIR_TREE,NO_NORMAL_ALL PriorityDecayHalfLife=0\n\
         SchedulerParameters=bf_interval=60,bf_continue,bf_max_job_user_part=7,bf_min_age_reserve=9\n\
         AccountingStorageEnforce=associations,safe EnforcePartLimits=ANY SchedulerType=sched/builtin\n\
         NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2\nNodeName=m[10,9]\n\
         PartitionName=DEFAULT Priority=7 MaxTime=1:30 OverSubscribe=EXCLUSIVE\n\
         PartitionName=q Nodes=m[9-10],n0 MaxNodes=3 MinNodes=2 QOS=part State=DRAIN Default=YES",
    );
    let conf = conf.expect("a valid file");
    let weights = conf.priority.weights;
    assert_eq!((weights.age, weights.tres_cpu, weights.tres_node), (1, 3, 4));
    assert_eq!((conf.priority.max_age, conf.priority.half_life), (1440, 0));
    assert!(!conf.priority.fair_tree && conf.priority.raw_qos && conf.priority.raw_tres);
    let s = &conf.scheduler;
    assert_eq!((s.interval, s.per_user_and_partition, s.min_age, s.backfill), (60, 7, 9, false));
    assert!(conf.enforces_limits && conf.enforce_part_limits == EnforcePartLimits::Any);
    // Nodes are numbered in the natural order of their names.
    let names: Vec<(&str, u32)> =
        conf.nodes.iter().map(|node| (&node.name[..], node.cpus)).collect();
    assert_eq!(names, [("m9", 32), ("m10", 32), ("n0", 2), ("n1", 2), ("n2", 2), ("n3", 2)]);
    let q = &conf.partitions[1];
    assert_eq!((q.tier, q.factor, q.max_time, &q.nodes[..]), (7, 7, Some(2), &[0, 1, 2][..]));
    assert_eq!((q.max_nodes, q.min_nodes, q.qos.as_deref()), (Some(3), 2, Some("part")));
    assert!(q.is_exclusive && !q.is_up && q.is_default && !conf.partitions[0].is_exclusive);
}

#[test]
fn keys_without_effect_are_named_once_with_their_line() {
    assert_eq!(
        warnings("Licenses=a:3\nlicenses=b:3\nSchedulerParameters=bf_max_time=3,defer\nFoo=1"),
        [
            "slurm.conf:3: `Licenses` is not modelled: licences limit how many jobs run together",
            "slurm.conf:5: `bf_max_time` is not modelled: it limits the wall-clock time of a pass; here a pass takes no time",
            "slurm.conf:5: `defer` is not modelled: it is not in the list of known keys and options; check its spelling",
            "slurm.conf:6: `Foo` is not modelled: it is not in the list of known keys and options; check its spelling",
        ]
    );
    let other = [
        ("PriorityFlags=INCR_ONLY", "`INCR_ONLY` is not modelled"),
        ("PriorityWeightTRES=Mem=3", "`PriorityWeightTRES=Mem` is not modelled"),
        ("PriorityUsageResetPeriod=DAILY", "`PriorityUsageResetPeriod` is not modelled"),
        ("PreemptMode=REQUEUE", "`PreemptMode` is not modelled"),
        (
            "PriorityType=priority/basic",
            "`PriorityType=priority/basic`: first come first served is used",
        ),
        ("NodeName=x Gres=gpu:4", "`Gres` is not modelled"),
        ("NodeName=x Weight=9", "`Weight` is not modelled: nodes of lower weight are used first"),
        (
            "NodeName=x State=DOWN",
            "`State=DOWN` of node x is not modelled: the node is in service; use --down",
        ),
        ("PartitionName=q Nodes=n1 AllowGroups=x", "`AllowGroups` is not modelled"),
        (
            "PartitionName=q Nodes=n1 TRESBillingWeights=CPU=1",
            "`TRESBillingWeights` is not modelled",
        ),
        ("SuspendTime=300", "`SuspendTime` is not modelled: idle nodes are switched off"),
    ];
    for (text, warning) in other {
        let found = warnings(text);
        assert!(found.len() == 1 && found[0].contains(warning), "{text}: {found:?}");
    }
    let harmless = "SlurmctldHost=c(10.0.0.1)\nSlurmdPort=1\nProctrackType=x\nDebugFlags=backfill\nGresTypes=gpu\n\
        PreemptMode=OFF\nPreemptType=preempt/none\nPriorityUsageResetPeriod=NONE\nReturnToService=1\n\
        NodeName=x NodeAddr=1 Features=f Weight=1\nAccountingStorageHost=h\nJobCompType=x\nTaskPlugin=task/cgroup";
    assert_eq!(warnings(harmless), [""; 0]);
    let strict = SlurmConf::read(&format!("{MACHINE}Foo=1\n"), "slurm.conf", true);
    let strict = strict.expect_err("a key without effect").to_string();
    assert!(strict.starts_with("slurm.conf:3: `Foo` is not modelled: "), "{strict}");
}

#[test]
fn errors_name_the_line_and_the_key() {
    for (text, problem) in [
        (
            "PriorityType=priority/mine",
            "3: PriorityType: the plugin priority/mine is not modelled; supported: priority/multifactor or priority/basic",
        ),
        (
            "PreemptType=preempt/qos",
            "3: PreemptType: the plugin preempt/qos is not modelled; supported: preempt/none; preemption is not modelled",
        ),
        (
            "SchedulerType=sched/wiki",
            "3: SchedulerType: the plugin sched/wiki is not modelled; supported: sched/backfill or sched/builtin",
        ),
        (
            "SelectType=select/cray",
            "3: SelectType: the plugin select/cray is not modelled; supported: select/cons_tres or select/linear",
        ),
        (
            "TopologyPlugin=topology/3d_torus",
            "3: TopologyPlugin: the plugin topology/3d_torus is not modelled; supported: topology/flat, topology/tree or topology/block",
        ),
        ("PartitionName=q", "3: partition q: has no nodes; add Nodes=..."),
        ("PartitionName=q Nodes=n4", "3: partition q: there is no node n4"),
        ("PartitionName=q Nodes=n[", "3: partition q: Nodes: \"n[\": a bracket that is not closed"),
        ("PartitionName=p Nodes=n1", "3: partition p is given twice"),
        ("NodeName=n1", "3: node n1 is given twice; the first time on line 1"),
        ("NodeName=x CPUs=0", "3: node x: CPUs: a node has at least one CPU"),
        (
            "PriorityWeightAge=-1",
            "3: PriorityWeightAge: \"-1\" is not a whole number from 0 to 4294967295",
        ),
        (
            "PriorityWeightQOS=4294967296",
            "3: PriorityWeightQOS: \"4294967296\" is not a whole number from 0 to 4294967295",
        ),
        (
            "PriorityWeightTRES=cpu=x",
            "3: PriorityWeightTRES: \"x\" is not a whole number from 0 to 4294967295",
        ),
        (
            "PartitionName=q Nodes=n1 PriorityJobFactor=x",
            "3: partition q: PriorityJobFactor: \"x\" is not a whole number from 0 to 4294967295",
        ),
        (
            "SchedulerParameters=bf_interval=0",
            "3: SchedulerParameters: bf_interval: \"0\" is not within 1..10800",
        ),
        (
            "SchedulerParameters=bf_resolution=3601",
            "3: SchedulerParameters: bf_resolution: \"3601\" is not within 1..3600",
        ),
        (
            "SchedulerParameters=bf_window=43201",
            "3: SchedulerParameters: bf_window: \"43201\" is not within 1..43200",
        ),
        ("SchedulerParameters=bf_window", "3: SchedulerParameters: bf_window: a value is missing"),
        ("PriorityMaxAge=0", "3: PriorityMaxAge: 0 is not allowed; write at least one minute"),
        ("PriorityFavorSmall=maybe", "3: PriorityFavorSmall: \"maybe\" is neither YES nor NO"),
        (
            "PartitionName=q Nodes=n1 MaxTime=4h",
            "3: partition q: MaxTime: \"4h\" is not a time; write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED",
        ),
        (
            "PartitionName=q Nodes=n1 State=UPP",
            "3: partition q: State: \"UPP\" is not a state; write UP, DOWN, DRAIN or INACTIVE",
        ),
        (
            "PartitionName=q Nodes=n1 OverSubscribe=X",
            "3: partition q: OverSubscribe: \"X\" is not one of EXCLUSIVE, NO, YES, FORCE",
        ),
        ("Include other.conf", "3: Include is not supported; put all entries into one file"),
    ] {
        let found = with_machine(text).expect_err(text);
        assert_eq!(found, format!("slurm.conf:{problem}"), "{text}");
    }
    let none = read("PartitionName=p Nodes=ALL\n").expect_err("no node");
    assert_eq!(none, "slurm.conf: there is no node; add a line NodeName=...");
    let none = read("NodeName=n1\n").expect_err("no partition");
    assert_eq!(none, "slurm.conf: there is no partition; add a line PartitionName=... Nodes=...");
}
