//! Limits of trackable resources (TRES): nodes and CPUs.

use replay_engine::sanitize::excerpt;

/// Limits of resources; `None` for no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tres {
    /// Number of nodes.
    pub node: Option<u64>,
    /// Number of CPUs; also the limit of `billing`.
    pub cpu: Option<u64>,
}

impl Tres {
    /// Parses a list such as `cpu=64,node=3`. Returns also the names of other resources, which are not limits here.
    ///
    /// # Errors
    /// A message with the invalid part.
    pub fn parse(text: &str) -> Result<(Self, Vec<String>), String> {
        let (mut tres, mut others) = (Self::default(), Vec::new());
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let bad = || format!("\"{}\" is not a pair NAME=COUNT, such as node=3", excerpt(part));
            let (name, count) = part.split_once('=').ok_or_else(bad)?;
            match &name.to_ascii_lowercase()[..] {
                "node" | "cpu" | "billing" => {
                    // A negative number removes a limit.
                    let count = match count {
                        "-1" => None,
                        _ => Some(count.parse::<u64>().map_err(|_| bad())?),
                    };
                    if name.eq_ignore_ascii_case("node") {
                        tres.node = count;
                    } else {
                        let limits = tres.cpu.into_iter().chain(count);
                        tres.cpu = limits.min();
                    }
                }
                _ => others.push(excerpt(name)),
            }
        }
        Ok((tres, others))
    }
}
