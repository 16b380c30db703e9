//! Estimates of the duration of long cells, reported while the cells run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::exit::eprint_line;
use super::threads::Ticker;
use replay_engine::number::{fixed, grouped};
use replay_experiment::{Eta, SAMPLE, Watch};

/// Shortest estimated duration of a cell that is reported.
const LONG: Duration = Duration::from_secs(30);
/// Time after which a line reports that no job has completed its first step yet.
const SILENCE: Duration = Duration::from_secs(5);

/// A reporter of estimated durations of cells. The reporter prints the estimate of a cell after the first jobs of the
/// cell, if the estimate is at least 30 s. A later estimate is reported only if it is at least twice the longest
/// estimate reported before.
pub struct EtaReporter {
    quiet: bool,
    /// The longest estimate reported so far.
    reported: Mutex<Duration>,
    /// Whether the first step is done, or its delay has been reported.
    begun: Arc<AtomicBool>,
    _silence: Option<Ticker>,
}

/// The first step in which a command processes a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// The job gets processors.
    Started,
    /// The job is simulated without other jobs on the empty machine.
    MeasuredAlone,
}

impl First {
    /// Returns the line that is printed if no job has completed this step after [`SILENCE`].
    fn missing(self) -> String {
        let silence = length(SILENCE);
        match self {
            First::Started => format!(
                "replay: no job has received processors after {silence}: computing the schedule \
                 or a single decision takes long; Ctrl-C ends the command at once"
            ),
            First::MeasuredAlone => format!(
                "replay: the first job that is measured without other jobs takes over {silence}; \
                 with a smaller --scale, jobs send fewer packets; Ctrl-C ends the command at once"
            ),
        }
    }
}

impl EtaReporter {
    /// Returns the reporter of a command with this first step.
    pub fn of(first: First, quiet: bool) -> Self {
        let begun = Arc::new(AtomicBool::new(false));
        let (seen, begin) = (begun.clone(), Instant::now());
        let silence = move || {
            if begin.elapsed() >= SILENCE && !seen.swap(true, Ordering::Relaxed) {
                eprint_line(first.missing());
            }
        };
        let silence = (!quiet).then(|| Ticker::new(silence));
        Self { quiet, reported: Mutex::new(LONG / 2), begun, _silence: silence }
    }

    /// Records that the first job has completed the first step.
    pub fn begun(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    /// Passes a line with the estimate of a cell to `print` if the estimate is long enough.
    pub fn update(&self, eta: Eta, print: impl FnOnce(&str)) {
        self.begun();
        if self.quiet || eta.elapsed < SAMPLE {
            return;
        }
        let whole = eta.whole();
        if let Ok(mut reported) = self.reported.lock() {
            if whole < *reported * 2 {
                return;
            }
            *reported = whole;
        }
        let Eta { started, jobs, elapsed } = eta;
        print(&format!(
            "replay: {} job starts take about {} (the first {} took {}); Ctrl-C ends the command at once",
            grouped(jobs),
            length(whole),
            grouped(started),
            length(elapsed),
        ));
    }
}

/// Prints the estimates on standard error, for commands without a progress line.
impl Watch for EtaReporter {
    fn forecast(&self, eta: Eta) {
        self.update(eta, |line| eprint_line(line));
    }
}

/// Formats a duration in seconds, minutes, hours or days, without decimals.
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
    fn only_long_estimates_are_reported_each_twice_as_long_as_before() {
        let reporter = EtaReporter::of(First::Started, false);
        let reported = |started, seconds| {
            let mut line = None;
            let elapsed = Duration::from_secs(seconds);
            let eta = Eta { started, jobs: 1000, elapsed };
            reporter.update(eta, |text| line = Some(text.to_string()));
            line
        };
        assert_eq!(reported(500, 10), None);
        assert_eq!(
            reported(10, 2).as_deref(),
            Some(
                "replay: 1,000 job starts take about 3 min (the first 10 took 2 s); Ctrl-C ends the command at once"
            )
        );
        assert_eq!(reported(10, 3), None);
        assert!(reported(1, 5).is_some_and(|line| line.contains("about 83 min")));
        let quiet = EtaReporter::of(First::Started, true);
        let eta = Eta { started: 1, jobs: 1000, elapsed: Duration::from_secs(9) };
        quiet.update(eta, |line| panic!("{line}"));
    }
}
