//! `replay check-topology`: findings about a tree or block machine before jobs run on it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure, eprint_line};
use super::print::TableArgs;
use super::terminal::stdout;
use super::write::{NamedOutput, OutputFile, check_apart};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::StrategyName;
use replay_engine::number::counted;
use replay_engine::registries::Registries;
use replay_engine::topology::{Hierarchy, MAX_POINTS, Topology, split_name};
use replay_engine::workload::nodes;
use replay_output::report::{Align, Sheet};
use replay_slurm::hierarchy::RuleOptions;
use replay_slurm::hierarchy::check::{
    Finding, description_warnings, findings, never_runs, ranges, rule_name, rule_of,
};
use replay_slurm::topology_file::{TopologyFile, conf_text};

/// Arguments of `replay check-topology`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay check-topology topology.conf
  replay check-topology topology.yaml:gpu
  replay check-topology 'block[4,16]:6x4' --alloc 'slurm-block[segment=4]'
  replay check-topology tree:4x8x18 --format csv
  replay check-topology topology.conf --nodes 'cn[0001-0576]' --write part.conf
      Write the part of the topology with the nodes of one partition, for --machine part.conf.")]
pub struct CheckTopologyArgs {
    /// Check this topology.conf or topology.yaml file, or a machine such as tree:4x8x18 or block[18,72]:8x18.
    ///
    /// The form topology.yaml:NAME selects the topology named NAME in a file with several topologies. The default is
    /// the topology with cluster_default: true, or else the first topology.
    ///
    /// The findings are: machine (the size of the machine), never-runs (job sizes without a placement on the idle
    /// machine under the rule of --alloc), skipped-level (missing block sizes between used sizes, or missing switch
    /// levels between used levels), several-parents (switches below several switches, of which one is kept),
    /// repeated-nodes (nodes that are listed several times, and are kept once), name-order (names that are not in natural order in the file, although nodes are
    /// numbered in natural order), empty (leaves or blocks without nodes), small-block (blocks smaller than the base
    /// size), idle-nodes. The check idle-nodes fills the idle machine with jobs of one size until no further job fits.
    /// The check idle-nodes reports the five sizes that leave the most nodes idle. Nodes are not counted if they remain
    /// only because the size does not divide the number of nodes.
    #[arg(value_name = "FILE")]
    file: String,

    /// Set the allocator [default: slurm-tree or slurm-block].
    ///
    /// The allocator is a rule for trees or blocks: slurm-tree, tree-fit, slurm-block or kueue.
    #[arg(long, short, value_name = "NAME[..]")]
    alloc: Option<String>,

    /// Check only the part of the machine that has these nodes, such as the nodes of one partition.
    ///
    /// The nodes are a list such as 'cn[0001-0576],login1'. Switches without any of these nodes are left out. Blocks are
    /// all kept, because their positions determine the larger blocks.
    #[arg(long, value_name = "LIST")]
    nodes: Option<String>,

    /// Write to this file [default: not written].
    ///
    /// The machine is written as a topology.conf. The name of the file must end in .conf. With --nodes, the file has the nodes of the list. Switches and nodes are
    /// written as they are read, after the simplifications of several-parents and repeated-nodes.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    #[command(flatten)]
    table: TableArgs,
}

/// Prints the findings about the machine.
pub fn run(registries: &Registries, args: &CheckTopologyArgs) -> Result<Exit, Failure> {
    let alloc = args.alloc.as_ref().map(|name| registries.allocators.read(name));
    let alloc = alloc.transpose().map_err(Failure::usage)?;
    let (machine, misordered) = match split_name(&args.file).is_some() {
        true => {
            let file = TopologyFile::of_machine(&args.file);
            let file = file.map_err(|problem| Failure::data(anyhow::Error::msg(problem)))?;
            (file.machine, file.misordered)
        }
        false => {
            let topology: Topology = args.file.parse().map_err(Failure::usage)?;
            let machine = topology.hierarchy().cloned().ok_or_else(|| {
                let name = &args.file;
                Failure::usage_message(format!(
                    "{name}: is neither a tree nor blocks; name a file topology.conf or topology.yaml, or a machine \
                     such as tree:4x8x18 or block:8x18"
                ))
            })?;
            (machine, None)
        }
    };
    let (machine, misordered) = match &args.nodes {
        Some(list) => (part(&machine, list)?, None),
        None => (machine, misordered),
    };
    if let Some(path) = &args.write {
        write(&machine, path, &args.file)?;
    }
    let rule = alloc.map_or_else(|| StrategyName::plain(rule_name(&machine)), |alloc| alloc.name());
    let found = findings(&machine, misordered.as_ref(), &rule);
    let found = found.map_err(|problem| Failure::usage_message(format!("--alloc: {problem}")))?;
    let printed = args.table.print(&found, || vec![sheet(&found)], &mut stdout());
    printed.map_err(Failure::stdout)?;
    Ok(Exit::Done)
}

/// Returns the part of a machine that has the nodes of a list.
fn part(machine: &Hierarchy, list: &str) -> Result<Hierarchy, Failure> {
    let failed = |problem: String| Failure::usage_message(format!("--nodes: {problem}"));
    let names = nodes::names(list, MAX_POINTS as u64).map_err(|error| failed(error.to_string()))?;
    if names.is_empty() {
        return Err(failed("the list is empty".to_string()));
    }
    machine.part(&names).map_err(failed)
}

/// Writes a machine as a `topology.conf`. `input` is the name of the file or machine that was read.
fn write(machine: &Hierarchy, path: &Path, input: &str) -> Result<(), Failure> {
    let is_conf = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("conf"));
    if !is_conf {
        let path = path.display();
        let problem = format!("--write {path}: the name of a topology.conf must end in .conf");
        return Err(Failure::usage_message(problem));
    }
    let text = conf_text(machine).map_err(Failure::usage_message)?;
    let input = split_name(input).map_or(input, |(path, _)| path);
    check_apart([input], &[NamedOutput::of("--write", path)])?;
    let mut out = OutputFile::create(path)?;
    out.write_all(text.as_bytes()).map_err(|error| out.failed(error))?;
    out.finish()
}

fn sheet(found: &[Finding]) -> Sheet {
    let columns = [("check", Align::Left), ("subject", Align::Left), ("finding", Align::Left)];
    let mut sheet = Sheet::new(&columns);
    for Finding { check, subject, text, .. } in found {
        sheet.push(vec![check.name().to_string(), subject.clone(), text.clone()]);
    }
    sheet
}

/// Maximum number of steps in the search for the sizes of a warning, so that the warning does not delay a replay.
const MAX_COST: u128 = 1 << 30;

/// Maximum number of ranges of sizes in a warning.
const MAX_RANGES: usize = 8;

/// Prints the warnings about the descriptions of the machines.
pub fn warn_of_blocks(machines: &[Topology]) {
    let machines = machines.iter().filter_map(Topology::hierarchy);
    machines.flat_map(description_warnings).for_each(eprint_line);
}

/// Prints a warning for each tree or block machine and each rule that cannot place jobs of some sizes on the idle
/// machine. Other allocators are ignored.
pub fn warn_of_sizes<'a>(
    machines: impl IntoIterator<Item = &'a Topology>,
    allocators: impl Fn() -> Result<Vec<AllocatorSpec>, Failure>,
) -> Result<(), Failure> {
    let mut seen: Vec<&Hierarchy> = Vec::new();
    for machine in machines.into_iter().filter_map(Topology::hierarchy) {
        if !seen.contains(&machine) {
            seen.push(machine);
        }
    }
    if seen.is_empty() {
        return Ok(());
    }
    let names = allocators()?.into_iter().map(|allocator| allocator.name());
    let rules: BTreeSet<StrategyName> =
        names.filter(|name| RuleOptions::named(name).is_some()).collect();
    let max_cost = MAX_COST / rules.len().max(1) as u128;
    for machine in seen {
        rules
            .iter()
            .filter_map(|rule| sizes_warning(machine, rule, max_cost))
            .for_each(eprint_line);
    }
    Ok(())
}

/// Returns the warning about sizes that never run under a rule; `None` if all sizes run, or if the rule does not
/// support the machine.
fn sizes_warning(machine: &Hierarchy, name: &StrategyName, max_cost: u128) -> Option<String> {
    let mut rule = rule_of(machine, name).ok()?;
    let never = never_runs(machine, &mut rule, max_cost).filter(|never| !never.is_empty())?;
    let more = match never.len().saturating_sub(MAX_RANGES) {
        0 => String::new(),
        more => format!(" and {} more", counted(more as u64, "range")),
    };
    Some(format!(
        "{machine}: warning: jobs of {}{more} nodes have no placement under {name} on the idle machine (replay check-topology)",
        ranges(&never[..never.len().min(MAX_RANGES)]),
    ))
}
