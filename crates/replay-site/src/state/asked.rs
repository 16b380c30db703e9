//! A job that is not submitted yet: `nodes=64,time=4:00:00,user=u,account=a,partition=a+b,qos=q,nice=0`.

use replay_engine::sanitize::excerpt;

use super::{JobNames, PresentState};
use crate::job::SiteJob;
use crate::site::Site;
use crate::times::minutes;

/// Adds a job that is submitted at the present instant after all others.
///
/// # Errors
/// A message with the invalid key.
pub fn submit(site: &mut Site, state: &mut PresentState, text: &str) -> Result<(), String> {
    let (mut nodes, mut limit, mut nice) = (None, None, 0);
    let (mut user, mut account, mut qos) = ("new", "root", None);
    let mut partitions = Vec::new();
    for part in text.split(',') {
        let bad = || format!("\"{}\" is not KEY=VALUE, such as nodes=4", excerpt(part));
        let (key, value) = part.split_once('=').ok_or_else(bad)?;
        let value = value.trim();
        let failed = |problem: String| format!("{}: {problem}", excerpt(key));
        match key.trim() {
            "nodes" => {
                let count = value.parse().ok().filter(|&count: &u32| count > 0);
                nodes = Some(count.ok_or_else(|| {
                    failed(format!("\"{}\" is not a number of nodes", excerpt(value)))
                })?);
            }
            "time" => limit = minutes(value).map_err(failed)?,
            "user" => user = value,
            "account" => account = value,
            "qos" => {
                let at = site.find_qos(value);
                qos =
                    Some(at.ok_or_else(|| failed(format!("there is no QOS {}", excerpt(value))))?);
            }
            "partition" => {
                for name in value.split('+') {
                    let at = site.find_partition(name);
                    let at = at.ok_or_else(|| {
                        failed(format!("there is no partition {}", excerpt(name)))
                    })?;
                    if !partitions.contains(&at) {
                        partitions.push(at);
                    }
                }
            }
            "nice" => {
                nice = value
                    .parse()
                    .map_err(|_| failed(format!("\"{}\" is not a whole number", excerpt(value))))?;
            }
            _ => {
                let known = "unknown; known are nodes, time, user, account, partition, qos, nice";
                return Err(failed(known.to_string()));
            }
        }
    }
    let nodes = nodes.ok_or("nodes: a number of nodes is missing")?;
    if partitions.is_empty() {
        partitions.push(site.default_partition);
    }
    let association = site.associations.find_or_add(account, user);
    let default_qos = site.associations.all()[association].default_qos.clone();
    let default_qos = default_qos.and_then(|name| site.find_qos(&name));
    let qos = qos.or(default_qos).or(site.find_qos("normal")).unwrap_or(0);
    if let Some(usage) = &mut state.usage {
        usage.resize(site.associations.all().len(), 0.0);
    }
    let number = state.jobs.iter().map(|job| job.number).max().unwrap_or(0).saturating_add(1);
    let mut job = SiteJob {
        number,
        submit: state.now,
        eligible: state.now,
        run: 0,
        nodes,
        cpus: None,
        limit,
        estimate: None,
        association,
        qos,
        partitions,
        nice,
        priority: None,
    };
    job.run = 60 * i64::from(job.planned_minutes(&site.partitions[job.partitions[0]]));
    let names =
        JobNames { id: "new".to_string(), user: user.to_string(), account: account.to_string() };
    state.submit(job, names);
    Ok(())
}
