//! Recorded placements: the nodes on which the jobs of a log ran.
//!
//! A log records placements in one of two ways:
//!
//! * A file beside the trace, `x.nodes.csv[.gz]`, as written by imports. The file has the columns `job` (the job
//!   number) and `nodes` (a node list in the notation of [`nodes`](super::nodes)). Lines that begin with `#` are
//!   comments; one of these lines may name the trace, see [`sidecar`](super::sidecar). A list may also be a box of a
//!   Blue Gene/Q. The [midplanes](super::midplanes) of the box are then used as nodes, and a midplane occurs in the
//!   list once for each of its nodes in the box.
//! * Field 19 of a record as written by CERIT, `{id,id,..}`, which lists the node of every processor.

mod error;

pub use error::RecordedPlacementsError;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::extra_fields::Extra;
use super::job::Job;
use super::load::Workload;
use super::midplanes;
use super::nodes::names;
use super::sidecar::is_beside;
use super::sidecar::{TraceLine, is_comment};
use super::stochastic::nodes_path;
use crate::lines::{LineError, Lines};
use crate::number::counted;
use crate::sanitize::excerpt;
use crate::swf::{Decoder, ReadOptions, Reader, Record};

/// The recorded nodes of jobs. Nodes are numbered in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedPlacements {
    /// Name of each node, in the order of node numbers. Names are sorted as numbers if all names are numbers, otherwise
    /// as text.
    names: Vec<String>,
    /// Whether jobs are identified by the line of their record instead of their job number.
    by_line: bool,
    jobs: HashMap<i64, Box<[u32]>>,
    /// For each job, its line in the file beside the trace; empty if the placements are from field 19.
    lines: HashMap<i64, u64>,
    unreadable: Option<Unreadable>,
    /// Lines of the file that name the trace.
    traces: Vec<TraceLine>,
}

/// Statistics of node lists that cannot be read. The jobs with these lists have no recorded placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Number of unreadable lists.
    pub count: u64,
    /// The file.
    pub file: String,
    /// Line of the first unreadable list.
    pub line: u64,
    /// The error in the first unreadable list.
    pub problem: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unreadable { count, file, line, problem } = self;
        let lists = counted(*count, "unreadable list");
        write!(f, "{lists} of nodes, first in {file}:{line}: {problem}")
    }
}

/// Statistics of those placements in a file that belong to jobs that are not replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmatchedPlacements {
    /// Number of placements of jobs that are not replayed.
    pub count: u64,
    /// Line of the first placement whose job is not replayed.
    pub line: u64,
    /// Job number of the first placement whose job is not replayed.
    pub job: i64,
}

impl std::fmt::Display for UnmatchedPlacements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let UnmatchedPlacements { count, line, job } = self;
        let placements = counted(*count, "placement");
        write!(f, "{placements} of jobs that are not replayed, first in line {line}: job {job}")
    }
}

impl RecordedPlacements {
    /// Maximum number of nodes of a job, which is the maximum number of points of a machine.
    pub const MOST: u64 = 1 << 20;

    /// Reads the placements of a trace: from the file beside the trace if this file exists, otherwise from the records
    /// of the trace.
    ///
    /// # Errors
    /// [`RecordedPlacementsError`] if a file cannot be read or is malformed, or there are no placements.
    pub fn load(trace: &Path, options: ReadOptions) -> Result<Self, RecordedPlacementsError> {
        let beside = nodes_path(trace);
        let mut packed = beside.clone().into_os_string();
        packed.push(".gz");
        let packed = PathBuf::from(packed);
        if beside.exists() && packed.exists() {
            let [one, other] = [&beside, &packed].map(|path| path.display().to_string());
            return Err(RecordedPlacementsError::Both { one, other });
        }
        for path in [beside.clone(), packed] {
            let file = path.display().to_string();
            match is_beside(&path).and_then(|exists| exists.then(|| File::open(&path)).transpose())
            {
                Ok(Some(input)) => return Self::of_file(input, &file),
                Ok(None) => {}
                Err(source) => return Err(RecordedPlacementsError::Io { file, source }),
            }
        }
        let file = trace.display().to_string();
        let input = File::open(trace);
        let input =
            input.map_err(|source| RecordedPlacementsError::Io { file: file.clone(), source })?;
        let beside = format!("there is no {}", beside.display());
        Self::of_records(input, &file, options)?.or_nowhere(file, beside)
    }

    /// Reads the placements from the records of a trace that is not a file. A trace that is not a file has no file of
    /// placements beside it. Messages refer to the trace by `name`.
    ///
    /// # Errors
    /// [`RecordedPlacementsError`] if the trace cannot be read or is malformed, or there are no placements.
    pub fn of_input(
        input: impl io::Read,
        name: &str,
        options: ReadOptions,
    ) -> Result<Self, RecordedPlacementsError> {
        let beside = "there is no nodes file beside the trace".to_string();
        Self::of_records(input, name, options)?.or_nowhere(name.to_string(), beside)
    }

    fn or_nowhere(self, trace: String, beside: String) -> Result<Self, RecordedPlacementsError> {
        match self.jobs.is_empty() && self.unreadable.is_none() {
            false => Ok(self),
            true => Err(RecordedPlacementsError::Nowhere { trace, beside }),
        }
    }

    /// Reads a file of placements, plain or compressed with gzip; `file` names it in messages. If the list of a job is
    /// malformed or has more than [`MOST`](Self::MOST) nodes, the job has no placement; see
    /// [`unreadable`](Self::unreadable).
    ///
    /// # Errors
    /// [`RecordedPlacementsError`] with line and field if the file cannot be read, lacks its header, or repeats a job.
    pub fn of_file(input: impl io::Read, file: &str) -> Result<Self, RecordedPlacementsError> {
        let io = |source| RecordedPlacementsError::Io { file: file.to_string(), source };
        let mut lines = Lines::new(BufReader::new(Decoder::new(input).map_err(io)?));
        let (mut placed, mut header) = (Builder::default(), false);
        loop {
            let row = lines.next_text(|line, text| {
                if is_comment(text) {
                    placed.traces.extend(TraceLine::parse(file, line, text));
                    return Ok(());
                }
                let at = |(field, problem)| (line, field, problem);
                if !std::mem::replace(&mut header, true) {
                    let known = text.split(',').map(str::trim).eq(["job", "nodes"]);
                    let problem =
                        || format!("the header is \"{}\", not \"job,nodes\"", excerpt(text));
                    return if known { Ok(()) } else { Err(at(("job", problem()))) };
                }
                placed.row(line, text).map_err(at)
            });
            match row {
                Ok(None) => {
                    if let Some(unreadable) = &mut placed.unreadable {
                        unreadable.file = file.to_string();
                    }
                    return Ok(placed.finish(false));
                }
                Ok(Some(Ok(()))) => {}
                Ok(Some(Err((line, field, problem)))) => {
                    return Err(RecordedPlacementsError::Field {
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
                    return Err(RecordedPlacementsError::Field { file, line, field, problem });
                }
            }
        }
    }

    /// Reads the node lists in field 19 of the records of a trace. Records without a node list are permitted.
    ///
    /// # Errors
    /// [`RecordedPlacementsError`] if the trace cannot be read or is malformed.
    pub fn of_records(
        input: impl io::Read,
        file: &str,
        options: ReadOptions,
    ) -> Result<Self, RecordedPlacementsError> {
        let decoder = Decoder::new(input);
        let decoder = decoder
            .map_err(|source| RecordedPlacementsError::Io { file: file.to_string(), source })?;
        let mut reader = Reader::new(BufReader::new(decoder), file).with_options(options);
        let (mut placed, mut record) = (Builder::default(), Record::UNKNOWN);
        while reader.read_record(&mut record)? {
            if let Some(nodes) = Extra::new(reader.extra()).nodes() {
                placed.add(reader.line() as i64, nodes.map(|id| id.to_string()));
            }
        }
        Ok(placed.finish(true))
    }

    /// Returns the node numbers of a job. If the log records a node for each processor, the list has one entry per
    /// processor. `None` if the log does not record the job's placement.
    pub fn of(&self, job: &Job) -> Option<&[u32]> {
        let key = if self.by_line { i64::from(job.line) } else { job.number };
        self.jobs.get(&key).map(|nodes| &**nodes)
    }

    /// Checks that the placements belong to this trace, and that each job number with a placement occurs in only one
    /// record.
    ///
    /// # Errors
    /// * [`RecordedPlacementsError::Other`] if the file of placements names another trace.
    /// * [`RecordedPlacementsError::Repeated`] with the first repeated job number.
    pub fn check(&self, trace: &Workload) -> Result<(), RecordedPlacementsError> {
        if self.by_line {
            return Ok(());
        }
        let (jobs, links) = (&trace.jobs, &trace.links);
        let name = trace.source.display().to_string();
        self.traces.iter().try_for_each(|line| line.check(&name, &trace.digest))?;
        let twice =
            |job: &&Job| self.of(job).is_some() && links.repeated_lines(job.number).is_some();
        let lines = |job: &Job| links.repeated_lines(job.number).unwrap_or([job.line; 2]);
        // Report the job number whose second record is earliest in the trace.
        match jobs.iter().filter(twice).min_by_key(|job| lines(job)[1]) {
            None => Ok(()),
            Some(job) => Err(RecordedPlacementsError::Repeated {
                trace: name,
                job: job.number,
                lines: lines(job),
            }),
        }
    }

    /// Removes repeated nodes from each list. This step is needed if job sizes are numbers of nodes but the log lists a
    /// node for each processor.
    pub fn each_once(mut self) -> Self {
        for nodes in self.jobs.values_mut() {
            let mut seen = BTreeSet::new();
            let distinct: Vec<u32> =
                nodes.iter().copied().filter(|node| seen.insert(*node)).collect();
            *nodes = distinct.into();
        }
        self
    }

    /// Removes the lists that have more than `most` nodes and therefore do not fit the machine. The jobs of the removed
    /// lists then have no placement. Returns the number of removed lists, and the job of the first of these lists. The
    /// first list is the list on the earliest line of the file beside the trace. If the placements are not from such a
    /// file, the first list is the list with the smallest key.
    pub fn within(self, most: usize) -> (Self, Option<(u64, i64)>) {
        let too_long = || self.jobs.iter().filter(|(_, nodes)| nodes.len() > most);
        let place = |key: &i64| (self.lines.get(key).copied().unwrap_or(0), *key);
        let Some((_, first)) = too_long().map(|(key, _)| place(key)).min() else {
            return (self, None);
        };
        let count = too_long().count() as u64;
        let Self { names, mut jobs, .. } = self;
        jobs.retain(|_, nodes| nodes.len() <= most);
        // Nodes that occur only in removed lists are not nodes of the machine.
        let used: BTreeSet<u32> = jobs.values().flatten().copied().collect();
        let rank: HashMap<u32, u32> = used.iter().copied().zip(0..).collect();
        jobs.values_mut().flatten().for_each(|node| *node = rank[&*node]);
        let names = used.iter().map(|&node| names[node as usize].clone()).collect();
        (Self { names, jobs, ..self }, Some((count, first)))
    }

    /// Returns the node lists that could not be read; `None` if all lists could be read.
    pub fn unreadable(&self) -> Option<&Unreadable> {
        self.unreadable.as_ref()
    }

    /// Returns whether jobs are identified by their number, not by the line of their record.
    pub fn is_by_number(&self) -> bool {
        !self.by_line
    }

    /// Returns the statistics of those placements in the file beside the trace that belong to jobs that are not in
    /// `jobs`; `None` if every placement in the file belongs to a job in `jobs`.
    pub fn unmatched(&self, jobs: &[Job]) -> Option<UnmatchedPlacements> {
        let known: HashSet<i64> = jobs.iter().map(|job| job.number).collect();
        let others = self.lines.iter().filter(|(job, _)| !known.contains(job));
        let (count, first) = others.fold((0, None), |(count, first), (&job, &line)| {
            let first = first.map_or((line, job), |first: (u64, i64)| first.min((line, job)));
            (count + 1, Some(first))
        });
        first.map(|(line, job)| UnmatchedPlacements { count, line, job })
    }

    /// Returns the names of all nodes, in the order of node numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the names as point numbers; `None` unless all names are numbers below `points`.
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
    lines: HashMap<i64, u64>,
    unreadable: Option<Unreadable>,
    traces: Vec<TraceLine>,
}

impl Builder {
    fn number(&mut self, name: String) -> u32 {
        let Self { numbers, names, .. } = self;
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        })
    }

    fn add(&mut self, key: i64, nodes: impl Iterator<Item = String>) {
        let nodes = nodes.map(|name| self.number(name)).collect();
        self.jobs.insert(key, nodes);
    }

    /// Adds a job that occupies midplanes. For each midplane, `midplanes` also contains the number of its nodes that
    /// the job occupies.
    fn add_midplanes(&mut self, key: i64, midplanes: Vec<(u32, u32)>) {
        let mut nodes = Vec::new();
        for (midplane, count) in midplanes {
            let number = self.number(midplane.to_string());
            nodes.resize(nodes.len() + count as usize, number);
        }
        self.jobs.insert(key, nodes.into());
    }

    fn row(&mut self, line: u64, text: &str) -> Result<(), (&'static str, String)> {
        let (job, list) = text.split_once(',').ok_or(("nodes", "is missing".to_string()))?;
        let number = job.trim().parse();
        let number =
            number.map_err(|_| ("job", format!("\"{}\" is not a number", excerpt(job))))?;
        let list = list.trim();
        let bare = list.strip_prefix('"').and_then(|list| list.strip_suffix('"')).unwrap_or(list);
        if self.lines.insert(number, line).is_some() {
            return Err(("job", format!("job {number} already has nodes")));
        }
        let read = match midplanes::of_box(bare) {
            Some(found) => {
                found.map(|found| self.add_midplanes(number, found)).map_err(|why| why.to_string())
            }
            None if bare.is_empty() => Err("the text is empty".to_string()),
            None if bare.contains('"') => Err("the text contains a quote".to_string()),
            None if bare.contains(char::is_control) => {
                Err("the text contains a control character".to_string())
            }
            None => {
                let found = names(bare, RecordedPlacements::MOST).map_err(|why| why.to_string());
                found.map(|nodes| self.add(number, nodes.into_iter()))
            }
        };
        if let Err(why) = read {
            let first = || Unreadable {
                count: 0,
                file: String::new(),
                line,
                problem: format!("\"{}\" is not a list of nodes: {why}", excerpt(bare)),
            };
            self.unreadable.get_or_insert_with(first).count += 1;
        }
        Ok(())
    }

    fn finish(self, by_line: bool) -> RecordedPlacements {
        let Self { names, jobs, lines, unreadable, traces, .. } = self;
        // Names that are numbers come first, sorted by value. Other names follow, sorted as text.
        let key = |name: &String| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone());
        let order: BTreeSet<(u64, String)> = names.iter().map(key).collect();
        let rank: HashMap<&str, u32> =
            order.iter().map(|(_, name)| name.as_str()).zip(0..).collect();
        let new: Vec<u32> = names.iter().map(|name| rank[name.as_str()]).collect();
        let renamed = jobs
            .into_iter()
            .map(|(job, nodes)| (job, nodes.iter().map(|&node| new[node as usize]).collect()));
        RecordedPlacements {
            jobs: renamed.collect(),
            by_line,
            lines,
            unreadable,
            traces,
            names: order.into_iter().map(|one| one.1).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RecordedPlacements, String> {
        RecordedPlacements::of_file(text.as_bytes(), "x.nodes.csv")
            .map_err(|error| error.to_string())
    }

    fn job(number: i64) -> Job {
        Job { number, submit: 0, run: 1, estimate: 1, size: 1, line: 1, shape: None, limit: None }
    }

    #[test]
    fn boxes_are_midplanes() {
        let placed =
            read("job,nodes\n7,\"A0-0 B0-0 C3-4 D0-0 E0-1\"\n8,A0-3 B0-3 C4-7 D0-3 E0-1\n");
        let placed = placed.expect("two boxes");
        assert_eq!(placed.names(), ["0", "4"]);
        assert_eq!(placed.of(&job(7)), Some(&[0, 0, 1, 1][..]));
        assert_eq!(placed.of(&job(8)), Some(&[1; 512][..]));
        assert_eq!(placed.points(96), Some(vec![0, 4]));
    }

    /// A job with an unreadable list has no placement; the other jobs keep their placements.
    #[test]
    fn counts_unreadable_lists() {
        for (list, problem) in [
            ("\"2,1-0\"", "\"2,1-0\" is not a list of nodes: \"1-0\": a range that runs backwards"),
            ("A0-3 B0-12 C0-3 D0-3 E0-1", "B12 is outside Mira"),
            ("A0-3 B0-3", "a blank in a name"),
            ("\"\"", "\"\" is not a list of nodes: the text is empty"),
            ("\"n[0-9999999]\"", "more than 1048576 nodes"),
            ("\"0-3", "is not a list of nodes: the text contains a quote"),
            ("n\0", "is not a list of nodes: the text contains a control character"),
        ] {
            let placed = read(&format!("job,nodes\n1,n1\n2,{list}\n4,n[\n3,n2\n")).expect(list);
            let unreadable = placed.unreadable().expect(list);
            assert_eq!((unreadable.count, unreadable.line), (2, 3), "{list}");
            let message = unreadable.to_string();
            let begin = "2 unreadable lists of nodes, first in x.nodes.csv:3: ";
            assert!(message.starts_with(begin) && message.contains(problem), "{message}");
            assert_eq!((placed.of(&job(2)), placed.of(&job(3))), (None, Some(&[1][..])), "{list}");
        }
        let again = read("job,nodes\n1,n[\n1,n1\n").expect_err("twice");
        assert_eq!(again, "x.nodes.csv:3: field job: job 1 already has nodes");
        assert_eq!(read("job,nodes\n1,n1\n").expect("one").unreadable(), None);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

        /// For any damage of the file, reading returns either placements on nodes that have names, or an error with a
        /// line.
        #[test]
        fn damaged_files_give_valid_placements_or_an_error(
            at in 0usize..70,
            piece in "[a-z0-9,\"\\[\\]A-E \n-]{0,6}",
            cut in 0usize..6,
        ) {
            let mut text = "job,nodes\n1,\"n[1-4]\"\n2,\"A0-3 B0-3 C4-7 D0-3 E0-1\"\n3,n1\n".to_string();
            let at = at.min(text.len());
            text.replace_range(at..(at + cut).min(text.len()), &piece);
            match read(&text) {
                Ok(placed) => {
                    let names = placed.names().len() as u32;
                    let all = placed.jobs.values().flatten();
                    proptest::prop_assert!(all.copied().all(|node| node < names));
                    proptest::prop_assert!(placed.jobs.values().all(|nodes| !nodes.is_empty()));
                }
                Err(error) => proptest::prop_assert!(error.starts_with("x.nodes.csv:"), "{}", error),
            }
        }
    }

    /// Removing a list also removes the nodes that occur only in this list. The other lists keep their nodes.
    #[test]
    fn removes_lists_longer_than_the_machine() {
        let placed =
            || read("job,nodes\n1,\"n2,n9\"\n2,n[1-5]\n3,n2\n4,n[1-6]\n").expect("four jobs");
        let (all, none) = placed().within(6);
        assert_eq!((all, none), (placed(), None));
        let (fitting, left_out) = placed().within(4);
        assert_eq!(
            (fitting.names(), left_out),
            (&["n2", "n9"].map(String::from)[..], Some((2, 2)))
        );
        let of = |number| fitting.of(&job(number));
        assert_eq!([of(1), of(2), of(3)], [Some(&[0, 1][..]), None, Some(&[0][..])]);
    }

    #[test]
    fn counts_placements_of_jobs_that_are_not_replayed() {
        let placed = read("job,nodes\n3,a\n9,b\n1,c\n8,b\n").expect("four jobs");
        let jobs = [job(1), job(3)];
        let unmatched = placed.unmatched(&jobs).expect("two");
        assert_eq!(unmatched, UnmatchedPlacements { count: 2, line: 3, job: 9 });
        let words = "2 placements of jobs that are not replayed, first in line 3: job 9";
        assert_eq!(unmatched.to_string(), words);
        assert_eq!(placed.unmatched(&[job(1), job(3), job(8), job(9)]), None);
    }
}
