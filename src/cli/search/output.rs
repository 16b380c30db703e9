//! Where the results of a search go.

use std::io;

use serde_json::json;

use super::args::SearchArgs;
use super::plan::SearchPlan;
use crate::cli::exit::Failure;
use crate::cli::output::{configuration, metadata};
use crate::cli::session::Session;
use crate::experiment::search::{
    Archive, Candidate, Origin, Portability, Problem, SearchRow, SparedRow, rows,
};
use crate::frame;
use crate::plot::{Searched, search_gallery};
use crate::report::{portability_summary, search_summary};

/// The result of a search, ready to be written.
pub struct Results<'a> {
    /// What was searched.
    pub plan: &'a SearchPlan,
    /// By search.
    pub archives: &'a [Archive],
    /// Evaluations of the given vectors, by search.
    pub given: &'a [Archive],
    /// Vectors of the grid that were not tried, by search.
    pub equal_ratios: &'a [u64],
    /// Vectors tried on other traces.
    pub portability: Option<&'a Portability>,
}

impl Results<'_> {
    /// All rows, search by search.
    fn rows(&self) -> Vec<SearchRow> {
        let mut all = Vec::new();
        let archives = self.archives.iter().zip(self.given);
        for (problem, (archive, given)) in self.plan.searches.iter().zip(archives) {
            let mut rows = rows(problem, archive, given);
            if let Some(matrix) = self.portability {
                let tests = matrix.parts.len() - self.plan.tests..matrix.parts.len();
                for row in rows.iter_mut().filter(|row| row.rank.is_some()) {
                    let tried = matrix.found.iter().position(|found| {
                        Some(found.candidate) == row.candidate && found.on == row.searched
                    });
                    row.test_improvement_percent =
                        tried.filter(|_| !tests.is_empty()).map(|tried| {
                            let cells = &matrix.cells[tried][tests.clone()];
                            let sum: f64 = cells.iter().map(|cell| cell.improvement_percent).sum();
                            sum / cells.len() as f64
                        });
                }
            }
            all.extend(rows);
        }
        all
    }

    /// Writes the files and prints the best vectors, which a full disk must not cost.
    pub fn write(&self, args: &SearchArgs, session: Session) -> Result<(), Failure> {
        let rows = self.rows();
        let written = self.write_files(args, session, &rows);
        let printed = self.print(args, &rows).map_err(|e| Failure::output("standard output", e));
        written.and(printed)
    }

    fn print(&self, args: &SearchArgs, rows: &[SearchRow]) -> io::Result<()> {
        let top = |row: &&SearchRow| {
            let given = row.candidate.is_some_and(|candidate| {
                self.plan.given.iter().any(|given| given.reduced() == candidate)
            });
            let shown = row.rank.is_some_and(|rank| rank <= u64::from(args.top));
            shown || given || row.origin == Origin::None
        };
        let shown: Vec<SearchRow> = rows.iter().filter(top).cloned().collect();
        let sheets = || {
            let summary = search_summary(&self.plan.objective.to_string(), &shown);
            [Some(summary), self.portability.map(portability_summary)].into_iter().flatten()
        };
        args.output.format.print(&shown, || sheets().collect(), &mut io::stdout().lock())
    }

    fn write_files(
        &self,
        args: &SearchArgs,
        mut session: Session,
        rows: &[SearchRow],
    ) -> Result<(), Failure> {
        let plan = self.plan;
        let Some(dir) = session.stage()? else { return Ok(()) };
        let configuration = configuration(&plan.train, false);
        let text = json!({"run": configuration, "search": self.settings(args)}).to_string();
        let metadata = metadata(&text);
        let searches = plan.searches.iter().zip(self.archives).zip(self.equal_ratios);
        let spared: Vec<SparedRow> = searches
            .flat_map(|((problem, archive), &equal)| {
                SparedRow::of(problem, &archive.spared(problem.decisions()), equal)
            })
            .collect();
        let failed = |e| Failure::output("results", e);
        let mut written = frame::write(dir, rows, &metadata).map_err(failed)?;
        written.extend(frame::write(dir, &spared, &metadata).map_err(failed)?);
        if let Some(matrix) = self.portability {
            written.extend(frame::write(dir, &matrix.rows(), &metadata).map_err(failed)?);
        }
        if !args.output.no_plots {
            let names: Vec<String> = plan.searches.iter().map(Problem::name).collect();
            let searched: Vec<_> = names
                .iter()
                .zip(self.archives)
                .zip(self.given)
                .zip(&plan.searches)
                .map(|(((name, archive), given), problem)| Searched {
                    name,
                    archive,
                    given,
                    decisions: problem.decisions(),
                })
                .collect();
            let objective = plan.objective.to_string();
            let drawn = search_gallery(&dir.join("plots"), &objective, &searched, self.portability);
            written.extend(drawn.map_err(|e| Failure::output("plots", e))?);
        }
        let details = json!({"search": self.settings(args)});
        session.commit(&written, &configuration, &details, &[]).map(drop)
    }

    /// What decides the numbers of the search, beside the traces.
    fn settings(&self, args: &SearchArgs) -> serde_json::Value {
        let plan = self.plan;
        let text =
            |values: &[Candidate]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let strategy = clap::ValueEnum::to_possible_value(&args.strategy);
        json!({
            "strategy": strategy.map(|value| value.get_name().to_string()),
            "objective": plan.objective.to_string(),
            "constraints": plan.constraints.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "grid": {"sr": plan.grid.scan_radii.to_string(), "factors": plan.grid.factors.to_string()},
            "free": {"sr": plan.free.scan_radii.to_string(), "largest": plan.free.largest},
            "slack": plan.grid.slacks.iter().map(|slack| slack.share()).collect::<Vec<_>>(),
            "given": text(&plan.given),
            "start": args.start,
            "evaluations": args.evaluations,
            "seconds": args.time.map(|time| time.as_secs_f64()),
            "spare": super::keep(args),
            "ask_command": args.ask_command,
            "split": args.split,
            "each": args.each,
            "scale_sr": args.scale_sr,
            "seed": plan.seed,
            "test": plan.test.as_ref().map(|plan| configuration(plan, false).traces),
        })
    }
}
