//! Run time of a job on fewer processors.

use std::sync::LazyLock;

use replay_engine::naming::{Entry, Table, kind, spelled};

/// Relation between run time and number of processors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Speedup {
    /// Every fold multiplies the run time by the number of processes per processor: 2, or 4 for a square. Folding is
    /// even, so the busiest processor determines the run time (Chang and Mohapatra, sections 3.1 and 3.2).
    Folds,
    /// The product of run time and number of processors is constant.
    Linear,
    /// Amdahl's law: a fraction of the work is serial.
    Amdahl {
        /// Serial fraction of the run time on one processor, 0 to 1.
        serial: f64,
    },
    /// A. B. Downey, "A model for speedup of parallel programs", UC Berkeley, report CSD-97-933, 1997.
    Downey {
        /// Average parallelism as a multiple of the requested number of processors, 0.001 to 1000. An average
        /// parallelism below 1 is treated as 1.
        parallelism: f64,
        /// Variance of parallelism, 0 to 1000.
        sigma: f64,
    },
}

spelled!(Speedup, TABLE);

static TABLE: LazyLock<Table<Speedup>> = LazyLock::new(|| {
    let folds = Entry::new("folds", Speedup::Folds)
        .about("Twice the run time per fold, four times if a square is folded.")
        .source("Chang, Mohapatra 1996");
    let linear = Entry::new("linear", Speedup::Linear)
        .about("Run time inversely proportional to the number of processors.");
    let amdahl = Entry::new("amdahl", Speedup::Amdahl { serial: 0.05 })
        .about("Amdahl's law; the paper gives no default.")
        .case("serial", kind::number(0.0..=1.0), "serial fraction of the work", |s| match s {
            Speedup::Amdahl { serial } => Some(serial),
            _ => None,
        });
    let downey = Entry::new("downey", Speedup::Downey { parallelism: 1.0, sigma: 1.0 })
        .about("Downey's model; the paper gives no defaults.")
        .source("Downey 1997")
        .case(
            "parallelism",
            kind::number(0.001..=1000.0),
            "average parallelism divided by the requested processors",
            |s| match s {
                Speedup::Downey { parallelism, .. } => Some(parallelism),
                _ => None,
            },
        )
        .case("sigma", kind::number(0.0..=1000.0), "variance of parallelism", |s| match s {
            Speedup::Downey { sigma, .. } => Some(sigma),
            _ => None,
        });
    Table::new("speed-up", [folds, linear, amdahl, downey])
});

impl Speedup {
    /// Returns the ratio of the run time on `given` processors to the run time on `asked` processors. `ratio` is the
    /// number of processes per processor after folding.
    pub fn stretch(self, asked: u32, given: u32, ratio: u64) -> f64 {
        let (n, fewer) = (f64::from(asked), f64::from(given));
        match self {
            Speedup::Folds => ratio as f64,
            Speedup::Linear => n / fewer,
            Speedup::Amdahl { serial } => {
                let time = |processors: f64| serial + (1.0 - serial) / processors;
                time(fewer) / time(n)
            }
            Speedup::Downey { parallelism, sigma } => {
                let average = (parallelism * n).max(1.0);
                downey(average, sigma, n) / downey(average, sigma, fewer)
            }
        }
    }
}

/// Returns Downey's speed-up on `n` processors for a program with average parallelism `a`.
fn downey(a: f64, sigma: f64, n: f64) -> f64 {
    if sigma <= 1.0 {
        if n <= a {
            a * n / (a + sigma / 2.0 * (n - 1.0))
        } else if n <= 2.0 * a - 1.0 {
            a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
        } else {
            a
        }
    } else if n <= a + a * sigma - sigma {
        n * a * (sigma + 1.0) / (sigma * (n + a - 1.0) + a)
    } else {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn stretches_agree_with_manual_results() {
        // 5 x 4 becomes 3 x 4.
        assert_eq!(Speedup::Folds.stretch(20, 12, 2), 2.0);
        assert!(close(Speedup::Linear.stretch(20, 12, 2), 5.0 / 3.0));
        // The run times relative to one processor are 0.2 + 0.8 / 4 = 0.4 and 0.2 + 0.8 / 8 = 0.3.
        assert!(close(Speedup::Amdahl { serial: 0.2 }.stretch(8, 4, 2), 4.0 / 3.0));
        assert_eq!(Speedup::Amdahl { serial: 0.0 }.stretch(8, 4, 2), 2.0);
        assert_eq!(Speedup::Amdahl { serial: 1.0 }.stretch(8, 4, 2), 1.0);
    }

    #[test]
    fn downeys_model_agrees_with_known_values() {
        // Without variance, the speed-up is linear up to the average parallelism and constant beyond it.
        for n in 1..=16 {
            let n = f64::from(n);
            assert!(close(downey(8.0, 0.0, n), n.min(8.0)), "{n}");
        }
        // The formulas for low and for high variance agree at variance 1.
        for n in 1..=40 {
            let n = f64::from(n);
            let high = if n <= 15.0 { 16.0 * n / (n + 15.0) } else { 8.0 };
            assert!(close(downey(8.0, 1.0, n), high), "{n} {} {high}", downey(8.0, 1.0, n));
        }
        assert!(close(downey(8.0, 2.0, 22.0), 8.0));
        assert!(close(downey(8.0, 2.0, 8.0), 192.0 / 38.0));
        // The number of processors that this job requests is half of its average parallelism.
        let stretch = Speedup::Downey { parallelism: 2.0, sigma: 1.0 }.stretch(8, 4, 2);
        assert!(close(stretch, (32.0 * 8.0 / 39.0) / (32.0 * 4.0 / 35.0)));
    }

    proptest! {
        #[test]
        fn stretch_is_between_one_and_linear(
            asked in 1..2000u32, share in 0.0..1.0f64, serial in 0.0..=1.0f64,
            parallelism in 0.001..1000.0f64, sigma in 0.0..1000.0f64,
        ) {
            let given = (f64::from(asked) * share).ceil().max(1.0) as u32;
            let linear = Speedup::Linear.stretch(asked, given, 1);
            for speedup in [Speedup::Amdahl { serial }, Speedup::Downey { parallelism, sigma }] {
                let stretch = speedup.stretch(asked, given, 1);
                prop_assert!((1.0 - 1e-9..=linear * (1.0 + 1e-9)).contains(&stretch), "{speedup:?} {stretch}");
            }
        }
    }
}
