//! Runs on a machine with partitions, compared with a plain version of the rules.

use std::sync::Arc;

use super::*;
use replay_engine::allocator::Partitioned;
use replay_engine::partitions::{JobPartitions, PartitionNodes, PartitionSet};

/// Number of nodes of the machine.
const NODES: usize = 12;

/// Allocates the free nodes with the lowest numbers.
struct Lowest;

impl Allocator for Lowest {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        replay_engine::allocator::require_free(machine, request.size.into())?;
        chosen.extend(machine.free_nodes().take(request.size as usize));
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }
}

/// A job of the plain version: its partition, and its start and nodes once it has started.
#[derive(Clone)]
struct Plain {
    job: Job,
    partition: usize,
    start: Option<i64>,
    nodes: Vec<usize>,
    /// The reserved start under conservative backfilling.
    reserved: i64,
}

impl Plain {
    fn end(&self) -> Option<i64> {
        Some(self.start? + self.job.run)
    }

    fn runs(&self, now: i64) -> bool {
        self.end().is_some_and(|end| end > now)
    }
}

/// The plain version: every second, jobs end, jobs arrive, and the rule starts jobs one by one.
struct Machines<'a> {
    sets: &'a [Vec<bool>],
    jobs: Vec<Plain>,
    now: i64,
}

impl Machines<'_> {
    fn free(&self, set: usize) -> Vec<usize> {
        let held = |node: &usize| {
            self.jobs.iter().any(|one| one.runs(self.now) && one.nodes.contains(node))
        };
        (0..NODES).filter(|node| self.sets[set][*node] && !held(node)).collect()
    }

    fn shared(&self, one: usize, other: usize) -> usize {
        (0..NODES).filter(|&node| self.sets[one][node] && self.sets[other][node]).count()
    }

    fn held_in(&self, one: &Plain, set: usize) -> usize {
        one.nodes.iter().filter(|&&node| self.sets[set][node]).count()
    }

    fn waiting(&self) -> Vec<usize> {
        let waits =
            |at: &usize| self.jobs[*at].start.is_none() && self.jobs[*at].job.submit <= self.now;
        (0..self.jobs.len()).filter(waits).collect()
    }

    /// Free nodes of a set at a later time if no other job starts and running jobs end at their estimates.
    fn free_at(&self, set: usize, at: i64) -> usize {
        let still = self.jobs.iter().filter(|one| one.runs(self.now));
        let still = still.filter(|one| one.start.expect("it runs") + one.job.estimate > at);
        let size = self.sets[set].iter().filter(|member| **member).count();
        size - still.map(|one| self.held_in(one, set)).sum::<usize>()
    }

    fn strict(&self, overtakes: bool) -> Option<usize> {
        let mut blocked: Vec<usize> = Vec::new();
        for at in self.waiting() {
            let Plain { job, partition, .. } = &self.jobs[at];
            let is_blocked = blocked.iter().any(|&one| self.shared(one, *partition) > 0);
            if (overtakes || !is_blocked) && self.free(*partition).len() >= job.size as usize {
                return Some(at);
            }
            blocked.push(*partition);
        }
        None
    }

    fn easy(&self) -> Option<usize> {
        // Partition, shadow time and spare nodes of each head.
        let mut heads: Vec<(usize, Option<(i64, usize)>)> = Vec::new();
        for at in self.waiting() {
            let Plain { job, partition, .. } = &self.jobs[at];
            let fits = self.free(*partition).len() >= job.size as usize;
            let before: Vec<_> =
                heads.iter().filter(|head| self.shared(head.0, *partition) > 0).collect();
            let spares = before.iter().all(|(set, shadow)| {
                shadow.is_some_and(|(shadow, extra)| {
                    let takes = (job.size as usize).min(self.shared(*set, *partition));
                    self.now + job.estimate <= shadow || takes <= extra
                })
            });
            if fits && spares {
                return Some(at);
            }
            if before.is_empty() {
                let due = |one: &&Plain| {
                    one.runs(self.now)
                        && self.held_in(one, *partition) > 0
                        && one.start.expect("it runs") + one.job.estimate == self.now
                };
                let shadow = match self.jobs.iter().find(due) {
                    Some(_) => None,
                    None => (self.now..self.now + 10_000)
                        .find(|&at| self.free_at(*partition, at) >= job.size as usize)
                        .map(|at| (at, self.free_at(*partition, at) - job.size as usize)),
                };
                heads.push((*partition, shadow));
            }
        }
        None
    }

    /// Processors of a set that are free at a time, given all reservations but that of one job.
    fn unreserved(&self, set: usize, at: i64, but: usize) -> i64 {
        let size = self.sets[set].iter().filter(|member| **member).count() as i64;
        let used =
            self.jobs.iter().enumerate().filter(|(index, _)| *index != but).map(|(_, one)| {
                let duration = one.job.estimate.max(1);
                match one.start {
                    Some(start) if one.runs(self.now) && at < start + duration => {
                        self.held_in(one, set) as i64
                    }
                    None if one.job.submit <= self.now
                        && one.reserved >= 0
                        && (one.reserved..one.reserved + duration).contains(&at) =>
                    {
                        (one.job.size as i64).min(self.shared(set, one.partition) as i64)
                    }
                    _ => 0,
                }
            });
        size - used.sum::<i64>()
    }

    fn reserve(&mut self, at: usize) {
        let (size, partition) = (self.jobs[at].job.size as i64, self.jobs[at].partition);
        let duration = self.jobs[at].job.estimate.max(1);
        let fits = |start: &i64| {
            (*start..*start + duration).all(|time| {
                (0..self.sets.len()).all(|set| {
                    let takes = size.min(self.shared(set, partition) as i64);
                    takes == 0 || self.unreserved(set, time, at) >= takes
                })
            })
        };
        self.jobs[at].reserved = (self.now..).find(fits).expect("an empty machine in the end");
    }

    fn run(mut self, rule: &str) -> Vec<Plain> {
        let mut compress = false;
        while self.jobs.iter().any(|one| one.start.is_none()) {
            let early = self
                .jobs
                .iter()
                .any(|one| one.end() == Some(self.now) && one.job.run < one.job.estimate.max(1));
            compress |= early;
            loop {
                if rule == "conservative" {
                    for at in self.waiting() {
                        if compress || self.jobs[at].reserved < 0 {
                            self.reserve(at);
                        }
                    }
                    compress = false;
                }
                let selected = match rule {
                    "fcfs" => self.strict(false),
                    "out-of-order" => self.strict(true),
                    "easy" => self.easy(),
                    _ => self.waiting().into_iter().find(|&at| {
                        let Plain { job, partition, reserved, .. } = &self.jobs[at];
                        *reserved <= self.now && self.free(*partition).len() >= job.size as usize
                    }),
                };
                let Some(at) = selected else { break };
                let Plain { job, partition, .. } = self.jobs[at];
                self.jobs[at].nodes =
                    self.free(partition).into_iter().take(job.size as usize).collect();
                self.jobs[at].start = Some(self.now);
                let takes = |set: usize| (job.size as usize).min(self.shared(set, partition));
                let left =
                    (0..self.sets.len()).any(|set| takes(set) > self.held_in(&self.jobs[at], set));
                compress |= left;
            }
            self.now += 1;
        }
        self.jobs
    }
}

/// The start and the nodes of each job.
fn run(jobs: &[Job], of: &JobPartitions, scheduler: &str) -> (Vec<i64>, Vec<Vec<NodeId>>) {
    let topology: Topology = "4x3".parse().expect("a mesh");
    let scheduler = replay_strategies::scheduler(scheduler).expect("a scheduler");
    let mut scheduler = scheduler.build_partitioned(of).expect("it supports partitions");
    let parts = of.set.all().iter().map(|_| Box::new(Lowest) as Box<dyn Allocator>).collect();
    let mut allocator = Partitioned::new(of.clone(), &topology, parts);
    let mut logger = Logger::new(jobs);
    let stop = CancelToken::new();
    let simulation = Simulation::new(jobs, &topology, &stop).with_partitions(Some(of));
    simulation
        .run(Starts::Scheduler(scheduler.as_mut()), &mut allocator, &mut logger)
        .expect("it runs");
    (logger.log.starts, logger.log.nodes)
}

const RULES: [&str; 4] = ["fcfs", "easy", "conservative", "out-of-order"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Engine and plain version agree on sets that may overlap; no node is held twice, and no job is outside of its set.
    #[test]
    fn the_engine_agrees_with_the_plain_version(
        sets in proptest::collection::vec(proptest::collection::vec(any::<bool>(), NODES), 1..4),
        drawn in proptest::collection::vec((0i64..25, 1i64..12, 0i64..8, 1u32..12, 0usize..4), 1..24),
    ) {
        let sets: Vec<Vec<bool>> = sets
            .into_iter()
            .map(|mut set| { set[0] |= !set.contains(&true); set })
            .collect();
        let mut drawn = drawn;
        drawn.sort_by_key(|one| one.0);
        let jobs: Vec<(Job, usize)> = drawn.iter().map(|&(submit, run, more, size, of)| {
            let partition = of % sets.len();
            let most = sets[partition].iter().filter(|member| **member).count() as u32;
            let job = Job::exact(submit, run, size.min(most));
            (Job { estimate: run + more, ..job }, partition)
        }).collect();
        let nodes = sets.iter().map(|set| PartitionNodes::new(set.clone(), 1)).collect();
        let of = JobPartitions {
            set: Arc::new(PartitionSet::new(nodes)),
            of: jobs.iter().map(|job| job.1 as u16).collect(),
        };
        let plain: Vec<Plain> = jobs.iter().map(|&(job, partition)| {
            Plain { job, partition, start: None, nodes: Vec::new(), reserved: -1 }
        }).collect();
        let jobs: Vec<Job> = jobs.into_iter().map(|one| one.0).collect();
        for rule in RULES {
            let (starts, nodes) = run(&jobs, &of, rule);
            let machines = Machines { sets: &sets, jobs: plain.clone(), now: 0 };
            let expected = machines.run(rule);
            let expected_starts: Vec<i64> =
                expected.iter().map(|one| one.start.expect("it started")).collect();
            prop_assert_eq!(&starts, &expected_starts, "{}", rule);
            for (at, (job, held)) in jobs.iter().zip(&nodes).enumerate() {
                prop_assert_eq!(held.len(), job.size as usize);
                let expected: Vec<NodeId> =
                    expected[at].nodes.iter().map(|&node| NodeId(node as u32)).collect();
                prop_assert_eq!(held, &expected, "{} job {}", rule, at);
                prop_assert!(held.iter().all(|&node| sets[of.of(JobId(at as u32))][node.index()]));
                for other in 0..at {
                    let (a, b) = (starts[at], starts[other]);
                    let at_once = a < b + jobs[other].run && b < a + job.run;
                    prop_assert!(!at_once || held.iter().all(|node| !nodes[other].contains(node)));
                }
            }
        }
    }

    /// With one partition that covers the machine, the schedule is that of a machine without partitions.
    #[test]
    fn one_partition_of_all_nodes_changes_nothing(
        drawn in proptest::collection::vec((0i64..40, 0i64..30, 0i64..20, 1u32..13), 1..40),
    ) {
        let mut drawn = drawn;
        drawn.sort_by_key(|one| one.0);
        let jobs: Vec<Job> = drawn.iter().map(|&(submit, run, more, size)| {
            Job { estimate: run + more, ..Job::exact(submit, run, size) }
        }).collect();
        let topology: Topology = "4x3".parse().expect("a mesh");
        let set = Arc::new(PartitionSet::new(vec![PartitionNodes::new(vec![true; NODES], 1)]));
        let of = JobPartitions { set, of: vec![0; jobs.len()].into() };
        let rules = RULES.iter().copied().chain([
            "easy[order=shortest]", "smallest", "conservative[order=largest]",
        ]);
        for rule in rules {
            let scheduler = replay_strategies::scheduler(rule).expect("a scheduler");
            let mut logger = Logger::new(&jobs);
            let stop = CancelToken::new();
            let simulation = Simulation::new(&jobs, &topology, &stop).with_every_event();
            let mut built = scheduler.build(NODES as u32);
            simulation
                .run(Starts::Scheduler(built.as_mut()), &mut Lowest, &mut logger)
                .expect("it runs");
            let (starts, nodes) = run(&jobs, &of, rule);
            prop_assert_eq!(&starts, &logger.log.starts, "{}", rule);
            prop_assert_eq!(&nodes, &logger.log.nodes, "{}", rule);
        }
    }
}
