//! Priorities and fair shares of tables, for comparison with a controller.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use replay_engine::number::plain;
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Column, Table};

use crate::assoc::{Associations, Share};
use crate::csv_table::CsvTable;
use crate::dump::Dump;
use crate::error::SiteError;
use crate::fairshare::{FairShare, ShareTree};
use crate::priority::{self, Factors, Resources};
use crate::site::Site;

/// Columns of a file of cases that must be present. The columns `site`, `cpus`, `assoc_priority`, `assoc_max` and
/// `waited` are optional.
pub const REQUIRED: [&str; 6] = ["partition", "qos", "nodes", "limit", "nice", "fairshare"];

/// Error of computing priorities of a file.
#[derive(Debug, thiserror::Error)]
pub enum CasesError {
    /// A row or the site of a row is not valid.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Computes the priority of each row of a CSV file, writes the rows with the column `priority` to `output`, and returns
/// their number. `site` returns the site of a name in the column `site`, which is empty if there is no such column. An
/// existing column `priority` is replaced.
///
/// # Errors
/// [`CasesError`] at the first error; nothing has been written if a row is not valid.
pub fn answer_priorities(
    input: impl Read,
    file: &str,
    mut site: impl FnMut(&str) -> Result<Site, SiteError>,
    output: impl Write,
) -> Result<u64, CasesError> {
    let table = CsvTable::read(input, file, &REQUIRED)?;
    let existing = table.column("priority");
    let with_priority = |fields: Vec<&str>, priority: &str| {
        let mut fields: Vec<String> = fields.into_iter().map(str::to_string).collect();
        match existing {
            Some(at) => fields[at] = priority.to_string(),
            None => fields.push(priority.to_string()),
        }
        fields
    };
    let header = table.columns.iter().map(String::as_str).collect();
    let mut rows = vec![with_priority(header, "priority")];
    let mut sites: HashMap<String, Site> = HashMap::new();
    for row in &table.rows {
        let name = table.field(&row.1, "site").unwrap_or_default();
        if !sites.contains_key(name) {
            sites.insert(name.to_string(), site(name)?);
        }
        let Some(known) = sites.get(name) else { continue };
        let priority = priority_of(&table, row, known)?.to_string();
        rows.push(with_priority(row.1.iter().collect(), &priority));
    }
    let mut output = csv::Writer::from_writer(output);
    rows.iter().try_for_each(|row| output.write_record(row)).map_err(io_error)?;
    output.flush()?;
    Ok(table.rows.len() as u64)
}

/// Converts an error of the CSV writer, which is always an error of the output.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Returns the priority of a row.
fn priority_of(
    table: &CsvTable,
    row: &(u64, csv::StringRecord),
    site: &Site,
) -> Result<u32, SiteError> {
    let (line, record) = row;
    let missing = |column: &str| table.error(*line, format!("{column}: a value is missing"));
    let unknown = |column: &str, name: &str| {
        table.error(*line, format!("{column}: the site has no {column} {}", excerpt(name)))
    };
    let partition = table.field(record, "partition").ok_or_else(|| missing("partition"))?;
    let partition =
        site.find_partition(partition).ok_or_else(|| unknown("partition", partition))?;
    let partition = &site.partitions[partition];
    let qos = match table.field(record, "qos") {
        Some(name) => site.qos[site.find_qos(name).ok_or_else(|| unknown("qos", name))?].priority,
        None => 0,
    };
    let whole = "a whole number";
    let nodes: u32 = table.parsed(row, "nodes", whole)?.ok_or_else(|| missing("nodes"))?;
    let cpus = table.parsed(row, "cpus", whole)?.unwrap_or_else(|| partition.cpus_of(nodes));
    let limit: u32 = table.parsed(row, "limit", "a number of seconds")?.unwrap_or(0);
    let waited: i64 = table.parsed(row, "waited", "a number of seconds")?.unwrap_or(0);
    let fairshare: f64 = table.parsed(row, "fairshare", "a number")?.unwrap_or(0.0);
    if !fairshare.is_finite() || fairshare < 0.0 {
        return Err(table.error(*line, "fairshare: the value is not a number of at least 0"));
    }
    let nice: i64 = table.parsed(row, "nice", whole)?.unwrap_or(0);
    let assoc: u32 = table.parsed(row, "assoc_priority", whole)?.unwrap_or(0);
    let largest_assoc: u32 = table.parsed(row, "assoc_max", whole)?.unwrap_or(0);
    let settings = &site.priority;
    let job = Resources { nodes: nodes.into(), cpus };
    let largest_factor = site.partitions.iter().map(|one| one.factor).max().unwrap_or(0);
    let largest_qos = site.qos.iter().map(|one| one.priority).max().unwrap_or(0);
    let [tres_cpu, tres_node] = priority::tres_factors(settings, job, partition.size);
    let factors = Factors {
        age: priority::age_factor(settings, waited),
        assoc: priority::relative(assoc, largest_assoc, settings.raw_assoc),
        fairshare,
        size: priority::size_factor(settings, job, site.size(), limit.div_ceil(60)),
        partition: priority::relative(partition.factor, largest_factor, settings.raw_partition),
        qos: priority::relative(qos, largest_qos, settings.raw_qos),
        tres_cpu,
        tres_node,
        nice: nice as f64,
    };
    Ok(priority::priority(settings, &factors))
}

/// Fair share of an association, in the columns of `sshare -l`.
#[derive(Clone, PartialEq, Debug)]
pub struct FairShareRow {
    /// Name of the account.
    pub account: String,
    /// Name of the user; `None` for an account.
    pub user: Option<String>,
    /// Number of shares, or `parent`; `None` for the root.
    pub raw_shares: Option<String>,
    /// The values.
    pub share: FairShare,
    /// The factor; `None` for accounts of the fair tree.
    pub factor: Option<f64>,
    /// The level value, `inf` without usage; `None` for the root and for the classic rule.
    pub level: Option<String>,
}

impl Table for FairShareRow {
    const NAME: &'static str = "fairshare";
    const ROW: &'static str = "one row per association, in the order of assoc.txt";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::text("Account", "account", |row: &Self| Some(&row.account)),
            Column::text("User", "user; empty for an account", |row: &Self| row.user.as_deref()),
            Column::text("RawShares", "number of shares, or parent; empty for the root", |row: &Self| row.raw_shares.as_deref()),
            Column::new("NormShares", "", "share among the competitors; under the classic rule of all levels", |row: &Self| row.share.norm_shares),
            Column::new("RawUsage", "CPU seconds", "decayed usage; of an account the sum below it", |row: &Self| row.share.usage),
            Column::new("NormUsage", "", "usage relative to the root", |row: &Self| row.share.norm_usage),
            Column::new("EffectvUsage", "", "usage relative to the share parent; under the classic rule with that of the account above", |row: &Self| row.share.effective_usage),
            Column::new("FairShare", "", "factor of the priority; empty for accounts of the fair tree", |row: &Self| row.factor),
            Column::text("LevelFS", "share among the competitors divided by the usage relative to them; inf without usage", |row: &Self| row.level.as_deref()),
        ]
    }
}

/// Reads the usage of the users of a site: a table with the columns Account, User and RawUsage (or usage), as
/// `sshare -a -l -P` prints it, or as CSV. Rows without a user are skipped.
///
/// # Errors
/// [`SiteError`] if a column is missing, a value is not a number of at least 0, or a user is unknown or given twice.
pub fn read_usage(
    text: &str,
    file: &str,
    associations: &Associations,
) -> Result<Vec<f64>, SiteError> {
    let dump = Dump::read(text, file)?;
    let command = "sshare -a -l -P";
    dump.require(&["Account", "User"], command)?;
    let column = if dump.has("RawUsage") { "RawUsage" } else { "usage" };
    if !dump.has(column) {
        dump.require(&["RawUsage"], command)?;
    }
    let mut usage: Vec<Option<f64>> = vec![None; associations.all().len()];
    for row in dump.rows() {
        let Some(user) = row.get("User") else { continue };
        let account = row.get("Account").unwrap_or_default();
        let at = associations.find(account, user).ok_or_else(|| {
            row.error(format!("there is no user {} in account {}", excerpt(user), excerpt(account)))
        })?;
        let number = |text: &str| {
            let number =
                text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| format!("\"{}\" is not a usage of at least 0", excerpt(text)))
        };
        let used = row.parsed(column, number)?.unwrap_or(0.0);
        if usage[at].replace(used).is_some() {
            let (user, account) = (excerpt(user), excerpt(account));
            return Err(row.error(format!("user {user} in account {account} is given twice")));
        }
    }
    Ok(usage.into_iter().map(|usage| usage.unwrap_or(0.0)).collect())
}

/// Returns the fair share of all associations of a site. `usage` has the usage of each association; 0 for accounts.
pub fn fair_shares(site: &Site, usage: &[f64]) -> Vec<FairShareRow> {
    let settings = &site.priority;
    let all = site.associations.all();
    let shares = ShareTree::new(&site.associations);
    let shares = shares.compute(usage, settings.fair_tree, settings.dampening);
    let row = |(at, share): (usize, FairShare)| {
        let one = &all[at];
        let raw_shares = match one.share {
            Share::Number(number) => number.to_string(),
            Share::Parent => "parent".to_string(),
        };
        let has_factor = one.user.is_some() || !settings.fair_tree;
        FairShareRow {
            account: one.account.clone(),
            user: one.user.clone(),
            raw_shares: Some(raw_shares).filter(|_| at > 0),
            share,
            factor: Some(share.factor).filter(|_| has_factor),
            level: (settings.fair_tree && at > 0).then(|| plain(share.level)),
        }
    };
    shares.into_iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_from_both_forms() {
        let tree =
            "ID|Account|User|Share|ParentName|\n1|root||1||\n2|a||1|root|\n3|a|u|1||\n4|a|v|1||\n";
        let (tree, _) = Associations::read(tree, "assoc.txt", None).expect("a tree");
        let read = |text: &str| read_usage(text, "usage.txt", &tree).map_err(|e| e.to_string());
        let sshare = "Account|User|RawShares|RawUsage\nroot|||30\n a||1|30\n  a|v|1|30\n";
        assert_eq!(read(sshare), Ok(vec![0.0, 0.0, 0.0, 30.0]));
        assert_eq!(read("account,user,usage\na,u,1.5\n"), Ok(vec![0.0, 0.0, 1.5, 0.0]));
        for (text, problem) in [
            (
                "account,user\n",
                "usage.txt:1: the column RawUsage is missing; print the table with sshare -a -l -P",
            ),
            ("account,user,usage\na,w,1\n", "usage.txt:2: there is no user w in account a"),
            (
                "account,user,usage\na,u,-1\n",
                "usage.txt:2: usage: \"-1\" is not a usage of at least 0",
            ),
            (
                "account,user,usage\na,u,1\na,u,2\n",
                "usage.txt:3: user u in account a is given twice",
            ),
            (
                "account\n",
                "usage.txt:1: columns are not separated by \"|\"; print the table with the option -P",
            ),
            ("", "usage.txt: the file is empty"),
        ] {
            assert_eq!(read(text), Err(problem.to_string()));
        }
    }
}
