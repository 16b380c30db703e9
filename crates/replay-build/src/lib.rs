//! The macro [`build!`], with which a program records the commit, the sources and the compiler of its build.
//!
//! A build script would set environment variables for all targets of its package, so that every commit would compile the
//! library of the package again. The macro is expanded where it is written, in the file of `main`: a commit compiles
//! this file alone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro::TokenStream;

/// Folders and files that determine the results, relative to the root of the workspace; patterns of git.
const SOURCES: [&str; 3] = ["src", "crates/*/src/*", "Cargo.lock"];
/// Crates whose sources are not in the program.
const ABSENT: [&str; 3] = ["replay-build", "replay-py", "replay-reference"];

/// Expands to the commit, the digest of the sources and the compiler of this build, as `[&'static str; 3]`.
///
/// The commit ends in "-dirty" if the sources differ from the commit. All checkouts of the same sources have the same
/// digest. Tests are not part of the sources. A value that cannot be determined, for example the commit outside a
/// repository, is "unknown".
#[proc_macro]
pub fn build(_: TokenStream) -> TokenStream {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = package.ancestors().find(|dir| dir.join("Cargo.lock").is_file()).unwrap_or(&package);
    // A procedural macro runs in the compiler.
    let compiler = std::env::current_exe().ok();
    let compiler = compiler.and_then(|compiler| output(Command::new(compiler).arg("--version")));
    let values =
        [commit(root), format!("{:016x}", digest(root)), compiler.unwrap_or(UNKNOWN.into())];
    // The compiler expands the macro again when an included file changes. The reflog changes with every commit; changed
    // sources compile the file that contains the macro again without being included.
    let log = git(root, &["rev-parse", "--git-path", "logs/HEAD"]).map(|log| root.join(log));
    let included = [log, Some(root.join("Cargo.lock"))].into_iter().flatten();
    let included = included.filter(|file| file.is_file());
    let included = included.map(|file| format!("const _: &[u8] = include_bytes!({file:?});"));
    let code = format!("{{ {} {values:?} }}", included.collect::<String>());
    code.parse().expect("a block expression")
}

const UNKNOWN: &str = "unknown";

/// Returns the trimmed standard output of a command; `None` if the command fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    output(Command::new("git").current_dir(root).args(arguments))
}

/// Returns the abbreviated commit of the checkout at `root`, with "-dirty" if its sources differ from the commit.
fn commit(root: &Path) -> String {
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"]).unwrap_or(UNKNOWN.into());
    let status = [&["status", "--porcelain", "--"][..], &SOURCES].concat();
    match git(root, &status).is_some_and(|changed| !changed.is_empty()) {
        true => commit + "-dirty",
        false => commit,
    }
}

/// Returns a digest of the sources below `root`, without tests. The digest depends neither on the machine nor on the
/// compiler.
fn digest(root: &Path) -> u64 {
    let mut files = vec![root.join("Cargo.lock")];
    list(&root.join("src"), &mut files);
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    for member in crates.filter(|member| !ABSENT.iter().any(|absent| member.file_name() == *absent))
    {
        list(&member.path().join("src"), &mut files);
    }
    files.sort();
    let (mut sources, mut tests) = (Vec::new(), HashSet::new());
    for file in files {
        let text = std::fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        if file.extension().is_some_and(|extension| extension == "rs") {
            let (code, modules) = without_tests(&text);
            tests.extend(modules.into_iter().map(|module| submodules(&file).join(module)));
            sources.push((file, code.join("\n")));
        } else {
            sources.push((file, text));
        }
    }
    // FNV-1a: the digest only distinguishes builds.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    // A test module is a file and may be a folder of the same name.
    let is_test =
        |file: &Path| file.ancestors().any(|path| tests.contains(&path.with_extension("")));
    for (file, text) in sources.iter().filter(|(file, _)| !is_test(file)) {
        add(&file.strip_prefix(root).unwrap_or(file).to_string_lossy());
        add(text);
    }
    digest
}

/// Appends all files below a folder to `files`.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => list(&path, files),
            path => files.push(path),
        }
    }
}

/// Returns the folder that contains the submodules of a source file.
fn submodules(file: &Path) -> PathBuf {
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") => file.with_file_name(""),
        _ => file.with_extension(""),
    }
}

/// Returns the lines of a source file without the items that are compiled for tests only, and the names of the test
/// modules in other files. An item ends at the first line that has its indent and ends in `;`, `}` or `,`, as rustfmt
/// writes it.
fn without_tests(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut code, mut modules) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(indent) = line.strip_suffix("#[cfg(test)]").filter(|text| text.trim().is_empty())
        else {
            code.push(line);
            continue;
        };
        let ends = |line: &&str| {
            let item = line.strip_prefix(indent).unwrap_or_default();
            item.ends_with([';', '}', ',']) && !item.starts_with(char::is_whitespace)
        };
        let last = lines.by_ref().find(ends).unwrap_or_default();
        modules.extend(last.split_once("mod ").and_then(|(_, name)| name.strip_suffix(';')));
    }
    (code, modules)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn items_for_tests_are_left_out() {
        let text = "\
use a::b;
#[cfg(test)]
pub(super) mod faults;
impl A {
    #[cfg(test)]
    pub fn places(
        &self,
    ) -> usize {
        if self.is_empty() {
            return 0;
        }
        1
    }

    #[cfg(test)]
    const ALL: [u32; 1] = [1];
    #[cfg(not(test))]
    fn f(&self) {}
}
#[cfg(test)]
mod tests {
    fn g() {}
}
fn h() {}
";
        let (code, modules) = without_tests(text);
        let rest = "use a::b;\nimpl A {\n\n    #[cfg(not(test))]\n    fn f(&self) {}\n}\nfn h() {}";
        assert_eq!((code.join("\n").as_str(), &modules[..]), (rest, &["faults"][..]));
    }

    #[test]
    fn the_digest_depends_on_the_sources_of_the_program_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |file: &str, text: &str| {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("Cargo.lock", "version = 4");
        write("src/main.rs", "mod cli;\nfn main() {}\n");
        write("src/cli/mod.rs", "#[cfg(test)]\nmod option_tests;\n");
        write("crates/a/src/b.rs", "fn b() {}\n#[cfg(test)]\nmod tests;\n");
        write("crates/a/src/data.csv", "1\n");
        let first = digest(dir.path());
        for unrelated in [
            "build.rs",
            "tests/cli.rs",
            "crates/a/tests/a.rs",
            "crates/a/src/b/tests.rs",
            "crates/a/src/b/tests/cases/lines.txt",
            "src/cli/option_tests.rs",
            "crates/replay-py/src/lib.rs",
        ] {
            write(unrelated, "changed");
            assert_eq!(digest(dir.path()), first, "{unrelated}");
        }
        let tested = "mod cli;\nfn main() {}\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        write("src/main.rs", tested);
        assert_eq!(digest(dir.path()), first);
        let mut digests = HashSet::from([first]);
        for (source, text) in [
            ("Cargo.lock", "version = 5"),
            ("src/main.rs", "fn main() {}\n"),
            ("crates/a/src/data.csv", "2\n"),
            ("crates/a/src/b.rs", "fn b() { b() }\n"),
            ("crates/a/src/tests.rs", "fn b() {}\n"),
            ("crates/c/src/lib.rs", "fn b() {}\n"),
        ] {
            write(source, text);
            assert!(digests.insert(digest(dir.path())), "{source}");
        }
    }

    /// A build script compiles every target of its package again.
    #[test]
    fn no_package_has_a_build_script() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let members = fs::read_dir(root.join("crates")).expect("a folder").flatten();
        let packages = members.map(|member| member.path()).chain([root]);
        for package in packages {
            assert!(!package.join("build.rs").exists(), "{}", package.display());
        }
    }

    #[test]
    fn outside_a_repository_the_commit_is_unknown() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(commit(dir.path()), UNKNOWN);
    }
}
