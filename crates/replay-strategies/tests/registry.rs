//! Names of allocators.

use proptest::prelude::*;
use replay_contract::{Bench, MACHINE_KINDS, machine_for, starts_and_ends};
use replay_engine::allocator::Request;
use replay_engine::allocator::ties::TieRule;
use replay_engine::machine::Machine;
use replay_strategies::standard;

fn canonical(text: &str) -> Result<String, String> {
    replay_strategies::allocator(text).map(|spec| spec.to_string()).map_err(|e| e.to_string())
}

#[test]
fn names_have_one_canonical_form() {
    assert_eq!(canonical("MC1x1").as_deref(), Ok("mc1x1"));
    assert_eq!(
        canonical("mc1x1[order=carried,tie=2,26,40,12]").as_deref(),
        Ok("mc1x1[tie=2,26,40,12]")
    );
    assert_eq!(
        canonical("mc1x1[wall=per-wall,tie=1,2,3,4]").as_deref(),
        Ok("mc1x1[tie=1,2,3,4,wall=per-wall]")
    );
    assert_eq!(
        canonical("mc1x1[every=256,memory=1000,tie=auto,order=scan]").as_deref(),
        Ok("mc1x1[tie=auto,order=scan,memory=1000]")
    );
    assert_eq!(canonical("genalg").as_deref(), Ok("gen-alg"));
    assert_eq!(canonical("mc[shape=near-square]").as_deref(), Ok("mc"));
    for (text, expected) in [
        ("first-fit[rotate=true]", "turning-first-fit"),
        ("ff[rotate=yes,shape=any]", "turning-first-fit[shape=any]"),
        ("best-fit[rotate=no,shape=near-square,measure=candidates]", "best-fit[shape=near-square]"),
        ("gabl[rotate=true,tie-shrink=a]", "gabl"),
        ("gabl[tie-shrink=b,rotate=false]", "gabl[rotate=no,tie-shrink=b]"),
        ("busy-list[shape=factors]", "busy-list"),
        ("turning-busy-list[shape=near-square]", "turning-busy-list[shape=near-square]"),
        ("curve", "hilbert-best-fit"),
        ("curve[fit=free-list,order=shuffled-snake]", "shuffled-snake-free-list"),
        ("midplane[rotate=false,unit=4x4x4]", "midplane[unit=4x4x4,rotate=no]"),
        ("anca[rotate=yes,cuts=16]", "anca[rotate=yes]"),
        ("mbs[splitting=on-demand]", "mbs[splitting=on-demand]"),
        ("mm[slack=0.10]", "mm[slack=0.1]"),
        ("mc1x1[tie=none,slack=auto]", "mc1x1[slack=auto]"),
    ] {
        assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
    }
    for name in standard().allocators.names() {
        assert_eq!(canonical(name).as_deref(), Ok(name));
    }
}

#[test]
fn misspelled_names_get_hints() {
    let error = canonical("mc1x2").expect_err("unknown");
    assert!(error.contains("did you mean \"mc1x1\""), "{error}");
    let error = canonical("mm[tei=1,2,3,4]").expect_err("unknown key");
    assert!(error.contains("did you mean \"tie\""), "{error}");
    let error = canonical("mc1x1[order=sideways]").expect_err("unknown value");
    assert!(error.contains("carried, scan, greedy"), "{error}");
    assert!(canonical("mc1x1[tie=1,2]").is_err());
    assert!(canonical("mc1x1[slack=-1]").is_err());
    for text in
        ["mc1x1[tie=1,2,3,4,slack=auto]", "mm[slack=auto]", "gen-alg[tie=1,2,3,4,slack=auto]"]
    {
        assert!(canonical(text).is_err(), "{text}");
    }
    assert!(canonical("mc1x1[tie=auto,shadows=0]").is_err());
    let error = canonical("mm[tie=auto]").expect_err("it does not tune itself");
    assert!(error.contains("only mc1x1"), "{error}");
    assert!(canonical("random[tie=1,2,3,4]").is_err());
    let error = canonical("gabl[rotate=maybe]").expect_err("unknown value");
    assert!(error.contains("not one of no, yes"), "{error}");
    for (text, advice) in [
        (
            "hilbert-best-fit[order=snake]",
            "unknown parameter \"order\"; this name has no parameters",
        ),
        ("curve[ordr=snake]", "did you mean \"order\""),
        ("curve[order=snaek]", "snake, shuffled-row-major"),
        ("hilbert-bestfit", "did you mean \"hilbert-best-fit\""),
        ("curv", "did you mean \"curve\""),
    ] {
        let error = canonical(text).expect_err("not a name");
        assert!(error.contains(advice), "{error}");
    }
    let error = canonical("busy-list[shpae=factors]").expect_err("unknown key");
    assert!(error.contains("did you mean \"shape\""), "{error}");
}

#[test]
fn parameters_without_effect_do_not_change_the_identity() {
    let strategy =
        |text: &str| replay_strategies::allocator(text).expect("a known allocator").identity();
    for (text, same) in [
        ("mc1x1[tie=4,26,40,12]", "mc1x1[tie=4,13,20,6]"),
        ("mc1x1[tie=4,0,0,0,slack=0.1]", "mc1x1"),
        ("mm[slack=0.1]", "mm"),
        ("mc1x1[shadows=8,every=16,slack=auto]", "mc1x1"),
        ("mc1x1[tie=1,2,3,4,memory=16]", "mc1x1[tie=1,2,3,4]"),
    ] {
        assert_eq!(strategy(text), strategy(same), "{text}");
    }
    // Ids of cells have used this order of parameters since format 2.
    assert_eq!(strategy("mc1x1[tie=4,26,40,12,order=scan]"), "mc1x1[order=scan,tie=4,13,20,6]");
    for (text, other) in [
        ("mc1x1[tie=auto,shadows=8]", "mc1x1[tie=auto]"),
        ("mc1x1[tie=auto]", "mc1x1"),
        ("mc1x1[tie=auto,slack=auto]", "mc1x1[tie=auto]"),
        ("mc1x1[tie=auto,slack=0.1]", "mc1x1[tie=auto]"),
        ("mc1x1[tie=1,2,3,4,slack=0.1]", "mc1x1[tie=1,2,3,4]"),
    ] {
        assert_ne!(strategy(text), strategy(other), "{text}");
    }
}

/// One entry of the list stands for all curves and rules; each combination has a name of its own.
#[test]
fn the_list_has_one_entry_for_all_curves() {
    let entries = standard().allocators.descriptions();
    let curve = entries.iter().find(|entry| entry.name == "curve").expect("an entry");
    assert_eq!((curve.forms.len(), curve.aliases.len(), curve.parameters.len()), (24, 24, 2));
    let names: Vec<&str> = standard().allocators.names().collect();
    assert!(curve.forms.iter().all(|form| names.contains(&&form[..])) && !names.contains(&"curve"));
    let base = replay_strategies::allocator("curve[fit=free-list]").expect("known");
    let order = base.value("order", "snake").expect("legal");
    let set = base.with([&order], None).expect("legal");
    assert_eq!(set, replay_strategies::allocator("snake-free-list").expect("known"));
}

/// Typed values set from a grid must give the same strategy as values parsed from the name.
#[test]
fn typed_values_are_those_of_the_text() {
    let base = replay_strategies::allocator("mc1x1[wall=per-wall]").expect("known");
    let value = |key, text| base.value(key, text).expect("legal");
    let (order, slack) = (value("order", "scan"), value("slack", "0.1"));
    let tie: TieRule = "2,13,20,6".parse().expect("a vector");
    let spec = base.with([&slack, &order], Some(tie)).expect("they go together");
    assert_eq!(spec.to_string(), "mc1x1[tie=2,13,20,6,wall=per-wall,order=scan,slack=0.1]");
    assert_eq!(spec.without_tie().to_string(), "mc1x1[wall=per-wall,order=scan,slack=0.1]");
    assert_eq!((spec.tie(), base.tie()), (Some(tie), None));
    let auto = value("slack", "auto");
    assert!(base.with([&auto], Some(tie)).is_err() && base.with([&auto], None).is_ok());
    assert!(base.value("size", "1").is_err() && base.value("order", "up").is_err());
    let first_fit = replay_strategies::allocator("first-fit").expect("known");
    assert!(first_fit.has_parameter("rotate") && !first_fit.takes_tie());
    let rotate = first_fit.value("rotate", "yes").expect("legal");
    let turning = first_fit.with([&rotate], None).expect("legal");
    assert_eq!(turning.to_string(), "turning-first-fit");
    assert_eq!(turning.with_tie(tie).expect("unchanged"), turning);
    let error = base.with([&rotate], None).expect_err("first-fit's").to_string();
    assert!(error.contains("another strategy"), "{error}");
}

#[test]
#[should_panic(expected = "buddy works on none of the machines hypercube:4, 4x3; add a machine")]
fn a_strategy_without_a_machine_fails_with_a_hint() {
    let spec = replay_strategies::allocator("buddy").expect("known");
    machine_for(&spec, ["hypercube:4", "4x3"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every strategy keeps the contract in every history of starts and ends. After all jobs have ended, one job can get
    /// the whole machine. A strategy that does not support the drawn machine runs on the first machine that it supports.
    #[test]
    fn every_strategy_keeps_the_contract(
        machine in proptest::sample::select(vec!["10x10", "7x5", "8x8", "torus:6x6", "4x3x5", "4x4x4", "torus[z]:3x3x4", "hypercube:6", "cluster:40"]),
        history in starts_and_ends(1..60),
        tie in proptest::sample::select(vec!["none", "2,13,20,6", "auto"]),
    ) {
        for name in standard().allocators.names() {
            let spec = replay_strategies::allocator(name).expect("known");
            // The strategy that repeats a log makes no decisions.
            if spec.recorded() { continue; }
            let tie: TieRule = tie.parse().expect("legal");
            // Not every strategy with a tie vector supports self-tuning.
            let Ok(spec) = spec.with_tie(tie) else { continue };
            let machines = [machine].into_iter().chain(MACHINE_KINDS.map(|kind| kind.small));
            let (_, topology) = machine_for(&spec, machines);
            let allocator = spec.build(&topology, 1).expect("a supported machine");
            let mut bench = Bench::boxed(Machine::new(topology), allocator).named(&spec);
            bench.begin();
            let size = |machine: &Machine, share: f64, _| {
                let largest = machine.free_count().saturating_sub(1) as f64;
                Request::of_size(1 + (largest * share * share) as u32)
            };
            bench.run(&history, size, |_| ());
            if !bench.allocator.capabilities().folds {
                // Frames, squares and pages have fixed sizes, so a job that is not folded always
                // gets the maximum of its bounds.
                for (request, outcome) in std::mem::take(&mut bench.decisions) {
                    let largest = bench.allocator.bounds(request).max_processors;
                    prop_assert!(outcome.is_err() || outcome.is_ok_and(|nodes| nodes.len() as u64 == largest), "{}", spec);
                }
                let too_many = Request::of_size(bench.machine.free_count() as u32 + 1);
                prop_assert!(bench.start(too_many).is_err(), "{}", spec);
            }
            bench.gets_whole(None);
        }
    }
}
