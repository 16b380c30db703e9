//! Tests that an option is the same in all commands: it has one meaning, one short letter, one value name, one help and
//! one default.

use std::collections::BTreeMap;

use clap::{Arg, Command};

/// An aspect in which an option may differ among commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aspect {
    Help,
    Value,
    Default,
}

use Aspect::{Default, Help, Value};

/// Options that differ in an aspect among commands, with the reason.
const DIFFER: [(&str, &[Aspect], &str); 20] = [
    ("all", &[Help, Value, Default], "fetch takes all traces, man writes all pages into a folder"),
    ("alloc", &[Default], "contend and stream compare several allocators by default"),
    ("cases", &[Help], "place reads requests, priority reads jobs"),
    (
        "estimates",
        &[Help, Value, Default],
        "replays plan with estimates of run times, stream has methods",
    ),
    ("from", &[Help, Value], "replays start a window at a time, fetch copies from a folder"),
    ("job", &[Help, Value], "when adds a job, show and explain select a job of a trace"),
    ("jobs", &[Help, Default], "replays take the first jobs of a trace, models generate jobs"),
    ("machine", &[Default], "a trace names its machine, a stream and a list of packets do not"),
    ("network", &[Default], "contend and stream take the network of --preset"),
    ("partition", &[Help, Value], "import selects jobs, a replay defines partitions"),
    ("pattern", &[Default], "the jobs of stream send nothing by default"),
    (
        "priorities",
        &[Help, Default],
        "the present state has the priorities of its jobs, a trace has none",
    ),
    ("processors", &[Default], "a log has a machine that import cannot guess"),
    ("sched", &[Help, Value, Default], "when takes the schedulers of a site"),
    ("unknown", &[Help, Default], "when reads jobs.txt"),
    ("load", &[Default], "a stream has arrivals by default, a model its own load"),
    ("strict", &[Help], "replays check logs, the commands of Slurm check the files of a site"),
    ("trace", &[Help], "verify selects among published traces, the others read traces"),
    ("tie", &[Help], "given vectors are shown in addition to the vectors that a search finds"),
    (
        "write",
        &[Default],
        "report and explore name their pages; verify and check-topology print their data and write no file by default",
    ),
];

/// The declaration of an option by a command.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Declared {
    command: String,
    short: Option<char>,
    value: Option<String>,
    /// The first paragraph of the help, without the default.
    help: String,
    default: String,
}

impl Declared {
    fn of(command: &Command, arg: &Arg) -> Self {
        let first = |text: String| text.split("\n\n").next().unwrap_or_default().to_string();
        let help = arg.get_help().map(|help| first(help.to_string())).unwrap_or_default();
        let long = arg.get_long_help().map(|help| first(help.to_string()));
        let plain = |text: &str| text.trim_end_matches('.').replace('\n', " ");
        if let Some(long) = long {
            assert_eq!(plain(&help), plain(&long), "{} --{}", command.get_name(), arg.get_id());
        }
        let (help, written) = match help.split_once(" [default: ") {
            Some((help, default)) => {
                (plain(help), Some(plain(default).trim_end_matches(']').into()))
            }
            None => (plain(&help), None),
        };
        let parsed = arg.get_default_values().iter().map(|value| value.to_string_lossy());
        let parsed = parsed.collect::<Vec<_>>().join(",");
        Self {
            command: command.get_name().to_string(),
            short: arg.get_short(),
            value: arg.get_value_names().map(|names| names.join(" ")),
            help,
            default: written.unwrap_or(parsed),
        }
    }
}

/// Returns the declarations of every visible long option, by name.
fn options() -> BTreeMap<String, Vec<Declared>> {
    let mut definition = super::definition();
    definition.build();
    let mut options: BTreeMap<String, Vec<Declared>> = BTreeMap::new();
    for command in definition.get_subcommands().chain([&definition]) {
        if command.get_name() == "help" {
            continue;
        }
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let Some(long) = arg.get_long() else { continue };
            // The parser declares these two options.
            if !matches!(long, "help" | "version") {
                let declared = Declared::of(command, arg);
                options.entry(long.to_string()).or_default().push(declared);
            }
        }
    }
    options
}

#[test]
fn the_same_option_has_one_help_and_one_default() {
    let may = |option: &str, aspect: Aspect| {
        DIFFER.iter().any(|(name, aspects, _)| *name == option && aspects.contains(&aspect))
    };
    let mut problems = Vec::new();
    for (option, all) in options() {
        let first = &all[0];
        for other in &all[1..] {
            let mut check = |what: &str, same: bool| {
                if !same {
                    problems.push(format!("--{option}: {what}: {first:?}\n  {other:?}"));
                }
            };
            check("short", first.short == other.short);
            check("value", may(&option, Value) || first.value == other.value);
            check("help", may(&option, Help) || first.help == other.help);
            check("default", may(&option, Default) || first.default == other.default);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    let options = options();
    for (option, aspects, why) in DIFFER {
        assert!(!why.is_empty(), "{option}");
        let all = &options[option];
        let differs = |aspect: &Aspect| {
            all.iter().any(|other| match aspect {
                Help => other.help != all[0].help,
                Value => other.value != all[0].value,
                Default => other.default != all[0].default,
            })
        };
        assert!(aspects.iter().all(differs), "--{option} does not differ in all of {aspects:?}");
    }
}

#[test]
fn help_is_one_imperative_line_without_a_refused_option() {
    for (option, all) in options() {
        for Declared { command, help, .. } in all {
            let length = help.chars().count();
            assert!((1..=110).contains(&length), "{command} --{option}: {length}: {help}");
            assert!(help.starts_with(char::is_uppercase), "{command} --{option}: {help}");
        }
    }
}

#[test]
fn quiet_is_taken_before_and_after_every_command() {
    for line in [
        "-q list",
        "--quiet list policies",
        "list -q",
        "-q stream",
        "stream --quiet",
        "-q synth --jobs 5",
        "synth -q",
        "-q plan",
        "-q man",
        "completions bash -q",
        "-q",
    ] {
        let words = format!("replay {line}");
        let words: Vec<_> = words.split(' ').map(std::ffi::OsString::from).collect();
        assert!(super::parsed(&words, super::definition()).is_ok(), "{line}");
    }
    let quiet = |line: &str| {
        let words: Vec<_> = line.split(' ').map(std::ffi::OsString::from).collect();
        match super::parsed(&words, super::definition()).expect(line).command {
            Some(super::Command::Sweep(args)) => args.grid.process.quiet,
            Some(super::Command::Synth(args)) => args.quiet.quiet,
            other => panic!("{other:?}"),
        }
    };
    assert!(quiet("replay -q sweep --out a") && quiet("replay sweep --out a -q"));
    assert!(quiet("replay -q synth") && !quiet("replay synth"));
}

#[test]
fn a_summary_is_one_sentence() {
    for command in super::definition().get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = command.get_name();
        assert!(!about.is_empty() && !about.contains(". "), "{name}: {about}");
    }
}

/// A paragraph of a help text is one line, which the parser wraps to the width of the terminal.
#[test]
fn paragraphs_are_not_broken_by_hand() {
    let definition = super::definition();
    for command in definition.get_subcommands().chain([&definition]) {
        let texts =
            [command.get_after_help(), command.get_after_long_help(), command.get_long_about()];
        for text in texts.into_iter().flatten().map(ToString::to_string) {
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let indent = |line: &str| line.len() - line.trim_start().len();
                // Example commands have a line each, and a command may continue on the next line.
                let is_command = pair[0].ends_with('\\')
                    || pair.iter().all(|line| line.trim_start().starts_with("replay "));
                let is_broken = !pair.iter().any(|line| line.trim().is_empty())
                    && indent(pair[0]) == indent(pair[1])
                    && !is_command;
                assert!(!is_broken, "{}: {}\n{}", command.get_name(), pair[0], pair[1]);
            }
        }
    }
}
