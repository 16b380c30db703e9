use proptest::prelude::*;

use crate::elmer::*;
use replay_contract::check_names;

const LITERAL: HostSelection =
    HostSelection { threshold: None, guarded: false, pick: Pick::Lowest };

/// A table of slots. Tests assign jobs to the slots.
struct Slots {
    cluster: Cluster,
    machine: Machine,
}

impl Slots {
    fn new(hosts: u32, levels: u32) -> Self {
        let cluster = Cluster::new(hosts, levels).expect("small");
        let topology = format!("cluster:{hosts}x{levels}").parse().expect("a cluster");
        Self { cluster, machine: Machine::new(topology) }
    }

    /// Allocates a request, occupies its slots, and returns its level and hosts.
    fn allocate(&mut self, elmer: &mut Elmer, size: u32) -> Option<(u32, Vec<u32>)> {
        let mut chosen = Vec::new();
        let outcome = elmer.allocate(&self.machine, Request::of_size(size), &mut chosen);
        assert_eq!(outcome.is_err(), chosen.is_empty());
        self.machine.occupy(&chosen);
        let level = self.cluster.level(*chosen.first()?);
        assert!(chosen.iter().all(|&slot| self.cluster.level(slot) == level));
        Some((level, chosen.iter().map(|&slot| self.cluster.host(slot)).collect()))
    }

    fn elmer(&self, selection: HostSelection) -> Elmer {
        Elmer::new(self.cluster, selection, Hosts::PLAIN, 1)
    }

    fn free(&self, level: u32) -> usize {
        (0..self.cluster.hosts())
            .filter(|&host| self.machine.is_free(self.cluster.slot(host, level)))
            .count()
    }
}

#[test]
fn strict_mode_follows_the_printed_algorithm() {
    let mut table = Slots::new(6, 2);
    let mut elmer = table.elmer(LITERAL);
    assert_eq!(table.allocate(&mut elmer, 4), Some((0, vec![0, 1, 2, 3])));
    assert_eq!((table.free(0), table.free(1)), (2, 6));
    assert_eq!(table.allocate(&mut elmer, 3), Some((1, vec![0, 1, 2])));
    assert_eq!(table.allocate(&mut elmer, 2), Some((0, vec![4, 5])));
    assert_eq!((table.free(0), table.free(1)), (0, 3));
    assert_eq!(table.allocate(&mut elmer, 4), None);
}

#[test]
fn guarded_mode_prefers_idle_hosts_and_keeps_the_order_of_arrival() {
    let mut table = Slots::new(6, 2);
    let mut elmer = table.elmer(HostSelection { guarded: true, ..LITERAL });
    assert_eq!(table.allocate(&mut elmer, 4), Some((0, vec![0, 1, 2, 3])));
    // Hosts 4 and 5 are idle.
    assert_eq!(table.allocate(&mut elmer, 3), Some((1, vec![4, 5, 0])));
    // Level 0 of hosts 4 and 5 is free, but at this level the third job would have a higher
    // priority than the second job.
    assert_eq!(table.free(0), 2);
    assert_eq!(table.allocate(&mut elmer, 2), Some((1, vec![1, 2])));
    assert_eq!(table.allocate(&mut elmer, 2), None);
}

#[test]
fn busy_hosts_are_not_free_in_version_2() {
    for (size, expected) in [(4, Some((1, vec![2, 3, 4, 5]))), (5, None)] {
        let mut table = Slots::new(6, 2);
        let mut elmer = table.elmer(HostSelection { threshold: Some(0.8), ..LITERAL });
        assert_eq!(table.allocate(&mut elmer, 6), Some((0, vec![0, 1, 2, 3, 4, 5])));
        elmer
            .on_event(&table.machine, MachineEvent::HostsObserved(&[1.0, 0.9, 0.3, 0.3, 0.2, 0.0]));
        assert_eq!(table.allocate(&mut elmer, size), expected);
    }
}

#[test]
fn every_free_host_is_drawn_equally_often() {
    let mut hits = [0u32; 6];
    let mut elmer = Slots::new(6, 2).elmer(HostSelection::PLAIN);
    for _ in 0..6000 {
        let mut table = Slots::new(6, 2);
        table.machine.occupy(&[table.cluster.slot(2, 0)]);
        let (level, hosts) = table.allocate(&mut elmer, 2).expect("they are free");
        assert_eq!(level, 0);
        hosts.iter().for_each(|&host| hits[host as usize] += 1);
    }
    assert_eq!(hits[2], 0);
    // The expected number of hits per host is 2400, with standard deviation 38.
    assert!(hits.iter().enumerate().all(|(h, &n)| h == 2 || (2250..2550).contains(&n)), "{hits:?}");
    elmer.begin(&RunSetup::default()).expect("it works");
    let again = Slots::new(6, 2).allocate(&mut elmer, 3);
    assert_eq!(
        again,
        Slots::new(6, 2).allocate(&mut Slots::new(6, 2).elmer(HostSelection::PLAIN), 3)
    );
}

proptest! {
    /// Checks Figs. 6.8 and 6.9: the level is the first level at which enough hosts are free.
    #[test]
    fn the_level_agrees_with_the_definition(
        busy in proptest::collection::vec(any::<bool>(), 24),
        utilization in proptest::collection::vec(0..=10u32, 8),
        size in 1..=9u32,
        guarded in any::<bool>(),
        threshold in proptest::option::of(0.0..1.0f64),
        seed in any::<u64>(),
    ) {
        let mut table = Slots::new(8, 3);
        let taken: Vec<NodeId> = (0..24).filter(|&slot| busy[slot as usize]).map(NodeId).collect();
        table.machine.occupy(&taken);
        let utilization: Vec<f64> = utilization.iter().map(|&tenths| f64::from(tenths) / 10.0).collect();
        let is_free = |host: u32, level: u32| !busy[table.cluster.slot(host, level).index()];
        let counts = |host: u32, level: u32| {
            is_free(host, level)
                && threshold.is_none_or(|most| utilization[host as usize] <= most)
                && (!guarded || (level..3).all(|lower| is_free(host, lower)))
        };
        let free = |level: u32| (0..8).filter(|&host| counts(host, level)).collect::<Vec<_>>();
        let expected = (0..3).find(|&level| free(level).len() >= size as usize);
        let candidates = expected.map(free);
        let idle = |hosts: &[u32]| {
            hosts.iter().filter(|&&host| (0..3).all(|level| is_free(host, level))).count()
        };
        let most_idle = candidates.as_deref().map(|hosts| idle(hosts).min(size as usize));
        let selection = HostSelection { threshold, guarded, pick: Pick::Random };
        let mut elmer = Elmer::new(table.cluster, selection, Hosts::PLAIN, seed);
        elmer.on_event(&table.machine, MachineEvent::HostsObserved(&utilization));
        let before = table.machine.clone();
        let found = table.allocate(&mut elmer, size);
        prop_assert_eq!(found.as_ref().map(|(level, _)| *level), expected);
        if let (Some((_, hosts)), Some(candidates)) = (found, candidates) {
            prop_assert!(hosts.iter().all(|host| candidates.contains(host)));
            if guarded {
                prop_assert_eq!(Some(hosts.iter().filter(|&&host| (0..3).all(|level| {
                    before.is_free(table.cluster.slot(host, level))
                })).count()), most_idle);
            }
        }
    }
}

#[test]
fn names_have_one_canonical_form() {
    let canonical = [
        ("elmer[version=1,mode=guarded]", "elmer"),
        ("elmer[version=2]", "elmer[threshold=0.8]"),
        ("elmer[costs=yes,threshold=0.5]", "elmer[threshold=0.5,costs=yes]"),
        ("elmer[costs=no,period=60]", "elmer[period=60]"),
    ];
    let invalid = [
        ("elmer[version=1,threshold=0.5]", "threshold and version are alternatives"),
        ("elmer[threshold=1]", "threshold is 1, but must be below 1"),
        ("elmer[demand=0]", "is not a number above 0, at most 1"),
        ("elmer[period=nan]", "is not a number above 0, at most 1000000"),
        ("elmer[version=3]", "not one of 1, 2"),
    ];
    check_names(crate::allocator, &canonical, &invalid);
}

#[test]
fn shared_hosts_require_elmer_and_elmer_requires_hosts() {
    let build = |name: &str, machine: &str| {
        let spec = crate::allocator(name).expect("a strategy");
        let built = spec.build(&machine.parse().expect("a machine"), 0);
        built.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(build("elmer", "cluster:6x2"), Ok(()));
    assert_eq!(build("elmer", "cluster:6"), Ok(()));
    assert_eq!(build("random", "cluster:6"), Ok(()));
    assert!(build("random", "cluster:6x2").expect_err("shared").contains("jobs share the hosts"));
    assert!(build("elmer", "4x4").expect_err("no cluster").contains("cluster:6x2"));
}
