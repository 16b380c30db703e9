//! Resolves arguments or a grid file into a grid.

use std::collections::HashSet;
use std::fs::File;

use super::args::{GridChoice, ListArgs};
use crate::cli::args::GridArgs;
use crate::cli::exit::Failure;
use crate::cli::named_value::trace_names;
use crate::cli::strategy_selection::{self, Chosen};
use crate::cli::tie_lists::TieLists;
use replay_engine::allocator::ties::TieRule;
use replay_engine::lines;
use replay_engine::naming::{StrategyName, split_list};
use replay_engine::number::grouped;
use replay_engine::registries::Registries;
use replay_engine::workload::Shake;
use replay_experiment::grid::{
    AllocatorEntry, DownFile, GridError, GridFile, ParameterGrid, PartitionsFile, Ties, Values,
    WindowFile,
};
use replay_experiment::resolve::{ResolvedGrid, Tried};

/// Maximum number of cells that run without `--yes`.
const MOST_CELLS: u32 = 100_000;

/// A grid, and its traces if they were read to resolve it.
pub struct Resolved {
    /// The grid.
    pub grid: ParameterGrid,
    tried: Option<Tried>,
}

/// Resolves the grid of a file, or of options.
///
/// # Errors
/// A usage error for a wrong file or option.
pub fn resolve(registries: &Registries, choice: &GridChoice) -> Result<Resolved, Failure> {
    match &choice.file {
        None => {
            // Without --alloc, a sweep has one allocator, whereas the main job has several.
            let named = !choice.grid.alloc.is_empty();
            let Chosen { args, tried } = match named {
                true => strategy_selection::chosen(
                    registries,
                    &choice.grid,
                    false,
                    choice.process.quiet,
                )?,
                false => Chosen { args: choice.grid.clone(), tried: None },
            };
            let grid = of_flags(
                registries,
                &args,
                &choice.tie_lists,
                &choice.lists,
                choice.shake.shake(),
            )?;
            Ok(Resolved { grid, tried })
        }
        Some(path) => {
            let name = path.display().to_string();
            let text = File::open(path).and_then(lines::whole).map_err(|error| {
                Failure::usage(anyhow::Error::new(error).context(format!("cannot read {name}")))
            })?;
            if text.trim().is_empty() {
                return Err(Failure::usage_message(format!(
                    "{name}: the file is empty; a grid file has keys such as traces and schedulers (docs/src/sweeps.md)"
                )));
            }
            let grid = ParameterGrid::parse(&text, &name, registries).map_err(Failure::usage)?;
            Ok(Resolved { grid, tried: None })
        }
    }
}

/// Loads the traces of a grid.
///
/// # Errors
/// Errors of reading the traces, and a usage error for more than 100,000 cells without `--yes`.
pub fn load(choice: &GridChoice, resolved: Resolved) -> Result<ResolvedGrid, Failure> {
    let Resolved { grid, tried } = resolved;
    let loaded = match tried {
        Some(tried) => strategy_selection::planned(grid, tried, choice.process.quiet)?,
        None => strategy_selection::load(grid, choice.file.as_deref(), choice.process.quiet)?,
    };
    if loaded.plan.len() > MOST_CELLS && !choice.yes {
        let (cells, most) = (grouped(loaded.plan.len()), grouped(MOST_CELLS));
        let message = format!(
            "the grid has {cells} cells, more than the limit of {most}: add --yes to accept this number"
        );
        return Err(Failure::usage_message(message));
    }
    Ok(loaded)
}

/// Resolves the grid of options.
///
/// # Errors
/// A usage error that names the wrong option.
pub fn of_flags(
    registries: &Registries,
    grid: &GridArgs,
    ties: &TieLists,
    lists: &ListArgs,
    shake: Option<Shake>,
) -> Result<ParameterGrid, Failure> {
    let listed = |lists: &[String]| -> Vec<String> {
        lists.iter().flat_map(|list| split_list(list)).map(str::to_string).collect()
    };
    let file = GridFile {
        traces: trace_names(&grid.trace),
        machines: listed(&grid.machine),
        schedulers: listed(&grid.sched),
        policies: listed(std::slice::from_ref(&grid.policy)),
        seeds: grid.seed.iter().map(ToString::to_string).collect(),
        deps: grid.deps.clone(),
        down: grid.down.as_ref().map(|file| DownFile {
            file: file.display().to_string(),
            rule: grid.down_rule.clone(),
            walls: grid.down_walls,
        }),
        partitions: grid.has_partitions().then(|| PartitionsFile {
            field: grid.partitions.map(|field| field.field().name().to_string()),
            define: grid.partition.clone(),
            unknown: grid.unknown.map(|rule| rule.word().to_string()),
        }),
        node_map: grid.node_map.as_ref().map(|file| file.display().to_string()),
        strict: grid.strict,
        estimates: grid.estimates.clone(),
        oversize: grid.oversize.map(|rule| rule.word().to_string()),
        max_errors: grid.max_errors,
        ties: lists.ties,
        placements: !lists.no_placements,
        window: WindowFile {
            from: grid.from.iter().cloned().collect(),
            jobs: grid.jobs,
            days: grid.days,
        },
        loads: grid.scale_load.iter().cloned().collect(),
        shake,
        allocator: allocators(registries, grid, ties, &lists.param)?,
    };
    let resolved = ParameterGrid::resolve(&file, registries).map_err(of_flag)?;
    Ok(ParameterGrid { workloads: grid.workloads.clone(), ..resolved })
}

/// Converts an error of a grid to an error that names the option instead of the key.
fn of_flag(error: GridError) -> Failure {
    let flag = match error.key.as_str() {
        "machines" => "--machine",
        "schedulers" => "--sched",
        "policies" => "--policy",
        "seeds" => "--seed",
        "deps" => "--deps",
        "partitions.field" | "partitions" => "--partitions",
        "partitions.define" => "--partition",
        "partitions.unknown" => "--unknown",
        "down.rule" => "--down-rule",
        "node-map" => "--node-map",
        "strict" => "--strict",
        "window.from" => "--from",
        "window.days" => "--days",
        "shake.copies" => "--shake",
        "shake.width" => "--shake-width",
        "shake.seed" => "--shake-seed",
        "allocator.tie" => "--tie",
        key => match key.strip_prefix("allocator.") {
            Some(parameter) => match parameter.strip_prefix("tie.") {
                Some(entry) => &format!("--{entry}"),
                None => &format!("--param {parameter}"),
            },
            None => return Failure::usage_message(error.problem),
        },
    };
    Failure::usage_message(format!("{flag}: {}", error.problem))
}

/// Returns the allocators, each with the lists of values for its parameters.
///
/// # Errors
/// A usage error if there is a list for a parameter that no allocator has.
fn allocators(
    registries: &Registries,
    grid: &GridArgs,
    ties: &TieLists,
    parameters: &[String],
) -> Result<Vec<AllocatorEntry>, Failure> {
    if let (Some(list), [_, ..]) = (ties.first(), &grid.tie[..]) {
        let message = format!("{list} and --tie: give lists of entries or whole vectors, not both");
        return Err(Failure::usage_message(message));
    }
    let ties = match ties.ranges()? {
        Some(ranges) => Some(("--sr", Ties::Product(ranges))),
        None if grid.tie.is_empty() => None,
        None => Some(("--tie", Ties::Vectors(grid.tie.iter().cloned().collect()))),
    };
    for text in &grid.tie {
        text.parse::<TieRule>().map_err(Failure::usage)?;
    }
    let mut lists_of = Vec::new();
    for text in parameters {
        let Some((key, values)) = text.split_once('=') else {
            return Err(Failure::usage_message(format!("--param \"{text}\": write KEY=LIST")));
        };
        lists_of.push((key.trim().to_ascii_lowercase().replace('_', "-"), Values::listed(values)));
    }
    let names: Vec<&str> = match &grid.alloc[..] {
        [] => vec!["mc1x1"],
        lists => lists.iter().flat_map(|list| split_list(list)).collect(),
    };
    let mut taken = HashSet::new();
    let mut entries = Vec::new();
    for name in names {
        let spec = registries.allocators.read(name).map_err(Failure::usage)?;
        let written: StrategyName = name.parse().map_err(Failure::usage)?;
        let mut entry = AllocatorEntry::named(name);
        if let Some((flag, ties)) = &ties
            && spec.takes_tie()
        {
            taken.insert(flag.to_string());
            // An allocator with a tie vector in its name keeps this vector.
            entry.tie = written.get("tie").is_none().then(|| ties.clone());
        }
        for (key, values) in lists_of.iter().filter(|(key, _)| spec.has_parameter(key)) {
            taken.insert(key.clone());
            if written.get(key).is_none() {
                entry.parameters.insert(key.clone(), values.clone());
            }
        }
        entries.push(entry);
    }
    let given = ties.iter().map(|(flag, _)| *flag).chain(lists_of.iter().map(|(k, _)| k.as_str()));
    match given.into_iter().find(|given| !taken.contains(*given)) {
        Some(flag) if flag.starts_with("--") => Err(Failure::usage_message(format!(
            "{flag}: none of these allocators breaks ties by a vector"
        ))),
        Some(key) => Err(Failure::usage_message(format!(
            "--param {key}: none of these allocators has this parameter (replay list allocators)"
        ))),
        None => Ok(entries),
    }
}
