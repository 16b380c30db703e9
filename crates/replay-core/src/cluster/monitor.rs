//! The use of each processor over the last seconds: what a host's monitor tells Elmer.
//!
//! The thesis says that a process on every host writes down the processor's use "every few seconds"
//! (section 6.2.3), not how it is averaged. Here it is the mean over the last whole period; with a
//! period of 0 it is the use at this instant.

/// Follows the use of every processor.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Ticks of a period.
    period: i64,
    /// Tick up to which use is known.
    now: i64,
    /// By host: ticks of full use in the period that is not over.
    sums: Vec<f64>,
    shown: Vec<f64>,
}

impl Monitor {
    /// A monitor of idle hosts. Periods begin at multiples of `period` ticks.
    pub fn new(hosts: u32, period: i64) -> Self {
        let hosts = hosts as usize;
        Self { period, now: 0, sums: vec![0.0; hosts], shown: vec![0.0; hosts] }
    }

    /// What it shows: by host, a share from 0 to 1.
    pub fn shown(&self) -> &[f64] {
        &self.shown
    }

    /// The use was `used` until `until`.
    pub fn pass(&mut self, until: i64, used: impl Iterator<Item = f64>) {
        if self.period == 0 || until <= self.now {
            return;
        }
        let begin = until - until.rem_euclid(self.period);
        let over = begin > self.now;
        for ((sum, shown), used) in self.sums.iter_mut().zip(&mut self.shown).zip(used) {
            if over {
                let first_end = self.now - self.now.rem_euclid(self.period) + self.period;
                *sum += used * (first_end - self.now) as f64;
                // Only the last whole period is shown.
                *shown = match first_end < begin {
                    true => used,
                    false => *sum / self.period as f64,
                };
                *sum = used * (until - begin) as f64;
            } else {
                *sum += used * (until - self.now) as f64;
            }
        }
        self.now = until;
    }

    /// The use is `used` from now on.
    pub fn see(&mut self, used: impl Iterator<Item = f64>) {
        if self.period == 0 {
            self.shown.iter_mut().zip(used).for_each(|(shown, used)| *shown = used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_period_is_shown() {
        let mut monitor = Monitor::new(1, 10);
        let mut shown = |until, used| {
            monitor.pass(until, [used].into_iter());
            monitor.shown()[0]
        };
        assert_eq!(shown(4, 1.0), 0.0);
        assert_eq!(shown(10, 0.5), 0.7);
        assert_eq!(shown(19, 0.0), 0.7);
        assert_eq!(shown(22, 1.0), 0.1);
        // Two periods end; the last of them is whole.
        assert_eq!(shown(45, 0.25), 0.25);
        assert_eq!(shown(50, 1.0), 0.625);
    }

    #[test]
    fn without_a_period_the_present_is_shown() {
        let mut monitor = Monitor::new(2, 0);
        monitor.pass(7, [0.3, 0.4].into_iter());
        assert_eq!(monitor.shown(), [0.0, 0.0]);
        monitor.see([0.3, 0.4].into_iter());
        assert_eq!(monitor.shown(), [0.3, 0.4]);
    }
}
