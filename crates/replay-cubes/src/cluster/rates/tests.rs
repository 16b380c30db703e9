use proptest::prelude::*;

use crate::cluster::rates::*;
use replay_engine::topology::Cluster;

fn barrier(version: usize) -> Application {
    Application::Barrier(Barrier::VERSIONS[version - 1])
}

/// Returns the rates of jobs. The jobs are in the order of their starts. Each job has an
/// application, a level and a list of hosts; the first host runs the barrier process.
fn rates(kernel: Kernel, jobs: &[(Application, u32, &[u32])]) -> Vec<f64> {
    let cluster = Cluster::new(6, 3).expect("small");
    let mut slots = Slots::new(cluster);
    let mut residents = Vec::new();
    for (number, (application, level, hosts)) in (0..).zip(jobs) {
        let nodes: Vec<_> = hosts.iter().map(|&host| cluster.slot(host, *level)).collect();
        slots.take(&nodes, number);
        residents.push(Resident { application: *application, hosts: hosts.to_vec() });
    }
    Rates::new(kernel).of(&slots, &residents, |_| true).to_vec()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-12
}

#[test]
fn the_highest_job_runs_at_full_speed_and_a_busy_one_leaves_nothing() {
    let busy = Application::BUSY;
    assert_eq!(
        rates(Kernel::Preemptive, &[(busy, 0, &[0, 1, 2]), (busy, 1, &[2, 3]), (busy, 1, &[4])]),
        [1.0, 0.0, 1.0]
    );
    let half = Application::Even { demand: 0.6 };
    let [first, second, third] =
        rates(Kernel::Preemptive, &[(half, 0, &[0, 1]), (half, 1, &[1, 2]), (busy, 2, &[2])])[..]
    else {
        unreachable!("three jobs")
    };
    assert!(close(first, 1.0) && close(second, 0.4 / 0.6) && close(third, 0.6), "{second} {third}");
}

#[test]
fn a_barrier_job_leaves_the_idle_time_of_its_other_processes() {
    let all: &[u32] = &[0, 1, 2, 3, 4, 5];
    // In each phase of 38 ms, a process computes 27 ms and waits 11 ms, so 11 / 38 of each host
    // except the first remains.
    let left = 11.0 / 38.0;
    let ep = rates(Kernel::Preemptive, &[(barrier(1), 0, all), (Application::Ep, 1, all)]);
    assert!(close(ep[0], 1.0) && close(ep[1], 5.0 * left / 6.0), "{ep:?}");
    // E2 and E3: a process of the low-priority job runs on the host of the high-priority job's
    // barrier process.
    for low in [[0, 1, 2, 3, 4, 5], [5, 1, 2, 3, 4, 0]] {
        let both = rates(Kernel::Preemptive, &[(barrier(2), 0, all), (barrier(3), 1, &low)]);
        assert_eq!(both, [1.0, 0.0]);
    }
    // E5: the low-priority job runs on a subset of the hosts, without the host of the high-priority
    // job's barrier process. The barrier process of the low-priority job gets the smallest share.
    let subset = rates(Kernel::Preemptive, &[(barrier(1), 0, all), (barrier(3), 1, &[5, 1, 2])]);
    assert!(close(subset[1], left), "{subset:?}");
}

#[test]
fn without_preemption_every_phase_costs_the_delay_of_the_equations() {
    let kernel = Kernel::NonPreemptive { delay: 0.002 };
    let all: &[u32] = &[0, 1, 2, 3, 4, 5];
    let phase = 0.038;
    let rate = |lost: f64| phase / (phase + lost);
    let high = |low, hosts: &[u32]| rates(kernel, &[(barrier(1), 0, all), (low, 1, hosts)])[0];
    assert!(close(high(Application::Ep, all), rate(0.002)));
    assert!(close(high(barrier(2), all), rate(5.0 * 0.002)));
    assert!(close(high(barrier(2), &[5, 1, 2, 3, 4, 0]), rate(0.002)));
    assert!(close(rates(kernel, &[(barrier(1), 0, all)])[0], 1.0));
    // A job of one process sends no messages and is not delayed.
    assert!(close(rates(kernel, &[(barrier(1), 0, &[3]), (Application::Ep, 1, &[3])])[0], 1.0));
}

#[test]
fn in_a_priority_cycle_the_job_that_started_first_is_higher() {
    let cluster = Cluster::new(2, 3).expect("small");
    let mut slots = Slots::new(cluster);
    slots.take(&[cluster.slot(0, 0), cluster.slot(1, 2)], 0);
    slots.take(&[cluster.slot(0, 1), cluster.slot(1, 1)], 1);
    let resident =
        |demand| Resident { application: Application::Even { demand }, hosts: vec![0, 1] };
    let mut rates = Rates::new(Kernel::Preemptive);
    let rates = rates.of(&slots, &[resident(0.75), resident(0.5)], |_| true);
    assert_eq!(rates, [1.0, 0.5]);
}

#[test]
fn jobs_that_do_not_work_use_no_processor() {
    let cluster = Cluster::new(1, 2).expect("small");
    let mut slots = Slots::new(cluster);
    slots.take(&[cluster.slot(0, 0)], 0);
    slots.take(&[cluster.slot(0, 1)], 1);
    let resident = Resident { application: Application::BUSY, hosts: vec![0] };
    let mut rates = Rates::new(Kernel::Preemptive);
    let residents = [resident.clone(), resident];
    assert_eq!(rates.of(&slots, &residents, |job| job == 1), [0.0, 1.0]);
    assert_eq!(rates.used().collect::<Vec<_>>(), [1.0]);
}

proptest! {
    /// Compares the rates with a direct evaluation of their definition: a job waits for all jobs
    /// that are above it on any host.
    #[test]
    fn rates_are_those_of_the_definition(
        jobs in proptest::collection::vec((0..4usize, any::<u8>(), 1..=10u32), 1..8),
    ) {
        let cluster = Cluster::new(6, 8).expect("small");
        let mut slots = Slots::new(cluster);
        let mut residents: Vec<Resident> = Vec::new();
        for (number, (kind, set, tenths)) in (0..).zip(&jobs) {
            let hosts: Vec<u32> = (0..6).filter(|host| set >> host & 1 == 1).collect();
            if hosts.is_empty() {
                continue;
            }
            // Priorities follow the order of starts, so there are no cycles.
            let nodes: Vec<_> = hosts.iter().map(|&host| cluster.slot(host, number)).collect();
            slots.take(&nodes, residents.len() as u32);
            let application = match kind {
                0 => Application::Even { demand: f64::from(*tenths) / 10.0 },
                1 => Application::Ep,
                kind => barrier(kind - 1),
            };
            residents.push(Resident { application, hosts });
        }
        let mut computed = Rates::new(Kernel::Preemptive);
        let computed = computed.of(&slots, &residents, |_| true).to_vec();
        let mut used = [0.0f64; 6];
        for (resident, &rate) in residents.iter().zip(&computed) {
            let before = used;
            let left = |host: u32| (1.0 - before[host as usize]).max(0.0);
            let processes = resident.processes();
            let expected = match resident.application {
                Application::Ep => resident.hosts.iter().map(|&h| left(h)).sum::<f64>() / f64::from(processes),
                application => (0..).zip(&resident.hosts)
                    .map(|(process, &host)| left(host) / application.demand(process, processes))
                    .fold(1.0, f64::min),
            };
            prop_assert!((rate - expected).abs() < 1e-9, "{rate} {expected}");
            for (process, &host) in (0..).zip(&resident.hosts) {
                used[host as usize] += match resident.application {
                    Application::Ep => left(host),
                    application => application.demand(process, processes) * rate,
                };
            }
        }
        prop_assert!(used.iter().all(|&used| used < 1.0 + 1e-9));
    }
}
