//! What Elmer itself costs: Turner 1995, section 6.4, Figs. 6.10 and 6.11.
//!
//! Starting a job takes Elmer 59 ms on one host and 103 ms on six, ending it 13 and 57 ms. A line
//! through the two points, 8.8 ms for a host, meets the text's extrapolation: one start a second is
//! possible up to 107 hosts. The thesis's figures of turnaround do not say whether they include
//! these costs.

/// Milliseconds for each host beyond the first.
const PER_HOST: f64 = 8.8;

/// Seconds from Elmer's decision to the start of a job on `hosts` hosts.
pub fn start_seconds(hosts: u32) -> f64 {
    (59.0 + PER_HOST * f64::from(hosts - 1)) / 1000.0
}

/// Seconds from the end of a job on `hosts` hosts until they can be given away again.
pub fn end_seconds(hosts: u32) -> f64 {
    (13.0 + PER_HOST * f64::from(hosts - 1)) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_costs() {
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
