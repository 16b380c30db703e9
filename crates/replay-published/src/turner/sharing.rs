//! Chapters 5 and 6: workstations that jobs share.
//!
//! The constants of the programs were fitted to the numbers of section 5.2. The numbers of section 5.2 therefore do not
//! test the constants; a note marks the rows of these numbers. The claims of section 6.5 are independent tests:
//! replay's results follow from the rates of [`cluster::rates`](replay_cubes::cluster::rates), which use no measured
//! value. Each figure of section 6.5 has curves for two kernels. For the words "slightly", "little" and "significant",
//! the bound chosen for replay is 5 %.

use super::pair::{Pair, Placement, Turnarounds};
use crate::Tolerance::{Above, Below};
use crate::claim::claim;
use crate::exchange::{pairs, substitute, with_swaps};
use crate::{Check, Sample, Tolerance, VerifyError};
use replay_cubes::cluster::application::{Application, Barrier};
use replay_cubes::cluster::elmer;
use replay_cubes::cluster::equations::Phases;
use replay_cubes::cluster::kernel::Kernel;

/// Name of the machine in the checks.
pub const MACHINE: &str = "six workstations";

/// Checks both chapters.
pub fn checks() -> Result<Vec<Check>, VerifyError> {
    let programs = pairs(&PROGRAMS);
    let exchanges = programs.chain([KERNELS, JOBS, COSTS]);
    with_swaps(of(View(None))?, exchanges, |pair| of(View(Some(pair))))
}

/// Checks the claims of both chapters on a view of the experiments.
fn of(view: View) -> Result<Vec<Check>, VerifyError> {
    let mut checks = programs(view)?;
    checks.extend(elmer(view)?);
    checks.extend(equations(view)?);
    checks.extend(beside_ep(view)?);
    checks.extend(same_barrier_host(view)?);
    checks.extend(other_barrier_host(view)?);
    checks.extend(own_barrier_host(view)?);
    Ok(checks)
}

const PROGRAMS: [&str; 4] = ["Barrier 1", "Barrier 2", "Barrier 3", "EP"];
const KERNELS: [&str; 2] = ["the preemptive kernel", "the non-preemptive kernel"];
const JOBS: [&str; 2] = ["the high job", "the low job"];
const COSTS: [&str; 2] = ["the start of a job", "the end of a job"];

/// A view of the experiments. The view shows the experiments unchanged, or exchanges two programs, the two kernels, the
/// two jobs of a pair, or the costs of start and end.
#[derive(Clone, Copy)]
struct View(Option<[&'static str; 2]>);

impl View {
    /// Returns the name that is exchanged with `name`; returns `name` itself if `name` is not exchanged.
    fn of(self, name: &'static str) -> &'static str {
        substitute(self.0, name)
    }

    fn program(self, number: usize) -> Application {
        let name = self.of(PROGRAMS[number]);
        match Barrier::VERSIONS.iter().zip(PROGRAMS).find(|(_, known)| *known == name) {
            Some((version, _)) => Application::Barrier(*version),
            None => Application::Ep,
        }
    }

    fn barrier(self, version: usize) -> Application {
        self.program(version - 1)
    }

    fn ep(self) -> Application {
        self.program(PROGRAMS.len() - 1)
    }

    fn kernel(self, kernel: Kernel) -> Kernel {
        let exchanged = self.of(KERNELS[0]) != KERNELS[0];
        match kernel {
            Kernel::Preemptive if exchanged => SIMPLE,
            Kernel::NonPreemptive { .. } if exchanged => PREEMPTIVE,
            kernel => kernel,
        }
    }

    /// Returns the turnarounds of the two jobs. The turnarounds are exchanged if the view exchanges the two jobs.
    fn turned(self, of: Turnarounds) -> Turnarounds {
        let exchanged = self.of(JOBS[0]) != JOBS[0];
        if exchanged { Turnarounds { high: of.low, low: of.high } } else { of }
    }

    /// Returns two functions: the cost of the start and the cost of the end of a job, in seconds, by number of hosts.
    fn costs(self) -> [fn(u32) -> f64; 2] {
        let exchanged = self.of(COSTS[0]) != COSTS[0];
        let [start, end]: [fn(u32) -> f64; 2] = [elmer::start_seconds, elmer::end_seconds];
        if exchanged { [end, start] } else { [start, end] }
    }
}

/// Returns the run time, in seconds, of a program that runs alone.
fn alone(application: Application, hosts: u32) -> f64 {
    application.seconds(hosts).unwrap_or(f64::NAN)
}

/// Returns the run time, in seconds, of a program on `hosts` hosts after its problem has been enlarged by the factor
/// `times`. Only the part of the work that is divided among the hosts grows.
fn enlarged(application: Application, times: f64, hosts: u32) -> f64 {
    let divided = 2.0 * (alone(application, 1) - alone(application, 2));
    times * divided / f64::from(hosts) + alone(application, 1) - divided
}

/// Note of a number to which a constant was fitted.
const FITTED: &str = "a constant of the program was fitted to this number";

/// Note of a number that follows from two printed numbers.
const FROM_A_LINE: &str = "from the line through 59 ms on one host and 103 ms on six hosts";

/// Note of a number on the line that describes the cost of a job end by number of hosts. This line has the same slope
/// as the line for the cost of a job start.
const FROM_A_SLOPE: &str =
    "from 13 ms on one host and the slope of the line of starts, 8.8 ms per host";

/// Creates the check of a printed number.
fn printed(
    figure: &str,
    what: &str,
    printed: &str,
    ours: f64,
    by: f64,
    note: &str,
) -> Result<Check, VerifyError> {
    let check = claim(figure, MACHINE, what, printed, ours, Tolerance::Relative(by))?;
    let sample = match note {
        FITTED => Sample::Fitted,
        FROM_A_LINE | FROM_A_SLOPE => Sample::Implied,
        _ => Sample::Outside,
    };
    Ok(Check { is_claim: false, sample, note: note.to_string(), ..check })
}

/// Checks the numbers of section 5.2 for programs that run alone.
fn programs(view: View) -> Result<Vec<Check>, VerifyError> {
    let [first, second, third] = [1, 2, 3].map(|version| view.barrier(version));
    let mut checks = vec![
        printed("Fig. 5.3", "Barrier 2 on 5 hosts, s", "37.7", alone(second, 5), 0.01, FITTED)?,
        printed("section 5.2.2", "Barrier 1 on 6 hosts, s", "31.4", alone(first, 6), 0.01, FITTED)?,
        printed("Fig. 5.3", "EP on 5 hosts, s", "33.9", alone(view.ep(), 5), 0.01, FITTED)?,
    ];
    let speedup = |application, hosts| alone(application, 1) / alone(application, hosts);
    for (figure, what, bound, ours, tolerance) in [
        (
            "Fig. 5.3",
            "Barrier 3: time on 6 hosts over that on 5",
            "1",
            alone(third, 6) / alone(third, 5),
            Above,
        ),
        (
            "Fig. 5.4",
            "speed-up on 6 hosts: Barrier 1 over Barrier 2",
            "1",
            speedup(first, 6) / speedup(second, 6),
            Above,
        ),
        (
            "Fig. 5.4",
            "speed-up on 6 hosts: Barrier 2 over Barrier 3",
            "1",
            speedup(second, 6) / speedup(third, 6),
            Above,
        ),
        (
            "Fig. 5.4",
            "speed-up on 6 hosts: Barrier 1 over EP (close)",
            "1",
            speedup(first, 6) / speedup(view.ep(), 6),
            Tolerance::Relative(0.1),
        ),
    ] {
        let check = claim(figure, MACHINE, what, bound, ours, tolerance)?;
        // The time of an iteration was fitted so that the run time is minimal on the printed number of hosts.
        let is_chosen = what == "Barrier 3: time on 6 hosts over that on 5";
        let sample = if is_chosen { Sample::Fitted } else { Sample::Outside };
        checks.push(check.sample(sample));
    }
    for (what, text, application) in [
        ("preemptive kernel: Barrier 2 on 5 hosts, s", "38.3", second),
        ("preemptive kernel: EP on 5 hosts, s", "31.5", view.ep()),
    ] {
        let ours = alone(application, 5);
        let known = if text == "38.3" { 37.7 } else { 33.9 };
        let check = printed("Fig. 5.3", what, text, ours, 0.01, "")?;
        checks.push(check.known(
            known,
            "in the model, a program takes the same time under both kernels; the thesis names context switches and messages as \
             the causes of the difference, but gives no rule for these causes",
        ));
    }
    checks.extend(same_work(view)?);
    Ok(checks)
}

/// Checks section 5.2.1, which is about EP of full size and about the amount of work of the programs.
fn same_work(view: View) -> Result<Vec<Check>, VerifyError> {
    let figure = "section 5.2.1";
    let about = |what: &str, bound, ours, sample| {
        let check = claim(figure, MACHINE, what, bound, ours, Tolerance::Relative(0.05))?;
        Ok::<Check, VerifyError>(Check { note: OUR_BOUND.to_string(), ..check.sample(sample) })
    };
    // The full problem size is 2^28; the size in the experiments is 2^22.
    let full = |hosts| enlarged(view.ep(), 64.0, hosts);
    let what = "EP of full size: speed-up on 6 hosts";
    let mut checks = vec![about(what, "6", full(1) / full(6), Sample::Outside)?];
    let mut work = [1, 2, 3].map(|version| match view.barrier(version) {
        Application::Barrier(of) => of.iterations * of.phases,
        _ => f64::NAN,
    });
    work.sort_by(f64::total_cmp);
    let what = "iterations of the Barrier programs: largest over least";
    checks.push(about(what, "1", work[2] / work[0], Sample::Implied)?);
    for version in 1..=3 {
        let ours = alone(view.barrier(version), 1) / alone(view.ep(), 1);
        let what = format!("time on one host: Barrier {version} over EP");
        checks.push(about(&what, "1", ours, Sample::Fitted)?);
    }
    Ok(checks)
}

/// Checks the costs of Elmer (section 6.4).
fn elmer(view: View) -> Result<Vec<Check>, VerifyError> {
    let [start, end] = view.costs();
    let most = (1..).take_while(|&hosts| start(hosts) <= 1.0).count() as f64;
    let mut checks = vec![
        printed(
            "Fig. 6.10",
            "maximum number of hosts of a job if one job starts per second",
            "107",
            most,
            0.0,
            FROM_A_LINE,
        )?,
        printed("Fig. 6.10", "start on one host, ms", "59", 1000.0 * start(1), 0.01, FITTED)?,
        printed("Fig. 6.10", "start on 6 hosts, ms", "103", 1000.0 * start(6), 0.01, FITTED)?,
        printed("Fig. 6.11", "end on one host, ms", "13", 1000.0 * end(1), 0.01, FITTED)?,
        printed("Fig. 6.11", "end on 6 hosts, ms", "57", 1000.0 * end(6), 0.01, FROM_A_SLOPE)?,
    ];
    for (figure, what, ours, note) in [
        ("Fig. 6.10", "start on 100 hosts, s", start(100), FROM_A_LINE),
        ("Fig. 6.11", "end on 100 hosts, s", end(100), FROM_A_SLOPE),
    ] {
        let check = claim(figure, MACHINE, what, "1", ours, Tolerance::AtMost(0.0))?;
        let check = check.sample(Sample::Implied).printed_bound();
        checks.push(Check { note: note.to_string(), ..check });
    }
    Ok(checks)
}

/// Turnarounds of both jobs if they share hosts, and if they run one after the other.
#[derive(Clone, Copy)]
struct Outcome {
    shared: Turnarounds,
    apart: Turnarounds,
}

impl Outcome {
    /// Returns the ratio of the turnaround of the high job to its turnaround if it runs alone.
    fn high(self) -> f64 {
        self.shared.high / self.apart.high
    }

    /// Returns the ratio of the turnaround of the low job to its turnaround if it runs after the high job.
    fn low(self) -> f64 {
        self.shared.low / self.apart.low
    }
}

fn run(
    view: View,
    high: Application,
    low: Application,
    placement: Placement,
    hosts: u32,
    kernel: Kernel,
) -> Result<Outcome, VerifyError> {
    let pair = Pair { high, low, placement, hosts, kernel: view.kernel(kernel) };
    Ok(Outcome { shared: view.turned(pair.shared()?), apart: view.turned(pair.apart()) })
}

/// Runs each pair on each of the given numbers of hosts.
fn run_all(
    view: View,
    pairs: &[(Application, Application)],
    placement: Placement,
    hosts: std::ops::RangeInclusive<u32>,
    kernel: Kernel,
) -> Result<Vec<Outcome>, VerifyError> {
    let all = pairs.iter().flat_map(|&(high, low)| hosts.clone().map(move |n| (high, low, n)));
    all.map(|(high, low, n)| run(view, high, low, placement, n, kernel)).collect()
}

fn most(outcomes: &[Outcome], value: fn(Outcome) -> f64) -> f64 {
    outcomes.iter().map(|&outcome| value(outcome)).fold(f64::NEG_INFINITY, f64::max)
}

fn least(outcomes: &[Outcome], value: fn(Outcome) -> f64) -> f64 {
    outcomes.iter().map(|&outcome| value(outcome)).fold(f64::INFINITY, f64::min)
}

/// Number of the claim about the cost of sharing for the high job.
const HIGH: &str = "Q10";
/// Number of the claim about the gain of the low job.
const LOW: &str = "Q11";

/// Creates the check of a numbered claim about the largest or smallest value of some outcomes.
fn on(
    figure: &str,
    number: &str,
    what: &str,
    bound: &str,
    ours: f64,
    tolerance: Tolerance,
) -> Result<Check, VerifyError> {
    let check = claim(&format!("{figure}, {number}"), MACHINE, what, bound, ours, tolerance)?;
    let by_words = bound == "0.95" || matches!(tolerance, Tolerance::AtMost(_));
    let note = if by_words { OUR_BOUND } else { "" }.to_string();
    Ok(Check { note, ..check })
}

/// Creates the check of a numbered claim about a ratio of turnarounds on the given hosts. For claim [`HIGH`], the
/// turnaround of the high job is compared with its turnaround alone. For claim [`LOW`], the turnaround of the low job is
/// compared with its turnaround if the jobs run one after the other. The smallest ratio is judged if the ratio must be
/// above the bound, otherwise the largest ratio.
fn ratio(
    figure: &str,
    number: &str,
    experiment: &str,
    hosts: &str,
    outcomes: &[Outcome],
    bound: &str,
    tolerance: Tolerance,
) -> Result<Check, VerifyError> {
    let [high, low] = match experiment.starts_with("E1") {
        true => ["Barrier", "EP"],
        false => ["the high job", "the low job"],
    };
    let (job, base, value): (_, _, fn(Outcome) -> f64) = match number {
        HIGH => (high, "alone", Outcome::high),
        _ => (low, "when the jobs run one after the other", Outcome::low),
    };
    let (extreme, ours) = match tolerance {
        Above => ("smallest", least(outcomes, value)),
        _ => ("largest", most(outcomes, value)),
    };
    let what =
        format!("{experiment}: time of {job} divided by its time {base}, {hosts}{extreme} ratio");
    on(figure, number, &what, bound, ours, tolerance)
}

/// Note of claims that the thesis makes in words about figures.
const OUR_BOUND: &str = "the thesis gives no number: 5 % is the bound chosen for replay";

const PREEMPTIVE: Kernel = Kernel::Preemptive;
const SIMPLE: Kernel = Kernel::NON_PREEMPTIVE;

/// Tolerance for equal times: the rounding to microseconds.
const EQUAL: Tolerance = Tolerance::Absolute(1e-6);

/// Measured decrease of the high job's penalty in E1, from few hosts to many hosts. The decrease is negative, because
/// the penalty increases.
const FALL: f64 = -0.016737;

/// Checks the ratios of measured times to the times that the equations of section 5.3 give. The module `equations`
/// contains the equations in the notation of the thesis. The programs have no set-up time. The barrier process handles
/// the messages of a phase. Equations 5.3 and 5.5 describe the processor of the barrier process and count the handling
/// of these messages as computing.
fn equations(view: View) -> Result<Vec<Check>, VerifyError> {
    let Kernel::NonPreemptive { delay } = SIMPLE else { return Ok(Vec::new()) };
    let phases = |of: Barrier, hosts| Phases {
        setup: 0.0,
        count: of.phases,
        compute: of.compute(hosts),
        wait: Barrier::wait(hosts),
    };
    let at_barrier = |of: Phases| Phases { compute: of.compute + of.wait, wait: 0.0, ..of };
    // Largest difference, in percent, between the time of the high job and the time that an equation gives, on 2 to 6
    // hosts.
    let worst = |low: Application, kernel, equation: fn(Phases, f64, u32) -> f64| {
        let mut most: f64 = 0.0;
        for version in 1..=3 {
            let Application::Barrier(program) = view.barrier(version) else { return Ok(f64::NAN) };
            for hosts in 2..=6 {
                let high = view.barrier(version);
                let time = run(view, high, low, Placement::Same, hosts, kernel)?.shared.high;
                let expected = equation(phases(program, hosts), delay, hosts);
                most = most.max(100.0 * (time / expected - 1.0).abs());
            }
        }
        Ok::<f64, VerifyError>(most)
    };
    let third = view.barrier(3);
    let at_most = Tolerance::AtMost(0.0);
    let mut checks = vec![
        claim(
            "equation 5.1",
            MACHINE,
            "Barrier with higher priority than EP, preemptive: largest deviation of the time from s + p(e + δ), %",
            "0.001",
            worst(view.ep(), PREEMPTIVE, |of, _, _| of.alone())?,
            at_most,
        )?
        .sample(Sample::Implied),
        claim(
            "equation 5.4",
            MACHINE,
            "Barrier with higher priority than EP, not preemptive: largest deviation of the time from s + p(e + δ + d), %",
            "0.001",
            worst(view.ep(), SIMPLE, |of, delay, _| of.above(delay))?,
            at_most,
        )?
        .sample(Sample::Implied),
    ];
    let mut most: f64 = 0.0;
    for version in 1..=3 {
        let Application::Barrier(program) = view.barrier(version) else { continue };
        for hosts in 2..=6 {
            let of = at_barrier(phases(program, hosts));
            let apart = of.beside_equal(delay) / of.beside_equal_at_barrier() - 1.0;
            most = most.max(100.0 * apart);
        }
    }
    let what = "equal priority on the host of the barrier process: largest excess of the time over 2(s + pe), %";
    let check = claim("equations 5.2, 5.3", MACHINE, what, "5", most, at_most)?;
    checks.push(Check { note: OUR_BOUND.to_string(), ..check });
    let mut most: f64 = 0.0;
    for version in 1..=3 {
        let Application::Barrier(program) = view.barrier(version) else { continue };
        for hosts in 2..=6 {
            let high = view.barrier(version);
            let time = run(view, high, third, Placement::Same, hosts, SIMPLE)?.shared.high;
            let expected = at_barrier(phases(program, hosts)).above_barrier(delay, hosts);
            most = most.max(100.0 * (time / expected - 1.0).abs());
        }
    }
    let what = "Barrier with higher priority than another Barrier on its barrier host: largest deviation of the time from s + p(e + (P - 1)d), %";
    checks.push(
        claim("equation 5.5", MACHINE, what, "0.001", most, at_most)?.sample(Sample::Implied),
    );
    Ok(checks)
}

/// Checks E1, in which the Barrier job has a higher priority than the EP job.
fn beside_ep(view: View) -> Result<Vec<Check>, VerifyError> {
    let figure = "Figs 6.13-6.15";
    let pairs = [1, 2, 3].map(|version| (view.barrier(version), view.ep()));
    let outcomes = |hosts, kernel| run_all(view, &pairs, Placement::Same, hosts, kernel);
    let [all, some, many] = [1..=6, 2..=6, 4..=6].map(|hosts| outcomes(hosts, PREEMPTIVE));
    let [simple, simple_on_many] = [2..=6, 4..=6].map(|hosts| outcomes(hosts, SIMPLE));
    let mut checks = vec![
        ratio(figure, HIGH, "E1, preemptive", "", &all?, "1", EQUAL)?,
        ratio(figure, LOW, "E1, preemptive", "2 to 6 hosts, ", &some?, "1", Below)?,
        ratio(figure, LOW, "E1, preemptive", "4 to 6 hosts, ", &many?, "0.95", Below)?,
        ratio(figure, HIGH, "E1, not preemptive", "2 to 6 hosts, ", &simple?, "1", Above)?,
        ratio(
            figure,
            LOW,
            "E1, not preemptive",
            "4 to 6 hosts, ",
            &simple_on_many?,
            "0.95",
            Below,
        )?,
    ];
    let penalty = |pair, hosts| {
        let outcomes = run_all(view, &[pair], Placement::Same, hosts, SIMPLE)?;
        Ok::<f64, VerifyError>(most(&outcomes, Outcome::high))
    };
    let mut fall = f64::INFINITY;
    for pair in pairs {
        fall = fall.min(penalty(pair, 1..=2)? - penalty(pair, 4..=6)?);
    }
    let check = on(
        figure,
        HIGH,
        "E1, not preemptive: time of Barrier over its time alone, ratio on 1 and 2 hosts minus ratio on 4 to 6 hosts, smallest difference",
        "0",
        fall,
        Above,
    )?;
    let why = "equation 5.4 of the thesis gives no penalty on one host, because no process waits for messages; the thesis names \
               drifting priorities as the cause of the measured penalty, but gives no rule for drifting priorities";
    checks.push(check.known(FALL, why));
    Ok(checks)
}

/// Returns the pairs of Barrier programs in E2. Each pair consists of the program with high priority and the program
/// with low priority.
fn barriers(view: View) -> [(Application, Application); 3] {
    [(2, 2), (2, 3), (3, 3)].map(|(high, low)| (view.barrier(high), view.barrier(low)))
}

/// Checks E2, in which both barrier processes are on the same host.
fn same_barrier_host(view: View) -> Result<Vec<Check>, VerifyError> {
    let figure = "Figs 6.17-6.19";
    let outcomes = |hosts, kernel| run_all(view, &barriers(view), Placement::Same, hosts, kernel);
    let preemptive = outcomes(1..=6, PREEMPTIVE)?;
    Ok(vec![
        ratio(figure, HIGH, "E2, preemptive", "", &preemptive, "1", EQUAL)?,
        ratio(figure, LOW, "E2, preemptive", "", &preemptive, "0.95", Above)?,
        ratio(
            figure,
            HIGH,
            "E2, not preemptive",
            "2 to 6 hosts, ",
            &outcomes(2..=6, SIMPLE)?,
            "1",
            Above,
        )?,
        ratio(figure, LOW, "E2, not preemptive", "", &outcomes(1..=6, SIMPLE)?, "0.95", Above)?,
    ])
}

/// Checks E3, in which the barrier processes are on different hosts.
fn other_barrier_host(view: View) -> Result<Vec<Check>, VerifyError> {
    let figure = "Figs 6.21-6.22";
    let pairs = [(2, 3), (1, 3)].map(|(high, low)| (view.barrier(high), view.barrier(low)));
    let outcomes = |placement, hosts, kernel| run_all(view, &pairs, placement, hosts, kernel);
    let preemptive = outcomes(Placement::Opposite, 2..=6, PREEMPTIVE)?;
    let same = outcomes(Placement::Same, 3..=6, SIMPLE)?;
    let opposite = outcomes(Placement::Opposite, 3..=6, SIMPLE)?;
    let better = opposite.iter().zip(&same).map(|(a, b)| a.high() / b.high());
    let better = better.fold(f64::NEG_INFINITY, f64::max);
    Ok(vec![
        ratio(figure, HIGH, "E3, preemptive", "", &preemptive, "1", EQUAL)?,
        ratio(figure, LOW, "E3, preemptive", "", &preemptive, "0.95", Above)?,
        on(
            figure,
            HIGH,
            "E3, not preemptive: relative time of the high job over that of E2, 3 to 6 hosts, largest ratio",
            "1",
            better,
            Below,
        )?,
        ratio(figure, LOW, "E3, not preemptive", "", &opposite, "0.95", Above)?,
        ratio(
            "section 5.3.2",
            HIGH,
            "E3, not preemptive",
            "3 to 6 hosts, ",
            &opposite,
            "1",
            Above,
        )?,
    ])
}

/// Checks E4 and E5, in which the barrier process of the high job does not share its host.
fn own_barrier_host(view: View) -> Result<Vec<Check>, VerifyError> {
    let pair = [(view.barrier(1), view.barrier(3))];
    let outcomes = |placement, hosts, kernel| run_all(view, &pair, placement, hosts, kernel);
    let mut checks = Vec::new();
    for (name, figure, placement, from) in
        [("E4", "Fig. 6.24", Placement::Overlapping, 2), ("E5", "Fig. 6.26", Placement::Subset, 1)]
    {
        let preemptive = outcomes(placement, from..=5, PREEMPTIVE)?;
        let experiment = format!("{name}, preemptive");
        checks.push(ratio(figure, HIGH, &experiment, "", &preemptive, "1", EQUAL)?);
        checks.push(ratio(figure, LOW, &experiment, "", &preemptive, "1", Below)?);
        let many = outcomes(placement, 4..=5, PREEMPTIVE)?;
        checks.push(ratio(figure, LOW, &experiment, "4 and 5 hosts, ", &many, "0.95", Below)?);
        let simple = outcomes(placement, from..=5, SIMPLE)?;
        let experiment = format!("{name}, not preemptive");
        checks.push(ratio(figure, HIGH, &experiment, "", &simple, "1", Tolerance::AtMost(0.05))?);
        checks.push(ratio(figure, LOW, &experiment, "", &simple, "1", Below)?);
    }
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, Verdict};

    #[test]
    fn every_judged_claim_holds() {
        let checks = checks().expect("runs without error");
        assert_eq!(checks.len(), 50);
        assert_eq!(checks.iter().filter(|check| check.class() == Class::Fitted).count(), 6);
        for check in checks {
            let verdict = check.verdict();
            let fine = match check.known {
                Some(_) => {
                    let disagrees = matches!(verdict, Verdict::Contradicts | Verdict::Differs);
                    check.undeclared_change().is_none() && disagrees
                }
                None => matches!(verdict, Verdict::Same | Verdict::Within),
            };
            assert!(fine, "{}: {:?} {verdict}", check.what, check.ours);
        }
    }
}
