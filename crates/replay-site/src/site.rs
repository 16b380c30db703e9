//! A site: machine, partitions, QOS, associations and settings.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use replay_engine::lines::LONGEST_TEXT;
use replay_engine::sanitize::excerpt;
use replay_engine::topology::{Hierarchy, NodeId};
use replay_slurm::topology_file::TopologyFile;

use crate::assoc::Associations;
use crate::conf::{
    EnforcePartLimits, PrioritySettings, SchedulerSettings, SlurmConf, TopologyPlugin,
};
use crate::error::{SiteError, Warning, unreadable};
use crate::node_set::NodeSet;
use crate::placement::{ByTopology, Flat, NodeChoice};
use crate::priority::Resources;
use crate::qos::{self, Qos};

/// A partition of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Name of the partition.
    pub name: String,
    /// Nodes of the partition.
    pub nodes: NodeSet,
    /// Numbers of nodes and CPUs of the partition.
    pub size: Resources,
    /// `PriorityTier`.
    pub tier: u32,
    /// `PriorityJobFactor`.
    pub factor: u32,
    /// Whether jobs of the partition may start.
    pub is_up: bool,
    /// `MaxTime` in minutes; `None` for no limit.
    pub max_time: Option<u32>,
    /// Time limit in minutes of jobs without one; `None` for `max_time`.
    pub default_time: Option<u32>,
    /// `MaxNodes`; `None` for no limit.
    pub max_nodes: Option<u32>,
    /// `MinNodes`.
    pub min_nodes: u32,
    /// Index of the QOS of the partition.
    pub qos: Option<usize>,
    /// Whether jobs share nodes in reality, although each job takes whole nodes here.
    pub shares_nodes: bool,
}

impl Partition {
    /// Creates a partition of a machine with `cpus` CPUs of each node, without limits and with the values that Slurm has
    /// by default.
    pub fn new(name: &str, nodes: NodeSet, cpus: &[u32]) -> Self {
        let total = nodes.iter().map(|node| u64::from(cpus[node.index()])).sum();
        let size = Resources { nodes: nodes.count().into(), cpus: total };
        Self {
            name: name.to_string(),
            nodes,
            size,
            tier: 1,
            factor: 1,
            is_up: true,
            max_time: None,
            default_time: None,
            max_nodes: None,
            min_nodes: 0,
            qos: None,
            shares_nodes: false,
        }
    }

    /// Returns the CPUs of `nodes` whole nodes; if the nodes of the partition differ, by their mean, rounded up.
    pub fn cpus_of(&self, nodes: u32) -> u64 {
        (u64::from(nodes) * self.size.cpus).div_ceil(self.size.nodes.max(1))
    }
}

/// A site. The nodes of the machine are numbered in the natural order of their names.
#[derive(Clone, Debug)]
pub struct Site {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// CPUs of each node.
    pub cpus: Vec<u32>,
    /// The tree or the blocks of the machine; `None` if the machine has no topology.
    pub topology: Option<Hierarchy>,
    /// Partitions, of which there is at least one.
    pub partitions: Vec<Partition>,
    /// Index of the partition of jobs that name none.
    pub default_partition: usize,
    /// Qualities of service.
    pub qos: Vec<Qos>,
    /// Associations.
    pub associations: Associations,
    /// Whether fair share is computed: whether the site has associations.
    pub has_fair_share: bool,
    /// Settings of the priority.
    pub priority: PrioritySettings,
    /// Settings of the scheduler.
    pub scheduler: SchedulerSettings,
    /// Whether limits of QOS and associations are enforced.
    pub enforces_limits: bool,
    /// When jobs that violate limits of partitions are rejected.
    pub enforce_part_limits: EnforcePartLimits,
    /// Minutes by which a job may exceed its limit; `None` for no end.
    pub over_time_limit: Option<u32>,
}

/// How the files of a site are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteOptions<'a> {
    /// Whether parts of the files without effect are errors.
    pub strict: bool,
    /// The cluster of `assoc.txt`, if the file has several.
    pub cluster: Option<&'a str>,
}

/// The text of a file of a site.
pub(crate) struct TextFile {
    pub path: String,
    pub text: String,
}

/// Reads a text file; `None` if the file does not exist.
pub(crate) fn text_of(path: &Path) -> Result<Option<TextFile>, SiteError> {
    let name = path.display().to_string();
    if let Err(error) = fs::metadata(path)
        && error.kind() == std::io::ErrorKind::NotFound
    {
        return Ok(None);
    }
    let failed = |error: std::io::Error| unreadable(&name, &error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LONGEST_TEXT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(SiteError::new(&name, 0, format!("more than {LONGEST_TEXT} bytes")));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| SiteError::new(&name, 0, "the text is not UTF-8"))?;
    Ok(Some(TextFile { path: name, text }))
}

impl Site {
    /// Creates a site without files: a machine with one partition `all` and Slurm's defaults.
    pub fn of_machine(nodes: usize, topology: Option<Hierarchy>) -> Self {
        let cpus = vec![1; nodes];
        Self {
            nodes: (0..nodes).map(|node| format!("n{node}")).collect(),
            topology,
            partitions: vec![Partition::new("all", NodeSet::all(nodes), &cpus)],
            cpus,
            default_partition: 0,
            qos: vec![Qos::named("normal")],
            associations: Associations::default(),
            has_fair_share: true,
            priority: PrioritySettings::default(),
            scheduler: SchedulerSettings::default(),
            enforces_limits: false,
            enforce_part_limits: EnforcePartLimits::No,
            over_time_limit: Some(0),
        }
    }

    /// Reads the files of a site: the folder `path`, or the folder of the file `path`, which is then the `slurm.conf`.
    ///
    /// # Errors
    /// [`SiteError`] with file and line.
    pub fn read(path: &Path, options: SiteOptions<'_>) -> Result<(Self, Vec<Warning>), SiteError> {
        let is_folder = path.is_dir();
        let conf_path = if is_folder { path.join("slurm.conf") } else { path.to_path_buf() };
        let folder: PathBuf = match is_folder {
            true => path.to_path_buf(),
            false => path.parent().map(Path::to_path_buf).unwrap_or_default(),
        };
        let missing =
            |path: &Path| SiteError::new(&path.display().to_string(), 0, "there is no such file");
        let file = text_of(&conf_path)?.ok_or_else(|| missing(&conf_path))?;
        let conf = SlurmConf::read(&file.text, &file.path, options.strict)?;
        let mut warnings = conf.warnings.clone();
        let (qos, qos_file) = match text_of(&folder.join("qos.txt"))? {
            Some(file) => {
                let (qos, more) = qos::read(&file.text, &file.path)?;
                warnings.extend(more);
                (qos, Some(file.path))
            }
            None => (vec![Qos::named("normal")], None),
        };
        let (associations, assoc_file) = match text_of(&folder.join("assoc.txt"))? {
            Some(file) => {
                let (all, more) = Associations::read(&file.text, &file.path, options.cluster)?;
                warnings.extend(more);
                (all, Some(file.path))
            }
            None => (Associations::default(), None),
        };
        if !conf.enforces_limits {
            let of_qos = qos_file.filter(|_| qos.iter().any(Qos::has_limits));
            let has_limits = associations.all().iter().any(|one| one.has_limits());
            let of_assoc = assoc_file.clone().filter(|_| has_limits);
            for file in of_qos.into_iter().chain(of_assoc) {
                let text = "limits are not enforced: AccountingStorageEnforce of slurm.conf has neither limits nor safe";
                warnings.push(Warning::new(&file, 0, text));
            }
        }
        if assoc_file.is_none() && conf.priority.weights.fairshare > 0 {
            let text = "`PriorityWeightFairshare`: there is no assoc.txt, so the fair share of all jobs is 0";
            warnings.push(Warning::new(&file.path, 0, text));
        }
        let topology = topology(&conf, &file.path, &folder, &mut warnings)?;
        let cpus: Vec<u32> = conf.nodes.iter().map(|node| node.cpus).collect();
        if let [Some(least), Some(most)] = [cpus.iter().min(), cpus.iter().max()]
            && least < most
        {
            let text = format!(
                "`CPUs`: nodes have {least} to {most} CPUs; the CPUs of a job are counted by the mean of its partition"
            );
            warnings.push(Warning::new(&file.path, 0, text));
        }
        let mut site = Self {
            nodes: conf.nodes.iter().map(|node| node.name.clone()).collect(),
            cpus,
            topology,
            partitions: Vec::new(),
            default_partition: 0,
            qos,
            associations,
            has_fair_share: assoc_file.is_some(),
            priority: conf.priority,
            scheduler: conf.scheduler,
            enforces_limits: conf.enforces_limits,
            enforce_part_limits: conf.enforce_part_limits,
            over_time_limit: conf.over_time_limit,
        };
        for partition in &conf.partitions {
            let qos = partition.qos.as_deref().map(|name| {
                site.find_qos(name).ok_or_else(|| {
                    let problem = format!(
                        "partition {}: there is no QOS {}",
                        excerpt(&partition.name),
                        excerpt(name)
                    );
                    SiteError::new(&file.path, partition.line, problem)
                })
            });
            let nodes =
                NodeSet::of(site.nodes.len(), partition.nodes.iter().map(|&node| NodeId(node)));
            site.partitions.push(Partition {
                tier: partition.tier,
                factor: partition.factor,
                is_up: partition.is_up,
                max_time: partition.max_time,
                default_time: partition.default_time,
                max_nodes: partition.max_nodes,
                min_nodes: partition.min_nodes,
                qos: qos.transpose()?,
                shares_nodes: conf.shares_nodes && !partition.is_exclusive,
                ..Partition::new(&partition.name, nodes, &site.cpus)
            });
        }
        let is_default = conf.partitions.iter().position(|partition| partition.is_default);
        site.default_partition = is_default.unwrap_or(0);
        match warnings.first() {
            Some(Warning { file, line, text }) if options.strict => {
                Err(SiteError::new(file, *line, text))
            }
            _ => Ok((site, warnings)),
        }
    }

    /// Returns the numbers of nodes and CPUs of the machine.
    pub fn size(&self) -> Resources {
        let cpus = self.cpus.iter().map(|&cpus| u64::from(cpus)).sum();
        Resources { nodes: self.nodes.len() as u64, cpus }
    }

    /// Returns the index of a QOS.
    pub fn find_qos(&self, name: &str) -> Option<usize> {
        self.qos.iter().position(|qos| qos.name == name)
    }

    /// Returns the index of a partition.
    pub fn find_partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.name == name)
    }

    /// Returns the rule by which nodes are chosen.
    ///
    /// # Errors
    /// A message if the rule does not support the machine.
    pub fn node_choice(&self) -> Result<Box<dyn NodeChoice>, String> {
        Ok(match &self.topology {
            Some(machine) => Box::new(ByTopology::new(machine)?),
            None => Box::new(Flat),
        })
    }
}

/// Reads `topology.conf` or `topology.yaml` of a folder, if there is one, and checks that it has the nodes of the
/// `slurm.conf`.
fn topology(
    conf: &SlurmConf,
    conf_file: &str,
    folder: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Hierarchy>, SiteError> {
    let files = ["topology.conf", "topology.yaml"].map(|name| folder.join(name));
    let Some(path) = files.iter().find(|path| path.is_file()) else {
        return match conf.topology {
            Some(TopologyPlugin::Tree | TopologyPlugin::Block) => {
                let problem =
                    "`TopologyPlugin`: there is no topology.conf or topology.yaml beside this file";
                Err(SiteError::new(conf_file, 0, problem))
            }
            _ => Ok(None),
        };
    };
    let file = path.display().to_string();
    if conf.topology == Some(TopologyPlugin::Flat) {
        let text = "is not used: TopologyPlugin of slurm.conf is topology/flat";
        warnings.push(Warning::new(&file, 0, text));
        return Ok(None);
    }
    let text = text_of(path)?.map(|file| file.text).unwrap_or_default();
    let machine = TopologyFile::read(&text, &file, None);
    let machine = machine.map_err(|e| SiteError::new(&e.file, e.line as u64, e.problem))?.machine;
    let expected = conf.topology.map(|plugin| plugin == TopologyPlugin::Tree);
    if expected.is_some_and(|is_tree| is_tree != machine.tree().is_some()) {
        let problem =
            "does not match TopologyPlugin of slurm.conf: one has switches, the other blocks";
        return Err(SiteError::new(&file, 0, problem));
    }
    let names: Vec<String> = conf.nodes.iter().map(|node| node.name.clone()).collect();
    let part = machine.part(&names);
    let part = part.map_err(|problem| {
        let problem =
            format!("{problem}, which slurm.conf has; add its nodes to a switch or a block");
        SiteError::new(&file, 0, problem)
    })?;
    if part.processors() < machine.processors() {
        let more = machine.processors() - part.processors();
        let text = format!("{more} nodes are not in slurm.conf and are left out");
        warnings.push(Warning::new(&file, 0, text));
    }
    Ok(Some(part))
}
