//! Measures the time per allocation attempt for every strategy. The benchmark also measures the overhead ratios of
//! Bani-Mohammad's thesis, with the published procedures and with the strategies of the project.
//!
//! FCFS schedules a saturated stream of jobs whose sides are at most half the side of the machine. The
//! wall-clock time in the allocator, including refusals and releases, is divided by the number of attempts.
//! Requests have shapes.
//!
//! `cargo bench --bench allocation -- attempts results/benchmarks` writes `allocators.csv` and
//! `overhead.csv` into that folder.

use std::path::Path;

use super::common::{Failure, saturated};
use replay::allocator::registry::AllocatorSpec;
use replay::cancel::CancelToken;
use replay::scheduler::registry::SchedulerSpec;
use replay::simulation::{Overhead, Simulation, Starts};
use replay::topology::Topology;
use replay::workload::stochastic::{Arrivals, StochasticStream};

const MACHINES: [(&str, [u16; 3]); 5] = [
    ("16x16", [16, 16, 1]),
    ("32x32", [32, 32, 1]),
    ("64x64", [64, 64, 1]),
    ("8x8x8", [8, 8, 8]),
    ("16x16x16", [16, 16, 16]),
];

fn overhead(
    machine: &str,
    stream: &StochasticStream,
    scheduler: &SchedulerSpec,
    allocator: &AllocatorSpec,
    replication: u64,
) -> Result<Overhead, Failure> {
    let topology: Topology = machine.parse()?;
    let jobs = stream.generate(1, replication)?;
    let mut built = allocator.build(&topology, 1)?;
    let stop = CancelToken::new();
    let mut scheduler = scheduler.build(topology.processors() as u32);
    let simulation = Simulation::new(&jobs.jobs, &topology, &stop).with_every_event().timed();
    Ok(simulation.run(Starts::Scheduler(scheduler.as_mut()), built.as_mut(), &mut ())?)
}

/// Returns the time per attempt in ns: the minimum of three replications with different streams, or the time
/// of one short stream if the strategy is slow.
fn per_attempt(machine: &str, extents: [u16; 3], strategy: &AllocatorSpec) -> Result<f64, Failure> {
    let mut stream = saturated(extents, 250)?;
    let run = |stream: &StochasticStream, replication| {
        let spent = overhead(machine, stream, &SchedulerSpec::fcfs(), strategy, replication)?;
        let nanoseconds = spent.time.as_nanos() as f64 / spent.attempts as f64;
        Ok::<_, Failure>((nanoseconds, spent.time))
    };
    let (first, time) = run(&stream, 0)?;
    if time.as_secs_f64() > 0.05 {
        return Ok(first);
    }
    stream.jobs = 2000;
    let mut least = f64::INFINITY;
    for replication in 0..3 {
        least = least.min(run(&stream, replication)?.0);
    }
    Ok(least)
}

/// Numerator or denominator of a ratio, given by the machine, the distribution of sides, the distribution of service
/// times, the load, the scheduler and the strategy.
type Side = (&'static str, &'static str, &'static str, f64, &'static str, &'static str);

const PARETO: &str = "pareto[k=15,q=4241,alpha=1]";
const TFF: &str = "turning-first-fit";
const TBL: &str = "turning-busy-list";
const BL: &str = "busy-list";

/// Published ratios of overhead (time per job) in percent. Each entry consists of the figure, the ratio, the numerator
/// and the denominator.
const RATIOS: [(&str, f64, Side, Side); 5] = [
    (
        "Fig. 3.16",
        4.0,
        ("8x8x8", "uniform", "exponential", 4.6, "fcfs", TBL),
        ("8x8x8", "uniform", "exponential", 4.6, "fcfs", TFF),
    ),
    (
        "Fig. 3.16; 3.20",
        11.0,
        ("8x8x8", "uniform", "exponential", 5.8, "fcfs", TFF),
        ("12x12x12", "uniform", "exponential", 5.8, "fcfs", TFF),
    ),
    (
        "Fig. 5.11",
        4.0,
        ("8x8x8", "uniform", PARETO, 0.075, "fcfs", TBL),
        ("8x8x8", "uniform", PARETO, 0.075, "fcfs", TFF),
    ),
    (
        "Fig. 5.11; 5.13",
        37.0,
        ("8x8x8", "uniform", PARETO, 0.105, "ssd", BL),
        ("8x8x8", "uniform", PARETO, 0.105, "ssd", TBL),
    ),
    (
        "Fig. 5.12; 5.20",
        11.0,
        ("8x8x8", "exponential", PARETO, 0.205, "ssd", TFF),
        ("12x12x12", "exponential", PARETO, 0.205, "ssd", TFF),
    ),
];

/// Returns the time in the allocator per job in microseconds, averaged over three replications of 1000 jobs.
fn per_job(side: Side, fast: bool) -> Result<f64, Failure> {
    let (machine, sides, service, load, scheduler, strategy) = side;
    let strategy = match fast {
        true => replay::strategies::allocator(strategy)?,
        false => replay::mesh::published::allocator(strategy)?,
    };
    let topology: Topology = machine.parse()?;
    let grid = topology.grid().ok_or("a mesh")?;
    let stream = StochasticStream {
        arrivals: Arrivals::Exponential { mean: 1.0 / load },
        sides: sides.parse()?,
        service: service.parse()?,
        ..StochasticStream::new(grid.axes().map(|axis| axis.extent))
    };
    let mut seconds = 0.0;
    for replication in 0..3 {
        let spent = overhead(
            machine,
            &stream,
            &replay::strategies::scheduler(scheduler)?,
            &strategy,
            replication,
        )?;
        seconds += spent.time.as_secs_f64();
    }
    Ok(1e6 * seconds / 3000.0)
}

/// Measures all strategies and writes the tables into the folder, if one is given.
pub fn run(words: &[String]) -> Result<(), Failure> {
    let mut table = String::from("strategy");
    MACHINES.iter().for_each(|(machine, _)| table += &format!(",{machine}"));
    table += "\n";
    let named = replay::strategies::standard().allocators.names();
    let sized = ["paging[size=1]", "paging[size=2]", "paging[size=3]", "midplane[unit=4x4x4]"];
    let mut strategies = Vec::new();
    for name in named.chain(sized) {
        strategies.push((name.to_string(), replay::strategies::allocator(name)?));
    }
    for name in [TFF, "first-fit", TBL, BL] {
        let spec = replay::mesh::published::allocator(name)?;
        strategies.push((format!("{name} (published)"), spec));
    }
    for (name, spec) in strategies {
        let mut row = format!("\"{name}\"");
        for (machine, extents) in MACHINES {
            // The entry is "-" if the strategy does not support the machine, or if the jobs never fit.
            let cost = per_attempt(machine, extents, &spec);
            row += &cost.map_or(",-".to_string(), |ns| format!(",{ns:.0}"));
        }
        println!("{row}");
        table += &format!("{row}\n");
    }
    let mut ratios =
        String::from("figure,published_percent,literal_percent,fast_percent,literal_us,fast_us\n");
    for (figure, published, own, base) in RATIOS {
        let (literal, fast) = (per_job(own, false)?, per_job(own, true)?);
        let row = format!(
            "{figure},{published},{:.1},{:.1},{literal:.2},{fast:.2}",
            100.0 * literal / per_job(base, false)?,
            100.0 * fast / per_job(base, true)?,
        );
        println!("{row}");
        ratios += &format!("{row}\n");
    }
    if let Some(dir) = words.first() {
        let dir = Path::new(dir);
        std::fs::write(dir.join("allocators.csv"), table)?;
        std::fs::write(dir.join("overhead.csv"), ratios)?;
    }
    Ok(())
}
