//! Compares `replay place` with decisions of running controllers and with results that the tests of Kueue expect, by the
//! files in `tests/samples`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::dir::{Dir, checkout};
use replay::slurm::hierarchy::Denied;
use replay::slurm::hierarchy::kueue::{KueueOptions, Level, Mode, Profile};
use replay_reference::hierarchy as literal;

trials![sixty_decisions_of_controllers, facts_of_kueues_tests];

fn folder() -> PathBuf {
    checkout().join("tests/samples")
}

fn sixty_decisions_of_controllers() {
    let cases = folder().join("tree-cases.csv");
    let text = std::fs::read_to_string(cases).expect("cases");
    // Remove the columns with the answers.
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["topology", "rule", "options", "free", "n"]).expect("memory");
    for record in reader.records() {
        let record = record.expect("a row");
        writer.write_record(record.iter().take(5)).expect("memory");
    }
    let questions = String::from_utf8(writer.into_inner().expect("memory")).expect("text");
    let command = format!("place --machines {} --cases c.csv -q", folder().display());
    let out = Dir::new().file("c.csv", questions).replay(&command).code(0).says_nothing();
    assert_eq!(out.stdout.lines().count(), 61);
    for (found, expected) in out.stdout.lines().zip(text.lines()) {
        assert_eq!(found, expected.trim_end());
    }
}

fn facts_of_kueues_tests() {
    let mut reader = csv::Reader::from_path(folder().join("kueue-table.csv")).expect("facts");
    let mut count = 0;
    for record in reader.records() {
        let record = record.expect("a fact");
        let field = |at: usize| record.get(at).unwrap_or_default();
        let pods = |text: &str| -> literal::kueue::Pods {
            let node = |one: &str| {
                let (path, pods) = one.split_once(':').expect("path:pods");
                let path = path.split('/').map(str::to_string).collect();
                (path, pods.parse().expect("a number"))
            };
            text.split_whitespace().map(node).collect::<BTreeMap<_, _>>()
        };
        let slots = pods(field(7));
        // In a path of k names, the last name is the node, and the name before it is the leaf switch.
        let names = slots.keys().next().expect("a node").len() as u32;
        let level = |text: &str| {
            let depth: Option<u32> = text.parse().ok();
            depth.map(|depth| match depth + 1 == names {
                true => Level::Node,
                false => Level::Switch(names - 2 - depth),
            })
        };
        let named = |all: &[(&str, Mode)], name: &str| {
            all.iter().find(|one| one.0 == name).map(|one| one.1)
        };
        let profile = Profile::ALL.iter().find(|one| one.0 == field(2)).expect("a profile").1;
        let options = KueueOptions {
            mode: named(&Mode::ALL, field(3)).expect("a mode"),
            level: level(field(4)),
            slice: field(5).parse().ok(),
            slice_level: level(field(6)),
            profile,
            lenient: false,
        };
        let size = field(8).parse().expect("a number");
        // In a tree of one level, the nodes are at the top. A tree of one level is treated as a tree with leaves above
        // the nodes.
        let found = match names {
            1 => continue_with_top(&slots, size, options),
            _ => literal::kueue::place(&slots, names - 2, size, options),
        };
        match field(9) {
            "none" => assert_eq!(found, Err(Denied::NoPlace), "{}", field(0)),
            "rejected" => assert_eq!(found, Err(Denied::BadConfig), "{}", field(0)),
            expected => assert_eq!(found, Ok(pods(expected)), "{}", field(0)),
        }
        count += 1;
    }
    assert_eq!(count, 81);
}

/// Adds a switch above nodes that have no switch. A switch that contains all nodes does not change decisions in the
/// mode `preferred`.
fn continue_with_top(
    slots: &literal::kueue::Pods,
    size: u32,
    options: KueueOptions,
) -> Result<literal::kueue::Pods, Denied> {
    let below = |(path, &pods): (&Vec<String>, &u64)| {
        (["top".to_string()].into_iter().chain(path.iter().cloned()).collect(), pods)
    };
    let slots = slots.iter().map(below).collect();
    let options = KueueOptions { level: Some(Level::Node), ..options };
    let found = literal::kueue::place(&slots, 0, size, options)?;
    Ok(found.into_iter().map(|(path, pods)| (path[1..].to_vec(), pods)).collect())
}
