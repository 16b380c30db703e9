//! Associations: the output of `sacctmgr -P show assoc`.

use std::collections::{HashMap, HashSet};

use replay_engine::sanitize::excerpt;

use crate::dump::{Dump, DumpRow};
use crate::error::{SiteError, Warning};
use crate::tres::Tres;

/// The share of an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// Number of shares.
    Number(u32),
    /// `parent`: the share of the account above.
    Parent,
}

/// A user in an account, or an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Association {
    /// Name of the account.
    pub account: String,
    /// Name of the user; `None` for an account.
    pub user: Option<String>,
    /// Share.
    pub share: Share,
    /// Index of the account above; `None` for `root`.
    pub parent: Option<usize>,
    /// Priority.
    pub priority: u32,
    /// `GrpJobs`: running jobs.
    pub grp_jobs: Option<u32>,
    /// `GrpSubmit`: waiting and running jobs.
    pub grp_submit: Option<u32>,
    /// `GrpTRES`: resources of running jobs.
    pub grp_tres: Tres,
    /// `MaxJobs`: running jobs of the user.
    pub max_jobs: Option<u32>,
    /// `MaxSubmit`: waiting and running jobs of the user.
    pub max_submit: Option<u32>,
    /// `MaxTRES`: resources of a job.
    pub max_tres: Tres,
    /// `MaxWall`: time limit of a job, in minutes.
    pub max_wall: Option<u32>,
    /// Name of the QOS of jobs without a QOS.
    pub default_qos: Option<String>,
}

/// The tree of associations. The root is the association 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Associations {
    all: Vec<Association>,
    /// Index of each user in an account.
    users: HashMap<(String, String), usize>,
    /// Number of users that jobs added.
    added: usize,
}

impl Association {
    /// Creates an association with share 1 and without limits.
    fn plain(account: &str, user: Option<&str>, parent: Option<usize>) -> Self {
        Self {
            account: account.to_string(),
            user: user.map(str::to_string),
            share: Share::Number(1),
            parent,
            priority: 0,
            grp_jobs: None,
            grp_submit: None,
            grp_tres: Tres::default(),
            max_jobs: None,
            max_submit: None,
            max_tres: Tres::default(),
            max_wall: None,
            default_qos: None,
        }
    }

    /// Returns whether the association has a limit.
    pub fn has_limits(&self) -> bool {
        let plain = Self {
            share: self.share,
            priority: self.priority,
            default_qos: self.default_qos.clone(),
            ..Self::plain(&self.account, self.user.as_deref(), self.parent)
        };
        *self != plain
    }
}

impl Default for Associations {
    fn default() -> Self {
        let all = vec![Association::plain("root", None, None)];
        Self { all, users: HashMap::new(), added: 0 }
    }
}

/// Columns without effect here, with what Slurm does with their values.
const UNUSED: [(&str, &str); 7] = [
    ("GrpTRESMins", "budgets limit the usage of a group"),
    ("GrpTRESRunMins", "it limits the time that running jobs still have"),
    ("GrpWall", "budgets limit the wall-clock time of a group"),
    ("GrpJobsAccrue", "it limits the jobs whose age counts"),
    ("MaxJobsAccrue", "it limits the jobs whose age counts"),
    ("MaxTRESMins", "it limits resources times time of a job"),
    ("MaxTRESPerNode", "it limits resources of a node of a job"),
];

impl Associations {
    /// Reads the associations of the file `file`. If the file has several clusters, `cluster` selects one.
    ///
    /// # Errors
    /// [`SiteError`] with line and column: a column, a parent or a name is missing, a user or an account is given twice,
    /// accounts form a cycle, or there are several clusters and none is selected.
    pub fn read(
        text: &str,
        file: &str,
        cluster: Option<&str>,
    ) -> Result<(Self, Vec<Warning>), SiteError> {
        let dump = Dump::read(text, file)?;
        let command = "sacctmgr -P show assoc format=ID,Account,User,Share,ParentName,... (see the book for all columns)";
        dump.require(&["ID", "Account", "User", "Share", "ParentName"], command)?;
        let mut warnings = dump.unused(&UNUSED);
        let rows = rows_of_cluster(&dump, cluster, &mut warnings)?;
        let mut accounts: HashMap<&str, usize> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            let account =
                row.get("Account").ok_or_else(|| row.error("Account: a name is missing"))?;
            if row.get("User").is_none() && accounts.insert(account, at).is_some() {
                return Err(row.error(format!("account {} is given twice", excerpt(account))));
            }
        }
        let Some(&root) = accounts.get("root") else {
            return Err(SiteError::new(file, 0, "there is no account root"));
        };
        // The root is the first association; the others keep the order of the file.
        let order: Vec<usize> =
            std::iter::once(root).chain((0..rows.len()).filter(|&at| at != root)).collect();
        let mut index = vec![0; rows.len()];
        order.iter().zip(0..).for_each(|(&at, number)| index[at] = number);
        let mut tree = Self { all: Vec::with_capacity(rows.len()), ..Self::default() };
        for &at in &order {
            let row = &rows[at];
            let account = row.get("Account").unwrap_or_default();
            let user = row.get("User");
            let parent = match user {
                Some(_) => Some((account, "Account")),
                None if at == root => None,
                None => Some((row.get("ParentName").unwrap_or("root"), "ParentName")),
            };
            let parent = parent.map(|(parent, column)| {
                let known = accounts.get(parent).map(|&at| index[at]);
                known.ok_or_else(|| {
                    row.error(format!("{column}: there is no account {}", excerpt(parent)))
                })
            });
            let association = association(row, account, user, parent.transpose()?, &mut warnings)?;
            if let Some(user) = user {
                let name = (account.to_string(), user.to_string());
                tree.users.insert(name, tree.all.len());
            }
            tree.all.push(association);
        }
        for (&at, number) in order.iter().zip(0..) {
            let mut steps = tree.ancestors(number);
            if steps.nth(tree.all.len()).is_some() {
                let account = excerpt(&tree.all[number].account);
                return Err(rows[at].error(format!("account {account} is above itself")));
            }
        }
        Ok((tree, warnings))
    }

    /// Returns all associations; the root is the first.
    pub fn all(&self) -> &[Association] {
        &self.all
    }

    /// Returns an association and those above it, up to the root.
    pub fn ancestors(&self, association: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(association), |&at| self.all[at].parent)
    }

    /// Returns the association of a user in an account.
    pub fn find(&self, account: &str, user: &str) -> Option<usize> {
        self.users.get(&(account.to_string(), user.to_string())).copied()
    }

    /// Returns the association of a user in an account. A user that does not exist is added below the root with share 1.
    pub fn find_or_add(&mut self, account: &str, user: &str) -> usize {
        self.find(account, user).unwrap_or_else(|| {
            self.added += 1;
            self.add_user(account, user, 0)
        })
    }

    /// Returns the number of users that [`find_or_add`](Self::find_or_add) has added.
    pub fn added(&self) -> usize {
        self.added
    }

    /// Adds an account with share 1 below the root, or returns the account of this name.
    pub fn account(&mut self, name: &str) -> usize {
        let known = |one: &Association| one.user.is_none() && one.account == name;
        self.all.iter().position(known).unwrap_or_else(|| {
            self.all.push(Association::plain(name, None, Some(0)));
            self.all.len() - 1
        })
    }

    /// Adds a user with share 1 below the association `parent`, or returns the user in this account.
    pub fn add_user(&mut self, account: &str, user: &str, parent: usize) -> usize {
        self.find(account, user).unwrap_or_else(|| {
            self.all.push(Association::plain(account, Some(user), Some(parent)));
            self.users.insert((account.to_string(), user.to_string()), self.all.len() - 1);
            self.all.len() - 1
        })
    }
}

/// Returns the rows of one cluster, without associations with a partition.
fn rows_of_cluster<'a, 'd>(
    dump: &'d Dump<'a>,
    cluster: Option<&str>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<DumpRow<'a, 'd>>, SiteError> {
    let mut rows: Vec<DumpRow<'_, '_>> = dump.rows().collect();
    match cluster {
        Some(name) => {
            rows.retain(|row| row.get("Cluster") == Some(name));
            if rows.is_empty() {
                let problem = format!("there is no cluster {}; see --cluster", excerpt(name));
                return Err(SiteError::new(dump.file(), 0, problem));
            }
        }
        None => {
            let first = rows.first().and_then(|row| row.get("Cluster"));
            if let Some(row) = rows.iter().find(|row| row.get("Cluster") != first) {
                let names =
                    [first, row.get("Cluster")].map(|name| excerpt(name.unwrap_or_default()));
                let problem =
                    format!("several clusters: {}; select one with --cluster", names.join(", "));
                return Err(row.error(problem));
            }
        }
    }
    let mut seen = HashSet::new();
    for row in rows.iter().filter(|row| row.get("User").is_some()) {
        let names =
            ["Account", "User", "Partition"].map(|column| row.get(column).unwrap_or_default());
        if !seen.insert(names) {
            let [account, user, partition] = names.map(excerpt);
            let partition = match &partition[..] {
                "" => String::new(),
                partition => format!(" and partition {partition}"),
            };
            return Err(
                row.error(format!("user {user} in account {account}{partition} is given twice"))
            );
        }
    }
    let count = rows.len();
    if let Some(row) = rows.iter().find(|row| row.get("Partition").is_some()) {
        let text = "`Partition`: associations of a user with a partition are ignored";
        warnings.push(Warning::new(dump.file(), row.line, text));
    }
    rows.retain(|row| row.get("Partition").is_none());
    if rows.is_empty() && count > 0 {
        return Err(SiteError::new(dump.file(), 0, "all associations have a partition"));
    }
    Ok(rows)
}

fn association(
    row: &DumpRow<'_, '_>,
    account: &str,
    user: Option<&str>,
    parent: Option<usize>,
    warnings: &mut Vec<Warning>,
) -> Result<Association, SiteError> {
    let share = |text: &str| match text.eq_ignore_ascii_case("parent") {
        true => Ok(Share::Parent),
        false => {
            let number = crate::conf::number(text).map(Share::Number);
            number.map_err(|_| {
                format!("\"{}\" is neither a number of shares nor parent", excerpt(text))
            })
        }
    };
    Ok(Association {
        share: row.parsed("Share", share)?.unwrap_or(Share::Number(1)),
        priority: row.parsed("Priority", crate::conf::number)?.unwrap_or(0),
        grp_jobs: row.limit("GrpJobs")?,
        grp_submit: row.limit("GrpSubmit")?,
        grp_tres: row.tres("GrpTRES", warnings)?,
        max_jobs: row.limit("MaxJobs")?,
        max_submit: row.limit("MaxSubmit")?,
        max_tres: row.tres("MaxTRES", warnings)?,
        max_wall: row.time("MaxWall")?,
        default_qos: row.get("Def QOS").map(str::to_string),
        ..Association::plain(account, user, parent)
    })
}
