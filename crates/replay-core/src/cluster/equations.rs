//! How long a Barrier job takes beside another job: Turner 1995, section 5.3.
//!
//! A Barrier job sets itself up and then goes through phases: every process computes, then all
//! exchange a message with the barrier process. The equations are of one processor; all times have
//! one unit.

/// What the equations know of a Barrier job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Phases {
    /// Time to set up, s.
    pub setup: f64,
    /// Number of phases, p.
    pub count: f64,
    /// Time that one phase computes, e.
    pub compute: f64,
    /// Time that a processor waits for messages in a phase, δ.
    pub wait: f64,
}

impl Phases {
    /// Equation 5.1: alone, or with the highest priority on a preemptive kernel; s + p (e + δ).
    pub fn alone(&self) -> f64 {
        self.setup + self.count * (self.compute + self.wait)
    }

    /// Equation 5.2: beside a job that always computes, at equal priority on a kernel without
    /// preemption; 2 s + p (2 e + δ + d). `delay`, d, is what is left of the other job's quantum
    /// when the message comes.
    pub fn beside_equal(&self, delay: f64) -> f64 {
        2.0 * self.setup + self.count * (2.0 * self.compute + self.wait + delay)
    }

    /// Equation 5.3: the same on the processor of the barrier process, which never waits for long;
    /// 2 (s + p e).
    pub fn beside_equal_at_barrier(&self) -> f64 {
        2.0 * (self.setup + self.count * self.compute)
    }

    /// Equation 5.4: at higher priority than a job that always computes, on a kernel without
    /// preemption; s + p (e + δ + d).
    pub fn above(&self, delay: f64) -> f64 {
        self.setup + self.count * (self.compute + self.wait + delay)
    }

    /// Equation 5.5: at higher priority than another Barrier job whose barrier process is on the same
    /// processor, on a kernel without preemption; s + p (e + (P - 1) d): a quantum is lost at each of
    /// the P - 1 messages. With the barrier processes on different processors the time is between
    /// this and [`alone`](Self::alone).
    pub fn above_barrier(&self, delay: f64, processes: u32) -> f64 {
        self.setup + self.count * (self.compute + f64::from(processes - 1) * delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_values() {
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
