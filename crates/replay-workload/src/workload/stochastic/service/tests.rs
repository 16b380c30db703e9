use super::*;
use crate::naming::StrategyName;
use proptest::prelude::*;

const THESIS: Service = Service::BoundedPareto { k: 15.0, q: 4241.0, alpha: 1.0 };

/// Returns the mean of a function of the service time, by numerical integration of the quantile function. Samples are
/// drawn from the same quantile function.
fn integral(service: &Service, value: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 1_000_000;
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    (0..STEPS).map(|i| value(service.quantile(middle(i)))).sum::<f64>() / f64::from(STEPS)
}

fn normal(mean: f64, sd: f64, low: f64, high: f64) -> Service {
    Service::TruncatedNormal { mean, sd, low, high }
}

#[test]
fn bounded_pareto_has_the_moments_of_the_thesis() {
    assert_eq!(THESIS.quantile(0.0), 15.0);
    assert!((THESIS.quantile(1.0 - f64::EPSILON / 2.0) - 4241.0).abs() < 1e-6);
    assert!((THESIS.quantile(0.5) - 29.894).abs() < 5e-4, "{}", THESIS.quantile(0.5));
    let mean = THESIS.mean();
    assert!((mean - 84.968).abs() < 5e-4, "{mean}");
    let variation = integral(&THESIS, |x| (x / mean - 1.0).powi(2));
    assert!((variation - 7.81).abs() < 5e-3, "{variation}");
}

#[test]
fn means_are_those_of_the_quantile_function() {
    for service in [
        Service::Exponential { mean: 83.0 },
        THESIS,
        Service::BoundedPareto { k: 2.0, q: 50.0, alpha: 0.3 },
        Service::BoundedPareto { k: 2.0, q: 50.0, alpha: 2.5 },
        normal(5.0, 2.0, 0.0, f64::INFINITY),
        normal(5.0, 2.0, 6.0, 7.0),
        normal(1.0, 3.0, 0.5, 20.0),
        Service::Deterministic { time: 4.25 },
    ] {
        let (mean, integral) = (service.mean(), integral(&service, |x| x));
        assert!((mean / integral - 1.0).abs() < 2e-5, "{service}: {mean} {integral}");
    }
    // The expected mean is computed with a table of the normal distribution: 5 + 2 * density(2.5) / (1 - 0.0062097).
    let mean = normal(5.0, 2.0, 0.0, f64::INFINITY).mean();
    assert!((mean - 5.035_276).abs() < 1e-5, "{mean}");
}

#[test]
fn truncated_normal_is_symmetric_where_its_interval_is() {
    let service = normal(5.0, 2.0, 1.0, 9.0);
    assert!((service.quantile(0.5) - 5.0).abs() < 1e-12);
    assert!((service.mean() - 5.0).abs() < 1e-12);
    // The argument 0.857611 is the probability of a time below mean + sd, given that the time is within two sd of the
    // mean: (0.84134 - 0.02275) / 0.95450.
    assert!((service.quantile(0.857_611) - 7.0).abs() < 1e-4);
}

#[test]
fn names_are_canonical() {
    for (text, canonical) in [
        ("exponential", "exponential[mean=1]"),
        ("exponential[mean=83]", "exponential[mean=83]"),
        ("pareto", "pareto[k=15,q=4241,alpha=1]"),
        ("bounded-pareto[alpha=1.5]", "pareto[k=15,q=4241,alpha=1.5]"),
        ("normal", "normal[mean=5,sd=2,low=0,high=inf]"),
        ("truncated-normal[high=1e1]", "normal[mean=5,sd=2,low=0,high=10]"),
        ("constant[time=.5]", "deterministic[time=0.5]"),
    ] {
        let service: Service = text.parse().expect(text);
        assert_eq!(service.to_string(), canonical);
    }
}

#[test]
fn impossible_service_times_are_refused() {
    for (text, problem) in [
        ("exponental", "unknown; did you mean \"exponential\"?"),
        ("exponential[mean=0]", "mean=\"0\" is not a positive number"),
        ("exponential[mean=inf]", "mean=\"inf\" is not a positive number"),
        ("exponential[mean=x]", "mean=\"x\" is not a positive number"),
        ("exponential[maen=1]", "unknown parameter \"maen\"; did you mean \"mean\"?"),
        ("pareto[k=NaN]", "k=\"NaN\" is not a positive number"),
        ("pareto[k=5,q=5]", "k is 5, but must be below q, 5"),
        ("pareto[alpha=-1]", "alpha=\"-1\" is not a positive number"),
        ("normal[low=-1]", "low is -1, but must be at least 0 and below high, inf"),
        ("normal[low=3,high=nan]", "low is 3, but must be at least 0 and below high, NaN"),
        ("normal[low=20]", "the probability between low and high is less than a millionth"),
        ("deterministic[time=0]", "time=\"0\" is not a positive number"),
    ] {
        assert_eq!(text.parse::<Service>().unwrap_err().problem, problem, "{text}");
    }
}

#[test]
fn the_listing_has_the_defaults() {
    for description in descriptions() {
        let bare: Service = description.name.parse().expect("a listed name");
        let mut name = StrategyName::plain(&description.name);
        for parameter in &description.parameters {
            name.set(parameter.key, &parameter.default);
        }
        assert_eq!(name.to_string().parse(), Ok(bare));
        for alias in description.aliases {
            assert_eq!(alias.parse(), Ok(bare));
        }
    }
}

/// Generates valid distributions of all kinds.
pub(in super::super) fn services() -> impl Strategy<Value = Service> {
    let time = || 0.001..1000.0;
    prop_oneof![
        time().prop_map(|mean| Service::Exponential { mean }),
        (time(), 1.01..100.0, 0.1..4.0).prop_map(|(k, ratio, alpha)| Service::BoundedPareto {
            k,
            q: k * ratio,
            alpha
        }),
        (time(), 0.01..2.0, 0.0..1.0, 0.1..9.0).prop_map(|(mean, spread, low, width)| {
            Service::TruncatedNormal {
                mean,
                sd: mean * spread,
                low: mean * low,
                high: mean * (low + width * spread),
            }
        }),
        time().prop_map(|time| Service::Deterministic { time }),
    ]
    .prop_filter("possible", |service| service.check().is_ok())
}

proptest! {
    #[test]
    fn print_and_parse_are_inverse(service in services()) {
        prop_assert_eq!(service.to_string().parse(), Ok(service));
    }

    #[test]
    fn quantiles_ascend_within_bounds(service in services(), a in 0.0..1.0, b in 0.0..1.0) {
        let [low, high] = [f64::min(a, b), f64::max(a, b)].map(|u| service.quantile(u));
        prop_assert!(low <= high && low >= 0.0 && high.is_finite(), "{low} {high}");
        match service {
            Service::BoundedPareto { k, q, .. } => prop_assert!(k <= low && high <= q),
            Service::TruncatedNormal { low: l, high: h, .. } => prop_assert!(l <= low && high <= h),
            _ => {}
        }
    }
}
