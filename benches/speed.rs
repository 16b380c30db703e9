//! Compares the speed of all important parts with a stored baseline, in a run of a few minutes.
//!
//! ```text
//! cargo bench --bench speed -- results/benchmarks/speed.csv            compare, exit code 1 if slower
//! cargo bench --bench speed -- results/benchmarks/speed.csv --write    write a baseline
//! cargo bench --bench speed -- results/benchmarks/speed.csv mm gabl    only items whose names contain these
//! ```
//!
//! A ratio is the CPU time of the thread divided by the CPU time of a calibration loop. The calibration loop runs
//! before and after the measured item, in the same process. A baseline is therefore valid for all machines of one
//! model, even if they are busy, and roughly valid for other models. The result of an item is its minimum ratio over
//! several rounds. An item that seems slower than the baseline by more than [`TOLERANCE`] is measured again, up to
//! [`ROUNDS`] rounds, before it is reported.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

mod common;

use common::{Failure, cpu_seconds, saturated};
use replay::cancel::CancelToken;
use replay::network::packets::{ListedPacket, replay};
use replay::network::{Network, Settings};
use replay::scheduler::registry::SchedulerSpec;
use replay::simulation::{Simulation, Starts, Timeline};
use replay::topology::{NodeId, Topology};
use replay::workload::lublin::{LublinFeitelson, write_swf};
use replay::workload::{Policy, Window, Workload};

/// Relative increase of the ratio above which an item is reported.
const TOLERANCE: f64 = 0.10;
/// Number of rounds of an item that does not seem slower.
const FIRST_ROUNDS: usize = 3;
/// Maximum number of rounds of an item.
const ROUNDS: usize = 12;

/// Streams of decisions that are measured: machine, strategy and number of jobs.
const DECISIONS: [(&str, &str, u32); 22] = [
    ("32x32", "mc1x1", 2000),
    ("32x32", "mc1x1[tie=2,13,20,6]", 1500),
    ("16x16x16", "mc1x1", 600),
    ("32x32", "mm", 250),
    ("32x32", "gen-alg", 400),
    ("16x16x16", "mm", 12),
    ("16x16x16", "gen-alg", 25),
    ("torus:16x16x16", "mm", 8),
    ("32x32", "mm[tie=2,13,20,6]", 150),
    ("16x16x16", "mm[tie=2,13,20,6]", 10),
    ("32x32", "mc", 1000),
    ("32x32", "hilbert-best-fit", 8000),
    ("32x32", "random", 4000),
    ("32x32", "paging", 8000),
    ("32x32", "mbs", 8000),
    ("32x32", "gabl", 800),
    ("16x16x16", "gabl", 100),
    ("32x32", "first-fit", 6000),
    ("32x32", "best-fit", 2000),
    ("32x32", "busy-list", 8000),
    ("32x32", "anca", 3000),
    ("16x16x16", "midplane", 1500),
];

const SCHEDULERS: [(&str, u32); 6] = [
    ("fcfs", 50_000),
    ("priority[order=shortest]", 40_000),
    ("easy", 6000),
    ("easy[order=shortest]", 5000),
    ("out-of-order", 4000),
    ("conservative", 1000),
];

/// Runs a fixed loop and returns its time in seconds. The loop consists of dependent steps through a table of half a
/// megabyte, and of sums along this table.
fn calibration() -> f64 {
    let begin = cpu_seconds();
    let mut table = vec![1u32; 1 << 17];
    let mut state = 1u64;
    for _ in 0..1_000_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 47) as usize;
        table[at] = table[at].wrapping_add(state as u32);
        state ^= u64::from(table[(at * 7) & 0x1_ffff]);
    }
    for _ in 0..40 {
        let sum = table.iter().fold(0u32, |sum, entry| sum.wrapping_add(entry ^ (entry >> 3)));
        table[sum as usize & 0x1_ffff] = sum;
    }
    black_box(&table);
    cpu_seconds() - begin
}

/// An item to measure: its name, and a function that runs the item and returns the measured time in seconds.
struct Item {
    name: String,
    run: Box<dyn FnMut() -> Result<f64, Failure>>,
}

fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<f64, Failure> {
    let begin = cpu_seconds();
    black_box(work()?);
    Ok(cpu_seconds() - begin)
}

/// Returns an item that measures allocation decisions: FCFS with a saturated stream of jobs.
fn decisions(machine: &str, strategy: &str, count: u32) -> Result<Item, Failure> {
    let topology: Topology = machine.parse()?;
    let extents = topology.extents();
    let stream = saturated(extents, count)?;
    let jobs = stream.generate(1, 0)?.jobs;
    let allocator = replay::strategies::allocator(strategy)?;
    let run = move || {
        let stop = &CancelToken::new();
        let mut built = allocator.build(&topology, 1)?;
        let mut scheduler = SchedulerSpec::fcfs().build(topology.processors() as u32);
        let simulation = Simulation::new(&jobs, &topology, stop).with_every_event();
        let starts = Starts::Scheduler(scheduler.as_mut());
        timed(|| Ok(simulation.run(starts, built.as_mut(), &mut ())?.attempts))
    };
    Ok(Item { name: format!("{strategy} on {machine}"), run: Box::new(run) })
}

/// Returns an item that measures a scheduler.
fn queue(scheduler: &str, count: u32) -> Result<Item, Failure> {
    const PROCESSORS: u32 = 1024;
    let jobs = common::queue(PROCESSORS, count);
    let scheduler = replay::strategies::scheduler(scheduler)?;
    let name = format!("queue of {count} under {scheduler}");
    let run = move || {
        let mut built = scheduler.build(PROCESSORS);
        timed(|| Ok(Timeline::compute(&jobs, PROCESSORS, built.as_mut(), &CancelToken::new())?))
    };
    Ok(Item { name, run: Box::new(run) })
}

fn reading() -> Result<Item, Failure> {
    let model = LublinFeitelson::batch_and_interactive(1024).with_load(0.8);
    let mut text = Vec::new();
    write_swf(&model.generate(30_000, 1)?, 1024, &[], &mut text)?;
    let run = move || {
        timed(|| {
            let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
            let read = Workload::from_reader(
                text.as_slice(),
                "t.swf",
                policy,
                window,
                Default::default(),
            )?;
            Ok(read.jobs.len())
        })
    };
    Ok(Item { name: "reading 30000 jobs".to_string(), run: Box::new(run) })
}

/// Returns an item that measures the network: every node of a mesh sends a packet to every other node at cycle 0.
fn network(preset: &'static str, settings: Settings) -> Result<Item, Failure> {
    let topology: Topology = "16x16".parse()?;
    let nodes = topology.processors() as u32;
    let pairs = (0..nodes).flat_map(move |dst| (0..nodes).map(move |src| (src, dst)));
    let packets = pairs.filter(|(src, dst)| src != dst).zip(0..).map(|((src, dst), id)| {
        let flits = Settings::PACKET_FLITS;
        ListedPacket { id, src: NodeId(src), dst: NodeId(dst), flits, inject_cycle: 0 }
    });
    let packets: Vec<ListedPacket> = packets.collect();
    let run = move || {
        let mut network = Network::new(&topology, settings)?;
        timed(|| Ok(replay(&mut network, &packets)?.len()))
    };
    Ok(Item { name: format!("all to all on 16x16, {preset}"), run: Box::new(run) })
}

fn items() -> Result<Vec<Item>, Failure> {
    let mut items = vec![reading()?];
    for (scheduler, count) in SCHEDULERS {
        items.push(queue(scheduler, count)?);
    }
    for (machine, strategy, count) in DECISIONS {
        items.push(decisions(machine, strategy, count)?);
    }
    for (preset, settings) in Settings::PRESETS {
        items.push(network(preset, settings)?);
    }
    Ok(items)
}

/// Measures an item once and returns its time divided by the time of the calibration loop.
fn ratio(item: &mut Item) -> Result<f64, Failure> {
    let before = calibration();
    let seconds = (item.run)()?;
    Ok(seconds / before.min(calibration()))
}

/// Reads the ratios of a baseline, by name of the item.
fn baseline(path: &Path) -> Result<BTreeMap<String, f64>, Failure> {
    let mut ratios = BTreeMap::new();
    for row in csv::Reader::from_path(path)?.records() {
        let row = row?;
        let (Some(name), Some(ratio)) = (row.get(0), row.get(1)) else {
            return Err(format!("{}: a row needs name and ratio", path.display()).into());
        };
        ratios.insert(name.to_string(), ratio.parse()?);
    }
    Ok(ratios)
}

fn main() -> Result<ExitCode, Failure> {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let write = arguments.iter().any(|word| word == "--write");
    let mut arguments = arguments.iter().filter(|word| *word != "--write");
    let path =
        arguments.next().ok_or("name the baseline file, such as results/benchmarks/speed.csv")?;
    let path = Path::new(path);
    let chosen: Vec<&String> = arguments.collect();
    let baseline = if write { BTreeMap::new() } else { baseline(path)? };
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["name", "ratio"])?;
    let mut slower = Vec::new();
    println!("{:<44} {:>10} {:>10} {:>8}", "", "ratio", "baseline", "change");
    for mut item in items()? {
        if !chosen.is_empty() && !chosen.iter().any(|word| item.name.contains(word.as_str())) {
            continue;
        }
        let known = baseline.get(&item.name).copied();
        let is_slower = |least: f64| known.is_some_and(|known| least > known * (1.0 + TOLERANCE));
        let (mut least, mut round) = (f64::INFINITY, 0);
        let rounds = if write { ROUNDS } else { FIRST_ROUNDS };
        while round < rounds || round < ROUNDS && is_slower(least) {
            least = least.min(ratio(&mut item)?);
            round += 1;
        }
        table.write_record([&item.name, &format!("{least:.5}")])?;
        let change = |known: f64| format!("{:+.1} %", 100.0 * (least / known - 1.0));
        let known = known.map_or(["-".to_string(), "new".to_string()], |known| {
            [format!("{known:.5}"), change(known)]
        });
        println!("{:<44} {least:>10.5} {:>10} {:>8}", item.name, known[0], known[1]);
        if is_slower(least) {
            slower.push(format!("{}: {}", item.name, known[1]));
        }
    }
    if write {
        std::fs::write(path, table.into_inner()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if slower.is_empty() {
        println!("nothing is slower by more than {:.0} %", 100.0 * TOLERANCE);
        return Ok(ExitCode::SUCCESS);
    }
    println!("slower by more than {:.0} %:\n{}", 100.0 * TOLERANCE, slower.join("\n"));
    Ok(ExitCode::FAILURE)
}
