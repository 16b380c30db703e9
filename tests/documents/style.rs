//! Limits on the README and on words that describe data and code as people.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// Words that may occur fewer than [`LIMIT`] times in all sources together.
const WORDS: [&str; 5] = ["whoever", "nobody", "somebody", "told", "tells"];
const LIMIT: usize = 20;

/// Returns the trials.
pub fn trials(root: &Path) -> Vec<Trial> {
    let [readme, sources, modules] =
        [root.join("README.md"), root.to_path_buf(), root.to_path_buf()];
    let root = root.to_path_buf();
    vec![
        Trial::test("citation_has_the_last_release", move || citation(&root)),
        Trial::test("readme_is_short", move || {
            let text = std::fs::read_to_string(&readme)?;
            let (lines, bytes) = (text.lines().count(), text.len());
            if lines <= 150 && bytes <= 8000 {
                return Ok(());
            }
            Err(format!("README.md has {lines} lines and {bytes} bytes; at most 150 and 8000")
                .into())
        }),
        Trial::test("sources_use_plain_words", move || plain_words(&sources)),
        Trial::test("every_source_is_a_module", move || every_source_is_a_module(&modules)),
    ]
}

/// CITATION.cff has the version and the date of the last release of the changelog.
fn citation(root: &Path) -> Result<(), Failed> {
    let changelog = std::fs::read_to_string(root.join("CHANGELOG.md"))?;
    let citation = std::fs::read_to_string(root.join("CITATION.cff"))?;
    let release =
        changelog.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(" - ")).next();
    let (version, date) = release.ok_or("CHANGELOG.md has no release")?;
    for line in [format!("version: {version}"), format!("date-released: {date}")] {
        if !citation.lines().any(|one| one == line) {
            return Err(format!("CITATION.cff has no line \"{line}\"").into());
        }
    }
    Ok(())
}

fn plain_words(root: &Path) -> Result<(), Failed> {
    let mut found = Vec::new();
    for path in sources(root)? {
        let text = std::fs::read_to_string(&path)?;
        for (index, line) in text.lines().enumerate() {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric());
            let count = words.filter(|word| WORDS.contains(&word.to_lowercase().as_str())).count();
            let place = format!("{}:{}", path.display(), index + 1);
            found.extend(std::iter::repeat_n(place, count));
        }
    }
    if found.len() < LIMIT {
        return Ok(());
    }
    Err(format!("{} uses of {WORDS:?}:\n{}", found.len(), found.join("\n")).into())
}

/// Every Rust file below a folder of a module is declared in the module. Otherwise the file is not compiled, and its tests
/// never run.
fn every_source_is_a_module(root: &Path) -> Result<(), Failed> {
    let mut undeclared = Vec::new();
    for path in sources(root)? {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let (Some(folder), Some(stem)) = (path.parent().filter(|_| is_rust), path.file_stem())
        else {
            continue;
        };
        let (module, name) = match stem == "mod" {
            true => (folder.parent().unwrap_or(root), folder.file_name().unwrap_or_default()),
            false => (folder, stem),
        };
        let candidates =
            [module.join("mod.rs"), module.with_extension("rs"), module.join("lib.rs")];
        // Cargo finds files without a module, such as `src/main.rs` and `tests/cli.rs`.
        let Some(parent) = candidates.iter().find(|file| file.is_file() && **file != path) else {
            continue;
        };
        let (text, declaration) =
            (std::fs::read_to_string(parent)?, format!("mod {};", name.display()));
        let is_declared = text.lines().any(|line| line.trim_end().ends_with(&declaration));
        if !is_declared && stem != "main" && stem != "lib" {
            undeclared.push(format!("{} is not declared in {}", path.display(), parent.display()));
        }
    }
    match undeclared.is_empty() {
        true => Ok(()),
        false => Err(undeclared.join("\n").into()),
    }
}

/// Returns the Rust, Markdown and shell files of the repository, without build output.
fn sources(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = vec![root.join(".ci/run")];
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|it| it == "rs" || it == "md" || it == "sh") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
