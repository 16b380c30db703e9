//! `replay fairshare`: fair share of the users of a site.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure};
use super::print::TableArgs;
use super::priority::{SiteArgs, failure};
use super::terminal::stdout;
use replay_engine::lines::LONGEST_TEXT;
use replay_engine::number::fixed;
use replay_output::report::{Align, Sheet};
use replay_site::cases::{FairShareRow, fair_shares, read_usage};

/// Arguments of `replay fairshare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay fairshare --site /etc/slurm --usage usage.txt
      usage.txt is the output of: sshare -a -l -P")]
pub struct FairshareArgs {
    #[command(flatten)]
    site: SiteArgs,

    /// Read the usage of the users from this file.
    ///
    /// The file is the output of sshare -a -l -P, with the columns Account, User and RawUsage, or a CSV file with the
    /// columns account, user and usage. Users without a row have usage 0.
    #[arg(long, value_name = "FILE")]
    usage: PathBuf,

    #[command(flatten)]
    table: TableArgs,
}

/// Prints the fair shares.
pub fn run(args: &FairshareArgs) -> Result<Exit, Failure> {
    let site = args.site.read(&args.site.site, false);
    let site = site.map_err(|error| failure(&args.site, error))?;
    let name = args.usage.display().to_string();
    if !site.has_fair_share {
        let problem = format!("--site {}: there is no assoc.txt", args.site.site.display());
        return Err(Failure::usage_message(problem));
    }
    let mut text = String::new();
    let read =
        File::open(&args.usage).and_then(|file| file.take(LONGEST_TEXT).read_to_string(&mut text));
    read.map_err(|e| Failure::usage(anyhow::Error::new(e).context(format!("cannot read {name}"))))?;
    let usage = read_usage(&text, &name, &site.associations).map_err(Failure::data)?;
    let rows = fair_shares(&site, &usage);
    args.table.print(&rows, || vec![sheet(&rows)], &mut stdout()).map_err(Failure::stdout)?;
    Ok(Exit::Done)
}

/// Returns the printed table.
fn sheet(rows: &[FairShareRow]) -> Sheet {
    let names = [
        "Account",
        "User",
        "RawShares",
        "NormShares",
        "RawUsage",
        "NormUsage",
        "EffectvUsage",
        "FairShare",
        "LevelFS",
    ];
    let align = |(at, name)| (name, if at < 2 { Align::Left } else { Align::Right });
    let columns: Vec<_> = names.into_iter().enumerate().map(align).collect();
    let mut sheet = Sheet::new(&columns);
    for FairShareRow { account, user, raw_shares, share, factor, level } in rows {
        let level =
            level.as_ref().map(|text| text.parse().map_or(text.clone(), |level| fixed(level, 6)));
        sheet.push(vec![
            account.clone(),
            user.clone().unwrap_or_default(),
            raw_shares.clone().unwrap_or_default(),
            fixed(share.norm_shares, 6),
            fixed(share.usage, 0),
            fixed(share.norm_usage, 6),
            fixed(share.effective_usage, 6),
            factor.map_or(String::new(), |factor| fixed(factor, 6)),
            level.unwrap_or_default(),
        ]);
    }
    sheet
}
