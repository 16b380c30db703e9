//! `gabl`.

use super::{Gabl, GablOptions, TieShrink};
use crate::allocator::busy_list::{Engine, engine_parameter, mesh_of};
use crate::allocator::strategy::Strategy;
use crate::naming::{NameError, Parameter, StrategyName};

const ROTATE: [(&str, bool); 2] = [("true", true), ("false", false)];

/// The one strategy.
pub fn strategies() -> Vec<Strategy> {
    vec![Strategy {
        name: "gabl".to_string(),
        aliases: &[],
        about: "Greedy Available Busy List: the whole request in one free sub-mesh, else in \
                the largest ones that are free, shrinking the longer side; never refuses; \
                b m^2 steps with m sub-meshes allocated and b searches."
            .to_string(),
        source: "Bani-Mohammad 2008, section 4.2",
        parameters: || {
            vec![
                Parameter {
                    key: "rotate",
                    values: ROTATE.map(|(name, _)| name).join("|"),
                    default: "true".into(),
                    about: "whether sub-meshes may be turned",
                },
                Parameter {
                    key: "tie-shrink",
                    values: TieShrink::ALL.map(|(name, _)| name).join("|"),
                    default: "a".into(),
                    about: "of equally long sides the first (a) or the last (b) shrinks",
                },
                engine_parameter(),
            ]
        },
        canonical: |name| {
            let (options, default) = (options(name)?, GablOptions::default());
            let mut canonical = StrategyName::plain(&name.name);
            if options.rotate != default.rotate {
                canonical.set("rotate", "false");
            }
            if options.tie_shrink != default.tie_shrink {
                canonical.set("tie-shrink", "b");
            }
            if options.engine != default.engine {
                canonical.set("engine", "literal");
            }
            Ok(canonical)
        },
        build: |name, topology, _seed| {
            Ok(Box::new(Gabl::new(mesh_of(name, topology)?, options(name)?)))
        },
    }]
}

fn options(name: &StrategyName) -> Result<GablOptions, NameError> {
    name.expect_keys("allocator", &["rotate", "tie-shrink", "engine"])?;
    let default = GablOptions::default();
    Ok(GablOptions {
        rotate: name.choice("allocator", "rotate", default.rotate, &ROTATE)?,
        tie_shrink: name.choice("allocator", "tie-shrink", default.tie_shrink, &TieShrink::ALL)?,
        engine: name.choice("allocator", "engine", default.engine, &Engine::ALL)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_not_written() {
        let canonical = |text: &str| {
            let name: StrategyName = text.parse().expect("well-formed");
            (strategies()[0].canonical)(&name).map(|name| name.to_string())
        };
        assert_eq!(canonical("gabl[rotate=true,tie-shrink=a]").as_deref(), Ok("gabl"));
        assert_eq!(
            canonical("gabl[engine=literal,tie-shrink=b,rotate=false]").as_deref(),
            Ok("gabl[rotate=false,tie-shrink=b,engine=literal]")
        );
        let error = canonical("gabl[rotate=maybe]").expect_err("unknown value");
        assert!(error.to_string().contains("true, false"), "{error}");
    }
}
