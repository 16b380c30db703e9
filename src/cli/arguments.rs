//! Arguments in the form that the parser takes.

use std::any::TypeId;
use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

use super::job_name::JobName;
use replay_engine::number::ungrouped;

/// Name of the main job, which needs no name.
pub const MAIN_JOB: &str = "run";

/// Returns the arguments without the name of the main job, and with numbers without thousands separators. The first
/// argument is the name of the program.
pub fn prepared(arguments: &[OsString], definition: &Command) -> Vec<OsString> {
    let mut words = arguments.to_vec();
    let mut names = (1..words.len())
        .filter(|&at| words[at].to_str().is_none_or(|word| !matches!(word, "-q" | "--quiet")));
    let mut first = names.next();
    if first.is_some_and(|at| words[at] == "help") {
        first = names.next();
    }
    if let Some(at) = first.filter(|&at| words[at] == MAIN_JOB) {
        words.remove(at);
    }
    let command = command(&words, definition);
    for at in 1..words.len() {
        let Some(word) = words[at].to_str() else { continue };
        match word.split_once('=') {
            _ if word == "--" => break,
            Some((option, value)) if takes_number(option, command) => {
                words[at] = format!("{option}={}", ungrouped(value)).into();
            }
            None if takes_number(word, command) => {
                let Some(value) = words.get(at + 1).and_then(|value| value.to_str()) else {
                    continue;
                };
                words[at + 1] = ungrouped(value).into_owned().into();
            }
            _ => {}
        }
    }
    words
}

/// Returns the subcommand that the arguments name, or else `definition`.
pub fn command<'a>(arguments: &[OsString], definition: &'a Command) -> &'a Command {
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let first = words.into_iter().find(|word| !matches!(*word, "-q" | "--quiet"));
    first.and_then(|word| definition.find_subcommand(word)).unwrap_or(definition)
}

/// Returns the argument that an option, such as `--job` or `-t`, names.
pub fn option<'a>(word: &str, command: &'a Command) -> Option<&'a Arg> {
    let is_named = |arg: &&Arg| match word.strip_prefix("--") {
        Some(name) => {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long().into_iter().chain(aliases).any(|long| long == name)
        }
        None => arg.get_short().is_some_and(|letter| word == format!("-{letter}")),
    };
    command.get_arguments().find(is_named)
}

/// Returns whether the value of an option is one number. A comma in a list of numbers separates them.
fn takes_number(word: &str, command: &Command) -> bool {
    let others = [TypeId::of::<JobName>(), TypeId::of::<f64>()];
    option(word, command).is_some_and(|arg| {
        let single = matches!(arg.get_action(), ArgAction::Set);
        let kind = arg.get_value_parser().type_id();
        let is_number = integers().iter().chain(&others).any(|one| kind == *one);
        single && arg.get_value_delimiter().is_none() && is_number
    })
}

/// Returns the types of options whose value is an integer.
pub fn integers() -> [TypeId; 6] {
    [
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = prepared(&arguments, &crate::cli::definition());
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_main_job_may_have_its_name() {
        for (line, expected) in [
            ("replay run --jobs 3", "replay --jobs 3"),
            ("replay -q run", "replay -q"),
            ("replay help run", "replay help"),
            ("replay run", "replay"),
            ("replay show run", "replay show run"),
            ("replay --out run", "replay --out run"),
        ] {
            assert_eq!(words(line), expected);
        }
    }

    #[test]
    fn numbers_may_have_thousands_separators() {
        for (line, expected) in [
            ("replay show --job 14,123", "replay show --job 14123"),
            ("replay explain --job=-1,014,123", "replay explain --job=-1014123"),
            ("replay --jobs 1,000 --days=1,000.5", "replay --jobs 1000 --days=1000.5"),
            ("replay import csv a --processors 49,152", "replay import csv a --processors 49152"),
            // Not thousands separators, and lists.
            ("replay --jobs 1,00", "replay --jobs 1,00"),
            ("replay --jobs 0,100", "replay --jobs 0,100"),
            ("replay --seed 1,200", "replay --seed 1,200"),
            ("replay --tie 1,200,300,400", "replay --tie 1,200,300,400"),
            ("replay stream --arrivals 1,200", "replay stream --arrivals 1,200"),
            ("replay -- --jobs 1,000", "replay -- --jobs 1,000"),
        ] {
            assert_eq!(words(line), expected);
        }
    }

    /// Every option whose value is one number accepts thousands separators.
    #[test]
    fn every_number_may_have_thousands_separators() {
        let definition = crate::cli::definition();
        let mut numbers = 0;
        for command in definition.get_subcommands().chain([&definition]) {
            let options = command.get_arguments().filter(|arg| !arg.is_global_set());
            let is_list = |arg: &&Arg| {
                matches!(arg.get_action(), ArgAction::Append) || arg.get_value_delimiter().is_some()
            };
            let single = options.filter(|arg| arg.get_action().takes_values() && !is_list(arg));
            for arg in single {
                let names = arg.get_value_names().unwrap_or_default();
                let Some(long) = arg.get_long().filter(|_| names.iter().any(|name| name == "N"))
                else {
                    continue;
                };
                assert!(
                    takes_number(&format!("--{long}"), command),
                    "{} --{long}",
                    command.get_name()
                );
                numbers += 1;
            }
        }
        assert!(numbers > 30, "{numbers}");
    }
}
