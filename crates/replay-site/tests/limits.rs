//! Limits of QOS, associations and partitions: reasons at submission, and invariants of random replays.

use proptest::prelude::*;
use replay_site::assoc::Associations;
use replay_site::conf::EnforcePartLimits;
use replay_site::job::SiteJob;
use replay_site::node_set::NodeSet;
use replay_site::qos::{self, Qos};
use replay_site::reason::{LimitReason, Reason};
use replay_site::replay::{LimitRule, Replayed, replay};
use replay_site::scheduler::Phase;
use replay_site::site::{Partition, Site};
use replay_site::tres::Tres;

const TREE: &str = "ID|Account|User|Share|ParentName|GrpJobs|GrpTRES|MaxJobs|MaxTRES|MaxWall|GrpSubmit|MaxSubmit|\n\
    1|root||1|||||||||\n\
    2|a||3|root||||||||\n\
    3|a|u|1||||||||4|\n\
    4|a|v|1|||||||||\n\
    5|b||1|a|2|node=5||||||\n\
    6|b|w|1|||||node=3|30|||\n";

fn site(nodes: usize) -> Site {
    let mut site = Site::of_machine(nodes, None);
    site.enforces_limits = true;
    site.associations = Associations::read(TREE, "assoc.txt", None).expect("a tree").0;
    site
}

fn job(number: i64, submit: i64, nodes: u32, minutes: u32) -> SiteJob {
    SiteJob {
        number,
        submit,
        eligible: submit,
        run: i64::from(minutes) * 60,
        nodes,
        cpus: None,
        limit: Some(minutes),
        estimate: None,
        association: 2,
        qos: 0,
        partitions: vec![0],
        nice: 0,
        priority: Some(5),
    }
}

/// Returns the reason of each job that has not started after a replay of jobs of one node, all submitted at once.
fn reasons(site: &Site, jobs: &[SiteJob]) -> Vec<Option<(Phase, Reason)>> {
    let replayed = replay(site, jobs, LimitRule::Kill).expect("a replay");
    let reason = |state: &replay_site::scheduler::JobState| {
        state.start.is_none().then_some((state.phase, state.reason))
    };
    replayed.states.iter().map(reason).collect()
}

fn with_qos(change: impl FnOnce(&mut Qos)) -> Site {
    let mut site = site(8);
    change(&mut site.qos[0]);
    site
}

#[test]
fn submissions_are_rejected_by_their_number() {
    let jobs: Vec<SiteJob> = (1..=5).map(|number| job(number, 0, 8, 10)).collect();
    let rejected = |limit| Some((Phase::Rejected, Reason::Limit(limit)));
    // The fourth column of limits of the user: MaxSubmit is 4.
    assert_eq!(reasons(&site(8), &jobs)[3..], [None, rejected(LimitReason::AssocMaxSubmit)]);
    let site = with_qos(|qos| qos.max_submit_pu = Some(2));
    assert_eq!(reasons(&site, &jobs)[2], rejected(LimitReason::QosMaxSubmitPerUser));
    assert_eq!(reasons(&site, &jobs)[1], None);
    let site = with_qos(|qos| qos.max_submit_pa = Some(1));
    assert_eq!(reasons(&site, &jobs)[1], rejected(LimitReason::MaxSubmitPerAccount));
    let site = with_qos(|qos| qos.grp_submit = Some(3));
    assert_eq!(reasons(&site, &jobs)[3], rejected(LimitReason::QosGrpSubmit));
    let mut unlimited = with_qos(|qos| qos.grp_submit = Some(0));
    unlimited.enforces_limits = false;
    assert!(reasons(&unlimited, &jobs).iter().all(Option::is_none));
}

#[test]
fn jobs_that_exceed_a_limit_wait_or_are_rejected_by_a_flag() {
    let all = [job(1, 0, 4, 10)];
    for (limit, reason) in [
        (
            Qos { max_tres: Tres { node: Some(3), cpu: None }, ..Qos::named("normal") },
            LimitReason::QosMaxNodePerJob,
        ),
        (
            Qos { max_tres: Tres { node: None, cpu: Some(3) }, ..Qos::named("normal") },
            LimitReason::QosMaxCpuPerJob,
        ),
        (
            Qos { max_tres_pa: Tres { node: Some(3), cpu: None }, ..Qos::named("normal") },
            LimitReason::MaxNodePerAccount,
        ),
        (
            Qos { grp_tres: Tres { node: Some(3), cpu: None }, ..Qos::named("normal") },
            LimitReason::QosGrpNode,
        ),
        (Qos { max_wall: Some(9), ..Qos::named("normal") }, LimitReason::QosMaxWall),
        (Qos { grp_jobs: Some(0), ..Qos::named("normal") }, LimitReason::QosGrpJobs),
        (Qos { max_jobs_pa: Some(0), ..Qos::named("normal") }, LimitReason::MaxJobsPerAccount),
        (Qos { max_jobs_pu: Some(0), ..Qos::named("normal") }, LimitReason::QosMaxJobsPerUser),
        (
            Qos { min_tres: Tres { node: Some(5), cpu: None }, ..Qos::named("normal") },
            LimitReason::QosMinNode,
        ),
        (
            Qos { grp_tres: Tres { node: None, cpu: Some(3) }, ..Qos::named("normal") },
            LimitReason::QosGrpCpu,
        ),
        (
            Qos { max_tres_pu: Tres { node: None, cpu: Some(3) }, ..Qos::named("normal") },
            LimitReason::QosMaxCpuPerUser,
        ),
    ] {
        let site = with_qos(|qos| *qos = limit.clone());
        assert_eq!(reasons(&site, &all), [Some((Phase::Waiting, Reason::Limit(reason)))]);
        let denies = with_qos(|qos| *qos = Qos { deny_on_limit: true, ..limit });
        let by_size = [
            LimitReason::QosMaxNodePerJob,
            LimitReason::QosMaxCpuPerJob,
            LimitReason::MaxNodePerAccount,
            LimitReason::QosGrpNode,
            LimitReason::QosMaxWall,
        ];
        let phase = if by_size.contains(&reason) { Phase::Rejected } else { Phase::Waiting };
        assert_eq!(reasons(&denies, &all), [Some((phase, Reason::Limit(reason)))]);
    }
    // Associations: the account b allows two jobs and five nodes, its user w three nodes and 30 minutes.
    let of_w =
        |number, nodes, minutes| SiteJob { association: 5, ..job(number, 0, nodes, minutes) };
    let waits = |limit| Some((Phase::Waiting, Reason::Limit(limit)));
    let found = reasons(&site(8), &[of_w(1, 6, 10), of_w(2, 4, 10), of_w(3, 2, 31)]);
    let expected = [
        LimitReason::AssocMaxNodePerJob,
        LimitReason::AssocMaxNodePerJob,
        LimitReason::AssocMaxWall,
    ];
    assert_eq!(found, expected.map(waits));
}

#[test]
fn limits_of_partitions_have_reasons() {
    let mut site = site(8);
    let nodes = NodeSet::all(8);
    let cpus = site.cpus.clone();
    let part = |change: fn(&mut Partition)| {
        let mut partition = Partition::new("p", nodes.clone(), &cpus);
        change(&mut partition);
        partition
    };
    site.partitions = vec![
        part(|_| {}),
        part(|p| p.max_nodes = Some(2)),
        part(|p| p.min_nodes = 4),
        part(|p| p.max_time = Some(5)),
        part(|p| p.is_up = false),
    ];
    let asks = |partitions: &[usize], nodes| SiteJob {
        partitions: partitions.to_vec(),
        ..job(1, 0, nodes, 10)
    };
    for (at, nodes, reason) in [
        (0, 9, Reason::PartitionConfig),
        (1, 3, Reason::PartitionNodeLimit),
        (2, 3, Reason::PartitionNodeLimit),
        (3, 3, Reason::PartitionTimeLimit),
        (4, 3, Reason::PartitionDown),
    ] {
        assert_eq!(reasons(&site, &[asks(&[at], nodes)]), [Some((Phase::Waiting, reason))]);
        let enforced = |rule, partitions: &[usize]| {
            let site = Site { enforce_part_limits: rule, ..site.clone() };
            reasons(&site, &[asks(partitions, nodes)])[0]
        };
        let rejected = Some((Phase::Rejected, reason));
        assert_eq!(enforced(EnforcePartLimits::All, &[at]), rejected);
        assert_eq!(enforced(EnforcePartLimits::Any, &[at]), rejected);
        if at > 0 {
            assert_eq!(enforced(EnforcePartLimits::All, &[0, at]), rejected);
            assert_eq!(enforced(EnforcePartLimits::Any, &[0, at]), None);
            assert_eq!(enforced(EnforcePartLimits::No, &[at, 0]), None);
        }
    }
    site.qos[0].lifts_max_nodes = true;
    site.qos[0].lifts_time = true;
    assert_eq!(reasons(&site, &[asks(&[1], 3), asks(&[3], 3)]), [None, None]);
}

#[test]
fn the_qos_that_comes_first_decides() {
    let table = "Name|Priority|Flags|MaxTRESPU|\nnormal|0||node=6|\npart|0||node=2|\nover|0|OverPartQOS|node=6|\n";
    let mut site = site(8);
    site.qos = qos::read(table, "qos.txt").expect("qos").0;
    site.partitions[0].qos = Some(1);
    let of = |qos| [SiteJob { qos, ..job(1, 0, 4, 10) }];
    let refused = Some((Phase::Waiting, Reason::Limit(LimitReason::QosMaxNodePerUser)));
    assert_eq!([reasons(&site, &of(0))[0], reasons(&site, &of(2))[0]], [refused, None]);
    // The limits of a size are compared by kind: an equal limit of a later kind does not replace the reason.
    site.qos[0].max_tres_pa.node = Some(2);
    site.qos[1].max_tres_pu.node = None;
    site.qos[1].grp_tres.node = Some(2);
    let refused = Some((Phase::Waiting, Reason::Limit(LimitReason::MaxNodePerAccount)));
    assert_eq!(reasons(&site, &of(0))[0], refused);
}

/// Checks that nodes are held once, jobs stay in their partition, and limits of running jobs hold.
fn check(site: &Site, jobs: &[SiteJob], replayed: &Replayed) {
    let started: Vec<_> = jobs
        .iter()
        .zip(&replayed.states)
        .zip(&replayed.ends)
        .filter_map(|((job, state), end)| Some((job, state.start.as_ref()?, (*end)?)))
        .collect();
    for (job, start, _) in &started {
        let partition = &site.partitions[start.partition];
        assert!(start.nodes.count() == job.nodes && start.nodes.is_subset(&partition.nodes));
        assert!(start.at >= job.submit && job.partitions.contains(&start.partition));
        let running: Vec<_> = started
            .iter()
            .filter(|(_, other, end)| other.at <= start.at && start.at < *end)
            .collect();
        let mut held = NodeSet::empty(site.nodes.len());
        for (_, other, _) in &running {
            assert!(!held.intersects(&other.nodes), "a node is held twice");
            held.unite(&other.nodes);
        }
        let qos = &site.qos[job.qos];
        let user = |association: usize| site.associations.all()[association].user.clone();
        let of_user = running.iter().filter(|(other, ..)| {
            other.qos == job.qos && user(other.association) == user(job.association)
        });
        let of_user: Vec<_> = of_user.collect();
        assert!(qos.max_jobs_pu.is_none_or(|most| of_user.len() as u32 <= most));
        let nodes: u64 = of_user.iter().map(|(other, ..)| u64::from(other.nodes)).sum();
        assert!(qos.max_tres_pu.node.is_none_or(|most| nodes <= most));
        let nodes: u64 = running
            .iter()
            .filter(|(other, ..)| other.qos == job.qos)
            .map(|(other, ..)| u64::from(other.nodes))
            .sum();
        assert!(qos.grp_tres.node.is_none_or(|most| nodes <= most));
        // A limit of the QOS replaces that of the account of the same kind.
        let of_b: Vec<_> = running.iter().filter(|(other, ..)| other.association == 5).collect();
        let nodes: u32 = of_b.iter().map(|(other, ..)| other.nodes).sum();
        assert!(of_b.len() <= 2);
        assert!(job.association != 5 || qos.grp_tres.node.is_some() || nodes <= 5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn limits_hold_in_random_replays(
        all in proptest::collection::vec((0i64..300, 1u32..=8, 1i64..6000, 1u32..90, 0usize..3, 0usize..2), 1..40),
        grp in proptest::option::of(2u64..10),
        per_user in proptest::option::of(2u64..8),
        jobs_per_user in proptest::option::of(1u32..4),
        weights in (0u32..2, 0u32..2),
        half_life in prop_oneof![Just(0u32), Just(600)],
    ) {
        let mut site = site(8);
        site.priority.weights.age = 1000 * weights.0;
        site.priority.weights.fairshare = 1000 * weights.1;
        site.priority.half_life = half_life;
        let mut other = Qos::named("other");
        other.grp_tres.node = grp;
        other.max_tres_pu.node = per_user;
        other.max_jobs_pu = jobs_per_user;
        site.qos.push(other);
        let mut at = 0;
        let jobs: Vec<SiteJob> = (1..).zip(all).map(|(number, (gap, nodes, run, limit, user, qos))| {
            at += gap;
            let association = [2, 3, 5][user];
            SiteJob { run, association, qos, priority: None, ..job(number, at, nodes, limit) }
        }).collect();
        let replayed = replay(&site, &jobs, LimitRule::Kill).expect("a replay");
        check(&site, &jobs, &replayed);
        for (job, state) in jobs.iter().zip(&replayed.states) {
            if let Some(start) = &state.start {
                prop_assert_eq!(state.waits.iter().sum::<i64>(), start.at - job.submit);
            }
        }
        // Without decay, all CPU seconds of all jobs are usage.
        if half_life == 0 {
            let used: i64 = jobs.iter().zip(&replayed.states).zip(&replayed.ends).filter_map(|((job, state), end)| {
                Some(i64::from(job.nodes) * ((*end)? - state.start.as_ref()?.at))
            }).sum();
            let total: f64 = replayed.usage.iter().sum();
            prop_assert!((total - used as f64).abs() < 1e-6 * (1.0 + total), "{total} {used}");
        }
        prop_assert_eq!(replay(&site, &jobs, LimitRule::Kill).expect("a replay"), replayed);
    }
}
