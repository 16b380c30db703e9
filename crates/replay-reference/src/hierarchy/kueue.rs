//! Reference implementation of `kueue`. Nodes may have any number of slots.

use std::collections::BTreeMap;

use replay_slurm::hierarchy::Denied;
use replay_slurm::hierarchy::kueue::{KueueOptions, Levels, Mode};

/// Path of a node or switch: names from the top of the tree down.
pub type Path = Vec<String>;

/// Number of pods for which each node has room, by path.
pub type Pods = BTreeMap<Path, u64>;

/// A domain: its path, and the numbers of slices and pods for which it has room.
#[derive(Clone, Debug)]
struct Domain {
    path: Path,
    slices: u64,
    pods: u64,
}

struct Rule<'a> {
    slots: &'a Pods,
    options: KueueOptions,
    levels: Levels,
}

impl Rule<'_> {
    /// Returns the domains at a depth below a path. A path of depth 0 consists of one name.
    fn domains(&self, below: &[String], depth: usize) -> Vec<Domain> {
        let slice_depth = self.levels.slice_level as usize;
        let mut all: Vec<Path> = self
            .slots
            .keys()
            .filter(|path| path.starts_with(below))
            .map(|path| path[..=depth].to_vec())
            .collect();
        all.dedup();
        let pods = |path: &[String]| -> u64 {
            self.slots.iter().filter(|(one, _)| one.starts_with(path)).map(|one| one.1).sum()
        };
        let slice = u64::from(self.levels.slice);
        let slices = |path: &[String]| match depth.cmp(&slice_depth) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Equal => pods(path) / slice,
            std::cmp::Ordering::Less => {
                let parts = self.domains(path, slice_depth);
                parts.iter().map(|part| part.pods / slice).sum()
            }
        };
        let domain = |path: Path| Domain { slices: slices(&path), pods: pods(&path), path };
        let mut all: Vec<Domain> = all.into_iter().map(domain).collect();
        self.sort(&mut all);
        all
    }

    fn sort(&self, domains: &mut [Domain]) {
        domains.sort_by(|a, b| {
            let slices = match self.options.is_least() {
                true => a.slices.cmp(&b.slices),
                false => b.slices.cmp(&a.slices),
            };
            slices.then(a.pods.cmp(&b.pods)).then_with(|| a.path.cmp(&b.path))
        });
    }

    /// Distributes units over the domains of a list, in the order of the list. Returns the domains
    /// that receive units, each with its number of units, and a flag that is true if all units are
    /// distributed.
    fn walk(
        &self,
        domains: &[Domain],
        units: u64,
        count: impl Fn(&Domain) -> u64,
    ) -> (Vec<(Domain, u64)>, bool) {
        let (mut given, mut rest) = (Vec::new(), units);
        for (at, domain) in domains.iter().enumerate() {
            if rest == 0 {
                break;
            }
            let mut domain = domain;
            if self.options.is_fitted() && count(domain) >= rest {
                for other in &domains[at..] {
                    if count(other) >= rest && count(other) < count(domain) {
                        domain = other;
                    }
                }
            }
            let part = count(domain).min(rest);
            rest -= part;
            if part > 0 {
                given.push((domain.clone(), part));
            }
        }
        (given, rest == 0)
    }
}

/// Returns the number of pods of a job on each node. `leaves` is the depth of leaf switches; the
/// depth of nodes is `leaves` + 1.
pub fn place(slots: &Pods, leaves: u32, size: u32, options: KueueOptions) -> Result<Pods, Denied> {
    let levels = options.levels(size, leaves).map_err(|_| Denied::BadConfig)?;
    let rule = Rule { slots, options, levels };
    let need = u64::from(size / levels.slice);
    let mut depth = levels.level as usize;
    let mut chosen = loop {
        let all = rule.domains(&[], depth);
        let first = match options.is_least() {
            true => all.iter().find(|one| one.slices >= need),
            false => all.first().filter(|one| one.slices >= need),
        };
        if let Some(first) = first {
            let mut best = first;
            if options.is_fitted() {
                for other in all.iter().filter(|one| one.slices >= need) {
                    if other.slices < best.slices {
                        best = other;
                    }
                }
            }
            break vec![(best.clone(), need)];
        }
        if options.mode == Mode::Required {
            return Err(Denied::NoPlace);
        }
        if depth > 0 && !options.is_loose() {
            depth -= 1;
            continue;
        }
        let (given, complete) = rule.walk(&all, need, |one| one.slices);
        if !complete {
            return Err(Denied::NoPlace);
        }
        break given;
    };
    while depth < levels.slice_level as usize {
        depth += 1;
        let children = chosen.iter().flat_map(|(one, _)| rule.domains(&one.path, depth));
        let mut children: Vec<Domain> = children.collect();
        rule.sort(&mut children);
        chosen = rule.walk(&children, need, |one| one.slices).0;
    }
    let mut pods: Vec<(Domain, u64)> = chosen
        .into_iter()
        .map(|(domain, slices)| (domain, slices * u64::from(levels.slice)))
        .collect();
    while depth <= leaves as usize {
        depth += 1;
        let below = pods.into_iter().flat_map(|(domain, pods)| {
            rule.walk(&rule.domains(&domain.path, depth), pods, |one| one.pods).0
        });
        pods = below.collect();
    }
    Ok(pods.into_iter().map(|(domain, pods)| (domain.path, pods)).collect())
}
