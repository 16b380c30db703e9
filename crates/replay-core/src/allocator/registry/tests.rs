use super::*;
use crate::allocator::centre::TieRule;
use crate::allocator::{Allocator, Request, Times};
use crate::machine::Machine;
use crate::topology::{NodeId, Topology};
use proptest::prelude::*;

fn canonical(text: &str) -> Result<String, String> {
    text.parse::<AllocatorSpec>().map(|spec| spec.to_string()).map_err(|e| e.to_string())
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
        (
            "gabl[engine=literal,tie-shrink=b,rotate=false]",
            "gabl[rotate=no,tie-shrink=b,engine=literal]",
        ),
        ("busy-list[engine=fast,shape=factors]", "busy-list"),
        (
            "turning-busy-list[shape=near-square,engine=literal]",
            "turning-busy-list[shape=near-square,engine=literal]",
        ),
        ("midplane[rotate=false,unit=4x4x4]", "midplane[unit=4x4x4,rotate=no]"),
        ("anca[rotate=yes,cuts=16]", "anca[rotate=yes]"),
        ("mbs[splitting=on-demand]", "mbs[splitting=on-demand]"),
        ("mm[slack=0.10]", "mm[slack=0.1]"),
        ("mc1x1[tie=none,slack=auto]", "mc1x1[slack=auto]"),
    ] {
        assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
    }
    for name in standard().names() {
        assert_eq!(canonical(name).as_deref(), Ok(name));
    }
}

#[test]
fn mistakes_get_advice() {
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
    assert!(error.contains("none of no, yes"), "{error}");
    let error = canonical("busy-list[shpae=factors]").expect_err("unknown key");
    assert!(error.contains("did you mean \"shape\""), "{error}");
}

#[test]
fn parameters_without_effect_tell_nothing_apart() {
    let strategy =
        |text: &str| text.parse::<AllocatorSpec>().expect("a known allocator").identity();
    for (text, same) in [
        ("mc1x1[tie=4,26,40,12]", "mc1x1[tie=4,13,20,6]"),
        ("mc1x1[tie=4,0,0,0,slack=0.1]", "mc1x1"),
        ("mm[slack=0.1]", "mm"),
        ("mc1x1[shadows=8,every=16,slack=auto]", "mc1x1"),
        ("mc1x1[tie=1,2,3,4,memory=16]", "mc1x1[tie=1,2,3,4]"),
    ] {
        assert_eq!(strategy(text), strategy(same), "{text}");
    }
    // As ids of cells have had it since their format 2.
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

/// Grids put typed values into typed options; the way by the text must lead to the same.
#[test]
fn typed_values_are_those_of_the_text() {
    let base: AllocatorSpec = "mc1x1[wall=per-wall]".parse().expect("known");
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
    let first_fit: AllocatorSpec = "first-fit".parse().expect("known");
    assert!(first_fit.has_parameter("rotate") && !first_fit.takes_tie());
    let rotate = first_fit.value("rotate", "yes").expect("legal");
    let turning = first_fit.with([&rotate], None).expect("legal");
    assert_eq!(turning.to_string(), "turning-first-fit");
    assert_eq!(turning.with_tie(tie).expect("unchanged"), turning);
    let error = base.with([&rotate], None).expect_err("first-fit's").to_string();
    assert!(error.contains("another strategy"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Through a random history of starts and ends every strategy names distinct free
    /// processors: exactly as many as asked for if it says that it never refuses, at least
    /// as many otherwise. After all jobs have left, the machine can be given whole.
    #[test]
    fn every_strategy_keeps_the_contract(
        machine in proptest::sample::select(vec!["10x10", "7x5", "8x8", "torus:6x6", "4x3x5", "4x4x4", "torus[z]:3x3x4", "hypercube:6", "cluster:40"]),
        history in proptest::collection::vec((0.0..1.0f64, any::<bool>()), 1..30),
        tie in proptest::sample::select(vec!["none", "2,13,20,6", "auto"]),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        for name in standard().names() {
            let spec: AllocatorSpec = name.parse().expect("known");
            // Who repeats a log decides nothing.
            if spec.recorded() { continue; }
            let tie: TieRule = tie.parse().expect("legal");
            // Not all that take a vector tune it themselves.
            let Ok(spec) = spec.with_tie(tie) else { continue };
            // Some strategies are defined on some machines only, and say so.
            let Ok(mut allocator) = spec.build(&topology, 1) else { continue };
            allocator.reset();
            let mut machine = Machine::new(topology.clone());
            let mut held: Vec<Vec<NodeId>> = Vec::new();
            for &(share, end) in &history {
                if end && !held.is_empty() {
                    let ended = held.swap_remove((share * held.len() as f64) as usize);
                    machine.release(&ended);
                    allocator.released(&machine, &ended);
                }
                if machine.free_count() == 0 { continue; }
                let size = 1 + ((machine.free_count() - 1) as f64 * share * share) as u32;
                let mut chosen = Vec::new();
                match allocator.allocate(&machine, Request::of_size(size), &mut chosen) {
                    Ok(()) => {
                        prop_assert!(chosen.len() >= size as usize, "{}", spec);
                        prop_assert!(!allocator.keeps_schedule() || chosen.len() == size as usize, "{}", spec);
                        prop_assert!(allocator.census().is_none_or(|census| census.blocks > 0), "{}", spec);
                        // Frames, squares and pages of one size: the most is what everybody gets.
                        let largest = allocator.largest_allocation(Request::of_size(size));
                        prop_assert_eq!(chosen.len() as u64, largest, "{}", spec);
                        // `occupy` panics if a processor is busy or named twice.
                        machine.occupy(&chosen);
                        held.push(chosen);
                    }
                    Err(refusal) => {
                        prop_assert!(!allocator.keeps_schedule(), "{} {:?}", spec, refusal);
                        prop_assert!(chosen.is_empty(), "{}", spec);
                    }
                }
            }
            let mut chosen = Vec::new();
            let too_many = Request::of_size(machine.free_count() as u32 + 1);
            prop_assert!(allocator.allocate(&machine, too_many, &mut chosen).is_err());
            prop_assert!(chosen.is_empty());
            for ended in held {
                machine.release(&ended);
                allocator.released(&machine, &ended);
            }
            let all = Request::of_size(machine.processors() as u32);
            prop_assert_eq!(allocator.allocate(&machine, all, &mut chosen), Ok(()), "{}", spec);
            prop_assert_eq!(chosen.len(), machine.processors(), "{}", spec);
        }
    }
}

/// A request of a share of the free processors, or the end of such a job.
type Step = (f64, bool);

/// Follows a strategy through jobs: what it answers, and what it has counted since.
fn course(
    allocator: &mut dyn Allocator,
    machine: &mut Machine,
    steps: &[Step],
    held: &mut Vec<Vec<NodeId>>,
) -> Vec<String> {
    let counted = |allocator: &dyn Allocator| allocator.census().unwrap_or_default();
    let before = counted(allocator);
    let mut told = Vec::new();
    for &(share, end) in steps {
        if end && !held.is_empty() {
            let ended = held.swap_remove((share * held.len() as f64) as usize);
            machine.release(&ended);
            allocator.released(machine, &ended);
            continue;
        }
        let size = 1 + ((machine.processors() - 1) as f64 * share * share) as u32;
        let times = Times { now: told.len() as i64, limit: Some((20.0 * share) as u32) };
        let (request, mut chosen) = (Request { times, ..Request::of_size(size) }, Vec::new());
        let answer = allocator.allocate(machine, request, &mut chosen);
        let now = counted(allocator);
        let blocks = answer.map(|()| now.blocks);
        let since = (now.searches - before.searches, now.operations - before.operations);
        let covers = allocator.refusal_covers(request, Request::of_size(size + 1));
        told.push(format!(
            "{size} {blocks:?} {chosen:?} {} {since:?} {covers} {:?}",
            now.busy_list,
            allocator.blocked(),
        ));
        if !chosen.is_empty() {
            machine.occupy(&chosen);
            held.push(chosen);
        }
    }
    told
}

/// What [forgets](Allocator::forgets_when_empty) on some machine, of all strategies and variants of some.
fn forgetful(topology: &Topology) -> Vec<AllocatorSpec> {
    let variants = [
        "mc1x1[tie=2,13,20,6]",
        "mc1x1[tie=2,13,20,6,slack=0.1]",
        "mc1x1[order=scan]",
        "mc1x1[tie=auto]",
        "mm[tie=2,13,20,6]",
        "paging[size=1]",
        "mbs[splitting=on-demand]",
        "gabl[engine=literal]",
        "busy-list[shape=near-square]",
        "busy-list[engine=literal]",
        "first-fit[engine=literal,shape=near-square]",
        "turning-best-fit[shape=any]",
        "anca[shape=near-square,cuts=2]",
        "midplane[unit=2x2x2]",
        "placements[tie=slurm]",
    ];
    let specs = standard().names().chain(variants).map(|name| name.parse().expect("a strategy"));
    specs
        .filter(|spec: &AllocatorSpec| {
            !spec.recorded()
                && spec.build(topology, 1).is_ok_and(|built| built.forgets_when_empty())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whoever says that it forgets chooses and counts after any past as without one.
    #[test]
    fn on_an_empty_machine_nothing_is_left_of_the_past(
        machine in proptest::sample::select(vec!["10x10", "7x5", "8x8", "torus:6x6", "4x3x5", "4x4x4", "torus[z]:3x3x4", "torus:4x4x4", "hypercube:6"]),
        past in proptest::collection::vec((0.0..1.0f64, any::<bool>()), 1..30),
        future in proptest::collection::vec((0.0..1.0f64, any::<bool>()), 1..30),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        for spec in forgetful(&topology) {
            let built = || {
                let mut built = spec.build(&topology, 1).expect("it works");
                built.reset();
                built
            };
            let mut fresh = built();
            let expected = course(fresh.as_mut(), &mut Machine::new(topology.clone()), &future, &mut Vec::new());
            let (mut old, mut machine, mut held) = (built(), Machine::new(topology.clone()), Vec::new());
            course(old.as_mut(), &mut machine, &past, &mut held);
            for ended in held.drain(..) {
                machine.release(&ended);
                old.released(&machine, &ended);
            }
            prop_assert_eq!(old.census().map_or(0, |census| census.busy_list), 0, "{}", spec);
            prop_assert!(old.blocked().is_none_or(|[blocked, _]| blocked == 0), "{}", spec);
            prop_assert_eq!(course(old.as_mut(), &mut machine, &future, &mut held), expected, "{}", spec);
        }
    }
}

#[test]
fn who_draws_or_learns_does_not_forget() {
    let names = |machine: &str| -> Vec<String> {
        let topology = machine.parse().expect("a machine");
        forgetful(&topology).iter().map(AllocatorSpec::to_string).collect()
    };
    let (flat, deep, cube) = (names("8x8"), names("torus:4x4x4"), names("hypercube:6"));
    for name in [
        "mc1x1",
        "mc1x1[tie=2,13,20,6]",
        "gen-alg",
        "mm",
        "mc",
        "hilbert-best-fit",
        "paging",
        "mbs",
        "gabl",
        "first-fit",
        "best-fit",
        "frame-sliding",
        "adaptive-scan",
        "busy-list",
        "as-mb",
        "buddy",
        "anca",
    ] {
        assert!(flat.iter().any(|one| one == name), "{name}: {flat:?}");
    }
    assert!(deep.iter().any(|one| one.starts_with("midplane")), "{deep:?}");
    for name in ["random", "mc1x1[tie=auto]", "rsr", "greedy-limit", "placements[tie=auto]"] {
        assert!(!flat.iter().chain(&deep).any(|one| one == name), "{name}");
    }
    // How free subcubes were joined is remembered.
    assert!(cube.iter().all(|name| !["afl", "free-list"].contains(&name.as_str())), "{cube:?}");
}
