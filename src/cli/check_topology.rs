//! `replay check-topology`: findings about a tree or block machine before jobs run on it.

use std::io::stdout;

use clap::Args;

use super::exit::{Exit, Failure, eprint_line};
use super::print::TableArgs;
use replay_core::allocator::hierarchy::check::{
    Finding, description_warning, findings, never_runs, ranges, rule_name, sweep_cost,
};
use replay_core::topology::{Hierarchy, Topology};
use replay_core::topology_file::{TopologyFile, split_name};
use replay_output::report::{Align, Sheet};

/// Arguments of `replay check-topology`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay check-topology topology.conf
  replay check-topology topology.yaml:gpu
  replay check-topology 'block[4,16]:6x4'
  replay check-topology tree:4x8x18 --format csv")]
pub struct CheckTopologyArgs {
    /// Check this file, topology.conf or topology.yaml, or a machine such as tree:4x8x18 or block[18,72]:8x18.
    ///
    /// topology.yaml:NAME is the topology NAME of a file with several topologies. The default is the topology with
    /// cluster_default: true, or else the first topology.
    ///
    /// The findings are: machine (the size of the machine), never-runs (job sizes without a placement on the idle
    /// machine under Slurm's rule), skipped-level (missing block sizes between used sizes, or missing switch levels
    /// between used levels), name-order (names that are not in natural order in the file, although nodes are numbered
    /// in natural order), empty (leaves or blocks without nodes), small-block (blocks smaller than the base size),
    /// idle-nodes. The check idle-nodes fills the idle machine with jobs of one size until no further job fits. It
    /// reports the five sizes that leave the most nodes idle, not counting the remainder of the number of nodes divided
    /// by the size.
    #[arg(value_name = "FILE")]
    file: String,

    #[command(flatten)]
    table: TableArgs,
}

/// Prints the findings about the machine.
pub fn run(args: &CheckTopologyArgs) -> Result<Exit, Failure> {
    let found = match split_name(&args.file).is_some() {
        true => {
            let file = TopologyFile::of_machine(&args.file);
            let file = file.map_err(|problem| Failure::data(anyhow::Error::msg(problem)))?;
            findings(&file.machine, file.misordered.as_ref())
        }
        false => {
            let topology: Topology = args.file.parse().map_err(Failure::usage)?;
            let machine = topology.hierarchy().ok_or_else(|| {
                let name = &args.file;
                Failure::usage_message(format!(
                    "{name}: is neither a tree nor blocks; name a file topology.conf or topology.yaml, or a machine \
                     such as tree:4x8x18 or block:8x18"
                ))
            })?;
            findings(machine, None)
        }
    };
    let printed = args.table.print(&found, || vec![sheet(&found)], &mut stdout());
    printed.map_err(|e| Failure::output("standard output", e))?;
    Ok(Exit::Done)
}

fn sheet(found: &[Finding]) -> Sheet {
    let columns = [("check", Align::Left), ("subject", Align::Left), ("finding", Align::Left)];
    let mut sheet = Sheet::new(&columns);
    for Finding { check, subject, text, .. } in found {
        sheet.push(vec![check.name().to_string(), subject.clone(), text.clone()]);
    }
    sheet
}

/// Maximum [`sweep_cost`] at which the warning is computed, because the warning must not delay a replay.
const MAX_COST: u128 = 1 << 30;

/// Prints warnings about each tree and block machine: blocks smaller than the base size, and sizes that never run.
pub fn warn(machines: &[Topology]) {
    for machine in machines.iter().filter_map(Topology::hierarchy) {
        let warnings = [description_warning(machine), sizes_warning(machine)];
        warnings.iter().flatten().for_each(eprint_line);
    }
}

/// Returns the warning about sizes that never run under Slurm's rule for a machine; `None` if all sizes run.
fn sizes_warning(machine: &Hierarchy) -> Option<String> {
    let is_cheap = machine.tree().is_some() || sweep_cost(machine) <= MAX_COST;
    let never = if is_cheap { never_runs(machine) } else { Vec::new() };
    (!never.is_empty()).then(|| {
        format!(
            "{machine}: warning: jobs of {} nodes have no placement under {} on the idle machine (replay check-topology)",
            ranges(&never),
            rule_name(machine)
        )
    })
}
