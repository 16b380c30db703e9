//! Kueue's topology-aware scheduling (`tas_flavor_snapshot.go`), one pod per node.
//!
//! *Domains* are switches and nodes. The rule first selects a level at which one domain, or several domains together,
//! have room for the job. The rule then distributes the pods over the domains below, level by level. Domains are
//! ordered by the number of slices for which they have room, then by the number of pods, then by the path of their
//! names (by bytes).
//!
//! Cost: one pass over the switches of each examined level, and sorting the switches below the chosen switches. Nodes
//! are examined only in chosen leaves, because free nodes are interchangeable.

use std::cmp::Reverse;

use crate::hierarchy::{Denied, FreeNodes};
use replay_engine::allocator::explain::{ExplanationLog, Listing};
use replay_engine::number::counted;
use replay_engine::sanitize::excerpt;
use replay_engine::topology::hierarchy::Tree;
use replay_engine::topology::{Hierarchy, NodeId};

/// How strictly a job stays within one domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// The job waits for a domain of the requested level.
    Required,
    /// If no domain of the requested level has room, the job gets a domain of a higher level, or several domains of the
    /// highest level.
    #[default]
    Preferred,
    /// The job may get any nodes.
    Unconstrained,
    /// Each slice of the job stays within one domain. The whole job may use several domains.
    SliceOnly,
}

impl Mode {
    /// Every mode with its name.
    pub const ALL: [(&'static str, Mode); 4] = [
        ("required", Mode::Required),
        ("preferred", Mode::Preferred),
        ("unconstrained", Mode::Unconstrained),
        ("slice_only", Mode::SliceOnly),
    ];
}

/// The order in which domains are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// In the modes unconstrained and slice_only, `Mixed` means the profile `least`; in the other modes, it means the
    /// profile `best`.
    #[default]
    Mixed,
    /// Domains with the most room come first. The last domain is chosen by best fit: it has the least room among the
    /// domains with enough room for the remaining pods.
    Best,
    /// Domains with the least room come first.
    Least,
    /// Domains with the most room come first.
    Most,
}

impl Profile {
    /// Every profile with its name.
    pub const ALL: [(&'static str, Profile); 4] = [
        ("mixed", Profile::Mixed),
        ("best", Profile::Best),
        ("least", Profile::Least),
        ("most", Profile::Most),
    ];
}

/// A level of the tree, numbered as in Slurm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Single nodes.
    Node,
    /// The switches of this level; leaves have level 0.
    Switch(u32),
}

/// Options of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KueueOptions {
    /// How strictly a job stays within one domain.
    pub mode: Mode,
    /// The level of the domain that should contain the job; `None` for single nodes.
    pub level: Option<Level>,
    /// Number of pods of each slice; `None` if jobs have no slices.
    pub slice: Option<u32>,
    /// The level of the domain that contains a slice; `None` for single nodes.
    pub slice_level: Option<Level>,
    /// The order in which domains are used.
    pub profile: Profile,
    /// If `true`, a job is placed without slices in two cases: if its size is not a multiple of the slice, or if its
    /// size is at most the slice. If `false`, a job whose size is not a multiple of the slice is rejected.
    pub lenient: bool,
}

impl KueueOptions {
    /// Returns whether domains with the least room come first.
    pub fn is_least(&self) -> bool {
        match self.profile {
            Profile::Least => true,
            Profile::Mixed => matches!(self.mode, Mode::Unconstrained | Mode::SliceOnly),
            Profile::Best | Profile::Most => false,
        }
    }

    /// Returns whether the last domain of a job is chosen by best fit. As soon as the next domain has room for all
    /// remaining pods, the domain with the least sufficient room is used instead.
    pub fn is_fitted(&self) -> bool {
        !self.is_least() && self.profile != Profile::Most
    }

    /// Returns whether several domains of the level may be used together, without trying higher levels first.
    pub fn is_loose(&self) -> bool {
        matches!(self.mode, Mode::Unconstrained | Mode::SliceOnly)
    }

    /// Checks that the profile supports slices if there are slices.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn check_profile(&self) -> Result<(), String> {
        match self.profile == Profile::Most && self.slice.is_some() {
            true => Err(
                "profile=most does not support slices, because Kueue has dropped this profile; use best or least"
                    .to_string(),
            ),
            false => Ok(()),
        }
    }

    /// Returns, for a job of `size` pods, the depth of its level, the depth of its slice level, and the number of pods
    /// of a slice. `leaves` is the depth of the leaves of the tree.
    ///
    /// # Errors
    /// The reason: a level does not exist in the tree, the slice level is above the level, the size is not a multiple of
    /// the slice, or slices are combined with [`Profile::Most`].
    pub fn levels(&self, size: u32, leaves: u32) -> Result<Levels, String> {
        let depth = |level: Option<Level>| match level {
            None | Some(Level::Node) => Ok(leaves + 1),
            Some(Level::Switch(level)) => leaves.checked_sub(level).ok_or_else(|| {
                format!("the tree has the levels node and 0 to {leaves}, not {level}")
            }),
        };
        let level = match self.mode {
            Mode::Unconstrained => leaves + 1,
            Mode::SliceOnly => 0,
            Mode::Required | Mode::Preferred => depth(self.level)?,
        };
        let divides = |slice: u32| size.is_multiple_of(slice);
        let holds = |&slice: &u32| !self.lenient || slice < size && divides(slice);
        let Some(slice) = self.slice.filter(holds) else {
            return Ok(Levels { level, slice_level: leaves + 1, slice: 1 });
        };
        let slice_level = depth(self.slice_level)?;
        if slice_level < level {
            return Err("the level of slices is above the level of the job".to_string());
        }
        if !divides(slice) {
            return Err(format!("n={size} is not a multiple of slice={slice}"));
        }
        self.check_profile()?;
        Ok(Levels { level, slice_level, slice })
    }
}

/// Depths of levels. The top level has depth 0; the depth of nodes is one more than the depth of leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levels {
    /// Depth of the domain.
    pub level: u32,
    /// Depth of the domain that contains a slice.
    pub slice_level: u32,
    /// Number of pods of a slice; 1 if there are no slices.
    pub slice: u32,
}

/// Kueue's rule, prepared for one tree.
#[derive(Clone, Debug)]
pub struct KueueRule {
    options: KueueOptions,
    /// Switches of each depth in the order of their paths.
    depths: Vec<Vec<u32>>,
    /// For each switch, the index of the switch among the switches of the same depth.
    places: Vec<u32>,
    /// For each leaf, the nodes of the leaf in the order of their names (by bytes).
    nodes: Vec<Box<[NodeId]>>,
    work: Work,
    /// Buffer for the leaves of a placement, each with the number of its nodes.
    shares: Vec<(u32, u32)>,
    pub(super) explanation: ExplanationLog,
}

/// Buffers of a decision.
#[derive(Clone, Debug, Default)]
struct Work {
    /// For each switch, the number of slices for which the switch has room.
    slices: Vec<u32>,
    domains: Vec<Domain>,
    /// Chosen switches, each with the number of slices that it gets, or with the number of pods if there are no slices.
    given: Vec<(u32, u32)>,
}

/// A domain with the values by which the domains of one level are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Domain {
    slices: u32,
    pods: u32,
    place: u32,
    switch: u32,
}

/// Checks that all leaves of a tree are at the same depth.
///
/// # Errors
/// A message that names two leaves and their lines: the first leaf of the table, and the first leaf at a different
/// depth.
fn check_depths(machine: &Hierarchy, tree: &Tree) -> Result<(), String> {
    let leaves = || (0..).zip(tree.switches()).filter(|(_, switch)| switch.children.is_empty());
    let depth = |switch: u32| {
        let above = |&switch: &u32| tree.switches()[switch as usize].parent;
        std::iter::successors(Some(switch), above).count() - 1
    };
    let mut depths = leaves().map(|(number, switch)| (number, &switch.name, depth(number)));
    let Some((first, name, expected)) = depths.next() else { return Ok(()) };
    let Some((other, differs, found)) = depths.find(|&(_, _, depth)| depth != expected) else {
        return Ok(());
    };
    let file = machine.line(other).map_or(String::new(), |line| format!("{machine}:{line}: "));
    let line = machine.line(first).map_or(String::new(), |line| format!(" (line {line})"));
    Err(format!(
        "{file}switch {}: this leaf is at depth {found}, but the leaf {}{line} is at depth {expected}; the rule needs all \
         leaves at the same depth",
        excerpt(differs),
        excerpt(name),
    ))
}

impl KueueRule {
    /// Creates the rule for a machine whose switches form `tree`.
    ///
    /// # Errors
    /// A message if the leaves of the tree are at different depths.
    pub fn new(machine: &Hierarchy, tree: &Tree, options: KueueOptions) -> Result<Self, String> {
        check_depths(machine, tree)?;
        let (switches, names) = (tree.switches(), machine.names());
        let by_name = |list: &mut Vec<u32>| {
            list.sort_unstable_by(|&a, &b| {
                let name = |number: u32| switches[number as usize].name.as_bytes();
                name(a).cmp(name(b))
            });
        };
        let mut top: Vec<u32> = tree.roots().collect();
        by_name(&mut top);
        let (mut depths, mut places) = (vec![top], vec![0; switches.len()]);
        while let Some(here) = depths.last() {
            let mut below = Vec::new();
            for (place, &switch) in (0..).zip(here) {
                places[switch as usize] = place;
                let mut children = switches[switch as usize].children.clone();
                by_name(&mut children);
                below.extend(children);
            }
            if below.is_empty() {
                break;
            }
            depths.push(below);
        }
        let sorted = |switch: &replay_engine::topology::hierarchy::Switch| {
            let mut nodes = switch.nodes.clone();
            nodes.sort_unstable_by_key(|node| names[node.index()].as_bytes());
            nodes.into_boxed_slice()
        };
        let nodes = switches.iter().map(sorted).collect();
        let (work, shares, explanation) = Default::default();
        Ok(Self { options, depths, places, nodes, work, shares, explanation })
    }

    /// Returns whether every request is served if at least the requested number of nodes is free.
    pub(crate) fn never_refuses(&self) -> bool {
        matches!(self.options.mode, Mode::Preferred | Mode::Unconstrained)
            && self.options.slice.is_none()
            && self.levels(1).is_ok()
    }

    /// Returns whether a job gets the domain with the fewest free nodes among the domains with enough free nodes.
    pub(super) fn uses_tightest_domain(&self) -> bool {
        let KueueOptions { mode, profile, slice, .. } = self.options;
        mode == Mode::Required && profile != Profile::Most && slice.is_none()
    }

    /// Returns the depths of the levels of a job.
    fn levels(&self, size: u32) -> Result<Levels, String> {
        self.options.levels(size, self.depths.len() as u32 - 1)
    }

    /// Checks that the options are consistent with the job and the tree.
    ///
    /// # Errors
    /// The reason why the options are not consistent with the job and the tree.
    pub fn check(&self, size: u32) -> Result<(), String> {
        self.levels(size).map(|_| ())
    }

    /// Returns the number of pods of each slice of a job; 1 if the job has no slices.
    pub fn slice(&self, size: u32) -> u32 {
        self.levels(size).map_or(1, |levels| levels.slice)
    }

    /// Checks that the levels of the options exist in the tree, and that the slice level is not above the level of the
    /// job.
    ///
    /// # Errors
    /// A message that contains the option and the levels of the tree.
    pub fn validate(&self) -> Result<(), String> {
        let top = self.depths.len() as u32 - 1;
        let KueueOptions { mode, level, slice, slice_level, .. } = self.options;
        let chosen = match mode {
            Mode::Required | Mode::Preferred => level.unwrap_or(Level::Node),
            Mode::Unconstrained => Level::Node,
            Mode::SliceOnly => Level::Switch(top),
        };
        let chosen_slice = slice.map_or(Level::Node, |_| slice_level.unwrap_or(Level::Node));
        let levels = format!("the tree has the levels node and 0 to {top}");
        for (key, level) in [("level", chosen), ("slice-level", chosen_slice)] {
            if let Level::Switch(number) = level
                && number > top
            {
                return Err(format!("{key}={level}: {levels}"));
            }
        }
        let height = |level: Level| match level {
            Level::Node => 0,
            Level::Switch(number) => number + 1,
        };
        if height(chosen_slice) > height(chosen) {
            return Err(format!(
                "slice-level={chosen_slice} is above level {chosen} of the job, but a slice is a part of the job; {levels}"
            ));
        }
        Ok(())
    }

    /// Chooses `size` nodes.
    pub fn place(
        &mut self,
        free: &FreeNodes,
        size: u32,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Denied> {
        let mut shares = std::mem::take(&mut self.shares);
        let placed = self.shares(free, size, &mut shares);
        if placed.is_ok() {
            for &(leaf, count) in &shares {
                let nodes = self.nodes[leaf as usize].iter().copied();
                chosen.extend(nodes.filter(|&node| free.contains(node)).take(count as usize));
            }
        }
        self.shares = shares;
        placed
    }

    /// Chooses leaves, and the number of nodes to take from each, as [`place`](Self::place) does.
    pub(super) fn shares(
        &mut self,
        free: &FreeNodes,
        size: u32,
        shares: &mut Vec<(u32, u32)>,
    ) -> Result<(), Denied> {
        shares.clear();
        let levels = self.levels(size).map_err(|_| Denied::BadConfig)?;
        if size > free.count() {
            return Err(Denied::TooFewFree);
        }
        let mut work = std::mem::take(&mut self.work);
        let found = self.choose(free, size, levels, &mut work, shares);
        self.work = work;
        found.then_some(()).ok_or(Denied::NoPlace)
    }

    fn choose(
        &self,
        free: &FreeNodes,
        size: u32,
        levels: Levels,
        work: &mut Work,
        shares: &mut Vec<(u32, u32)>,
    ) -> bool {
        let Levels { level, slice_level, slice } = levels;
        let node_level = self.depths.len() as u32;
        if slice > 1 && slice_level == node_level {
            // A node has room for one pod, but not for a slice of several pods.
            self.explanation
                .sentence(|| format!("a node has room for one pod, not for a slice of {slice}"));
            return false;
        }
        self.explanation.sentence(|| {
            let slices = match slice {
                1 => String::new(),
                slice => format!(
                    " in {} of {slice} at level {}",
                    counted((size / slice) as u64, "slice"),
                    self.level_name(slice_level)
                ),
            };
            let order = match (self.options.is_least(), self.options.is_fitted()) {
                (true, _) => "domains with the least room come first",
                (false, true) => {
                    "domains with the most room come first, and the last domain is the one that fits most tightly"
                }
                (false, false) => "domains with the most room come first",
            };
            format!(
                "{}{slices}, mode {}, level {}; {order}",
                counted(size as u64, "pod"),
                Mode::ALL.iter().find(|one| one.1 == self.options.mode).map_or("", |one| one.0),
                self.level_name(level)
            )
        });
        let mut depth = level;
        if depth == node_level {
            if size == 1 || self.options.is_loose() {
                self.first_free(
                    free,
                    self.depths[node_level as usize - 1].iter().copied(),
                    size,
                    shares,
                );
                self.explanation.sentence(|| {
                    "at the level of nodes, the first free nodes are taken, ordered by the paths of their names".to_string()
                });
                return true;
            }
            if self.options.mode == Mode::Required {
                self.explanation
                    .sentence(|| "a node has room for one pod only: the job waits".to_string());
                return false;
            }
            depth -= 1;
        }
        self.count_slices(
            free,
            slice_level.min(node_level - 1),
            slice,
            slice_level < node_level,
            work,
        );
        let need = size / slice;
        let found = self.start(free, depth, need, work);
        if self.explanation.is_recording() {
            self.explain_start(free, depth, need, found, work);
        }
        if !found {
            return false;
        }
        let mut at = match work.given.first() {
            Some(&(switch, _)) => self.depth_of(switch, depth),
            None => return false,
        };
        while at < slice_level && at + 1 < node_level {
            self.spread_below(free, need, work);
            at += 1;
            if self.explanation.is_recording() {
                let about = format!(
                    "redistribution over the domains of the next lower level, {}",
                    self.level_name(at)
                );
                self.explain_given(free, about, work);
            }
        }
        if slice_level == node_level {
            let Work { given, .. } = work;
            given.sort_unstable_by_key(|&(switch, _)| self.places[switch as usize]);
            self.first_free(free, given.iter().map(|one| one.0), size, shares);
            self.explanation.sentence(|| {
                "from these leaves, the first free nodes are taken, ordered by the paths of their names"
                    .to_string()
            });
            return true;
        }
        let given = std::mem::take(&mut work.given);
        for &(switch, slices) in &given {
            self.fill(free, switch, slices * slice, shares);
        }
        self.explanation.sentence(|| {
            "below the level of slices, each domain is filled pod by pod, children with the fewest free nodes first".to_string()
        });
        work.given = given;
        true
    }

    /// Returns the depth of a switch whose depth is at most `deepest`.
    fn depth_of(&self, switch: u32, deepest: u32) -> u32 {
        let place = self.places[switch as usize] as usize;
        let is_at = |depth: &u32| self.depths[*depth as usize].get(place) == Some(&switch);
        (0..=deepest).rev().find(is_at).unwrap_or(0)
    }

    /// Takes the first `size` free nodes of the leaves, in the order of `leaves`.
    fn first_free(
        &self,
        free: &FreeNodes,
        leaves: impl Iterator<Item = u32>,
        size: u32,
        shares: &mut Vec<(u32, u32)>,
    ) {
        let mut rest = size;
        for leaf in leaves {
            let taken = free.below()[leaf as usize].min(rest);
            if taken > 0 {
                shares.push((leaf, taken));
            }
            rest -= taken;
            if rest == 0 {
                return;
            }
        }
    }

    /// Counts the slices that fit into each switch. Without slices, the free nodes at or below each switch are counted.
    /// With slices, the slices of each switch of the slice level are counted; the counts of higher switches are sums.
    fn count_slices(
        &self,
        free: &FreeNodes,
        depth: u32,
        slice: u32,
        has_slices: bool,
        work: &mut Work,
    ) {
        let switches = self.places.len();
        work.slices.clear();
        if !has_slices {
            work.slices.extend_from_slice(&free.below()[..switches]);
            return;
        }
        work.slices.resize(switches, 0);
        for &switch in &self.depths[depth as usize] {
            let slices = free.below()[switch as usize] / slice;
            let mut at = Some(switch);
            while let Some(unit) = at.filter(|&unit| (unit as usize) < switches) {
                work.slices[unit as usize] += slices;
                at = free.hierarchy().units()[unit as usize].parent;
            }
        }
    }

    fn domain(&self, free: &FreeNodes, slices: &[u32], switch: u32) -> Domain {
        let at = switch as usize;
        Domain { slices: slices[at], pods: free.below()[at], place: self.places[at], switch }
    }

    /// Sorts domains into the order in which they are used.
    fn sort(&self, domains: &mut [Domain]) {
        match self.options.is_least() {
            true => domains.sort_unstable_by_key(|one| (one.slices, one.pods, one.place)),
            false => domains.sort_unstable_by_key(|one| (Reverse(one.slices), one.pods, one.place)),
        }
    }

    /// Selects the domains from which the distribution starts, at `depth` or above, and writes them to `given`. Returns
    /// `false` if there is not enough room.
    fn start(&self, free: &FreeNodes, mut depth: u32, need: u32, work: &mut Work) -> bool {
        let Work { slices, domains, given } = work;
        given.clear();
        loop {
            let here = self.depths[depth as usize].iter();
            let all = here.map(|&switch| self.domain(free, slices, switch));
            let key = |one: &Domain| (one.slices, one.pods, one.place);
            let one = match self.options.profile {
                Profile::Most => all.min_by_key(|one| (Reverse(one.slices), one.pods, one.place)),
                // The tightest domain is the first sufficient domain in ascending order.
                _ => all.filter(|one| one.slices >= need).min_by_key(key),
            };
            if let Some(one) = one.filter(|one| one.slices >= need) {
                given.push((one.switch, need));
                return true;
            }
            if self.options.mode == Mode::Required {
                return false;
            }
            if depth == 0 || self.options.is_loose() {
                break;
            }
            depth -= 1;
        }
        let here = self.depths[depth as usize].iter();
        domains.clear();
        domains.extend(here.map(|&switch| self.domain(free, slices, switch)));
        self.sort(domains);
        self.distribute(domains, need, |one| one.slices, given)
    }

    /// Distributes `units` slices or pods over `domains`, in the order of `domains`. Returns whether all units are
    /// placed.
    fn distribute(
        &self,
        domains: &[Domain],
        units: u32,
        count: impl Fn(&Domain) -> u32,
        given: &mut Vec<(u32, u32)>,
    ) -> bool {
        let mut rest = units;
        for (at, domain) in domains.iter().enumerate() {
            if rest == 0 {
                break;
            }
            let mut domain = domain;
            if self.options.is_fitted() && count(domain) >= rest {
                let enough = domains[at..].iter().filter(|one| count(one) >= rest);
                domain = enough.min_by_key(|one| count(one)).unwrap_or(domain);
            }
            let part = count(domain).min(rest);
            if part > 0 {
                given.push((domain.switch, part));
            }
            rest -= part;
        }
        rest == 0
    }

    /// Distributes all units over the children of the chosen domains, and replaces the chosen domains by the children
    /// that get units.
    fn spread_below(&self, free: &FreeNodes, units: u32, work: &mut Work) {
        let Work { slices, domains, given } = work;
        domains.clear();
        for &(switch, _) in &*given {
            let children = self.children(free, switch);
            domains.extend(children.map(|child| self.domain(free, slices, child)));
        }
        // `place` is the index among all switches of the depth, so that equal domains are in the order of their paths.
        self.sort(domains);
        given.clear();
        self.distribute(domains, units, |one| one.slices, given);
    }

    fn children<'f>(
        &self,
        free: &'f FreeNodes,
        switch: u32,
    ) -> impl Iterator<Item = u32> + use<'f> {
        let tree = free.hierarchy().tree();
        let switches = tree.map_or(&[][..], |tree| tree.switches());
        switches[switch as usize].children.iter().copied()
    }

    /// Chooses free nodes for `pods` pods in a domain at or below the slice level. Children with the fewest free nodes
    /// come first.
    fn fill(&self, free: &FreeNodes, switch: u32, pods: u32, shares: &mut Vec<(u32, u32)>) {
        if !self.nodes[switch as usize].is_empty() {
            shares.push((switch, pods.min(free.below()[switch as usize])));
            return;
        }
        let mut domains: Vec<Domain> = self
            .children(free, switch)
            .map(|child| Domain { slices: 0, ..self.domain(free, free.below(), child) })
            .collect();
        self.sort(&mut domains);
        let mut given = Vec::new();
        self.distribute(&domains, pods, |one| one.pods, &mut given);
        for (child, pods) in given {
            self.fill(free, child, pods, shares);
        }
    }
}

/// Methods that write explanations. The methods repeat, from the state of a decision, the comparisons that led to this
/// decision.
impl KueueRule {
    /// Returns the name of a depth: `node`, or the level of the switches at this depth. Leaves have level 0.
    fn level_name(&self, depth: u32) -> String {
        match (self.depths.len() as u32 - 1).checked_sub(depth) {
            Some(level) => level.to_string(),
            None => "node".to_string(),
        }
    }

    /// Describes the search for domains, from this depth up to the depth at which the search ended.
    fn explain_start(&self, free: &FreeNodes, depth: u32, need: u32, found: bool, work: &Work) {
        let slices = &work.slices;
        let first = work.given.first().map(|&(switch, _)| self.depth_of(switch, depth));
        let last = match (found, self.options.mode == Mode::Required || self.options.is_loose()) {
            (true, _) => first.unwrap_or(depth),
            (false, true) => depth,
            (false, false) => 0,
        };
        for at in (last..=depth).rev() {
            let most = self.depths[at as usize].iter().map(|&switch| slices[switch as usize]).max();
            let most = most.unwrap_or(0);
            let enough =
                if most >= need { "one domain has enough" } else { "no domain has enough" };
            self.explanation.sentence(|| {
                format!(
                    "level {}: {enough} ({need} needed, at most {most} in one domain)",
                    self.level_name(at)
                )
            });
        }
        match found {
            true => {
                let about = format!("domains of level {}", self.level_name(last));
                self.explain_given(free, about, work);
            }
            false => self.explanation.sentence(|| "the job waits".to_string()),
        }
    }

    /// Lists the chosen domains with the number of units that each domain gets.
    fn explain_given(&self, free: &FreeNodes, about: String, work: &Work) {
        let Some(tree) = free.hierarchy().tree() else { return };
        let row = |&(switch, given): &(u32, u32)| {
            let at = switch as usize;
            vec![
                tree.switches()[at].name.clone(),
                free.below()[at].to_string(),
                work.slices[at].to_string(),
                given.to_string(),
            ]
        };
        let rows = work.given.iter().map(row);
        self.explanation.list(|| Listing::of(about, &["domain", "free", "room", "given"], rows));
    }
}
