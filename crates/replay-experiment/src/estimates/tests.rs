use super::outcome::judged;
use super::*;
use replay_core::stop::Stop;
use replay_core::workload::{Policy, Window};

fn job(submit: i64, run: i64, size: u32, limit: Option<u32>) -> Job {
    Job { number: 0, submit, run, estimate: run, size, line: 0, shape: None, limit }
}

#[test]
fn sources_say_what_they_are_to() {
    let jobs: Vec<Job> =
        (0..400).map(|i| job(i, 100 + i, 1 + i as u32 % 3, Some(7 * i as u32 + 1))).collect();
    let of = |source: Source| source.limits(&jobs, 5);
    assert_eq!(of(Source::Log), Some(jobs.iter().map(|job| job.limit).collect()));
    assert_eq!(of(Source::Modelled), None, "the log has estimates");
    assert_eq!(of(Source::Oracle).expect("runs")[3], Some(103));
    let shuffled = of(Source::Shuffled).expect("estimates");
    assert_ne!(shuffled, of(Source::Log).expect("estimates"));
    for size in 1..=3 {
        let sorted = |limits: &[Option<u32>]| {
            let mut of_size: Vec<_> = limits
                .iter()
                .zip(&jobs)
                .filter(|(_, job)| job.size == size)
                .map(|(l, _)| *l)
                .collect();
            of_size.sort();
            of_size
        };
        assert_eq!(sorted(&shuffled), sorted(&of(Source::Log).expect("estimates")), "{size}");
    }
    let bare: Vec<Job> = jobs.iter().map(|job| Job { limit: None, ..*job }).collect();
    assert_eq!(Source::Log.limits(&bare, 5), None);
    let modelled = Source::Modelled.limits(&bare, 5).expect("no estimates");
    assert!(
        modelled.iter().zip(&bare).all(|(limit, job)| i64::from(limit.unwrap_or(0)) >= job.run)
    );
    assert!(modelled.iter().flatten().all(|limit| source::ROUND.contains(limit)));
    // x has mean 2: before rounding the mean is three times the run time.
    let mean = modelled
        .iter()
        .zip(&bare)
        .map(|(l, job)| f64::from(l.unwrap_or(0)) / job.run as f64)
        .sum::<f64>()
        / 400.0;
    assert!((3.0..6.0).contains(&mean), "{mean}");
}

/// Few blocks have no interval, and nothing is said of them.
#[test]
fn nothing_is_judged_without_an_interval() {
    let blocks = |days: i64| Blocks::new((0..days).map(|day| (day * 86_400, [1.0, 2.0])));
    assert_eq!(judged(true, 50.0, blocks(4).gain().interval), None);
    assert_eq!(blocks(5).gain().interval, [50.0, 50.0]);
    assert_eq!(judged(true, 28.55, [20.0, 30.0]), Some(true));
    let not = [(false, 28.55, 20.0), (true, 0.9, 0.1), (true, 28.55, -1.0)];
    assert!(not.iter().all(|&(knows, gain, low)| judged(knows, gain, [low, 30.0]) == Some(false)));
}

#[test]
fn classes_have_whole_sizes() {
    let jobs: Vec<Job> =
        (0..1000).map(|i| job(0, 1, [1, 2, 2, 2, 4, 8, 9, 10, 64, 65][i % 10], None)).collect();
    let with: Vec<u64> = jobs.iter().map(|job| if job.size == 64 { 30 } else { 9 }).collect();
    let found = classes(&jobs, &with, &[10; 1000]);
    assert_eq!(found.iter().map(|class| class.jobs).sum::<u64>(), 900);
    assert!(found.windows(2).all(|two| two[0].sizes[1] < two[1].sizes[0]));
    assert_eq!(found[0], Class { sizes: [2, 2], jobs: 300, gain: 10.0 });
    let worst = found.iter().find(|class| class.sizes == [64, 64]).expect("a class of its own");
    assert_eq!((worst.jobs, worst.gain), (100, -200.0));
}

/// The search with EF knows more vectors, and both winners are those of the first half.
#[test]
fn a_small_trace_is_studied_the_same_again() {
    let mut swf = String::from("; MaxProcs: 36\n");
    for i in 0..300 {
        let (run, size) = (100 + i * 37 % 900, 1 + i * 7 % 12);
        swf += &format!("{i} {} -1 {run} {size} -1 -1 {size} {}\n", i * 60, run * 2);
    }
    let workload = Workload::from_reader(
        swf.as_bytes(),
        "tiny.swf",
        &Policy::JOHNSON,
        &Window::ALL,
        Default::default(),
    );
    let scheduler = SchedulerSpec::fcfs();
    let workload = Arc::new(workload.expect("a trace"));
    let trace = Trace::new(workload, "6x6".parse().expect("a mesh"), "johnson", &[]);
    let setting = Setting { evaluations: 24, slacks: vec![Slack::NONE], seed: 3 };
    let stop = Stop::new();
    let run = |source| study(&trace, &scheduler, source, &setting, Watch::new(&stop));
    let finding = run(Source::Log).expect("no error").expect("estimates");
    let outcome = &finding.outcome;
    assert_eq!((outcome.jobs, outcome.known_percent, finding.used_share), (150, 100.0, 0.5));
    assert_eq!(outcome.winners[1].vector.ends, 0);
    assert!(outcome.first.iter().chain(&outcome.second).all(|mean| *mean > 0.0));
    assert!(finding.classes.iter().map(|class| class.jobs).sum::<u64>() < 150, "one processor");
    let again = run(Source::Log).expect("no error").expect("estimates");
    assert_eq!(format!("{finding:?}"), format!("{again:?}"));
    assert!(run(Source::Modelled).expect("no error").is_none());
}
