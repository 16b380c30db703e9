//! A `topology.yaml` as the value of a parameter. The file describes boxes and a machine.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::str::FromStr;
use std::sync::Arc;

use crate::placement::config::Config;
use replay_engine::lines::LONGEST_TEXT;
use replay_engine::topology::Topology;

/// Path of a file, and its content at the time when the parameter was parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    path: String,
    text: Arc<str>,
    /// Whether [`Display`](fmt::Display) writes a hash of the content. If `false`, the path is displayed instead.
    by_content: bool,
}

impl Described {
    /// Parses the topology named `entry`, or the default topology of the file.
    ///
    /// # Errors
    /// A message with line and key if the file is not valid.
    pub fn config(&self, entry: Option<&str>) -> Result<Config, String> {
        Config::read(&self.text, &self.path, entry, None).map_err(|error| error.to_string())
    }

    /// Returns the machine of the topology named `entry`.
    ///
    /// # Errors
    /// A message if the file is not valid or describes no machine.
    pub fn machine(&self, entry: Option<&str>) -> Result<Topology, String> {
        let Config { name, layout, warnings, .. } = self.config(entry)?;
        layout.machine().ok_or_else(|| {
            let warnings = warnings.iter().map(|warning| format!("; {warning}"));
            let (path, why) = (&self.path, warnings.collect::<String>());
            match layout.nodes() {
                0 => format!("{path}: the topology {name} has no node{why}"),
                _ => format!("{path}: the topology {name} has too many cells for a machine"),
            }
        })
    }

    /// Returns the parameter in the form that is displayed as a hash of the file's content.
    pub fn by_content(&self) -> Self {
        Self { by_content: true, ..self.clone() }
    }
}

impl FromStr for Described {
    type Err = String;

    fn from_str(path: &str) -> Result<Self, String> {
        let mut text = String::new();
        let read =
            File::open(path).and_then(|file| file.take(LONGEST_TEXT + 1).read_to_string(&mut text));
        match read {
            Err(error) => Err(format!("cannot be read: {error}")),
            Ok(_) if text.len() as u64 > LONGEST_TEXT => {
                Err(format!("has more than {LONGEST_TEXT} bytes"))
            }
            Ok(_) => Ok(Self { path: path.to_string(), text: text.into(), by_content: false }),
        }
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by_content {
            true => f.write_str(&blake3::hash(self.text.as_bytes()).to_hex()[..16]),
            false => f.write_str(&self.path),
        }
    }
}
