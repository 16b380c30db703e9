//! Tables of `replay contend`.

use std::path::{Path, PathBuf};

use replay_engine::number::fixed;
use replay_experiment::RunKey;
use replay_experiment::contention::{Contention, ContentionRun, Correlations, PAIRS};
use replay_experiment::shaken::ShakenRow;
use replay_output::report::{CONTENTION_FIGURES, Sheet, Shown, shaken_summary};
use replay_results::{FrameError, write as write_table};

/// Returns the printed tables: runs, correlations of their measures, and means over perturbed copies.
pub fn sheets(runs: &[ContentionRun], shaken: &[ShakenRow]) -> Vec<Sheet> {
    let mut sheets = vec![stretches(runs), traffic(runs), correlations(&Correlations::of(runs))];
    if !shaken.is_empty() {
        sheets.push(shaken_summary(shaken, CONTENTION_FIGURES, &Contention::columns()));
    }
    sheets
}

/// Writes the tables of runs, jobs, correlations and, if there are any, perturbed copies. Returns the paths of the files.
///
/// # Errors
/// Errors of writing.
pub fn write(
    dir: &Path,
    runs: &[ContentionRun],
    shaken: &[ShakenRow],
    metadata: &[(String, String)],
) -> Result<Vec<PathBuf>, FrameError> {
    let jobs: Vec<_> = runs.iter().flat_map(ContentionRun::job_rows).collect();
    let mut files = write_table(dir, runs, metadata)?;
    files.extend(write_table(dir, &jobs, metadata)?);
    files.extend(write_table(dir, &Correlations::of(runs), metadata)?);
    if !shaken.is_empty() {
        files.extend(write_table(dir, shaken, metadata)?);
    }
    Ok(files)
}

/// Line above the table of stretches.
const STRETCHES: &str = "stretch, placement and contention: medians over the jobs that send packets; trimmed: mean \
     without 5 % of these jobs at each end; off target: jobs whose time without other jobs differs from run time x scale by \
     more than 1 %";

/// Returns the printed table of stretch and its factors, with a row for each run.
fn stretches(runs: &[ContentionRun]) -> Sheet {
    let mut shown = keys(runs);
    shown.push(Shown::column(Contention::median_stretch, "stretch", 4));
    let interval = |run: &ContentionRun| {
        let [low, high] = [run.means.median_stretch_low?, run.means.median_stretch_high?];
        Some(format!("{} to {}", fixed(low, 4), fixed(high, 4)))
    };
    shown.push(Shown::text("95 %", interval).right());
    let of_all = [
        (Contention::p95_stretch, "p95 stretch"),
        (Contention::trimmed_mean_stretch, "trimmed stretch"),
        (Contention::mean_stretch, "mean stretch"),
    ];
    shown.extend(of_all.map(|(name, title)| Shown::column(name, title, 4)));
    shown.push(Shown::column(Contention::sending_jobs, "sending", 0));
    shown.push(Shown::column(Contention::off_target_jobs, "off target", 0));
    let of_factors = [
        (Contention::median_placement_factor, "placement"),
        (Contention::p95_placement_factor, "p95 placement"),
        (Contention::trimmed_mean_placement_factor, "trimmed placement"),
        (Contention::mean_placement_factor, "mean placement"),
        (Contention::median_contention_factor, "contention"),
        (Contention::p95_contention_factor, "p95 contention"),
        (Contention::trimmed_mean_contention_factor, "trimmed contention"),
        (Contention::mean_contention_factor, "mean contention"),
    ];
    shown.extend(of_factors.map(|(name, title)| Shown::column(name, title, 4)));
    let sheet = Sheet::of(runs.iter().filter(|run| run.is_unshaken()), shown);
    sheet.led_by(Some(STRETCHES.to_string()))
}

/// Returns the printed table of packets, distances and times, with a row for each run.
fn traffic(runs: &[ContentionRun]) -> Sheet {
    let mut shown = keys(runs);
    shown.extend([
        Shown::measure(Contention::mean_latency, "latency", 2),
        Shown::measure(Contention::mean_blocking, "blocking", 2),
        Shown::measure(Contention::latency, "packet latency", 2),
        Shown::measure(Contention::blocking, "packet blocking", 2),
        Shown::column(Contention::mean_hops, "hops", 3),
        Shown::measure(Contention::mean_sending_pairwise_l1, "pairwise L1", 2),
        Shown::measure(Contention::mean_distance, "distance", 3),
        Shown::column(Contention::mean_sending_dispersal, "dispersal", 3),
        Shown::measure(Contention::mean_turnaround_cycles, "turnaround", 0),
        Shown::percent(Contention::utilization, "util %", 2),
    ]);
    Sheet::of(runs.iter().filter(|run| run.is_unshaken()), shown)
}

/// Returns the columns that identify runs. The columns of the machine and the seed are included only if there are
/// several machines or seeds.
fn keys<'a>(runs: &[ContentionRun]) -> Vec<Shown<'a, ContentionRun>> {
    let (machines, seeds) = varied(runs.iter().map(|run| &run.key));
    let mut shown = vec![Shown::column(RunKey::TRACE, "trace", 0)];
    shown.extend(machines.then(|| Shown::column(RunKey::TOPOLOGY, "machine", 0)));
    shown.extend(
        [RunKey::SCHEDULER, RunKey::ALLOCATOR, RunKey::TIE]
            .map(|name| Shown::column(name, name.text(), 0)),
    );
    shown.extend(seeds.then(|| Shown::column(RunKey::SEED, "seed", 0)));
    shown
}

/// Returns the table of correlations.
fn correlations(all: &[Correlations<'_>]) -> Sheet {
    let (machines, seeds) = varied(all.iter().map(|one| one.key));
    let over = move |one: &Correlations<'_>| {
        let key = one.key;
        let mut name = match one.over_jobs {
            true => format!("jobs, {} {}", key.trace, key.scheduler),
            false => format!("allocators, {} {}", key.trace, key.scheduler),
        };
        if machines {
            name.push_str(&format!(" {}", key.topology));
        }
        if seeds {
            name.push_str(&format!(" seed {}", key.seed));
        }
        if one.over_jobs {
            name.push_str(&format!(" {}", key.strategy()));
        }
        Some(name)
    };
    let mut shown = vec![Shown::text("over", over), Shown::column(Correlations::POINTS, "of", 0)];
    for pair in &PAIRS {
        shown.push(Shown::column(pair.pearson.0, pair.title, 3));
        shown.push(Shown::column(pair.spearman.0, "by rank", 3));
    }
    Sheet::of(all, shown)
}

/// Returns two flags: whether runs of one trace have several machines, and whether there are several seeds.
pub fn varied<'a>(keys: impl Iterator<Item = &'a RunKey> + Clone) -> (bool, bool) {
    let Some(first) = keys.clone().next() else { return (false, false) };
    let machines = keys.clone().any(|key| {
        keys.clone().any(|other| other.trace == key.trace && other.topology != key.topology)
    });
    (machines, keys.clone().any(|key| key.seed != first.seed))
}
