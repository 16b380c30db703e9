//! Limits of QOS and associations (`acct_policy.c`), which count running jobs; at submission also waiting ones.
//!
//! Of the QOS of the partition and that of the job, the first that sets a limit decides; the limit of the other QOS, and
//! that of the association of the same kind, do not count. The QOS of the partition is the first, unless that of the job
//! has `OverPartQOS`.

use std::collections::HashMap;

use crate::assoc::Associations;
use crate::job::SiteJob;
use crate::qos::Qos;
use crate::reason::LimitReason;
use crate::site::Site;
use crate::tres::Tres;

/// Jobs whose resources a limit counts together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// Jobs of a QOS.
    Qos(usize),
    /// Jobs of a user in a QOS.
    QosUser(usize, u32),
    /// Jobs of an account in a QOS.
    QosAccount(usize, u32),
    /// Jobs of an association and those below it.
    Association(usize),
}

/// What the jobs of a group hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// Running jobs.
    pub jobs: u32,
    /// Nodes of running jobs.
    pub nodes: u64,
    /// CPUs of running jobs.
    pub cpus: u64,
    /// Waiting and running jobs.
    pub submitted: u32,
}

/// A limit of a QOS; `None` if the QOS does not set it.
type QosLimit = fn(&Qos) -> Option<u64>;

/// A job as limits see it, in one of its partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Applicant {
    /// The QOS whose limits apply, in the order in which they decide.
    pub qos: [Option<usize>; 2],
    /// Index of the association.
    pub association: usize,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of CPUs of whole nodes.
    pub cpus: u64,
    /// Time limit in minutes; `None` for none.
    pub limit: Option<u32>,
}

/// The limits of a site, with what groups of jobs hold.
#[derive(Clone, Debug)]
pub struct Limits<'a> {
    qos: &'a [Qos],
    associations: &'a Associations,
    is_enforced: bool,
    /// User and account of each association.
    users: Vec<u32>,
    accounts: Vec<u32>,
    held: HashMap<Group, Held>,
}

/// What a limit counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitUnit {
    /// Running jobs.
    Jobs,
    /// Waiting and running jobs.
    Submitted,
    /// Nodes.
    Nodes,
    /// CPUs.
    Cpus,
    /// Minutes of the time limit.
    Minutes,
}

impl LimitUnit {
    /// Returns the name in texts.
    pub fn name(self) -> &'static str {
        match self {
            LimitUnit::Jobs | LimitUnit::Submitted => "jobs",
            LimitUnit::Nodes => "nodes",
            LimitUnit::Cpus => "CPUs",
            LimitUnit::Minutes => "minutes",
        }
    }

    /// Returns what a job counts.
    pub fn of(self, job: &Applicant) -> u64 {
        match self {
            LimitUnit::Jobs | LimitUnit::Submitted => 1,
            LimitUnit::Nodes => job.nodes,
            LimitUnit::Cpus => job.cpus,
            LimitUnit::Minutes => job.limit.unwrap_or(0).into(),
        }
    }
}

/// A limit that refuses a job, with its value and what is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitFacts {
    /// The limit.
    pub reason: LimitReason,
    /// What it counts.
    pub unit: LimitUnit,
    /// Its value.
    pub limit: u64,
    /// Whether the limit is a minimum.
    pub is_least: bool,
    /// What the job asks.
    pub asked: u64,
    /// The jobs that it counts; `None` for a limit of one job.
    pub group: Option<Group>,
    /// What they hold.
    pub held: u64,
}

/// Numbers texts in the order of their first occurrence.
fn numbered<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Vec<u32> {
    let mut known: HashMap<Option<&str>, u32> = HashMap::new();
    let mut number = |text| {
        let next = known.len() as u32;
        *known.entry(text).or_insert(next)
    };
    texts.map(&mut number).collect()
}

impl<'a> Limits<'a> {
    /// Creates the limits of a site without jobs.
    pub fn new(site: &'a Site) -> Self {
        let all = site.associations.all();
        Self {
            qos: &site.qos,
            associations: &site.associations,
            is_enforced: site.enforces_limits,
            users: numbered(all.iter().map(|one| one.user.as_deref())),
            accounts: numbered(all.iter().map(|one| Some(&one.account[..]))),
            held: HashMap::new(),
        }
    }

    /// Returns a job in a partition as limits see it.
    pub fn applicant(&self, site: &Site, job: &SiteJob, partition: usize) -> Applicant {
        let partition = &site.partitions[partition];
        let of_partition = partition.qos.filter(|&qos| qos != job.qos);
        let qos = match self.qos[job.qos].over_partition {
            true => [Some(job.qos), of_partition],
            false => [of_partition, Some(job.qos)],
        };
        Applicant {
            qos,
            association: job.association,
            nodes: job.nodes.into(),
            cpus: partition.cpus_of(job.nodes),
            // A job without a limit gets that of the QOS or the association.
            limit: job.limit.or(partition.default_time),
        }
    }

    /// Returns the number of the user of an association, which is the same in all accounts.
    pub fn user(&self, association: usize) -> u32 {
        self.users[association]
    }

    /// Returns whether a job belongs to a group.
    pub fn is_in(&self, job: &Applicant, group: Group) -> bool {
        let has = |qos| job.qos.contains(&Some(qos));
        match group {
            Group::Qos(qos) => has(qos),
            Group::QosUser(qos, user) => has(qos) && self.users[job.association] == user,
            Group::QosAccount(qos, account) => {
                has(qos) && self.accounts[job.association] == account
            }
            Group::Association(at) => {
                self.associations.ancestors(job.association).any(|one| one == at)
            }
        }
    }

    /// Returns what a group holds.
    pub fn held(&self, group: Group) -> Held {
        self.held.get(&group).copied().unwrap_or_default()
    }

    /// Applies `change` to all groups of a job.
    fn change(&mut self, job: &Applicant, change: impl Fn(&mut Held)) {
        if !self.is_enforced {
            return;
        }
        let (user, account) = (self.users[job.association], self.accounts[job.association]);
        for qos in job.qos.into_iter().flatten() {
            let groups =
                [Group::Qos(qos), Group::QosUser(qos, user), Group::QosAccount(qos, account)];
            groups.into_iter().for_each(|group| change(self.held.entry(group).or_default()));
        }
        for at in self.associations.ancestors(job.association) {
            change(self.held.entry(Group::Association(at)).or_default());
        }
    }

    /// Counts a submitted job.
    pub fn submit(&mut self, job: &Applicant) {
        self.change(job, |held| held.submitted += 1);
    }

    /// Counts a job that starts.
    pub fn start(&mut self, job: &Applicant) {
        self.change(job, |held| {
            held.jobs += 1;
            held.nodes += job.nodes;
            held.cpus += job.cpus;
        });
    }

    /// Subtracts a running job that ends.
    pub fn end(&mut self, job: &Applicant) {
        self.change(job, |held| {
            held.jobs -= 1;
            held.nodes -= job.nodes;
            held.cpus -= job.cpus;
        });
    }

    /// Subtracts a job that is neither waiting nor running any more.
    pub fn leave(&mut self, job: &Applicant) {
        self.change(job, |held| held.submitted -= 1);
    }

    /// Calls `visit` with each QOS of a job, in order, and a function that returns a limit of this QOS unless the QOS
    /// before sets it. Returns the first result.
    fn by_qos<T>(
        &self,
        job: &Applicant,
        visit: impl Fn(usize, &dyn Fn(QosLimit) -> Option<u64>) -> Option<T>,
    ) -> Option<T> {
        let [first, second] = job.qos.map(|qos| qos.map(|at| (at, &self.qos[at])));
        let of_first = first.and_then(|(at, qos)| visit(at, &|limit| limit(qos)));
        of_first.or_else(|| {
            let (at, qos) = second?;
            let is_set = |limit: QosLimit| first.is_some_and(|(_, one)| limit(one).is_some());
            visit(at, &|limit| limit(qos).filter(|_| !is_set(limit)))
        })
    }

    /// Returns whether a QOS of a job sets a limit.
    fn is_set(&self, job: &Applicant, limit: QosLimit) -> bool {
        job.qos.into_iter().flatten().any(|qos| limit(&self.qos[qos]).is_some())
    }

    /// Returns the limit that forbids the submission of a job (L0). `job` is not counted yet.
    pub fn at_submission(&self, job: &Applicant) -> Option<LimitReason> {
        if !self.is_enforced {
            return None;
        }
        let (user, account) = (self.users[job.association], self.accounts[job.association]);
        let is_full = |group, limit: Option<u64>| {
            limit.is_some_and(|most| u64::from(self.held(group).submitted) + 1 > most)
        };
        let of_qos = self.by_qos(job, |at, limit| {
            let is_full = |group, kind| is_full(group, limit(kind));
            if is_full(Group::QosUser(at, user), |qos| qos.max_submit_pu.map(u64::from)) {
                return Some(LimitReason::QosMaxSubmitPerUser);
            }
            if is_full(Group::QosAccount(at, account), |qos| qos.max_submit_pa.map(u64::from)) {
                return Some(LimitReason::MaxSubmitPerAccount);
            }
            let grp = is_full(Group::Qos(at), |qos| qos.grp_submit.map(u64::from));
            grp.then_some(LimitReason::QosGrpSubmit)
        });
        let of_associations = || {
            let grp_set = self.is_set(job, |qos| qos.grp_submit.map(u64::from));
            let per_set =
                self.is_set(job, |qos| qos.max_submit_pa.or(qos.max_submit_pu).map(u64::from));
            self.associations.ancestors(job.association).find_map(|at| {
                let one = &self.associations.all()[at];
                let group = Group::Association(at);
                if !grp_set && is_full(group, one.grp_submit.map(u64::from)) {
                    return Some(LimitReason::AssocGrpSubmit);
                }
                let own = at == job.association && !per_set;
                (own && is_full(group, one.max_submit.map(u64::from)))
                    .then_some(LimitReason::AssocMaxSubmit)
            })
        };
        let denies = job.qos.into_iter().flatten().any(|qos| self.qos[qos].deny_on_limit);
        let never = || {
            let size = self.refuses_size(job);
            size.or_else(|| self.refuses_time(job)).or_else(|| self.refuses_job(job))
        };
        of_qos.or_else(of_associations).or_else(|| if denies { never() } else { None })
    }

    /// Returns the limit on the time of a job that refuses it.
    fn refuses_time(&self, job: &Applicant) -> Option<LimitReason> {
        let wall = |qos: &Qos| qos.max_wall.map(u64::from);
        let is_long = |limit: Option<u64>| {
            limit.is_some_and(|most| job.limit.is_some_and(|limit| u64::from(limit) > most))
        };
        if let Some(reason) =
            self.by_qos(job, |_, limit| is_long(limit(wall)).then_some(LimitReason::QosMaxWall))
        {
            return Some(reason);
        }
        let own = self.associations.all()[job.association].max_wall.map(u64::from);
        (!self.is_set(job, wall) && is_long(own)).then_some(LimitReason::AssocMaxWall)
    }

    /// Returns the limit on the resources of one job that refuses it.
    fn refuses_job(&self, job: &Applicant) -> Option<LimitReason> {
        let of_qos = self.by_qos(job, |_, limit| {
            if limit(|qos| qos.max_tres.cpu).is_some_and(|most| job.cpus > most) {
                return Some(LimitReason::QosMaxCpuPerJob);
            }
            let node = limit(|qos| qos.max_tres.node).is_some_and(|most| job.nodes > most);
            node.then_some(LimitReason::QosMaxNodePerJob)
        });
        of_qos.or_else(|| self.own_max_tres(job))
    }

    /// Returns `MaxTRES` of the user's association if it refuses a job.
    fn own_max_tres(&self, job: &Applicant) -> Option<LimitReason> {
        let own = &self.associations.all()[job.association].max_tres;
        if !self.is_set(job, |qos| qos.max_tres.cpu) && own.cpu.is_some_and(|most| job.cpus > most)
        {
            return Some(LimitReason::AssocMaxCpuPerJob);
        }
        let node = !self.is_set(job, |qos| qos.max_tres.node)
            && own.node.is_some_and(|most| job.nodes > most);
        node.then_some(LimitReason::AssocMaxNodePerJob)
    }

    /// Returns the limit that refuses a job before a placement is looked for (L2).
    pub fn before_placement(&self, job: &Applicant) -> Option<LimitReason> {
        if !self.is_enforced {
            return None;
        }
        let (user, account) = (self.users[job.association], self.accounts[job.association]);
        let is_full = |group, limit: Option<u64>| {
            limit.is_some_and(|most| u64::from(self.held(group).jobs) >= most)
        };
        let of_qos = self.by_qos(job, |at, limit| {
            let is_full = |group, kind| is_full(group, limit(kind));
            if is_full(Group::Qos(at), |qos| qos.grp_jobs.map(u64::from)) {
                return Some(LimitReason::QosGrpJobs);
            }
            if is_full(Group::QosAccount(at, account), |qos| qos.max_jobs_pa.map(u64::from)) {
                return Some(LimitReason::MaxJobsPerAccount);
            }
            if is_full(Group::QosUser(at, user), |qos| qos.max_jobs_pu.map(u64::from)) {
                return Some(LimitReason::QosMaxJobsPerUser);
            }
            let wall = limit(|qos| qos.max_wall.map(u64::from));
            let is_long =
                wall.is_some_and(|most| job.limit.is_some_and(|limit| u64::from(limit) > most));
            is_long.then_some(LimitReason::QosMaxWall)
        });
        of_qos.or_else(|| {
            let grp_set = self.is_set(job, |qos| qos.grp_jobs.map(u64::from));
            let per_set =
                self.is_set(job, |qos| qos.max_jobs_pa.or(qos.max_jobs_pu).map(u64::from));
            let wall_set = self.is_set(job, |qos| qos.max_wall.map(u64::from));
            self.associations.ancestors(job.association).find_map(|at| {
                let one = &self.associations.all()[at];
                let group = Group::Association(at);
                if !grp_set && is_full(group, one.grp_jobs.map(u64::from)) {
                    return Some(LimitReason::AssocGrpJobs);
                }
                if at != job.association {
                    return None;
                }
                if !per_set && is_full(group, one.max_jobs.map(u64::from)) {
                    return Some(LimitReason::AssocMaxJobs);
                }
                let wall = one.max_wall.filter(|_| !wall_set);
                let is_long = wall.is_some_and(|most| job.limit.is_some_and(|limit| limit > most));
                is_long.then_some(LimitReason::AssocMaxWall)
            })
        })
    }

    /// Returns the limit that refuses a job because of its size alone (L3).
    pub fn refuses_size(&self, job: &Applicant) -> Option<LimitReason> {
        if !self.is_enforced {
            return None;
        }
        let (mut most, mut reason) = (u64::MAX, None);
        let mut lower = |limit: Option<u64>, by: LimitReason| {
            let is_lower = limit.is_some_and(|limit| limit < most);
            if let Some(limit) = limit.filter(|_| is_lower) {
                (most, reason) = (limit, Some(by));
            }
            is_lower
        };
        let kinds: [(QosLimit, LimitReason); 4] = [
            (|qos| qos.max_tres_pa.node, LimitReason::MaxNodePerAccount),
            (|qos| qos.max_tres.node, LimitReason::QosMaxNodePerJob),
            (|qos| qos.max_tres_pu.node, LimitReason::QosMaxNodePerUser),
            (|qos| qos.grp_tres.node, LimitReason::QosGrpNode),
        ];
        // Of each kind, the first QOS that sets a limit decides.
        for (limit, by) in kinds {
            let mut of_qos = job.qos.iter().flatten().filter_map(|&qos| limit(&self.qos[qos]));
            lower(of_qos.next(), by);
        }
        let per_set = kinds[..3].iter().any(|&(limit, _)| self.is_set(job, limit));
        let grp_set = self.is_set(job, kinds[3].0);
        for at in self.associations.ancestors(job.association) {
            let one = &self.associations.all()[at];
            let grp = one.grp_tres.node.filter(|_| !grp_set);
            let is_last = lower(grp, LimitReason::AssocGrpNode);
            if at == job.association && !per_set {
                lower(one.max_tres.node, LimitReason::AssocMaxNodePerJob);
            }
            if is_last {
                break;
            }
        }
        reason.filter(|_| job.nodes > most)
    }

    /// Returns the limit that refuses a job after a placement was looked for (L4). `overlap` returns the number of nodes
    /// of a group that the job itself is to get.
    pub fn after_placement(
        &self,
        job: &Applicant,
        overlap: impl Fn(Group) -> u64,
    ) -> Option<LimitReason> {
        if !self.is_enforced {
            return None;
        }
        let (user, account) = (self.users[job.association], self.accounts[job.association]);
        let exceeds = |group, [cpu, node]: [Option<u64>; 2], reasons: [LimitReason; 2]| {
            let held = self.held(group);
            if cpu.is_some_and(|most| job.cpus + held.cpus > most) {
                return Some(reasons[0]);
            }
            let exceeds = |most: u64| {
                job.nodes + held.nodes > most && job.nodes + held.nodes - overlap(group) > most
            };
            node.is_some_and(exceeds).then_some(reasons[1])
        };
        let of_qos = self.by_qos(job, |at, limit| {
            let grp = [limit(|qos| qos.grp_tres.cpu), limit(|qos| qos.grp_tres.node)];
            let grp_reasons = [LimitReason::QosGrpCpu, LimitReason::QosGrpNode];
            let max = [limit(|qos| qos.max_tres.cpu), limit(|qos| qos.max_tres.node)];
            let min = [limit(|qos| qos.min_tres.cpu), limit(|qos| qos.min_tres.node)];
            let pa = [limit(|qos| qos.max_tres_pa.cpu), limit(|qos| qos.max_tres_pa.node)];
            let pa_reasons = [LimitReason::MaxCpuPerAccount, LimitReason::MaxNodePerAccount];
            let pu = [limit(|qos| qos.max_tres_pu.cpu), limit(|qos| qos.max_tres_pu.node)];
            let pu_reasons = [LimitReason::QosMaxCpuPerUser, LimitReason::QosMaxNodePerUser];
            exceeds(Group::Qos(at), grp, grp_reasons)
                .or_else(|| {
                    let cpu = max[0].is_some_and(|most| job.cpus > most);
                    let node = max[1].is_some_and(|most| job.nodes > most);
                    let node = node.then_some(LimitReason::QosMaxNodePerJob);
                    if cpu { Some(LimitReason::QosMaxCpuPerJob) } else { node }
                })
                .or_else(|| {
                    let cpu = min[0].is_some_and(|least| job.cpus < least);
                    let node = min[1].is_some_and(|least| job.nodes < least);
                    let node = node.then_some(LimitReason::QosMinNode);
                    if cpu { Some(LimitReason::QosMinCpu) } else { node }
                })
                .or_else(|| exceeds(Group::QosAccount(at, account), pa, pa_reasons))
                .or_else(|| exceeds(Group::QosUser(at, user), pu, pu_reasons))
        });
        of_qos.or_else(|| {
            let cpu_set = self.is_set(job, |qos| qos.grp_tres.cpu);
            let node_set = self.is_set(job, |qos| qos.grp_tres.node);
            self.associations.ancestors(job.association).find_map(|at| {
                let Tres { cpu, node } = self.associations.all()[at].grp_tres;
                let grp = [cpu.filter(|_| !cpu_set), node.filter(|_| !node_set)];
                let reasons = [LimitReason::AssocGrpCpu, LimitReason::AssocGrpNode];
                let of_group = exceeds(Group::Association(at), grp, reasons);
                let own = || if at == job.association { self.own_max_tres(job) } else { None };
                of_group.or_else(own)
            })
        })
    }

    /// Returns the value of a limit that refuses a job, and what is held; `None` if no such limit is set.
    pub fn facts(&self, job: &Applicant, reason: LimitReason) -> Option<LimitFacts> {
        use LimitReason as R;
        use LimitUnit::{Cpus, Jobs, Minutes, Nodes, Submitted};
        let (user, account) = (self.users[job.association], self.accounts[job.association]);
        let of_user = |qos| Some(Group::QosUser(qos, user));
        let of_account = |qos| Some(Group::QosAccount(qos, account));
        let of_qos = |qos| Some(Group::Qos(qos));
        let of_job = |_| None;
        type GroupOf<'a> = &'a dyn Fn(usize) -> Option<Group>;
        let by_qos: Option<(QosLimit, LimitUnit, GroupOf<'_>)> = match reason {
            R::QosGrpJobs => Some((|qos| qos.grp_jobs.map(u64::from), Jobs, &of_qos)),
            R::MaxJobsPerAccount => Some((|qos| qos.max_jobs_pa.map(u64::from), Jobs, &of_account)),
            R::QosMaxJobsPerUser => Some((|qos| qos.max_jobs_pu.map(u64::from), Jobs, &of_user)),
            R::QosMaxWall => Some((|qos| qos.max_wall.map(u64::from), Minutes, &of_job)),
            R::MaxNodePerAccount => Some((|qos| qos.max_tres_pa.node, Nodes, &of_account)),
            R::QosMaxNodePerJob => Some((|qos| qos.max_tres.node, Nodes, &of_job)),
            R::QosMaxNodePerUser => Some((|qos| qos.max_tres_pu.node, Nodes, &of_user)),
            R::QosGrpNode => Some((|qos| qos.grp_tres.node, Nodes, &of_qos)),
            R::QosMinNode => Some((|qos| qos.min_tres.node, Nodes, &of_job)),
            R::MaxCpuPerAccount => Some((|qos| qos.max_tres_pa.cpu, Cpus, &of_account)),
            R::QosMaxCpuPerJob => Some((|qos| qos.max_tres.cpu, Cpus, &of_job)),
            R::QosMaxCpuPerUser => Some((|qos| qos.max_tres_pu.cpu, Cpus, &of_user)),
            R::QosGrpCpu => Some((|qos| qos.grp_tres.cpu, Cpus, &of_qos)),
            R::QosMinCpu => Some((|qos| qos.min_tres.cpu, Cpus, &of_job)),
            R::QosMaxSubmitPerUser => {
                Some((|qos| qos.max_submit_pu.map(u64::from), Submitted, &of_user))
            }
            R::MaxSubmitPerAccount => {
                Some((|qos| qos.max_submit_pa.map(u64::from), Submitted, &of_account))
            }
            R::QosGrpSubmit => Some((|qos| qos.grp_submit.map(u64::from), Submitted, &of_qos)),
            _ => None,
        };
        let held = |group: Group, unit: LimitUnit| {
            let held = self.held(group);
            match unit {
                Jobs => held.jobs.into(),
                Submitted => held.submitted.into(),
                Nodes => held.nodes,
                Cpus => held.cpus,
                Minutes => 0,
            }
        };
        let facts = |unit: LimitUnit, limit: u64, group: Option<Group>| LimitFacts {
            reason,
            unit,
            limit,
            is_least: matches!(reason, R::QosMinNode | R::QosMinCpu),
            asked: unit.of(job),
            group,
            held: group.map_or(0, |group| held(group, unit)),
        };
        if let Some((limit, unit, group)) = by_qos {
            let mut all = job.qos.into_iter().flatten();
            return all.find_map(|at| Some(facts(unit, limit(&self.qos[at])?, group(at))));
        }
        let all = self.associations.ancestors(job.association).filter_map(|at| {
            let one = &self.associations.all()[at];
            let (unit, limit, is_group) = match reason {
                R::AssocGrpJobs => (Jobs, one.grp_jobs.map(u64::from), true),
                R::AssocMaxJobs => (Jobs, one.max_jobs.map(u64::from), true),
                R::AssocMaxWall => (Minutes, one.max_wall.map(u64::from), false),
                R::AssocGrpNode => (Nodes, one.grp_tres.node, true),
                R::AssocMaxNodePerJob => (Nodes, one.max_tres.node, false),
                R::AssocGrpCpu => (Cpus, one.grp_tres.cpu, true),
                R::AssocMaxCpuPerJob => (Cpus, one.max_tres.cpu, false),
                R::AssocGrpSubmit => (Submitted, one.grp_submit.map(u64::from), true),
                R::AssocMaxSubmit => (Submitted, one.max_submit.map(u64::from), true),
                _ => return None,
            };
            Some(facts(unit, limit?, is_group.then_some(Group::Association(at))))
        });
        let mut all: Vec<LimitFacts> = all.collect();
        let first = all.iter().position(|facts| facts.held + facts.asked > facts.limit);
        (!all.is_empty()).then(|| all.swap_remove(first.unwrap_or(0)))
    }
}
