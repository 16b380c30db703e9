use super::*;
use replay_engine::topology::Topology;
use replay_slurm::placement::menu::{Anchors, Menu};

fn bench(machine: &str, menu: &str) -> Bench {
    let topology: Topology = machine.parse().expect("a machine");
    let menu: Menu = menu.parse().expect("a menu");
    Bench::new(&topology, &menu, Anchors::Aligned, false).expect("a torus")
}

fn job(size: u32, service: f64) -> Job {
    Job { size, service, estimate: service }
}

/// The machine is a ring of 4 processors; the boxes have 2 or 4 processors. Two jobs of size 2 start at time 0. The
/// first job ends at time 1, and the second job ends at time 3. The job of size 4 runs from time 3 to time 4. Then the
/// last job starts, and the window cannot be refilled. The number of busy processors is 4 from time 0 to 1, 2 from time
/// 1 to 3, and 4 from time 3 to 4.
#[test]
fn matches_a_small_example() {
    let bench = bench("torus:4x1x1", "list:2x1x1+4x1x1");
    let jobs = [job(2, 1.0), job(2, 3.0), job(4, 1.0), job(2, 9.0)];
    let stop = CancelToken::new();
    for rule in [Rule::Count, Rule::First, Rule::SLURM] {
        let first = bench.run(&jobs, rule, 1, RunContext::new(&stop)).expect("runs");
        assert!((first - 12.0 / 16.0).abs() < 1e-12, "{rule:?}: {first}");
    }
    // With a window of 2, the last job starts at time 1, before the job of size 4, and the stream ends.
    let second = bench.run(&jobs, Rule::First, 2, RunContext::new(&stop)).expect("runs");
    assert!((second - 1.0).abs() < 1e-12, "{second}");
}

#[test]
fn count_bounds_all_rules_and_estimates_do_not_change_jobs() {
    let bench = bench("torus:8x8x8", "pow2");
    let draw = |estimates| Mix::ALL[1].1.draw(bench.torus(), 300, estimates, 7);
    let [exact, noisy, shuffled] = Estimates::ALL.map(|(_, one)| draw(one).expect("sizes"));
    let stripped =
        |jobs: &[Job]| jobs.iter().map(|job| (job.size, job.service)).collect::<Vec<_>>();
    assert_eq!(stripped(&exact), stripped(&noisy));
    assert_eq!(stripped(&exact), stripped(&shuffled));
    assert!(exact.iter().all(|job| job.estimate == job.service));
    assert!(noisy.iter().all(|job| job.estimate >= job.service));
    assert!(exact.iter().zip(&shuffled).any(|(a, b)| a.estimate != b.estimate));
    let stop = CancelToken::new();
    let run = |rule| bench.run(&exact, rule, 4, RunContext::new(&stop)).expect("runs");
    let bound = run(Rule::Count);
    for (name, rule) in Rule::ALL {
        let utilization = run(rule);
        // With a window, the utilization of a rule can exceed the bound slightly. The bound on the utilization holds on
        // average.
        assert!((0.3..bound + 0.05).contains(&utilization), "{name}: {utilization} of {bound}");
    }
    stop.raise();
    assert_eq!(bench.run(&exact, Rule::First, 4, RunContext::new(&stop)), Err(Cancelled));
}

#[test]
fn mixes_use_sizes_on_the_menu() {
    let bench = bench("torus:16x16x16", "tpu-v4");
    for (name, mix) in Mix::ALL {
        let jobs = mix.draw(bench.torus(), 200, Estimates::Exact, 1).expect(name);
        let sizes = bench.torus().placements();
        assert!(jobs.iter().all(|job| sizes.iter().any(|one| one.size == job.size)), "{name}");
        assert_eq!(mix.name(), name);
    }
    // The published slices are 97.5 % of all jobs, and 96.1 % of the published slices fit the torus.
    let jobs = Mix::ALL[0].1.draw(bench.torus(), 20_000, Estimates::Exact, 1).expect("sizes");
    let cubes = jobs.iter().filter(|job| job.size == 64).count() as f64 / 20_000.0;
    assert!((cubes - 13.9 / 96.1).abs() < 0.01, "{cubes}");
}

/// Ids do not change, so that journals of earlier builds remain valid; see the ids of other experiments.
#[test]
fn ids_match_earlier_builds() {
    let backlog =
        Backlog { mix: Mix::ALL[1].1, estimates: Estimates::Noisy, window: 16, jobs: 800 };
    let (boxes, rule) = ("torus:8x8x8 pow2 aligned", StopRule::exactly(10));
    let setting = Setting { backlog, rule: Rule::DELAY };
    let ids = format!(
        "backlog {}\nbacklog search {}\n",
        setting.id(boxes, 7, &rule),
        backlog.search_id(boxes, 7, 10)
    );
    let pinned = include_str!("../../../tests/golden/ids.txt");
    let pinned: String =
        pinned.split_inclusive('\n').filter(|line| line.starts_with("backlog ")).collect();
    assert_eq!(ids, pinned);
}
