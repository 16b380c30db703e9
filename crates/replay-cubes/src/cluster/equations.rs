//! Run time of a Barrier job that shares hosts with another job: Turner 1995, section 5.3.
//!
//! A Barrier job has a setup time and then runs in phases. In each phase, every process computes; all processes then
//! exchange a message with the barrier process. The equations describe one processor; all times have the same unit.

/// Parameters of a Barrier job in the equations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Phases {
    /// Setup time, s.
    pub setup: f64,
    /// Number of phases, p.
    pub count: f64,
    /// Computing time e per phase.
    pub compute: f64,
    /// Time δ for which a processor waits for messages in each phase.
    pub wait: f64,
}

impl Phases {
    /// Returns the run time of a job that runs without other jobs, or that has the highest priority on a preemptive
    /// kernel. With setup time s and p phases, the run time is s + p (e + δ) (equation 5.1).
    pub fn alone(&self) -> f64 {
        self.setup + self.count * (self.compute + self.wait)
    }

    /// Returns the run time on a non-preemptive kernel if the other job has equal priority and always computes. The run
    /// time is 2 s + p (2 e + δ + d) (equation 5.2). `delay` (d in the equation) is the remaining part of the other
    /// job's quantum when a message arrives.
    pub fn beside_equal(&self, delay: f64) -> f64 {
        2.0 * self.setup + self.count * (2.0 * self.compute + self.wait + delay)
    }

    /// Returns the run time under the conditions of [`beside_equal`](Self::beside_equal) on the processor of the
    /// barrier process. The barrier process hardly ever waits, so the run time is 2 (s + p e) (equation 5.3).
    pub fn beside_equal_at_barrier(&self) -> f64 {
        2.0 * (self.setup + self.count * self.compute)
    }

    /// Returns the run time on a non-preemptive kernel if the other job has lower priority and always computes. The run
    /// time is s + p (e + δ + d) (equation 5.4).
    pub fn above(&self, delay: f64) -> f64 {
        self.setup + self.count * (self.compute + self.wait + delay)
    }

    /// Returns the run time on a non-preemptive kernel if the other job is a Barrier job of lower priority and both
    /// barrier processes are on the same processor. The run time is s + p (e + (P - 1) d), because a quantum is lost at
    /// each of the P - 1 messages (equation 5.5). If the barrier processes are on different processors, the run time is
    /// between this value and [`alone`](Self::alone).
    pub fn above_barrier(&self, delay: f64, processes: u32) -> f64 {
        self.setup + self.count * (self.compute + f64::from(processes - 1) * delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_give_the_computed_values() {
        let phases = Phases { setup: 1.0, count: 10.0, compute: 2.0, wait: 0.5 };
        let values = [
            phases.alone(),
            phases.beside_equal(0.25),
            phases.beside_equal_at_barrier(),
            phases.above(0.25),
            phases.above_barrier(0.25, 6),
        ];
        assert_eq!(values, [26.0, 49.5, 42.0, 28.5, 33.5]);
    }
}
