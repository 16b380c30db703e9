use super::*;
use proptest::prelude::*;

#[test]
fn rejects_malformed_names() {
    for bad in
        ["", "[a=b]", "a[", "a[b]", "a[b=]", "a[=c]", "a[b=c,b=d]", "a[b=c]]", "a b", "a[b=[c]]"]
    {
        assert!(bad.parse::<StrategyName>().is_err(), "{bad}");
    }
}

#[test]
fn a_value_may_be_a_name_with_parameters() {
    let name: StrategyName = "stream[sides=uniform[low=1,high=8],load=2]".parse().expect("legal");
    assert_eq!(name.get("sides"), Some("uniform[low=1,high=8]"));
    assert_eq!(name.get("load"), Some("2"));
    assert_eq!(name.to_string(), "stream[sides=uniform[low=1,high=8],load=2]");
}

#[test]
fn lists_split_outside_brackets() {
    assert_eq!(split_list("mm,mc1x1[tie=1,2,3,4],mc"), ["mm", "mc1x1[tie=1,2,3,4]", "mc"]);
}

#[test]
fn suggests_the_nearest_word() {
    let known = ["mc1x1", "gen-alg", "hilbert-best-fit"];
    assert_eq!(nearest("mc1x", known.into_iter()), Some("mc1x1"));
    assert_eq!(nearest("genalg", known.into_iter()), Some("gen-alg"));
    assert_eq!(nearest("zzz", known.into_iter()), None);
}

/// Without a length limit, comparing this long word with itself would take days.
#[test]
fn rejects_very_long_names_immediately() {
    let endless = "mc1x1".repeat(1_000_000);
    assert_eq!(nearest(&endless, [&endless[..], "mc1x1"].into_iter()), None);
    assert_eq!(nearest("mc1x", [&endless[..], "mc1x1"].into_iter()), Some("mc1x1"));
    for text in [endless.clone(), format!("fish[size={endless}]"), format!("fish[{endless}=1]")] {
        let error = table().read(&text).expect_err("too long");
        assert_eq!(error.problem, "a name has at most 8192 bytes");
        assert!(error.to_string().len() < 200, "{}", error.to_string().len());
    }
    let long = "f".repeat(LONGEST_NAME);
    let error = table().read(&long).expect_err("unknown").to_string();
    assert!(error.len() < 200 && error.contains("known are fish, shark"), "{error}");
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Colour {
    #[default]
    Red,
    Green,
}

const COLOURS: [(&str, Colour); 2] = [("red", Colour::Red), ("green", Colour::Green)];

/// Options with an enum and a field.
#[derive(Clone, PartialEq, Debug)]
struct Animal {
    sort: Sort,
    colour: Colour,
}

#[derive(Clone, PartialEq, Debug)]
enum Sort {
    Fish { size: u32, asleep: bool },
    Shark { teeth: Option<u8>, weight: f64 },
}

fn table() -> Table<Animal> {
    let sort = |sort| Animal { sort, colour: Colour::Red };
    let colour = |animal: Entry<Animal>| {
        animal.param("colour", kind::one_of(&COLOURS), "its colour", |a| &mut a.colour)
    };
    fn size(animal: &mut Animal) -> Option<&mut u32> {
        if let Sort::Fish { size, .. } = &mut animal.sort { Some(size) } else { None }
    }
    let fish = Entry::new("fish", sort(Sort::Fish { size: 3, asleep: false }))
        .about("A fish.")
        .source("nature")
        .aliases(&["poisson"])
        .short_for("size", &[("minnow", "1"), ("carp", "9")])
        .case("size", kind::integer(1..=9), "length, cm", size)
        .case("asleep", kind::yes_no(), "whether it sleeps", |a| match &mut a.sort {
            Sort::Fish { asleep, .. } => Some(asleep),
            Sort::Shark { .. } => None,
        })
        .alternative("half", "size", kind::integer(1..=4), "half its length, cm", 1, |a, half| {
            if let Some(size) = size(a) {
                *size = 2 * half;
            }
        });
    let shark = Entry::new("shark", sort(Sort::Shark { teeth: None, weight: 100.0 }))
        .case("teeth", kind::integer(1..=99).or("all"), "number of teeth", |a| match &mut a.sort {
            Sort::Shark { teeth, .. } => Some(teeth),
            Sort::Fish { .. } => None,
        })
        .case("weight", kind::positive(), "weight, kg", |a| match &mut a.sort {
            Sort::Shark { weight, .. } => Some(weight),
            Sort::Fish { .. } => None,
        })
        .always()
        .check(|animal| match animal.sort {
            Sort::Shark { teeth: Some(1), .. } if animal.colour == Colour::Green => {
                Err("no green shark has one tooth".to_string())
            }
            _ => Ok(()),
        });
    Table::new("animal", [colour(fish), colour(shark)])
}

#[test]
fn names_have_one_canonical_form() {
    for (text, canonical) in [
        ("fish", "fish"),
        ("poisson[size=3]", "fish"),
        ("FISH[colour=green,size=4]", "fish[size=4,colour=green]"),
        ("minnow", "fish[size=1]"),
        ("carp[asleep=true]", "fish[size=9,asleep=yes]"),
        ("fish[half=2]", "fish[size=4]"),
        ("fish[asleep=false]", "fish"),
        ("shark", "shark[weight=100]"),
        ("shark[teeth=7,weight=1e1]", "shark[teeth=7,weight=10]"),
    ] {
        let animal = table().read(text).expect(text);
        assert_eq!(table().name(&animal).to_string(), canonical, "{text}");
        assert_eq!(table().check(&animal), Ok(()));
    }
}

#[test]
fn errors_contain_suggestions() {
    for (text, problem) in [
        ("fihs", "unknown; did you mean \"fish\"?"),
        ("whale", "unknown; known are fish, shark"),
        ("fish[sise=2]", "unknown parameter \"sise\"; did you mean \"size\"?"),
        ("fish[teeth=2]", "unknown parameter \"teeth\"; known are size, asleep, half, colour"),
        ("fish[size=0]", "size=\"0\" is not an integer from 1 to 9"),
        ("fish[size=x,sise=2]", "unknown parameter \"sise\"; did you mean \"size\"?"),
        ("fish[colour=blue]", "colour=\"blue\" is not one of red, green"),
        ("fish[asleep=maybe]", "asleep=\"maybe\" is not one of no, yes"),
        ("minnow[size=2]", "\"minnow\" already sets size=1"),
        ("fish[half=1,size=2]", "size and half are alternatives; give only one"),
        ("shark[weight=-1]", "weight=\"-1\" is not a positive number"),
        ("shark[weight=inf]", "weight=\"inf\" is not a positive number"),
        ("shark[teeth=1,colour=green]", "no green shark has one tooth"),
    ] {
        let error = table().read(text).expect_err(text);
        assert_eq!(error.to_string(), format!("animal \"{text}\": {problem}"));
    }
}

/// The declarations also check options that were created in code.
#[test]
fn checks_options_created_in_code() {
    let fish = |size| Animal { sort: Sort::Fish { size, asleep: false }, colour: Colour::Red };
    assert_eq!(table().check(&fish(9)), Ok(()));
    let error = table().check(&fish(10)).expect_err("too large").to_string();
    assert_eq!(error, "animal \"fish[size=10]\": size=\"10\" is not an integer from 1 to 9");
    let shark = Sort::Shark { teeth: None, weight: f64::NAN };
    let error = table().check(&Animal { sort: shark, colour: Colour::Red }).expect_err("no number");
    assert_eq!(error.text, "shark[weight=NaN]");
}

#[test]
fn listings_are_derived_from_declarations() {
    let [fish, shark] = &table().descriptions()[..] else { panic!("two animals") };
    assert_eq!((fish.about.as_str(), fish.source), ("A fish.", "nature"));
    assert_eq!(fish.aliases, ["poisson", "minnow", "carp"]);
    let row = |p: &Parameter| format!("{}={} [{}]: {}", p.key, p.values, p.default, p.about);
    assert_eq!(row(&fish.parameters[0]), "size=1..9 [3]: length, cm");
    assert_eq!(row(&fish.parameters[1]), "asleep=no|yes [no]: whether it sleeps");
    assert_eq!(row(&shark.parameters[0]), "teeth=1..99 [all]: number of teeth");
    assert_eq!(row(&shark.parameters[2]), "colour=red|green [red]: its colour");
}

/// A strategy that may contain another strategy of the same registry.
#[derive(Clone, PartialEq, Debug)]
struct Doll {
    size: u32,
    inner: Option<Box<Doll>>,
}

fn dolls() -> Registry<Doll> {
    let plain = |size| Entry::new("plain", Doll { size, inner: None });
    let plain = plain(1).param("size", kind::integer(0..=9), "height", |d| &mut d.size);
    let inner = Some(Box::new(Doll { size: 1, inner: None }));
    let around = Entry::new("around", Doll { size: 2, inner })
        .param("size", kind::integer(0..=9), "height", |d| &mut d.size)
        .case("inner", kind::typed("a doll"), "what is inside", |d| d.inner.as_deref_mut());
    Registry::new("doll").with(Table::new("doll", [plain, around]), |table, name| table.parse(name))
}

impl std::str::FromStr for Doll {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        dolls().read(text)
    }
}

impl std::fmt::Display for Doll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.inner {
            None => write!(f, "plain[size={}]", self.size),
            Some(inner) => write!(f, "around[size={},inner={inner}]", self.size),
        }
    }
}

#[test]
fn a_strategy_may_contain_another_of_its_registry() {
    let text = "around[inner=around[inner=plain[size=3],size=4],size=5]";
    let doll: Doll = text.parse().expect("three dolls");
    assert_eq!(doll.to_string(), "around[size=5,inner=around[size=4,inner=plain[size=3]]]");
    assert_eq!(doll.to_string().parse(), Ok(doll));
    let error = "around[inner=around[inner=plian]]".parse::<Doll>().expect_err("a typing error");
    assert!(error.to_string().ends_with("did you mean \"plain\"?"), "{error}");
    let names: Vec<_> = dolls().descriptions().iter().map(|d| d.name.clone()).collect();
    assert_eq!(names, ["plain", "around"]);
    let unknown = dolls().listed_by("replay list dolls").read("zzz").expect_err("unknown");
    assert_eq!(unknown.to_string(), "doll \"zzz\": unknown (replay list dolls)");
}

proptest! {
    #[test]
    fn printing_and_parsing_are_inverse(
        name in "[a-z][a-z0-9-]{0,10}",
        parameters in proptest::collection::btree_map("[a-z]{1,6}", "[a-z0-9.]{1,4}(,[0-9]{1,3}){0,3}", 0..4),
    ) {
        let strategy = StrategyName { name, parameters: parameters.into_iter().collect() };
        prop_assert_eq!(strategy.to_string().parse::<StrategyName>(), Ok(strategy));
    }

    #[test]
    fn the_parser_accepts_any_text_without_panicking(text in "\\PC{0,30}") {
        if let Ok(name) = text.parse::<StrategyName>() {
            prop_assert_eq!(name.to_string().parse::<StrategyName>(), Ok(name));
        }
        let _ = table().read(&text);
    }

    #[test]
    fn options_parse_from_their_name(
        fish: bool, size in 1u32..=9, asleep: bool, teeth in proptest::option::of(1u8..=99),
        weight in 1e-300f64..1e300, green: bool,
    ) {
        let sort = if fish { Sort::Fish { size, asleep } } else { Sort::Shark { teeth, weight } };
        let animal = Animal { sort, colour: if green { Colour::Green } else { Colour::Red } };
        prop_assume!(table().check(&animal).is_ok());
        prop_assert_eq!(table().read(&table().name(&animal).to_string()), Ok(animal));
    }
}
