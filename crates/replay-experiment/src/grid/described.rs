//! Machines described by a `topology.yaml`. The grid contains the file as the machine, or as the parameter `file` of an
//! allocator. Whether the grid contains the file as the machine or as a parameter, the file applies to both the machine
//! and the allocator.

use std::collections::HashSet;

use super::error::{PathError, Step};
use super::strategies::Strategies;
use super::{GridError, GridFile, Values};
use replay_engine::naming::StrategyName;
use replay_engine::registries::{FileMachine, Registries};
use replay_engine::topology::{Topology, split_name};

/// Removes a machine file from the list of machines of a grid. Each allocator that has the parameter `file` but does
/// not set it gets the machine file as the value of `file`. The selected topology of the file becomes the parameter
/// `topology` of this allocator. Returns the default machine that the file describes.
///
/// # Errors
/// An error with the key, if the grid also lists another machine, if an allocator has a `menu` but no `file`, or if the
/// file is invalid.
pub fn take_machine_file(
    file: &mut GridFile,
    registries: &Registries,
) -> Result<Option<Topology>, PathError> {
    let Some(place) = file.machines.iter().position(|name| split_name(name).is_some()) else {
        return Ok(None);
    };
    let name = file.machines[place].trim().to_string();
    let (path, topology) = split_name(&name).unwrap_or((&name, None));
    let at = |problem: String| {
        // Errors about a line of the file begin with the path of the file.
        let is_complete = problem.strip_prefix(path).is_some_and(|rest| rest.starts_with(':'));
        let problem = if is_complete { problem } else { format!("{path}: {problem}") };
        GridError::at(&[Step::Key("machines"), Step::Item(place)], problem)
    };
    if file.machines.len() > 1 {
        return Err(at("a machine described by a file must be the only machine".to_string()));
    }
    let files = registries.machine_files.as_ref();
    let files = files.ok_or_else(|| at("machines in files are not supported".to_string()))?;
    let FileMachine { topology: machine, has_boxes } = files.read(&name).map_err(&at)?;
    if !has_boxes {
        file.machines.clear();
        return Ok(Some(machine));
    }
    file.machines.clear();
    for entry in &mut file.allocator {
        // Errors in names are reported when the names are looked up.
        let Ok(spec) = registries.allocators.read(&entry.name) else { continue };
        let Ok(mut name) = entry.name.parse::<StrategyName>() else { continue };
        let has = |key: &str| name.get(key).is_some() || entry.parameters.contains_key(key);
        if !spec.has_parameter("file") || has("file") {
            continue;
        }
        // An allocator with its own menu must not have the same name as an allocator with the boxes of the file.
        if has("menu") {
            return Err(at(format!(
                "{} has a menu, but the file already defines the boxes; to use another menu on this machine, \
                 write --machine '{machine}'",
                entry.name
            )));
        }
        let topology = topology.filter(|_| !has("topology")).map(|topology| ("topology", topology));
        for (key, value) in [("file", path)].into_iter().chain(topology) {
            match value.contains([',', '[', ']']) {
                true => drop(entry.parameters.insert(key.to_string(), Values::listed(value))),
                false => {
                    name.parameters.insert(0, (key.to_string(), value.to_string()));
                    entry.name = name.to_string();
                }
            }
        }
    }
    Ok(Some(machine))
}

/// Returns the machine that is described by the parameters of the grid's strategies; `None` if no parameter describes a
/// machine.
///
/// # Errors
/// An error if a description is invalid, or if the strategies describe several machines.
pub fn machine(
    strategies: &Strategies,
    registries: &Registries,
) -> Result<Option<Topology>, PathError> {
    let Some(files) = &registries.machine_files else { return Ok(None) };
    let mut described: Option<Topology> = None;
    let mut without = HashSet::new();
    for index in 0..strategies.len() {
        let entry = strategies.entry(index);
        if without.contains(&entry) {
            continue;
        }
        let at =
            |problem: String| GridError::at(&[Step::Key("allocator"), Step::Item(entry)], problem);
        let strategy = strategies.get(index).map_err(|error| at(error.to_string()))?;
        if !strategy.has_parameter("file") {
            without.insert(entry);
            continue;
        }
        let machine = files.of_allocator(&strategy).transpose();
        let machine = machine
            .map_err(|problem| at(strategy.name().error("allocator", problem).to_string()))?;
        match (machine, &described) {
            (Some(machine), Some(other)) if machine != *other => {
                let problem = format!(
                    "allocator {strategy} describes machine {machine}, but another allocator describes machine {other}"
                );
                return Err(at(problem));
            }
            (Some(machine), None) => described = Some(machine),
            _ => {}
        }
    }
    Ok(described)
}
