//! `replay network`: a list of packets through the network, for checking the model against
//! other simulators.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure, tell};
use crate::network::{Network, Settings, packets};
use crate::topology::Topology;

/// Arguments of `replay network`.
#[derive(Clone, Debug, Args)]
pub struct NetworkArgs {
    /// CSV with the columns id,src,dst,flits,inject_cycle; - is standard input. Nodes are
    /// numbered x fastest: id = x + W*y (+ W*D*z).
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

/// Replays the packets and writes what became of each as CSV on standard output.
pub fn run(args: &NetworkArgs) -> Result<Exit, Failure> {
    let mut network = Network::new(&args.mesh, args.network).map_err(Failure::usage)?;
    let name = args.packets.display().to_string();
    let list = if name == "-" {
        packets::read(io::stdin().lock(), "standard input", &args.mesh)
    } else {
        let file = File::open(&args.packets).map_err(|e| {
            Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}")))
        })?;
        packets::read(BufReader::new(file), &name, &args.mesh)
    };
    let list = list.map_err(Failure::data)?;
    let results = packets::replay(&mut network, &list).map_err(Failure::data)?;
    packets::write(&results, BufWriter::new(io::stdout().lock()))
        .map_err(|e| Failure::output("standard output", e))?;
    if let Some(path) = &args.channels {
        write_channels(&network, path).map_err(|e| Failure::output(path.display(), e))?;
    }
    if !args.quiet {
        tell(format_args!("{} packets, {} cycles", results.len(), network.now()));
    }
    Ok(Exit::Done)
}

fn write_channels(network: &Network, path: &PathBuf) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "channel,busy_cycles,flits")?;
    for usage in network.usage() {
        writeln!(out, "\"{}\",{},{}", usage.channel, usage.busy, usage.flits)?;
    }
    out.flush()
}
