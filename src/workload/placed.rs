//! Where the jobs of a log ran, as it says itself.
//!
//! Two sources are known: a file beside the trace, `x.nodes.csv[.gz]`, as imports write it
//! (`job,nodes`, jobs by number, nodes in the grammar of [`nodes`](super::nodes)); and
//! field 19 of a record as CERIT writes it, `{id,id,..}`, the node of every processor.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use super::extra::Extra;
use super::job::Job;
use super::nodes::{count, names};
use super::stochastic::nodes_path;
use crate::lines::{LineError, Lines};
use crate::shown::shown;
use crate::swf::{self, Decoder, ReadOptions, Reader, Record};

/// Most nodes of one job: as many as a machine has points.
const MOST: u64 = crate::topology::MAX_POINTS as u64;

/// The nodes of jobs, numbered in order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedNodes {
    /// Names by number: as numbers if all are, else as text.
    names: Vec<String>,
    /// By line of the record, or by job number.
    by_line: bool,
    jobs: HashMap<i64, Box<[u32]>>,
}

/// Placements that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PlacedError {
    /// The input's own complaint.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The trace is malformed.
    #[error(transparent)]
    Trace(#[from] swf::Error),
    /// A line of the file is no job with nodes.
    #[error("{file}:{line}: field {field}: {problem}")]
    Field {
        /// The file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// `job` or `nodes`.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Neither source tells of any node.
    #[error(
        "{trace}: nothing tells where its jobs ran: there is no {beside}, and field 19 of its records holds \
         no lists of nodes"
    )]
    Nowhere {
        /// The trace.
        trace: String,
        /// The file that could be beside it.
        beside: String,
    },
}

impl PlacedNodes {
    /// Reads the placements of a trace: those of the file beside it if there is one, else of its records.
    ///
    /// # Errors
    /// [`PlacedError`].
    pub fn load(trace: &Path, options: ReadOptions) -> Result<Self, PlacedError> {
        let beside = nodes_path(trace);
        let mut packed = beside.clone().into_os_string();
        packed.push(".gz");
        for path in [beside.clone(), packed.into()] {
            let file = path.display().to_string();
            match File::open(&path) {
                Ok(input) => return Self::of_file(input, &file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(PlacedError::Io { file, source }),
            }
        }
        let file = trace.display().to_string();
        let input = File::open(trace);
        let input = input.map_err(|source| PlacedError::Io { file: file.clone(), source })?;
        let placed = Self::of_records(input, &file, options)?;
        match placed.jobs.is_empty() {
            false => Ok(placed),
            true => Err(PlacedError::Nowhere { trace: file, beside: beside.display().to_string() }),
        }
    }

    /// Reads a file of placements, gzip'ed or plain; `file` is its name in messages.
    ///
    /// # Errors
    /// [`PlacedError`] with line and field.
    pub fn of_file(input: impl io::Read, file: &str) -> Result<Self, PlacedError> {
        let io = |source| PlacedError::Io { file: file.to_string(), source };
        let mut lines = Lines::new(BufReader::new(Decoder::new(input).map_err(io)?));
        let (mut placed, mut header) = (Builder::default(), false);
        loop {
            let row = lines.next_text(|line, text| {
                let at = |(field, problem)| (line, field, problem);
                if !std::mem::replace(&mut header, true) {
                    let known = text.split(',').map(str::trim).eq(["job", "nodes"]);
                    let problem =
                        || format!("the header is \"{}\", not \"job,nodes\"", shown(text));
                    return if known { Ok(()) } else { Err(at(("job", problem()))) };
                }
                placed.row(text).map_err(at)
            });
            match row {
                Ok(None) => return Ok(placed.finish(false)),
                Ok(Some(Ok(()))) => {}
                Ok(Some(Err((line, field, problem)))) => {
                    return Err(PlacedError::Field {
                        file: file.to_string(),
                        line,
                        field,
                        problem,
                    });
                }
                Err(LineError::Io(source)) => return Err(io(source)),
                Err(error) => {
                    let (line, problem) = (lines.number(), error.to_string());
                    let (file, field) = (file.to_string(), "nodes");
                    return Err(PlacedError::Field { file, line, field, problem });
                }
            }
        }
    }

    /// Reads the lists of nodes in field 19 of the records of a trace; none if there are none.
    ///
    /// # Errors
    /// [`PlacedError`].
    pub fn of_records(
        input: impl io::Read,
        file: &str,
        options: ReadOptions,
    ) -> Result<Self, PlacedError> {
        let decoder = Decoder::new(input);
        let decoder =
            decoder.map_err(|source| PlacedError::Io { file: file.to_string(), source })?;
        let mut reader = Reader::new(BufReader::new(decoder), file).with_options(options);
        let (mut placed, mut record) = (Builder::default(), Record::UNKNOWN);
        while reader.read_record(&mut record)? {
            if let Some(nodes) = Extra::new(reader.extra()).nodes() {
                placed.add(reader.line() as i64, nodes.map(|id| id.to_string()));
            }
        }
        Ok(placed.finish(true))
    }

    /// The nodes of a job by number, one for each of its processors where the log counts them; `None` if
    /// it does not tell.
    pub fn of(&self, job: &Job) -> Option<&[u32]> {
        let key = if self.by_line { i64::from(job.line) } else { job.number };
        self.jobs.get(&key).map(|nodes| &**nodes)
    }

    /// The names of all nodes, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// If the names are the numbers of points on a machine with so many: these.
    pub fn points(&self, points: usize) -> Option<Vec<u32>> {
        let point =
            |name: &String| name.parse().ok().filter(|&point: &u32| (point as usize) < points);
        self.names.iter().map(point).collect()
    }
}

#[derive(Default)]
struct Builder {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    jobs: HashMap<i64, Box<[u32]>>,
}

impl Builder {
    fn add(&mut self, key: i64, nodes: impl Iterator<Item = String>) -> bool {
        let Self { numbers, names, jobs } = self;
        let number = |name: String| {
            *numbers.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        };
        jobs.insert(key, nodes.map(number).collect()).is_none()
    }

    fn row(&mut self, text: &str) -> Result<(), (&'static str, String)> {
        let (job, list) = text.split_once(',').ok_or(("nodes", "is missing".to_string()))?;
        let number = job.trim().parse();
        let number = number.map_err(|_| ("job", format!("\"{}\" is no number", shown(job))))?;
        let list = list.trim();
        let bare = list.strip_prefix('"').and_then(|list| list.strip_suffix('"')).unwrap_or(list);
        let bad = || ("nodes", format!("\"{}\" is no list of nodes", shown(bare)));
        if count(bare).map_err(|_| bad())? == 0 {
            return Err(bad());
        }
        let nodes = names(bare, MOST).map_err(|_| bad())?;
        match self.add(number, nodes.into_iter()) {
            true => Ok(()),
            false => Err(("job", format!("job {number} has nodes already"))),
        }
    }

    fn finish(self, by_line: bool) -> PlacedNodes {
        let Self { names, jobs, .. } = self;
        // Numbers in their order, before text in its own.
        let key = |name: &String| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone());
        let order: BTreeSet<(u64, String)> = names.iter().map(key).collect();
        let rank: HashMap<&str, u32> =
            order.iter().map(|(_, name)| name.as_str()).zip(0..).collect();
        let new: Vec<u32> = names.iter().map(|name| rank[name.as_str()]).collect();
        let renamed = jobs
            .into_iter()
            .map(|(job, nodes)| (job, nodes.iter().map(|&node| new[node as usize]).collect()));
        PlacedNodes {
            jobs: renamed.collect(),
            by_line,
            names: order.into_iter().map(|one| one.1).collect(),
        }
    }
}
