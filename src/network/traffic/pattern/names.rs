//! The grammar of patterns.

use std::fmt;
use std::str::FromStr;

use super::*;
use crate::naming::{NameError, StrategyName, nearest};

const KIND: &str = "pattern";

/// Every pattern's name, in the order of listings.
pub(super) const NAMES: [&str; 9] = [
    "all-to-all",
    "one-to-all",
    "n-body",
    "fft-2d",
    "multigrid",
    "nearest-neighbour",
    "random",
    "matrix",
    "phases",
];
/// Other names that are understood.
pub(super) const ALIASES: [(&str, &str); 3] =
    [("nbody", "n-body"), ("fft", "fft-2d"), ("nearest-neighbor", "nearest-neighbour")];

pub(super) const ORDERS: [(&str, Order); 3] =
    [("same", Order::Same), ("shifted", Order::Shifted), ("lexicographic", Order::Lexicographic)];
pub(super) const ROOTS: [(&str, Root); 2] = [("random", Root::Random), ("first", Root::First)];
pub(super) const TARGETS: [(&str, Targets); 2] =
    [("ascending", Targets::Ascending), ("cyclic", Targets::Cyclic)];
pub(super) const STRIDES: [(&str, Strides); 2] =
    [("descending", Strides::Descending), ("ascending", Strides::Ascending)];
pub(super) const CYCLES: [(&str, Cycle); 2] = [("descent", Cycle::Descent), ("v", Cycle::V)];
pub(super) const DIMENSIONS: [(&str, u8); 3] = [("1", 1), ("2", 2), ("3", 3)];
pub(super) const WRAPS: [(&str, bool); 2] = [("no", false), ("yes", true)];
pub(super) const SOURCES: [(&str, Source); 2] = [("drawn", Source::Drawn), ("each", Source::Each)];
pub(super) const VALUES: [(&str, Values); 2] =
    [("packets", Values::Packets), ("weights", Values::Weights)];
pub(super) const SENDS: [(&str, Sends); 3] = [
    ("sequential", Sends::Sequential),
    ("pipelined", Sends::Pipelined),
    ("at-once", Sends::AtOnce),
];
pub(super) const STREAMS: [(&str, Stream); 2] =
    [("process", Stream::Process), ("job", Stream::Job)];
pub(super) const BARRIERS: [(&str, Barrier); 3] =
    [("step", Barrier::Step), ("iteration", Barrier::Iteration), ("none", Barrier::None)];

/// A choice as it is written.
pub(super) fn text<T: PartialEq>(choices: &[(&'static str, T)], value: &T) -> &'static str {
    choices.iter().find(|(_, choice)| choice == value).map_or("", |(name, _)| name)
}

impl TryFrom<&StrategyName> for Pattern {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let preset = name.choice(KIND, "preset", Preset::Lo, &Preset::ALL)?;
        let plain = ALIASES.iter().find(|(alias, _)| *alias == name.name);
        let plain = plain.map_or(name.name.as_str(), |(_, plain)| plain);
        let usual = Kind::usual(plain, preset).ok_or_else(|| {
            let problem = match nearest(plain, NAMES.into_iter()) {
                Some(near) => format!("unknown; did you mean \"{near}\"?"),
                None => format!("unknown; known are {}", NAMES.join(", ")),
            };
            name.error(KIND, problem)
        })?;
        let mut keys: Vec<_> = usual.parameters().into_iter().map(|(key, _)| key).collect();
        keys.extend(["sends", "stream", "barrier", "preset"]);
        name.expect_keys(KIND, &keys)?;
        let kind = usual.with(name)?;
        let usual = Discipline::usual(&kind, preset);
        let discipline = Discipline {
            sends: name.choice(KIND, "sends", usual.sends, &SENDS)?,
            stream: name.choice(KIND, "stream", usual.stream, &STREAMS)?,
            barrier: name.choice(KIND, "barrier", usual.barrier, &BARRIERS)?,
        };
        let pattern = Self { kind, discipline };
        match pattern.conflict() {
            Some(problem) => Err(name.error(KIND, problem)),
            None => Ok(pattern),
        }
    }
}

impl FromStr for Pattern {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name: StrategyName =
            text.parse().map_err(|error: NameError| NameError { kind: KIND, ..error })?;
        Self::try_from(&name)
    }
}

/// The name and in brackets what differs from the defaults, those of the preset by which it
/// is shorter.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Preset::ALL.map(|(preset_name, preset)| {
            let mut name = StrategyName::plain(self.kind.name());
            if preset != Preset::Lo {
                name.set("preset", preset_name);
            }
            let usual = Kind::usual(self.kind.name(), preset);
            let usual = usual.map(|kind| kind.parameters()).unwrap_or_default();
            let discipline = Discipline::usual(&self.kind, preset).parameters();
            let own = self.kind.parameters().into_iter().chain(self.discipline.parameters());
            for (own, usual) in own.zip(usual.into_iter().chain(discipline)) {
                if own != usual {
                    name.set(own.0, own.1);
                }
            }
            name
        });
        named.iter().min_by_key(|name| name.parameters.len()).map_or(Ok(()), |name| name.fmt(f))
    }
}

impl Kind {
    /// The name as typed.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::AllToAll { .. } => "all-to-all",
            Kind::OneToAll { .. } => "one-to-all",
            Kind::NBody => "n-body",
            Kind::Fft2d { .. } => "fft-2d",
            Kind::Multigrid { .. } => "multigrid",
            Kind::NearestNeighbour { .. } => "nearest-neighbour",
            Kind::Random { .. } => "random",
            Kind::Matrix { .. } => "matrix",
            Kind::Phases { .. } => "phases",
        }
    }

    /// The options of its own, as typed.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let texts: Vec<(_, &str)> = match self {
            Kind::NBody => vec![],
            Kind::AllToAll { order } => vec![("order", text(&ORDERS, order))],
            Kind::OneToAll { root, targets } => {
                vec![("root", text(&ROOTS, root)), ("targets", text(&TARGETS, targets))]
            }
            Kind::Fft2d { strides } => vec![("strides", text(&STRIDES, strides))],
            Kind::Multigrid { cycle } => vec![("cycle", text(&CYCLES, cycle))],
            Kind::NearestNeighbour { dimensions, wrap } => {
                vec![("dimensions", text(&DIMENSIONS, dimensions)), ("wrap", text(&WRAPS, wrap))]
            }
            Kind::Random { source } => vec![("source", text(&SOURCES, source))],
            Kind::Matrix { file, values } => {
                vec![("file", file), ("values", text(&VALUES, values))]
            }
            Kind::Phases { file } => vec![("file", file)],
        };
        texts.into_iter().map(|(key, value)| (key, value.to_string())).collect()
    }

    /// Itself with the options that were written.
    fn with(self, name: &StrategyName) -> Result<Self, NameError> {
        let file = || {
            let problem = "name a file: file=traffic.csv";
            name.get("file").map(str::to_string).ok_or_else(|| name.error(KIND, problem))
        };
        Ok(match self {
            Kind::NBody => Kind::NBody,
            Kind::AllToAll { order } => {
                Kind::AllToAll { order: name.choice(KIND, "order", order, &ORDERS)? }
            }
            Kind::OneToAll { root, targets } => Kind::OneToAll {
                root: name.choice(KIND, "root", root, &ROOTS)?,
                targets: name.choice(KIND, "targets", targets, &TARGETS)?,
            },
            Kind::Fft2d { strides } => {
                Kind::Fft2d { strides: name.choice(KIND, "strides", strides, &STRIDES)? }
            }
            Kind::Multigrid { cycle } => {
                Kind::Multigrid { cycle: name.choice(KIND, "cycle", cycle, &CYCLES)? }
            }
            Kind::NearestNeighbour { dimensions, wrap } => Kind::NearestNeighbour {
                dimensions: name.choice(KIND, "dimensions", dimensions, &DIMENSIONS)?,
                wrap: name.choice(KIND, "wrap", wrap, &WRAPS)?,
            },
            Kind::Random { source } => {
                Kind::Random { source: name.choice(KIND, "source", source, &SOURCES)? }
            }
            Kind::Matrix { values, .. } => Kind::Matrix {
                file: file()?,
                values: name.choice(KIND, "values", values, &VALUES)?,
            },
            Kind::Phases { .. } => Kind::Phases { file: file()? },
        })
    }
}

impl Discipline {
    /// The options as typed.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let Self { sends, stream, barrier } = self;
        vec![
            ("sends", text(&SENDS, sends).to_string()),
            ("stream", text(&STREAMS, stream).to_string()),
            ("barrier", text(&BARRIERS, barrier).to_string()),
        ]
    }
}
