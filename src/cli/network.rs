//! `replay network`: sends a list of packets through the network, to compare the model with other simulators.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Args;

use super::args::{QuietArg, WriteArg};
use super::exit::{Exit, Failure, eprint_line};
use super::write::{NamedOutput, OutputFile, check_apart};
use replay_engine::table::{Table, write_csv};
use replay_engine::topology::Topology;
use replay_experiment::compatibility::require_one_processor_per_point;
use replay_network::packets::{self, PacketResult};
use replay_network::{Network, Settings, Usage};

/// Arguments of `replay network`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay network --machine 16x16 --packets packets.csv
  replay network --machine torus:8x8 --packets packets.csv --channels out/channels.csv
  replay network --network bani-mohammad --packets - < packets.csv")]
pub struct NetworkArgs {
    /// Send the packets of this CSV file with the columns id,src,dst,flits,inject_cycle; - is standard input.
    ///
    /// A packet has 1 to 65,536 flits; inject_cycle is at most 2^53 (9,007,199,254,740,992); a line has at most 16 MiB.
    /// Nodes are numbered with x varying fastest: id = x + W*y (+ W*D*z), where W and D are the side lengths of the
    /// machine along x and y. In the result, the column inject repeats inject_cycle. The columns head_at_destination
    /// and delivered are the arrival times of the first and the last flit. The column latency is counted from the cycle
    /// in which the packet becomes the first in its sender's queue. Therefore, delivered - latency - inject is the time
    /// for which the packet waits behind other packets in its sender's queue. The column blocked is the total time for
    /// which the header waits on its path.
    #[arg(long, value_name = "FILE")]
    packets: PathBuf,

    /// Set the machine: 10x10, torus:8x8, ...
    #[arg(long, value_name = "MACHINE", default_value = "16x16")]
    machine: Topology,

    /// Set timing, buffers and switching of the network: lo, bani-mohammad, ... (replay list networks).
    #[arg(long, value_name = "NAME[..]", default_value = "lo")]
    network: Settings,

    /// Write cycles and flits of every channel to this CSV file.
    #[arg(long, value_name = "FILE")]
    channels: Option<PathBuf>,

    #[command(flatten)]
    write: WriteArg,

    #[command(flatten)]
    quiet: QuietArg,
}

/// Returns a line with the units of the columns, because the header of a CSV file contains only names.
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

/// Sends the packets and writes a CSV row with the result of each packet.
pub fn run(args: &NetworkArgs) -> Result<Exit, Failure> {
    require_one_processor_per_point([&args.machine])?;
    let mut network = Network::new(&args.machine, args.network).map_err(Failure::usage)?;
    let name = args.packets.display().to_string();
    // Outputs are checked before any work.
    let channels = args.channels.iter().map(|path| NamedOutput::of("--channels", path));
    let outputs: Vec<_> = args.write.outputs().into_iter().chain(channels).collect();
    check_apart([&args.packets], &outputs)?;
    let channels = args.channels.as_deref().map(OutputFile::create).transpose()?;
    let mut out = args.write.create()?;
    let list = if name == "-" {
        packets::read(io::stdin().lock(), "standard input", &args.machine)
    } else {
        let file = File::open(&args.packets).map_err(|e| {
            Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}")))
        })?;
        packets::read(BufReader::new(file), &name, &args.machine)
    };
    // A file that cannot be read is a usage error, as is an absent file.
    let list = list.map_err(|e| match e.is_unreadable() {
        true => Failure::usage(e),
        false => Failure::data(e),
    })?;
    let results = packets::replay(&mut network, &list).map_err(Failure::data)?;
    let written = packets::write(&results, out.stream());
    written.map_err(|e| out.failed(e))?;
    let channels = channels.map(|mut file| {
        let usage: Vec<Usage> = network.usage().collect();
        let written = write_csv(&Usage::columns(), &usage, true, &mut file);
        written.map_err(|e| file.failed(e)).map(|()| file)
    });
    out.finish_with(channels.transpose()?)?;
    if !args.quiet.quiet {
        eprint_line(format_args!(
            "{} packets, {} cycles; {}",
            results.len(),
            network.now(),
            units()
        ));
    }
    Ok(Exit::Done)
}
