//! Tips in errors of the command line. They contain only options that were probably meant.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{ArgAction, Command};

use super::arguments;
use replay_engine::naming::retired;

/// Adds a tip to an error of the parser.
pub fn explained(error: Error, arguments: &[OsString], definition: &Command) -> Error {
    let command = arguments::command(arguments, definition);
    let arguments: Vec<&str> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    match extra_words(&error, &arguments, command) {
        Some(tip) => suggested(error, tip),
        None => with_tip(error, command, definition),
    }
}

/// Returns a tip about words that follow the value of an option; `None` if the error has another cause.
fn extra_words(error: &Error, arguments: &[&str], command: &Command) -> Option<String> {
    if let Some(word) = extra_word(error) {
        if word == arguments::MAIN_JOB {
            return Some(format!("'{word}' comes before the options: replay {word} [OPTIONS]"));
        }
        return about_values(arguments, command, |values| values[1..].contains(&word));
    }
    // The first of the extra words is the positional argument of the command.
    let is_number = |value: &&str| value.trim_end_matches(',').parse::<f64>().is_ok();
    let is_conflict = error.kind() == ErrorKind::ArgumentConflict;
    let all_are_numbers = |values: &[&str]| values.iter().all(is_number);
    is_conflict.then(|| about_values(arguments, command, all_are_numbers)).flatten()
}

/// Returns the word that the error is about if it is neither an option nor the value of an option.
fn extra_word(error: &Error) -> Option<&str> {
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => Some(word),
        (ErrorKind::UnknownArgument, _) => invalid(error).filter(|word| !is_option(word)),
        _ => None,
    }
}

/// Returns whether a word is an option and not a negative number.
fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|it: char| it.is_ascii_digit()))
}

/// Returns a tip about the first option with several words as values that `are_meant`; `None` if there is no such option.
fn about_values(
    arguments: &[&str],
    command: &Command,
    are_meant: impl Fn(&[&str]) -> bool,
) -> Option<String> {
    let begins = (0..arguments.len()).filter(|&at| is_option(arguments[at]));
    let mut with_values = begins.filter_map(|at| {
        let (option, value) = match arguments[at].split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (arguments[at], None),
        };
        let arg =
            arguments::option(option, command).filter(|arg| arg.get_action().takes_values())?;
        let rest = arguments[at + 1..].iter().copied().take_while(|word| !is_option(word));
        let values: Vec<&str> = value.into_iter().chain(rest).collect();
        (values.len() > 1 && are_meant(&values)).then_some((option, arg, values))
    });
    let (option, arg, values) = with_values.next()?;
    let names = arg.get_value_names().unwrap_or_default();
    let is_list = matches!(arg.get_action(), ArgAction::Append)
        || names.iter().any(|name| name.contains("LIST") || name.contains(','));
    if !is_list || names.iter().any(|name| name.contains(':')) {
        return Some(format!("'{option}' takes one value"));
    }
    let values = values.iter().map(|value| value.trim_end_matches(',')).collect::<Vec<_>>();
    Some(format!("separate the values by commas: {option} {}", values.join(",")))
}

/// Replaces the tips of the parser by a tip.
fn suggested(mut error: Error, tip: String) -> Error {
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        error.remove(kind);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}

/// Returns the argument that the error is about.
fn invalid(error: &Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => Some(argument),
        _ => None,
    }
}

/// Replaces the tips that the parser gives about an unknown long option, because the parser suggests options with
/// little similarity.
fn with_tip(mut error: Error, command: &Command, definition: &Command) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(typed) = invalid(&error).and_then(|word| word.strip_prefix("--")) else {
        return error;
    };
    let typed = typed.split('=').next().unwrap_or_default().to_string();
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Suggested);
    let suggest = |mut error: Error, option: &str| {
        let option = ContextValue::String(format!("--{option}"));
        error.insert(ContextKind::SuggestedArg, option);
        error
    };
    if let Some(instead) = retired("option", &typed) {
        return suggested(error, instead.to_string());
    }
    if let Some(option) = output(&typed, command) {
        return suggest(error, option);
    }
    let owners: Vec<&str> = definition
        .get_subcommands()
        .filter(|one| options(one).any(|option| option == typed))
        .map(Command::get_name)
        .collect();
    let all = if options(definition).any(|option| option == typed) { &["replay"][..] } else { &[] };
    let owners: Vec<&str> = all.iter().copied().chain(owners).collect();
    if !owners.is_empty() {
        let tip = format!("'--{typed}' is an option of {}", owners.join(", "));
        return suggested(error, tip);
    }
    match similar(&typed, options(command)) {
        Some(option) => suggest(error, option),
        None => error,
    }
}

/// Returns the output option of a command if the typed option is `out` or `output` and the command does not have it;
/// `None` if there is no such option.
fn output(typed: &str, command: &Command) -> Option<&'static str> {
    let has = |option: &&str| options(command).any(|one| one == *option);
    match typed {
        "out" => Some("write").filter(has),
        "output" => ["out", "write"].into_iter().find(|option| has(option)),
        _ => None,
    }
}

/// Returns the long options of a command and their aliases, without hidden options.
fn options(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter(|arg| !arg.is_hide_set()).flat_map(|arg| {
        arg.get_long().into_iter().chain(arg.get_visible_aliases().unwrap_or_default())
    })
}

/// Minimum length in letters of the common beginning of a typed option and a suggested option.
const PREFIX: usize = 4;

/// Returns the option that a misspelt option probably means. The option has the same first letter. The two words differ
/// by at most two edits, or one of them begins with the other. If the typed word or the option has at most five
/// letters, one edit is allowed; if the option has at most three letters, no edit is allowed. In an option of four
/// letters, no other letter may replace one, because many words differ in one of four letters.
fn similar<'a>(typed: &str, options: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = |option: &&'a str| {
        let reach = match (option.len(), typed.len()) {
            (..PREFIX, _) => 0,
            (..=5, _) | (_, ..=5) => 1,
            _ => 2,
        };
        let edits = strsim::osa_distance(typed, option);
        let replaces =
            option.len() <= 4 && strsim::hamming(typed, option).is_ok_and(|all| all == 1);
        let begins = option.starts_with(typed) && typed.len() >= PREFIX
            || typed.starts_with(*option) && option.len() > PREFIX;
        let is_same_letter = typed.chars().next() == option.chars().next();
        (is_same_letter && !replaces && (edits <= reach || begins)).then_some((!begins, edits))
    };
    options.filter_map(|option| Some((near(&option)?, option))).min().map(|(_, option)| option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the error message for a command line.
    fn message(line: &str) -> String {
        let arguments: Vec<OsString> =
            format!("replay {line}").split(' ').map(OsString::from).collect();
        match crate::cli::parsed(&arguments, crate::cli::definition()) {
            Ok(_) => panic!("replay {line}: is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_option_of_other_commands_names_these_commands() {
        let mut definition = crate::cli::definition();
        definition.build();
        let named = definition.get_subcommands().filter(|one| one.get_name() != "help");
        let commands: Vec<&Command> = [&definition].into_iter().chain(named).collect();
        let all: BTreeSet<&str> = commands.iter().flat_map(|one| options(one)).collect();
        let mut pairs = 0;
        for command in &commands {
            let names = command.get_arguments().flat_map(|arg| {
                arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default())
            });
            let accepted: BTreeSet<&str> = names.collect();
            for option in all.iter().filter(|option| !accepted.contains(*option)) {
                let line = match command.get_name() {
                    "replay" => format!("--{option}"),
                    name => format!("{name} --{option}"),
                };
                let message = message(&line);
                let expected = match output(option, command) {
                    Some(write) => format!("tip: a similar argument exists: '--{write}'"),
                    None => format!("tip: '--{option}' is an option of "),
                };
                assert!(message.contains(&expected), "{line}: {message}");
                pairs += 1;
            }
        }
        assert!(pairs > 1000, "{pairs}");
    }

    #[test]
    fn a_tip_names_the_option_that_is_meant_or_there_is_none() {
        for (line, tip) in [
            ("--forat json", Some("'--format'")),
            ("--fromat json", Some("'--format'")),
            ("--machin 4x4", Some("'--machine'")),
            ("--machines 4x4", Some("'--machines' is an option of place")),
            ("--machinee 4x4", Some("'--machine'")),
            ("--allocator mm", Some("'--alloc'")),
            ("--allocators mm", Some("'--alloc'")),
            ("--scheduler fcfs", Some("'--sched'")),
            ("--traces a", Some("'--trace'")),
            ("--jbs 3", Some("'--jobs'")),
            ("--job 3", Some("'--job' is an option of when, show")),
            ("--sed 3", Some("'--seed'")),
            ("--plot", Some("'--plots'")),
            ("--scale-loads 0.5", Some("'--scale-load'")),
            ("--scale 0.5", Some("'--scale' is an option of contend")),
            ("--quite", Some("'--quiet'")),
            ("stream --warmup 3", Some("'--warm-up'")),
            ("search --factor 1", Some("'--factors'")),
            ("search --evaluation 5", Some("'--evaluations'")),
            ("verify --ful", Some("'--full'")),
            ("sweep --shards 1/2", Some("'--shard'")),
            ("--backlog 3", Some("'--backlog' is an option of stream")),
            ("--evaluations 3", Some("'--evaluations' is an option of search")),
            ("stream --shake 3", Some("'--shake' is an option of replay, ")),
            ("--slots 4", None),
            ("--nodes 4", Some("'--nodes' is an option of check-topology")),
            ("--cores 4", None),
            ("--size 4", None),
            ("--wait 4", None),
            ("--outages a", None),
            ("--colour", None),
            ("--verbose", None),
            ("--output a", Some("'--out'")),
            ("synth --output a", Some("'--write'")),
            ("synth --out a", Some("'--write'")),
            ("import sacct --out a", Some("'--write'")),
            ("report --out a", Some("'--write'")),
            ("network --out a", Some("'--write'")),
            ("place --out a", Some("'--write'")),
            ("list --out a", Some("'--out' is an option of")),
            ("--time 3", Some("'--time' is an option of search")),
            ("--start 3", Some("'--start' is an option of search")),
            ("--spare 3", Some("'--spare' is an option of search")),
            ("--tmie 3", None),
            ("--shapes 3", None),
            ("--title a", Some("'--title' is an option of report")),
            ("--schedule", Some("'--schedule' is an option of compare")),
            ("list --sched easy", Some("'--sched' is an option of replay")),
            ("--topologies a", None),
            ("contend --messages 3", None),
            ("place --boxes 3", None),
            ("list --all", Some("'--all' is an option of fetch, man")),
            ("--tie 2 13 20 6", Some("separate the values by commas: --tie 2,13,20,6")),
            ("--tie=2, 13, 20, 6 -q", Some("separate the values by commas: --tie 2,13,20,6")),
            ("--tie 2 -1 3 4", Some("separate the values by commas: --tie 2,-1,3,4")),
            ("-q --alloc mc1x1 mm", Some("separate the values by commas: --alloc mc1x1,mm")),
            ("show -t a b --job 3", Some("separate the values by commas: -t a,b")),
            ("stream --arrivals 1 2", Some("separate the values by commas: --arrivals 1,2")),
            ("explain --job 14 123", Some("'--job' takes one value")),
            ("sweep --sr 1 2 --out a", Some("separate the values by commas: --sr 1,2")),
            ("sweep --sr 1 a.toml --out a", None),
            ("--alloc mc1x1 run", Some("'run' comes before the options")),
            (
                "show --film 0..9",
                Some("'--film' was removed: the page of replay explore plays a run"),
            ),
            ("runs", None),
        ] {
            let message = message(line);
            let tips: Vec<&str> = message.lines().filter(|line| line.contains("tip:")).collect();
            match tip {
                Some(tip) => assert!(tips.len() == 1 && tips[0].contains(tip), "{line}: {message}"),
                None => assert!(tips.is_empty(), "{line}: {message}"),
            }
        }
    }
}
