//! Names of schedulers.

use replay_engine::naming::Description;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_strategies::standard;

fn descriptions() -> Vec<Description> {
    standard().schedulers.descriptions()
}

fn canonical(text: &str) -> Result<String, String> {
    replay_strategies::scheduler(text).map(|spec| spec.to_string()).map_err(|e| e.to_string())
}

#[test]
fn names_have_one_canonical_form() {
    for (text, expected) in [
        ("fcfs", "fcfs"),
        ("FCFS", "fcfs"),
        ("priority", "fcfs"),
        ("priority[order=fifo]", "fcfs"),
        ("largest", "priority[order=largest]"),
        ("least_work", "priority[order=least-work]"),
        ("ssd", "priority[order=shortest]"),
        ("easy[order=fifo]", "easy"),
        ("easy-backfill[order=largest]", "easy[order=largest]"),
        ("cons", "conservative"),
        ("oo[order=smallest]", "out-of-order[order=smallest]"),
    ] {
        assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(canonical("fcfs"), Ok(SchedulerSpec::fcfs().to_string()));
    assert_eq!(replay_strategies::scheduler("easy"), Ok(SchedulerSpec::easy()));
}

/// Every accepted alias is listed and has the listed meaning.
#[test]
fn lists_all_aliases() {
    let words = "backfill easy-backfill cons oo largest smallest longest shortest ssd sjf \
                 least-work largest-first smallest-first longest-first shortest-first \
                 least-work-first shortest-job-first ljf";
    let listed: Vec<_> = descriptions().into_iter().flat_map(|entry| entry.aliases).collect();
    assert!(
        words.split_whitespace().all(|word| listed.iter().any(|alias| alias == word)),
        "{listed:?}"
    );
    for entry in descriptions() {
        let name = if entry.name == "priority" { "fcfs" } else { &entry.name };
        assert_eq!(canonical(&entry.name).as_deref(), Ok(name));
        assert!(entry.aliases.iter().all(|alias| canonical(alias).is_ok()), "{entry:?}");
    }
}

#[test]
fn invalid_names_get_suggestions() {
    for (text, advice) in [
        ("esay", "did you mean \"easy\"?"),
        ("largst", "did you mean \"largest\"?"),
        ("quarks", "known are fcfs, priority, easy, "),
        ("fcfs[order=fifo]", "unknown parameter \"order\"; this name has no parameters"),
        ("largest[order=smallest]", "\"largest\" already sets order=largest"),
        ("easy[order=sideways]", "is not one of fifo, largest, smallest"),
    ] {
        let error = canonical(text).expect_err(text);
        assert!(error.contains(advice), "{error}");
    }
}

#[test]
fn knows_which_disciplines_use_estimates() {
    let uses = |text: &str| replay_strategies::scheduler(text).expect(text).uses_estimates();
    for text in ["easy", "conservative", "ssd", "least-work", "oo[order=longest]"] {
        assert!(uses(text), "{text}");
    }
    for text in ["fcfs", "largest", "smallest", "out-of-order", "scan", "lazy", "fchp", "recorded"]
    {
        assert!(!uses(text), "{text}");
    }
}
