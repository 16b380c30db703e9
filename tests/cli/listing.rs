//! `replay list`: the lists agree with what the program runs and writes.

use std::collections::BTreeMap;

use replay_contract::{MACHINE_KINDS, machine_for};
use serde_json::Value;

use super::dir::{Dir, Outcome};

trials!(
    lists_every_kind_in_both_formats,
    lists_all_kinds_together,
    a_listing_is_a_table_too,
    runs_every_allocator,
    runs_every_scheduler,
    runs_every_policy,
    describes_parameters,
    traces_have_their_paths,
    columns_equal_those_of_the_files,
);

/// Each entry contains an argument of `list`, the kind of the listed entries, and a name that must be listed.
const KINDS: [(&str, &str, &str); 7] = [
    ("allocators", "allocator", "mc1x1"),
    ("schedulers", "scheduler", "easy"),
    ("traces", "trace", "KTH-SP2-1996-2"),
    ("systems", "system", "blue-waters"),
    ("policies", "policy", "johnson"),
    ("suites", "suite", "johnson"),
    ("columns", "column", "mean_pairwise_l1"),
];

fn list(what: &str) -> Outcome {
    Dir::with_trace().replay(&format!("list {what} --format json")).code(0).says_nothing()
}

fn names(what: &str) -> Vec<String> {
    let names = list(what).fields(&["name"]);
    assert!(names.len() > 1 || what == "suites", "{names:?}");
    names
}

fn lists_every_kind_in_both_formats() {
    for (what, kind, known) in KINDS {
        let entries = list(what);
        let lines = entries.fields(&["kind", "name"]);
        entries.demand(lines.iter().all(|line| line.starts_with(&format!("{kind} "))), "the kind");
        entries.demand(lines.contains(&format!("{kind} {known}")), known);
        let text = Dir::with_trace().replay(&format!("list {what}")).code(0).says_nothing();
        for name in entries.fields(&["name"]) {
            text.demand(text.stdout.contains(&name), &name);
        }
        text.demand(text.stdout.lines().count() >= lines.len(), "at least one line for each entry");
    }
}

fn lists_all_kinds_together() {
    let all = Dir::with_trace().replay("list").code(0).says_nothing();
    for (what, _, known) in KINDS.iter().filter(|kind| kind.0 != "columns") {
        all.demand(all.stdout.contains(what), what);
        all.demand(all.stdout.contains(known), known);
    }
    let kinds = list("").fields(&["kind"]);
    assert!(kinds.contains(&"suite".to_string()) && !kinds.contains(&"column".to_string()));
}

fn a_listing_is_a_table_too() {
    let dir = Dir::new();
    let csv = dir.replay("list networks --format csv").code(0).stdout;
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("kind,name,aliases,about,source,parameters"));
    assert!(lines.next().is_some_and(|line| line.starts_with("network,lo,")), "{csv}");
    let md = dir.replay("list systems --format md").code(0);
    md.prints("| kind").prints("| blue-waters ");
}

fn runs_every_allocator() {
    // Allocators by the first machine that they support.
    let mut machines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut rejecting = Vec::new();
    for name in replay::strategies::standard().allocators.names().map(str::to_string) {
        let spec = replay::strategies::allocator(&name).expect("a name");
        // A log with placements runs in `placed`.
        if spec.recorded() {
            continue;
        }
        let (machine, topology) = machine_for(&spec, MACHINE_KINDS.map(|kind| kind.large));
        let built = spec.build(&topology, 0).expect("a supported machine");
        if built.capabilities().rejects_unsupported_sizes {
            rejecting.push(name.clone());
        }
        machines.entry(machine).or_default().push(name);
    }
    for (machine, names) in machines {
        // The first jobs are small, so they compete for processors only on small machines.
        let arguments =
            format!("--machine {machine} --jobs 200 --format json --alloc {}", names.join(","));
        let run = Dir::with_trace().replay(&arguments).code(0);
        // The name of an allocator that wraps another allocator includes the name of the inner allocator.
        let canonical = |name: String| name.replace("[inner=first-fit]", "");
        let shown: Vec<String> = run.fields(&["allocator"]).into_iter().map(canonical).collect();
        run.demand(shown == names, "the name is the canonical one");
        for (name, jobs) in shown.iter().zip(run.fields(&["jobs"])) {
            let count: u32 = jobs.parse().expect("a number of jobs");
            let is_complete = count == 200 || rejecting.contains(name) && (1..200).contains(&count);
            run.demand(is_complete, &format!("200 jobs of {name}, or the jobs of accepted sizes"));
        }
    }
}

fn runs_every_scheduler() {
    let dir = Dir::with_trace();
    let run = |name: &str| {
        let run = dir.replay(&format!("--jobs 200 --alloc random --format json --sched {name}"));
        run.code(0).fields(&["scheduler"])
    };
    for entry in list("schedulers").objects() {
        let name = entry["name"].as_str().expect("a name");
        // `priority` without an order is first come, first served.
        let canonical = if name == "priority" { "fcfs" } else { name };
        if name == "recorded" {
            // The shipped trace records no waits.
            continue;
        }
        assert_eq!(run(name), [canonical]);
        for alias in entry["aliases"].as_array().expect("aliases") {
            let alias = alias.as_str().expect("a name");
            let order = match alias.trim_end_matches("-first") {
                "ssd" | "sjf" | "shortest-job" => "shortest",
                "ljf" => "longest",
                order => order,
            };
            let ordered = format!("priority[order={order}]");
            let expected = if name == "priority" { ordered.as_str() } else { name };
            assert_eq!(run(alias), [expected]);
        }
    }
}

fn runs_every_policy() {
    let names = names("policies");
    let dir = Dir::with_trace();
    for name in names {
        let arguments = format!("--jobs 50 --alloc random --format json --policy {name}");
        let run = dir.replay(&arguments).code(0);
        run.demand(run.fields(&["policy"]) == [name], "the policy as listed");
    }
}

fn describes_parameters() {
    let filled = |value: &Value, key: &str| {
        let text = value[key].as_str();
        assert!(text.is_some_and(|text| !text.is_empty()), "{key} of {value}");
    };
    let allocators = list("allocators").objects();
    allocators.iter().for_each(|entry| filled(entry, "source"));
    for entry in allocators.iter().chain(&list("schedulers").objects()) {
        filled(entry, "about");
        for parameter in entry["parameters"].as_array().expect("parameters") {
            for key in ["key", "values", "default", "about"] {
                filled(parameter, key);
            }
        }
    }
}

fn traces_have_their_paths() {
    let traces = Dir::with_program().replay("list traces --format json").code(0);
    traces.demand(traces.fields(&["path"]).iter().all(|path| path == "-"), "no trace is found");
    let own = list("traces").fields(&["name", "jobs", "processors", "path"]);
    assert_eq!(
        own.last().map(String::as_str),
        Some("lublin-10x10 5000 100 traces/lublin-10x10.swf")
    );
    let text = Dir::with_trace().replay("list traces").code(0);
    text.prints("traces/lublin-10x10.swf").prints("replay fetch NAME");
}

fn columns_equal_those_of_the_files() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 20 --out results --no-plots").code(0);
    let columns = list("columns").fields(&["table", "name"]);
    for table in ["runs", "by_size"] {
        let file = String::from_utf8(dir.read(&format!("results/{table}.csv"))).expect("text");
        let header = file.lines().next().expect("a header").split(',');
        let header: Vec<String> = header.map(|name| format!("{table} {name}")).collect();
        let listed: Vec<_> =
            columns.iter().filter(|line| line.starts_with(&format!("{table} "))).collect();
        assert!(listed.into_iter().eq(&header), "{table}");
    }
}
