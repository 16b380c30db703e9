//! What long work costs, said before it is done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::exit::tell;
use super::threads::Ticker;
use replay_core::number::{fixed, grouped};
use replay_experiment::{Eta, SAMPLE};

/// Work that takes less is not worth a word.
const LONG: Duration = Duration::from_secs(30);
/// Time without a first job after which a line reports it.
const SILENCE: Duration = Duration::from_secs(5);

/// Tells the user what a cell takes as soon as its first jobs show that it takes long, and
/// again only of one that takes twice as long as any before.
pub struct Cost {
    quiet: bool,
    /// The longest that was told.
    told: Mutex<Duration>,
    /// Whether the first job is there.
    begun: Arc<AtomicBool>,
    _silence: Option<Ticker>,
}

/// What a command does with its first job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// The job gets processors.
    Started,
    /// The job is simulated alone on the empty machine.
    MeasuredAlone,
}

impl First {
    /// The line for a command whose first job is not there after [`SILENCE`].
    fn missing(self) -> String {
        let silence = length(SILENCE);
        match self {
            First::Started => format!(
                "replay: no job has got processors after {silence}: the schedule, or a single \
                 decision, takes long; Ctrl-C ends it at once"
            ),
            First::MeasuredAlone => format!(
                "replay: jobs are being measured alone, the first takes over {silence}: a smaller \
                 --scale sends fewer packets; Ctrl-C ends it at once"
            ),
        }
    }
}

impl Cost {
    /// The cost of a command that starts jobs at once.
    pub fn new(quiet: bool) -> Self {
        Self::of(First::Started, quiet)
    }

    /// The cost of a command whose first job is to do this.
    pub fn of(first: First, quiet: bool) -> Self {
        let begun = Arc::new(AtomicBool::new(false));
        let (seen, begin) = (begun.clone(), Instant::now());
        let silence = move || {
            if begin.elapsed() >= SILENCE && !seen.swap(true, Ordering::Relaxed) {
                tell(first.missing());
            }
        };
        let silence = (!quiet).then(|| Ticker::new(silence));
        Self { quiet, told: Mutex::new(LONG / 2), begun, _silence: silence }
    }

    /// Something has been done that is not the first job of a cell.
    pub fn begun(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    /// Takes in a forecast for one of so many cells that run on so many threads. `say` prints
    /// a line.
    pub fn hear(&self, forecast: Eta, say: impl FnOnce(&str)) {
        self.begun();
        if self.quiet || forecast.elapsed < SAMPLE {
            return;
        }
        let whole = forecast.whole();
        if let Ok(mut told) = self.told.lock() {
            if whole < *told * 2 {
                return;
            }
            *told = whole;
        }
        let Eta { started, jobs, elapsed } = forecast;
        say(&format!(
            "replay: {} job starts take about {} (the first {} took {}); Ctrl-C ends them at once",
            grouped(jobs),
            length(whole),
            grouped(started),
            length(elapsed),
        ));
    }

    /// The same where nothing else is on the screen.
    pub fn hear_plainly(&self, forecast: Eta) {
        self.hear(forecast, |line| tell(line));
    }
}

/// A time as people say it.
pub fn length(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 100.0 => format!("{} s", fixed(s, 0)),
        s if s < 6000.0 => format!("{} min", fixed(s / 60.0, 0)),
        s if s < 360_000.0 => format!("{} h", fixed(s / 3600.0, 0)),
        s => format!("{} days", fixed(s / 86400.0, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_long_is_told_and_not_again_and_again() {
        let cost = Cost::new(false);
        let told = |started, seconds| {
            let mut line = None;
            let elapsed = Duration::from_secs(seconds);
            let forecast = Eta { started, jobs: 1000, elapsed };
            cost.hear(forecast, |said| line = Some(said.to_string()));
            line
        };
        assert_eq!(told(500, 10), None);
        assert_eq!(
            told(10, 2).as_deref(),
            Some(
                "replay: 1,000 job starts take about 3 min (the first 10 took 2 s); Ctrl-C ends them at once"
            )
        );
        assert_eq!(told(10, 3), None);
        assert!(told(1, 5).is_some_and(|line| line.contains("about 83 min")));
        let quiet = Cost::new(true);
        let forecast = Eta { started: 1, jobs: 1000, elapsed: Duration::from_secs(9) };
        quiet.hear(forecast, |line| panic!("{line}"));
    }
}
