//! Slurm's `sacct --json`, and the JSON of `scontrol show jobs` and `squeue`.
//!
//! ```text
//! {"jobs": [job, job, ..], "meta": .., ..}   one or several documents; an array of jobs is accepted, too
//! ```
//!
//! The jobs are read one at a time, without their steps, so memory does not grow with the log. A number is a JSON number or
//! `{"set": .., "infinite": .., "number": ..}`. Times are Unix seconds, limits are minutes. `sacct` has the times in `time`,
//! the controller has `submit_time`, `start_time`, and others. Expected starts and ends of jobs that have not ended are not
//! used.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::entry::UNKNOWN;
use super::slurm::{Id, Job, Jobs, Span, count, first_word};
use super::source::{Source, Submit, Unit};
use super::value::{digits, happened};
use super::zone::Moment;
use super::{BUFFER, Fault, ImportError, ReadStop, Reason, Sink};
use replay_workload::sanitize::BYTE_ORDER_MARK;
use replay_workload::swf::{self, Decoder, GzipFault};

/// Keys of a job that are read; all other keys, such as the steps, are skipped.
const KEYS: [&str; 29] = [
    "job_id",
    "array",
    "array_job_id",
    "array_task_id",
    "array_task_string",
    "het",
    "het_job_id",
    "het_job_offset",
    "time",
    "submit_time",
    "start_time",
    "end_time",
    "eligible_time",
    "time_limit",
    "state",
    "job_state",
    "allocation_nodes",
    "node_count",
    "cpus",
    "required",
    "tres",
    "tres_alloc_str",
    "tres_req_str",
    "nodes",
    "user",
    "user_name",
    "association",
    "account",
    "partition",
];

/// Numbers of 32 and 64 bits for a value that is not set, and for infinity.
const NOT_SET: [u64; 2] = [0xffff_fffe, u64::MAX - 1];
const INFINITE: [u64; 2] = [0xffff_ffff, u64::MAX];

/// A reader of Slurm's JSON.
pub(super) struct SacctJson {
    jobs: Jobs,
}

impl SacctJson {
    pub fn new(source: Source) -> SacctJson {
        SacctJson { jobs: Jobs::new(source) }
    }

    /// Reads a file.
    pub fn read(
        &mut self,
        input: impl Read,
        name: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        let file = || name.to_string();
        let unreadable = |source| swf::Error::Io { file: file(), source };
        let decoder = Decoder::new(input).map_err(unreadable)?;
        let digest = sink.take_digest();
        let mut input = BufReader::with_capacity(BUFFER, Hashed { inner: decoder, digest });
        let mut documents =
            Documents { reader: self, sink, number: 0, stop: None, has_jobs: false };
        let mark = BYTE_ORDER_MARK.len_utf8();
        if input.fill_buf().map_err(unreadable)?.starts_with(BYTE_ORDER_MARK.to_string().as_bytes())
        {
            input.consume(mark);
        }
        let damaged = |what: String| ImportError::Json { file: file(), what };
        while !skip_blanks(&mut input).map_err(unreadable)? {
            let mut json = serde_json::Deserializer::from_reader(&mut input);
            let result = (&mut documents).deserialize(&mut json);
            if let Some(stop) = documents.stop.take() {
                return Err(match stop {
                    ReadStop::Import(error) => error,
                    ReadStop::Output(source) => ImportError::Output(source),
                    ReadStop::Header(what) => damaged(what),
                    ReadStop::Fault(fault) => damaged(fault.reason.to_string()),
                });
            }
            let Err(error) = result else { continue };
            let fault = std::error::Error::source(&error);
            let fault = fault.and_then(|error| error.downcast_ref::<io::Error>());
            return Err(match (fault.and_then(GzipFault::of), error.is_io()) {
                (Some(fault), _) => swf::Error::Gzip { file: file(), line: 0, fault }.into(),
                (None, true) => swf::Error::Io { file: file(), source: error.into() }.into(),
                (None, false) => damaged(format!("this is not the JSON of sacct --json: {error}")),
            });
        }
        if !documents.has_jobs {
            return Err(damaged(
                "there is no array \"jobs\": this is not the JSON of sacct --json".to_string(),
            ));
        }
        let number = documents.number;
        sink.give_digest(input.into_inner().digest);
        sink.lines(number);
        Ok(())
    }

    /// Processes the end of the log.
    pub fn end(mut self, sink: &mut Sink<'_>) {
        self.jobs.end(sink);
    }

    /// Reads a record.
    fn record(
        &mut self,
        number: u64,
        fields: &Map<String, Value>,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadStop> {
        let record = Record { fields };
        let Some(id) = record.id()? else {
            return Err(record.fault("job_id", Reason::Empty).into());
        };
        let part = match Id::read(&id) {
            Some(Id::Job(part, task)) => {
                task.into_iter().for_each(|task| self.jobs.started(task));
                part
            }
            Some(Id::Tasks(array, tasks)) if self.jobs.tasks(number, array, tasks, sink) => {
                return Ok(());
            }
            _ => return Err(record.fault("job_id", Reason::NotAJob).into()),
        };
        let source = &self.jobs.source;
        let submit = record.time(&["time.submission", "submit_time"])?;
        let submit = submit.ok_or_else(|| record.fault("time.submission", Reason::Empty))?;
        let state = record.state();
        if state.is_empty() {
            return Err(record.fault("state.current", Reason::Empty).into());
        }
        let start = record.time(&["time.start", "start_time"])?;
        let end = record.time(&["time.end", "end_time"])?;
        let eligible = match source.submit {
            Submit::Submitted => None,
            Submit::Eligible => record.time(&["time.eligible", "eligible_time"])?,
        };
        let node_keys =
            ["allocation_nodes", "node_count", "tres.allocated/node", "tres_alloc_str/node"];
        let nodes = record.size(&node_keys)?;
        let cores = record.size(&["tres.allocated/cpu", "tres_alloc_str/cpu", "cpus"])?;
        let asked_nodes = record.size(&[
            "tres.requested/node",
            "tres_req_str/node",
            "node_count",
            "allocation_nodes",
        ])?;
        let asked_cores =
            record.size(&["tres.requested/cpu", "tres_req_str/cpu", "required.CPUs", "cpus"])?;
        let by_cores = source.size == Unit::Nodes
            && nodes.is_none()
            && asked_nodes.is_none()
            && cores.is_some();
        let (ran, asked) = match source.size {
            Unit::Nodes if !by_cores => (nodes, asked_nodes),
            _ => (cores, asked_cores),
        };
        let [user, other_user] = ["user", "user_name"].map(|key| record.text(key));
        let user = [user, other_user, record.text("association.user")];
        let account = [record.text("account"), record.text("association.account")];
        let job = Job {
            id: &id,
            part,
            submit,
            eligible,
            start,
            end,
            has_ends: true,
            on_clock: false,
            elapsed: record.span(&["time.elapsed"], 1)?,
            state,
            ran: Ok(ran),
            asked: Ok(asked),
            by_cores,
            requested: asked.filter(|&asked| asked > 0).unwrap_or(UNKNOWN),
            limit: Ok(record.span(&["time.limit", "time_limit"], 60)?),
            allocated: nodes.filter(|&nodes| nodes > 0),
            cores,
            nodes: record.text("nodes"),
            user: user.into_iter().find(|user| !user.is_empty()).unwrap_or_default(),
            account: account.into_iter().find(|account| !account.is_empty()).unwrap_or_default(),
            partition: record.text("partition"),
        };
        self.jobs.take(number, job, sink)
    }
}

/// A number of Slurm's JSON.
enum Number {
    Unset,
    Infinite,
    Is(i64),
}

/// Reads a number; `None` if the value is not a number.
fn number(value: &Value) -> Option<Number> {
    Some(match value {
        Value::Null => Number::Unset,
        Value::String(text) if text.is_empty() => Number::Unset,
        Value::String(text) => Number::Is(digits(text)?),
        Value::Number(own) => match (own.as_i64(), own.as_u64(), own.as_f64()) {
            (_, Some(special), _) if NOT_SET.contains(&special) => Number::Unset,
            (_, Some(special), _) if INFINITE.contains(&special) => Number::Infinite,
            (Some(own), ..) => Number::Is(own),
            (None, None, Some(own)) if own.fract() == 0.0 && own.abs() < 2f64.powi(53) => {
                Number::Is(own as i64)
            }
            _ => return None,
        },
        Value::Object(own) => match (own.get("infinite"), own.get("set")) {
            (Some(Value::Bool(true)), _) => Number::Infinite,
            (_, Some(Value::Bool(false))) => Number::Unset,
            _ => match own.get("number")? {
                Value::Object(_) => return None,
                own => number(own)?,
            },
        },
        Value::Bool(_) | Value::Array(_) => return None,
    })
}

/// The fields of a job.
struct Record<'a> {
    fields: &'a Map<String, Value>,
}

impl<'a> Record<'a> {
    /// Returns the value of a key, or of a key within an object, such as `time.start`.
    fn get(&self, key: &str) -> Option<&'a Value> {
        let mut keys = key.split('.');
        let first = self.fields.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(key))
    }

    fn fault(&self, key: &str, reason: Reason) -> Fault {
        let text = self.get(key).map_or(String::new(), Value::to_string);
        Fault { reason, field: key.to_string(), at: 0, text }
    }

    fn text(&self, key: &str) -> &'a str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Reads a number from the first of these keys that is set.
    fn number(&self, keys: &[&str], reason: Reason) -> Result<Number, Fault> {
        for key in keys {
            let own = self.get(key).map_or(Some(Number::Unset), number);
            match own.ok_or_else(|| self.fault(key, reason))? {
                Number::Unset => {}
                number => return Ok(number),
            }
        }
        Ok(Number::Unset)
    }

    /// Reads a time; `None` if it is 0 or not set.
    fn time(&self, keys: &[&str]) -> Result<Option<Moment>, Fault> {
        Ok(match self.number(keys, Reason::NotATime)? {
            Number::Is(time) if time < 0 => {
                let key = keys.iter().find(|key| self.get(key).is_some());
                return Err(self.fault(key.unwrap_or(&keys[0]), Reason::NotATime));
            }
            Number::Is(time) if happened(time) > 0 => Some(Moment::at(time)),
            _ => None,
        })
    }

    /// Reads a duration in units of `unit` seconds.
    fn span(&self, keys: &[&str], unit: i64) -> Result<Span, Fault> {
        Ok(match self.number(keys, Reason::NotADuration)? {
            Number::Unset => Span::Unknown,
            Number::Infinite => Span::Unlimited,
            Number::Is(number) if number < 0 => Span::Invalid,
            Number::Is(number) => Span::Seconds(number.saturating_mul(unit)),
        })
    }

    /// Reads a size above 0 from the first key that has one; 0 if there are only zeros; `None` if there is no size.
    /// `tres.allocated/cpu` is an entry of a list of resources, which is an array or a text such as `cpu=4,node=1`.
    fn size(&self, keys: &[&str]) -> Result<Option<i64>, Fault> {
        let mut has_zero = false;
        for key in keys {
            let own = match key.split_once('/') {
                None => self.number(&[key], Reason::NotANumber)?,
                Some((list, resource)) => match self.get(list) {
                    Some(Value::Array(list)) => {
                        let of = |one: &&Value| {
                            one.get("type").and_then(Value::as_str) == Some(resource)
                        };
                        let count = list.iter().find(of).and_then(|one| one.get("count"));
                        let count = count.map_or(Some(Number::Unset), number);
                        count.ok_or_else(|| self.fault(key, Reason::NotANumber))?
                    }
                    Some(Value::String(list)) => {
                        let of = |pair: &str| {
                            pair.split_once('=')
                                .filter(|pair| pair.0 == resource)
                                .map(|pair| pair.1.to_string())
                        };
                        match list.split(',').find_map(of) {
                            Some(text) => Number::Is(
                                count(&text).ok_or_else(|| self.fault(list, Reason::NotANumber))?,
                            ),
                            None => Number::Unset,
                        }
                    }
                    _ => Number::Unset,
                },
            };
            match own {
                Number::Is(size) if size > 0 => return Ok(Some(size)),
                Number::Is(size) if size < 0 => return Err(self.fault(key, Reason::NotANumber)),
                Number::Is(_) => has_zero = true,
                Number::Unset | Number::Infinite => {}
            }
        }
        Ok(has_zero.then_some(0))
    }

    /// Returns the state as `sacct` prints it: a flag that replaces the state, or the state, which is the first word of the
    /// list.
    fn state(&self) -> &'a str {
        let state =
            ["state.current", "job_state", "state"].into_iter().find_map(|key| self.get(key));
        match state {
            Some(Value::String(state)) => first_word(state),
            Some(Value::Array(words)) => {
                let words = || words.iter().filter_map(Value::as_str);
                let flag = words().find(|word| ["RESIZING", "REQUEUED"].contains(word));
                flag.or(words().next()).unwrap_or_default()
            }
            _ => "",
        }
    }

    /// Returns the id as `sacct` prints it: `7`, `7_2`, `7_[3-6]` or `7+1`.
    fn id(&self) -> Result<Option<String>, Fault> {
        let number = |keys: &[&str]| match self.number(keys, Reason::NotAJob) {
            Ok(Number::Is(number)) => Ok(Some(number)),
            Ok(_) => Ok(None),
            Err(fault) => Err(fault),
        };
        let array = number(&["array.job_id", "array_job_id"])?.filter(|&array| array > 0);
        if let Some(array) = array {
            if let Some(task) = number(&["array.task_id", "array_task_id"])? {
                return Ok(Some(format!("{array}_{task}")));
            }
            let tasks = [self.text("array.task"), self.text("array_task_string")];
            if let Some(tasks) = tasks.into_iter().find(|tasks| !tasks.is_empty()) {
                return Ok(Some(format!("{array}_[{}]", tasks.trim_matches(['[', ']']))));
            }
        }
        let het = number(&["het.job_id", "het_job_id"])?.filter(|&het| het > 0);
        if let (Some(het), Some(offset)) = (het, number(&["het.job_offset", "het_job_offset"])?) {
            return Ok(Some(format!("{het}+{offset}")));
        }
        Ok(number(&["job_id"])?.map(|id| id.to_string()))
    }
}

/// Skips blanks, and returns whether the input ends.
fn skip_blanks(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let blanks = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let (is_end, has_text) = (bytes.is_empty(), blanks < bytes.len());
        input.consume(blanks);
        if is_end || has_text {
            return Ok(is_end);
        }
    }
}

/// An input that hashes its bytes.
struct Hashed<R> {
    inner: R,
    digest: Option<blake3::Hasher>,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        if let Some(digest) = &mut self.digest {
            digest.update(&bytes[..count]);
        }
        Ok(count)
    }
}

/// Reads the jobs of documents.
struct Documents<'a, 'b, 'c> {
    reader: &'a mut SacctJson,
    sink: &'b mut Sink<'c>,
    /// Number of records so far.
    number: u64,
    /// Why the import stops, if it does not stop because of the JSON.
    stop: Option<ReadStop>,
    has_jobs: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Documents<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Documents<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the array \"jobs\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "jobs" => map.next_value_seed(&mut *self)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut jobs: A) -> Result<(), A::Error> {
        self.has_jobs = true;
        while let Some(fields) = jobs.next_element_seed(Fields)? {
            self.number += 1;
            let number = self.number;
            let Some(fields) = fields else {
                let fault = Fault {
                    reason: Reason::NotAJob,
                    field: "job".to_string(),
                    at: 0,
                    text: String::new(),
                };
                self.malformed::<A::Error>(fault)?;
                continue;
            };
            match self.reader.record(number, &fields, self.sink) {
                Ok(()) => {}
                Err(ReadStop::Fault(fault)) => self.malformed(fault)?,
                Err(stop) => {
                    self.stop = Some(stop);
                    return Err(A::Error::custom("stopped"));
                }
            }
        }
        Ok(())
    }
}

impl Documents<'_, '_, '_> {
    fn malformed<E: Error>(&mut self, fault: Fault) -> Result<(), E> {
        self.sink.malformed(self.number, "", fault).map_err(|error| {
            self.stop = Some(ReadStop::Import(error));
            E::custom("stopped")
        })
    }
}

/// Reads the fields of one job; `None` if the value is not an object.
struct Fields;

impl<'de> DeserializeSeed<'de> for Fields {
    type Value = Option<Map<String, Value>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fields {
    type Value = Option<Map<String, Value>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            match KEYS.contains(&&*key) {
                true => {
                    fields.insert(key, map.next_value()?);
                }
                false => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
}
