//! Usage of associations: charges of jobs, and decay (`priority_multifactor.c:_apply_new_usage`, `_apply_decay`).
//!
//! Between two calculations, each job adds the time that it ran, multiplied by its CPUs and decayed for this whole time.
//! At a calculation, all usage decays for the time since the last calculation before running jobs add theirs.

/// Decay of usage per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decay(f64);

impl Decay {
    /// Creates the decay with a half-life in minutes; 0 for no decay. Slurm's factor is 1 - 0.693 / half-life in
    /// seconds, in place of the natural logarithm of 2.
    pub fn of_half_life(minutes: u32) -> Self {
        match minutes {
            0 => Self(1.0),
            minutes => Self(1.0 - 0.693 / (f64::from(minutes) * 60.0)),
        }
    }

    /// Returns the factor of a time in seconds.
    pub fn over(self, seconds: i64) -> f64 {
        self.0.powf(seconds as f64)
    }
}

/// Usage of the users of a site, in decayed CPU seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Usage {
    decay: Decay,
    /// Usage by association; 0 for accounts.
    of_users: Vec<f64>,
}

/// What a running job is charged for each second: CPUs times the factor of its QOS.
pub type Rate = f64;

impl Usage {
    /// Creates usage 0 of `associations` associations.
    pub fn new(decay: Decay, associations: usize) -> Self {
        Self { decay, of_users: vec![0.0; associations] }
    }

    /// Returns the usage of each association; 0 for accounts.
    pub fn of_users(&self) -> &[f64] {
        &self.of_users
    }

    /// Sets the usage of an association.
    pub fn set(&mut self, association: usize, usage: f64) {
        self.of_users[association] = usage;
    }

    /// Lets all usage decay for a time in seconds.
    pub fn decay(&mut self, seconds: i64) {
        let factor = self.decay.over(seconds);
        self.of_users.iter_mut().for_each(|usage| *usage *= factor);
    }

    /// Charges a job that ran for `seconds` since it started, or since the last calculation.
    pub fn charge(&mut self, association: usize, seconds: i64, rate: Rate) {
        self.of_users[association] += seconds as f64 * self.decay.over(seconds) * rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_decays_for_the_time_it_was_used_and_only_then() {
        let day = Decay::of_half_life(1440);
        assert!((day.over(86_400) - 0.5).abs() < 1e-4);
        let mut usage = Usage::new(day, 3);
        usage.charge(2, 600, 4.0);
        let expected = 600.0 * 4.0 * (1.0 - 0.693 / 86_400.0_f64).powf(600.0);
        assert_eq!(usage.of_users(), [0.0, 0.0, expected]);
        usage.decay(300);
        assert_eq!(usage.of_users()[2], expected * day.over(300));
    }

    #[test]
    fn without_half_life_usage_is_conserved() {
        let mut usage = Usage::new(Decay::of_half_life(0), 1);
        usage.charge(0, 86_400, 2.0);
        usage.decay(1_000_000);
        assert_eq!(usage.of_users(), [172_800.0]);
    }
}
