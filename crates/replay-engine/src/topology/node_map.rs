//! Maps node names of a log to points of the machine. The user writes the map as a file.
//!
//! ```text
//! node,x,y,z
//! 26,0,0,13
//! 27,0,0,13
//! ```
//!
//! The header names one coordinate per dimension of the machine. Alternatively, the header names a single coordinate:
//! the number of the point in scan order. Several nodes may share a point. Lines that begin with `#` are comments.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{BufReader, Read};

use super::{NodeId, Topology};
use crate::lines::{LineError, Lines};
use crate::number::{counted, digits, grouped};
use crate::sanitize::excerpt;
use crate::workload::RecordedPlacementsError;

/// Columns of coordinates, after the column of the node.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The points of nodes as read from a file, before they are checked against a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeMap {
    file: String,
    /// Number of coordinates of each node.
    axes: usize,
    /// For each node name, the line and the coordinates.
    rows: HashMap<String, (u64, [u64; 3])>,
}

type FieldProblem = (&'static str, String);

impl NodeMap {
    /// Reads a map of nodes; `file` is the file name in messages.
    ///
    /// # Errors
    /// [`RecordedPlacementsError`] with line and field if the header is missing, if a field is not a number, or if a
    /// node is repeated.
    ///
    /// ```
    /// use replay_engine::topology::NodeMap;
    ///
    /// let map = NodeMap::read("node,x,y\nn1,3,0\nn2,3,1\n".as_bytes(), "map.csv")?;
    /// let points = map.points(&["n2".to_string()], &"4x4".parse().expect("a mesh"))?;
    /// assert_eq!(points[0].0, 13);
    /// let error = NodeMap::read("node,x,y\nn1,3\n".as_bytes(), "map.csv").expect_err("no y");
    /// assert_eq!(error.to_string(), "map.csv:2: field y: is missing");
    /// # Ok::<(), replay_engine::workload::RecordedPlacementsError>(())
    /// ```
    pub fn read(input: impl Read, file: &str) -> Result<Self, RecordedPlacementsError> {
        let mut map = Self { file: file.to_string(), ..Self::default() };
        let mut lines = Lines::new(BufReader::new(input));
        loop {
            let row = lines.next_text(|line, text| match text.starts_with('#') {
                true => Ok(()),
                false => map.line(line, text).map_err(|problem| (line, problem)),
            });
            let (line, (field, problem)) = match row {
                Ok(Some(Ok(()))) => continue,
                Ok(None) if map.axes > 0 => return Ok(map),
                Ok(None) => (lines.number().max(1), ("node", no_header(""))),
                Ok(Some(Err(problem))) => problem,
                Err(LineError::Io(source)) => {
                    return Err(RecordedPlacementsError::Io { file: map.file, source });
                }
                Err(error) => (lines.number(), ("node", error.to_string())),
            };
            return Err(map.problem(line, field, problem));
        }
    }

    fn problem(&self, line: u64, field: &'static str, problem: String) -> RecordedPlacementsError {
        RecordedPlacementsError::Field { file: self.file.clone(), line, field, problem }
    }

    fn line(&mut self, line: u64, text: &str) -> Result<(), FieldProblem> {
        let mut fields = text.split(',').map(|field| field.trim().trim_matches('"').trim());
        let first = fields.next().unwrap_or_default();
        if self.axes == 0 {
            let is = |name: &str, own: &str| name.eq_ignore_ascii_case(own);
            let named: Vec<&str> = fields.collect();
            let known = is(first, "node")
                && (1..=AXES.len()).contains(&named.len())
                && named.iter().zip(AXES).all(|(name, axis)| is(name, axis));
            self.axes = if known { named.len() } else { 0 };
            return if known { Ok(()) } else { Err(("node", no_header(text))) };
        }
        if first.is_empty() {
            return Err(("node", "is missing".to_string()));
        }
        let mut place = [0; 3];
        for (place, axis) in place.iter_mut().zip(AXES).take(self.axes) {
            let text = fields.next().filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| (axis, "is missing".to_string()))?;
            let number = digits(text).map(|number| number as u64);
            *place =
                number.ok_or_else(|| (axis, format!("\"{}\" is not a number", excerpt(text))))?;
        }
        if fields.next().is_some() {
            let count = text.split(',').count() as u64;
            let problem = format!(
                "the line has {}, but the header has {}",
                counted(count, "field"),
                self.axes + 1
            );
            return Err((AXES[self.axes - 1], problem));
        }
        match self.rows.entry(first.to_string()) {
            Entry::Vacant(vacant) => {
                vacant.insert((line, place));
                Ok(())
            }
            Entry::Occupied(other) => {
                let (node, line) = (excerpt(first), other.get().0);
                Err(("node", format!("node \"{node}\" already occurs in line {line}")))
            }
        }
    }

    /// Returns the points of the named nodes on a machine.
    ///
    /// # Errors
    /// [`RecordedPlacementsError`] if a node is missing from the file, if a point is outside the machine, or if the
    /// number of coordinates is neither one nor the number of dimensions of the machine.
    pub fn points(
        &self,
        names: &[String],
        machine: &Topology,
    ) -> Result<Vec<NodeId>, RecordedPlacementsError> {
        let grid = machine.grid().filter(|grid| self.axes > 1 || grid.dimensions() == 1);
        if let Some(grid) = grid.filter(|grid| grid.dimensions() != self.axes) {
            let coordinates = counted(self.axes as u64, "coordinate");
            let dimensions = counted(grid.dimensions() as u64, "dimension");
            let problem = format!("the header has {coordinates}, but {machine} has {dimensions}");
            return Err(self.problem(1, AXES[self.axes - 1], problem));
        }
        if grid.is_none() && self.axes > 1 {
            let problem = format!(
                "{machine} has no coordinates: use the header \"node,x\", where x is the number of a point"
            );
            return Err(self.problem(1, "x", problem));
        }
        let mut unknown = names.iter().filter(|name| !self.rows.contains_key(*name));
        if let Some(node) = unknown.next() {
            let (file, node) = (self.file.clone(), excerpt(node));
            return Err(RecordedPlacementsError::Unmapped {
                file,
                node,
                more: unknown.count() as u64,
            });
        }
        let point = |name: &String| {
            let Some((line, place)) = self.rows.get(name) else { return Ok(NodeId(0)) };
            let extent = |axis: usize| match grid {
                Some(grid) => grid.extent(axis) as u64,
                None => machine.processors() as u64,
            };
            for axis in 0..self.axes {
                if place[axis] >= extent(axis) {
                    let most = grouped(extent(axis) - 1);
                    let problem = format!(
                        "{} is outside {machine}: the permitted values are 0 to {most}",
                        place[axis]
                    );
                    return Err(self.problem(*line, AXES[axis], problem));
                }
            }
            Ok(match grid {
                Some(grid) => grid.node(place.map(|place| place as u16)),
                None => NodeId(place[0] as u32),
            })
        };
        names.iter().map(point).collect()
    }
}

fn no_header(text: &str) -> String {
    format!(
        "the header is \"{}\", not \"node,x,y,z\" with a column x, y or z for each dimension of the machine",
        excerpt(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str, names: &[&str], machine: &str) -> Result<Vec<u32>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let map = NodeMap::read(text.as_bytes(), "m.csv").map_err(|error| error.to_string())?;
        let points = map.points(&names, &machine.parse().expect("a machine"));
        points.map(|all| all.iter().map(|point| point.0).collect()).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_one_to_three_coordinates() {
        let three = "# of ours\nNODE, X,y,z\n\na,1,2,0\n\"b\",0,0,1\n 26,3,3,3\n";
        assert_eq!(points(three, &["b", "26", "a"], "torus:4x4x4"), Ok(vec![1, 63, 24]));
        assert_eq!(points("node,x,y\na,1,2\n", &["a", "a"], "4x4*2"), Ok(vec![6, 6]));
        for machine in ["4x4", "2x2x4", "hypercube:4"] {
            assert_eq!(points("node,x\nn9,9\n", &["n9"], machine), Ok(vec![9]), "{machine}");
        }
    }

    #[test]
    fn errors_name_line_and_field() {
        for (text, machine, words) in [
            ("", "4x4", "m.csv:1: field node: the header is \"\", not \"node,x,y,z\""),
            ("n,x,y\n", "4x4", "m.csv:1: field node: the header is \"n,x,y\""),
            ("node,y,x\n", "4x4", "m.csv:1: field node: the header is"),
            ("node,x,y,z,w\n", "4x4", "m.csv:1: field node: the header is"),
            ("node,x,y\na,1\n", "4x4", "m.csv:2: field y: is missing"),
            ("node,x,y\n,1,1\n", "4x4", "m.csv:2: field node: is missing"),
            ("node,x,y\na,1,-1\n", "4x4", "m.csv:2: field y: \"-1\" is not a number"),
            (
                "node,x,y\na,1,1,1\n",
                "4x4",
                "m.csv:2: field y: the line has 4 fields, but the header has 3",
            ),
            (
                "node,x,y\na,1,1\na,1,2\n",
                "4x4",
                "m.csv:3: field node: node \"a\" already occurs in line 2",
            ),
            (
                "node,x,y\na,1,4\n",
                "4x4",
                "m.csv:2: field y: 4 is outside 4x4: the permitted values are 0 to 3",
            ),
            (
                "node,x\na,16\n",
                "4x4",
                "m.csv:2: field x: 16 is outside 4x4: the permitted values are 0 to 15",
            ),
            (
                "node,x,y\na,1,1\n",
                "4x4x4",
                "m.csv:1: field y: the header has 2 coordinates, but 4x4x4 has 3",
            ),
            (
                "node,x,y\na,1,1\n",
                "hypercube:4",
                "m.csv:1: field x: hypercube:4 has no coordinates",
            ),
            (
                "node,x,y\nb,1,1\n",
                "4x4",
                "m.csv: node \"a\" is missing, although the log places jobs on it",
            ),
        ] {
            let error = points(text, &["a"], machine).expect_err(text);
            assert!(error.starts_with(words), "{error}");
        }
        let more = points("node,x,y\nb,1,1\n", &["a", "b", "c"], "4x4").expect_err("two");
        assert!(more.ends_with("and 1 more"), "{more}");
    }
}
