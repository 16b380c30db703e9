use super::*;
use proptest::prelude::*;
use replay_engine::naming::StrategyName;

fn quota(text: &str) -> Quota {
    text.parse().expect("legal")
}

#[test]
fn an_exponential_quota_has_its_mean() {
    for (text, expected) in [
        // The mean of ceil(x) is 1 / (1 - e^(-1 / mean)).
        ("exponential[mean=5]", 5.5167),
        // The mean of round(x) is smaller by the factor e^(1 / 2 mean). Values that round to 0, a share of 1 - e^(-1 /
        // 2 mean), are replaced by 1.
        ("exponential[mean=5,round=nearest]", 4.9918 + 0.0952),
        ("exponential[mean=0.001]", 1.0),
        ("exponential[mean=3321]", 3321.5),
    ] {
        let quota = quota(text);
        let draws = (0..40_000).map(|job| quota.draw(9, job, 4));
        let (sum, least) =
            draws.fold((0.0, u64::MAX), |(sum, least), q| (sum + q as f64, least.min(q)));
        let mean = sum / 40_000.0;
        assert_eq!(least, 1);
        // The tolerance is five standard errors.
        assert!((mean / expected - 1.0).abs() < 0.025, "{text}: {mean}");
    }
}

#[test]
fn a_quota_may_count_for_each_process() {
    let (job, process) = (quota("exponential"), quota("exponential[per=process]"));
    for number in 0..50 {
        assert_eq!(process.draw(1, number, 7), 7 * job.draw(1, number, 7));
    }
    assert_eq!(Quota { per: Per::Process, ..Quota::fixed(u64::MAX) }.draw(1, 1, 3), u64::MAX);
}

#[test]
fn a_larger_mean_stretches_the_same_numbers() {
    let (small, large) = (quota("exponential[mean=100]"), quota("exponential[mean=200]"));
    for job in 0..100 {
        let (small, large) = (small.draw(4, job, 1), large.draw(4, job, 1));
        assert!((2 * small - 2..=2 * small).contains(&large), "{small} {large}");
    }
}

#[test]
fn refuses_invalid_quotas() {
    for (text, problem) in [
        ("exponental", "unknown; did you mean \"exponential\"?"),
        ("exponential[mean=0]", "mean=\"0\" is not a number above 0, at most 1000000000"),
        ("exponential[mean=inf]", "mean=\"inf\" is not a number above 0, at most 1000000000"),
        ("exponential[mean=many]", "mean=\"many\" is not a number above 0, at most 1000000000"),
        ("fixed[packets=0]", "packets=\"0\" is not an integer from 1 to 1000000000"),
        (
            "fixed[packets=1000000001]",
            "packets=\"1000000001\" is not an integer from 1 to 1000000000",
        ),
        ("fixed[mean=2]", "unknown parameter \"mean\"; known are packets, per"),
        ("fixed[per=node]", "per=\"node\" is not one of job, process"),
    ] {
        let error = text.parse::<Quota>().expect_err(text);
        assert_eq!(error.to_string(), format!("quota \"{text}\": {problem}"));
    }
}

#[test]
fn listings_have_valid_names_and_defaults() {
    for entry in Quota::descriptions() {
        let mut name = StrategyName::plain(&entry.name);
        assert!(name.to_string().parse::<Quota>().is_ok());
        for parameter in &entry.parameters {
            name.set(parameter.key, &parameter.default);
        }
        assert_eq!(
            name.to_string().parse::<Quota>(),
            entry.name.parse(),
            "defaults of {}",
            entry.name
        );
    }
}

proptest! {
    #[test]
    fn print_and_parse_are_inverse(
        mean in 1e-9f64..1e9, packets in 1..=MOST_PACKETS, nearest: bool, process: bool, fixed: bool,
    ) {
        let rounding = if nearest { Rounding::Nearest } else { Rounding::Up };
        let law = if fixed { Law::Fixed { packets } } else { Law::Exponential { mean, rounding } };
        let quota = Quota { law, per: if process { Per::Process } else { Per::Job } };
        prop_assert_eq!(quota.to_string().parse(), Ok(quota));
    }
}
