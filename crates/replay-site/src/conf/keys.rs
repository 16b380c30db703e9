//! Keys and options of `slurm.conf`: which have no effect on a replay, and what those do that are not modelled.

/// Beginnings of keys that have no effect on the order of jobs: daemons, accounting, power of nodes, launch.
const HARMLESS_PREFIXES: [&str; 22] = [
    "AccountingStorage",
    "AcctGather",
    "Auth",
    "BurstBuffer",
    "Cred",
    "Debug",
    "Epilog",
    "ExtSensors",
    "Health",
    "JobAcct",
    "JobComp",
    "Launch",
    "Log",
    "Mail",
    "Mcs",
    "Mpi",
    "Proctrack",
    "Prolog",
    "Slurmctld",
    "Slurmd",
    "SrunPort",
    "Task",
];

/// Keys that have no effect on the order of jobs.
const HARMLESS: [&str; 66] = [
    "AllowSpecResourcesUsage",
    "BackupAddr",
    "BackupController",
    "BatchStartTimeout",
    "BcastExclude",
    "BcastParameters",
    "CertgenParameters",
    "CertgenType",
    "CertmgrParameters",
    "CertmgrType",
    "CliFilterPlugins",
    "CliFilterParameters",
    "ClusterName",
    "CommunicationParameters",
    "ControlAddr",
    "ControlMachine",
    "CoreSpecPlugin",
    "CpuFreqDef",
    "CpuFreqGovernors",
    "DataParserParameters",
    "DependencyParameters",
    "DisableRootJobs",
    "EioTimeout",
    "FirstJobId",
    "GetEnvTimeout",
    "GpuFreqDef",
    "GresTypes",
    "GroupUpdateForce",
    "GroupUpdateTime",
    "HashPlugin",
    "HttpParserType",
    "InactiveLimit",
    "InteractiveStepOptions",
    "JobContainerType",
    "JobCredentialPrivateKey",
    "JobCredentialPublicCertificate",
    "JobFileAppend",
    "JobRequeue",
    "KeepAliveTime",
    "KillOnBadExit",
    "KillWait",
    "MaxJobCount",
    "MaxJobId",
    "MaxMemPerCPU",
    "MaxStepCount",
    "MessageTimeout",
    "MinJobAge",
    "MetricsType",
    "NamespaceType",
    "NodeFeaturesPlugins",
    "PluginDir",
    "PlugStackConfig",
    "PrEpParameters",
    "PrEpPlugins",
    "PrivateData",
    "PropagatePrioProcess",
    "PropagateResourceLimits",
    "PropagateResourceLimitsExcept",
    "RebootProgram",
    "ReturnToService",
    "RoutePlugin",
    "StateSaveLocation",
    "SwitchType",
    "TCPTimeout",
    "TmpFS",
    "TrackWCKey",
];

/// More keys that have no effect on the order of jobs.
const HARMLESS_REST: [&str; 14] = [
    "SbcastParameters",
    "ScronParameters",
    "SrunEpilog",
    "SrunProlog",
    "StepMgrParameters",
    "SwitchParameters",
    "TLSParameters",
    "TLSType",
    "UnkillableStepProgram",
    "UnkillableStepTimeout",
    "UrlParserType",
    "UsePAM",
    "VSizeFactor",
    "WaitTime",
];

/// Keys of `NodeName` lines that have no effect on the order of jobs.
pub const HARMLESS_NODE: [&str; 8] =
    ["NodeAddr", "NodeHostname", "Port", "BcastAddr", "CertToken", "Feature", "Features", "Reason"];

/// Keys of `PartitionName` lines that have no effect on the order of jobs.
pub const HARMLESS_PARTITION: [&str; 6] =
    ["AllocNodes", "CpuBind", "DisableRootJobs", "Hidden", "JobDefaults", "GraceTime"];

/// Returns whether a key of `slurm.conf` has no effect on the order of jobs.
pub fn is_harmless(key: &str) -> bool {
    let begins = |prefix: &str| {
        key.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
    };
    is_in(&HARMLESS, key)
        || is_in(&HARMLESS_REST, key)
        || HARMLESS_PREFIXES.iter().any(|prefix| begins(prefix))
}

/// Returns whether a list has a key, in any case.
pub fn is_in(list: &[&str], key: &str) -> bool {
    list.iter().any(|name| name.eq_ignore_ascii_case(key))
}

/// Keys, options and flags that are not modelled, each with a clause that describes what Slurm does with it.
const NOT_MODELLED: [(&str, &str); 77] = [
    ("AllowAccounts", "it restricts a partition to accounts"),
    ("AllowGroups", "it restricts a partition to groups of users"),
    ("AllowQos", "it restricts a partition to QOS"),
    ("Alternate", "it names a partition to use while this one is not up"),
    ("assoc_limit_stop", "a job held by a limit of its association blocks later jobs"),
    ("bf_busy_nodes", "the backfill prefers nodes in use"),
    ("bf_ignore_newly_avail_nodes", "the backfill ignores nodes that become free during a pass"),
    ("bf_job_part_count_reserve", "it limits the reservations of a partition"),
    ("bf_licenses", "the backfill plans licences"),
    ("bf_max_job_array_resv", "it limits the reservations of a job array"),
    ("bf_max_job_assoc", "it limits the jobs of an association that a pass tests"),
    ("bf_max_job_start", "it limits the jobs that a pass starts"),
    ("bf_max_time", "it limits the wall-clock time of a pass; here a pass takes no time"),
    ("bf_running_job_reserve", "running jobs get reservations for whole-node jobs"),
    ("bf_topopt_enable", "the backfill delays jobs for less fragmentation"),
    ("bf_window_linear", "the plan sees the ends of running jobs in steps of equal length"),
    (
        "bf_yield_interval",
        "it sets how often the backfill releases its locks; here a pass takes no time",
    ),
    ("bf_yield_rpc_cnt", "it limits the requests during a pass; here a pass takes no time"),
    (
        "bf_yield_sleep",
        "it sets how long the backfill releases its locks; here a pass takes no time",
    ),
    ("batch_sched_delay", "it delays the start of a job after its submission"),
    ("CALCULATE_RUNNING", "priorities of running jobs are calculated too"),
    ("CompleteWait", "jobs wait for jobs that are completing"),
    ("Cores", "cores do not limit jobs; each job takes whole nodes"),
    ("CoreSpecCount", "it reserves cores of a node for the system"),
    ("CpuSpecList", "it reserves CPUs of a node for the system"),
    ("DefCpuPerGPU", "it sets the CPUs of jobs that ask for GPUs"),
    ("DefMemPerCPU", "memory does not limit jobs; each job takes whole nodes"),
    ("DefMemPerGPU", "memory does not limit jobs; each job takes whole nodes"),
    ("DefMemPerNode", "memory does not limit jobs; each job takes whole nodes"),
    ("DenyAccounts", "it excludes accounts from a partition"),
    ("DenyQos", "it excludes QOS from a partition"),
    ("DEPTH_OBLIVIOUS", "fair share does not depend on the depth of the tree"),
    ("DownNodes", "nodes are out of service; use --down"),
    ("ExclusiveTopo", "jobs do not share blocks"),
    ("ExclusiveUser", "users do not share nodes; here no jobs share nodes"),
    ("FederationParameters", "clusters of a federation share jobs"),
    ("Gres", "GRES do not limit jobs; each job takes whole nodes"),
    ("INCR_ONLY", "a priority never falls"),
    ("JobSubmitPlugins", "a plugin changes jobs when they are submitted"),
    ("Licenses", "licences limit how many jobs run together"),
    ("LLN", "the least loaded nodes are used first; each job takes whole nodes"),
    ("MAX_TRES", "billing counts only the largest resource of a node"),
    ("MAX_TRES_GRES", "billing counts only the largest resource of a node"),
    ("MaxArraySize", "it limits the tasks of a job array"),
    ("MaxCPUsPerNode", "it limits the CPUs of a node that a partition uses"),
    ("MaxCPUsPerSocket", "it limits the CPUs of a socket that a partition uses"),
    ("MaxMemPerNode", "memory does not limit jobs; each job takes whole nodes"),
    ("max_switch_wait", "it limits the time that a job waits for fewer switches"),
    ("MemSpecLimit", "memory does not limit jobs; each job takes whole nodes"),
    ("NodeSet", "a name stands for several nodes; write the nodes of each partition"),
    ("PowerParameters", "power limits the nodes in use"),
    ("PreemptExemptTime", "it protects jobs from preemption for a time"),
    ("PreemptMode", "jobs of higher priority stop running jobs"),
    ("PreemptParameters", "jobs of higher priority stop running jobs"),
    ("PriorityParameters", "parameters of a site's own priority plugin"),
    ("PrioritySiteFactorParameters", "parameters of a site's own priority plugin"),
    ("PrioritySiteFactorPlugin", "a site's own plugin adds to the priority"),
    ("PriorityUsageResetPeriod", "all usage is reset periodically"),
    ("RealMemory", "memory does not limit jobs; each job takes whole nodes"),
    ("reduce_completing_frag", "jobs that are completing hold back only part of the nodes"),
    ("ReqResv", "jobs of a partition need a reservation"),
    ("RequeueExit", "jobs are requeued by their exit code"),
    ("RequeueExitHold", "jobs are held by their exit code"),
    ("ResumeTimeout", "nodes are switched on for jobs"),
    ("ResvEpilog", "advance reservations run programs"),
    ("ResvProlog", "advance reservations run programs"),
    ("ResvOverRun", "jobs may run beyond the end of their advance reservation"),
    ("RootOnly", "only root submits jobs to a partition"),
    ("SchedulerTimeSlice", "jobs share nodes in turns"),
    ("SelectTypeParameters", "cores and memory are consumable; each job takes whole nodes"),
    ("SLURM_TIME_SLICE", "jobs share nodes in turns"),
    ("SuspendTime", "idle nodes are switched off"),
    ("TmpDisk", "disk space does not limit jobs; each job takes whole nodes"),
    ("TopologyParam", "it changes the rules of the topology plugin"),
    ("TRESBillingWeights", "usage counts weighted resources; here it counts CPUs of whole nodes"),
    ("Weight", "nodes of lower weight are used first"),
    ("X11Parameters", "it forwards windows of jobs"),
];

/// Returns the clause that describes what Slurm does with a key, option or flag that is not modelled.
pub fn effect(key: &str) -> &'static str {
    let known = NOT_MODELLED.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
    match known {
        Some((_, effect)) => effect,
        None if key.to_ascii_lowercase().starts_with("suspend")
            || key.to_ascii_lowercase().starts_with("resume") =>
        {
            "nodes are switched off and on"
        }
        None => "it is not in the list of known keys and options; check its spelling",
    }
}
