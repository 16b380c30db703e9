//! Finds the file of a trace by its name.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::load::strip_extensions;
use super::manifest::Manifest;
use crate::naming::nearest_few;

/// Environment variable that lists directories of traces, separated as in `PATH`.
pub const TRACES_VARIABLE: &str = "REPLAY_TRACES";

/// The repository's directory of traces, and the file that identifies it.
const TRACES: &str = "traces";
const MANIFEST: &str = "manifest.toml";

/// Extensions that may follow a trace's name.
const EXTENSIONS: [&str; 4] = [".swf.gz", ".swf", ".gz", ""];

/// The directories that are searched for traces, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    dirs: Vec<PathBuf>,
}

impl SearchPath {
    /// Creates a search path of these directories.
    pub fn new(dirs: impl IntoIterator<Item = PathBuf>) -> SearchPath {
        dirs.into_iter().fold(SearchPath::default(), SearchPath::with)
    }

    /// Returns the default search path: the directories of `$REPLAY_TRACES`, `traces/` in the current directory, and
    /// the `traces/` of the repository that contains the current directory or the program.
    pub fn from_env() -> SearchPath {
        let variable = std::env::var_os(TRACES_VARIABLE);
        let here = std::env::current_dir().ok();
        let program = std::env::current_exe().ok();
        let starts = [here.as_deref(), program.as_deref()];
        SearchPath::from_parts(variable.as_deref(), starts.into_iter().flatten())
    }

    /// Builds the path of [`SearchPath::from_env`] from explicit values: the value of the variable, and starting
    /// directories. From each starting directory, the function walks up to a directory with a `traces/manifest.toml`.
    pub fn from_parts<'a>(
        variable: Option<&OsStr>,
        starts: impl IntoIterator<Item = &'a Path>,
    ) -> SearchPath {
        let listed = variable
            .map(|value| std::env::split_paths(value).collect::<Vec<_>>())
            .unwrap_or_default();
        let listed = listed.into_iter().filter(|dir| !dir.as_os_str().is_empty());
        let path = SearchPath::new(listed).with(TRACES);
        let repositories = starts.into_iter().filter_map(|start| {
            start.ancestors().map(|dir| dir.join(TRACES)).find(|dir| dir.join(MANIFEST).is_file())
        });
        repositories.fold(path, SearchPath::with)
    }

    /// Appends a directory if the path does not already contain it.
    #[must_use]
    pub fn with(mut self, dir: impl Into<PathBuf>) -> SearchPath {
        let dir = dir.into();
        if !self.dirs.contains(&dir) {
            self.dirs.push(dir);
        }
        self
    }

    /// Returns the directories in search order.
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// Returns the file of a trace. If `name` is an existing path other than a directory, returns this path. If there
    /// is no such path, searches the current directory and then the directories of this path for a file with this name,
    /// with or without `.swf` and `.gz`. If no such file exists, searches for the file of a known trace with this name
    /// or alias.
    ///
    /// # Errors
    /// [`NotFound`], which lists the searched directories, similar names and the command to fetch the trace.
    pub fn resolve(&self, name: &str, manifest: &Manifest) -> Result<PathBuf, NotFound> {
        let given = PathBuf::from(name);
        // A path given by the user may be a pipe. The result of a search must be a regular file.
        if given.exists() && !given.is_dir() {
            return Ok(given);
        }
        let here = PathBuf::new();
        let stem = strip_extensions(name);
        if let Some(path) = first_file([&here].into_iter().chain(&self.dirs), name, stem) {
            return Ok(path);
        }
        manifest
            .matching(name)
            .find_map(|trace| first_file(&self.dirs, &trace.name, &trace.name))
            .ok_or_else(|| self.not_found(name, manifest))
    }

    fn not_found(&self, name: &str, manifest: &Manifest) -> NotFound {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let known = manifest.matching(name).next().is_some();
        let directory = Path::new(name).is_dir();
        let near = if known {
            Vec::new()
        } else {
            owned(nearest_few(strip_extensions(name), manifest.names().into_iter(), 3))
        };
        let fetch = near.first().map_or(name, String::as_str);
        let fetch = manifest
            .matching(fetch)
            .find(|trace| trace.url.is_some())
            .map(|trace| trace.name.clone());
        NotFound { name: name.to_owned(), looked_in: self.dirs.clone(), near, fetch, directory }
    }
}

/// Returns the first existing file in the directories: `name` as written, or `stem` with one of the extensions.
fn first_file<'a>(
    dirs: impl IntoIterator<Item = &'a PathBuf>,
    name: &str,
    stem: &str,
) -> Option<PathBuf> {
    dirs.into_iter().find_map(|dir| {
        let candidates = EXTENSIONS.iter().map(|extension| dir.join(format!("{stem}{extension}")));
        std::iter::once(dir.join(name)).chain(candidates).find(|path| path.is_file())
    })
}

/// Error: no file of a trace was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The requested name.
    pub name: String,
    /// The directories that were searched.
    pub looked_in: Vec<PathBuf>,
    /// Known names similar to the requested name, the most similar first; empty if the requested name is known.
    pub near: Vec<String>,
    /// Known trace that the message suggests to fetch: the requested trace or the most similar known trace.
    pub fetch: Option<String>,
    /// Whether the name is a directory.
    pub directory: bool,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.directory {
            return write!(f, "no trace \"{}\": it is a directory; name a file in it", self.name);
        }
        write!(f, "no trace \"{}\": no such file, and not found in", self.name)?;
        for (index, dir) in self.looked_in.iter().enumerate() {
            write!(f, "{} {}", if index == 0 { "" } else { "," }, dir.display())?;
        }
        if self.looked_in.is_empty() {
            f.write_str(" any directory (none was given)")?;
        }
        if !self.near.is_empty() {
            write!(f, "\ndid you mean {}?", self.near.join(", "))?;
        }
        match &self.fetch {
            Some(name) => write!(f, "\nto fetch it: replay fetch {name}"),
            None => f.write_str("\nknown traces: replay list traces"),
        }
    }
}

impl std::error::Error for NotFound {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fixture(files: &[&str]) -> (tempfile::TempDir, SearchPath, Manifest) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            fs::write(dir.path().join(file), "1 0 0 1 1\n").unwrap();
        }
        let search = SearchPath::new([dir.path().to_path_buf()]);
        (dir, search, Manifest::embedded().unwrap())
    }

    fn found(search: &SearchPath, manifest: &Manifest, name: &str) -> String {
        let path = search.resolve(name, manifest).unwrap();
        path.file_name().unwrap().to_string_lossy().into_owned()
    }

    #[test]
    fn resolves_names_with_and_without_extensions() {
        let (dir, search, manifest) = fixture(&["mine.swf", "KTH-SP2-1996-2.swf.gz"]);
        for name in ["mine", "mine.swf", "mine.swf.gz", "mine.gz"] {
            assert_eq!(found(&search, &manifest, name), "mine.swf");
        }
        for name in ["KTH-SP2", "kth-sp2", "kth-sp2-1996-2.SWF", "KTH-SP2-1996-2"] {
            assert_eq!(found(&search, &manifest, name), "KTH-SP2-1996-2.swf.gz");
        }
        let whole = dir.path().join("mine");
        assert!(search.resolve(&whole.display().to_string(), &manifest).is_ok());
    }

    #[test]
    fn an_alias_resolves_to_the_preferred_existing_file() {
        let (dir, search, manifest) =
            fixture(&["KTH-SP2-1996-2.1-cln.swf.gz", "SDSC-Par-1995-3.1-cln.rebuilt.swf.gz"]);
        assert_eq!(found(&search, &manifest, "KTH-SP2"), "KTH-SP2-1996-2.1-cln.swf.gz");
        assert_eq!(found(&search, &manifest, "SDSC-Par95"), "SDSC-Par-1995-3.1-cln.rebuilt.swf.gz");
        fs::write(dir.path().join("KTH-SP2-1996-2.swf"), "").unwrap();
        assert_eq!(found(&search, &manifest, "KTH-SP2"), "KTH-SP2-1996-2.swf");
    }

    #[test]
    fn the_error_suggests_names_and_a_command() {
        let (dir, search, manifest) = fixture(&[]);
        let place = dir.path().display().to_string();
        let known = search.resolve("lanl-cm5", &manifest).unwrap_err().to_string();
        assert!(known.contains(&place) && !known.contains("did you mean"), "{known}");
        assert!(known.ends_with("replay fetch LANL-CM5-1994-4.1-cln"), "{known}");
        let near = search.resolve("KHT-SP2.swf", &manifest).unwrap_err().to_string();
        assert!(near.contains("did you mean KTH-SP2"), "{near}");
        let far = search.resolve("quarks", &manifest).unwrap_err().to_string();
        assert!(far.ends_with("replay list traces"), "{far}");
    }

    #[test]
    fn from_parts_combines_variable_and_repositories() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("target/debug/replay");
        fs::create_dir_all(dir.path().join("traces")).unwrap();
        fs::write(dir.path().join("traces/manifest.toml"), "").unwrap();
        let search =
            SearchPath::from_parts(Some(OsStr::new("/a::/b")), [deep.as_path(), deep.as_path()]);
        let expected =
            [PathBuf::from("/a"), "/b".into(), "traces".into(), dir.path().join("traces")];
        assert_eq!(search.dirs(), expected);
    }
}
