//! Parameters of the contiguous strategies.

use super::choices::{Engine, Measure, Rows};
use super::scan::Scan;
use super::shapes::Shaping;
use crate::naming::{NameError, Parameter, StrategyName};

const ALLOCATOR: &str = "allocator";

/// What a contiguous strategy can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether the permutations of a frame are tried too.
    pub turn: bool,
    /// The order of bases.
    pub scan: Scan,
    /// Frames of jobs without a shape.
    pub shaping: Shaping,
    /// How First Fit searches.
    pub engine: Engine,
    /// What Best Fit calls best.
    pub measure: Measure,
    /// Where Frame Sliding begins its rows.
    pub rows: Rows,
}

impl Options {
    /// Reads a name whose keys have been checked; a name `turning-...` turns.
    fn read(name: &StrategyName) -> Result<Self, NameError> {
        let rotate = [("false", false), ("true", true)];
        let turning = name.name.starts_with("turning-");
        Ok(Self {
            turn: turning || name.choice(ALLOCATOR, "rotate", false, &rotate)?,
            scan: name.choice(ALLOCATOR, "scan", Scan::default(), &Scan::ALL)?,
            shaping: name.choice(ALLOCATOR, "shape", Shaping::default(), &Shaping::ALL)?,
            engine: name.choice(ALLOCATOR, "engine", Engine::default(), &Engine::ALL)?,
            measure: name.choice(ALLOCATOR, "measure", Measure::default(), &Measure::ALL)?,
            rows: name.choice(ALLOCATOR, "rows", Rows::default(), &Rows::ALL)?,
        })
    }

    /// Reads a name that may have these keys, and unless it turns by itself also `rotate`.
    ///
    /// # Errors
    /// [`NameError`] on another key or an illegal value.
    pub fn of(name: &StrategyName, keys: &[&str]) -> Result<Self, NameError> {
        if name.name.starts_with("turning-") {
            name.expect_keys(ALLOCATOR, keys)?;
        } else {
            name.expect_keys(ALLOCATOR, &[&["rotate"], keys].concat())?;
        }
        Self::read(name)
    }

    /// Reads a name that may have these keys only.
    ///
    /// # Errors
    /// [`NameError`] on another key or an illegal value.
    pub fn fixed(name: &StrategyName, keys: &[&str]) -> Result<Self, NameError> {
        name.expect_keys(ALLOCATOR, keys)?;
        Self::read(name)
    }

    /// The one way to write these options: a strategy that turns has a name of its own, and
    /// defaults are left out.
    pub fn canonical(&self, name: &str) -> StrategyName {
        let prefix = if self.turn { "turning-" } else { "" };
        let mut canonical = StrategyName::plain(&format!("{prefix}{name}"));
        let mut set = |key, value: Option<&'static str>| {
            value.into_iter().for_each(|value| canonical.set(key, value));
        };
        set("scan", written(self.scan, &Scan::ALL));
        set("rows", written(self.rows, &Rows::ALL));
        set("measure", written(self.measure, &Measure::ALL));
        set("shape", written(self.shaping, &Shaping::ALL));
        set("engine", written(self.engine, &Engine::ALL));
        canonical
    }
}

/// How a choice is written, if it is not the default.
pub fn written<T: PartialEq + Default>(
    value: T,
    choices: &[(&'static str, T)],
) -> Option<&'static str> {
    let named = choices.iter().find(|(_, choice)| *choice == value);
    named.filter(|_| value != T::default()).map(|&(name, _)| name)
}

fn names<T>(choices: &[(&'static str, T)]) -> String {
    choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("|")
}

/// `rotate=`.
pub fn rotate() -> Parameter {
    Parameter {
        key: "rotate",
        values: "false|true".to_string(),
        default: "false".into(),
        about: "also try the other permutations of the sides (two in 2D, six in 3D), as turning-... does",
    }
}

/// `scan=`.
pub fn scan() -> Parameter {
    Parameter {
        key: "scan",
        values: names(&Scan::ALL),
        default: "row-major".into(),
        about: "order of bases in 2D: y outer and x inner, or x outer; in 3D it is always x, y, z",
    }
}

/// `shape=`.
pub fn shape() -> Parameter {
    Parameter {
        key: "shape",
        values: names(&Shaping::ALL),
        default: "factors".into(),
        about: "sides of a job that comes without: exact and most nearly square, least total side length, or every exact factorisation in turn",
    }
}

/// `measure=`.
pub fn measure() -> Parameter {
    Parameter {
        key: "measure",
        values: names(&Measure::ALL),
        default: "candidates".into(),
        about: "best is: fewest free neighbours of the frame, fewest neighbours of the base that are bases, or least maximal free box",
    }
}

/// `rows=`.
pub fn rows() -> Parameter {
    Parameter {
        key: "rows",
        values: names(&Rows::ALL),
        default: "walls".into(),
        about: "rows of frames above the first run from wall to wall, or begin below which the first frame began",
    }
}

/// `engine=`.
pub fn engine() -> Parameter {
    Parameter {
        key: "engine",
        values: names(&Engine::ALL),
        default: "fast".into(),
        about: "rows of bits, or the published loops (meshes only), for comparisons of cost; same choice",
    }
}

/// The error of an option or strategy that is defined on meshes only.
pub fn needs_mesh(name: &StrategyName, what: &str) -> NameError {
    name.error(ALLOCATOR, format!("{what} needs a mesh, without wrap-around"))
}
