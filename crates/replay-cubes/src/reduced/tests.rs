use proptest::prelude::*;

use crate::reduced::*;
use replay_contract::check_names;
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::SystemRecorder;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Overhead, Simulation, SimulationError, Starts};
use replay_engine::workload::Job;

fn build(name: &str, machine: &str) -> (Box<dyn Allocator>, Machine) {
    let topology: Topology = machine.parse().expect("a machine");
    let spec = crate::allocator(name).expect("a strategy");
    (spec.build(&topology, 1).expect("it works there"), Machine::new(topology))
}

/// Allocates a request and occupies its processors; returns processors, folds and stretch.
fn serve(
    allocator: &mut dyn Allocator,
    machine: &mut Machine,
    size: u32,
) -> Option<(usize, u32, f64)> {
    let mut chosen = Vec::new();
    let request = Request::of_size(size);
    allocator.allocate(machine, request, &mut chosen).ok()?;
    let reduction = allocator.stats().reduction;
    machine.occupy(&chosen);
    Some((chosen.len(), reduction.map_or(0, |r| r.folds), reduction.map_or(1.0, |r| r.stretch)))
}

#[test]
fn a_refused_job_is_folded_at_most_t_times() {
    for (t, expected) in [(1, None), (2, Some((4, 2, 4.0))), (3, Some((4, 2, 4.0)))] {
        let (mut rsr, mut machine) = build(&format!("rsr[t={t}]"), "hypercube:4");
        assert_eq!(serve(rsr.as_mut(), &mut machine, 8), Some((8, 0, 1.0)));
        assert_eq!(serve(rsr.as_mut(), &mut machine, 4), Some((4, 0, 1.0)));
        // Four of sixteen processors are free.
        assert_eq!(rsr.bounds(Request::of_size(16)).min_processors, 16 >> t);
        assert_eq!(serve(rsr.as_mut(), &mut machine, 16), expected, "{t}");
        assert_eq!(rsr.stats().refused_sizes, Some(2));
    }
}

#[test]
fn greedy_folds_down_to_one_processor() {
    let (mut greedy, mut machine) = build("greedy-limit[inner=cube-buddy]", "hypercube:4");
    for size in [8, 4, 2, 1] {
        assert_eq!(serve(greedy.as_mut(), &mut machine, size), Some((size as usize, 0, 1.0)));
    }
    assert_eq!(serve(greedy.as_mut(), &mut machine, 16), Some((1, 4, 16.0)));
    assert_eq!(serve(greedy.as_mut(), &mut machine, 1), None);
}

#[test]
fn a_limit_applies_on_an_idle_machine() {
    let (mut limit, mut machine) = build("limit[k=2,inner=cube-buddy]", "hypercube:7");
    assert_eq!(serve(limit.as_mut(), &mut machine, 128), Some((4, 5, 32.0)));
    assert_eq!(serve(limit.as_mut(), &mut machine, 3), Some((4, 0, 1.0)));
    assert_eq!(limit.bounds(Request::of_size(128)).min_processors, 4);
}

#[test]
fn an_average_limit_follows_the_jobs_in_the_system() {
    let (mut average, mut machine) = build("average-limit[inner=cube-buddy]", "hypercube:7");
    let [large, small] = [64, 4].map(Request::of_size);
    for request in [large, small] {
        average.on_event(&machine, MachineEvent::JobQueued(request));
    }
    // The mean of the dimensions 6 and 2 is 4.
    assert_eq!(serve(average.as_mut(), &mut machine, 64), Some((16, 2, 4.0)));
    average.on_event(&machine, MachineEvent::JobFinished(large));
    assert_eq!(serve(average.as_mut(), &mut machine, 64), Some((4, 4, 16.0)));
}

#[test]
fn squares_lose_three_quarters_and_run_four_times_as_long() {
    let (mut rsr, mut machine) = build("rsr[inner=buddy]", "4x4");
    assert_eq!(serve(rsr.as_mut(), &mut machine, 1), Some((1, 0, 1.0)));
    assert_eq!(serve(rsr.as_mut(), &mut machine, 9), Some((4, 1, 4.0)));
}

#[test]
fn strategies_that_never_refuse_need_extend() {
    let topology: Topology = "4x4".parse().expect("a mesh");
    let built = |name: &str| {
        let spec = crate::allocator(name).expect("a strategy");
        spec.build(&topology, 1).map(drop).map_err(|error| error.to_string())
    };
    assert!(built("rsr[inner=random]").expect_err("never refuses").contains("extend=yes"));
    assert!(built("rsr[inner=rsr]").expect_err("twice").contains("already folds jobs"));
    assert_eq!(built("limit[k=3,inner=random]"), Ok(()));
    let (mut extended, mut machine) = build("rsr[extend=yes,inner=random]", "4x4");
    assert_eq!(serve(extended.as_mut(), &mut machine, 12), Some((12, 0, 1.0)));
    assert_eq!(serve(extended.as_mut(), &mut machine, 7), Some((4, 1, 2.0)));
}

#[test]
fn names_have_one_canonical_form() {
    let canonical = [
        ("rsr[t=1]", "rsr"),
        ("rsr[inner=fl,t=2]", "rsr[t=2,inner=cube-free-list]"),
        ("rsr[speedup=amdahl]", "rsr[speedup=amdahl]"),
        ("limit[k=5]", "limit"),
        ("limit[inner=paging[size=1],k=3]", "limit[k=3,inner=paging[size=1]]"),
        ("average-limit[speedup=folds]", "average-limit"),
        ("rsr[speedup=amdahl[serial=0]]", "rsr[speedup=amdahl[serial=0]]"),
        ("rsr[speedup=amdahl[serial=-0]]", "rsr[speedup=amdahl[serial=0]]"),
        ("rsr[speedup=downey[sigma=0.0]]", "rsr[speedup=downey[sigma=0]]"),
    ];
    let invalid = [
        ("rsr[t=0]", "not an integer from 1 to 64"),
        ("rsr[inner=frist-fit]", "did you mean"),
        ("limit[extend=yes]", "unknown parameter"),
        ("rsr[speedup=amdahl[serial=2]]", "serial=\"2\" is not a number from 0 to 1"),
        ("rsr[speedup=amdahl[serial=-0.1]]", "not a number from 0 to 1"),
        ("rsr[speedup=downey[sigma=-1]]", "not a number from 0 to 1000"),
        ("rsr[speedup=downey[parallelism=1e300]]", "not a number from 0.001 to 1000"),
        ("rsr[speedup=downey[parallelism=0]]", "not a number from 0.001 to 1000"),
    ];
    check_names(crate::allocator, &canonical, &invalid);
}

#[test]
fn rejects_a_limit_that_never_folds() {
    for (machine, most) in
        [("4x4", 3), ("5x4", 4), ("hypercube:7", 7), ("cluster:100x2", 6), ("2x1", 0)]
    {
        let topology: Topology = machine.parse().expect("a machine");
        let built = |k: u32| {
            let spec = crate::allocator(&format!("limit[k={k}]")).expect("a strategy");
            spec.build(&topology, 1).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(built(most), Ok(()), "{machine}");
        let error = built(most + 1).expect_err(machine);
        let advice = format!("folds no job: k={} allows", most + 1);
        assert!(error.contains(&advice) && error.contains(&format!("at most {most}")), "{error}");
        built(15).expect_err(machine);
    }
    let one: Topology = "1x1".parse().expect("a machine");
    let spec = crate::allocator("limit[k=0]").expect("a strategy");
    assert!(spec.build(&one, 1).is_err());
}

#[test]
fn defaults_have_the_identity_of_explicit_values() {
    for (machine, short, long) in [
        ("8x8", "rsr", "rsr[inner=first-fit]"),
        ("hypercube:6", "rsr[t=2]", "rsr[t=2,inner=cube-buddy]"),
        ("cluster:8x2", "average-limit", "average-limit[inner=elmer]"),
    ] {
        let topology: Topology = machine.parse().expect("a machine");
        let on_it = |name: &str| crate::allocator(name).expect("a strategy").on(&topology);
        let (short, long) = (on_it(short), on_it(long));
        assert_eq!((short.to_string(), short.identity()), (long.to_string(), long.identity()));
    }
}

/// A strategy may be tried before enough processors for a folded size are free; such an attempt
/// does not count as a refusal.
#[test]
fn too_early_attempts_are_not_counted_as_refusals() {
    let jobs: Vec<Job> = (0..60).map(|i| job(i + 1, i, 7, 1 + (5 * i as u32) % 16)).collect();
    for (name, refuses) in
        [("average-limit[inner=random]", false), ("average-limit[inner=cube-buddy]", true)]
    {
        let (recorder, overhead) = run(&jobs, name, "hypercube:4").expect("it runs");
        let system = recorder.metrics(0, 16, &overhead);
        // If no attempt had failed, the test would check nothing.
        assert!(overhead.attempts > jobs.len() as u64, "{name} {overhead:?}");
        assert_eq!(system.fragmentation.refusals > 0, refuses, "{name} {system:?}");
        assert_eq!(system.folding.refused_sizes, Some(system.fragmentation.refusals), "{name}");
    }
}

/// A job larger than the machine runs if it is folded to a size that fits.
#[test]
fn a_job_larger_than_the_machine_runs_if_folded() {
    let jobs = [job(1, 0, 10, 128)];
    for (name, machine, size, end) in [
        ("limit[k=4]", "hypercube:5", 16, 80),
        ("rsr[t=2]", "hypercube:5", 32, 40),
        ("limit[k=3]", "4x4", 8, 160),
        ("limit[k=4,speedup=linear]", "cluster:32", 16, 80),
        // With a single job, the mean dimension is the dimension of this job.
        ("average-limit", "hypercube:5", 32, 40),
        ("average-limit", "4x4", 16, 80),
    ] {
        let (mut allocator, _) = build(name, machine);
        let request = Request::of_size(128);
        assert!(
            allocator.bounds(request).min_processors <= 32 && allocator.bounds(request).servable,
            "{name}"
        );
        let (recorder, _) = run(&jobs, name, machine).expect("it runs");
        assert_eq!(recorder.ends(), [end], "{name}");
        let served = replay_engine::metrics::system::as_served(&jobs, &recorder);
        assert_eq!(served[0].size, size, "{name}");
    }
    assert!(run(&jobs, "rsr[t=1]", "hypercube:5").is_err());
}

fn run(
    jobs: &[Job],
    name: &str,
    machine: &str,
) -> Result<(SystemRecorder, Overhead), SimulationError> {
    let (mut allocator, machine) = build(name, machine);
    let topology = machine.topology().clone();
    let (stop, mut recorder) = (CancelToken::new(), SystemRecorder::new(jobs.len()));
    let mut scheduler = SchedulerSpec::fcfs().build(topology.processors() as u32);
    let simulation = Simulation::new(jobs, &topology, &stop).with_every_event();
    let starts = Starts::Scheduler(scheduler.as_mut());
    let overhead = simulation.run(starts, allocator.as_mut(), &mut recorder)?;
    Ok((recorder, overhead))
}

fn job(number: i64, submit: i64, run: i64, size: u32) -> Job {
    Job { number, ..Job::exact(submit, run, size) }
}

/// Without folding, the second job would wait for the first job. After one fold, the second job
/// runs twice as long on half the processors.
#[test]
fn a_folded_job_starts_early_and_runs_longer() {
    let jobs = [job(1, 0, 100, 4), job(2, 0, 10, 8)];
    let (plain, overhead) = run(&jobs, "cube-buddy", "hypercube:3").expect("it runs");
    assert_eq!((plain.starts(), plain.ends()), (&[0, 100][..], &[100, 110][..]));
    assert_eq!(plain.metrics(0, 8, &overhead).folding.folded_percent, None);
    let (folded, overhead) = run(&jobs, "rsr", "hypercube:3").expect("it runs");
    assert_eq!((folded.starts(), folded.ends()), (&[0, 0][..], &[100, 20][..]));
    let system = folded.metrics(0, 8, &overhead);
    assert_eq!(system.fragmentation.utilization, (4.0 * 100.0 + 4.0 * 20.0) / 800.0);
    assert_eq!(
        (system.folding.refused_sizes, system.folding.folded_percent),
        (Some(1), Some(50.0))
    );
    assert_eq!(
        (system.folding.mean_fold_stretch, system.folding.lost_efficiency_percent),
        (Some(2.0), Some(0.0))
    );
    // Amdahl's law with a serial fraction of one half. Relative to one processor, the run time is
    // 0.625 on 4 processors and 0.5625 on 8.
    let (half, overhead) =
        run(&jobs, "rsr[speedup=amdahl[serial=0.5]]", "hypercube:3").expect("it runs");
    assert_eq!(half.ends()[1], 12);
    // The run time of 10 * 0.625 / 0.5625 = 11.1 is rounded up to 12.
    assert_eq!(half.metrics(0, 8, &overhead).folding.mean_fold_stretch, Some(1.2));
}

/// The law gives 10 * 1.692 s on two of four processors, which is rounded up to 17 s. A job of run time 0 has no ratio.
#[test]
fn measures_of_folding_use_the_run_times_of_the_replay() {
    let strategy = "limit[k=1,inner=first-fit,speedup=amdahl[serial=0.1]]";
    let jobs = [job(1, 0, 10, 4), job(2, 20, 0, 4)];
    for jobs in [&jobs[..1], &jobs[..]] {
        let (recorder, overhead) = run(jobs, strategy, "2x2").expect("it runs");
        assert_eq!(recorder.ends()[0], 17);
        let system = recorder.metrics(0, 4, &overhead);
        assert_eq!(system.folding.mean_fold_stretch, Some(1.7));
        let lost = system.folding.lost_efficiency_percent.expect("it folds");
        assert!((lost - 100.0 * (17.0 * 2.0 - 10.0 * 4.0) / (17.0 * 2.0)).abs() < 1e-9, "{lost}");
    }
    let (recorder, overhead) = run(&jobs[1..], strategy, "2x2").expect("it runs");
    let system = recorder.metrics(0, 4, &overhead);
    assert_eq!(
        (system.folding.mean_fold_stretch, system.folding.lost_efficiency_percent),
        (Some(1.0), Some(0.0))
    );
    assert_eq!(system.folding.folded_percent, Some(100.0));
}

proptest! {
    /// No job is folded more than t times, every job ends, and its run time corresponds to its
    /// folds.
    #[test]
    fn run_times_correspond_to_folds(
        jobs in proptest::collection::vec((0i64..200, 1i64..50, 1u32..=16), 1..40),
        t in 1u32..4,
        inner in proptest::sample::select(vec!["cube-buddy", "cube-free-list", "afl", "gray-code"]),
    ) {
        let mut jobs: Vec<Job> = (1..).zip(jobs).map(|(i, (s, r, p))| job(i, s, r, p)).collect();
        jobs.sort_by_key(|job| job.submit);
        let (recorder, overhead) =
            run(&jobs, &format!("rsr[t={t},inner={inner}]"), "hypercube:4").expect("it runs");
        let mut folded = 0;
        for (job, (start, end)) in jobs.iter().zip(recorder.starts().iter().zip(recorder.ends())) {
            let times = (end - start) / job.run;
            prop_assert_eq!(times * job.run, end - start);
            prop_assert!(times.count_ones() == 1 && times <= 1 << t, "{} {}", times, t);
            prop_assert!(*start >= job.submit);
            folded += usize::from(times > 1);
        }
        let measured = recorder.metrics(0, 16, &overhead).folding.folded_percent.expect("it folds");
        let percent = 100.0 * folded as f64 / jobs.len() as f64;
        prop_assert!((measured - percent).abs() < 1e-9);
    }
}

/// A mesh of 9 x 9 needs a cube of eight dimensions; a mesh of 5 x 9 needs a cube of seven
/// dimensions.
#[test]
fn rejects_jobs_that_no_size_can_serve() {
    let request = Request { shape: Some([9, 9, 1]), ..Request::of_size(81) };
    for (name, can) in [
        ("cube-buddy", false),
        ("afl", false),
        ("non-cubic", true),
        ("rsr[inner=cube-buddy]", true),
        ("limit[k=7,inner=afl]", true),
        ("average-limit[inner=cube-buddy]", true),
    ] {
        let (mut allocator, _) = build(name, "hypercube:7");
        assert_eq!(allocator.bounds(request).servable, can, "{name}");
        assert!(allocator.bounds(Request::of_size(128)).servable, "{name}");
    }
    // The first job could run, but the run is rejected before it starts.
    let jobs = [job(1, 0, 10, 4), Job { shape: request.shape, ..job(2, 50, 10, 81) }];
    let (mut afl, machine) = build("afl", "hypercube:7");
    let (stop, mut recorder) = (CancelToken::new(), SystemRecorder::new(jobs.len()));
    let mut scheduler = SchedulerSpec::fcfs().build(128);
    let simulation = Simulation::new(&jobs, machine.topology(), &stop).with_every_event();
    let outcome =
        simulation.run(Starts::Scheduler(scheduler.as_mut()), afl.as_mut(), &mut recorder);
    assert!(matches!(outcome, Err(SimulationError::NeverFits { number: 2, .. })));
    assert_eq!(recorder.starts(), [i64::MIN; 2]);
    assert!(run(&jobs, "rsr[inner=afl]", "hypercube:7").is_ok());
    assert!(run(&jobs, "average-limit[inner=afl]", "hypercube:7").is_ok());
}

/// Compares start and end times with results computed by hand. Jobs 1 and 2 hold six of eight
/// processors. Job 3 requests all processors, may be folded once, and is refused at both sizes.
/// Job 4 would fit, but does not overtake job 3.
#[test]
fn a_refused_head_waits_and_restarts_from_its_full_size() {
    let others = [job(1, 0, 100, 4), job(2, 0, 50, 2)];
    let queue = [job(3, 1, 10, 8), job(4, 2, 5, 1)];
    let times = |jobs: &[Job], name| {
        let (recorder, overhead) = run(jobs, name, "hypercube:3").expect("it runs");
        (recorder.starts().to_vec(), recorder.ends().to_vec(), overhead.refused_sizes)
    };
    // At 50 s, four processors are free. Size 8 is refused again, and job 3 runs on 4 processors
    // for 20 s. Then job 4 starts.
    let jobs = [others[0], others[1], queue[0], queue[1]];
    let expected = (vec![0, 0, 50, 70], vec![100, 50, 70, 75]);
    let (starts, ends, refused) = times(&jobs, "rsr[inner=cube-buddy]");
    assert_eq!((starts, ends), expected);
    // The full size is refused at 50 s. The scheduler does not try before the folded size is free.
    assert_eq!(refused, Some(1));
    // If jobs 1 and 2 both end at 50 s, job 3 gets all processors: earlier refusals do not count.
    let jobs = [Job { run: 50, ..others[0] }, others[1], queue[0], queue[1]];
    let (starts, ends, _) = times(&jobs, "rsr[inner=cube-buddy]");
    assert_eq!((starts, ends), (vec![0, 0, 50, 60], vec![50, 50, 60, 65]));
    // If two folds are allowed, job 3 starts on arrival on two processors and runs for 40 s.
    let jobs = [others[0], others[1], queue[0], queue[1]];
    let (starts, ends, _) = times(&jobs, "rsr[t=2,inner=cube-buddy]");
    assert_eq!((starts, ends), (vec![0, 0, 1, 41], vec![100, 50, 41, 46]));
}

/// With a limit, a job is folded only to the limit. If the job is refused at the size of the limit,
/// it waits like any other job.
#[test]
fn a_limit_folds_no_further_when_it_is_refused() {
    let jobs = [job(1, 0, 100, 4), job(2, 0, 50, 2), job(3, 1, 10, 8)];
    let (recorder, _) = run(&jobs, "limit[k=2,inner=cube-buddy]", "hypercube:3").expect("it runs");
    assert_eq!((recorder.starts(), recorder.ends()), (&[0, 0, 50][..], &[100, 50, 70][..]));
    // A limit folds a job even on an idle machine. RSR would not fold this job.
    let idle = [job(1, 0, 10, 8)];
    let ends = |name| run(&idle, name, "hypercube:3").expect("it runs").0.ends().to_vec();
    assert_eq!((ends("limit[k=0,inner=cube-buddy]"), ends("rsr[t=7]")), (vec![80], vec![10]));
}
