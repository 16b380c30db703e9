//! Figures of `replay contend`: comparisons of allocators, scatter plots of pairs of metrics, and maps of link use.

use replay_engine::table::Name;
use std::path::PathBuf;

use replay_engine::number::grouped;
use replay_experiment::RunKey;
use replay_experiment::contention::{
    Contention, ContentionRun, Correlations, LinkUse, PAIRS, mean_use, ranking, settings,
};
use replay_experiment::shaken::ShakenRow;
use replay_output::plot::{
    Comparison, Distribution, FileNames, LinkMap, LinkMaps, Marks, Plots, STRETCHES, Scatter,
    ScatterPanel, SpreadCurve, Spreads, save, spreads,
};

/// Draws the figures: for each setting, a comparison and the distribution of stretch; for each row of correlations, a
/// scatter plot; for each run of an unperturbed trace on a 2D machine, link maps. Returns the paths of the files. File
/// names contain the seed if it is not 0. Subtitles contain the seed and the number of jobs that send packets.
///
/// # Errors
/// Errors of drawing the figures and of writing the files.
pub fn write(
    plots: &Plots,
    outcomes: &[ContentionRun],
    shaken: &[ShakenRow],
) -> anyhow::Result<Vec<PathBuf>> {
    let most = plots.style().strategies;
    // As in the gallery, file names omit the default seed.
    let seed_in_name = |key: &RunKey| (key.seed != 0).then(|| seed_of(key));
    let mut stems = FileNames::default();
    let mut files = Vec::new();
    for group in settings(outcomes) {
        let key = &group[0].key;
        let seed = seed_in_name(key);
        let mut parts = vec!["contention", &key.trace, &key.topology, &key.scheduler];
        parts.extend(seed.as_deref());
        let figure = comparison(&group, shaken).truncated(most);
        files.extend(save(plots, &stems.unique(&parts), &figure)?);
        if let Some(figure) = stretches(&group, most) {
            parts[0] = "stretch";
            files.extend(save(plots, &stems.unique(&parts), &figure)?);
        }
    }
    let drawn = |one: &Correlations<'_>| one.points.len() >= FEWEST_POINTS;
    for one in Correlations::of(outcomes).into_iter().filter(drawn) {
        let key = one.key;
        let (seed, strategy) = (seed_in_name(key), key.strategy());
        let kind = if one.over_jobs { "jobs" } else { "allocators" };
        let mut parts = vec!["scatter", kind, &key.trace, &key.topology, &key.scheduler];
        parts.extend(one.over_jobs.then_some(strategy.as_str()));
        parts.extend(seed.as_deref());
        // For a row over jobs, only the sending jobs of its run are counted; for a row over allocators, the sending
        // jobs of all runs of the setting are counted.
        let runs = settings(outcomes).into_iter().find(|group| of_setting(&group[0].key, key));
        let mut runs = runs.unwrap_or_default();
        runs.retain(|run| !one.over_jobs || run.key == *key);
        let figure = scatter(&one, &outcomes[0].pattern, &runs, most);
        files.extend(save(plots, &stems.unique(&parts), &figure)?);
    }
    let drawn = outcomes
        .iter()
        .filter(|outcome| outcome.is_unshaken())
        .filter_map(|outcome| Some((outcome, link_maps(outcome)?)));
    let drawn: Vec<(&ContentionRun, LinkMaps)> = drawn.collect();
    // All runs of a trace and machine share one scale.
    let most = |key: &RunKey| {
        let alike = drawn.iter().filter(|(other, _)| {
            (&other.key.trace, &other.key.topology) == (&key.trace, &key.topology)
        });
        alike.map(|(_, figure)| figure.largest()).fold(0.0, f64::max)
    };
    for (outcome, figure) in &drawn {
        let key = &outcome.key;
        let (seed, strategy) = (seed_in_name(key), key.strategy());
        let figure = LinkMaps { most: most(key), ..figure.clone() };
        let mut parts = vec!["links", key.trace.as_str(), &key.topology, &key.scheduler, &strategy];
        parts.extend(seed.as_deref());
        files.extend(save(plots, &stems.unique(&parts), &figure)?);
    }
    Ok(files)
}

/// Minimum number of points of a scatter plot.
const FEWEST_POINTS: usize = 4;

fn seed_of(key: &RunKey) -> String {
    format!("seed {}", key.seed)
}

/// Returns whether two runs have the same setting: trace, policy, machine, scheduler and seed.
fn of_setting(a: &RunKey, b: &RunKey) -> bool {
    (&a.trace, &a.policy, &a.topology, &a.scheduler, a.seed)
        == (&b.trace, &b.policy, &b.topology, &b.scheduler, b.seed)
}

/// Returns the first line of a subtitle: the run and its seed.
fn line(key: &RunKey, strategy: Option<&str>) -> String {
    let seed = seed_of(key);
    let parts = [Some(&*key.trace), Some(&*key.topology), Some(&*key.scheduler), strategy];
    parts.into_iter().flatten().chain([seed.as_str()]).collect::<Vec<_>>().join(", ")
}

/// Returns the number of jobs that send packets, or a range if the runs differ in this number.
fn senders(runs: &[&ContentionRun]) -> String {
    let of = |run: &&ContentionRun| run.result.jobs.iter().filter(|job| job.packets > 0).count();
    let (least, most) = runs
        .iter()
        .map(of)
        .fold((usize::MAX, 0), |(least, most), count| (least.min(count), most.max(count)));
    match (least, most) {
        (1, 1) => "1 job sends packets".to_string(),
        (least, most) if least >= most => format!("{} jobs send packets", grouped(most as u64)),
        (least, most) => {
            format!("{} to {} jobs send packets", grouped(least as u64), grouped(most as u64))
        }
    }
}

/// Columns that are shown with a median: the ends of the interval of the median, the trimmed mean and the 95th
/// percentile.
struct Beside {
    interval: [Name; 2],
    trimmed_mean: Name,
    p95: Name,
}

/// The compared metrics. Each entry contains the title, the column, the columns shown with it, the factor by which
/// values are multiplied, and the value at which bars begin.
const COMPARED: [(&str, Name, Option<Beside>, f64, f64); 5] = [
    (
        "Stretch",
        Contention::median_stretch,
        Some(Beside {
            interval: [Contention::median_stretch_low, Contention::median_stretch_high],
            trimmed_mean: Contention::trimmed_mean_stretch,
            p95: Contention::p95_stretch,
        }),
        1.0,
        1.0,
    ),
    (
        "Placement",
        Contention::median_placement_factor,
        Some(Beside {
            interval: [
                Contention::median_placement_factor_low,
                Contention::median_placement_factor_high,
            ],
            trimmed_mean: Contention::trimmed_mean_placement_factor,
            p95: Contention::p95_placement_factor,
        }),
        1.0,
        1.0,
    ),
    (
        "Contention",
        Contention::median_contention_factor,
        Some(Beside {
            interval: [
                Contention::median_contention_factor_low,
                Contention::median_contention_factor_high,
            ],
            trimmed_mean: Contention::trimmed_mean_contention_factor,
            p95: Contention::p95_contention_factor,
        }),
        1.0,
        1.0,
    ),
    ("Distance (hops)", Contention::mean_distance, None, 1.0, 0.0),
    ("Dispersal (%)", Contention::mean_sending_dispersal, None, 100.0, 0.0),
];

/// Returns a figure that compares the medians of stretch and of its two factors, and the mean distances. If there are
/// perturbed copies, the values are means over the copies. Strategies are in the [order](ranking::order) of the
/// ranking.
fn comparison(group: &[&ContentionRun], shaken: &[ShakenRow]) -> Comparison {
    let columns = Contention::columns();
    // The value of a metric of a run, and the half width of its interval over copies if there are copies.
    let value = |run: &ContentionRun, metric: Name| -> Option<(f64, Option<f64>)> {
        match shaken {
            [] => {
                let column = columns.iter().find(|column| column.name == metric)?;
                Some((column.value(&run.means).number()?, None))
            }
            rows => {
                let row = rows.iter().find(|row| row.run == run.run && row.metric == metric)?;
                Some((row.mean.mean, Some(row.mean.half_width)))
            }
        }
    };
    let number = |run: &ContentionRun, metric: Name| value(run, metric).map(|(value, _)| value);
    let mut runs = group.to_vec();
    match shaken {
        [] => runs.sort_by(|a, b| ranking::order(&a.means, &b.means)),
        _ => runs.sort_by(|a, b| {
            let key = |run: &ContentionRun| {
                [Contention::median_stretch, Contention::trimmed_mean_stretch]
                    .map(|metric| number(run, metric).unwrap_or(f64::INFINITY))
            };
            let ([a, first], [b, second]) = (key(a), key(b));
            a.total_cmp(&b).then(first.total_cmp(&second))
        }),
    }
    let of_run = |run: &&ContentionRun| {
        let values = COMPARED.map(|(_, metric, _, by, _)| Some(by * number(run, metric)?));
        (run.key.strategy(), values.to_vec())
    };
    let interval = |run: &ContentionRun, metric: Name, beside: Option<Beside>, by: f64| {
        if let (value, Some(half)) = value(run, metric)? {
            return Some([value - half, value + half].map(|end| by * end));
        }
        let ends = beside?.interval.map(|end| number(run, end));
        Some([by * ends[0]?, by * ends[1]?])
    };
    let intervals = |run: &&ContentionRun| {
        COMPARED.map(|(_, metric, beside, by, _)| interval(run, metric, beside, by)).to_vec()
    };
    let marks = |run: &&ContentionRun| {
        let marks = |beside: Option<Beside>| {
            let Beside { trimmed_mean, p95, .. } = beside?;
            Some(Marks { trimmed_mean: number(run, trimmed_mean)?, p95: number(run, p95)? })
        };
        COMPARED.map(|(_, _, beside, ..)| marks(beside)).to_vec()
    };
    let (key, pattern) = (&group[0].key, &group[0].pattern);
    let copies = shaken.iter().find(|row| row.run == group[0].run).map(|row| row.mean.count);
    let mut subtitle = vec![line(key, None), senders(group), pattern.to_string()];
    // If the page is too small for the subtitle, the last lines of the subtitle are omitted.
    subtitle.push(match copies {
        Some(n) => format!("means over {n} perturbed copies of the trace, 95 % intervals"),
        None => "95 % intervals of the medians over jobs".to_string(),
    });
    subtitle.push("ordered by median, then by trimmed mean of the stretch".to_string());
    subtitle.push("stretch of a job is placement times contention".to_string());
    subtitle.push("placement: alone on its processors / alone in a compact box".to_string());
    subtitle.push("contention: with other jobs / alone on its processors".to_string());
    Comparison {
        subtitle,
        measures: COMPARED.iter().map(|(title, ..)| title.to_string()).collect(),
        strategies: runs.iter().map(of_run).collect(),
        intervals: runs.iter().map(intervals).collect(),
        begins: COMPARED.iter().map(|(.., begin)| *begin).collect(),
        marks: runs.iter().map(marks).collect(),
    }
}

/// Returns the distribution of stretch over the jobs of each strategy; `None` if no job sends packets.
fn stretches(group: &[&ContentionRun], most: usize) -> Option<Spreads> {
    let spread = |run: &&ContentionRun| {
        let jobs = run.result.jobs.iter();
        (run.key.strategy(), Distribution::of(jobs.filter_map(|job| job.stretch())))
    };
    let own: Vec<(String, Distribution)> = group.iter().map(spread).collect();
    let (key, pattern) = (&group[0].key, &group[0].pattern);
    let curves = own.iter().map(|(name, spread)| SpreadCurve {
        name: name.clone(),
        strategies: vec![name.clone()],
        spread,
    });
    // The figure adds the number of jobs itself and counts only the jobs that send packets.
    spreads(STRETCHES, vec![line(key, None), pattern.clone()], curves.collect(), most)
}

/// Returns the scatter plot of a row of correlations, with a panel for each pair of measures.
fn scatter(of: &Correlations<'_>, pattern: &str, runs: &[&ContentionRun], most: usize) -> Scatter {
    let key = of.key;
    let strategy = of.over_jobs.then(|| key.strategy());
    let panel = |pair: &replay_experiment::contention::Pair| ScatterPanel {
        name: pair.summary(&of.points),
        x_title: pair.axes.0.to_string(),
        y_title: pair.axes.1.to_string(),
        points: pair.points(&of.points),
    };
    let title = if of.over_jobs {
        "Jobs: correlation of measures"
    } else {
        "Allocators: correlation of means"
    };
    Scatter {
        title: title.to_string(),
        subtitle: vec![
            line(key, strategy.as_deref()),
            senders(runs),
            match of.over_jobs {
                true => format!("{pattern}; every job that sends packets"),
                false => format!("{pattern}; means over the jobs that send packets, in-sample"),
            },
        ],
        // If there are more names than distinct colours, all points have the same colour.
        names: if of.names.len() > most { Vec::new() } else { of.names.clone() },
        panels: PAIRS.iter().map(panel).collect(),
    }
}

/// Names of the link directions of a 2D machine in the order of [`LinkUse`], with the direction on the map.
const DIRECTIONS: [&str; 4] = ["-x (to the left)", "+x (to the right)", "-y (down)", "+y (up)"];

/// Returns the maps of link use; `None` unless the machine is a 2D grid.
fn link_maps(outcome: &ContentionRun) -> Option<LinkMaps> {
    let grid = outcome.trace.topology.grid().filter(|grid| grid.dimensions() == 2)?;
    let (width, length) = (grid.extent(0) as u16, grid.extent(1) as u16);
    let map = |name: &str, of: &dyn Fn(&LinkUse) -> Option<f64>| LinkMap {
        name: name.to_string(),
        values: (0..length)
            .map(|y| {
                let links = |x| &outcome.result.link_use[grid.node([x, y, 0]).index()];
                (0..width).map(|x| of(links(x)).map(|share| 100.0 * share)).collect()
            })
            .collect(),
    };
    let mut maps = vec![map("mean of the existing links", &mean_use)];
    for (direction, name) in DIRECTIONS.iter().enumerate() {
        maps.push(map(name, &|links| links.get(direction).copied().flatten()));
    }
    let edges = match grid.axes()[..2].iter().all(|axis| axis.wrapped) {
        true => "",
        false => {
            "; the mean is over four links inside, three at an edge, two in a corner (grey: no link)"
        }
    };
    let (key, pattern) = (&outcome.key, &outcome.pattern);
    let strategy = key.strategy();
    Some(LinkMaps {
        title: "Use of the links".to_string(),
        subtitle: vec![
            line(key, Some(&strategy)),
            senders(&[outcome]),
            format!(
                "{pattern}; links that leave a processor{edges}; one scale for all runs of a trace and machine"
            ),
        ],
        value_title: "time reserved (%)".to_string(),
        sides: (width.into(), length.into()),
        maps,
        most: 0.0,
    })
}
