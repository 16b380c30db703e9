//! Groups of commands in the help of the program. Each command declares its group beside its name.

use clap::Command;

/// Commands that make traces.
pub const GET_A_LOG: &str = "Get a log";
/// Commands that run grids.
pub const RUN: &str = "Run";
/// Commands that read results.
pub const JUDGE: &str = "Judge";
/// Commands of experiments other than grids.
pub const STUDIES: &str = "Studies";
/// Commands for the operation of a cluster.
pub const SITES: &str = "Slurm and Kueue";
/// Commands that list names.
pub const LOOK_UP: &str = "Look up";
/// Commands that only the long help lists.
pub const OTHER: &str = "Other";

/// Every group, in the order of the help.
const GROUPS: [&str; 7] = [GET_A_LOG, RUN, JUDGE, STUDIES, SITES, LOOK_UP, OTHER];

/// The main job, which needs no name and is therefore not a command of the parser.
const MAIN_JOB: (&str, &str) =
    ("run", "Run the grid of the options below; the name may be omitted");

const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Returns the definition of the program with its commands listed by group in the help. The short help omits the last
/// group.
pub fn listed(definition: Command) -> Command {
    let long = list(&definition, &GROUPS);
    let short = list(&definition, &GROUPS[..GROUPS.len() - 1]);
    // The list of the parser has no groups.
    definition
        .mut_subcommands(|command| command.hide(true))
        .help_template(TEMPLATE)
        .before_help(short)
        .before_long_help(long)
}

/// Returns the commands of `groups`, with a line for each group and for each command.
fn list(definition: &Command, groups: &[&str]) -> String {
    let width = definition.get_subcommands().map(|command| command.get_name().len()).max();
    let width = width.unwrap_or_default();
    let mut lines = Vec::new();
    for group in groups {
        lines.push(format!("{group}:"));
        let main_job = (*group == RUN).then(|| (MAIN_JOB.0, MAIN_JOB.1.to_string()));
        let of_group = commands(definition, group);
        let of_group = of_group.map(|command| (command.get_name(), about(command)));
        let line = |(name, about)| format!("  {name:width$}  {about}");
        lines.extend(main_job.into_iter().chain(of_group).map(line));
    }
    lines.join("\n")
}

fn commands<'a>(definition: &'a Command, group: &str) -> impl Iterator<Item = &'a Command> {
    let all = definition.get_subcommands();
    all.filter(move |command| command.get_subcommand_help_heading() == Some(group))
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_a_group() {
        let definition = crate::cli::definition();
        for command in definition.get_subcommands() {
            let group = command.get_subcommand_help_heading();
            let name = command.get_name();
            assert!(
                group.is_some_and(|group| GROUPS.contains(&group)),
                "{name}: declare #[command(subcommand_help_heading = command_groups::..)] beside the command"
            );
        }
        let listed: usize = GROUPS.iter().map(|group| commands(&definition, group).count()).sum();
        assert_eq!(listed, definition.get_subcommands().count());
    }

    #[test]
    fn a_command_has_one_line() {
        let definition = crate::cli::definition();
        for line in list(&definition, &GROUPS).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
