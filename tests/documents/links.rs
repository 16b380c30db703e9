//! Checks of the pages that need no commands: links, pictures, excerpts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use super::page::Page;

/// Returns the trials.
pub fn trials(root: &Path, pages: Vec<Page>) -> Vec<Trial> {
    let root = Arc::new(root.to_path_buf());
    let pages = Arc::new(pages);
    let trial = |name: &str, check: fn(&Path, &[Page]) -> Vec<String>| {
        let (root, pages) = (Arc::clone(&root), Arc::clone(&pages));
        Trial::test(name, move || {
            let wrong = check(&root, &pages);
            if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
        })
    };
    vec![
        trial("links_resolve", links),
        trial("every_page_is_in_the_summary", summary),
        trial("every_picture_has_a_command_on_its_page", pictures),
        trial("every_strategy_is_on_a_page", strategies),
        trial("rust_blocks_are_excerpts_of_examples", rust),
    ]
}

/// Checks that the files and headings named by links exist.
fn links(root: &Path, pages: &[Page]) -> Vec<String> {
    let mut wrong = Vec::new();
    for page in pages {
        for link in page.links().into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let place = root.join(&page.name);
            let target = match file {
                "" => place,
                _ => place.parent().unwrap_or(root).join(file),
            };
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}: {link} does not exist", page.name));
                continue;
            };
            let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
            let has = |anchor: &str| {
                let target = Page { name: String::new(), text: text(&target) };
                target.anchors().iter().any(|it| it == anchor)
            };
            if !anchor.is_empty() && !has(anchor) {
                wrong.push(format!("{}: {link}: no such heading", page.name));
            }
        }
    }
    wrong
}

/// Checks that `SUMMARY.md` lists every page of the book.
fn summary(root: &Path, pages: &[Page]) -> Vec<String> {
    let source = root.join("docs/src");
    let summary = pages.iter().find(|page| page.name == "docs/src/SUMMARY.md");
    let listed: BTreeSet<_> = summary.map(Page::links).unwrap_or_default().into_iter().collect();
    let missing = pages.iter().filter_map(|page| {
        let path = root.join(&page.name);
        let name = path.strip_prefix(&source).ok()?.display().to_string().replace('\\', "/");
        (name != "SUMMARY.md" && !listed.contains(&name)).then_some(name)
    });
    missing.collect()
}

/// Checks that each picture on a page is drawn by a command of that page, that every picture is on a page,
/// and that pictures are small.
fn pictures(root: &Path, pages: &[Page]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut shown = BTreeSet::new();
    for page in pages {
        for link in page.links().into_iter().filter(|link| link.contains("pictures/")) {
            let place = root.join(&page.name);
            let picture = place.parent().unwrap_or(root).join(&link);
            let name = Path::new(&link).parent().and_then(Path::file_name).unwrap_or_default();
            let out = format!("--out out/{}", name.display());
            let mut lines = page.commands().into_iter().map(|command| format!("{} ", command.line));
            if !lines.any(|line| line.contains(&format!("{out} "))) {
                wrong.push(format!("{}: no command with {out}", page.name));
            }
            shown.extend(picture.canonicalize().ok());
        }
    }
    let mut folders = vec![root.join("docs/src/pictures")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.canonicalize().is_ok_and(|path| !shown.contains(&path)) {
                wrong.push(format!("{}: not on any page", path.display()));
            } else if entry.metadata().is_ok_and(|file| file.len() > 80_000) {
                wrong.push(format!("{}: more than 80,000 bytes", path.display()));
            }
        }
    }
    wrong
}

/// Checks that every allocator and scheduler is named on a page of the book outside of the listings.
fn strategies(_: &Path, pages: &[Page]) -> Vec<String> {
    let book: String =
        pages.iter().filter(|page| page.is_of_book()).map(|page| page.text.as_str()).collect();
    let registries = replay::strategies::standard();
    let names = registries
        .allocators
        .descriptions()
        .into_iter()
        .chain(registries.schedulers.descriptions())
        .map(|description| description.name.to_string());
    let missing = names.filter(|name| !book.contains(&format!("`{name}`")));
    missing.map(|name| format!("{name}: write `{name}` on a page of docs/src")).collect()
}

/// Checks that Rust blocks are excerpts of examples, which are compiled.
fn rust(root: &Path, pages: &[Page]) -> Vec<String> {
    let mut examples = String::new();
    for folder in ["examples", "examples/python_module/src"] {
        for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            examples += &std::fs::read_to_string(entry.path()).unwrap_or_default();
        }
    }
    let mut wrong = Vec::new();
    for page in pages {
        let blocks = page.rust().into_iter().filter(|block| !examples.contains(block.as_str()));
        wrong.extend(blocks.map(|block| format!("{}: not in any example:\n{block}", page.name)));
    }
    wrong
}
