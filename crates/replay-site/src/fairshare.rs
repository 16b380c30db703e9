//! Fair share of the associations of a site: the fair tree (`fair_tree.c`) and the classic rule
//! (`priority_multifactor.c`, `NO_FAIR_TREE`).
//!
//! The *share parent* of an association is its nearest ancestor that is the root or has a number of shares. Children hang
//! on their share parent: the children of an account with share `parent` compete with the siblings of this account.

use crate::assoc::{Associations, Share};

/// Level value of an account with share `parent`.
const PARENT_LEVEL: f64 = 4_294_967_294.0;

/// The shares of a tree of associations, which do not change during a replay.
#[derive(Clone, PartialEq, Debug)]
pub struct ShareTree {
    /// Number of shares; `None` for the root and for share `parent`.
    numbers: Vec<Option<u32>>,
    is_user: Vec<bool>,
    /// Index of the share parent; 0 for the root.
    parents: Vec<usize>,
    /// Index of the account above; 0 for the root.
    above: Vec<usize>,
    /// Sum of the numbers of shares below each share parent.
    below: Vec<u64>,
    /// Associations below each share parent, in the order of the tree.
    children: Vec<Vec<usize>>,
    /// Associations in an order in which each is after its share parent.
    order: Vec<usize>,
    users: usize,
}

/// Fair share of an association, and the values from which it was computed.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FairShare {
    /// Usage; of an account the sum below it.
    pub usage: f64,
    /// Share relative to the competitors (`NormShares`); under the classic rule those of all levels.
    pub norm_shares: f64,
    /// Usage relative to the root (`NormUsage`).
    pub norm_usage: f64,
    /// Usage after sharing among siblings (`EffectvUsage`). Fair tree: usage relative to the share parent.
    pub effective_usage: f64,
    /// Share relative to the competitors of its level, divided by the usage relative to them (`LevelFS`); 0 under the
    /// classic rule.
    pub level: f64,
    /// The factor of the priority: users of the fair tree by rank; under the classic rule every association has one.
    pub factor: f64,
}

impl ShareTree {
    /// Creates the tree of the shares of associations.
    pub fn new(associations: &Associations) -> Self {
        let all = associations.all();
        let number = |at: usize| match all[at].share {
            Share::Number(number) if at > 0 => Some(number),
            _ => None,
        };
        let numbers: Vec<Option<u32>> = (0..all.len()).map(number).collect();
        let share_parent = |at: usize| {
            let mut above = associations.ancestors(at).skip(1);
            above.find(|&at| at == 0 || numbers[at].is_some()).unwrap_or(0)
        };
        let parents: Vec<usize> = (0..all.len()).map(share_parent).collect();
        let mut below = vec![0; all.len()];
        let mut children = vec![Vec::new(); all.len()];
        for at in 1..all.len() {
            below[parents[at]] += u64::from(numbers[at].unwrap_or(0));
            children[parents[at]].push(at);
        }
        let mut order = vec![0];
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            order.extend(&children[at]);
            next += 1;
        }
        let is_user: Vec<bool> = all.iter().map(|one| one.user.is_some()).collect();
        let users = is_user.iter().filter(|&&is_user| is_user).count();
        let above = all.iter().map(|one| one.parent.unwrap_or(0)).collect();
        Self { numbers, is_user, parents, above, below, children, order, users }
    }

    /// Returns the usage of each association: of a user its own, of an account the sum below it. `of_users` has the usage
    /// of users.
    pub fn totals(&self, of_users: &[f64]) -> Vec<f64> {
        let mut totals = vec![0.0; of_users.len()];
        for (at, &usage) in of_users.iter().enumerate().filter(|(_, usage)| **usage != 0.0) {
            let mut at = at;
            loop {
                totals[at] += usage;
                if at == 0 {
                    break;
                }
                at = self.above[at];
            }
        }
        totals
    }

    /// Computes the fair share of all associations. `of_users` has the usage of users; `dampening` is used only by the
    /// classic rule.
    pub fn compute(&self, of_users: &[f64], fair_tree: bool, dampening: f64) -> Vec<FairShare> {
        let totals = self.totals(of_users);
        let ratio = |usage: f64, all: f64| if all > 0.0 { usage / all } else { 0.0 };
        let mut all: Vec<FairShare> = totals
            .iter()
            .map(|&usage| FairShare {
                usage,
                norm_usage: ratio(usage, totals[0]),
                norm_shares: 1.0,
                effective_usage: 1.0,
                ..FairShare::default()
            })
            .collect();
        for &at in &self.order[1..] {
            let parent = self.parents[at];
            let share =
                self.numbers[at].map(|number| ratio(f64::from(number), self.below[parent] as f64));
            let above = if fair_tree { 1.0 } else { all[parent].norm_shares };
            all[at].norm_shares = above * share.unwrap_or(1.0);
            let among_siblings = ratio(totals[at], totals[parent]);
            all[at].effective_usage = match share {
                _ if fair_tree => among_siblings,
                None => all[parent].effective_usage,
                Some(_) if parent == 0 => all[at].norm_usage,
                Some(share) => {
                    let own = all[at].norm_usage;
                    own + (all[parent].effective_usage - own) * share
                }
            };
            all[at].level = match share {
                _ if !fair_tree => 0.0,
                None if self.is_user[at] => f64::INFINITY,
                None => PARENT_LEVEL,
                Some(0.0) => 0.0,
                Some(_) if among_siblings == 0.0 => f64::INFINITY,
                Some(share) => share / among_siblings,
            };
            if !fair_tree {
                all[at].factor = classic(&all[at], dampening);
            }
        }
        if fair_tree {
            let mut ranks =
                Ranks { tree: self, shares: &mut all, rank: self.users, next: self.users };
            ranks.walk(0, false);
        } else {
            all[0].factor = classic(&all[0], dampening);
        }
        all
    }
}

/// The factor of the classic rule. For share `parent`, the effective usage and the share are those of the share parent.
fn classic(share: &FairShare, dampening: f64) -> f64 {
    match share.norm_shares > 0.0 {
        true => 2f64.powf(-(share.effective_usage / share.norm_shares) / dampening),
        false => 0.0,
    }
}

/// The state of the walk that ranks users.
struct Ranks<'a> {
    tree: &'a ShareTree,
    shares: &'a mut [FairShare],
    rank: usize,
    next: usize,
}

impl Ranks<'_> {
    /// Ranks the users below an account. `is_tied`: whether the account has the level value of the account before.
    /// Slurm does not merge accounts of equal value: the first user of the second account gets the rank of the last user
    /// of the first (`_count_tied_accounts` stops at the first account).
    fn walk(&mut self, account: usize, is_tied: bool) {
        let tree = self.tree;
        let mut children = tree.children[account].clone();
        let level = |at: usize| self.shares[at].level;
        children.sort_by(|&a, &b| {
            let by_level = level(b).total_cmp(&level(a));
            by_level.then(tree.is_user[b].cmp(&tree.is_user[a]))
        });
        let mut before = None;
        for at in children {
            let value = self.shares[at].level;
            let tied = before.map_or(is_tied, |before| before == value);
            before = Some(value);
            if tree.is_user[at] {
                if !tied {
                    self.rank = self.next;
                }
                self.shares[at].factor = self.rank as f64 / tree.users as f64;
                self.next -= 1;
            } else if tree.numbers[at].is_some() {
                self.walk(at, tied);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "ID|Account|User|Share|ParentName|\n1|root||1||\n2|root|root|1||\n3|a||5|root|\n\
        4|a|a1|1||\n5|a|a2|1||\n6|b||5|root|\n7|b|b1|1||\n8|b|b2|1||\n9|c||parent|root|\n10|c|c1|2||\n\
        11|c|c2|parent||\n";

    fn factors(fair_tree: bool) -> Vec<(String, FairShare)> {
        let (tree, warnings) = Associations::read(TREE, "assoc.txt", None).expect("a tree");
        assert_eq!(warnings, []);
        let mut usage = vec![0.0; tree.all().len()];
        for (account, user, used) in [
            ("a", "a1", 100.0),
            ("a", "a2", 300.0),
            ("b", "b1", 200.0),
            ("b", "b2", 200.0),
            ("c", "c1", 150.0),
            ("c", "c2", 50.0),
        ] {
            usage[tree.find(account, user).expect("a user")] = used;
        }
        let shares = ShareTree::new(&tree).compute(&usage, fair_tree, 1.0);
        let users = tree.all().iter().zip(shares);
        users.filter_map(|(one, share)| Some((one.user.clone()?, share))).collect()
    }

    #[test]
    fn the_fair_tree_is_that_of_a_controller() {
        let expected = [
            ("root", f64::INFINITY, 7),
            ("a1", 2.0, 4),
            ("a2", 2.0 / 3.0, 3),
            ("b1", 1.0, 3),
            ("b2", 1.0, 3),
            ("c1", 2.0 / 13.0 / 0.15, 5),
            ("c2", f64::INFINITY, 7),
        ];
        for ((user, share), (name, level, rank)) in factors(true).into_iter().zip(expected) {
            assert_eq!(user, name);
            assert!(
                share.level == level || (share.level - level).abs() < 1e-12,
                "{name} {share:?}"
            );
            assert_eq!(share.factor, rank as f64 / 7.0, "{name}");
        }
    }

    #[test]
    fn the_classic_rule_is_that_of_a_controller() {
        let expected = [1.0, 0.406126, 0.283221, 0.339151, 0.339151, 0.508740, 0.5];
        for ((name, share), expected) in factors(false).into_iter().zip(expected) {
            assert!((share.factor - expected).abs() < 5e-7, "{name} {share:?}");
        }
    }

    #[test]
    fn without_usage_all_users_are_tied() {
        let (tree, _) = Associations::read(TREE, "assoc.txt", None).expect("a tree");
        let shares = ShareTree::new(&tree);
        let none = vec![0.0; tree.all().len()];
        for (one, share) in tree.all().iter().zip(shares.compute(&none, true, 1.0)) {
            assert!(one.user.is_none() || share.factor == 1.0, "{one:?} {share:?}");
        }
        let zero = TREE.replace("4|a|a1|1", "4|a|a1|0");
        let (tree, _) = Associations::read(&zero, "assoc.txt", None).expect("a tree");
        let a1 = tree.find("a", "a1").expect("a user");
        for fair_tree in [true, false] {
            let share = ShareTree::new(&tree).compute(&none, fair_tree, 1.0)[a1];
            assert_eq!((share.level, share.factor == 0.0), (0.0, !fair_tree), "{share:?}");
        }
    }
}
