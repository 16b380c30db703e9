//! The figures of a search.

use std::path::PathBuf;

use super::name::{FileNames, joined};
use super::number::grouped;
use super::{Climb, Convergence, HeatMap, PlotError, Plots, Surface, SurfaceMap, save};
use replay_experiment::search::{Archive, Evaluation, Found, Portability, Ratio};

/// A search as figures need it.
#[derive(Clone, Copy, Debug)]
pub struct Searched<'a> {
    /// The traces that were searched.
    pub name: &'a str,
    /// Its evaluations.
    pub archive: &'a Archive,
    /// Decisions of a whole evaluation.
    pub decisions: u64,
    /// Evaluations of vectors that were given, shown beside the search.
    pub given: &'a Archive,
}

/// Cells of a surface along each axis: shares 0, 0.1, ..., 1.
const CELLS: usize = 11;
/// Maps on one page.
const MOST_MAPS: usize = 16;

/// Draws for every search its surface, for all together how they converged, and the
/// portability matrix if there is one, into the folder of `plots`; returns the paths.
///
/// # Errors
/// The first [`PlotError`] of a figure that cannot be drawn or written.
pub fn search_gallery(
    plots: &Plots,
    objective: &str,
    searches: &[Searched<'_>],
    portability: Option<&Portability>,
) -> Result<Vec<PathBuf>, PlotError> {
    let mut stems = FileNames::default();
    let mut paths = Vec::new();
    for search in searches {
        if let Some(figure) = surface(objective, search) {
            paths.extend(save(plots, &stems.give(&["surface", search.name]), &figure)?);
        }
    }
    let names = joined(searches.iter().map(|search| search.name.to_string()), "searches");
    let stem = stems.give(&["convergence", &names, objective]);
    paths.extend(save(plots, &stem, &convergence(objective, searches))?);
    if let Some(matrix) = portability.filter(|matrix| !matrix.found.is_empty()) {
        let names = joined(matrix.parts.iter().map(|part| part.name.clone()), "traces");
        let stem = stems.give(&["portability", &names, objective]);
        paths.extend(save(plots, &stem, &portability_map(objective, matrix))?);
    }
    Ok(paths)
}

/// Best improvement by scan radius, wall share and border share, of any slack; only whole evaluations.
/// `None` if there is none. If there are more scan radii than fit, those with the best
/// vectors.
pub fn surface(objective: &str, search: &Searched<'_>) -> Option<Surface> {
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
            against(objective),
            format!(
                "{} vectors; a cell shows its best, grey none",
                grouped(ranked.len() as f64, 0)
            ),
            format!("dot: ({}), {} %", best.candidate, grouped(best.improvement_percent, 3)),
        ],
        value_title: "Improvement (%)".to_string(),
        maps: radii.iter().map(map).collect(),
        cells: CELLS,
    })
}

/// Best improvement so far by work done, given vectors as references.
pub fn convergence(objective: &str, searches: &[Searched<'_>]) -> Convergence {
    let climb = |search: &Searched<'_>| {
        let whole = |decisions: u64| decisions as f64 / search.decisions as f64;
        let steps = search.archive.convergence();
        let reference =
            |one: &Evaluation| (format!("({}), given", one.candidate), one.improvement_percent);
        Climb {
            name: search.name.to_string(),
            steps: steps.into_iter().map(|(decisions, best)| (whole(decisions), best)).collect(),
            work: whole(search.archive.decisions()),
            references: search.given.evaluations().iter().map(reference).collect(),
        }
    };
    let subtitle = vec![against(objective)];
    Convergence { subtitle, climbs: searches.iter().map(climb).collect() }
}

/// Improvement by vector and trace.
pub fn portability_map(objective: &str, matrix: &Portability) -> HeatMap {
    // As much of the names as fits side by side.
    let letters = (64 / matrix.parts.len().max(1)).clamp(6, 24);
    let row = |found: &Found| format!("({}) {}", found.candidate, shortened(&found.on, letters));
    // Rows go up; the first vector should be on top.
    let vectors = matrix.found.iter().zip(&matrix.cells).rev();
    let scaled = matrix.found.iter().any(|found| found.width.is_some());
    let mut subtitle = vec![against(objective)];
    if scaled {
        subtitle.push("scan radius in proportion to the machine's width".to_string());
    }
    HeatMap {
        title: "Vectors found on one trace, tried on others".to_string(),
        subtitle,
        x_title: "Trace".to_string(),
        y_title: "Tie vector, and where it was found".to_string(),
        value_title: "Improvement (%)".to_string(),
        columns: matrix.parts.iter().map(|part| shortened(&part.name, letters)).collect(),
        rows: vectors.clone().map(|(found, _)| row(found)).collect(),
        values: vectors
            .map(|(_, cells)| cells.iter().map(|cell| Some(cell.improvement_percent)).collect())
            .collect(),
    }
}

/// What a figure says of an objective: `mean pairwise L₁ against no tie-breaking` for `mean_pairwise_l1`.
fn against(objective: &str) -> String {
    let (column, rest) = objective.split_at(objective.find('[').unwrap_or(objective.len()));
    let words = column.replace('_', " ").replace(" l1", " L\u{2081}");
    let rest = if rest.is_empty() { String::new() } else { format!(" {rest}") };
    format!("{words}{rest} against no tie-breaking")
}

/// A name cut to so many letters; traces differ where they begin.
fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_string();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_words() {
        assert_eq!(against("mean_pairwise_l1"), "mean pairwise L₁ against no tie-breaking");
        let weighted = "mean_pairwise_l1[weights=2..16:1]";
        assert_eq!(against(weighted), "mean pairwise L₁ [weights=2..16:1] against no tie-breaking");
        assert_eq!(against("utilization"), "utilization against no tie-breaking");
    }

    #[test]
    fn long_names_keep_their_beginning() {
        assert_eq!(shortened("KTH-SP2", 8), "KTH-SP2");
        assert_eq!(shortened("SDSC-Par-1995-3.1-cln", 12), "SDSC-Par-19…");
    }
}
