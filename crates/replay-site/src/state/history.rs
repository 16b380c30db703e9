//! Run times of ended jobs relative to their time limits (`sacct -P`), and draws of run times.

use std::collections::HashMap;

use replay_engine::sanitize::excerpt;

use super::clock::instant;
use crate::dump::{Dump, DumpRow};
use crate::error::SiteError;

/// Number of last ended jobs of a user that are used.
const LAST: usize = 200;

/// Least number of ended jobs from which run times are drawn.
const LEAST: usize = 10;

/// The command that makes the file.
pub const COMMAND: &str =
    "sacct -P -a -X -S now-30days -o JobID,User,Account,State,Elapsed,Timelimit,End";

/// Ended jobs: run time divided by time limit, at most 1.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct History {
    by_user: HashMap<String, Vec<f64>>,
    by_account: HashMap<String, Vec<f64>>,
    all: Vec<f64>,
}

/// Parses a duration `[D-]HH:MM:SS`, or a number in the unit of the column, and returns seconds; `None` for no limit.
fn seconds(text: &str, unit: i64) -> Result<Option<i64>, String> {
    if let Ok(number) = text.parse::<i64>()
        && (0..1 << 40).contains(&number)
    {
        return Ok(Some(number * unit));
    }
    let is_word = text.chars().all(|letter| letter.is_alphabetic() || letter == '_');
    if is_word || text == "-1" {
        return Ok(None);
    }
    let bad = || format!("\"{}\" is not a duration [D-]HH:MM:SS", excerpt(text));
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let clock = clock.split('.').next().unwrap_or(clock);
    let mut total: i64 = 0;
    for part in clock.split(':') {
        let part = replay_engine::number::digits(part).filter(|&part| part < 1 << 40);
        total = total.checked_mul(60).and_then(|total| total.checked_add(part?)).ok_or_else(bad)?;
    }
    let days =
        replay_engine::number::digits(days).filter(|&days| days < 1 << 30).ok_or_else(bad)?;
    Ok(Some(total + 86_400 * days))
}

/// Returns the value of the first of two columns in seconds.
fn duration(
    row: &DumpRow<'_, '_>,
    raw: &str,
    unit: i64,
    column: &str,
) -> Result<Option<i64>, SiteError> {
    match row.parsed(raw, |text| seconds(text, unit))? {
        Some(value) => Ok(value),
        None => row.parsed(column, |text| seconds(text, 60)).map(Option::flatten),
    }
}

impl History {
    /// Reads the output of `sacct -P`. Steps, jobs that have not ended and jobs without a time limit are skipped.
    ///
    /// # Errors
    /// [`SiteError`] if a column is missing or a value is not a duration.
    pub fn read(text: &str, file: &str) -> Result<Self, SiteError> {
        let dump = Dump::read(text, file)?;
        dump.require(&["User", "Account"], COMMAND)?;
        for (raw, column) in [("ElapsedRaw", "Elapsed"), ("TimelimitRaw", "Timelimit")] {
            if !dump.has(raw) {
                dump.require(&[column], COMMAND)?;
            }
        }
        let mut jobs = Vec::new();
        for row in dump.rows() {
            let is_step = row.get("JobID").is_some_and(|id| id.contains('.'));
            let state = row.get("State").unwrap_or("COMPLETED");
            let is_open = ["PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING"]
                .iter()
                .any(|open| state.starts_with(open));
            let user = row.get("User");
            let (Some(user), false) = (user, is_step || is_open) else { continue };
            let elapsed = duration(&row, "ElapsedRaw", 1, "Elapsed")?;
            let limit = duration(&row, "TimelimitRaw", 60, "Timelimit")?;
            let (Some(elapsed), Some(limit)) = (elapsed, limit) else { continue };
            let end = row.parsed("End", instant)?.flatten().map(|(at, _)| at);
            if limit > 0 && elapsed > 0 {
                let share = (elapsed as f64 / limit as f64).min(1.0);
                jobs.push((end, user, row.get("Account").unwrap_or_default(), share));
            }
        }
        // Without ends, the order of the file is that of ends.
        jobs.sort_by_key(|(end, ..)| *end);
        let mut history = Self::default();
        for (_, user, account, share) in jobs {
            history.by_user.entry(user.to_string()).or_default().push(share);
            history.by_account.entry(account.to_string()).or_default().push(share);
            history.all.push(share);
        }
        let groups = history.by_user.values_mut().chain(history.by_account.values_mut());
        groups.chain([&mut history.all]).for_each(|shares| {
            shares.drain(..shares.len().saturating_sub(LAST));
        });
        Ok(history)
    }

    /// Returns whether no ended job is known.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Draws a run time relative to the time limit: of the last jobs of the user; with fewer than 10 those of the account,
    /// then of all users. Only values above `passed` are drawn; without one the result is 1.
    pub fn draw(&self, user: &str, account: &str, passed: f64, seed: u64) -> f64 {
        let groups = [self.by_user.get(user), self.by_account.get(account), Some(&self.all)];
        let shares = groups.into_iter().flatten().find(|shares| shares.len() >= LEAST);
        let Some(shares) = shares else { return 1.0 };
        let above: Vec<f64> = shares.iter().copied().filter(|&share| share > passed).collect();
        let at = (u128::from(seed) * above.len() as u128) >> 64;
        above.get(at as usize).copied().unwrap_or(1.0)
    }
}

/// Returns a random number for a draw and a job (the finalizer of SplitMix64; Steele, Lea, Flood 2014).
pub fn seed(draw: u64, id: &str) -> u64 {
    let mixed = |number: u64| {
        let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    };
    let start = mixed(draw.wrapping_add(0x9e37_79b9_7f4a_7c15));
    id.bytes()
        .fold(start, |sum, byte| mixed((sum ^ u64::from(byte)).wrapping_add(0x9e37_79b9_7f4a_7c15)))
}
