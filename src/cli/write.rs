//! Output files that the user names: checks before any work, and final names after all files are complete.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::exit::Failure;
use replay_experiment::files::{AtomicFile, FileId};

/// An output file of a command and how messages name it, such as `--write FILE`.
#[derive(Clone, Debug)]
pub struct NamedOutput {
    /// The option or the role of the file, and its path.
    pub name: String,
    /// The path.
    pub path: PathBuf,
}

impl NamedOutput {
    /// Names the file of an option.
    pub fn of(option: &str, path: &Path) -> Self {
        Self { name: format!("{option} {}", path.display()), path: path.to_path_buf() }
    }

    /// Names a file that is written beside the file of an option.
    pub fn beside(output: &Self, path: &Path) -> Self {
        let name = format!("{}: side file {}", output.name, path.display());
        Self { name, path: path.to_path_buf() }
    }
}

/// Checks, before anything is written, that no output is an input or another output. Files are compared by identity,
/// not by path. `inputs` that do not exist are ignored. `-` as an input is standard input.
///
/// # Errors
/// A usage error that names both files.
pub fn check_apart(
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    outputs: &[NamedOutput],
) -> Result<(), Failure> {
    if outputs.is_empty() {
        return Ok(());
    }
    let ids: Vec<Option<FileId>> = outputs.iter().map(|output| FileId::of(&output.path)).collect();
    for input in inputs {
        let input = input.as_ref();
        let read = if input.as_os_str() == "-" { Path::new("/dev/stdin") } else { input };
        let Some(id @ FileId::Existing(..)) = FileId::of(read) else { continue };
        if let Some(at) = ids.iter().position(|output| output.as_ref() == Some(&id)) {
            let input = match input {
                path if path == outputs[at].path => String::new(),
                path if path.as_os_str() == "-" => " on standard input".to_string(),
                path => format!(" {}", path.display()),
            };
            return Err(Failure::usage_message(format!(
                "{}: this file is also the input{input}; name another file",
                outputs[at].name
            )));
        }
    }
    for (at, id) in ids.iter().enumerate() {
        if let Some(first) = ids[..at].iter().position(|other| id.is_some() && other == id) {
            return Err(Failure::usage_message(format!(
                "{}: this file is also written as {}; name another file",
                outputs[at].name, outputs[first].name
            )));
        }
    }
    Ok(())
}

/// A file that gets its final name when it is complete.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: AtomicFile,
}

impl OutputFile {
    /// Creates the file under a temporary name, and missing parent directories.
    ///
    /// # Errors
    /// A usage error if the file cannot be created.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = AtomicFile::create(path).map_err(|e| Failure::output(path.display(), e))?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    /// Returns the final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Converts a write error to a failure that names the file.
    pub fn failed(&self, error: io::Error) -> Failure {
        Failure::output(self.path.display(), error)
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// A usage error if the file cannot be written.
    pub fn complete(&self) -> Result<(), Failure> {
        self.file.complete().map_err(|e| self.failed(e))
    }

    /// Completes the file and renames it to its final name.
    ///
    /// # Errors
    /// A usage error if the file cannot be written or renamed.
    pub fn finish(self) -> Result<(), Failure> {
        finish_all([self])
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Gives files their final names, in order, after all of them are complete and on the disk.
///
/// # Errors
/// A usage error if a file cannot be written or renamed. If a file cannot be completed, no file is renamed.
pub fn finish_all(files: impl IntoIterator<Item = OutputFile>) -> Result<(), Failure> {
    let files: Vec<OutputFile> = files.into_iter().collect();
    files.iter().try_for_each(OutputFile::complete)?;
    files.iter().try_for_each(|output| output.file.finish().map_err(|e| output.failed(e)))
}
