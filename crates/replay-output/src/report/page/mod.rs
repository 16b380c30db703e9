//! A self-contained HTML page of results: configuration, best strategies, tables, figures and published numbers.
//!
//! The page loads nothing from the network. The page is readable without scripts; with scripts, the tables of the page
//! can be sorted. The page shows stored results; no simulation is repeated.

mod answer;
mod folder;
mod html;
mod top_strategy;
mod verdict;

use std::fmt::Write;

pub use answer::{Answer, AnswerParts};
pub use folder::{
    EXPLORE_PAGE, ExplorePage, Folder, FolderError, StoredFigure, checks, is_published,
};
pub use top_strategy::TopStrategyComparison;
pub use verdict::{JobComparisons, compare_top_strategies, is_ranking, searched, sentences};

use html::{escape, figure, table};

use super::manifest::{StoredManifest, TraceRecord, WindowRecord};
use polars::prelude::BooleanChunked;
use replay_engine::number::grouped;
use replay_experiment::RunKey;
use replay_experiment::sweep::Build;
use replay_results::ResultTable;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");
/// The filter of the tables of `replay explore`.
const FILTER: &str = include_str!("../../../../replay-explore/page/filter.js");

/// Size of the page, in bytes, up to which figures are added.
pub const MOST_BYTES: usize = 2_900_000;
/// First line of every page.
pub const DOCTYPE: &str = "<!DOCTYPE html>";
/// Beginning of every page, which names the program.
pub const BEGINNING: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"generator\" content=\"replay\">\n";
/// Maximum number of rows of a table on the page.
pub const MOST_ROWS: usize = 300;

/// Title and author of a page.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// Title; `None` for the names of the folders.
    pub title: Option<String>,
    /// Author, below the title.
    pub author: Option<String>,
}

/// Returns the page. `published` contains the checks of each file that was written by `verify --write`.
pub fn page(
    heading: &Heading,
    folders: &[Folder],
    published: &[(String, ResultTable)],
    build: &Build,
) -> String {
    let names: Vec<&str> = folders.iter().map(|folder| folder.name.as_str()).collect();
    let title = match &names[..] {
        _ if heading.title.is_some() => heading.title.clone().unwrap_or_default(),
        [] => "Published and measured numbers".to_string(),
        names => format!("Results: {}", names.join(", ")),
    };
    let mut page = format!(
        "{BEGINNING}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<header><h1>{0}</h1>{1}</header>\n<main>\n",
        escape(&title),
        heading
            .author
            .as_ref()
            .map_or(String::new(), |name| format!("<p class=\"author\">{}</p>", escape(name)))
    );
    if folders.len() + published.len() > 1 {
        page += "<nav><ul>\n";
        let all = names.iter().copied().chain(published.iter().map(|(name, _)| name.as_str()));
        for (i, name) in all.enumerate() {
            let _ = writeln!(page, "<li><a href=\"#part-{i}\">{}</a></li>", escape(name));
        }
        page += "</ul></nav>\n";
    }
    let mut left_out = Vec::new();
    for (i, folder) in folders.iter().enumerate() {
        section(&mut page, i, folder, &mut left_out);
    }
    for (i, (name, checks)) in published.iter().enumerate() {
        let _ = writeln!(
            page,
            "<section id=\"part-{}\"><h2>Published and measured numbers: {}</h2>",
            folders.len() + i,
            escape(name)
        );
        let _ = writeln!(page, "<p class=\"verdict\">{}</p>", escape(&verdict::published(checks)));
        page += &table(checks, usize::MAX, true);
        page += "</section>\n";
    }
    if !left_out.is_empty() {
        let _ = writeln!(
            page,
            "<p>Figures omitted to limit the size of the page: {}.</p>",
            escape(&left_out.join(", "))
        );
    }
    let _ = write!(
        page,
        "</main>\n<footer><p>Made by {}.</p></footer>\n<script>\n{}{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&build.to_string()),
        FILTER.replace("\nexport ", "\n")
    );
    page
}

/// Writes the section of a directory.
fn section(page: &mut String, number: usize, folder: &Folder, left_out: &mut Vec<String>) {
    let _ = writeln!(page, "<section id=\"part-{number}\">\n<h2>{}</h2>", escape(&folder.name));
    let comparisons = match &folder.comparisons[..] {
        [] => JobComparisons::NoTable,
        comparisons => JobComparisons::Computed(comparisons),
    };
    let sentences = |page: &mut String, all: &[String]| {
        for sentence in all {
            let _ = writeln!(page, "<p class=\"verdict\">{}</p>", escape(sentence));
        }
    };
    let mut figures = folder.figures.clone();
    let verdicts = verdict::sentences(&folder.tables, comparisons);
    let mut first = Vec::new();
    match &folder.answer {
        Some(answer) => {
            sentences(page, &answer.sentences);
            *page += &answer.table;
            first
                .extend(answer.figures.iter().map(|(caption, svg)| figure("", svg, Some(caption))));
        }
        None => sentences(page, &verdicts),
    }
    // Two figures answer; the other figures are folded.
    figures.sort_by_key(|one| {
        FIRST.iter().position(|kind| one.kind() == *kind).unwrap_or(FIRST.len())
    });
    let shown = figures.len().min(2usize.saturating_sub(first.len()));
    first.extend(figures.drain(..shown).map(|one| one.html()));
    *page += "<div class=\"figures\">\n";
    first.iter().for_each(|one| *page += one);
    *page += "</div>\n";
    if let Some(explore) = &folder.explore {
        *page += &explore_line(&folder.name, explore);
    }
    if !folder.missing.is_empty() {
        let files = escape(&folder.missing.join(", "));
        let _ = writeln!(page, "<p class=\"missing\">Missing from the directory: {files}.</p>");
    }
    if folder.answer.is_some() && !verdicts.is_empty() {
        *page += "<details><summary>Strategies by distance</summary>\n";
        sentences(page, &verdicts);
        *page += "</details>\n";
    }
    *page += "<details><summary>Configuration</summary>\n";
    *page += &configuration_list(folder);
    *page += "</details>\n";
    for (i, rows) in folder.tables.iter().enumerate() {
        *page += &table(&without_copies(rows), MOST_ROWS, i == 0 && folder.answer.is_none());
    }
    for kind in figures.chunk_by(|one, next| one.kind() == next.kind()) {
        let summary = kind[0].kind().replace('-', " ");
        let _ = writeln!(
            page,
            "<details><summary>Figures: {}</summary>\n<div class=\"figures\">",
            escape(&summary)
        );
        for one in kind {
            let drawn = one.html();
            if page.len() + drawn.len() > MOST_BYTES {
                left_out.push(format!("{}/plots/{}.svg", folder.name, one.stem));
                continue;
            }
            *page += &drawn;
        }
        *page += "</div></details>\n";
    }
    *page += "</section>\n";
}

/// Kinds of figures in the order in which they are shown.
const FIRST: [&str; 5] = ["waits-by-size", "leaves-by-size", "strategies", "waits", "load"];

impl StoredFigure {
    /// Returns the kind of the figure: the first part of its stem.
    fn kind(&self) -> &str {
        self.stem.split("--").next().unwrap_or_default()
    }

    fn html(&self) -> String {
        figure(&self.stem, &self.svg, self.caption.as_deref())
    }
}

/// Returns a table without the rows of perturbed copies, unless it has no other rows.
fn without_copies(rows: &ResultTable) -> ResultTable {
    let own: BooleanChunked =
        rows.rows().map(|row| row.integer(RunKey::COPY).unwrap_or(0) == 0).collect();
    match rows.frame.filter(&own) {
        Ok(frame) if frame.height() > 0 => ResultTable { frame, ..rows.clone() },
        _ => rows.clone(),
    }
}

/// Returns the link to the page of `explore`, or the command that writes it.
fn explore_line(name: &str, explore: &ExplorePage) -> String {
    match explore {
        ExplorePage::Written(address) => format!(
            "<p><a href=\"{}\">Look into the runs</a>: schedule, machine, queue and jobs.</p>\n",
            escape(address)
        ),
        ExplorePage::Absent => {
            let page = quoted(&format!("{}/{EXPLORE_PAGE}", name.trim_end_matches('/')));
            let command = format!("replay explore {} --write {page}", quoted(name));
            format!("<p>To look into the runs: <code>{}</code></p>\n", escape(&command))
        }
    }
}

/// Lists the configuration that a manifest contains.
fn configuration_list(folder: &Folder) -> String {
    let StoredManifest { version, commit, command, configuration, .. } = &folder.manifest;
    let joined = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join(" ");
    let mut out = String::from("<dl>\n");
    let mut item = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(value));
        }
    };
    item("Command", &joined(&mut command.iter().map(|word| quoted(word))));
    item("Program", &format!("replay {version} ({commit})"));
    for trace in &configuration.traces {
        item("Trace", &trace_summary(trace));
    }
    if folder.manifest.window() != WindowRecord::default() {
        item("Window", &folder.manifest.window().text());
    }
    item("Seeds", &joined(&mut configuration.seeds.iter().map(u64::to_string)));
    item("Cleaning policy", &configuration.policy);
    item("Pattern", configuration.pattern.as_deref().unwrap_or_default());
    out += "</dl>\n";
    out
}

/// Describes a trace and the effect of cleaning.
fn trace_summary(trace: &TraceRecord) -> String {
    let TraceRecord { name, topology, jobs, digest, cleaning, .. } = trace;
    let mut text = format!("{name} on {topology}: {} jobs", grouped(*jobs as u64));
    // The manifest of a sweep has no cleaning report.
    if cleaning.read > 0 {
        let (read, changed) = (grouped(cleaning.read), grouped(cleaning.changed));
        let _ = write!(text, " kept of {read} records, {changed} changed");
        for (why, &count) in &cleaning.drops {
            let why = serde_json::to_value(why).unwrap_or_default();
            let _ =
                write!(text, ", {} dropped ({})", grouped(count), why.as_str().unwrap_or_default());
        }
    }
    if let Some(digest) = digest.get(..16) {
        let _ = write!(text, "; BLAKE3 {digest}…");
    }
    text
}

/// Quotes a word of a command for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests;
