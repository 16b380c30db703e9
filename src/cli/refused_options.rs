//! Options of the grid that some commands refuse.

use super::args::GridArgs;
use super::exit::Failure;

/// Returns an error if an option of outages or recorded placements was given to a command that does not support it.
///
/// # Errors
/// A usage error that names the option and the commands that have this option.
pub fn reject_outage_options(grid: &GridArgs) -> Result<(), Failure> {
    if grid.strict {
        return Err(Failure::usage_message(
            "--strict is for replay without a command, sweep, plan, show and explain",
        ));
    }
    match (&grid.down, &grid.node_map) {
        (None, None) => Ok(()),
        (Some(_), _) => Err(Failure::usage_message(
            "--down is for replay without a command, sweep, plan, show and explain",
        )),
        (None, Some(_)) => Err(Failure::usage_message(
            "--node-map is for replay without a command, sweep and plan",
        )),
    }
}

/// Hides the refused options in the help of a command.
pub fn hide_outage_options(command: clap::Command) -> clap::Command {
    let refused = ["down", "down_rule", "down_walls", "node_map", "strict"];
    refused.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
}
