//! Ctrl-C, and a polite kill.

use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::Signals;

use super::exit::{Exit, tell};
use replay_core::cancel::CancelToken;
use replay_experiment::files::abandon;

/// The signals that mean: keep what is done, and end.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// A second signal within this time is the first one once more: `timeout` and batch systems
/// send it to the process and to its group.
const ECHO: Duration = Duration::from_millis(300);

/// What is being written in one go gets so long to become whole before the end.
const PATIENCE: Duration = Duration::from_millis(500);

/// The flag that a signal raises, and whether the user wants quiet; nothing before a command looks
/// at one, and then a signal ends the program. As global as signals are.
static ATTENDED: Mutex<Option<(CancelToken, bool)>> = Mutex::new(None);

/// Hears SIGINT and SIGTERM from now on. Until somebody [attends](attend) to them they end the
/// program at once, with a word and its exit code, whatever it waits for.
pub fn listen() {
    let Ok(mut signals) = Signals::new(SIGNALS) else { return };
    let listen = move || {
        let mut first = None;
        for _ in signals.forever() {
            let attended = ATTENDED.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match (attended, first) {
                (None, _) => {
                    tell("replay: interrupted");
                    end_at_once();
                }
                (Some((stop, quiet)), None) => {
                    first = Some(Instant::now());
                    stop.raise();
                    if !quiet {
                        tell("replay: stopping; what is done is kept (Ctrl-C again ends at once)");
                    }
                }
                (_, Some(first)) if first.elapsed() < ECHO => {}
                (_, Some(_)) => end_at_once(),
            }
        }
    };
    if thread::Builder::new().name("signals".to_string()).spawn(listen).is_err() {
        // Nobody listens; then a signal does what it does by default.
        for signal in SIGNALS {
            let always = Arc::new(AtomicBool::new(true));
            let _ = register_conditional_default(signal, always);
        }
    }
}

/// Ends the program, whatever it is doing; no half of a file stays.
fn end_at_once() -> ! {
    abandon(PATIENCE);
    process::exit(Exit::Interrupted.code())
}

/// A flag that the first SIGINT or SIGTERM from now on raises, which is told at once unless
/// the user wants quiet. The second ends the program.
pub fn interruption(quiet: bool) -> CancelToken {
    let stop = CancelToken::new();
    attend(&stop, quiet);
    stop
}

/// From now on a signal raises this flag, which is looked at.
pub fn attend(stop: &CancelToken, quiet: bool) {
    *ATTENDED.lock().unwrap_or_else(PoisonError::into_inner) = Some((stop.clone(), quiet));
}
