//! SIGINT (Ctrl-C) and SIGTERM: cancel the command and keep finished work.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{process, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::Signals;

use super::exit::{Exit, eprint_line};
use replay_engine::cancel::CancelToken;
use replay_experiment::files::abandon;

/// Signals that cancel the command.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// A second signal within this time is ignored: `timeout` and batch systems send one signal both to the process and to
/// its group.
const DUPLICATE: Duration = Duration::from_millis(300);

/// Maximum time for which the program waits for the completion of files that are being replaced, before it ends.
const GRACE: Duration = Duration::from_millis(500);

/// The token that a signal raises, and whether the command is quiet; `None` until a command sets a token. The variable
/// is global because signals are global.
static ACTIVE: Mutex<Option<(CancelToken, bool)>> = Mutex::new(None);

/// Installs the handler of SIGINT and SIGTERM. Until a command [sets a token](cancel_by_signal), a signal ends the
/// program at once, with a message and the exit code of an interruption.
pub fn install_handler() {
    let Ok(mut signals) = Signals::new(SIGNALS) else { return };
    let handle = move || {
        let mut first = None;
        for _ in signals.forever() {
            let active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match (active, first) {
                (None, _) => {
                    eprint_line("replay: interrupted");
                    end_at_once();
                }
                (Some((token, quiet)), None) => {
                    first = Some(Instant::now());
                    token.raise();
                    if !quiet {
                        eprint_line(
                            "replay: stopping; finished work is kept (Ctrl-C again ends at once)",
                        );
                    }
                }
                (_, Some(first)) if first.elapsed() < DUPLICATE => {}
                (_, Some(_)) => end_at_once(),
            }
        }
    };
    if thread::Builder::new().name("signals".to_string()).spawn(handle).is_err() {
        // If the thread cannot be started, signals have their default effect.
        for signal in SIGNALS {
            let always = Arc::new(AtomicBool::new(true));
            let _ = register_conditional_default(signal, always);
        }
    }
}

/// Removes unfinished files and ends the program.
fn end_at_once() -> ! {
    abandon(GRACE);
    process::exit(Exit::Interrupted.code())
}

/// Returns a token that the first SIGINT or SIGTERM raises, with a line on standard error unless `quiet`. The second
/// signal ends the program.
pub fn cancel_token(quiet: bool) -> CancelToken {
    let token = CancelToken::new();
    cancel_by_signal(&token, quiet);
    token
}

/// Makes the first SIGINT or SIGTERM that arrives from now on raise `token`.
pub fn cancel_by_signal(token: &CancelToken, quiet: bool) {
    *ACTIVE.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.clone(), quiet));
}

/// Makes the next signal end the program at once, as before the first token. For work that does not check a token.
pub fn end_by_signal() {
    *ACTIVE.lock().unwrap_or_else(PoisonError::into_inner) = None;
}
