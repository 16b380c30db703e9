//! Totals of the packets of all jobs of a run, averaged over packets or over jobs.

use replay_network::traffic::JobTraffic;

/// Sums over the jobs that have ended. Jobs that sent no packets are not included in means.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Totals {
    /// Number of packets that were sent; all of them were delivered.
    pub packets: u64,
    /// Number of jobs that sent packets.
    pub sending: u64,
    /// Latency in cycles.
    pub latency: Sums,
    /// Waiting times of the packet headers in cycles.
    pub blocking: Sums,
    /// Number of links crossed.
    pub hops: Sums,
}

/// Sums of a measure of packets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sums {
    over_packets_sum: u64,
    /// Sum of the means of the jobs.
    over_jobs_sum: f64,
}

impl Totals {
    /// Adds a job that has ended.
    pub fn add(&mut self, job: &JobTraffic) {
        if job.packets == 0 {
            return;
        }
        self.packets += job.packets;
        self.sending += 1;
        let sums = [&mut self.latency, &mut self.blocking, &mut self.hops];
        for (sums, of_job) in sums.into_iter().zip([job.latency, job.blocked, job.hops]) {
            sums.over_packets_sum += of_job;
            sums.over_jobs_sum += of_job as f64 / job.packets as f64;
        }
    }

    /// Returns the mean over packets: each job is weighted by its number of packets. Returns NaN if there are no
    /// packets.
    pub fn over_packets(&self, sums: Sums) -> f64 {
        sums.over_packets_sum as f64 / self.packets as f64
    }

    /// Returns the mean of the means of the sending jobs: each job has the same weight. Returns NaN if no job sent
    /// packets.
    pub fn over_jobs(&self, sums: Sums) -> f64 {
        sums.over_jobs_sum / self.sending as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_jobs_by_packets_or_equally() {
        let job = |packets, latency, blocked, hops| JobTraffic {
            packets,
            latency,
            blocked,
            hops,
            ..JobTraffic::default()
        };
        let mut totals = Totals::default();
        assert!(totals.over_packets(totals.latency).is_nan());
        assert!(totals.over_jobs(totals.latency).is_nan());
        [job(1, 31, 4, 1), job(3, 300, 0, 15), job(0, 0, 0, 0)]
            .iter()
            .for_each(|job| totals.add(job));
        assert_eq!((totals.packets, totals.sending), (4, 2));
        let both = |sums| (totals.over_packets(sums), totals.over_jobs(sums));
        assert_eq!(both(totals.latency), (331.0 / 4.0, (31.0 + 100.0) / 2.0));
        assert_eq!(both(totals.blocking), (1.0, 2.0));
        assert_eq!(both(totals.hops), (4.0, 3.0));
    }
}
