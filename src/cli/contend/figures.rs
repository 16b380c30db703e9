//! Figures of `replay contend`: allocators compared, and the use of the links.

use std::path::{Path, PathBuf};

use super::tables::varied;
use crate::experiment::RunKey;
use crate::experiment::contention::{Contended, Contention, settings};
use crate::plot::{Comparison, HeatMap, Stems, save};

/// Draws a comparison of every setting and a map of every run on a 2D machine; the paths of
/// the files. Names and subtitles tell machines and seeds apart if there are several.
pub fn write(plots: &Path, outcomes: &[Contended]) -> anyhow::Result<Vec<PathBuf>> {
    let (machines, seeds) = varied(outcomes.iter().map(|outcome| &outcome.key));
    let seed_of = |key: &RunKey| seeds.then(|| format!("seed {}", key.seed));
    let mut stems = Stems::default();
    let mut files = Vec::new();
    for group in settings(outcomes) {
        let key = &group[0].key;
        let seed = seed_of(key);
        let mut parts = vec!["contention", &key.trace, &key.topology, &key.scheduler];
        parts.extend(seed.as_deref());
        let figure = comparison(&group, seed.as_deref());
        files.extend(save(plots, &stems.give(&parts), &figure)?);
    }
    for outcome in outcomes {
        let key = &outcome.key;
        let (seed, strategy) = (seed_of(key), key.strategy());
        let Some(figure) = heat_map(outcome, seed.as_deref()) else { continue };
        let mut parts = vec!["links", key.trace.as_str()];
        parts.extend(machines.then_some(key.topology.as_str()));
        parts.extend([&key.scheduler, &strategy].map(String::as_str));
        parts.extend(seed.as_deref());
        files.extend(save(plots, &stems.give(&parts), &figure)?);
    }
    Ok(files)
}

/// The parts of a subtitle's line that are there.
fn line(parts: &[Option<&str>]) -> String {
    parts.iter().flatten().copied().collect::<Vec<_>>().join(", ")
}

fn comparison(group: &[&Contended], seed: Option<&str>) -> Comparison {
    let mut sorted = group.to_vec();
    // Those that have no stretch come last.
    let stretch = |run: &Contended| run.means.mean_stretch.unwrap_or(f64::INFINITY);
    sorted.sort_by(|a, b| stretch(a).total_cmp(&stretch(b)));
    let (key, pattern) = (&group[0].key, &group[0].pattern);
    let values = |means: &Contention| {
        let dispersal = means.mean_sending_dispersal.map(|share| 100.0 * share);
        vec![means.mean_stretch, means.mean_latency, means.mean_distance, dispersal]
    };
    Comparison {
        half_widths: Vec::new(),
        subtitle: vec![
            line(&[Some(&key.trace), Some(&key.topology), Some(&key.scheduler), seed]),
            format!("{pattern}; stretch is time among others over time alone"),
        ],
        measures: ["Stretch", "Packet latency (cycles)", "Distance (hops)", "Dispersal (%)"]
            .map(str::to_string)
            .to_vec(),
        strategies: sorted.iter().map(|run| (run.key.strategy(), values(&run.means))).collect(),
    }
}

/// Use of links by place, on 2D machines.
fn heat_map(outcome: &Contended, seed: Option<&str>) -> Option<HeatMap> {
    let grid = outcome.trace.topology.grid().filter(|grid| grid.dimensions() == 2)?;
    let (width, length) = (grid.extent(0) as u16, grid.extent(1) as u16);
    let at = |x, y| 100.0 * outcome.result.link_use[grid.node([x, y, 0]).index()];
    let (key, pattern) = (&outcome.key, &outcome.pattern);
    let strategy = key.strategy();
    Some(HeatMap {
        title: "Use of the links".to_string(),
        subtitle: vec![
            line(&[
                Some(&key.trace),
                Some(&key.topology),
                Some(&key.scheduler),
                Some(&strategy),
                seed,
            ]),
            format!("{pattern}; mean over the links that leave a processor"),
        ],
        x_title: "x".to_string(),
        y_title: "y".to_string(),
        value_title: "time reserved (%)".to_string(),
        columns: (0..width).map(|x| x.to_string()).collect(),
        rows: (0..length).map(|y| y.to_string()).collect(),
        values: (0..length).map(|y| (0..width).map(|x| Some(at(x, y))).collect()).collect(),
    })
}
