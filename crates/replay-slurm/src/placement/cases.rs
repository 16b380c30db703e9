//! Decisions read from a file, for external checks.
//!
//! The input is a CSV file with one row per decision and these columns in any order:
//!
//! | column | meaning |
//! |---|---|
//! | topology | the machine: a file `NAME.yaml` in a directory |
//! | weights | optional: a weight per node, separated by spaces; empty if all are equal |
//! | free | free nodes as ranges, such as `0-3,7` |
//! | required | optional: required nodes, as ranges |
//! | n | number of nodes of the job |
//! | segment | optional: number of nodes of each segment; empty for none |
//!
//! Nodes are numbered torus by torus, and by cell within a torus (x varies fastest); holes are skipped. The output
//! repeats each row, including any other columns, and adds:
//!
//! | column | meaning |
//! |---|---|
//! | status | `ok`, or the reason for the failure: `no_fit`, `segment_no_fit`, `req_not_avail`, `req_no_match`, `req_too_many` (the job waits), `bad_config` (the job never starts) |
//! | nodes | the job's nodes as ranges |
//! | picks | `TORUS:2x2x1@0-0-1:COST` for each segment, separated by `;` |
//! | fragmentation_before, fragmentation_after | sum of the sizes of the placements that contain a busy node |
//! | rank_order | the job's nodes in the order of its processes, separated by spaces |

use std::collections::HashMap;
use std::io::{BufRead, Write};

use crate::placement::config::{Config, ConfigError};
use crate::placement::decide::{Decider, Pick};
use crate::placement::fragmentation::fragmentation;
use crate::placement::rank;
use crate::placement::segments::{Denied, Request, place};
use crate::placement::torus::{Cells, Layout};
use replay_engine::lines::{LineError, Lines};
use replay_engine::sanitize::excerpt;
use replay_engine::table::{io_error, ranges};

/// Input columns, and whether they are required.
const COLUMNS: [(&str, bool); 6] = [
    ("topology", true),
    ("weights", false),
    ("free", true),
    ("required", false),
    ("n", true),
    ("segment", false),
];

/// Columns added by the output.
const ADDED: [&str; 6] =
    ["status", "nodes", "picks", "fragmentation_before", "fragmentation_after", "rank_order"];

/// Error of processing a file of decisions.
#[derive(Debug, thiserror::Error)]
pub enum CasesError {
    /// A row is not valid.
    #[error("{file}:{line}: {problem}")]
    Row {
        /// The file name as given by the user.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Description of the problem, including the column.
        problem: String,
    },
    /// The machine of a row cannot be read.
    #[error("{file}:{line}: {cause}")]
    Machine {
        /// The file name as given by the user.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The error of reading the machine.
        cause: Box<MachineError>,
    },
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

/// Error of reading a machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is not valid.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Makes all decisions of a file, writes them to `output`, and returns their number and the jobs that can never start.
/// `machine` reads the machine with the given name.
///
/// # Errors
/// [`CasesError`] at the first error. The rows before the error have been written.
pub fn answer(
    input: impl BufRead,
    file: &str,
    mut machine: impl FnMut(&str) -> Result<Config, MachineError>,
    output: impl Write,
) -> Result<Answered, CasesError> {
    let prepared = |name: &str| {
        let layout = machine(name)?.layout;
        let decider = Decider::new(&layout);
        Ok((layout, decider))
    };
    let answer = |columns: &Columns, record: &csv::StringRecord, (layout, decider): &_| {
        Ok(columns.case(record, layout)?.answer(layout, decider))
    };
    answer_rows(input, file, &COLUMNS, &ADDED, prepared, answer, output)
}

/// The decisions that were made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answered {
    /// Number of decisions.
    pub count: u64,
    /// Reasons of the status `bad_config`, in the order of their first rows. Each reason has the line of its first row
    /// and the number of its rows.
    pub bad: Vec<(String, u64, u64)>,
}

impl Answered {
    fn add(&mut self, line: u64, bad: Option<String>) {
        self.count += 1;
        let Some(reason) = bad else { return };
        match self.bad.iter_mut().find(|one| one.0 == reason) {
            Some((.., rows)) => *rows += 1,
            None => self.bad.push((reason, line, 1)),
        }
    }
}

/// The added columns of a row, and the reason of the status `bad_config`.
pub(crate) type Answer<const N: usize> = ([String; N], Option<String>);

/// Reads a file with `columns`, and writes each row with the `added` columns to `output`. `machine` reads the machine
/// with the given name; `answer` returns the answer to a row, or a description of the problem.
///
/// # Errors
/// [`CasesError`] at the first error. The rows before the error have been written.
pub(crate) fn answer_rows<M, const N: usize>(
    input: impl BufRead,
    file: &str,
    columns: &[(&'static str, bool)],
    added: &[&str; N],
    mut machine: impl FnMut(&str) -> Result<M, MachineError>,
    mut answer: impl FnMut(&Columns, &csv::StringRecord, &M) -> Result<Answer<N>, String>,
    output: impl Write,
) -> Result<Answered, CasesError> {
    let mut output = csv::Writer::from_writer(output);
    let write_error = |error| CasesError::Write(io_error(error));
    let mut machines: HashMap<String, M> = HashMap::new();
    let mut header: Option<Columns> = None;
    let (mut lines, mut answered) = (Lines::new(input), Answered::default());
    loop {
        let row = |line, problem| CasesError::Row { file: file.to_string(), line, problem };
        let read = lines.next_text(|line, text| {
            if text.trim().is_empty() {
                return Ok(());
            }
            let record = record(text).map_err(|problem| row(line, problem))?;
            let Some(header) = &header else {
                let read = Columns::of(&record, columns, added);
                let read = read.map_err(|problem| row(line, problem))?;
                output
                    .write_record(record.iter().chain(added.iter().copied()))
                    .map_err(write_error)?;
                header = Some(read);
                return Ok(());
            };
            if record.len() != header.count {
                let problem = format!("expected {} fields, found {}", header.count, record.len());
                return Err(row(line, problem));
            }
            let name = header.field(&record, "topology");
            if !machines.contains_key(name) {
                let read = machine(name).map_err(|cause| CasesError::Machine {
                    file: file.to_string(),
                    line,
                    cause: Box::new(cause),
                })?;
                machines.insert(name.to_string(), read);
            }
            let Some(machine) = machines.get(name) else { return Ok(()) };
            let answer = answer(header, &record, machine).map_err(|problem| row(line, problem))?;
            let fields = answer.0.iter().map(String::as_str);
            output.write_record(record.iter().chain(fields)).map_err(write_error)?;
            answered.add(line, answer.1);
            Ok(())
        });
        match read {
            Ok(Some(outcome)) => outcome?,
            Ok(None) => break,
            Err(LineError::Io(cause)) => {
                return Err(row(lines.number() + 1, format!("cannot be read: {cause}")));
            }
            Err(error @ LineError::TooLong(_)) => {
                return Err(row(lines.number(), error.to_string()));
            }
        }
    }
    if header.is_none() {
        let problem = "the file is empty; expected a header line with column names";
        return Err(CasesError::Row { file: file.to_string(), line: 1, problem: problem.into() });
    }
    output.flush()?;
    Ok(answered)
}

/// Parses the fields of a line.
pub(crate) fn record(line: &str) -> Result<csv::StringRecord, String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    reader.read_record(&mut record).map_err(|e| e.to_string())?;
    Ok(record)
}

/// Positions of the columns.
pub(crate) struct Columns {
    count: usize,
    places: Vec<(&'static str, usize)>,
}

impl Columns {
    fn of(
        header: &csv::StringRecord,
        columns: &[(&'static str, bool)],
        added: &[&str],
    ) -> Result<Self, String> {
        let mut places = Vec::new();
        for &(name, needed) in columns {
            let mut found = header.iter().enumerate().filter(|(_, field)| field.trim() == name);
            match (found.next(), found.next()) {
                (Some((place, _)), None) => places.push((name, place)),
                (None, _) if !needed => {}
                (None, _) => {
                    let needed: Vec<_> =
                        columns.iter().filter(|column| column.1).map(|column| column.0).collect();
                    return Err(format!(
                        "the column {name} is missing; required columns are {}",
                        needed.join(", ")
                    ));
                }
                (Some(_), Some(_)) => return Err(format!("the column {name} appears twice")),
            }
        }
        if let Some(name) = header.iter().find(|field| added.contains(&field.trim())) {
            return Err(format!(
                "the column {} is reserved for the output; remove it from the cases",
                excerpt(name)
            ));
        }
        Ok(Self { count: header.len(), places })
    }

    /// Returns a field without surrounding spaces; empty if the column is missing.
    pub(crate) fn field<'a>(&self, record: &'a csv::StringRecord, name: &str) -> &'a str {
        let place = self.places.iter().find(|column| column.0 == name);
        place.and_then(|&(_, place)| record.get(place)).unwrap_or_default().trim()
    }

    fn case(&self, record: &csv::StringRecord, layout: &Layout) -> Result<Case, String> {
        let nodes = |name| {
            let nodes = parse_ranges(self.field(record, name), layout.nodes() as u32);
            nodes.map_err(|problem| format!("{name}: {problem}"))
        };
        let number = |name: &str| {
            let text = self.field(record, name);
            let number = text.parse().ok().filter(|&number: &u32| number > 0);
            number.ok_or_else(|| {
                format!("{name}: \"{}\" is not an integer from 1 to {}", excerpt(text), u32::MAX)
            })
        };
        let segment = self.field(record, "segment");
        let required = self.field(record, "required");
        let weights = self.field(record, "weights");
        Ok(Case {
            free: layout.cells_of(nodes("free")?),
            request: Request {
                size: number("n")?,
                segment: (!segment.is_empty()).then(|| number("segment")).transpose()?,
                required: (!required.is_empty())
                    .then(|| Ok::<_, String>(layout.cells_of(nodes("required")?)))
                    .transpose()?,
                exact: false,
            },
            weights: (!weights.is_empty())
                .then(|| self::weights(weights, layout.nodes()))
                .transpose()?,
        })
    }
}

/// Parses the weights: whole numbers separated by spaces, one per node.
fn weights(text: &str, nodes: usize) -> Result<Vec<u64>, String> {
    let number = |word: &str| {
        word.parse().map_err(|_| format!("weights: \"{}\" is not a whole number", excerpt(word)))
    };
    let all: Vec<u64> = text.split_whitespace().map(number).collect::<Result<_, _>>()?;
    match all.len() == nodes {
        true => Ok(all),
        false => {
            Err(format!("weights: expected {nodes} numbers, one per node, found {}", all.len()))
        }
    }
}

/// Parses ranges of nodes below `nodes`.
fn parse_ranges(text: &str, nodes: u32) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    if nodes == 0 && !text.is_empty() {
        return Err(format!("\"{}\": the machine has no nodes", excerpt(text)));
    }
    for part in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let bounds = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
        match bounds {
            Some((first, last)) if first <= last && last < nodes => all.extend(first..=last),
            _ => {
                let problem = format!(
                    "\"{}\" is neither a node from 0 to {} nor a range of nodes",
                    excerpt(part),
                    nodes.saturating_sub(1)
                );
                return Err(problem);
            }
        }
    }
    Ok(all)
}

/// A decision to make.
struct Case {
    free: Vec<Cells>,
    request: Request,
    weights: Option<Vec<u64>>,
}

impl Case {
    /// Makes the decision and returns the values of the columns that the output adds.
    fn answer(mut self, layout: &Layout, decider: &Decider) -> Answer<{ ADDED.len() }> {
        let before = fragmentation(layout, &self.free).to_string();
        let weights = self.weights.as_deref();
        let mut machine = decider.machine(layout, self.free.clone());
        let picks = match place(decider, layout, &mut machine, &self.request, weights) {
            Ok(picks) => picks,
            Err(denied) => {
                let none = String::new;
                let bad = match denied {
                    Denied::BadConfiguration(reason) => Some(reason.to_string()),
                    _ => None,
                };
                let word = denied.word().into();
                return ([word, none(), none(), before.clone(), before, none()], bad);
            }
        };
        let mut job = layout.none();
        for pick in &picks {
            job[pick.torus].insert_all(pick.mask(layout));
            self.free[pick.torus].remove_all(pick.mask(layout));
        }
        let order = rank::order(layout, &job).into_iter().map(|(_, node)| node.to_string());
        let fields = [
            "ok".to_string(),
            ranges(&layout.nodes_of(&job).map(i64::from).collect::<Vec<_>>()),
            picks.iter().map(|pick| format_pick(layout, pick)).collect::<Vec<_>>().join(";"),
            before,
            fragmentation(layout, &self.free).to_string(),
            order.collect::<Vec<_>>().join(" "),
        ];
        (fields, None)
    }
}

/// Formats a pick as `TORUS:2x2x1@0-0-1:COST`.
pub(crate) fn format_pick(layout: &Layout, pick: &Pick) -> String {
    let torus = &layout.toruses()[pick.torus];
    let placement = &torus.placements()[pick.placement];
    let [[w, d, h], [x, y, z]] = [placement.sides, placement.base(pick.anchor)];
    format!("{}:{w}x{d}x{h}@{x}-{y}-{z}:{}", torus.name, pick.cost)
}
