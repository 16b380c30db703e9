//! Names and parameters of the centre-based strategies.

use super::{CentreOptions, ShellOrder, Slack, SlackError, TieRule, WallRule};
use crate::allocator::centred::Centred;
use crate::allocator::mc1x1::Mc1x1;
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::allocator::tuned::{self, TunedMc1x1};
use crate::naming::{NameError, Parameter, StrategyName};
use crate::topology::{Grid, Topology};

const KIND: &str = "allocator";

/// `mc1x1`, `gen-alg` and `mm`.
pub fn strategies() -> Vec<Strategy> {
    vec![
        Strategy {
            name: "mc1x1".to_string(),
            aliases: &["mc-1x1"],
            about: "Square shells around every free processor; least sum of shell numbers, ties by the tie vector. tie=auto \
                    tunes the vector during the replay, slack=auto with it the slack."
                .to_string(),
            source: "Bender et al. 2008; Johnson, Bunde, Leung",
            parameters: || {
                [parameters(true), tuned::names::parameters()].concat()
            },
            canonical: |name| {
                let mut canonical = canonical(name, &tuned::names::KEYS)?;
                tuned::names::complete(name, &mut canonical)?;
                Ok(canonical)
            },
            build: |name, topology, seed| {
                let (grid, options) = (grid(name, topology)?, options(name, &tuned::names::KEYS)?);
                if tie_rule(name)? == TieRule::Auto {
                    let tuning = tuned::names::options(name)?;
                    return Ok(Box::new(TunedMc1x1::new(grid, options, tuning, seed)));
                }
                Ok(Box::new(Mc1x1::new(grid, options)))
            },
        },
        Strategy {
            name: "gen-alg".to_string(),
            aliases: &["genalg"],
            about: "Diamond shells around every free processor; least sum of pairwise L1 distances."
                .to_string(),
            source: "Krumke et al. 1997",
            parameters: || parameters(false),
            canonical: |name| {
                if tie_rule(name)? == TieRule::Auto {
                    return Err(name.error(KIND, "only mc1x1 tunes its tie vector itself"));
                }
                canonical(name, &[])
            },
            build: |name, topology, _seed| {
                Ok(Box::new(Centred::gen_alg(grid(name, topology)?, options(name, &[])?)))
            },
        },
        Strategy {
            name: "mm".to_string(),
            aliases: &[],
            about: "Diamond shells around every position whose coordinates occur in free processors; least \
                    sum of pairwise L1 distances."
                .to_string(),
            source: "Bender et al. 2008",
            parameters: || parameters(false),
            canonical: |name| {
                if tie_rule(name)? == TieRule::Auto {
                    return Err(name.error(KIND, "only mc1x1 tunes its tie vector itself"));
                }
                canonical(name, &[])
            },
            build: |name, topology, _seed| {
                Ok(Box::new(Centred::mm(grid(name, topology)?, options(name, &[])?)))
            },
        },
    ]
}

/// The parameters of a strategy of the family, which tunes itself or not.
fn parameters(tunes: bool) -> Vec<Parameter> {
    let values = |plain: &str| if tunes { format!("{plain}|auto") } else { plain.to_string() };
    vec![
        Parameter {
            key: "tie",
            values: values("SR,AF,WF,BF"),
            default: "none".into(),
            about: "tie vector: scan radius in shells, then the weights of free processors nearby, own \
                    processors along walls, busy processors just outside",
        },
        Parameter {
            key: "wall",
            values: WallRule::ALL.map(WallRule::name).join("|"),
            default: "once".into(),
            about: "whether a processor in a corner touches a wall once or once per wall",
        },
        Parameter {
            key: "order",
            values: ShellOrder::ALL.map(ShellOrder::name).join("|"),
            default: "carried".into(),
            about: "who is taken from a last shell that is needed only in part; greedy builds every \
                    candidate and is some hundred times slower",
        },
        Parameter {
            key: "slack",
            values: values("0..1"),
            default: "0".into(),
            about: "fraction of the best score by which a candidate may be worse and still compete by tie \
                    value",
        },
    ]
}

fn tie_rule(name: &StrategyName) -> Result<TieRule, NameError> {
    let rule = name.get("tie").map_or(Ok(TieRule::First), str::parse);
    rule.map_err(|e| name.error(KIND, e.to_string()))
}

/// Whether a strategy with the parameters `own` tunes its slack itself.
fn tunes_slack(own: &[&str]) -> bool {
    own == tuned::names::KEYS
}

/// The options that the family shares; the strategy also has the parameters `own`.
fn options(name: &StrategyName, own: &[&str]) -> Result<CentreOptions, NameError> {
    name.expect_keys(KIND, &[&["tie", "wall", "order", "slack"], own].concat())?;
    let tie = match tie_rule(name)? {
        TieRule::Vector(vector) => Some(vector),
        TieRule::First | TieRule::Auto => None,
    };
    let slack = match name.get("slack") {
        None => Slack::NONE,
        // Without tie values a slack has no effect, however it is found.
        Some("auto") if tunes_slack(own) && tie.is_none() => Slack::NONE,
        Some("auto") if tunes_slack(own) => {
            return Err(name.error(KIND, "slack=auto goes with tie=auto"));
        }
        Some(text) => text.parse().map_err(|e: SlackError| name.error(KIND, e.to_string()))?,
    };
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

fn canonical(name: &StrategyName, own: &[&str]) -> Result<StrategyName, NameError> {
    let options = options(name, own)?;
    let mut canonical = StrategyName::plain(&name.name);
    match tie_rule(name)? {
        TieRule::First => {}
        rule => canonical.set("tie", rule.to_string()),
    }
    if options.wall != WallRule::default() {
        canonical.set("wall", options.wall.name());
    }
    if options.order != ShellOrder::default() {
        canonical.set("order", options.order.name());
    }
    if !options.slack.is_none() {
        canonical.set("slack", options.slack.to_string());
    } else if name.get("slack") == Some("auto") {
        canonical.set("slack", "auto");
    }
    Ok(canonical)
}

fn grid<'a>(name: &StrategyName, topology: &'a Topology) -> Result<&'a Grid, NameError> {
    topology.grid().ok_or_else(|| needs_grid(name))
}
