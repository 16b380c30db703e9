//! Replays whose starts, nodes and reasons are known: a folder per replay with the files of the site, the jobs, and the
//! expected starts.

use std::fs;
use std::path::{Path, PathBuf};

use replay_engine::workload::{Policy, Window, Workload};
use replay_site::jobs::{JobOptions, site_jobs};
use replay_site::replay::{LimitRule, replay};
use replay_site::sidecar::Sidecar;
use replay_site::site::{Site, SiteOptions};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fixtures/site")
}

/// Returns the rows of the replay of a sample, in the form of `expected.csv`.
fn answers(folder: &Path) -> String {
    let (mut site, warnings) = Site::read(folder, SiteOptions::default()).expect("a site");
    assert_eq!(warnings.len(), 0, "{warnings:?}");
    let trace = folder.join("jobs.swf");
    let workload = Workload::load(&trace, &Policy::JOHNSON, &Window::ALL, Default::default());
    let workload = workload.expect("a trace");
    let sidecar = Sidecar::beside(&trace).expect("a sidecar").expect("a sidecar");
    let jobs =
        site_jobs(&mut site, &workload, Some(&sidecar), JobOptions::default()).expect("jobs");
    let replayed = replay(&site, &jobs.jobs, LimitRule::Kill).expect("a replay");
    let mut rows: Vec<(i64, String)> = Vec::new();
    for (job, state) in jobs.jobs.iter().zip(&replayed.states) {
        let row = match &state.start {
            Some(start) => {
                let partition = &site.partitions[start.partition].name;
                format!(
                    "{},{},{partition},\"{}\",{},",
                    job.number,
                    start.at,
                    start.nodes.ranges(),
                    start.by.name()
                )
            }
            None => format!("{},,,\"\",,{}", job.number, state.reason.name()),
        };
        rows.push((job.number, row));
    }
    rows.sort();
    let rows: Vec<String> = rows.into_iter().map(|(_, row)| row).collect();
    format!("job,start,partition,nodes,by,reason\n{}\n", rows.join("\n"))
}

fn check(name: &str) {
    let folder = samples().join(name);
    let expected = fs::read_to_string(folder.join("expected.csv")).expect("expected starts");
    let found = answers(&folder);
    let differing: Vec<_> =
        expected.lines().zip(found.lines()).filter(|(expected, found)| expected != found).collect();
    let first = differing.iter().take(8).collect::<Vec<_>>();
    assert!(
        differing.is_empty(),
        "{name}: {} of {} differ: {first:#?}",
        differing.len(),
        expected.lines().count()
    );
    assert_eq!(expected.lines().count(), found.lines().count());
}

macro_rules! samples {
    ($($test:ident: $name:literal;)*) => {
        $(#[test] fn $test() { check($name); })*
    };
}

samples! {
    replay_01: "site-R01";
    replay_02: "site-R02";
    replay_03: "site-R03";
    replay_04: "site-R04";
    replay_05: "site-R05";
    replay_06: "site-R06";
    replay_07: "site-R07";
    replay_08: "site-R08";
    replay_09: "site-R09";
    replay_10: "site-R10";
}
