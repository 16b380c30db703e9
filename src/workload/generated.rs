//! Traces that are made, not read: named like strategies, wherever a trace is named.
//!
//! `stream[machine=32x32,load=10]` is one replication of a [stochastic stream](super::stochastic),
//! `lublin[processors=100,load=0.7]` a trace of the [Lublin-Feitelson model](super::lublin). Either is
//! written as SWF in memory and loaded like a file, so that it has a header, a digest, a policy and a
//! window.

use super::error::LoadError;
use super::lublin::{self, LublinFeitelson};
use super::stochastic::{self, Shapes, StochasticStream, write_shapes};
use super::{Policy, Window, Workload};
use crate::naming::{Description, NameError, Parameter, StrategyName};
use crate::swf::ReadOptions;

const KIND: &str = "generator";

/// A trace as text, with the shapes of its jobs if it has any.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The canonical name.
    pub name: StrategyName,
    /// The trace.
    pub swf: Vec<u8>,
    /// Side file with the shapes.
    pub shapes: Option<Vec<u8>>,
}

/// Whether a name is that of a generator, whatever its parameters.
pub fn is_generator(name: &str) -> bool {
    let name = name.split('[').next().unwrap_or(name).trim();
    GENERATORS.iter().any(|generator| generator.name == name)
}

/// Makes the trace that a name describes.
///
/// # Errors
/// [`NameError`] if it is no generator or describes nothing possible.
pub fn generate(name: &StrategyName) -> Result<Generated, NameError> {
    let unknown = || name.error(KIND, "known are stream and lublin");
    let generator = GENERATORS.iter().find(|generator| generator.name == name.name);
    let generator = generator.ok_or_else(unknown)?;
    let parameters = (generator.parameters)();
    let keys: Vec<&str> = parameters.iter().map(|parameter| parameter.key).collect();
    name.expect_keys(KIND, &keys)?;
    let mut canonical = StrategyName::plain(&name.name);
    for key in keys {
        if let Some(value) = name.get(key) {
            canonical.set(key, value);
        }
    }
    (generator.make)(&canonical)
}

impl Generated {
    /// Loads the trace as if it were a file.
    ///
    /// # Errors
    /// As [`Workload::load`].
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
            let shapes = Shapes::read(shapes.as_slice(), &file)?;
            workload.shapes = shapes.of(&workload.jobs)?;
        }
        Ok(workload)
    }
}

struct Generator {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    parameters: fn() -> Vec<Parameter>,
    make: fn(&StrategyName) -> Result<Generated, NameError>,
}

static GENERATORS: [Generator; 2] = [
    Generator {
        name: "stream",
        about: "One replication of a stochastic stream of jobs with shapes, a million ticks (seconds of \
                the trace) to a time unit.",
        source: "Lo et al. 1997; Bani-Mohammad 2008",
        parameters: || {
            vec![
                parameter(
                    "machine",
                    "WxL|WxDxH",
                    "16x16",
                    "mesh whose sides bound those of the jobs",
                ),
                parameter("load", "NUMBER", "1", "arrivals per time unit"),
                parameter("sides", "NAME", "uniform", "side lengths (replay list sides)"),
                parameter("service", "NAME", "exponential", "service times (replay list services)"),
                parameter("jobs", "N", "1000", "number of jobs"),
                parameter("seed", "N", "1", "seed"),
                parameter("replication", "N", "0", "which replication of the seed"),
            ]
        },
        make: stream,
    },
    Generator {
        name: "lublin",
        about: "A trace of the model of Lublin and Feitelson, batch and interactive jobs.",
        source: "Lublin, Feitelson 2003",
        parameters: || {
            vec![
                parameter("processors", "N", "100", "processors of the machine"),
                parameter(
                    "load",
                    "FRACTION",
                    "the model's",
                    "processor-seconds asked for over those there are",
                ),
                parameter("jobs", "N", "5000", "number of jobs"),
                parameter("seed", "N", "1", "seed"),
            ]
        },
        make: lublin,
    },
];

fn parameter(
    key: &'static str,
    values: &str,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    Parameter { key, values: values.to_string(), default, about }
}

/// Every generator's entry in a listing.
pub fn descriptions() -> Vec<Description> {
    let describe = |generator: &Generator| Description {
        name: generator.name.to_string(),
        aliases: Vec::new(),
        about: generator.about.to_string(),
        source: generator.source,
        parameters: (generator.parameters)(),
    };
    GENERATORS.iter().map(describe).collect()
}

fn stream(name: &StrategyName) -> Result<Generated, NameError> {
    let machine = name.get("machine").unwrap_or("16x16");
    let extents = extents(machine)
        .ok_or_else(|| name.error(KIND, "machine is written WIDTHxLENGTH or WIDTHxDEPTHxHEIGHT"))?;
    let load: f64 = name.value(KIND, "load", 1.0)?;
    let mut model = StochasticStream::new(extents);
    model.arrivals = stochastic::Arrivals::Exponential { mean: 1.0 / load };
    model.sides = name.value(KIND, "sides", model.sides)?;
    model.service = name.value(KIND, "service", model.service)?;
    model.jobs = name.value(KIND, "jobs", model.jobs)?;
    if model.jobs == 0 {
        return Err(name.error(KIND, "jobs must be at least 1"));
    }
    let impossible = |e: &dyn std::fmt::Display| name.error(KIND, e.to_string());
    let seed = name.value(KIND, "seed", 1)?;
    let replication = name.value(KIND, "replication", 0)?;
    let stream = model.generate(seed, replication).map_err(|e| impossible(&e))?;
    let note = format!("Synthetic: {name}");
    let mut swf = Vec::new();
    let processors = model.processors().map_err(|e| impossible(&e))?;
    stochastic::write_swf(&stream, processors, &[("Note", &note)], &mut swf)
        .map_err(|e| impossible(&e))?;
    let mut shapes = Vec::new();
    write_shapes(&stream.jobs, &stream.shapes, &mut shapes).map_err(|e| impossible(&e))?;
    Ok(Generated { name: name.clone(), swf, shapes: Some(shapes) })
}

/// Two or three sides, the third 1 if there are two.
fn extents(machine: &str) -> Option<[u16; 3]> {
    let sides: Vec<u16> =
        machine.split('x').map(|side| side.trim().parse().ok()).collect::<Option<_>>()?;
    match sides[..] {
        [w, l] => Some([w, l, 1]),
        [w, d, h] => Some([w, d, h]),
        _ => None,
    }
}

fn lublin(name: &StrategyName) -> Result<Generated, NameError> {
    let processors = name.value(KIND, "processors", 100)?;
    let mut model = LublinFeitelson::batch_and_interactive(processors);
    if name.get("load").is_some() {
        model = model.with_load(name.value(KIND, "load", 0.0)?);
    }
    let (jobs, seed) = (name.value(KIND, "jobs", 5000)?, name.value(KIND, "seed", 1)?);
    if jobs == 0 {
        return Err(name.error(KIND, "jobs must be at least 1"));
    }
    let jobs = model.generate(jobs, seed).map_err(|e| name.error(KIND, e.to_string()))?;
    let note = format!("Synthetic: {name}");
    let mut swf = Vec::new();
    lublin::write_swf(&jobs, processors, &[("Note", &note)], &mut swf)
        .map_err(|e| name.error(KIND, e.to_string()))?;
    Ok(Generated { name: name.clone(), swf, shapes: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str) -> Workload {
        let generated = generate(&name.parse().expect("a name")).expect("possible");
        generated
            .load(&Policy::STRICT, &Window::ALL, Default::default())
            .expect("a trace without flaws")
    }

    #[test]
    fn a_stream_is_a_trace_with_shapes() {
        let workload = load("stream[machine=8x4x4,load=3,sides=uniform[high=4],jobs=50]");
        assert_eq!((workload.jobs.len(), workload.shapes.len()), (50, 50));
        let [w, d, h] = workload.shapes[7].map(u32::from);
        assert_eq!(w * d * h, workload.jobs[7].size);
        assert!(workload.shapes.iter().flatten().all(|&side| side <= 4));
        assert_eq!(workload.header.max_procs(), Some(128));
    }

    #[test]
    fn a_window_keeps_the_shapes_of_its_jobs() {
        let generated = generate(&"stream[jobs=40]".parse().expect("a name")).expect("possible");
        let window = Window::parse(None, Some(10), None).expect("a window");
        let workload =
            generated.load(&Policy::JOHNSON, &window, Default::default()).expect("a trace");
        assert_eq!((workload.jobs.len(), workload.shapes.len()), (10, 10));
    }

    #[test]
    fn what_is_impossible_is_refused() {
        for name in [
            "stream[load=0]",
            "stream[machine=hypercube:4]",
            "stream[sides=uniform[low=20]]",
            "stream[jobs=0]",
            "stream[lod=1]",
            "lublin[processors=0]",
            "lublin[jobs=0]",
            "other",
        ] {
            assert!(generate(&name.parse().expect("a name")).is_err(), "{name}");
        }
        assert!(is_generator("stream[load=2]") && !is_generator("streams.swf"));
    }
}
