//! Splits lines of `sacct` into columns, if fields contain the delimiter.
//!
//! Fields are not quoted, and free text may contain the delimiter. A line with surplus fields is split so that every
//! column that is not free text takes one field, and this field is valid for its column.

use std::collections::HashSet;

use crate::row::Cell;
use crate::slurm::{Id, NOTHING, Span, count, first_word, state};
use crate::value::{date, digits, slurm_duration};
use crate::zone::{Moment, Zone};

/// Columns with free text, in lower case. `Constraints` and `Licenses` separate alternatives with `|`.
const FREE: [&str; 15] = [
    "submitline",
    "jobname",
    "workdir",
    "comment",
    "admincomment",
    "systemcomment",
    "constraints",
    "reason",
    "extra",
    "container",
    "stdout",
    "stderr",
    "stdin",
    "licenses",
    "wckey",
];

/// Largest number of splits of a line that are compared.
const MOST: usize = 64;

/// The values that a column can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any text, which may contain delimiters and line breaks.
    Free,
    Id,
    /// A time that is always known.
    Submit,
    Time,
    State,
    Number,
    Duration,
    /// Two numbers, `0:15`.
    ExitCode,
    /// A list of nodes.
    Nodes,
    /// A list of resources, `cpu=4,node=1`.
    Resources,
    /// A name, or a list of names or nodes, without blanks.
    Word,
    /// Any text without a delimiter.
    Other,
}

/// Returns the kind of a column.
fn kind(name: &str) -> Kind {
    let name = name.to_ascii_lowercase();
    match &*name {
        name if FREE.contains(&name) => Kind::Free,
        "jobid" | "jobidraw" => Kind::Id,
        "submit" => Kind::Submit,
        "start" | "end" | "eligible" => Kind::Time,
        "state" => Kind::State,
        "allocnodes" | "nnodes" | "reqnodes" | "alloccpus" | "ncpus" | "reqcpus" | "ntasks"
        | "priority" | "uid" | "gid" | "associd" | "dbindex" | "qosraw" | "restarts" => {
            Kind::Number
        }
        "elapsed" | "elapsedraw" | "timelimit" | "timelimitraw" | "suspended" | "cputime"
        | "cputimeraw" | "totalcpu" | "usercpu" | "systemcpu" | "planned" | "reserved" => {
            Kind::Duration
        }
        "exitcode" | "derivedexitcode" => Kind::ExitCode,
        "nodelist" => Kind::Nodes,
        "alloctres" | "reqtres" => Kind::Resources,
        "partition" | "account" | "user" | "qos" | "cluster" => Kind::Word,
        _ => Kind::Other,
    }
}

impl Kind {
    /// Returns whether a column of this kind can have this text.
    fn fits(self, text: &str) -> bool {
        let is_time = |text: &str| digits(text).is_some() || date(text, &Zone::default()).is_ok();
        match self {
            Kind::Free | Kind::Other => true,
            // Blanks around the text are never part of an id.
            Kind::Id => Id::read(text).is_some(),
            Kind::Submit => is_time(text.trim()),
            Kind::Time => NOTHING.contains(&text.trim()) || is_time(text.trim()),
            Kind::State => state(first_word(text)).2,
            Kind::Number => count(text.trim()).is_some(),
            Kind::Duration => {
                Span::read(text.trim(), |text| digits(text).or_else(|| slurm_duration(text)))
                    .is_some()
            }
            Kind::ExitCode => {
                let text = text.trim();
                text.is_empty()
                    || text.split_once(':').is_some_and(|(a, b)| digits(a).and(digits(b)).is_some())
            }
            Kind::Nodes => {
                let text = text.trim();
                text == "None assigned"
                    || NOTHING.contains(&text)
                    || !text.contains([' ', '/', '=', ':', '"'])
            }
            Kind::Resources => {
                text.trim().is_empty()
                    || text.split(',').all(|one| one.contains('=') && !one.contains(' '))
            }
            Kind::Word => !text.trim().contains([' ', '\t', '"', '\'', '=', '/']),
        }
    }
}

/// The result of a split.
pub(super) enum Split {
    /// The only split with these values.
    One(Vec<Cell>),
    /// No split gives every column a valid value.
    Nothing,
    /// Several splits with different values.
    Several,
}

/// The columns of a header, for splits.
pub(super) struct Layout {
    kinds: Vec<Kind>,
    /// Columns with values of the job; other columns are not read.
    used: Vec<usize>,
    /// Submission, start and end.
    times: [Option<usize>; 3],
    zone: Zone,
}

impl Layout {
    pub fn new<'a>(
        names: impl Iterator<Item = &'a str>,
        used: Vec<usize>,
        times: [Option<usize>; 3],
        zone: Zone,
    ) -> Layout {
        Layout { kinds: names.map(kind).collect(), used, times, zone }
    }

    /// Returns whether the last column contains free text.
    pub fn ends_free(&self) -> bool {
        self.kinds.last() == Some(&Kind::Free)
    }

    /// Returns whether a column contains free text.
    pub fn has_free(&self) -> bool {
        self.kinds.contains(&Kind::Free)
    }

    /// Returns whether a line can be the first line of a record that a free text continues on the next line: the columns
    /// before the first free text have valid values.
    pub fn can_continue(&self, text: &str, cells: &[Cell]) -> bool {
        let Some(free) = self.kinds.iter().position(|&kind| kind == Kind::Free) else {
            return false;
        };
        cells.len() > free
            && self
                .kinds
                .iter()
                .zip(&cells[..free])
                .all(|(kind, cell)| kind.fits(&text[cell.start..cell.end]))
    }

    /// Returns whether a line is the beginning of a record rather than the continuation of a text: it has an id in its
    /// column and a delimiter after the id, even if the rest is cut, or all its columns have valid values.
    pub fn begins(&self, text: &str, cells: &[Cell]) -> bool {
        let is_id = |(&kind, cell): (&Kind, &Cell)| {
            let field = &text[cell.start..cell.end];
            kind == Kind::Id && kind.fits(field) && !field.contains(char::is_whitespace)
        };
        let before = &cells[..cells.len().saturating_sub(1)];
        self.kinds.iter().zip(before).any(is_id)
            || !matches!(self.split(text, cells), Split::Nothing)
    }

    /// Splits a line into columns. `cells` are the texts between the delimiters.
    pub fn split(&self, text: &str, cells: &[Cell]) -> Split {
        if cells.len() < self.kinds.len() {
            return Split::Nothing;
        }
        let mut search = Search {
            layout: self,
            text,
            cells,
            dead: HashSet::new(),
            taken: Vec::new(),
            found: Vec::new(),
        };
        search.go(0, 0);
        let found = search.found;
        if found.len() >= MOST {
            return Split::Several;
        }
        let mut found = found.into_iter().filter(|split| self.is_in_order(text, split));
        let Some(first) = found.next() else { return Split::Nothing };
        let field = |split: &[Cell], at: usize| &text[split[at].start..split[at].end];
        match found.all(|other| self.used.iter().all(|&at| field(&first, at) == field(&other, at)))
        {
            true => Split::One(first),
            false => Split::Several,
        }
    }

    /// Returns whether the known times of a record can be in order.
    fn is_in_order(&self, text: &str, split: &[Cell]) -> bool {
        let time = |at: &Option<usize>| {
            let field = text[split[(*at)?].start..split[(*at)?].end].trim();
            digits(field).map(Moment::at).or_else(|| date(field, &self.zone).ok())
        };
        let known: Vec<Moment> = self.times.iter().filter_map(time).collect();
        known.windows(2).all(|pair| pair[0].earlier <= pair[1].later)
    }
}

/// A search for the splits of a line.
struct Search<'a> {
    layout: &'a Layout,
    text: &'a str,
    cells: &'a [Cell],
    /// Pairs of column and field from which no split is possible.
    dead: HashSet<(usize, usize)>,
    /// For each column so far: the first and the last of its fields.
    taken: Vec<(usize, usize)>,
    found: Vec<Vec<Cell>>,
}

impl Search<'_> {
    /// Assigns the fields from `field` on to the columns from `column` on.
    fn go(&mut self, column: usize, field: usize) {
        let kinds = &self.layout.kinds;
        let Some(&kind) = kinds.get(column) else {
            let cell = |&(first, last): &(usize, usize)| Cell {
                start: self.cells[first].start,
                end: self.cells[last].end,
                doubled: false,
            };
            self.found.push(self.taken.iter().map(cell).collect());
            return;
        };
        if self.found.len() >= MOST || self.dead.contains(&(column, field)) {
            return;
        }
        let before = self.found.len();
        let surplus = (self.cells.len() - field) - (kinds.len() - column);
        let is_last = !kinds[column + 1..].contains(&Kind::Free);
        // Adjacent free texts are equivalent, so the last one takes the surplus.
        let takes = match (kind, kinds.get(column + 1)) {
            (Kind::Free, Some(Kind::Free)) => 0..=0,
            (Kind::Free, _) if is_last => surplus..=surplus,
            (Kind::Free, _) => 0..=surplus,
            _ if is_last && surplus > 0 => return,
            _ => 0..=0,
        };
        for more in takes {
            let cell = self.cells[field];
            if kind != Kind::Free && !kind.fits(&self.text[cell.start..cell.end]) {
                continue;
            }
            self.taken.push((field, field + more));
            self.go(column + 1, field + more + 1);
            self.taken.pop();
        }
        if self.found.len() == before {
            self.dead.insert((column, field));
        }
    }
}
