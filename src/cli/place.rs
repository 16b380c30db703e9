//! `replay place`: applies the placement rules for 3D tori, trees and blocks to single requests, to compare the rules
//! with other implementations.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::args::{QuietArg, WriteArg};
use super::exit::{Exit, Failure, eprint_line};
use replay_engine::lines::LONGEST_TEXT;
use replay_engine::number::counted;
use replay_slurm::hierarchy::cases as hierarchy_cases;
use replay_slurm::hierarchy::check::description_warnings;
use replay_slurm::placement::cases::{CasesError, MachineError, answer};
use replay_slurm::placement::config::Config;
use replay_slurm::topology_file::TopologyFile;

/// Arguments of `replay place`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay place --machines toruses --cases decisions.csv --write answers.csv
      Each row names a machine toruses/NAME.yaml, the free nodes of the machine and a request.
  replay place --machines trees --cases decisions.csv > answers.csv
      The cases have a column rule; the machines are trees/NAME.conf or trees/NAME.yaml.")]
pub struct PlaceArgs {
    /// Read machines from this folder.
    ///
    /// For each name in the column topology, the folder has the file NAME.yaml, or NAME.conf for a tree or blocks.
    #[arg(long, value_name = "DIR")]
    machines: PathBuf,

    /// Place the requests in this CSV file with the columns topology, free, n; - is standard input.
    ///
    /// The columns weights, required and segment are optional. Nodes are numbered torus by torus; within a torus, x
    /// varies fastest, then y, then z; cells without a node are skipped. The columns free and required contain ranges
    /// such as 0-3,7; the column weights has a number for each node, separated by blanks. The result has the columns of
    /// the input and the columns status, nodes, picks, fragmentation_before, fragmentation_after and rank_order. The
    /// status is ok if the job starts. The status is no_fit, segment_no_fit, req_not_avail, req_no_match or
    /// req_too_many if the job waits, and bad_config if the job can never start. The reasons of bad_config are printed
    /// to standard error.
    ///
    /// If the file has a column named rule, the requests are for trees and blocks. The columns are then topology, rule
    /// (slurm-tree, tree-fit, slurm-block, kueue or fragmentation), options (key=value, separated by blanks;
    /// waited=SECONDS is the time since the submission), free, n. Nodes are numbered in natural order of their names.
    /// The result adds the columns status (ok, wait, wait_switches, never, bad_config, or the fragmentation) and nodes.
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,

    /// Read the topology of this name from each file [default: the first, or the cluster default].
    ///
    /// The default is the topology with cluster_default: true, or else the first topology.
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,

    /// Read the names of existing hosts from this file, one per line [default: all hosts exist].
    ///
    /// Cells whose hosts are not in this file have no node.
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,

    #[command(flatten)]
    write: WriteArg,

    #[command(flatten)]
    quiet: QuietArg,
}

/// Places the requests and writes the results as CSV.
pub fn run(args: &PlaceArgs) -> Result<Exit, Failure> {
    let known = args.hosts.as_deref().map(|path| {
        let text = text_of(path).map_err(Failure::usage_message)?;
        let hosts = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok::<_, Failure>(hosts.map(str::to_string).collect::<HashSet<_>>())
    });
    let known = known.transpose()?;
    if !args.machines.is_dir() {
        let problem = format!("--machines {}: is not a folder", args.machines.display());
        return Err(Failure::usage_message(problem));
    }
    let machine = |name: &str| {
        let path = file_of(&args.machines, name, &["yaml"])?;
        let text = text_of(&path).map_err(MachineError::Unreadable)?;
        let file = path.display().to_string();
        let config = Config::read(&text, &file, args.topology.as_deref(), known.as_ref())?;
        if !args.quiet.quiet {
            config
                .warnings
                .iter()
                .for_each(|warning| eprint_line(format_args!("{file}: {warning}")));
        }
        Ok(config)
    };
    let tree = |name: &str| {
        let path = file_of(&args.machines, name, &["conf", "yaml"])?.display().to_string();
        let file = TopologyFile::open(&path, args.topology.as_deref());
        let file = file.map_err(MachineError::Unreadable)?;
        if !args.quiet.quiet {
            description_warnings(&file.machine).iter().for_each(eprint_line);
        }
        Ok(file.machine)
    };
    let name = args.cases.display().to_string();
    let mut inputs = vec![args.cases.clone()];
    inputs.extend(args.hosts.clone());
    // The cases name the files of machines that are read.
    let machines = fs::read_dir(&args.machines).map_err(|e| {
        let folder = args.machines.display();
        Failure::usage(anyhow::Error::new(e).context(format!("cannot read --machines {folder}")))
    })?;
    inputs.extend(machines.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| {
        path.extension().is_some_and(|ending| ending == "conf" || ending == "yaml")
    }));
    let mut out = args.write.begin(inputs)?;
    let answered = if name == "-" {
        let mut input = io::stdin().lock();
        match has_rules(&mut input) {
            true => hierarchy_cases::answer(input, "standard input", tree, out.stream()),
            false => answer(input, "standard input", machine, out.stream()),
        }
    } else {
        let file = File::open(&args.cases).map_err(|e| {
            Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}")))
        })?;
        let mut input = BufReader::new(file);
        match has_rules(&mut input) {
            true => hierarchy_cases::answer(input, &name, tree, out.stream()),
            false => answer(input, &name, machine, out.stream()),
        }
    };
    let answered = answered.map_err(|error| match error {
        CasesError::Write(error) => out.failed(error),
        error => Failure::data(error),
    })?;
    out.finish()?;
    if !args.quiet.quiet {
        let file = if name == "-" { "standard input" } else { &name };
        for (reason, line, rows) in &answered.bad {
            let more = match rows - 1 {
                0 => String::new(),
                more => format!(" (and {})", counted(more, "further row")),
            };
            eprint_line(format_args!("{file}:{line}: bad_config: {reason}{more}"));
        }
        eprint_line(format_args!("{} decisions", answered.count));
    }
    Ok(Exit::Done)
}

/// Returns whether the header of a file with requests has the column `rule`. The input is only peeked at, not consumed.
fn has_rules(input: &mut impl BufRead) -> bool {
    let begin = input.fill_buf().map(String::from_utf8_lossy).unwrap_or_default();
    let header = begin.lines().find(|line| !line.trim().is_empty());
    header.is_some_and(hierarchy_cases::is_header)
}

/// Returns the path of the file that defines the machine `name`; the extension of the file is one of `endings`.
fn file_of(folder: &Path, name: &str, endings: &[&str]) -> Result<PathBuf, MachineError> {
    let plain = !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
    let mut paths = endings.iter().map(|ending| folder.join(format!("{name}.{ending}")));
    paths.find(|path| plain && path.is_file()).ok_or_else(|| {
        let names = endings
            .iter()
            .map(|ending| replay_engine::sanitize::excerpt(&format!("{name}.{ending}")));
        MachineError::Unreadable(format!(
            "topology: no file {} in {}",
            names.collect::<Vec<_>>().join(" or "),
            folder.display()
        ))
    })
}

/// Reads a text file; a file that is longer than `LONGEST_TEXT` bytes is an error.
fn text_of(path: &Path) -> Result<String, String> {
    let failed = |e: io::Error| format!("cannot read {}: {e}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LONGEST_TEXT + 1).read_to_string(&mut text).map_err(failed)?;
    match text.len() as u64 > LONGEST_TEXT {
        true => Err(format!("{}: is longer than {LONGEST_TEXT} bytes", path.display())),
        false => Ok(text),
    }
}
