use super::*;
use replay_engine::naming::StrategyName;

fn pattern(text: &str) -> Pattern {
    text.parse().expect(text)
}

fn discipline(text: &str) -> (Sends, Stream, Barrier) {
    let pattern = pattern(text);
    (pattern.sends(), pattern.stream(), pattern.barrier())
}

#[test]
fn the_presets_have_the_disciplines_of_their_papers() {
    use Stream::{Job, Process};
    for name in ["all-to-all", "one-to-all"] {
        assert_eq!(discipline(name), (Sends::Pipelined, Process, Barrier::Iteration));
    }
    for name in ["n-body", "fft-2d", "multigrid"] {
        assert_eq!(discipline(name), (Sends::Pipelined, Process, Barrier::Step));
    }
    let thesis = |name: &str| discipline(&format!("{name}[preset=bani-mohammad]"));
    assert_eq!(thesis("one-to-all"), (Sends::Sequential, Process, Barrier::None));
    assert_eq!(thesis("all-to-all"), (Sends::AtOnce, Process, Barrier::None));
    assert_eq!(thesis("random"), (Sends::AtOnce, Job, Barrier::None));
    let order = |text| pattern(text).kind().clone();
    assert_eq!(order("all-to-all"), Kind::AllToAll { order: Order::Same });
    let lexicographic = Kind::AllToAll { order: Order::Lexicographic };
    assert_eq!(order("all-to-all[preset=bani-mohammad]"), lexicographic);
}

#[test]
fn names_are_as_short_as_possible() {
    for (written, canonical) in [
        ("all-to-all[order=same,sends=pipelined]", "all-to-all"),
        ("all-to-all[preset=bani-mohammad,barrier=none]", "all-to-all[preset=bani-mohammad]"),
        (
            "all-to-all[order=lexicographic,sends=at-once,barrier=none]",
            "all-to-all[preset=bani-mohammad]",
        ),
        ("one-to-all[targets=cyclic]", "one-to-all[targets=cyclic]"),
        ("random[preset=bani-mohammad,stream=job]", "random"),
        ("random[source=each]", "random[source=each]"),
        ("nbody", "n-body"),
        ("FFT_2D[strides=ascending]", "fft-2d[strides=ascending]"),
        ("matrix[file=a b/C,1.csv]", "matrix[file=a b/C,1.csv]"),
        ("phases[file=p.csv,barrier=step]", "phases[file=p.csv]"),
    ] {
        assert_eq!(pattern(written).to_string(), canonical);
    }
}

/// Every combination of listed options is either refused, or is unchanged after printing and
/// parsing.
#[test]
fn print_and_parse_are_inverse() {
    let mut parsed = 0;
    for entry in descriptions() {
        let mut names = vec![StrategyName::plain(&entry.name)];
        for parameter in &entry.parameters {
            let values: Vec<_> = match parameter.key {
                "file" => vec!["x.csv"],
                _ => parameter.values.split('|').collect(),
            };
            let with = |name: &StrategyName, value: &str| {
                let mut name = name.clone();
                name.set(parameter.key, value);
                name
            };
            names = names
                .iter()
                .flat_map(|name| values.iter().map(|value| with(name, value)))
                .collect();
        }
        for name in names {
            match Pattern::try_from(&name) {
                Ok(pattern) => {
                    assert_eq!(pattern.to_string().parse(), Ok(pattern));
                    parsed += 1;
                }
                Err(error) => assert!(error.problem.contains("stream"), "{error}"),
            }
        }
    }
    assert!(parsed > 500, "{parsed}");
}

#[test]
fn listings_have_the_defaults() {
    for entry in descriptions() {
        let mut name = StrategyName::plain(&entry.name);
        for parameter in &entry.parameters {
            let value = if parameter.key == "file" { "x" } else { parameter.default.as_str() };
            name.set(parameter.key, value);
        }
        let bare = if entry.parameters.iter().any(|p| p.key == "file") { "[file=x]" } else { "" };
        let usual = pattern(&format!("{}{bare}", entry.name));
        assert_eq!(Pattern::try_from(&name), Ok(usual));
        for alias in entry.aliases {
            assert_eq!(
                pattern(&format!("{alias}{bare}")),
                pattern(&format!("{}{bare}", entry.name))
            );
        }
    }
}

#[test]
fn named_returns_patterns_of_a_preset() {
    assert_eq!(Pattern::named("n-body", Preset::Lo), Some(pattern("n-body")));
    let thesis = pattern("one-to-all[preset=bani-mohammad]");
    assert_eq!(Pattern::named("one-to-all", Preset::BaniMohammad), Some(thesis));
    assert_eq!(Pattern::named("matrix", Preset::Lo), None);
    assert_eq!(Pattern::named("two-to-all", Preset::Lo), None);
}

#[test]
fn refuses_invalid_patterns() {
    for (text, problem) in [
        ("all-too-all", "unknown; did you mean \"all-to-all\"?"),
        (
            "n-body[order=same]",
            "unknown parameter \"order\"; known are sends, stream, barrier, preset",
        ),
        ("all-to-all[order=some]", "order=\"some\" is not one of same, shifted, lexicographic"),
        ("n-body[barriers=none]", "unknown parameter \"barriers\"; did you mean \"barrier\"?"),
        ("n-body[preset=low]", "preset=\"low\" is not one of lo, bani-mohammad"),
        ("phases", "name a file: file=traffic.csv"),
        (
            "random[stream=process]",
            "this pattern draws its pairs one after another for the whole job: use stream=job",
        ),
        (
            "all-to-all[order=lexicographic]",
            "order=lexicographic orders the packets of the whole job: use sends=at-once or stream=job",
        ),
    ] {
        let error = text.parse::<Pattern>().expect_err(text);
        assert_eq!(error.to_string(), format!("pattern \"{text}\": {problem}"));
    }
}
