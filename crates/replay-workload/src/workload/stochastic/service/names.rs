//! Names of the distributions of service times.

use std::sync::LazyLock;

use super::{LEAST_MASS, Service, masses};
use crate::naming::{Description, Entry, Table, kind};

pub(super) static TABLE: LazyLock<Table<Service>> = LazyLock::new(|| {
    /// Expands to a function that borrows a parameter of one distribution.
    macro_rules! of {
        ($kind:ident, $field:ident) => {
            |service: &mut Service| match service {
                Service::$kind { $field, .. } => Some($field),
                _ => None,
            }
        };
    }
    let exponential = Entry::new("exponential", Service::Exponential { mean: 1.0 })
        .about("Exponential service times.")
        .source("Lo, Windisch, Liu, Nitzberg 1997")
        .case("mean", kind::positive(), "mean, time units", of!(Exponential, mean))
        .always();
    let pareto = Service::BoundedPareto { k: 15.0, q: 4241.0, alpha: 1.0 };
    let pareto = Entry::new("pareto", pareto)
        .aliases(&["bounded-pareto"])
        .about(
            "Bounded Pareto, a heavy tail: density proportional to x^(-alpha-1) from k to q. The defaults \
             have mean 84.968 and median 29.894.",
        )
        .source("Bani-Mohammad 2008, eq. 5.1")
        .case("k", kind::positive(), "shortest, time units", of!(BoundedPareto, k))
        .case("q", kind::positive(), "longest, time units", of!(BoundedPareto, q))
        .case(
            "alpha",
            kind::positive(),
            "tail index; a smaller index gives a heavier tail",
            of!(BoundedPareto, alpha),
        )
        .always()
        .check(|service| match *service {
            Service::BoundedPareto { k, q, .. } if k >= q => {
                Err(format!("k is {k}, but must be below q, {q}"))
            }
            _ => Ok(()),
        });
    let normal = Service::TruncatedNormal { mean: 5.0, sd: 2.0, low: 0.0, high: f64::INFINITY };
    let normal = Entry::new("normal", normal)
        .aliases(&["truncated-normal"])
        .about(
            "Normal, restricted to the interval from low to high; mean and sd apply before the restriction.",
        )
        .case("mean", kind::positive(), "mean, time units", of!(TruncatedNormal, mean))
        .case("sd", kind::positive(), "standard deviation, time units", of!(TruncatedNormal, sd))
        .case(
            "low",
            kind::typed("a number from 0"),
            "shortest, time units",
            of!(TruncatedNormal, low),
        )
        .case(
            "high",
            kind::typed("a number above low, or inf"),
            "longest, time units",
            of!(TruncatedNormal, high),
        )
        .always()
        .check(|service| match *service {
            Service::TruncatedNormal { low, high, .. } if !(low >= 0.0 && low < high) => {
                Err(format!("low is {low}, but must be at least 0 and below high, {high}"))
            }
            // The condition is written as a range, so that NaN is outside the range.
            Service::TruncatedNormal { mean, sd, low, high }
                if !(LEAST_MASS..).contains(&masses(mean, sd, low, high)[1]) =>
            {
                Err("the probability between low and high is less than a millionth"
                    .to_string())
            }
            _ => Ok(()),
        });
    let deterministic = Entry::new("deterministic", Service::Deterministic { time: 1.0 })
        .aliases(&["constant"])
        .about("The same service time for all jobs.")
        .case("time", kind::positive(), "service time, time units", of!(Deterministic, time))
        .always();
    Table::new("service", [exponential, pareto, normal, deterministic])
});

/// Returns descriptions of all distributions of service times.
#[must_use]
pub fn descriptions() -> Vec<Description> {
    TABLE.descriptions()
}
