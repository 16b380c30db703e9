//! The multifactor priority of a job (`priority_multifactor.c:_get_priority_internal`).
//!
//! All functions are pure. Factors are between 0 and 1 unless the flag `NO_NORMAL_...` of the factor is set.

use crate::conf::PrioritySettings;

/// The factors of a job in one partition.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Factors {
    /// Waiting time relative to `PriorityMaxAge`.
    pub age: f64,
    /// Priority of the association.
    pub assoc: f64,
    /// Fair share of the association.
    pub fairshare: f64,
    /// Size of the job.
    pub size: f64,
    /// `PriorityJobFactor` of the partition.
    pub partition: f64,
    /// Priority of the QOS.
    pub qos: f64,
    /// CPUs relative to the partition, or their number.
    pub tres_cpu: f64,
    /// Nodes relative to the partition, or their number.
    pub tres_node: f64,
    /// Nice value of the job, which is subtracted.
    pub nice: f64,
}

/// Nodes and CPUs of a job, a partition or a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resources {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of CPUs.
    pub cpus: u64,
}

/// Returns the age factor of a job that has waited for `waited` seconds since it became eligible.
pub fn age_factor(settings: &PrioritySettings, waited: i64) -> f64 {
    let max_age = f64::from(settings.max_age) * 60.0;
    (waited.max(0) as f64 / max_age).min(1.0)
}

/// Returns the size factor of a job on a machine. `limit` is the time limit of the job in minutes.
pub fn size_factor(
    settings: &PrioritySettings,
    job: Resources,
    machine: Resources,
    limit: u32,
) -> f64 {
    let [n, c, all_nodes, all_cpus] =
        [job.nodes, job.cpus, machine.nodes, machine.cpus].map(|count| count as f64);
    let factor = if settings.small_relative_to_time {
        let cpus = (n * all_cpus / all_nodes).max(c);
        let factor = cpus / f64::from(limit.max(1)) / all_cpus;
        if settings.favor_small { 1.0 - factor } else { factor }
    } else if settings.favor_small {
        ((all_nodes - n) / all_nodes + (all_cpus - c) / all_cpus) / 2.0
    } else {
        (n / all_nodes + c / all_cpus) / 2.0
    };
    factor.clamp(0.0, 1.0)
}

/// Returns the factor of a value relative to the largest value; the value itself if `is_raw`.
pub fn relative(value: u32, largest: u32, is_raw: bool) -> f64 {
    match (is_raw, value) {
        (true, value) => f64::from(value),
        (false, 0) => 0.0,
        (false, value) => f64::from(value) / f64::from(largest.max(value)),
    }
}

/// Returns the factors of the CPUs and nodes of a job relative to those of a partition; the numbers themselves if the
/// flag `NO_NORMAL_TRES` is set.
pub fn tres_factors(settings: &PrioritySettings, job: Resources, partition: Resources) -> [f64; 2] {
    let factor = |count: u64, all: u64| match settings.raw_tres {
        true => count as f64,
        false => count as f64 / all.max(1) as f64,
    };
    [factor(job.cpus, partition.cpus), factor(job.nodes, partition.nodes)]
}

/// Returns the priority: the weighted sum of the factors in double precision, at least 1, truncated, at most 2^32 - 1.
pub fn priority(settings: &PrioritySettings, factors: &Factors) -> u32 {
    let weights = &settings.weights;
    let mut sum = factors.age * f64::from(weights.age);
    sum += factors.assoc * f64::from(weights.assoc);
    sum += factors.fairshare * f64::from(weights.fairshare);
    sum += factors.size * f64::from(weights.size);
    sum += factors.partition * f64::from(weights.partition);
    sum += factors.qos * f64::from(weights.qos);
    sum += factors.tres_cpu * f64::from(weights.tres_cpu);
    sum += factors.tres_node * f64::from(weights.tres_node);
    sum -= factors.nice;
    // A conversion saturates at the largest number.
    sum.max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::Weights;

    /// The largest values of a site: the factor of a partition, the priorities of a QOS and of an association.
    #[derive(Clone, Copy, Default)]
    struct Largest {
        partition: u32,
        qos: u32,
        assoc: u32,
    }

    /// A job of a printed example. Pairs are nodes and CPUs.
    #[derive(Clone, Copy, Default)]
    struct Example {
        job: (u64, u64),
        machine: (u64, u64),
        partition: (u64, u64),
        limit: u32,
        factor: u32,
        qos: u32,
        assoc: u32,
        fairshare: f64,
        waited: i64,
        nice: f64,
    }

    fn of(settings: &PrioritySettings, largest: Largest, example: Example) -> u32 {
        let pair = |(nodes, cpus)| Resources { nodes, cpus };
        let (job, machine) = (pair(example.job), pair(example.machine));
        let [tres_cpu, tres_node] = tres_factors(settings, job, pair(example.partition));
        let factors = Factors {
            age: age_factor(settings, example.waited),
            assoc: relative(example.assoc, largest.assoc, settings.raw_assoc),
            fairshare: example.fairshare,
            size: size_factor(settings, job, machine, example.limit),
            partition: relative(example.factor, largest.partition, settings.raw_partition),
            qos: relative(example.qos, largest.qos, settings.raw_qos),
            tres_cpu,
            tres_node,
            nice: example.nice,
        };
        priority(settings, &factors)
    }

    #[test]
    fn priorities_are_those_that_controllers_printed() {
        let one = Example {
            job: (3, 3),
            machine: (6, 6),
            partition: (6, 6),
            limit: 1440,
            ..Example::default()
        };
        let settings =
            |weights: Weights| PrioritySettings { weights, ..PrioritySettings::default() };
        let first = settings(Weights {
            age: 100_000,
            fairshare: 100_000,
            partition: 1000,
            qos: 2000,
            ..Weights::default()
        });
        let largest = Largest { partition: 10, qos: 10, assoc: 0 };
        let example = Example { factor: 10, qos: 5, fairshare: 1.0, ..one };
        assert_eq!(of(&first, largest, example), 102_000);
        let example = Example { factor: 10, qos: 10, fairshare: 0.375, nice: 5000.0, ..one };
        assert_eq!(of(&first, largest, example), 35_500);

        let small = PrioritySettings {
            favor_small: true,
            ..settings(Weights { fairshare: 100_000, size: 777, ..Weights::default() })
        };
        let example = Example { job: (2, 8), machine: (7, 28), fairshare: 1.0, ..one };
        assert_eq!(of(&small, Largest::default(), example), 100_555);

        let many = settings(Weights {
            assoc: 500,
            size: 777,
            partition: 1000,
            qos: 2000,
            tres_cpu: 1000,
            ..Weights::default()
        });
        let example = Example {
            job: (5, 10),
            machine: (12, 24),
            partition: (5, 10),
            factor: 10,
            qos: 5,
            assoc: 3,
            nice: -50.0,
            ..one
        };
        assert_eq!(of(&many, Largest { partition: 10, qos: 5, assoc: 10 }, example), 4523);

        let by_time = PrioritySettings {
            small_relative_to_time: true,
            ..settings(Weights {
                fairshare: 100_000,
                size: 777,
                tres_cpu: 500,
                tres_node: 3000,
                ..Weights::default()
            })
        };
        let example = Example {
            job: (7, 7),
            machine: (7, 28),
            partition: (7, 28),
            limit: 5,
            fairshare: 0.75,
            ..one
        };
        assert_eq!(of(&by_time, Largest::default(), example), 78_280);

        let raw = PrioritySettings {
            raw_partition: true,
            raw_qos: true,
            ..settings(Weights {
                age: 1000,
                fairshare: 12_345,
                size: 50_000,
                partition: 333,
                qos: 100_001,
                ..Weights::default()
            })
        };
        let example = Example {
            job: (10, 10),
            machine: (10, 10),
            factor: 10,
            qos: 5,
            fairshare: 0.375,
            waited: 59,
            ..one
        };
        assert_eq!(of(&raw, Largest::default(), example), 557_964);
    }

    #[test]
    fn priorities_stay_within_32_bits() {
        let settings = PrioritySettings {
            weights: Weights { age: u32::MAX, qos: u32::MAX, ..Weights::default() },
            ..PrioritySettings::default()
        };
        let most = Factors { age: 1.0, qos: 1.0, ..Factors::default() };
        assert_eq!(priority(&settings, &most), u32::MAX);
        assert_eq!(priority(&settings, &Factors { nice: 1e6, ..Factors::default() }), 1);
        assert_eq!(priority(&settings, &Factors::default()), 1);
    }

    #[test]
    fn small_jobs_with_time_are_clamped() {
        let settings = PrioritySettings {
            small_relative_to_time: true,
            favor_small: true,
            ..Default::default()
        };
        let whole = Resources { nodes: 4, cpus: 4 };
        assert_eq!(size_factor(&settings, whole, whole, 1), 0.0);
        assert_eq!(size_factor(&settings, whole, whole, 0), 0.0);
        assert_eq!(size_factor(&settings, whole, whole, 4), 0.75);
    }
}
