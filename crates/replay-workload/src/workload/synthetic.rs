//! Synthetic traces. The name of a synthetic trace has the notation of strategy names and can be used wherever the name
//! of a trace is accepted.
//!
//! `stream[machine=32x32,arrivals=10]` is one replication of a [stochastic stream](super::stochastic), and
//! `lublin[processors=100,load=0.7]` is a trace of the [Lublin-Feitelson model](super::lublin). Traces of both
//! generators are written as SWF in memory and loaded like a file. Synthetic traces therefore have a header and a
//! digest, and a policy and a window can be applied to them.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::error::LoadError;
use super::lublin::{self, LublinFeitelson};
use super::sidecar::write_trace_line;
use super::stochastic::{
    self, Arrivals, Service, ShapeFile, Sides, StochasticStream, write_shapes,
};
use super::{Policy, Window, Workload};
use crate::naming::{Description, Entry, NameError, StrategyName, Table, kind};
use crate::swf::ReadOptions;

/// A synthetic trace as text, with the shapes of its jobs if the jobs have shapes.
#[derive(Clone, Debug)]
pub struct SyntheticTrace {
    /// Canonical name of the trace.
    pub name: StrategyName,
    /// The trace in SWF.
    pub swf: Vec<u8>,
    /// The shapes file, which names the trace by its digest.
    pub shapes: Option<Vec<u8>>,
}

/// Returns whether `name` is the name of a generator, or ends with `]`. Only names of generators end with `]`.
pub fn is_generator(name: &str) -> bool {
    let word = name.split('[').next().unwrap_or(name).trim();
    TABLE.words().any(|known| known == word) || name.trim_end().ends_with(']')
}

/// Generates the trace that a name describes.
///
/// # Errors
/// [`NameError`] if the generator is unknown or its parameters are impossible.
pub fn generate(name: &StrategyName) -> Result<SyntheticTrace, NameError> {
    let model = TABLE.parse(name)?;
    let name = TABLE.name(&model);
    let note = format!("Synthetic: {name}");
    let made = match &model {
        Model::Stream(options) => options.generate(&note),
        Model::Lublin(options) => options.generate(&note),
    };
    let (swf, mut shapes) = made.map_err(|problem| name.error(TABLE.kind(), problem))?;
    if let Some(shapes) = &mut shapes {
        write_trace_line(&blake3::hash(&swf).to_hex(), shapes)
            .map_err(|error| name.error(TABLE.kind(), error.to_string()))?;
    }
    Ok(SyntheticTrace { name, swf, shapes })
}

impl SyntheticTrace {
    /// Loads the trace like a file.
    ///
    /// # Errors
    /// [`LoadError`], as for [`Workload::load`].
    pub fn load(
        &self,
        policy: &Policy,
        window: &Window,
        options: ReadOptions,
    ) -> Result<Workload, LoadError> {
        let name = self.name.to_string();
        let mut workload =
            Workload::from_reader(self.swf.as_slice(), &name, policy, window, options)?;
        if let Some(shapes) = &self.shapes {
            let file = format!("shapes of {name}");
            workload.take_shapes(&ShapeFile::read(shapes.as_slice(), &file)?)?;
        }
        Ok(workload)
    }
}

/// A generator with its parameters.
#[derive(Clone, PartialEq)]
enum Model {
    Stream(StreamOptions),
    Lublin(LublinOptions),
}

#[derive(Clone, PartialEq)]
struct StreamOptions {
    machine: Extents,
    /// Arrivals per time unit.
    arrivals: f64,
    sides: Sides,
    service: Service,
    jobs: u32,
    seed: u64,
    replication: u64,
}

#[derive(Clone, PartialEq)]
struct LublinOptions {
    processors: u32,
    load: Option<f64>,
    jobs: usize,
    seed: u64,
}

static TABLE: LazyLock<Table<Model>> = LazyLock::new(|| {
    /// Expands to a function that borrows a parameter of one model.
    macro_rules! of {
        ($model:ident, $field:ident) => {
            |model: &mut Model| match model {
                Model::$model(options) => Some(&mut options.$field),
                _ => None,
            }
        };
    }
    let number = || kind::integer(0..=u64::MAX).listed("N");
    let usual = StochasticStream::new([16, 16, 1]);
    let stream = StreamOptions {
        machine: Extents(usual.extents),
        arrivals: 1.0,
        sides: usual.sides,
        service: usual.service,
        jobs: usual.jobs,
        seed: 0,
        replication: 0,
    };
    let stream = Entry::new("stream", Model::Stream(stream))
        .about(
            "One replication of a stochastic stream of jobs with shapes; a time unit is a million ticks \
             (seconds of the trace).",
        )
        .source("Lo et al. 1997; Bani-Mohammad 2008")
        .case(
            "machine",
            kind::parsed("WxL|WxDxH"),
            "mesh; the sides of jobs do not exceed its sides",
            of!(Stream, machine),
        )
        .case(
            "arrivals",
            kind::positive().listed("NUMBER"),
            "arrivals per time unit",
            of!(Stream, arrivals),
        )
        .case("sides", kind::parsed("NAME"), "side lengths (replay list sides)", of!(Stream, sides))
        .case(
            "service",
            kind::parsed("NAME"),
            "service times (replay list services)",
            of!(Stream, service),
        )
        .case("jobs", kind::integer(1..=u32::MAX).listed("N"), "number of jobs", of!(Stream, jobs))
        .case("seed", number(), "seed", of!(Stream, seed))
        .case("replication", number(), "number of the replication", of!(Stream, replication));
    let lublin = LublinOptions { processors: 100, load: None, jobs: 5000, seed: 0 };
    let lublin = Entry::new("lublin", Model::Lublin(lublin))
        .about("A trace of the Lublin-Feitelson model with batch and interactive jobs.")
        .source("Lublin, Feitelson 2003")
        .case(
            "processors",
            kind::integer(1..=u32::MAX).listed("N"),
            "processors of the machine",
            of!(Lublin, processors),
        )
        .case(
            "load",
            kind::positive().listed("FRACTION").or("the model's"),
            "offered load: ratio of requested to available processor-seconds",
            of!(Lublin, load),
        )
        .case(
            "jobs",
            kind::integer(1..=usize::MAX).listed("N"),
            "number of jobs",
            of!(Lublin, jobs),
        )
        .case("seed", number(), "seed", of!(Lublin, seed));
    Table::new("generator", [stream, lublin])
});

/// Returns descriptions of all generators.
pub fn descriptions() -> Vec<Description> {
    TABLE.descriptions()
}

/// A trace and the shapes of its jobs, if they have shapes. The error states why the parameters are impossible.
type Made = Result<(Vec<u8>, Option<Vec<u8>>), String>;

impl StreamOptions {
    fn generate(&self, note: &str) -> Made {
        let model = StochasticStream {
            arrivals: Arrivals::Exponential { mean: 1.0 / self.arrivals },
            sides: self.sides.clone(),
            service: self.service,
            jobs: self.jobs,
            ..StochasticStream::new(self.machine.0)
        };
        let stream = model.generate(self.seed, self.replication).map_err(|e| e.to_string())?;
        let processors = model.processors().map_err(|e| e.to_string())?;
        let (mut swf, mut shapes) = (Vec::new(), Vec::new());
        stochastic::write_swf(&stream, processors, &[("Note", note)], &mut swf)
            .and_then(|()| write_shapes(&stream.jobs, &mut shapes))
            .map_err(|e| e.to_string())?;
        Ok((swf, Some(shapes)))
    }
}

impl LublinOptions {
    fn generate(&self, note: &str) -> Made {
        let mut model = LublinFeitelson::batch_and_interactive(self.processors);
        model.target_load = self.load;
        let jobs = model.generate(self.jobs, self.seed).map_err(|e| e.to_string())?;
        let mut swf = Vec::new();
        lublin::write_swf(&jobs, self.processors, &[("Note", note)], &mut swf)
            .map_err(|e| e.to_string())?;
        Ok((swf, None))
    }
}

/// The sides of a mesh; the third side is 1 if only two sides are given.
#[derive(Clone, Copy, PartialEq)]
struct Extents([u16; 3]);

impl FromStr for Extents {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let sides: Option<Vec<u16>> =
            text.split('x').map(|side| side.trim().parse().ok()).collect();
        match sides.as_deref() {
            Some(&[w, l]) => Ok(Self([w, l, 1])),
            Some(&[w, d, h]) => Ok(Self([w, d, h])),
            _ => Err("write the machine as WIDTHxLENGTH or WIDTHxDEPTHxHEIGHT"),
        }
    }
}

impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [w, l, 1] => write!(f, "{w}x{l}"),
            [w, d, h] => write!(f, "{w}x{d}x{h}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Job, Oversize};

    fn load(name: &str) -> Workload {
        let generated = generate(&name.parse().expect("a name")).expect("possible");
        generated
            .load(&Policy::STRICT, &Window::ALL, Default::default())
            .expect("a trace without flaws")
    }

    #[test]
    fn a_stream_is_a_trace_with_shapes() {
        let workload = load("stream[machine=8x4x4,arrivals=3,sides=uniform[high=4],jobs=50]");
        assert_eq!(workload.jobs.len(), 50);
        for job in &workload.jobs {
            let sides = job.shape.expect("a shape");
            assert_eq!(sides.map(u32::from).iter().product::<u32>(), job.size);
            assert!(sides.iter().all(|&side| side <= 4));
        }
        assert_eq!(workload.header.max_procs(), Some(128));
    }

    #[test]
    fn a_window_keeps_the_shapes_of_its_jobs() {
        let generated = generate(&"stream[jobs=40]".parse().expect("a name")).expect("possible");
        let window = Window::parse(None, Some(10), None).expect("a window");
        let workload =
            generated.load(&Policy::JOHNSON, &window, Default::default()).expect("a trace");
        assert_eq!(workload.jobs.len(), 10);
        assert!(workload.jobs.iter().all(|job| job.shape.is_some()));
    }

    /// A job that is clamped to the machine loses its shape; the other jobs keep their shapes.
    #[test]
    fn clamping_removes_the_shapes_of_clamped_jobs_only() {
        let mut workload = load("stream[machine=8x8,sides=uniform,jobs=60,seed=2]");
        let before = workload.jobs.clone();
        workload.fit_to_machine(40, Oversize::Clamp).expect("a rule that changes jobs");
        let clamped = |job: &Job| job.size > 40;
        assert!(before.iter().any(clamped) && !before.iter().all(clamped));
        for (now, before) in workload.jobs.iter().zip(&before) {
            let expected = match clamped(before) {
                true => Job { size: 40, shape: None, ..*before },
                false => *before,
            };
            assert_eq!(*now, expected);
        }
    }

    #[test]
    fn refuses_impossible_parameters() {
        for name in [
            "stream[arrivals=0]",
            "stream[machine=hypercube:4]",
            "stream[sides=uniform[low=20]]",
            "stream[jobs=0]",
            "stream[load=1]",
            "stream[arrival=1]",
            "lublin[processors=0]",
            "lublin[jobs=0]",
            "other",
        ] {
            assert!(generate(&name.parse().expect("a name")).is_err(), "{name}");
        }
    }

    #[test]
    fn names_have_one_canonical_form() {
        let canonical =
            |text: &str| generate(&text.parse().expect("a name")).map(|made| made.name.to_string());
        for (text, expected) in [
            ("stream", "stream"),
            ("stream[jobs=1000,machine=16x16x1]", "stream"),
            ("stream[seed=2,jobs=5]", "stream[jobs=5,seed=2]"),
            ("stream[jobs=5,sides=uniform[low=1],service=exponential]", "stream[jobs=5]"),
            ("lublin[jobs=5,processors=100]", "lublin[jobs=5]"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
        let written = |text: &str| generate(&text.parse().expect("a name")).expect("possible").swf;
        assert_eq!(written("stream[jobs=5,arrivals=1]"), written("stream[jobs=5]"));
    }

    #[test]
    fn unknown_generators_get_a_suggestion() {
        let error = generate(&"steam[jobs=5]".parse().expect("a name")).expect_err("unknown");
        assert_eq!(
            error.to_string(),
            "generator \"steam[jobs=5]\": unknown; did you mean \"stream\"?"
        );
        assert!(is_generator("stream[arrivals=2]") && is_generator("steam[arrivals=2]"));
        assert!(
            is_generator("lublin") && !is_generator("streams.swf") && !is_generator("a[1].swf")
        );
    }
}
