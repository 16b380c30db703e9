//! `replay priority`: multifactor priorities of jobs of a site, and the arguments that name a site.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::args::{QuietArg, WriteArg};
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use replay_engine::number::counted;
use replay_engine::sanitize::excerpt;
use replay_site::cases::{CasesError, answer_priorities};
use replay_site::error::SiteError;
use replay_site::site::{Site, SiteOptions};

/// The files of a site, as typed.
#[derive(Clone, Debug, Args)]
pub struct SiteArgs {
    /// Read the site from this folder, or from this slurm.conf and the files beside it.
    ///
    /// The folder has the file slurm.conf and, if they exist, qos.txt (the output of sacctmgr -P show qos), assoc.txt
    /// (the output of sacctmgr -P show assoc with the columns ID, Account, User, Share, ParentName and those of limits),
    /// and topology.conf or topology.yaml.
    #[arg(long, value_name = "DIR|FILE")]
    pub site: PathBuf,

    /// Select the cluster of assoc.txt, if the file has several.
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,

    /// Treat keys and options without effect as errors.
    #[arg(long)]
    pub strict: bool,
}

impl SiteArgs {
    /// Reads a site; the warnings are written to standard error unless `quiet`.
    ///
    /// # Errors
    /// [`SiteError`] with file and line.
    pub fn read(&self, path: &Path, quiet: bool) -> Result<Site, SiteError> {
        let options = SiteOptions { strict: self.strict, cluster: self.cluster.as_deref() };
        let (site, warnings) = Site::read(path, options)?;
        if !quiet {
            warnings.iter().for_each(eprint_warning);
        }
        Ok(site)
    }

    /// Returns the paths of the files that are read.
    pub fn inputs(&self) -> Vec<PathBuf> {
        site_files(&self.site)
    }
}

/// Returns the paths of the files of a site that exist.
pub fn site_files(site: &Path) -> Vec<PathBuf> {
    let folder = if site.is_dir() { Some(site) } else { site.parent() };
    let names = ["slurm.conf", "qos.txt", "assoc.txt", "topology.conf", "topology.yaml"];
    let files = names.iter().filter_map(|name| Some(folder?.join(name)));
    files.chain([site.to_path_buf()]).filter(|path| path.is_file()).collect()
}

/// Converts an error about a site. A missing folder is a usage error.
pub fn failure(args: &SiteArgs, error: SiteError) -> Failure {
    match args.site.exists() {
        true => Failure::data(error),
        false => Failure::usage_message(format!("--site {}: does not exist", args.site.display())),
    }
}

/// Arguments of `replay priority`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay priority --site /etc/slurm --cases jobs.csv
      Add the column priority to the rows of jobs.csv.
  replay priority --site sites --cases jobs.csv --write priorities.csv
      The rows have a column site; the sites are sites/NAME/slurm.conf.")]
pub struct PriorityArgs {
    #[command(flatten)]
    site: SiteArgs,

    /// Compute the priorities of the jobs in this CSV file; - is standard input.
    ///
    /// The columns are partition, qos, nodes, cpus (empty: all CPUs of the nodes), limit (seconds), nice, assoc_priority
    /// and assoc_max (the priority of the job's association, and the largest of all), fairshare (0 to 1) and waited
    /// (seconds since the job became eligible; empty for none). The columns cpus, assoc_priority, assoc_max and waited
    /// may be missing. With a column site, each row names a folder NAME or site-NAME below
    /// --site. The result has the rows with the column
    /// priority; an existing column priority is replaced.
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,

    #[command(flatten)]
    write: WriteArg,

    #[command(flatten)]
    quiet: QuietArg,
}

/// Computes the priorities and writes the rows as CSV.
pub fn run(args: &PriorityArgs) -> Result<Exit, Failure> {
    let name = args.cases.display().to_string();
    let is_standard = name == "-";
    let input: Box<dyn Read> = match is_standard {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(&args.cases).map_err(|e| {
            Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}")))
        })?),
    };
    let mut inputs = args.site.inputs();
    inputs.push(args.cases.clone());
    let mut out = args.write.begin(inputs)?;
    let file = if is_standard { "standard input" } else { &name };
    let site = |name: &str| match name {
        "" => args.site.read(&args.site.site, args.quiet.quiet),
        _ if name.contains(['/', '\\', '\0']) || name.starts_with('.') => {
            let problem =
                format!("site: \"{}\" is not the name of a folder below --site", excerpt(name));
            Err(SiteError::new(file, 0, problem))
        }
        _ => {
            let folders = [name.to_string(), format!("site-{name}")];
            let mut folders = folders.map(|name| args.site.site.join(name)).into_iter();
            let folder = folders.find(|folder| folder.exists());
            let folder = folder.unwrap_or_else(|| args.site.site.join(name));
            args.site.read(&folder, args.quiet.quiet)
        }
    };
    let answered = answer_priorities(input, file, site, out.stream());
    let count = answered.map_err(|error| match error {
        CasesError::Write(error) => out.failed(error),
        CasesError::Site(error) => failure(&args.site, error),
    })?;
    out.finish()?;
    if !args.quiet.quiet {
        eprint_line(counted(count, "job"));
    }
    Ok(Exit::Done)
}
