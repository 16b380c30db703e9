//! Figures of a search.

use std::path::PathBuf;

use super::name::{FileNames, joined};
use super::number::grouped;
use super::{Convergence, ConvergenceCurve, HeatMap, PlotError, Plots, Surface, SurfaceMap, save};
use replay_experiment::search::{Archive, Evaluation, Found, Portability, Ratio};

/// Data of one search for figures.
#[derive(Clone, Copy, Debug)]
pub struct SearchRun<'a> {
    /// Names of the searched traces.
    pub name: &'a str,
    /// Evaluations of the search.
    pub archive: &'a Archive,
    /// Number of decisions in a whole evaluation.
    pub decisions: u64,
    /// Evaluations of vectors given by the user, shown for comparison.
    pub given: &'a Archive,
}

/// Number of cells of a surface along each axis, for the shares 0, 0.1, ..., 1.
const CELLS: usize = 11;
/// Maximum number of maps on one page.
const MOST_MAPS: usize = 16;

/// Draws the figures of searches in the directory of `plots`: the surface of every search, one convergence figure of
/// all searches, and the portability matrix if present. Returns the paths.
///
/// # Errors
/// Returns the first [`PlotError`] of a figure that cannot be drawn or written.
pub fn search_gallery(
    plots: &Plots,
    objective: &str,
    searches: &[SearchRun<'_>],
    portability: Option<&Portability>,
) -> Result<Vec<PathBuf>, PlotError> {
    let mut stems = FileNames::default();
    let mut paths = Vec::new();
    for search in searches {
        if let Some(figure) = surface(objective, search) {
            paths.extend(save(plots, &stems.unique(&["surface", search.name]), &figure)?);
        }
    }
    let names = joined(searches.iter().map(|search| search.name.to_string()), "searches");
    let stem = stems.unique(&["convergence", &names, objective]);
    paths.extend(save(plots, &stem, &convergence(objective, searches))?);
    if let Some(matrix) = portability.filter(|matrix| !matrix.found.is_empty()) {
        let names = joined(matrix.parts.iter().map(|part| part.name.clone()), "traces");
        let stem = stems.unique(&["portability", &names, objective]);
        paths.extend(save(plots, &stem, &portability_map(objective, matrix))?);
    }
    Ok(paths)
}

/// Returns maps of the best improvement in percent, one map per scan radius, by wall share and border share. Whole
/// evaluations with any slack are included; returns `None` if there are no whole evaluations. If not all scan radii fit
/// on a page, only the scan radii of the best vectors are shown.
pub fn surface(objective: &str, search: &SearchRun<'_>) -> Option<Surface> {
    let ranked = search.archive.ranked();
    let mut radii: Vec<u32> = Vec::new();
    for one in &ranked {
        let radius = one.candidate.vector.scan_radius;
        if !radii.contains(&radius) && radii.len() < MOST_MAPS {
            radii.push(radius);
        }
    }
    radii.sort_unstable();
    let map = |&radius: &u32| {
        let mut values = vec![vec![None; CELLS]; CELLS];
        for one in ranked.iter().filter(|one| one.candidate.vector.scan_radius == radius) {
            let ratio = Ratio::of(one.candidate.vector);
            let cell = |share: f64| (share * (CELLS - 1) as f64).round() as usize;
            let value: &mut Option<f64> = &mut values[cell(ratio.border)][cell(ratio.wall)];
            let best = value.map_or(one.improvement_percent, |v| v.max(one.improvement_percent));
            *value = Some(best);
        }
        SurfaceMap { name: format!("SR = {radius}"), values }
    };
    let best = search.archive.best()?;
    Some(Surface {
        title: "Improvement by tie vector".to_string(),
        subtitle: vec![
            search.name.to_string(),
            objective_clause(objective),
            format!(
                "{} vectors; each cell shows the best of its vectors; grey cells have no vector",
                grouped(ranked.len() as f64, 0)
            ),
            format!("dot: ({}), {} %", best.candidate, grouped(best.improvement_percent, 3)),
        ],
        value_title: "Improvement (%)".to_string(),
        maps: radii.iter().map(map).collect(),
        cells: CELLS,
    })
}

/// Returns a figure of the best improvement found, plotted against the work in whole evaluations. The given vectors are
/// shown as references.
pub fn convergence(objective: &str, searches: &[SearchRun<'_>]) -> Convergence {
    let curve = |search: &SearchRun<'_>| {
        let whole = |decisions: u64| decisions as f64 / search.decisions as f64;
        let steps = search.archive.convergence();
        let reference =
            |one: &Evaluation| (format!("({}), given", one.candidate), one.improvement_percent);
        ConvergenceCurve {
            name: search.name.to_string(),
            steps: steps.into_iter().map(|(decisions, best)| (whole(decisions), best)).collect(),
            work: whole(search.archive.decisions()),
            references: search.given.evaluations().iter().map(reference).collect(),
        }
    };
    let subtitle = vec![objective_clause(objective)];
    Convergence { subtitle, curves: searches.iter().map(curve).collect() }
}

/// Returns a map of the improvement by vector and trace.
pub fn portability_map(objective: &str, matrix: &Portability) -> HeatMap {
    // Shorten names so that they fit side by side.
    let letters = (64 / matrix.parts.len().max(1)).clamp(6, 24);
    let row =
        |found: &Found| format!("({}) {}", found.candidate, first_letters(&found.on, letters));
    // Rows are numbered from the bottom, so the first vector is last.
    let vectors = matrix.found.iter().zip(&matrix.cells).rev();
    let scaled = matrix.found.iter().any(|found| found.width.is_some());
    let mut subtitle = vec![objective_clause(objective)];
    if scaled {
        subtitle.push("scan radius in proportion to the machine's width".to_string());
    }
    HeatMap {
        title: "Vectors found on one trace, evaluated on others".to_string(),
        subtitle,
        x_title: "Trace".to_string(),
        y_title: "Tie vector, and where it was found".to_string(),
        value_title: "Improvement (%)".to_string(),
        columns: matrix.parts.iter().map(|part| first_letters(&part.name, letters)).collect(),
        rows: vectors.clone().map(|(found, _)| row(found)).collect(),
        values: vectors
            .map(|(_, cells)| cells.iter().map(|cell| Some(cell.improvement_percent)).collect())
            .collect(),
    }
}

/// Returns the subtitle clause of an objective, such as `mean pairwise L₁ against no tie-breaking` for
/// `mean_pairwise_l1`.
fn objective_clause(objective: &str) -> String {
    let (column, rest) = objective.split_at(objective.find('[').unwrap_or(objective.len()));
    let words = column.replace('_', " ").replace(" l1", " L\u{2081}");
    let rest = if rest.is_empty() { String::new() } else { format!(" {rest}") };
    format!("{words}{rest} against no tie-breaking")
}

/// Shortens a name to `letters` characters. The beginning is kept, because names of traces differ in their first
/// letters.
fn first_letters(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_string();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_objectives_in_words() {
        assert_eq!(
            objective_clause("mean_pairwise_l1"),
            "mean pairwise L₁ against no tie-breaking"
        );
        let weighted = "mean_pairwise_l1[weights=2..16:1]";
        assert_eq!(
            objective_clause(weighted),
            "mean pairwise L₁ [weights=2..16:1] against no tie-breaking"
        );
        assert_eq!(objective_clause("utilization"), "utilization against no tie-breaking");
    }

    #[test]
    fn shortened_names_keep_their_beginning() {
        assert_eq!(first_letters("KTH-SP2", 8), "KTH-SP2");
        assert_eq!(first_letters("SDSC-Par-1995-3.1-cln", 12), "SDSC-Par-19…");
    }
}
