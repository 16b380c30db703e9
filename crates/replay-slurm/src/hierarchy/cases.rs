//! Decisions read from a file, for external checks.
//!
//! The input is a CSV file with one row per decision and these columns in any order:
//!
//! | column | meaning |
//! |---|---|
//! | topology | the machine: a file `NAME.conf` or `NAME.yaml` in a directory |
//! | rule | `slurm-tree`, `slurm-block`, `kueue`, or `fragmentation` |
//! | options | parameters of the rule as `key=value`, separated by spaces; also `waited=seconds` |
//! | free | free nodes as ranges, such as `0-3,7` |
//! | n | number of nodes of the job |
//!
//! Nodes are numbered in the natural order of their names. The output repeats each row, including any other columns,
//! and adds:
//!
//! | column | meaning |
//! |---|---|
//! | status | `ok`; `wait`, `wait_switches`; `never`: no place on the idle machine; `bad_config`: rejected; the result of `fragmentation` |
//! | nodes | the job's nodes as ranges |

use std::collections::HashMap;
use std::io::{BufRead, Write};

use crate::hierarchy::{Denied, FreeNodes, Rule, RuleOptions};
use crate::placement::cases::{
    Answer, Answered, CasesError, Columns, MachineError, answer_rows, record,
};
use replay_engine::allocator::Times;
use replay_engine::metrics::allocations::format_nodes;
use replay_engine::naming::StrategyName;
use replay_engine::sanitize::excerpt;
use replay_engine::topology::{Hierarchy, NodeId};
use replay_engine::workload::nodes;

/// Input columns, and whether they are required.
const COLUMNS: [(&str, bool); 5] =
    [("topology", true), ("rule", true), ("options", false), ("free", true), ("n", true)];

/// Columns that the output adds.
const ADDED: [&str; 2] = ["status", "nodes"];

/// A decision to make.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Name of the rule.
    pub rule: &'a str,
    /// Parameters of the rule.
    pub options: &'a str,
    /// Free nodes.
    pub free: &'a str,
    /// Number of nodes of the job.
    pub size: &'a str,
}

/// Returns whether a file with this first line contains decisions for this module: whether there is a column `rule`.
pub fn is_header(line: &str) -> bool {
    record(line).is_ok_and(|header| header.iter().any(|field| field.trim() == "rule"))
}

/// Makes all decisions of a file, and returns their number and the jobs that can never start. `machine` reads the
/// machine with the given name.
///
/// # Errors
/// [`CasesError`] at the first error. The rows before the error have been written.
pub fn answer(
    input: impl BufRead,
    file: &str,
    machine: impl FnMut(&str) -> Result<Hierarchy, MachineError>,
    output: impl Write,
) -> Result<Answered, CasesError> {
    let mut decisions = Decisions::default();
    let answer = |columns: &Columns, record: &csv::StringRecord, machine: &Hierarchy| {
        let [name, rule, options, free, size] = ["topology", "rule", "options", "free", "n"]
            .map(|column| columns.field(record, column));
        decisions.answer(name, machine, Case { rule, options, free, size })
    };
    answer_rows(input, file, &COLUMNS, &ADDED, machine, answer, output)
}

/// Cache of the rules used so far, indexed by machine, name and options.
#[derive(Default)]
pub struct Decisions {
    rules: HashMap<[String; 3], Rule>,
}

impl Decisions {
    /// Returns the status and the nodes of a decision on the machine with this name, and the reason of the status
    /// `bad_config`.
    ///
    /// # Errors
    /// A description of the problem, including the column.
    pub fn answer(
        &mut self,
        name: &str,
        machine: &Hierarchy,
        case: Case<'_>,
    ) -> Result<Answer<{ ADDED.len() }>, String> {
        let mut free = FreeNodes::of(machine, nodes_of(case.free, machine)?);
        if case.rule == "fragmentation" {
            return Ok(([free.fragmentation().to_string(), String::new()], None));
        }
        let size = case.size.parse().ok().filter(|&size: &u32| size > 0);
        let size = size.ok_or_else(|| {
            format!("n: \"{}\" is not an integer from 1 to {}", excerpt(case.size), u32::MAX)
        })?;
        let (waited, parameters): (Vec<&str>, Vec<&str>) =
            case.options.split_whitespace().partition(|part| part.starts_with("waited="));
        let waited = match waited.first().and_then(|part| part.split_once('=')) {
            None => 0,
            Some((_, seconds)) => {
                seconds.parse().ok().filter(|&waited: &i64| waited >= 0).ok_or_else(|| {
                    format!("options: waited=\"{}\" is not a number of seconds", excerpt(seconds))
                })?
            }
        };
        let key = [name, case.rule, &parameters.join(",")].map(str::to_string);
        if !self.rules.contains_key(&key) {
            let options = options(case.rule, &key[2])?;
            let rule = Rule::new(machine, options);
            let rule = rule.map_err(|problem| format!("rule: {}: {problem}", case.rule))?;
            self.rules.insert(key.clone(), rule);
        }
        let Some(rule) = self.rules.get_mut(&key) else { return Err("rule: unknown".to_string()) };
        if let Err(reason) = rule.check(size) {
            return Ok((["bad_config".to_string(), String::new()], Some(reason)));
        }
        let mut chosen = Vec::new();
        let status = status(rule, &mut free, size, waited, &mut chosen);
        chosen.sort_unstable();
        Ok(([status.to_string(), format_nodes(&chosen)], None))
    }
}

/// Returns the status of a decision and writes its nodes to `chosen`. The options of the rule must be consistent with
/// the job.
fn status(
    rule: &mut Rule,
    free: &mut FreeNodes,
    size: u32,
    waited: i64,
    chosen: &mut Vec<NodeId>,
) -> &'static str {
    let times = Times { now: waited, submitted: Some(0), limit: None, ..Times::default() };
    let placed = rule.place(free, size, times, chosen);
    match placed {
        Ok(()) => "ok",
        Err(denied) => {
            let mut idle = FreeNodes::all(free.hierarchy());
            match rule.place(&mut idle, size, Times::default(), &mut Vec::new()) {
                Err(_) => "never",
                Ok(()) if denied == Denied::Switches => "wait_switches",
                Ok(()) => "wait",
            }
        }
    }
}

/// Parses the options of the rule with this name; the parameters are separated by commas.
fn options(rule: &str, parameters: &str) -> Result<RuleOptions, String> {
    let name: StrategyName = match parameters.is_empty() {
        true => StrategyName::plain(rule),
        false => format!("{rule}[{parameters}]").parse().map_err(|e| format!("options: {e}"))?,
    };
    let options = RuleOptions::named(&name).ok_or_else(|| {
        format!(
            "rule: \"{}\" is none of slurm-tree, tree-fit, slurm-block, kueue, fragmentation",
            excerpt(rule)
        )
    })?;
    let mut options = options.map_err(|error| format!("options: {error}"))?;
    match &mut options {
        RuleOptions::Tree(_) | RuleOptions::Fit => {}
        RuleOptions::Block(options) => options.lenient = false,
        RuleOptions::Kueue(options) => options.lenient = false,
    }
    Ok(options)
}

/// Parses nodes that are written as ranges of numbers.
fn nodes_of(text: &str, machine: &Hierarchy) -> Result<Vec<NodeId>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let ranges = nodes::ranges(text).map_err(|problem| format!("free: {problem}"))?;
    let last = machine.processors() as u64 - 1;
    let mut all = Vec::new();
    for (from, to) in ranges {
        if to > last {
            return Err(format!("free: {to} is not a node from 0 to {last}"));
        }
        all.extend((from..=to).map(|node| NodeId(node as u32)));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
