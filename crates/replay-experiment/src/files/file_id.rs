use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// Maximum number of symbolic links that are followed, as in Linux.
const MOST_LINKS: usize = 40;

/// Identity of a file that exists, or that a command is about to create. Two paths with the same identity lead to the
/// same file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileId {
    /// Device and inode of an existing file.
    Existing(u64, u64),
    /// Absolute path, without links, of a file that does not exist.
    Absent(PathBuf),
}

impl FileId {
    /// Returns the identity of the file to which a path leads. Returns `None` for a character device such as a terminal
    /// or `/dev/null`, which has no content that an output could replace, and for a path that cannot be resolved.
    pub fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(meta) if meta.file_type().is_char_device() => None,
            Ok(meta) => Some(Self::Existing(meta.dev(), meta.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(Self::Absent(canonical(&resolved(path).ok()?)?))
            }
            Err(_) => None,
        }
    }
}

/// Returns whether two paths lead to the same file, which must exist.
pub fn same_file(one: &Path, other: &Path) -> bool {
    let id = |path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    id(one).is_some_and(|one| id(other) == Some(one))
}

/// Follows the symbolic links that a path names, to the path of a file that may not exist.
///
/// # Errors
/// [`io::Error`] if the links form a loop or cannot be read.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() => {
                let target = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(path),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// Returns the absolute path of a file, without links in the part of the path that exists.
fn canonical(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let existing = absolute.ancestors().find_map(|above| {
        let below = absolute.strip_prefix(above).ok()?;
        Some((fs::canonicalize(above).ok()?, below))
    });
    let (mut canonical, below) = existing?;
    for part in below.components() {
        match part {
            Component::ParentDir => _ = canonical.pop(),
            part => canonical.push(part),
        }
    }
    Some(canonical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_of_one_file_have_one_identity() {
        let dir = tempfile::tempdir().expect("a folder");
        let id = |name: &str| FileId::of(&dir.path().join(name)).expect("an identity");
        fs::create_dir(dir.path().join("below")).expect("a folder");
        fs::write(dir.path().join("a"), "").expect("a file");
        fs::hard_link(dir.path().join("a"), dir.path().join("hard")).expect("a link");
        for (target, name) in [("a", "link"), ("below", "folder"), ("below/new", "missing")] {
            symlink(target, dir.path().join(name)).expect("a link");
        }
        for (one, other) in [
            ("a", "link"),
            ("a", "hard"),
            ("a", "below/../a"),
            ("missing", "below/new"),
            ("folder/new", "below/new"),
            ("x/y/new", "x/z/../y/new"),
        ] {
            assert_eq!(id(one), id(other), "{one} {other}");
        }
        assert!(id("a") != id("below/new") && id("below/new") != id("below/other"));
        assert_eq!(FileId::of("/dev/null".as_ref()), None);
    }
}
