//! `replay list`: lists names with their meanings.

use crate::cli::terminal::stdout;
use std::io::Write;

use clap::{Args, ValueEnum};
use textwrap::Options;

use super::compare::Projected;
use super::complete;
use super::exit::{Exit, Failure};
use super::print::{fields, fill, sheet_of_fields};
use crate::{import, network};
use replay_backlog::{Found, Outcome};
use replay_engine::allocator::candidate_set::ScoredCandidate;
use replay_engine::metrics::{Allocation, GroupRow, JobMeasures, OutageMetrics, SizeRow};
use replay_engine::naming::Description;
use replay_engine::naming::advice;
use replay_engine::number::grouped;
use replay_engine::registries::Registries;
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Column, TableInfo, write_csv};
use replay_engine::topology::{SYSTEMS, System, Topology};
use replay_engine::workload::{Manifest, Policy, SearchPath, stochastic, synthetic};
use replay_experiment::contention::{ContentionJobRow, ContentionRun, Correlations};
use replay_experiment::explained::steps::Step;
use replay_experiment::fragmentation::FreeSpace;
use replay_experiment::log_comparison::LogComparisonRow;
use replay_experiment::schedule_diff::StartChange;
use replay_experiment::search::{PortabilityRow, SearchRow, SkippedWorkRow};
use replay_experiment::shaken::ShakenRow;
use replay_experiment::snapshot::HeldAllocation;
use replay_experiment::stream::{StreamRow, StreamSizeRow};
use replay_experiment::{RunResult, WithRun};
use replay_network::Usage;
use replay_network::packets::PacketResult;
use replay_output::report::{Align, Sheet};
use replay_published::{Audit, Check, SUITES};
use replay_results::compare::Compared;
use replay_slurm::hierarchy::check::Finding;

/// Arguments of `replay list`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay list allocators
  replay list allocators mbs
  replay list traces
  replay list columns --format json")]
pub struct ListArgs {
    /// Kind of names to list [default: all except columns].
    what: Option<Listing>,

    /// List only the entry with this name or alias.
    name: Option<String>,

    /// Print in this format on standard output.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: ListFormat,
}

/// Kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// Allocation strategies and their parameters.
    Allocators,
    /// Scheduling disciplines and their definitions.
    Schedulers,
    /// Known traces, and their files if they are present.
    Traces,
    /// Real machines, with the source of their sizes.
    Systems,
    /// Models that generate traces.
    Generators,
    /// Formats of logs that can be imported.
    Sources,
    /// Distributions of side lengths of stochastic streams.
    Sides,
    /// Distributions of service times of stochastic streams.
    Services,
    /// Communication patterns of jobs.
    Patterns,
    /// Timings of the flit-level network.
    Networks,
    /// Cleaning policies, rule by rule.
    Policies,
    /// Suites of published numbers.
    Suites,
    /// Columns of the result tables, with their units.
    Columns,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ListFormat {
    /// Text with parameters and sources.
    #[default]
    Table,
    /// One JSON object for each entry, each on a separate line.
    Json,
    /// Comma-separated values; only the names of parameters are listed.
    Csv,
    /// A Markdown table; only the names of parameters are listed.
    Md,
    /// One name per line; only traces that are present are listed.
    Names,
}

/// Columns of listings as CSV and Markdown. Each kind of listing has a subset of these columns.
const FIELDS: [&str; 17] = [
    "kind",
    "name",
    "aliases",
    "table",
    "unit",
    "type",
    "machine",
    "processors",
    "jobs",
    "path",
    "about",
    "summary",
    "full",
    "note",
    "source",
    "url",
    "parameters",
];

/// Prints the names of one kind, or of all kinds except columns.
pub fn run(registries: &Registries, args: &ListArgs) -> Result<Exit, Failure> {
    let all = [
        Listing::Allocators,
        Listing::Schedulers,
        Listing::Generators,
        Listing::Sources,
        Listing::Sides,
        Listing::Services,
        Listing::Patterns,
        Listing::Networks,
        Listing::Policies,
        Listing::Traces,
        Listing::Systems,
        Listing::Suites,
    ];
    if let (Some(name), None) = (&args.name, args.what) {
        let message = format!("list \"{}\": give the kind before the name", excerpt(name));
        return Err(Failure::usage_message(message));
    }
    let wanted = args.what.map_or(all.to_vec(), |one| vec![one]);
    let mut out = stdout();
    if matches!(args.format, ListFormat::Csv | ListFormat::Md) {
        let mut rows = Vec::new();
        for what in wanted {
            rows.extend(selected(registries, what, args.name.as_deref())?.json);
        }
        let has = |key: &&&str| rows.iter().any(|row| !row[**key].is_null());
        let keys: Vec<&str> = FIELDS.iter().filter(has).copied().collect();
        let written = match args.format {
            ListFormat::Csv => write_csv(&fields(&keys), &rows, true, &mut out),
            _ => sheet_of_fields(&keys, &rows).write_markdown(&mut out),
        };
        return written.map(|()| Exit::Done).map_err(Failure::stdout);
    }
    for (i, what) in wanted.iter().enumerate() {
        if i > 0 && matches!(args.format, ListFormat::Table) {
            writeln!(out).map_err(Failure::stdout)?;
        }
        if let (ListFormat::Names, Listing::Traces, None) = (args.format, what, &args.name) {
            let names = complete::traces()?;
            let written = names.iter().try_for_each(|name| writeln!(out, "{name}"));
            written.map_err(Failure::stdout)?;
            continue;
        }
        let entries = selected(registries, *what, args.name.as_deref())?;
        let written = match args.format {
            ListFormat::Table => entries.text.iter().try_for_each(|line| writeln!(out, "{line}")),
            ListFormat::Json => entries.json.iter().try_for_each(|entry| writeln!(out, "{entry}")),
            ListFormat::Names if args.name.is_some() => {
                let names = entries.json.iter().filter_map(|entry| entry["name"].as_str());
                names.into_iter().try_for_each(|name| writeln!(out, "{name}"))
            }
            ListFormat::Names => {
                let names = names(registries, *what)?;
                names.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))
            }
            ListFormat::Csv | ListFormat::Md => Ok(()),
        };
        written.map_err(Failure::stdout)?;
    }
    Ok(Exit::Done)
}

struct Entries {
    text: Vec<String>,
    json: Vec<serde_json::Value>,
}

/// Returns the entries of a kind, or only the entry with this name or alias.
///
/// # Errors
/// A usage error if no entry has the name.
fn selected(
    registries: &Registries,
    what: Listing,
    name: Option<&str>,
) -> Result<Entries, Failure> {
    let all = entries(registries, what)?;
    let Some(name) = name else { return Ok(all) };
    let names = |entry: &serde_json::Value| {
        let aliases = entry["aliases"].as_array().into_iter().flatten();
        let names = std::iter::once(&entry["name"]).chain(aliases);
        names.filter_map(|name| name.as_str().map(str::to_string)).collect::<Vec<_>>()
    };
    let is_named = |entry: &serde_json::Value| {
        names(entry).iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let json: Vec<_> = all.json.iter().filter(|entry| is_named(entry)).cloned().collect();
    if json.is_empty() {
        let known: Vec<String> = all.json.iter().flat_map(names).collect();
        let kind = what.to_possible_value().map(|value| value.get_name().to_string());
        let kind = kind.unwrap_or_default();
        let listing = || format!("replay list {kind} lists the names");
        let advice = advice(name, known.iter().map(String::as_str), listing);
        let name = excerpt(name);
        return Err(Failure::usage_message(format!("list {kind} \"{name}\": unknown; {advice}")));
    }
    // In a listing without a table, each entry begins with its name after two spaces.
    let begins = |line: &String| line.starts_with("  ") && !line.starts_with("   ");
    let blocks: Vec<&[String]> =
        all.text.get(1..).unwrap_or_default().chunk_by(|_, next| !begins(next)).collect();
    let text = if blocks.len() == all.json.len() {
        let entries = blocks.iter().zip(&all.json).filter(|(_, entry)| is_named(entry));
        entries.flat_map(|(block, _)| block.iter().cloned()).collect()
    } else {
        let lines = |row: &serde_json::Value| -> Vec<String> {
            let values = FIELDS.iter().map(|key| (key, &row[*key]));
            let given = values.filter(|(_, value)| !value.is_null());
            let lines = given.map(|(key, value)| match value {
                serde_json::Value::String(text) => format!("  {key}: {text}"),
                serde_json::Value::Array(all) => {
                    let all: Vec<&str> = all.iter().filter_map(|one| one.as_str()).collect();
                    format!("  {key}: {}", all.join(", "))
                }
                value => format!("  {key}: {value}"),
            });
            lines.collect()
        };
        json.iter().flat_map(lines).collect()
    };
    Ok(Entries { text, json })
}

fn entries(registries: &Registries, what: Listing) -> Result<Entries, Failure> {
    Ok(match what {
        Listing::Allocators => described("allocators", &registries.allocators.descriptions()),
        Listing::Schedulers => described("schedulers", &schedulers(registries)),
        Listing::Generators => described("generators", &synthetic::descriptions()),
        Listing::Sources => described("sources", &import::descriptions()),
        Listing::Sides => described("sides", &stochastic::side_descriptions()),
        Listing::Services => described("services", &stochastic::service_descriptions()),
        Listing::Patterns => described("patterns", &network::traffic::descriptions()),
        Listing::Networks => described("networks", &network::descriptions()),
        Listing::Policies => policies(),
        Listing::Traces => traces()?,
        Listing::Systems => systems()?,
        Listing::Suites => suites(),
        Listing::Columns => columns(),
    })
}

/// Returns all names of the given kind, and the names that an entry has for its parameters, each with the first sentence of its description.
///
/// # Errors
/// A usage error if the list of known traces cannot be read.
pub fn names(registries: &Registries, what: Listing) -> Result<Vec<(String, String)>, Failure> {
    let text = |entry: &serde_json::Value, keys: &[&str]| {
        let mut texts = keys.iter().filter_map(|key| entry[key].as_str());
        texts.next().unwrap_or_default().to_string()
    };
    let sentence = |about: String| about.split(". ").next().unwrap_or_default().to_string();
    let named =
        |entry| (text(entry, &["name"]), sentence(text(entry, &["about", "summary", "note"])));
    let mut all: Vec<_> = entries(registries, what)?.json.iter().map(named).collect();
    if what == Listing::Allocators {
        let descriptions = registries.allocators.descriptions();
        let forms = descriptions.into_iter().flat_map(|entry| {
            let about = entry.form_parameters.into_iter();
            entry.forms.into_iter().zip(about)
        });
        all.extend(forms);
    }
    Ok(all)
}

/// Returns the descriptions of all disciplines; `priority` comes last.
fn schedulers(registries: &Registries) -> Vec<Description> {
    let mut all = registries.schedulers.descriptions();
    all.sort_by_key(|entry| entry.name == "priority");
    all
}

/// Maximum width of text in characters.
const WIDTH: usize = 96;

fn described(kind: &str, descriptions: &[Description]) -> Entries {
    let mut text = vec![format!("{kind}:")];
    for entry in descriptions {
        let other: Vec<&str> = entry.aliases.iter().map(String::as_str).collect();
        let aliases = match other[..other.len() - entry.forms.len()].join(", ") {
            none if none.is_empty() => none,
            other => format!(" (or {other})"),
        };
        text.push(format!("  {}{aliases}", entry.name));
        let source =
            if entry.source.is_empty() { String::new() } else { format!(" [{}]", entry.source) };
        text.extend(wrapped(&format!("{}{source}", entry.about), 6));
        for p in &entry.parameters {
            text.extend(wrapped(
                &format!("{}={} [{}]: {}", p.key, p.values, p.default, p.about),
                8,
            ));
        }
    }
    Entries { text, json: json(kind, descriptions) }
}

fn json<T: serde::Serialize>(kind: &str, entries: &[T]) -> Vec<serde_json::Value> {
    let object = |entry: &T| {
        let mut value = serde_json::to_value(entry).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.insert("kind".to_string(), kind.trim_end_matches('s').into());
        }
        value
    };
    entries.iter().map(object).collect()
}

fn policies() -> Entries {
    let mut text = vec!["policies:".to_string()];
    for policy in Policy::ALL {
        text.push(format!("  {}", policy.name));
        text.extend(wrapped(policy.summary, 6));
        for row in policy.describe() {
            text.push(format!("        {}: {}", row.rule, row.setting));
        }
    }
    Entries { text, json: json("policy", &Policy::ALL) }
}

fn traces() -> Result<Entries, Failure> {
    let manifest = Manifest::embedded().map_err(Failure::usage)?;
    let search = SearchPath::from_env();
    let mut sheet = Sheet::new(&[
        ("name", Align::Left),
        ("aliases", Align::Left),
        ("jobs", Align::Right),
        ("processors", Align::Right),
        ("machine", Align::Left),
        ("here", Align::Left),
    ]);
    let mut entries = Vec::new();
    for trace in &manifest.traces {
        let here = search.resolve(&trace.name, &manifest).ok();
        let dash = || "-".to_string();
        sheet.push(vec![
            trace.name.clone(),
            trace.aliases.join(", "),
            trace.jobs.map_or_else(dash, grouped),
            grouped(trace.procs),
            trace.mesh.clone().unwrap_or_else(dash),
            here.as_ref().map_or_else(dash, |path| path.display().to_string()),
        ]);
        entries.push(serde_json::json!({
            "kind": "trace", "name": trace.name, "aliases": trace.aliases, "jobs": trace.jobs,
            "processors": trace.procs, "machine": trace.mesh, "note": trace.note, "url": trace.url,
            "path": here.map(|path| path.display().to_string()),
        }));
    }
    let mut plain = Vec::new();
    sheet.write_plain(&mut plain).map_err(|e| Failure::output("a table", e))?;
    let mut text = vec!["traces (replay fetch NAME fetches a trace):".to_string()];
    text.extend(String::from_utf8_lossy(&plain).lines().map(|line| format!("  {line}")));
    Ok(Entries { text, json: entries })
}

fn systems() -> Result<Entries, Failure> {
    let mut text = vec!["systems (--machine NAME):".to_string()];
    let mut json = Vec::new();
    for System { name, machine, about, source } in SYSTEMS {
        let processors = machine.parse::<Topology>().map_err(Failure::usage)?.capacity();
        text.push(format!("  {name}: {machine}, {} processors", grouped(processors as u64)));
        text.extend(wrapped(&format!("{about} [{source}]"), 6));
        json.push(serde_json::json!({
            "kind": "system", "name": name, "machine": machine, "processors": processors,
            "about": about, "source": source,
        }));
    }
    Ok(Entries { text, json })
}

fn suites() -> Entries {
    let mut text = vec!["suites of published numbers:".to_string()];
    let mut json = Vec::new();
    for suite in SUITES {
        text.push(format!("  {}", suite.name));
        text.extend(wrapped(suite.about, 6));
        if let Some(full) = suite.full {
            text.extend(wrapped(&format!("--full: {full}"), 6));
        }
        json.push(serde_json::json!({
            "kind": "suite", "name": suite.name, "about": suite.about, "full": suite.full,
        }));
    }
    Entries { text, json }
}

/// Returns descriptions of all tables that the commands write or print.
pub(super) fn tables() -> Vec<TableInfo> {
    vec![
        TableInfo::of::<RunResult>(),
        TableInfo {
            name: "stdout",
            row: "values of runs that appear only on standard output, not in files: wall-clock times, which differ from run to run",
            columns: RunResult::timings().iter().map(Column::info).collect(),
        },
        TableInfo::of::<WithRun<'_, SizeRow>>(),
        TableInfo::of::<WithRun<'_, JobMeasures>>(),
        TableInfo::of::<WithRun<'_, Allocation>>(),
        TableInfo::of::<ShakenRow>(),
        TableInfo::of::<LogComparisonRow>(),
        TableInfo::of::<WithRun<'_, OutageMetrics>>(),
        TableInfo::of::<WithRun<'_, GroupRow>>(),
        TableInfo::of::<HeldAllocation>(),
        TableInfo::of::<ScoredCandidate>(),
        TableInfo::of::<Step>(),
        TableInfo::of::<FreeSpace>(),
        TableInfo::of::<Outcome>(),
        TableInfo::of::<Found>(),
        TableInfo::of::<Compared>(),
        TableInfo::of::<Projected>(),
        TableInfo::of::<StartChange>(),
        TableInfo::of::<SearchRow>(),
        TableInfo::of::<SkippedWorkRow>(),
        TableInfo::of::<PortabilityRow<'_>>(),
        TableInfo::of::<StreamRow>(),
        TableInfo::of::<StreamSizeRow<'_>>(),
        TableInfo::of::<ContentionRun>(),
        TableInfo::of::<ContentionJobRow<'_>>(),
        TableInfo::of::<Correlations<'_>>(),
        TableInfo::of::<Check>(),
        TableInfo::of::<Audit>(),
        TableInfo::of::<PacketResult>(),
        TableInfo::of::<Usage>(),
        TableInfo::of::<Finding>(),
    ]
}

fn columns() -> Entries {
    let (mut text, mut json) = (Vec::new(), Vec::new());
    for table in tables() {
        text.push(format!("{}: {}", table.name, table.row));
        for column in table.columns {
            let unit =
                if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
            text.push(format!("  {}{unit}: {}", column.name, column.meaning));
            let mut entry = serde_json::to_value(column).unwrap_or_default();
            entry["kind"] = "column".into();
            entry["table"] = table.name.into();
            json.push(entry);
        }
    }
    Entries { text, json }
}

/// Wraps text to [`WIDTH`] characters with an indent.
fn wrapped(text: &str, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent);
    fill(text, Options::new(WIDTH).initial_indent(&margin).subsequent_indent(&margin))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use replay_experiment::RunKey;

    #[test]
    fn a_name_has_one_meaning_and_one_unit_in_all_tables() {
        let mut known = HashMap::new();
        for table in tables() {
            for column in table.columns {
                let (name, meaning) = (column.name, (column.unit, column.meaning));
                assert!(!column.meaning.is_empty(), "{} {name}", table.name);
                let first = *known.entry(name).or_insert(meaning);
                assert_eq!(first, meaning, "{name} of {}", table.name);
            }
        }
    }

    #[test]
    fn a_table_has_one_name_and_its_columns_one_each() {
        let tables = tables();
        for (i, table) in tables.iter().enumerate() {
            assert!(tables[..i].iter().all(|other| other.name != table.name), "{}", table.name);
            for (j, column) in table.columns.iter().enumerate() {
                let twice = table.columns[..j].iter().any(|other| other.name == column.name);
                assert!(!twice, "{} twice in {}", column.name, table.name);
            }
        }
    }

    #[test]
    fn only_seeds_and_ids_are_unsigned_and_percentages_have_their_unit() {
        for column in tables().into_iter().flat_map(|table| table.columns) {
            let unsigned = column.kind == replay_engine::table::Kind::U64;
            assert_eq!(
                unsigned,
                [RunKey::SEED, PacketResult::ID].contains(&column.name),
                "{}",
                column.name
            );
            if column.name.text().ends_with("_percent") {
                assert_eq!(column.unit, "%", "{}", column.name);
            }
        }
    }
}
