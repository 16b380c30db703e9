//! Names and parameters of the centre-based strategies.

use super::{CentreOptions, ShellOrder, TieVector, WallRule};
use crate::allocator::centred::Centred;
use crate::allocator::mc1x1::Mc1x1;
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::naming::{NameError, Parameter, StrategyName};
use crate::topology::{Grid, Topology};

const KIND: &str = "allocator";

/// `mc1x1`, `gen-alg` and `mm`.
pub fn strategies() -> Vec<Strategy> {
    vec![
        Strategy {
            name: "mc1x1".to_string(),
            aliases: &["mc-1x1"],
            about: "Square shells around every free processor; least sum of shell numbers, ties by the tie vector."
                .to_string(),
            source: "Bender et al. 2008; Johnson, Bunde, Leung",
            parameters,
            canonical,
            build: |name, topology, _seed| {
                Ok(Box::new(Mc1x1::new(grid(name, topology)?, options(name)?)))
            },
        },
        Strategy {
            name: "gen-alg".to_string(),
            aliases: &["genalg"],
            about: "Diamond shells around every free processor; least sum of pairwise L1 distances."
                .to_string(),
            source: "Krumke et al. 1997",
            parameters,
            canonical,
            build: |name, topology, _seed| {
                Ok(Box::new(Centred::gen_alg(grid(name, topology)?, options(name)?)))
            },
        },
        Strategy {
            name: "mm".to_string(),
            aliases: &[],
            about: "Diamond shells around every position whose coordinates occur in free processors; least \
                    sum of pairwise L1 distances."
                .to_string(),
            source: "Bender et al. 2008",
            parameters,
            canonical,
            build: |name, topology, _seed| {
                Ok(Box::new(Centred::mm(grid(name, topology)?, options(name)?)))
            },
        },
    ]
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter {
            key: "tie",
            values: "SR,AF,WF,BF".to_string(),
            default: "none",
            about: "tie vector: scan radius in shells, then the weights of free processors nearby, own \
                    processors along walls, busy processors just outside",
        },
        Parameter {
            key: "wall",
            values: WallRule::ALL.map(WallRule::name).join("|"),
            default: "once",
            about: "whether a processor in a corner touches a wall once or once per wall",
        },
        Parameter {
            key: "order",
            values: ShellOrder::ALL.map(ShellOrder::name).join("|"),
            default: "carried",
            about: "who is taken from a last shell that is needed only in part; greedy builds every \
                    candidate and is some hundred times slower",
        },
        Parameter {
            key: "slack",
            values: "0..1".to_string(),
            default: "0",
            about: "fraction of the best score by which a candidate may be worse and still compete by tie value",
        },
    ]
}

fn options(name: &StrategyName) -> Result<CentreOptions, NameError> {
    name.expect_keys(KIND, &["tie", "wall", "order", "slack"])?;
    let tie = match name.get("tie") {
        None | Some("none") => None,
        Some(text) => Some(text.parse::<TieVector>().map_err(|e| name.error(KIND, e.to_string()))?),
    };
    let slack = name.value(KIND, "slack", 0.0)?;
    if !(slack == 0.0 || (1e-6..=1.0).contains(&slack)) {
        return Err(name.error(KIND, "slack is 0 or between 0.000001 and 1"));
    }
    Ok(CentreOptions {
        tie,
        wall: name.choice(KIND, "wall", WallRule::Once, &WallRule::ALL.map(|w| (w.name(), w)))?,
        order: name.choice(
            KIND,
            "order",
            ShellOrder::Carried,
            &ShellOrder::ALL.map(|o| (o.name(), o)),
        )?,
        slack,
    })
}

fn canonical(name: &StrategyName) -> Result<StrategyName, NameError> {
    let options = options(name)?;
    let mut canonical = StrategyName::plain(&name.name);
    if let Some(tie) = options.tie {
        canonical.set("tie", tie.to_string());
    }
    if options.wall != WallRule::default() {
        canonical.set("wall", options.wall.name());
    }
    if options.order != ShellOrder::default() {
        canonical.set("order", options.order.name());
    }
    if options.slack != 0.0 {
        canonical.set("slack", options.slack.to_string());
    }
    Ok(canonical)
}

fn grid<'a>(name: &StrategyName, topology: &'a Topology) -> Result<&'a Grid, NameError> {
    topology.grid().ok_or_else(|| needs_grid(name))
}
