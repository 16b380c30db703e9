use super::{
    Extent, GIVEN, Problems, SearchError, SearchRow, SearchSpec, Searched, SkippedWorkRow,
    improvement, rows, shaken_improvement,
};
use crate::grid::ParameterGrid;
use crate::resolve::ResolvedGrid;
use crate::{Measure, RunContext};

/// A search with its traces.
pub struct SearchTask {
    /// The settings.
    pub spec: SearchSpec,
    /// Traces to search.
    pub train: ResolvedGrid,
    /// Traces on which the vectors are tried, if [`SearchSpec::test`] names some.
    pub test: Option<ResolvedGrid>,
    /// The problems.
    pub problems: Problems,
}

impl SearchTask {
    /// Returns the grid of the searched traces and the grid of the test traces. `grid` is the grid of the settings with its
    /// names looked up. Settings are checked before a trace is read.
    ///
    /// # Errors
    /// The errors of [`SearchSpec::check`].
    pub fn grids(
        spec: &SearchSpec,
        grid: ParameterGrid,
    ) -> Result<(ParameterGrid, Option<ParameterGrid>), SearchError> {
        spec.check(&grid)?;
        let grid = ParameterGrid { measure: Measure::default(), ..grid };
        let mut elsewhere = grid.clone();
        elsewhere.file.traces = spec.test.clone();
        Ok((grid, (!spec.test.is_empty()).then_some(elsewhere)))
    }

    /// Creates a search from the loaded [grids](Self::grids): computes the schedules, and measures each trace without
    /// tie-breaking.
    ///
    /// # Errors
    /// The errors of [`Problems::new`].
    pub fn new(
        spec: SearchSpec,
        train: ResolvedGrid,
        test: Option<ResolvedGrid>,
        context: RunContext<'_>,
    ) -> Result<Self, SearchError> {
        let tests = test.as_ref().map_or(&[][..], |test| &test.traces);
        let problems = Problems::new(&spec, &train.plan.grid, &train.traces, tests, context)?;
        Ok(Self { spec, train, test, problems })
    }

    /// Returns a row for each evaluated vector, search by search.
    pub fn rows(&self, searched: &Searched) -> Vec<SearchRow> {
        let mut all = Vec::new();
        let archives = searched.archives.iter().zip(&searched.given);
        for (problem, (archive, given)) in self.problems.searches.iter().zip(archives) {
            let mut rows = rows(problem, archive, given);
            if let Some(matrix) = &searched.portability {
                let tests = matrix.parts.len() - self.problems.tests..matrix.parts.len();
                let whole =
                    |row: &&mut SearchRow| row.candidate.is_some() && row.extent == Extent::Whole;
                for row in rows.iter_mut().filter(whole) {
                    let tried = matrix.found.iter().position(|found| {
                        let ours = found.on == row.searched || found.on == GIVEN;
                        Some(found.candidate) == row.candidate && ours
                    });
                    let Some(tried) = tried.filter(|_| !tests.is_empty()) else { continue };
                    let cells = &matrix.cells[tried][tests.clone()];
                    row.test_improvement_percent = Some(improvement(cells));
                    row.test_shaken = shaken_improvement(cells);
                }
            }
            all.extend(rows);
        }
        all
    }

    /// Returns rows with the evaluations that each search skipped.
    pub fn skipped_work(&self, searched: &Searched) -> Vec<SkippedWorkRow> {
        let found = searched.archives.iter().zip(&searched.equal_ratios);
        let skipped =
            self.problems.searches.iter().zip(found).map(|(problem, (archive, &equal))| {
                SkippedWorkRow::of(problem, &archive.skipped_work(problem.decisions()), equal)
            });
        skipped.flatten().collect()
    }
}
