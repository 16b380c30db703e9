//! `replay show --candidates`: the candidates of one decision.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::exit::{Exit, Failure};
use crate::cli::interrupt::cancel_token;
use crate::cli::output::configuration;
use crate::cli::print::{FormatArg, columns};
use crate::cli::results::{Results, Tally};
use crate::cli::session::Session;
use crate::cli::skipped_jobs::why_not_started;
use crate::cli::terminal::stdout;
use replay_engine::allocator::candidate_set::{ScoredCandidate, Term};
use replay_engine::allocator::explain::LISTED;
use replay_engine::allocator::ties::TieVector;
use replay_engine::number::grouped;
use replay_engine::workload::Notation;
use replay_experiment::explained::{Explained, explain};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::snapshot::{When, snapshot};
use replay_experiment::{Cell, CellProblem};
use replay_output::plot::{CandidateMap, Candidates, Plots, ProcessorState, TieTerm, save};
use replay_output::report::machine::Sheets;
use replay_output::report::{Sheet, Shown, candidate_lines, candidate_maps};

/// Maximum number of maps as text.
const MOST_MAPS: usize = 6;
/// Line width in characters if standard output is not a terminal.
const WIDTH: usize = 100;

/// Shows the candidates of the decision that allocated processors to a job. The job is given by its number or by an
/// instant. An instant selects the job that started last among the jobs that hold processors at this instant.
///
/// # Errors
/// A usage error if the job does not exist, or if the decision had no candidates.
pub fn show_candidates(
    session: &mut Session,
    loaded: &ResolvedGrid,
    cell: &Cell,
    notation: Notation,
    when: When,
) -> Result<Exit, Failure> {
    let stop = cancel_token(session.is_quiet());
    let mut tally = Tally::of("pictures", 1);
    let mut shown = Decision { loaded, cell, notation, explained: None };
    match explained(cell, when, &stop) {
        Ok(explained) => {
            tally.done = 1;
            shown.explained = explained;
            if shown.rows().is_empty() {
                return Err(Failure::usage_message(shown.reason_for_none(when)));
            }
        }
        Err(CellProblem::Cancelled(_)) => {}
        Err(problem) => return Err(Failure::data(problem)),
    }
    if let (FormatArg::Table | FormatArg::Md | FormatArg::Latex, Some(explained)) =
        (session.format(), &shown.explained)
    {
        shown.print(explained).map_err(Failure::stdout)?;
    }
    let done = session.publish(&mut shown, &tally)?;
    if let Some(more) = shown.omitted(session.format()) {
        // Print the line below a table. With JSON and CSV, standard output has only rows, and the line goes to standard
        // error.
        match session.format() {
            FormatArg::Table | FormatArg::Md | FormatArg::Latex => {
                writeln!(stdout(), "{more}").map_err(Failure::stdout)?
            }
            FormatArg::Json | FormatArg::Csv => session.print_line(more),
        }
    }
    Ok(done)
}

fn explained(
    cell: &Cell,
    when: When,
    stop: &replay_engine::cancel::CancelToken,
) -> Result<Option<Explained>, CellProblem> {
    let (number, until) = match when {
        When::Started(number) => (number, i64::MIN),
        When::At(at) => {
            let taken = snapshot(cell, when, stop)?;
            let Some(last) = taken.as_ref().and_then(|taken| taken.holds.last()) else {
                return Ok(None);
            };
            (last.job.number, at)
        }
    };
    // A job that was requeued has several starts: use the last start until this instant.
    let starts = explain(cell, number, stop)?.into_iter();
    Ok(starts
        .enumerate()
        .take_while(|(i, one)| *i == 0 || one.start <= until)
        .last()
        .map(|it| it.1))
}

/// A decision with its candidates.
struct Decision<'a> {
    loaded: &'a ResolvedGrid,
    cell: &'a Cell,
    notation: Notation,
    explained: Option<Explained>,
}

impl Decision<'_> {
    /// Returns the reason why there is nothing to show.
    fn reason_for_none(&self, when: When) -> String {
        let Some(explained) = &self.explained else {
            return match when {
                When::Started(number) => why_not_started(self.cell, number, &self.notation),
                When::At(at) => {
                    format!("--at: no job holds processors at {}", self.notation.instant(at))
                }
            };
        };
        let strategy = self.cell.key().strategy();
        let number = self.notation.job(explained.job.number);
        format!(
            "--candidates: {strategy} had no candidates when it allocated processors to job {number}: mc1x1, mm and \
             gen-alg have candidates with tie values, unless a job takes all free processors, and placements has boxes; \
             replay explain covers every allocator"
        )
    }

    fn run(&self) -> String {
        let key = self.cell.key();
        format!("{} on {}, {}, {}", key.trace, key.topology, key.scheduler, key.strategy())
    }

    /// Returns sentences about the decision and the number of candidates.
    fn words(&self, explained: &Explained, shown: usize) -> Vec<String> {
        let decision = &explained.decision;
        let all =
            decision.explanation.candidates.as_ref().map_or(0, |all| all.first.len() + all.more);
        let mut words = vec![format!(
            "at {} job {} gets {} of {} free processors",
            self.notation.instant(explained.start),
            self.notation.job(explained.job.number),
            grouped(explained.nodes.len() as u64),
            grouped(decision.free.len() as u64)
        )];
        words.push(match all {
            1 => "1 candidate competes".to_string(),
            all if all > shown => {
                format!("{all} candidates compete, the best {shown} are drawn, the winner first")
            }
            all => format!("{all} candidates compete, the winner first"),
        });
        if let Some(vector) = self.vector() {
            let [af, wf, bf] = vector.factors();
            words.push(format!("tie value = {af} free - {wf} wall - {bf} busy, the lowest wins"));
        }
        words
    }

    /// Returns a line about the candidates that a format omits; `None` if no candidate is omitted.
    fn omitted(&self, format: FormatArg) -> Option<String> {
        let known = self.rows().len();
        let all = known + self.explained.as_ref()?.decision.explanation.candidates.as_ref()?.more;
        let shown = match format {
            FormatArg::Table | FormatArg::Md | FormatArg::Latex => known.min(LISTED),
            FormatArg::Json | FormatArg::Csv => known,
        };
        let more = (all > shown).then(|| grouped((all - shown) as u64))?;
        Some(match known > shown {
            true => format!("and {more} more (--format csv has all)"),
            false => format!("and {more} more"),
        })
    }

    fn vector(&self) -> Option<TieVector> {
        self.explained.as_ref()?.decision.explanation.candidates.as_ref()?.vector
    }

    /// Prints the maps, which precede the table.
    fn print(&self, explained: &Explained) -> std::io::Result<()> {
        let mut out = stdout();
        let decision = &explained.decision;
        let topology = &self.cell.trace.topology;
        let rivals = self.rows();
        let shown = rivals.len().min(MOST_MAPS);
        writeln!(out, "{}:", self.run())?;
        for line in self.words(explained, shown) {
            writeln!(out, "{line}")?;
        }
        let taken = match rivals.iter().any(ScoredCandidate::is_box) {
            true => "# is a processor of the box",
            false => "a number is the shell of an allocated processor",
        };
        writeln!(out, "{taken}, . is a free processor, x is a busy processor\n")?;
        let free_and_down = [&decision.free[..], &decision.down[..]];
        let width = columns().unwrap_or(WIDTH);
        for line in candidate_maps(topology, free_and_down, &rivals[..shown], width) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)
    }

    fn figure(&self, explained: &Explained) -> Candidates {
        let topology = &self.cell.trace.topology;
        let sheets = Sheets::of(topology);
        let decision = &explained.decision;
        let mut places = vec![0; topology.processors()];
        for (place, processor) in sheets.processors().enumerate() {
            places[processor] = place;
        }
        let mut states = vec![ProcessorState::Busy; places.len()];
        decision.free.iter().for_each(|node| states[places[node.index()]] = ProcessorState::Free);
        decision.down.iter().for_each(|node| states[places[node.index()]] = ProcessorState::Down);
        let map = |(rank, one): (usize, &ScoredCandidate)| {
            let mut chosen = vec![false; places.len()];
            one.nodes.iter().for_each(|node| chosen[places[node.index()]] = true);
            let mut weights = vec![None; places.len()];
            for weight in &one.weights {
                let counted = match weight.term {
                    Term::Free => TieTerm::Free,
                    Term::Wall => TieTerm::Wall,
                    Term::Busy => TieTerm::Busy,
                };
                weights[places[weight.node.index()]] = Some((counted, weight.weight));
            }
            let mut lines = candidate_lines(topology, one, rank == 0);
            let shell = |processor: usize| one.shells.get(processor).copied().unwrap_or(0);
            if let (Some(value), Some(vector)) = (one.tie, self.vector()) {
                let [af, wf, bf] = vector.factors();
                let sums = [Term::Free, Term::Wall, Term::Busy].map(|term| one.sum(term));
                let terms = [(af, sums[0], ""), (wf, sums[1], "− "), (bf, sums[2], "− ")];
                let terms = terms.iter().filter(|term| term.0 != 0);
                let terms: Vec<String> =
                    terms.map(|(factor, sum, sign)| format!("{sign}{factor}·{sum}")).collect();
                lines.pop();
                lines.push(match terms.is_empty() {
                    true => format!("tie value {value}"),
                    false => format!("tie value {} = {value}", terms.join(" ")),
                });
            }
            let centre = self
                .cell
                .trace
                .topology
                .grid()
                .map_or(0, |grid| places[grid.node(one.centre).index()]);
            CandidateMap {
                number: one.number,
                lines,
                centre,
                shells: sheets.processors().map(shell).collect(),
                chosen,
                weights,
            }
        };
        // Only the listed candidates have shells and weights.
        let drawn = self.rows().iter().take(LISTED);
        let candidates: Vec<CandidateMap> = drawn.enumerate().map(map).collect();
        let shown = candidates.len().min(Candidates::MOST);
        Candidates {
            title: self.run(),
            subtitle: self.words(explained, shown),
            sides: sheets.sides,
            edges: super::edges(topology),
            states,
            scan_radius: self.vector().map(|vector| vector.scan_radius),
            candidates,
        }
    }
}

impl Results for Decision<'_> {
    type Row = ScoredCandidate;

    fn rows(&self) -> &[ScoredCandidate] {
        let Some(explained) = &self.explained else { return &[] };
        explained.decision.explanation.candidates.as_ref().map_or(&[], |rivals| &rivals.first)
    }

    fn sheets(&self) -> Vec<Sheet> {
        let centre = |one: &ScoredCandidate| {
            let dimensions = self.cell.trace.topology.grid().map_or(3, |grid| grid.dimensions());
            let centre: Vec<String> = one.centre[..dimensions].iter().map(u16::to_string).collect();
            Some(format!("({})", centre.join(", ")))
        };
        // Print the number of the processor, as in lists of processors.
        let processor = |one: &ScoredCandidate| {
            let node = self.cell.trace.topology.grid().map(|grid| grid.node(one.centre).0);
            let number = node.map_or(String::new(), |node| format!("{node} "));
            centre(one).map(|at| number + &at)
        };
        let listed = &self.rows()[..self.rows().len().min(LISTED)];
        if listed.iter().any(ScoredCandidate::is_box) {
            let shown = vec![
                Shown::column(ScoredCandidate::CANDIDATE_NUMBER, "candidate", 0),
                Shown::text("box at", centre),
                Shown::text("score", |one: &ScoredCandidate| Some(one.label())),
            ];
            return vec![Sheet::of(listed, shown)];
        }
        let shown = vec![
            Shown::column(ScoredCandidate::CANDIDATE_NUMBER, "candidate", 0),
            Shown::text("centre", processor),
            Shown::column(ScoredCandidate::LAST_SHELL, "last shell", 0),
            Shown::column(ScoredCandidate::SCORE, "score", 0),
            Shown::column(ScoredCandidate::SET, "set", 0),
            Shown::column(ScoredCandidate::FREE_WEIGHT, "free", 0).optional(),
            Shown::column(ScoredCandidate::WALL_WEIGHT, "walls", 0).optional(),
            Shown::column(ScoredCandidate::BUSY_WEIGHT, "busy", 0).optional(),
            Shown::column(ScoredCandidate::TIE_VALUE, "tie value", 0).optional(),
        ];
        vec![Sheet::of(listed, shown)]
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(self.loaded, false)
    }

    fn details(&self) -> impl Serialize {
        self.explained.as_ref().map(|explained| {
            serde_json::json!({
                "run": self.cell.key(),
                "at": explained.start,
                "job": explained.job.number,
                "more_candidates": explained.decision.explanation.candidates.as_ref().map(|all| all.more),
            })
        })
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        let Some(explained) = &self.explained else { return Ok(Vec::new()) };
        Ok(save(plots, "candidates", &self.figure(explained))?)
    }
}
