//! Recent utilization of each processor. The monitor of a host reports the recent utilization of the host's processor
//! to Elmer.
//!
//! In Turner's thesis (1995, section 6.2.3), a process on every host records the processor's utilization "every few
//! seconds"; the thesis does not state how the utilization is averaged. This implementation reports the mean over the
//! last whole period. If the period is 0, the monitor reports the current utilization.

/// The monitors of all hosts.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Length of a period in ticks.
    period: i64,
    /// Tick up to which the utilization is recorded.
    now: i64,
    /// Processor time used on each host in the current period, in ticks.
    sums: Vec<f64>,
    reported: Vec<f64>,
}

impl Monitor {
    /// Creates monitors of idle hosts. Periods begin at multiples of `period` ticks.
    pub fn new(hosts: u32, period: i64) -> Self {
        let hosts = hosts as usize;
        Self { period, now: 0, sums: vec![0.0; hosts], reported: vec![0.0; hosts] }
    }

    /// Returns the reported utilization of each host, from 0 to 1.
    pub fn utilization(&self) -> &[f64] {
        &self.reported
    }

    /// Records the utilization until tick `until`. `used` contains the utilization of each host since the last call,
    /// from 0 to 1.
    pub fn record(&mut self, until: i64, used: impl Iterator<Item = f64>) {
        if self.period == 0 || until <= self.now {
            return;
        }
        let begin = until - until.rem_euclid(self.period);
        let over = begin > self.now;
        for ((sum, reported), used) in self.sums.iter_mut().zip(&mut self.reported).zip(used) {
            if over {
                let first_end = self.now - self.now.rem_euclid(self.period) + self.period;
                *sum += used * (first_end - self.now) as f64;
                // If several periods end, only the utilization of the last period is reported.
                *reported = match first_end < begin {
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

    /// Sets the reported utilization of each host if the period is 0; otherwise has no effect.
    pub fn set_current(&mut self, used: impl Iterator<Item = f64>) {
        if self.period == 0 {
            self.reported.iter_mut().zip(used).for_each(|(reported, used)| *reported = used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_the_last_whole_period() {
        let mut monitor = Monitor::new(1, 10);
        let mut after = |until, used| {
            monitor.record(until, [used].into_iter());
            monitor.utilization()[0]
        };
        assert_eq!(after(4, 1.0), 0.0);
        assert_eq!(after(10, 0.5), 0.7);
        assert_eq!(after(19, 0.0), 0.7);
        assert_eq!(after(22, 1.0), 0.1);
        // Two periods end, and the utilization of the second period is reported.
        assert_eq!(after(45, 0.25), 0.25);
        assert_eq!(after(50, 1.0), 0.625);
    }

    #[test]
    fn reports_the_current_utilization_without_a_period() {
        let mut monitor = Monitor::new(2, 0);
        monitor.record(7, [0.3, 0.4].into_iter());
        assert_eq!(monitor.utilization(), [0.0, 0.0]);
        monitor.set_current([0.3, 0.4].into_iter());
        assert_eq!(monitor.utilization(), [0.3, 0.4]);
    }
}
