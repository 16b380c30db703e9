//! Parser of outage files.
//!
//! ```text
//! # empty until: no end
//! from,until,what
//! 3600,7200,box 0 0 0 3 3 0
//! 5000,6000,node 17,20-22
//! 10000,,all
//! ```
//!
//! All times are in seconds of the trace, after the trace's load has been scaled. `node` (or `nodes`) is followed by
//! processor numbers in scan order, or by point numbers if a point has several processors. `box` is followed by two
//! inclusive corners, with or without z.

use std::io::{BufRead, BufReader, Read};

use super::Window;
use crate::lines::{LineError, Lines};
use crate::sanitize::excerpt;
use crate::scheduler::FOREVER;
use crate::topology::{NodeId, Topology};
use crate::workload::nodes::{NodeListError, ranges};

/// The windows of an outage file, before they are checked against a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutageFile {
    /// The file name for messages.
    pub name: String,
    rows: Vec<Row>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    line: u64,
    from: i64,
    until: Option<i64>,
    what: What,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum What {
    All,
    /// First and last number of each range.
    Nodes(Vec<(u64, u64)>),
    /// The two corners of the box; z is 0 if the file gives no z.
    Box {
        low: [u64; 3],
        high: [u64; 3],
        flat: bool,
    },
}

/// Error of reading an outage file.
#[derive(Debug, thiserror::Error)]
pub enum OutageError {
    /// The input cannot be read.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file name.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A field is not valid.
    #[error("{file}:{line}: field {field}: {problem}")]
    Field {
        /// The file name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The field: `from`, `until` or `what`.
        field: &'static str,
        /// Description of the problem.
        problem: String,
    },
}

/// The header line.
const HEADER: &str = "from,until,what";

impl OutageFile {
    /// Reads an outage file; `name` is its name in messages. Empty input has no windows.
    ///
    /// # Errors
    /// [`OutageError`], with line and field, if the input is not valid.
    ///
    /// ```
    /// use replay_engine::simulation::OutageFile;
    ///
    /// let file = OutageFile::read("from,until,what\n60,90,node 2-3\n".as_bytes(), "down.csv")?;
    /// let read_windows = file.on(&"4x4".parse().expect("a mesh"))?;
    /// assert_eq!((read_windows[0].from, read_windows[0].until, read_windows[0].nodes.len()), (60, Some(90), 2));
    /// let bad = OutageFile::read("from,until,what\n60,60,all\n".as_bytes(), "down.csv").unwrap_err();
    /// assert_eq!(bad.to_string(), "down.csv:2: field until: 60 is not after 60, the start of the window");
    /// # Ok::<(), replay_engine::simulation::OutageError>(())
    /// ```
    pub fn read(input: impl Read, name: &str) -> Result<Self, OutageError> {
        Self::of_lines(BufReader::new(input), name)
    }

    fn of_lines(input: impl BufRead, name: &str) -> Result<Self, OutageError> {
        let mut lines = Lines::new(input);
        let (mut rows, mut headed) = (Vec::new(), false);
        loop {
            let row = lines.next_text(|line, text| {
                if text.starts_with('#') {
                    return Ok(None);
                }
                if !std::mem::replace(&mut headed, true) {
                    let header: String = text.split_whitespace().collect();
                    let problem =
                        || format!("the header is \"{}\", not \"{HEADER}\"", excerpt(text));
                    return match header.eq_ignore_ascii_case(HEADER) {
                        true => Ok(None),
                        false => Err((line, "from", problem())),
                    };
                }
                row(line, text).map(Some).map_err(|(field, problem)| (line, field, problem))
            });
            let row = match row {
                Ok(row) => row,
                Err(LineError::TooLong(_)) => {
                    let problem = LineError::TooLong(Vec::new()).to_string();
                    Some(Err((lines.number(), "what", problem)))
                }
                Err(LineError::Io(source)) => {
                    return Err(OutageError::Read { file: name.to_string(), source });
                }
            };
            match row {
                None => return Ok(Self { name: name.to_string(), rows }),
                Some(Ok(row)) => rows.extend(row),
                Some(Err((line, field, problem))) => {
                    return Err(OutageError::Field {
                        file: name.to_string(),
                        line,
                        field,
                        problem,
                    });
                }
            }
        }
    }

    /// Returns the windows on a machine.
    ///
    /// # Errors
    /// [`OutageError`], with line and field, if a processor does not exist on the machine.
    pub fn on(&self, machine: &Topology) -> Result<Vec<Window>, OutageError> {
        let window = |row: &Row| {
            let nodes = row.what.nodes(machine).map_err(|problem| OutageError::Field {
                file: self.name.clone(),
                line: row.line,
                field: "what",
                problem,
            })?;
            Ok(Window { from: row.from, until: row.until, nodes })
        };
        self.rows.iter().map(window).collect()
    }
}

type FieldProblem = (&'static str, String);

fn row(line: u64, text: &str) -> Result<Row, FieldProblem> {
    let mut fields = text.splitn(3, ',').map(str::trim);
    let from = fields.next().unwrap_or_default();
    let from = time("from", from)?;
    if from < 0 {
        return Err(("from", format!("{from} is negative; trace times begin at 0")));
    }
    let until = fields.next().ok_or(("until", "is missing".to_string()))?;
    let until = if until.is_empty() { None } else { Some(time("until", until)?) };
    if let Some(until) = until.filter(|&until| until <= from) {
        return Err(("until", format!("{until} is not after {from}, the start of the window")));
    }
    let what = fields.next().filter(|what| !what.is_empty());
    let what = what.ok_or(("what", "is missing".to_string()))?;
    // Some programs quote a list because it contains commas.
    let bare = what.strip_prefix('"').and_then(|what| what.strip_suffix('"')).unwrap_or(what);
    let what = What::parse(bare).map_err(|why| {
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        let what = excerpt(what);
        (
            "what",
            format!("\"{what}\" is none of \"node LIST\", \"box x y z X Y Z\" and \"all\"{why}"),
        )
    })?;
    Ok(Row { line, from, until, what })
}

fn time(field: &'static str, text: &str) -> Result<i64, FieldProblem> {
    let seconds: Option<i64> = text.parse().ok();
    seconds.filter(|seconds| seconds.abs() < FOREVER).ok_or_else(|| {
        let problem = match text {
            "" => "is missing".to_string(),
            text => format!("\"{}\" is not a number of seconds", excerpt(text)),
        };
        (field, problem)
    })
}

impl What {
    /// Parses the field. The error is `Some` if the field contains a node list that cannot be parsed.
    fn parse(text: &str) -> Result<Self, Option<NodeListError>> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.to_ascii_lowercase().as_str() {
            "all" if rest.trim().is_empty() => Ok(What::All),
            "node" | "nodes" => ranges(rest).map(What::Nodes).map_err(Some),
            "box" => Self::of_sides(rest).ok_or(None),
            _ => Err(None),
        }
    }

    fn of_sides(text: &str) -> Option<Self> {
        let sides: Vec<u64> = text.split_whitespace().map(number).collect::<Option<_>>()?;
        match sides[..] {
            [x, y, to_x, to_y] => {
                Some(What::Box { low: [x, y, 0], high: [to_x, to_y, 0], flat: true })
            }
            [x, y, z, to_x, to_y, to_z] => {
                Some(What::Box { low: [x, y, z], high: [to_x, to_y, to_z], flat: false })
            }
            _ => None,
        }
    }

    /// Returns the processors on a machine, in scan order.
    fn nodes(&self, machine: &Topology) -> Result<Vec<NodeId>, String> {
        let processors = machine.processors() as u64;
        match self {
            What::All => Ok(machine.nodes().collect()),
            What::Nodes(parts) => {
                if let Some((_, last)) = parts.iter().find(|(_, last)| *last >= processors) {
                    return Err(format!(
                        "node {last} does not exist; {machine} has nodes 0 to {}",
                        processors - 1
                    ));
                }
                let all = parts.iter().flat_map(|&(first, last)| first..=last);
                let mut nodes: Vec<NodeId> = all.map(|node| NodeId(node as u32)).collect();
                nodes.sort_unstable();
                nodes.dedup();
                Ok(nodes)
            }
            What::Box { low, high, flat } => {
                let grid = machine
                    .grid()
                    .ok_or_else(|| format!("{machine} has no boxes; use node LIST"))?;
                if *flat && grid.dimensions() == 3 {
                    return Err(format!("a box on {machine} needs six numbers: x y z X Y Z"));
                }
                for axis in 0..3 {
                    if low[axis] > high[axis] {
                        return Err(format!(
                            "the lower coordinate {} is greater than the upper coordinate {}",
                            low[axis], high[axis]
                        ));
                    }
                    if high[axis] >= grid.extent(axis) as u64 {
                        return Err(format!("{} is outside {machine}", high[axis]));
                    }
                }
                let range = |axis: usize| low[axis]..=high[axis];
                let cells = range(0).flat_map(|x| range(1).map(move |y| (x, y)));
                let cells = cells.flat_map(|(x, y)| range(2).map(move |z| [x, y, z]));
                Ok(cells.map(|cell| grid.node(cell.map(|p| p as u16))).collect())
            }
        }
    }
}

/// Parses a number of 1 to 10 digits.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<OutageFile, String> {
        OutageFile::read(text.as_bytes(), "down.csv").map_err(|error| error.to_string())
    }

    fn on(what: &str, machine: &str) -> Result<Vec<u32>, String> {
        let file = read(&format!("from,until,what\n1,2,{what}\n"))?;
        let read_windows = file.on(&machine.parse().expect("a machine"));
        let read_windows = read_windows.map_err(|error| error.to_string())?;
        Ok(read_windows[0].nodes.iter().map(|node| node.0).collect())
    }

    #[test]
    fn read_windows() {
        let text =
            "# down\n from, until ,what\n\n3600,7200,box 0 0 1 1\n5000,,node 3-5,7\n0,9,all\n";
        let file = read(text).expect("three read_windows");
        let read_windows = file.on(&"3x3".parse().expect("a mesh")).expect("they fit");
        let times: Vec<_> = read_windows.iter().map(|window| (window.from, window.until)).collect();
        assert_eq!(times, [(3600, Some(7200)), (5000, None), (0, Some(9))]);
        let nodes =
            |at: usize| read_windows[at].nodes.iter().map(|node| node.0).collect::<Vec<_>>();
        assert_eq!((nodes(0), nodes(1)), (vec![0, 1, 3, 4], vec![3, 4, 5, 7]));
        assert_eq!(read_windows[2].nodes.len(), 9);
        assert_eq!(on("\"node 2,1,1-2\"", "hypercube:2"), Ok(vec![1, 2]));
        assert_eq!(on("box 0 0 0 1 0 1", "2x2x2"), Ok(vec![0, 1, 4, 5]));
        assert_eq!(read(""), Ok(OutageFile { name: "down.csv".into(), rows: Vec::new() }));
    }

    #[test]
    fn errors_have_line_and_field() {
        for (row, field, problem) in [
            ("x,2,all", "from", "\"x\" is not a number of seconds"),
            (",2,all", "from", "is missing"),
            ("1", "until", "is missing"),
            ("1,b,all", "until", "\"b\" is not a number"),
            ("20000,20000,node 1", "until", "20000 is not after 20000"),
            ("1,2", "what", "is missing"),
            ("1,2,", "what", "is missing"),
            ("1,2,rack 3", "what", "\"rack 3\" is none of \"node LIST\""),
            ("1,2,node 5-3", "what", "\"5-3\": a range that runs backwards"),
            ("1,2,node", "what", "is none of"),
            (
                "1,2,node 1,,2",
                "what",
                "is none of \"node LIST\", \"box x y z X Y Z\" and \"all\": \"\": an empty name",
            ),
            ("1,2,box 1 2 3", "what", "is none of"),
            ("1,2,all 3", "what", "is none of"),
            ("99999999999999999999,,all", "from", "is not a number of seconds"),
        ] {
            let error = read(&format!("#\nfrom,until,what\n0,1,all\n{row}\n")).expect_err(row);
            let place = format!("down.csv:4: field {field}: ");
            assert!(error.starts_with(&place) && error.contains(problem), "{row}: {error}");
        }
        let error = read("start,end,what\n").expect_err("another header");
        assert!(error.contains("down.csv:1: field from: the header is"), "{error}");
        for (what, machine, problem) in [
            ("node 16", "4x4", "node 16 does not exist; 4x4 has nodes 0 to 15"),
            ("box 0 0 3 4", "4x4", "4 is outside 4x4"),
            ("box 2 0 1 1", "4x4", "2 is greater than the upper coordinate 1"),
            ("box 0 0 1 1", "2x2x2", "six numbers"),
            ("box 0 0 1 1", "hypercube:3", "has no boxes"),
        ] {
            let error = on(what, machine).expect_err(what);
            assert!(
                error.contains("down.csv:2: field what: ") && error.contains(problem),
                "{error}"
            );
        }
    }

    proptest! {
        /// Parsing never panics, and all processors of accepted windows are on the machine.
        #[test]
        fn any_text_is_windows_or_an_error(text in "[0-9a-z,\\- #\"\n]{0,60}") {
            let text = format!("from,until,what\n{text}");
            if let Ok(file) = read(&text)
                && let Ok(read_windows) = file.on(&"4x4".parse().expect("a mesh"))
            {
                for window in read_windows {
                    prop_assert!(window.until.is_none_or(|until| until > window.from));
                    prop_assert!(window.nodes.iter().all(|node| node.0 < 16));
                }
            }
        }
    }
}
