//! Ctrl-C, and a polite kill.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::Signals;

use super::exit::{Exit, Failure, tell};
use crate::stop::Stop;

/// The signals that mean: keep what is done, and end.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// A second signal within this time is the first one once more: `timeout` and batch systems
/// send it to the process and to its group.
const ECHO: Duration = Duration::from_millis(300);

/// Whether a signal has been heard.
static HEARD: AtomicBool = AtomicBool::new(false);

/// Whether the program was asked to end.
pub fn is_interrupted() -> bool {
    HEARD.load(Ordering::Relaxed)
}

/// A flag that the first SIGINT or SIGTERM from now on raises, which is told at once unless
/// the user wants quiet. The second ends the program.
pub fn interruption(quiet: bool) -> Result<Stop, Failure> {
    let stop = Stop::new();
    let raised = stop.clone();
    let mut signals = Signals::new(SIGNALS).map_err(Failure::usage)?;
    let listen = move || {
        let mut first = None;
        for _ in signals.forever() {
            match first {
                None => {
                    first = Some(Instant::now());
                    raised.raise();
                    HEARD.store(true, Ordering::Relaxed);
                    if !quiet {
                        tell("replay: stopping; what is done is kept (Ctrl-C again ends at once)");
                    }
                }
                Some(first) if first.elapsed() < ECHO => {}
                Some(_) => process::exit(Exit::Interrupted.code()),
            }
        }
    };
    if thread::Builder::new().name("signals".to_string()).spawn(listen).is_err() {
        // Nobody listens; then a signal does what it does by default.
        for signal in SIGNALS {
            let always = Arc::new(AtomicBool::new(true));
            register_conditional_default(signal, always).map_err(Failure::usage)?;
        }
    }
    Ok(stop)
}
