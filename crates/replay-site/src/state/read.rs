//! Reader of a folder with the present state of a site.

use std::collections::HashMap;
use std::path::Path;

use replay_engine::number::counted;
use replay_engine::sanitize::excerpt;
use replay_engine::topology::NodeId;
use replay_engine::workload::{UnknownPartition, nodes};

use super::clock::{Clock, instant};
use super::dependency::Dependency;
use super::history::History;
use super::lines::{self, Record};
use super::{JobNames, PresentState, Running, Waiting};
use crate::cases::read_usage;
use crate::error::SiteError;
use crate::job::SiteJob;
use crate::node_set::NodeSet;
use crate::reason::Reason;
use crate::site::{Site, text_of};
use crate::times::minutes;

/// The command that makes `jobs.txt`.
const JOBS: &str = "scontrol show job -o";

/// The command that makes `nodes.txt`.
const NODES: &str = "scontrol show node -o";

/// Most tasks of an array that are used.
const MOST_TASKS: usize = 10_000;

/// States of jobs that hold nodes.
const RUNNING: [&str; 8] = [
    "RUNNING",
    "CONFIGURING",
    "COMPLETING",
    "SUSPENDED",
    "STOPPED",
    "SIGNALING",
    "STAGE_OUT",
    "RESIZING",
];

/// States of nodes that are out of service.
const OUT: [&str; 4] = ["DOWN", "DRAIN", "FAIL", "RESERVED"];

/// How a state is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct StateOptions {
    /// The present instant; `None` for the one in `now.txt`.
    pub now: Option<(i64, Clock)>,
    /// Whether priorities of waiting jobs are calculated in place of those of `jobs.txt`.
    pub calculates: bool,
    /// Treatment of unknown partitions and QOS.
    pub unknown: UnknownPartition,
}

/// Counts of what is changed or left out.
#[derive(Default)]
struct Counts {
    ended: u64,
    dropped: u64,
    tasks: u64,
    throttled: u64,
    ranges: u64,
    suspended: u64,
    never: u64,
    features: u64,
    reservations: u64,
    licences: u64,
}

impl Counts {
    fn notes(&self) -> Vec<String> {
        let all = [
            (self.ended, "in states other than running and pending are left out"),
            (self.dropped, "of unknown partitions or QOS left out"),
            (self.throttled, "of arrays with a limit of running tasks; the limit is ignored"),
            (self.ranges, "asked for a range of nodes; the least number is used"),
            (self.suspended, "suspended or stopped; they count as running"),
            (self.never, "depend on a job or an event that is not in jobs.txt and wait for ever"),
            (self.features, "asked for features, ignored"),
            (self.reservations, "are in a reservation, ignored"),
            (self.licences, "asked for licences, ignored"),
        ];
        let notes = all.into_iter().filter(|(count, _)| *count > 0);
        let mut notes: Vec<String> =
            notes.map(|(count, text)| format!("{} {text}", counted(count, "job"))).collect();
        if self.tasks > 0 {
            let tasks = counted(self.tasks, "task");
            notes.push(format!("{tasks} beyond the first {MOST_TASKS} of an array left out"));
        }
        notes
    }
}

/// Reads the present state in a folder: `jobs.txt` and, if they exist, `usage.txt`, `nodes.txt`, `history.txt` and
/// `now.txt`. Users that are not in the associations of the site are added to them.
///
/// # Errors
/// [`SiteError`] with file and line.
pub fn read(
    site: &mut Site,
    folder: &Path,
    options: StateOptions,
) -> Result<PresentState, SiteError> {
    let path = |name: &str| folder.join(name);
    let missing = |name: &str, problem: &str| {
        SiteError::new(&path(name).display().to_string(), 0, problem.to_string())
    };
    let (now, clock) = match (options.now, text_of(&path("now.txt"))?) {
        (Some(now), _) => now,
        (None, Some(file)) => {
            let failed = |problem: String| SiteError::new(&file.path, 1, problem);
            let now = instant(&file.text).map_err(failed)?;
            now.ok_or_else(|| failed("the present instant is missing".to_string()))?
        }
        (None, None) => {
            let problem = "there is no such file; make it with date +%FT%T when you make jobs.txt, or give --now";
            return Err(missing("now.txt", problem));
        }
    };
    let file = text_of(&path("jobs.txt"))?;
    let file = file.ok_or_else(|| {
        missing("jobs.txt", &format!("there is no such file; make it with {JOBS}"))
    })?;
    let records = lines::read(&file.text, &file.path, "JobId", JOBS)?;
    let mut reader = Reader::new(site, now, clock, options);
    records.iter().try_for_each(|record| reader.job(record))?;
    let mut state = reader.finish();
    if let Some(file) = text_of(&path("usage.txt"))? {
        match site.has_fair_share {
            true => state.usage = Some(read_usage(&file.text, &file.path, &site.associations)?),
            false => state.notes.push("usage.txt is not used: there is no assoc.txt".to_string()),
        }
    }
    if let Some(file) = text_of(&path("nodes.txt"))? {
        for record in lines::read(&file.text, &file.path, "NodeName", NODES)? {
            let name = record.require("NodeName", NODES)?;
            let node = site.nodes.iter().position(|node| node == name);
            let node = node
                .ok_or_else(|| record.error(format!("slurm.conf has no node {}", excerpt(name))))?;
            let text = record.require("State", NODES)?.to_ascii_uppercase();
            if text.split('+').any(|flag| OUT.iter().any(|out| flag.starts_with(out))) {
                state.out_of_service.insert(NodeId(node as u32));
            }
        }
    }
    if let Some(file) = text_of(&path("history.txt"))? {
        state.history = History::read(&file.text, &file.path)?;
    }
    Ok(state)
}

/// The state of the reader.
struct Reader<'a> {
    site: &'a mut Site,
    options: StateOptions,
    state: PresentState,
    /// Number of each node.
    nodes: HashMap<String, NodeId>,
    /// The job that holds each node.
    holders: HashMap<NodeId, String>,
    /// Jobs of each number, and of each task of an array.
    numbers: HashMap<String, Vec<usize>>,
    /// Waiting jobs with a dependency, by position in the list of waiting jobs.
    dependencies: Vec<(usize, String)>,
    counts: Counts,
    has_iso_times: bool,
}

impl<'a> Reader<'a> {
    fn new(site: &'a mut Site, now: i64, clock: Clock, options: StateOptions) -> Self {
        let nodes = (0..).map(NodeId).zip(&site.nodes).map(|(at, name)| (name.clone(), at));
        let nodes = nodes.collect();
        let out_of_service = NodeSet::empty(site.nodes.len());
        let state = PresentState {
            now,
            clock,
            jobs: Vec::new(),
            names: Vec::new(),
            running: Vec::new(),
            waiting: Vec::new(),
            calculates: options.calculates,
            usage: None,
            out_of_service,
            history: History::default(),
            notes: Vec::new(),
        };
        Self {
            site,
            options,
            state,
            nodes,
            holders: HashMap::new(),
            numbers: HashMap::new(),
            dependencies: Vec::new(),
            counts: Counts::default(),
            has_iso_times: false,
        }
    }

    fn finish(mut self) -> PresentState {
        for (at, text) in &self.dependencies {
            let dependency = Dependency::parse(text, &self.numbers);
            self.counts.never += u64::from(dependency.is_never());
            self.state.waiting[*at].dependency = Some(dependency);
        }
        self.state.notes = self.counts.notes();
        if self.has_iso_times && self.state.clock == Clock::Seconds {
            let text = "times of jobs.txt have no zone and are read as UTC, because the present instant is in seconds";
            self.state.notes.push(text.to_string());
            self.state.clock = Clock::Iso;
        }
        self.state
    }

    /// Returns the instant of a key.
    fn time(&mut self, record: &Record<'_>, key: &str) -> Result<Option<i64>, SiteError> {
        let time = record.parsed(key, instant)?.flatten();
        self.has_iso_times |= time.is_some_and(|(_, clock)| clock == Clock::Iso);
        Ok(time.map(|(at, _)| at))
    }

    /// Reads a job.
    fn job(&mut self, record: &Record<'_>) -> Result<(), SiteError> {
        let number: i64 =
            record.number("JobId")?.ok_or_else(|| record.error("JobId is missing"))?;
        let states = record.require("JobState", JOBS)?;
        let is = |known: &[&str]| states.split(',').any(|state| known.contains(&state));
        let is_running = is(&RUNNING);
        if !is_running && !is(&["PENDING"]) {
            self.counts.ended += 1;
            return Ok(());
        }
        self.counts.suspended += u64::from(is(&["SUSPENDED", "STOPPED"]));
        let (partitions, qos) = match self.places(record) {
            Ok(found) => found,
            Err(_) if self.options.unknown == UnknownPartition::Drop && !is_running => {
                self.counts.dropped += 1;
                return Ok(());
            }
            Err(problem) => return Err(record.error(format!("job {number}: {problem}"))),
        };
        let user = record.require("UserId", JOBS)?;
        let user = user.split('(').next().unwrap_or(user);
        let account = record.get("Account").unwrap_or_default();
        let association = self.site.associations.find_or_add(account, user);
        let limit = record.require("TimeLimit", JOBS)?;
        let limit = match limit {
            "Partition_Limit" => None,
            text => minutes(text).map_err(|e| record.error(format!("TimeLimit: {e}")))?,
        };
        let nodes = self.size(record)?;
        let submit = self.time(record, "SubmitTime")?;
        let submit = submit.ok_or_else(|| record.error("SubmitTime is missing"))?;
        let eligible = self.time(record, "EligibleTime")?;
        let accrue = self.time(record, "AccrueTime")?;
        let now = self.state.now;
        // Age counts from the time of accrual, which is after the eligible time if limits held the job back.
        let eligible = match eligible {
            Some(at) if at > now => at,
            at => accrue.filter(|&at| at <= now).or(at).unwrap_or(submit).max(submit),
        };
        let priority: Option<u32> = record.number("Priority")?;
        self.counts.features += u64::from(record.get("Features").is_some());
        self.counts.reservations += u64::from(record.get("Reservation").is_some());
        self.counts.licences += u64::from(record.get("Licenses").is_some());
        let mut job = SiteJob {
            number,
            submit,
            eligible,
            run: 0,
            nodes,
            cpus: None,
            limit,
            estimate: None,
            association,
            qos,
            partitions,
            nice: record.number("Nice")?.unwrap_or(0),
            priority: priority.filter(|&priority| priority == 0 && !is_running),
        };
        job.run = 60 * i64::from(job.planned_minutes(&self.site.partitions[job.partitions[0]]));
        let names =
            |id: String| JobNames { id, user: user.to_string(), account: account.to_string() };
        let array = record.get("ArrayJobId").filter(|_| record.get("ArrayTaskId").is_some());
        let tasks = record.get("ArrayTaskId").unwrap_or_default();
        if is_running {
            let id = array.map_or(number.to_string(), |array| format!("{array}_{tasks}"));
            return self.running(record, job, names(id));
        }
        if priority.is_none() && !self.options.calculates {
            return Err(record.error(format!(
                "job {number}: Priority is missing; give --priorities calculated"
            )));
        }
        let ids = match array {
            None => vec![number.to_string()],
            Some(array) => self.task_ids(record, array, tasks)?,
        };
        let reason = match priority {
            Some(0) => Reason::JobHeldAdmin,
            _ if record.get("Dependency").is_some() => Reason::Dependency,
            _ if job.eligible > now => Reason::BeginTime,
            _ => match Reason::of_name(record.get("Reason").unwrap_or("None")) {
                // What these jobs waited for is over.
                Some(Reason::Dependency | Reason::BeginTime | Reason::JobHeldAdmin) | None => {
                    Reason::None
                }
                Some(reason) => reason,
            },
        };
        for id in ids {
            let at = self.add(job.clone(), names(id));
            if let Some(text) = record.get("Dependency") {
                self.dependencies.push((self.state.waiting.len(), text.to_string()));
            }
            let waiting = Waiting { job: at, priority, reason, dependency: None, is_new: false };
            self.state.waiting.push(waiting);
        }
        Ok(())
    }

    /// Adds a job and returns its index.
    fn add(&mut self, job: SiteJob, names: JobNames) -> usize {
        let at = self.state.jobs.len();
        let number = job.number.to_string();
        if let Some((array, _)) = names.id.split_once('_') {
            self.numbers.entry(array.to_string()).or_default().push(at);
        }
        if names.id.split_once('_').is_none_or(|(array, _)| array != number) {
            self.numbers.entry(number).or_default().push(at);
        }
        if names.id.contains('_') {
            self.numbers.entry(names.id.clone()).or_default().push(at);
        }
        self.state.jobs.push(job);
        self.state.names.push(names);
        at
    }

    /// Returns the partitions and the QOS of a job.
    fn places(&self, record: &Record<'_>) -> Result<(Vec<usize>, usize), String> {
        let mut partitions = Vec::new();
        for name in record.get("Partition").unwrap_or_default().split(',') {
            let at = self.site.find_partition(name);
            let at = at.ok_or_else(|| format!("there is no partition {}", excerpt(name)))?;
            if !partitions.contains(&at) {
                partitions.push(at);
            }
        }
        let qos = match record.get("QOS") {
            Some(name) => self
                .site
                .find_qos(name)
                .ok_or_else(|| format!("there is no QOS {}", excerpt(name)))?,
            None => self.site.find_qos("normal").unwrap_or(0),
        };
        Ok((partitions, qos))
    }

    /// Returns the number of nodes of a job.
    fn size(&mut self, record: &Record<'_>) -> Result<u32, SiteError> {
        let text = record.require("NumNodes", JOBS)?;
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| {
            let number = text.parse().ok().filter(|&nodes: &u32| nodes > 0);
            number.ok_or_else(|| {
                record
                    .error(format!("NumNodes: \"{}\" is not a number of at least 1", excerpt(text)))
            })
        };
        let (least, most) = (number(least)?, number(most)?);
        self.counts.ranges += u64::from(least != most);
        Ok(least)
    }

    /// Adds a running job.
    fn running(
        &mut self,
        record: &Record<'_>,
        job: SiteJob,
        names: JobNames,
    ) -> Result<(), SiteError> {
        let id = names.id.clone();
        let start = self.time(record, "StartTime")?;
        let start = start.ok_or_else(|| record.error(format!("job {id}: StartTime is missing")))?;
        if start > self.state.now {
            let clock = self.state.clock;
            let (start, now) = (clock.format(start), clock.format(self.state.now));
            return Err(record
                .error(format!("job {id}: StartTime {start} is after the present instant {now}")));
        }
        let list = record.require("NodeList", JOBS)?;
        let list = nodes::names(list, self.site.nodes.len() as u64);
        let list = list.map_err(|e| record.error(format!("job {id}: NodeList: {e}")))?;
        let mut set = NodeSet::empty(self.site.nodes.len());
        for name in &list {
            let Some(&node) = self.nodes.get(name) else {
                let name = excerpt(name);
                return Err(
                    record.error(format!("job {id}: NodeList: slurm.conf has no node {name}"))
                );
            };
            if let Some(other) = self.holders.insert(node, id.clone()) {
                let problem = format!(
                    "job {id}: NodeList: job {other} runs on node {} as well; partitions whose jobs share nodes are not \
                     supported (a partition needs OverSubscribe=EXCLUSIVE, see the chapter on sites)",
                    excerpt(name)
                );
                return Err(record.error(problem));
            }
            set.insert(node);
        }
        if set.count() != job.nodes {
            let (listed, asked) = (set.count(), job.nodes);
            return Err(record
                .error(format!("job {id}: NodeList has {listed} nodes, but NumNodes is {asked}")));
        }
        let inside = |at: &usize| set.is_subset(&self.site.partitions[*at].nodes);
        let partition = job.partitions.iter().copied().find(inside).ok_or_else(|| {
            let name = excerpt(&self.site.partitions[job.partitions[0]].name);
            record.error(format!("job {id}: NodeList has nodes outside partition {name}"))
        })?;
        let mut job = job;
        job.run = 60 * i64::from(job.planned_minutes(&self.site.partitions[partition]));
        let at = self.add(job, names);
        self.state.running.push(Running { job: at, start, partition, nodes: set });
        Ok(())
    }

    /// Returns the names of the tasks of a waiting array, such as `4-9,12%2` or `0-20:5`.
    fn task_ids(
        &mut self,
        record: &Record<'_>,
        array: &str,
        tasks: &str,
    ) -> Result<Vec<String>, SiteError> {
        let (list, most) = tasks.split_once('%').unwrap_or((tasks, ""));
        self.counts.throttled += u64::from(!most.is_empty());
        let mut ids = Vec::new();
        let mut left_out = 0;
        let list = list.trim_start_matches('[').trim_end_matches(']');
        for part in list.split(',') {
            let (range, step) = part.split_once(':').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let numbers = [first, last, step].map(|text| text.trim().parse::<u64>().ok());
            let [Some(first), Some(last), Some(step @ 1..)] = numbers else {
                return Err(record
                    .error(format!("ArrayTaskId: \"{}\" is not a list of tasks", excerpt(tasks))));
            };
            if first > last || last >= u64::from(u32::MAX) {
                return Err(record
                    .error(format!("ArrayTaskId: \"{}\" is not a list of tasks", excerpt(tasks))));
            }
            let count = (last - first) / step + 1;
            let used = count.min((MOST_TASKS - ids.len()) as u64);
            ids.extend((0..used).map(|at| format!("{array}_{}", first + at * step)));
            left_out += count - used;
        }
        self.counts.tasks += left_out;
        Ok(ids)
    }
}
