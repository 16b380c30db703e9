use super::*;
use proptest::prelude::*;

fn grid(text: &str) -> ParameterGrid {
    ParameterGrid::parse(text, "grid.toml", replay_strategies::standard())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn names(grid: &ParameterGrid) -> Vec<String> {
    let strategies = &grid.strategies;
    (0..strategies.len()).map(|i| strategies.get(i).expect("made once").to_string()).collect()
}

#[test]
fn an_empty_file_is_the_default_grid() {
    let grid = grid("");
    assert_eq!(names(&grid), ["mc1x1"]);
    assert_eq!((grid.schedulers, grid.seeds), (vec![SchedulerSpec::fcfs()], vec![0]));
    assert_eq!((grid.policies[0].name, grid.window), ("johnson", Window::ALL));
    assert!(grid.machines.is_empty() && grid.measure.placements && !grid.measure.ties);
}

#[test]
fn multiplies_lists_with_the_last_varying_fastest() {
    let grid = grid(
        "[[allocator]]\nname = 'mc1x1'\norder = ['scan', 'carried']\n\
         tie = { sr = 2, af = '1..2', wf = [0, 1], bf = 0 }\n\
         [[allocator]]\nname = 'mm'\ntie = ['none', '2,13,20,6']\n",
    );
    let expected = [
        "mc1x1[tie=2,1,0,0,order=scan]",
        "mc1x1[tie=2,1,1,0,order=scan]",
        // The tie vector (2, 2, 0, 0) is equivalent to the tie vector (2, 1, 0, 0).
        "mc1x1[tie=2,2,1,0,order=scan]",
        "mc1x1[tie=2,1,0,0]",
        "mc1x1[tie=2,1,1,0]",
        "mc1x1[tie=2,2,1,0]",
        "mm",
        "mm[tie=2,13,20,6]",
    ];
    assert_eq!(names(&grid), expected);
    assert_eq!(grid.strategies.combinations(), 10);
    assert_eq!((grid.strategies.entry(5), grid.strategies.entry(6)), (0, 1));
}

/// A name that stands for parameters keeps their values: a list for such a parameter would replace them.
#[test]
fn lists_do_not_replace_what_a_name_says() {
    let refused = |text: &str| {
        ParameterGrid::parse(text, "grid.toml", replay_strategies::standard())
            .expect_err("refused")
            .to_string()
    };
    let named = refused("allocator = [{ name = 'hilbert-best-fit', order = ['snake'] }]");
    assert!(named.contains("grid.toml:1:") && named.contains("no parameters"), "{named}");
    let curves = grid("allocator = [{ name = 'curve', order = ['snake', 'hilbert'] }]");
    assert_eq!(names(&curves), ["snake-best-fit", "hilbert-best-fit"]);
}

#[test]
fn keeps_parameters_of_the_name() {
    let grid = grid(
        "allocator = [{ name = 'mc1x1[wall=per-wall,tie=1,2,3,4]', slack = '0..0.1:0.05' }, 'mm']",
    );
    let expected = [
        "mc1x1[tie=1,2,3,4,wall=per-wall]",
        "mc1x1[tie=1,2,3,4,wall=per-wall,slack=0.05]",
        "mc1x1[tie=1,2,3,4,wall=per-wall,slack=0.1]",
        "mm",
    ];
    assert_eq!(names(&grid), expected);
}

#[test]
fn reads_the_window_and_lists() {
    let grid = grid(
        "seeds = ['0..2', 7, 1]\nschedulers = ['easy', 'EASY-backfill']\n\
         policies = ['johnson', 'pwa', 'Johnson']\noversize = 'clamp'\n\
         window = { from = 86400, jobs = 10, days = 1.5 }",
    );
    assert_eq!(grid.seeds, [0, 1, 2, 7]);
    assert_eq!(grid.schedulers, [SchedulerSpec::easy()]);
    assert_eq!(
        grid.policies.iter().map(|policy| policy.name).collect::<Vec<_>>(),
        ["johnson", "pwa"]
    );
    assert!(grid.policies.iter().all(|policy| policy.oversize == Oversize::Clamp));
    assert_eq!(Ok(grid.window), Window::parse(Some("86400"), Some(10), Some(1.5)));
}

/// Each entry contains the text of a grid, the line and the column of its error, and fragments of
/// the error message.
const WRONG: [(&str, usize, usize, &[&str]); 18] = [
    ("trces = []", 1, 1, &["unknown key \"trces\"", "did you mean \"traces\"?"]),
    ("mesh = '8x8'", 1, 1, &["unknown key \"mesh\": it is now \"machines\""]),
    ("systems = ['mira']", 1, 1, &["unknown key \"systems\": it is now \"machines\""]),
    ("ties = true\ntraces = ['x'", 2, 14, &["array"]),
    ("traces = 3", 1, 10, &["integer `3`"]),
    ("schedulers = ['fcfs',\n 'fcsf']", 2, 2, &["schedulers: ", "\"fcfs\"?"]),
    ("machines = ['10y10']", 1, 13, &["machines: ", "10y10"]),
    ("policies = ['jonson']", 1, 13, &["policies: ", "\"johnson\"?"]),
    ("oversize = 'cut'", 1, 12, &["oversize: ", "error, drop or clamp"]),
    ("seeds = '1..x'", 1, 9, &["seeds: ", "FIRST..LAST"]),
    ("window = { days = 0 }", 1, 19, &["window.days: "]),
    ("[window]\nfrom = 'today'", 2, 8, &["window.from: ", "date"]),
    ("[[allocator]]\ntie = 'none'", 1, 1, &["missing field `name`"]),
    ("[[allocator]]\nname = 'mc1'", 2, 8, &["allocator.name: ", "\"mc1x1\"?"]),
    ("[[allocator]]\nname = 'mc1x1'\nordr = 'scan'", 3, 8, &["allocator.ordr: ", "\"order\"?"]),
    ("[[allocator]]\nname = 'mc1x1'\norder = ['scan', 'x']", 3, 9, &["not one of carried, scan"]),
    (
        "[[allocator]]\nname = 'mc1x1'\ntie = { sr = '9..1', af = 1, wf = 1, bf = 1 }",
        3,
        14,
        &["allocator.tie.sr: ", "empty"],
    ),
    (
        "[[allocator]]\nname = 'random'\ntie = 'none'",
        3,
        7,
        &["allocator.tie: ", "unknown parameter"],
    ),
];

#[test]
fn errors_have_a_position_and_a_message() {
    for (text, line, column, words) in WRONG {
        let error =
            ParameterGrid::parse(text, "grid.toml", replay_strategies::standard()).expect_err(text);
        let place = error.place.clone().expect(text);
        assert_eq!((place.line, place.column), (line, column), "{error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("grid.toml:{line}:{column}: ")), "{message}");
        for word in words {
            assert!(message.contains(word), "\"{word}\" in {message}");
        }
    }
}

#[test]
fn rejects_too_many_combinations() {
    let text = "[[allocator]]\nname = 'mc1x1'\n\
                tie = { sr = '1..1000', af = '1..1000', wf = '1..1000', bf = '1..1000' }";
    let error =
        ParameterGrid::parse(text, "g", replay_strategies::standard()).expect_err("too many");
    assert!(error.to_string().contains("1000000000000 combinations"), "{error}");
}

fn values() -> impl Strategy<Value = Values> {
    let one = prop_oneof![
        (-9i32..9).prop_map(|value| value.to_string()),
        (0i32..5, 0i32..5).prop_map(|(first, more)| format!("{first}..{}", first + more)),
    ];
    proptest::collection::vec(one, 1..4).prop_map(|texts| texts.into_iter().collect())
}

fn file() -> impl Strategy<Value = GridFile> {
    let named = |names: &'static [&'static str]| {
        proptest::collection::vec(proptest::sample::select(names), 0..3)
            .prop_map(|names| names.into_iter().map(str::to_string).collect::<Vec<_>>())
    };
    let scan = proptest::collection::vec(1u32..5, 1..3)
        .prop_map(|radii| radii.iter().map(u32::to_string).collect::<Values>());
    let tie = prop_oneof![
        Just(None),
        Just(Some(Ties::Vectors(["none", "2,13,20,6"].into_iter().collect()))),
        (scan, values(), values(), values())
            .prop_map(|(sr, af, wf, bf)| Some(Ties::Product(TieRanges { sr, af, wf, bf }))),
    ];
    let orders = named(&["scan", "carried", "greedy"]);
    let entry = (tie, orders).prop_map(|(tie, orders)| AllocatorEntry {
        name: "mc1x1".to_string(),
        tie,
        parameters: match orders.is_empty() {
            true => Default::default(),
            false => [("order".to_string(), orders.into_iter().collect())].into(),
        },
    });
    let window = (proptest::option::of(1usize..99), proptest::option::of(1u32..40));
    (
        (
            named(&["a", "b c", "\"d\"\n"]),
            named(&["10x10", "torus[x]:4x6"]),
            named(&["fcfs", "sjf"]),
        ),
        (proptest::collection::vec(0u64..99, 0..3), any::<bool>(), any::<bool>(), 0usize..3),
        window,
        proptest::collection::vec(entry, 0..3),
    )
        .prop_map(
            |(
                (traces, machines, schedulers),
                (seeds, ties, placements, max_errors),
                (jobs, days),
                allocator,
            )| {
                GridFile {
                    traces,
                    machines,
                    schedulers,
                    seeds: seeds.iter().map(u64::to_string).collect(),
                    ties,
                    placements,
                    max_errors,
                    window: WindowFile {
                        jobs,
                        days: days.map(|d| f64::from(d) / 8.0),
                        ..WindowFile::default()
                    },
                    allocator,
                    ..GridFile::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn print_and_parse_are_inverse(file in file()) {
        let text = file.to_toml().expect("TOML");
        prop_assert_eq!(GridFile::parse(&text, "grid.toml").expect("it parses"), file.clone());
        // If the resolved grid is written as TOML and resolved again, the strategies are the same.
        let grid = ParameterGrid::resolve(&file, replay_strategies::standard()).expect("it resolves");
        let again = ParameterGrid::parse(&grid.file.to_toml().expect("TOML"), "again", replay_strategies::standard()).expect("it resolves");
        prop_assert_eq!(&again.file, &grid.file);
        prop_assert_eq!(names(&again), names(&grid));
        // `of_each` returns the same values as a separate call for each strategy.
        let without = |index| grid.strategies.get(index).map(|strategy| strategy.without_tie());
        let each: Vec<_> = (0..grid.strategies.len()).map(without).collect::<Result<_, _>>().expect("made");
        let strategies = &grid.strategies;
        prop_assert_eq!(strategies.of_each(|strategy| strategy.without_tie()).expect("made"), each);
    }

    #[test]
    fn merges_equal_strategies(sr in 0u32..4, af in values(), wf in values()) {
        let ranges = TieRanges { sr: Values::listed(&sr.to_string()), af, wf, bf: Values::listed("0,3") };
        let entry = AllocatorEntry { tie: Some(Ties::Product(ranges.clone())), ..AllocatorEntry::named("mm") };
        let grid = ParameterGrid::resolve(&GridFile { allocator: vec![entry], ..GridFile::default() }, replay_strategies::standard()).expect("a grid");
        // The reference removes every vector that has the same ratio as an earlier vector.
        let mut kept: Vec<String> = Vec::new();
        let mut ratios = Vec::new();
        let lists = ranges.lists().map(|(_, list)| list.integers::<i32>().expect("integers"));
        for a in &lists[1] {
            for w in &lists[2] {
                for b in &lists[3] {
                    let spec: replay_engine::allocator::registry::AllocatorSpec =
                        replay_strategies::allocator(&format!("mm[tie={sr},{a},{w},{b}]")).expect("a strategy");
                    if !ratios.contains(&spec.identity()) {
                        ratios.push(spec.identity());
                        kept.push(spec.to_string());
                    }
                }
            }
        }
        prop_assert_eq!(names(&grid), kept);
    }

    #[test]
    fn the_parser_accepts_any_text(text in "[a-z\\[\\]{}=\"',.0-9
     ]{0,60}") {
        let _ = ParameterGrid::parse(&text, "grid.toml", replay_strategies::standard());
    }
}
