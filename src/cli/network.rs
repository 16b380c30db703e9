//! `replay network`: a list of packets through the network, for checking the model against
//! other simulators.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure, tell};
use replay_core::table::{Table, write_csv};
use replay_core::topology::Topology;
use replay_experiment::compatibility::require_one_processor_per_point;
use replay_experiment::files::{self, AtomicFile};
use replay_network::packets::{self, PacketResult};
use replay_network::{Network, Settings, Usage};
use std::io::stdout;

/// Arguments of `replay network`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay network --mesh 16x16 --packets packets.csv
  replay network --mesh torus:8x8 --packets packets.csv --channels out/channels.csv
  replay network --network bani-mohammad --packets - < packets.csv")]
pub struct NetworkArgs {
    /// CSV with the columns id,src,dst,flits,inject_cycle; - is standard input.
    ///
    /// A packet has 1 to 65,536 flits; inject_cycle is at most 2^53 (9,007,199,254,740,992); a line
    /// has at most 16 MiB. Nodes are numbered x fastest: id = x + W*y (+ W*D*z). In the answer inject repeats
    /// inject_cycle, head_at_destination and delivered are when the first and the last flit
    /// arrive, and latency counts from when the packet is first in its sender's queue: time
    /// behind other packets there is delivered - latency - inject. blocked is the sum of the
    /// header's waits on its way.
    #[arg(long, value_name = "FILE")]
    packets: PathBuf,

    /// Mesh, torus or hypercube.
    #[arg(long, alias = "machine", value_name = "MACHINE", default_value = "16x16")]
    mesh: Topology,

    /// Timing, buffers and switching: lo, bani-mohammad, with parameters (replay list networks).
    #[arg(long, value_name = "NAME[KEY=VALUE,..]", default_value = "lo")]
    network: Settings,

    /// Write cycles and flits of every channel into this CSV.
    #[arg(long, value_name = "FILE")]
    channels: Option<PathBuf>,

    /// Nothing on standard error but errors.
    #[arg(long, short)]
    quiet: bool,
}

/// In which units the columns of the answer are, as they are declared: a header of CSV has names only.
fn units() -> String {
    let columns = PacketResult::columns();
    let mut units: Vec<&str> = columns.iter().map(|column| column.unit).collect();
    units.retain(|unit| !unit.is_empty());
    units.sort_unstable();
    units.dedup();
    let of = |unit: &&str| {
        let names =
            columns.iter().filter(|column| column.unit == *unit).map(|column| column.name.text());
        format!("{} in {unit}", names.collect::<Vec<_>>().join(", "))
    };
    units.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// Replays the packets and writes what became of each as CSV on standard output.
pub fn run(args: &NetworkArgs) -> Result<Exit, Failure> {
    require_one_processor_per_point([&args.mesh])?;
    let mut network = Network::new(&args.mesh, args.network).map_err(Failure::usage)?;
    let name = args.packets.display().to_string();
    let read = if name == "-" { Path::new("/dev/stdin") } else { &args.packets };
    // A path that cannot be written is found before any work.
    let channels = args.channels.as_ref().map(|path| {
        if files::same_file(path, read) {
            return Err(Failure::usage_message(format!(
                "--channels {}: that is the list of packets",
                path.display()
            )));
        }
        let file = AtomicFile::create(path).map_err(|e| Failure::output(path.display(), e));
        file.map(|file| (path, file))
    });
    let channels = channels.transpose()?;
    let list = if name == "-" {
        packets::read(io::stdin().lock(), "standard input", &args.mesh)
    } else {
        let file = File::open(&args.packets).map_err(|e| {
            Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}")))
        })?;
        packets::read(BufReader::new(file), &name, &args.mesh)
    };
    // Of the same kind as a file that is not there.
    let list = list.map_err(|e| match e.is_unreadable() {
        true => Failure::usage(e),
        false => Failure::data(e),
    })?;
    let results = packets::replay(&mut network, &list).map_err(Failure::data)?;
    packets::write(&results, BufWriter::new(stdout()))
        .map_err(|e| Failure::output("standard output", e))?;
    if let Some((path, mut file)) = channels {
        let usage: Vec<Usage> = network.usage().collect();
        write_csv(&Usage::columns(), &usage, true, &mut file)
            .and_then(|()| file.finish())
            .map_err(|e| Failure::output(path.display(), e))?;
    }
    if !args.quiet {
        tell(format_args!("{} packets, {} cycles; {}", results.len(), network.now(), units()));
    }
    Ok(Exit::Done)
}
