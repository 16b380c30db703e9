//! `busy-list` and `turning-busy-list`.

use super::{BusyListAllocator, BusyListOptions, Engine};
use crate::allocator::shape::ShapeRule;
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::naming::{NameError, Parameter, StrategyName};
use crate::topology::{Grid, Topology};

const TURNING: &str = "turning-busy-list";

/// Both strategies.
pub fn strategies() -> Vec<Strategy> {
    let strategy = |name: &str, about: &str| Strategy {
        name: name.to_string(),
        aliases: &[],
        about: about.to_string(),
        source: "Bani-Mohammad et al. 2006; Bani-Mohammad 2008, section 3.3",
        parameters,
        canonical: |name| {
            let options = options(name)?;
            let mut canonical = StrategyName::plain(&name.name);
            let default = BusyListOptions::default();
            if options.rule != default.rule {
                canonical.set("shape", "near-square");
            }
            if options.engine != default.engine {
                canonical.set("engine", "literal");
            }
            Ok(canonical)
        },
        build: |name, topology, _seed| {
            Ok(Box::new(BusyListAllocator::new(mesh_of(name, topology)?, options(name)?)))
        },
    };
    vec![
        strategy(
            "busy-list",
            "Busy List: the first free sub-mesh of the requested shape at the right of an \
             allocated one or at the left wall; m^2 steps with m sub-meshes allocated.",
        ),
        strategy(
            TURNING,
            "Turning Busy List: Busy List in the requested orientation, then in the others; \
             m^2 steps for each with m sub-meshes allocated.",
        ),
    ]
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter {
            key: "shape",
            values: ["factors", "near-square"].join("|"),
            default: "factors".into(),
            about: "side lengths of a job that comes without: exact factors, or least total side length",
        },
        engine_parameter(),
    ]
}

/// `engine`, as all strategies of the family take it.
pub(in crate::allocator) fn engine_parameter() -> Parameter {
    Parameter {
        key: "engine",
        values: Engine::ALL.map(|(name, _)| name).join("|"),
        default: "fast".into(),
        about: "stop at the first place, or carry out the whole published search; same places",
    }
}

fn options(name: &StrategyName) -> Result<BusyListOptions, NameError> {
    name.expect_keys("allocator", &["shape", "engine"])?;
    let default = BusyListOptions::default();
    Ok(BusyListOptions {
        turning: name.name == TURNING,
        rule: name.choice("allocator", "shape", default.rule, &ShapeRule::ALL)?,
        engine: name.choice("allocator", "engine", default.engine, &Engine::ALL)?,
    })
}

/// The grid of a machine without wrap-around.
///
/// # Errors
/// [`NameError`] if the machine is no grid or a dimension wraps.
pub(in crate::allocator) fn mesh_of<'a>(
    name: &StrategyName,
    topology: &'a Topology,
) -> Result<&'a Grid, NameError> {
    let grid = topology.grid().ok_or_else(|| needs_grid(name))?;
    if grid.is_wrapped() {
        let problem = "is defined on meshes; this machine wraps around";
        return Err(name.error("allocator", problem));
    }
    Ok(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Result<String, String> {
        let name: StrategyName = text.parse().map_err(|e: NameError| e.to_string())?;
        let strategy = strategies().into_iter().find(|s| s.name == name.name).expect("known");
        (strategy.canonical)(&name).map(|name| name.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_not_written() {
        assert_eq!(canonical("busy-list[engine=fast,shape=factors]").as_deref(), Ok("busy-list"));
        let other = "turning-busy-list[shape=near-square,engine=literal]";
        assert_eq!(canonical(other).as_deref(), Ok(other));
        let error = canonical("busy-list[engine=slow]").expect_err("unknown value");
        assert!(error.contains("fast, literal"), "{error}");
        let error = canonical("busy-list[shpae=factors]").expect_err("unknown key");
        assert!(error.contains("did you mean \"shape\""), "{error}");
    }

    #[test]
    fn only_meshes_will_do() {
        let refused = |machine: &str| {
            let topology: Topology = machine.parse().expect("a machine");
            let name = StrategyName::plain(TURNING);
            mesh_of(&name, &topology).err().map(|e| e.to_string())
        };
        assert_eq!(refused("8x8x8"), None);
        assert!(refused("torus[y]:8x8").expect("wrapped").contains("wraps around"));
        assert!(refused("hypercube:4").expect("no grid").contains("mesh or torus"));
    }
}
