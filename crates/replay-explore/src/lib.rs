//! One self-contained HTML page to look into runs: the schedule, the machine, the queue, and the reasons for waits.
//!
//! The page loads nothing from the network. It has the data of the jobs as columns, which the browser inflates. Its
//! scripts are the modules of the folder `page`, which are joined when the page is written: every module has only
//! imports and exports of one line, and no two modules declare the same name.

mod columns;
mod folder;
mod machine;
mod runs;

use std::fmt::Write;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;
use serde_json::json;

pub use folder::RunFolder;

use columns::Columns;
use machine::Rows;
use replay_engine::simulation::Outages;
use replay_engine::topology::Topology;
use replay_engine::workload::Notation;
use replay_experiment::files::ResultError;
use replay_experiment::sweep::Build;
use replay_experiment::{RunKey, RunResult};
use replay_output::report::page::BEGINNING;
use replay_results::frame;
use replay_results::read::ReadError;

/// Maximum number of runs of a page.
pub const MOST_RUNS: usize = 4;

/// Modules of the page, each after the modules that it imports.
const MODULES: &[(&str, &str)] = &[
    ("codec.js", include_str!("../page/codec.js")),
    ("format.js", include_str!("../page/format.js")),
    ("intervals.js", include_str!("../page/intervals.js")),
    ("filter.js", include_str!("../page/filter.js")),
    ("palette.js", include_str!("../page/palette.js")),
    ("raster.js", include_str!("../page/raster.js")),
    ("model.js", include_str!("../page/model.js")),
    ("reasons.js", include_str!("../page/reasons.js")),
    ("view.js", include_str!("../page/view.js")),
    ("tiles.js", include_str!("../page/tiles.js")),
    ("timeline.js", include_str!("../page/timeline.js")),
    ("machine.js", include_str!("../page/machine.js")),
    ("panels.js", include_str!("../page/panels.js")),
    ("table.js", include_str!("../page/table.js")),
    ("main.js", include_str!("../page/main.js")),
];

const STYLE: &str = include_str!("../page/style.css");
const BODY: &str = include_str!("../page/body.html");

/// The trace and the machine of a page.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name of the trace.
    pub trace: String,
    /// Dates and ids of the trace.
    pub notation: Notation,
    /// Machine of every run.
    pub topology: Topology,
}

/// Tables of a run.
#[derive(Clone, Debug)]
pub struct RunTables {
    /// Key of the run.
    pub key: RunKey,
    /// Folder and number of the run; `None` if the run was computed for the page.
    pub from: Option<String>,
    /// The row of the table `runs`.
    pub run: DataFrame,
    /// Its rows of the table `jobs`.
    pub jobs: DataFrame,
    /// Its rows of the table `placements`, if there is one.
    pub placements: Option<DataFrame>,
    /// Explanations of jobs.
    pub explained: Vec<Explanation>,
    /// Processors out of service; `None` if the run had outages and their file cannot be read.
    pub outages: Option<Outages>,
}

/// Why a job started at its time and on its processors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// Number of the job in the trace.
    pub job: i64,
    /// Topic and text of each step.
    pub steps: Vec<(String, String)>,
}

/// Reason why a page cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A folder without jobs.
    #[error(
        "{folder}: has no table of jobs (jobs.parquet); run replay with --out and without --no-jobs, and with --placements \
         for the processors of the jobs"
    )]
    NoJobs {
        /// Path of the folder.
        folder: String,
    },
    /// The jobs of two runs differ.
    #[error(
        "run {} of the page replays other jobs than run 1: job {job} has another submission or size; name runs of the same \
         trace, cleaning policy and window", run + 1
    )]
    OtherJobs {
        /// Index of the run.
        run: usize,
        /// Number of the job.
        job: i64,
    },
    /// A placement of a job that the table of jobs does not have.
    #[error("placements.parquet: job {job} is not in jobs.parquet")]
    UnknownJob {
        /// Number of the job.
        job: i64,
    },
    /// A placement on a processor that the machine does not have.
    #[error("placements.parquet: job {job}: the machine has no processor {number}")]
    UnknownProcessor {
        /// Number of the job.
        job: i64,
        /// Number of the processor.
        number: i64,
    },
    /// A column is absent or has an unexpected type.
    #[error("cannot read the results: {what}")]
    Column {
        /// Description of the problem.
        what: String,
    },
    /// A folder differs from what the program wrote.
    #[error(transparent)]
    Results(#[from] ResultError),
    /// A table cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Text cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl RunTables {
    /// Returns the tables of a run that kept its jobs, without outages. Without allocations, the tables have no placements.
    ///
    /// # Errors
    /// [`PolarsError`](polars::prelude::PolarsError) never for the tables of the project; see [`frame()`].
    pub fn of(result: &RunResult, explained: Vec<Explanation>) -> PolarsResult<Self> {
        let jobs: Vec<_> = result.job_rows().collect();
        let allocations: Vec<_> = result.allocation_rows().collect();
        let placements = (!allocations.is_empty()).then(|| frame(&allocations)).transpose()?;
        let (key, run) = (result.key.clone(), frame([result])?);
        let (jobs, outages) = (frame(&jobs)?, Some(Outages::NONE));
        Ok(Self { key, from: None, run, jobs, placements, explained, outages })
    }

    /// Leaves out the processors of the jobs, and the measures of their placements.
    pub fn without_placements(self) -> Self {
        Self { placements: None, jobs: self.jobs.drop_many(runs::MEASURES), ..self }
    }
}

impl PageError {
    /// Returns whether reading the same folder again can succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Results(error) => error.is_transient(),
            Self::Read(error) => error.is_transient(),
            _ => false,
        }
    }
}

/// Returns the page of at most [`MOST_RUNS`] runs of the same jobs on the same machine.
///
/// # Errors
/// [`PageError`] if a table is damaged, or if the runs have different jobs.
pub fn page(subject: &Subject, runs: &[RunTables], build: &Build) -> Result<String, PageError> {
    let Subject { trace, notation, topology } = subject;
    let mut columns = Columns::default();
    let rows = Rows::new(topology);
    let machine = machine::describe(topology, &rows, &mut columns);
    let (jobs, described) = runs::describe(runs, notation, &rows, &mut columns)?;
    let header = json!({
        "version": build.version,
        "trace": trace,
        "epoch": notation.epoch,
        "machine": machine,
        "jobs": jobs,
        "runs": described,
        "columns": columns.infos(),
    });
    let title = escape(&format!("{trace} on {topology}"));
    let mut page = format!(
        "{BEGINNING}<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{BODY}"
    );
    let _ = writeln!(
        page,
        "<script type=\"application/json\" id=\"header\">{}</script>",
        in_script(&header)?
    );
    let _ = writeln!(page, "<script type=\"text/plain\" id=\"data\">{}</script>", columns.base64());
    let _ = writeln!(page, "<script type=\"module\">\n{}</script>\n</body>\n</html>", script());
    Ok(page)
}

/// Joins the modules.
fn script() -> String {
    let mut joined = String::new();
    for (_, module) in MODULES {
        for line in module.lines().filter(|line| !line.starts_with("import ")) {
            joined += line.strip_prefix("export ").unwrap_or(line);
            joined.push('\n');
        }
    }
    joined
}

/// Returns a value as JSON in which nothing ends a script element.
fn in_script(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string(value)?.replace('<', "\\u003c"))
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn modules_can_be_joined() {
        let mut names = HashSet::new();
        let mut known: HashSet<&str> = HashSet::new();
        for (file, module) in MODULES {
            assert!(!module.contains("</script") && !module.contains("<!--"), "{file}");
            for line in module.lines() {
                if let Some(import) = line.strip_prefix("import ") {
                    let from = import.split('"').nth(1).expect("a module in quotes");
                    assert!(known.contains(from), "{file} imports {from}, which is joined later");
                }
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                for word in ["const ", "let ", "function ", "class "] {
                    let Some(rest) = line.strip_prefix(word) else { continue };
                    let name: String =
                        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    assert!(names.insert(name.clone()), "{file}: a second {name}");
                }
            }
            known.insert(&format!("./{file}").leak()[..]);
        }
        assert!(!script().contains("\nimport ") && !script().contains("\nexport "));
    }

    #[test]
    fn names_do_not_end_the_script() {
        let text = in_script(&"</script><!--").expect("JSON");
        assert!(!text.contains('<'), "{text}");
        assert_eq!(escape("<a \"b\" & c>"), "&lt;a &quot;b&quot; &amp; c&gt;");
    }
}
