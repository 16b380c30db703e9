//! Errors and warnings about the files of a site, with file and line.

/// Error in a file of a site.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}{}: {problem}", at(*line))]
pub struct SiteError {
    /// The file name as given by the user.
    pub file: String,
    /// The line, from 1; 0 if the error concerns the whole file.
    pub line: u64,
    /// What is wrong, with the name of the key or column, and what to do.
    pub problem: String,
}

/// A part of a file that is read, but has no effect or another effect than in Slurm.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}{}: {text}", at(*line))]
pub struct Warning {
    /// The file name as given by the user.
    pub file: String,
    /// The line, from 1; 0 if the warning concerns the whole file.
    pub line: u64,
    /// The warning, which begins with the name of the key or column.
    pub text: String,
}

/// Formats a line number after a file name.
fn at(line: u64) -> String {
    if line == 0 { String::new() } else { format!(":{line}") }
}

impl SiteError {
    /// Creates an error on a line of a file; line 0 is the whole file.
    pub fn new(file: &str, line: u64, problem: impl Into<String>) -> Self {
        Self { file: file.to_string(), line, problem: problem.into() }
    }
}

impl Warning {
    /// Creates a warning on a line of a file; line 0 is the whole file.
    pub fn new(file: &str, line: u64, text: impl Into<String>) -> Self {
        Self { file: file.to_string(), line, text: text.into() }
    }

    /// Creates the warning that a key or option has no effect. `effect` is a clause that describes what Slurm does with it.
    pub fn not_modelled(file: &str, line: u64, key: &str, effect: &str) -> Self {
        Self::new(file, line, format!("`{key}` is not modelled: {effect}"))
    }
}

/// The message of the operating system for a file that cannot be read, as an error about the file.
pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> SiteError {
    SiteError::new(file, 0, format!("cannot be read: {error}"))
}
