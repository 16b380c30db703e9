//! Costs of Elmer itself: Turner 1995, section 6.4, Figs. 6.10 and 6.11.
//!
//! Elmer takes 59 ms to start a job on one host, and 103 ms to start a job on six hosts. Ending a job takes 13 ms on
//! one host and 57 ms on six hosts. Linear interpolation gives 8.8 ms per additional host. This cost agrees with the
//! extrapolation in the thesis that Elmer can start a job per second on up to 107 hosts. The thesis does not state
//! whether its turnaround times include the costs of starting and ending jobs.

/// Cost of each host beyond the first, in milliseconds.
const PER_HOST: f64 = 8.8;

/// Returns the time from Elmer's decision to the start of a job on `hosts` hosts, in seconds.
pub fn start_seconds(hosts: u32) -> f64 {
    (59.0 + PER_HOST * f64::from(hosts - 1)) / 1000.0
}

/// Returns the time from the end of a job on `hosts` hosts until the hosts can be allocated again, in seconds.
pub fn end_seconds(hosts: u32) -> f64 {
    (13.0 + PER_HOST * f64::from(hosts - 1)) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_thesis() {
        let milliseconds = |seconds: f64| (1000.0 * seconds * 10.0).round() / 10.0;
        assert_eq!(
            [start_seconds(1), start_seconds(6), end_seconds(1), end_seconds(6)].map(milliseconds),
            [59.0, 103.0, 13.0, 57.0]
        );
        assert_eq!([start_seconds(100), end_seconds(100)].map(milliseconds), [930.2, 884.2]);
        let most = (1..).take_while(|&hosts| start_seconds(hosts) <= 1.0).last();
        assert_eq!(most, Some(107));
    }
}
