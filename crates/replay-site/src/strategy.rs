//! The name `slurm[..]` of the scheduler, whose parameters override those of a site.

use std::fmt;
use std::str::FromStr;

use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::digits;
use replay_engine::sanitize::excerpt;

use crate::site::Site;
use crate::times::minutes;

/// A span of time in whole minutes, such as `7d`, `12h`, `5m`, or a time of `slurm.conf`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span(
    /// Minutes.
    pub u32,
);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [('d', 24 * 60), ('h', 60), ('m', 1)];
        let unit =
            units.iter().find_map(|&(unit, minutes)| Some((text.strip_suffix(unit)?, minutes)));
        let span = match unit {
            Some((count, unit)) => {
                digits(count).and_then(|count| u32::try_from(count.checked_mul(unit)?).ok())
            }
            None => minutes(text).ok().flatten(),
        };
        let bad =
            || format!("\"{}\" is not a time such as 7d, 12h, 5m or 1-12:00:00", excerpt(text));
        span.map(Self).ok_or_else(bad)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            minutes if minutes > 0 && minutes.is_multiple_of(24 * 60) => {
                write!(f, "{}d", minutes / (24 * 60))
            }
            minutes if minutes > 0 && minutes.is_multiple_of(60) => write!(f, "{}h", minutes / 60),
            minutes => write!(f, "{minutes}m"),
        }
    }
}

/// Parameters of `slurm[..]`; `None` for the value of the site, or Slurm's default without a site.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SlurmOptions {
    /// Weight of the age factor.
    pub age: Option<u32>,
    /// Weight of the size factor.
    pub size: Option<u32>,
    /// Weight of fair share.
    pub fairshare: Option<u32>,
    /// Weight of the factor of the partition.
    pub partition: Option<u32>,
    /// Weight of the priority of the QOS.
    pub qos: Option<u32>,
    /// Waiting time at which the age factor is 1.
    pub max_age: Option<Span>,
    /// Half-life of usage.
    pub half_life: Option<Span>,
    /// Time between two calculations.
    pub calc: Option<Span>,
    /// Whether small jobs have a larger size factor.
    pub favor_small: Option<bool>,
    /// Whether the fair tree is used.
    pub tree: Option<bool>,
    /// Seconds between two passes of the backfill.
    pub interval: Option<u32>,
    /// Resolution of the plan in seconds.
    pub resolution: Option<u32>,
    /// Time that the plan covers.
    pub window: Option<Span>,
    /// Records of a pass of the main loop that is not full.
    pub depth: Option<u32>,
    /// Records that a pass of the backfill tests.
    pub test: Option<u32>,
    /// Least priority of jobs that get a reservation.
    pub min_prio: Option<u32>,
    /// Records of a user in a pass of the backfill; 0 for no limit.
    pub user: Option<u32>,
    /// Records of a partition in a pass of the backfill; 0 for no limit.
    pub part: Option<u32>,
    /// Whether the backfill runs.
    pub backfill: Option<bool>,
}

/// Returns the naming table of `slurm`.
pub fn table() -> Table<SlurmOptions> {
    const SITE: &str = "site";
    let number = || kind::integer(0..=u32::MAX).or(SITE);
    let favor = kind::one_of(&[("large", false), ("small", true)]).or(SITE);
    let slurm = Entry::new("slurm", SlurmOptions::default())
        .about(
            "Slurm's scheduler: priorities of several factors, the main loop, which starts jobs in the order of the \
             queue, and the backfill, which plans the starts of all waiting jobs anew in each pass. Without --site, \
             weights are 0 and the other values are Slurm's defaults.",
        )
        .source("Slurm 26.05")
        .param("age", number(), "weight of the waiting time", |o| &mut o.age)
        .param("size", number(), "weight of the size of the job", |o| &mut o.size)
        .param("fairshare", number(), "weight of fair share", |o| &mut o.fairshare)
        .param("partition", number(), "weight of the factor of the partition", |o| &mut o.partition)
        .param("qos", number(), "weight of the priority of the QOS", |o| &mut o.qos)
        .param("max-age", kind::typed("TIME").or(SITE), "waiting time at which the age factor is 1", |o| &mut o.max_age)
        .param("half-life", kind::typed("TIME").or(SITE), "half-life of usage; 0m for no decay", |o| &mut o.half_life)
        .param("calc", kind::typed("TIME").or(SITE), "time between two calculations of priorities", |o| &mut o.calc)
        .param("favor", favor, "jobs with a larger size factor", |o| &mut o.favor_small)
        .param("tree", kind::yes_no().or(SITE), "whether fair share is the fair tree, or the classic rule", |o| &mut o.tree)
        .param("interval", kind::integer(1..=10_800).or(SITE), "seconds between two passes of the backfill", |o| &mut o.interval)
        .param("resolution", kind::integer(1..=3600).or(SITE), "resolution of the plan in seconds", |o| &mut o.resolution)
        .param("window", kind::typed("TIME").or(SITE), "time that the plan covers", |o| &mut o.window)
        .param("depth", number(), "jobs that a pass of the main loop looks at, except every 60 s", |o| &mut o.depth)
        .param("test", kind::integer(1..=1_000_000).or(SITE), "jobs that a pass of the backfill tests", |o| &mut o.test)
        .param("min-prio", number(), "least priority of jobs that get a reservation", |o| &mut o.min_prio)
        .param("user", number(), "jobs of a user in a pass of the backfill; 0 for no limit", |o| &mut o.user)
        .param("part", number(), "jobs of a partition in a pass of the backfill; 0 for no limit", |o| &mut o.part)
        .param("backfill", kind::yes_no().or(SITE), "whether the backfill runs", |o| &mut o.backfill)
        .check(|o| {
            let is_zero = |span: Option<Span>| span == Some(Span(0));
            if is_zero(o.max_age) || is_zero(o.calc) {
                return Err("max-age and calc are at least 1m".to_string());
            }
            match o.window {
                Some(Span(minutes)) if !(1..=43_200).contains(&minutes) => {
                    Err("window is within 1m..30d".to_string())
                }
                _ => Ok(()),
            }
        });
    Table::new("scheduler", [slurm])
}

impl SlurmOptions {
    /// Overrides the values of a site with the given ones.
    pub fn apply(&self, site: &mut Site) {
        fn set<V: Copy>(to: &mut V, value: Option<V>) {
            *to = value.unwrap_or(*to);
        }
        let (priority, scheduler) = (&mut site.priority, &mut site.scheduler);
        let weights = &mut priority.weights;
        set(&mut weights.age, self.age);
        set(&mut weights.size, self.size);
        set(&mut weights.fairshare, self.fairshare);
        set(&mut weights.partition, self.partition);
        set(&mut weights.qos, self.qos);
        set(&mut priority.max_age, self.max_age.map(|span| span.0));
        set(&mut priority.half_life, self.half_life.map(|span| span.0));
        set(&mut priority.calc_period, self.calc.map(|span| span.0));
        set(&mut priority.favor_small, self.favor_small);
        set(&mut priority.fair_tree, self.tree);
        set(&mut scheduler.interval, self.interval.map(i64::from));
        set(&mut scheduler.resolution, self.resolution.map(i64::from));
        set(&mut scheduler.window, self.window.map(|span| span.0));
        set(&mut scheduler.depth, self.depth);
        set(&mut scheduler.test, self.test);
        set(&mut scheduler.min_priority, self.min_prio);
        set(&mut scheduler.per_user, self.user);
        set(&mut scheduler.per_partition, self.part);
        set(&mut scheduler.backfill, self.backfill);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_override_a_site() {
        let table = table();
        let name = "slurm[age=1000,max-age=14d,calc=1:00:00,favor=small,window=12h,backfill=no]";
        let options = table.read(name).expect("a name");
        assert_eq!(
            table.name(&options).to_string(),
            "slurm[age=1000,max-age=14d,calc=1h,favor=small,window=12h,backfill=no]"
        );
        let mut site = Site::of_machine(4, None);
        site.priority.weights.size = 7;
        options.apply(&mut site);
        assert_eq!((site.priority.weights.age, site.priority.weights.size), (1000, 7));
        assert_eq!((site.priority.max_age, site.priority.calc_period), (14 * 1440, 60));
        assert_eq!((site.scheduler.window, site.scheduler.backfill), (720, false));
        for name in [
            "slurm[window=31d]",
            "slurm[calc=0m]",
            "slurm[age=-1]",
            "slurm[max-age=x]",
            "slurm[resolution=0]",
        ] {
            assert!(table.read(name).is_err(), "{name}");
        }
    }
}
