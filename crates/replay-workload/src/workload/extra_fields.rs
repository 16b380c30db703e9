//! Site-specific fields after field 18 of a record.
//!
//! | site | 19 | 20 | 21 |
//! |---|---|---|---|
//! | Frontier (Oak Ridge, 2024 and later) | GPUs used | soft limit, seconds | `site:mode:NODESxCORES` |
//! | CERIT-SC, MetaCentrum (distributed with Alea) | `{id,id,..}`, the node of every processor | queue | request, `2:ppn=12:brno` |
//!
//! The layout of each record is recognised from its contents. The name of the file does not matter.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::number::{counted, grouped};
use crate::swf::Field;

/// Number of GPUs of a Frontier node, as counted by Frontier's scheduler.
const GPUS: i64 = 8;

/// The text after field 18 of a record.
#[derive(Clone, Copy, Debug)]
pub struct Extra<'a>(&'a [u8]);

impl<'a> Extra<'a> {
    /// Wraps the text that [`Reader::extra`](crate::swf::Reader::extra) returns.
    pub fn new(text: &'a [u8]) -> Extra<'a> {
        Extra(text)
    }

    fn fields(self) -> impl Iterator<Item = &'a [u8]> {
        self.0.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty())
    }

    /// Returns field `number` of the record. `number` must be at least 19.
    fn field(self, number: usize) -> Option<&'a [u8]> {
        self.fields().nth(number - Field::COUNT - 1)
    }

    /// Parses field 21 as Frontier's node descriptor; `None` if the field has another format.
    pub fn descriptor(self) -> Option<Descriptor> {
        let mut parts = self.field(21)?.split(|&byte| byte == b':');
        let (_, _, size, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
            return None;
        };
        let at = size.iter().position(|&byte| byte == b'x')?;
        let (nodes, cores) = (parse_digits(&size[..at])?, parse_digits(&size[at + 1..])?);
        Some(Descriptor { nodes, cores, gpus: self.field(19).and_then(parse_digits) })
    }

    /// Parses field 19 as CERIT's node list, which contains the node of every processor; `None` if the field has
    /// another format.
    pub fn nodes(self) -> Option<impl Iterator<Item = u32> + Clone + 'a> {
        let list = self.field(19)?.strip_prefix(b"{")?.strip_suffix(b"}")?;
        let ids = list.split(|&byte| byte == b',');
        let good = |id| parse_digits(id).is_some_and(|id| u32::try_from(id).is_ok());
        ids.clone().all(good).then(|| ids.filter_map(|id| u32::try_from(parse_digits(id)?).ok()))
    }

    /// Counts the distinct nodes of the list in field 19.
    pub fn distinct_nodes(self) -> Option<i64> {
        Some(self.nodes()?.collect::<HashSet<_>>().len() as i64)
    }

    /// Returns the largest number of processors per node in CERIT's request (field 21). A request consists of chunks
    /// joined by `+`, each of the form `COUNT:ppn=K:property..`. In some requests, a property follows the number K
    /// without a separator.
    pub fn processors_per_node(self) -> Option<i64> {
        let request = std::str::from_utf8(self.field(21)?).ok()?;
        let of_part = |part: &str| {
            let count = part.strip_prefix("ppn=").or_else(|| part.strip_prefix("ncpus="))?;
            let digits = count.bytes().take_while(u8::is_ascii_digit).count();
            count[..digits].parse().ok()
        };
        request.split(['+', ':']).filter_map(of_part).max()
    }
}

/// Parses text that consists of digits only.
fn parse_digits(text: &[u8]) -> Option<i64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// Frontier's node descriptor (field 21), with the GPU count of field 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Number of nodes of the job.
    pub nodes: i64,
    /// Number of cores of each node.
    pub cores: i64,
    /// Number of GPUs that the job used; `None` if unknown.
    pub gpus: Option<i64>,
}

impl Descriptor {
    /// Returns whether the GPUs can be divided evenly among the nodes, with at most 8 GPUs per node. The result is also
    /// true if the number of GPUs is unknown.
    pub fn is_even(self) -> bool {
        let all = |gpus: i64| self.nodes > 0 && gpus % self.nodes == 0 && gpus / self.nodes <= GPUS;
        self.gpus.is_none_or(all)
    }
}

/// Statistics of the fields after field 18, over all records of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraFields {
    /// Number of records for each number of fields above 18.
    pub records: BTreeMap<usize, u64>,
    /// Number of records with a node descriptor of Frontier in field 21.
    pub descriptors: u64,
    /// Number of records in which the GPU count contradicts the descriptor, so that neither of the two is reliable.
    pub uneven_gpus: u64,
    /// Number of records with a node list in field 19, as written by CERIT.
    pub node_lists: u64,
    /// Number of records with extra fields but neither a descriptor nor a node list.
    pub other: u64,
    /// Whether the policy takes job sizes from the extra fields.
    pub used: bool,
    /// Number of records in which the policy found the job size in the extra fields.
    pub sizes: u64,
}

impl ExtraFields {
    /// Returns whether no record has more than 18 fields.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Counts the extra fields of a record.
    pub(super) fn count(&mut self, extra: Extra<'_>) {
        *self.records.entry(Field::COUNT + extra.fields().count()).or_default() += 1;
        if let Some(descriptor) = extra.descriptor() {
            self.descriptors += 1;
            self.uneven_gpus += u64::from(!descriptor.is_even());
        } else if extra.nodes().is_some() {
            self.node_lists += 1;
        } else {
            self.other += 1;
        }
    }
}

impl fmt::Display for ExtraFields {
    /// Formats the counts: `30 records with 21 fields: node descriptor 29, other text 1; ignored`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.records.iter().map(|(fields, &records)| {
            let plural = if records == 1 { "" } else { "s" };
            format!("{} record{plural} with {fields} fields", grouped(records))
        });
        write!(f, "{}: ", fields.collect::<Vec<_>>().join(", "))?;
        let held = [
            ("node descriptor", self.descriptors),
            ("node list", self.node_lists),
            ("other text", self.other),
        ];
        let held = held.iter().filter(|(_, count)| *count > 0);
        let held: Vec<_> =
            held.map(|(what, count)| format!("{what} {}", grouped(*count))).collect();
        f.write_str(&held.join(", "))?;
        if self.uneven_gpus > 0 {
            write!(f, " (GPUs contradict nodes {})", grouped(self.uneven_gpus))?;
        }
        let most = self.records.values().sum::<u64>();
        match (self.used, self.sizes) {
            (false, _) => f.write_str("; ignored")?,
            (true, 0) => {
                return f
                    .write_str("; no size found in these fields, all sizes taken from field 5");
            }
            (true, sizes) if sizes < most => {
                return write!(
                    f,
                    "; sizes of {} taken from these fields, all others from field 5",
                    counted(sizes, "record")
                );
            }
            (true, _) => return f.write_str("; sizes taken from these fields"),
        }
        let most = most / 2;
        match self {
            Self { descriptors, .. } if *descriptors > most => {
                f.write_str(" (--policy frontier counts nodes)")
            }
            Self { node_lists, .. } if *node_lists > most => {
                f.write_str(" (--policy cerit-nodes counts nodes)")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(text: &str) -> Option<(i64, i64, bool)> {
        let found = Extra::new(text.as_bytes()).descriptor()?;
        Some((found.nodes, found.cores, found.is_even()))
    }

    #[test]
    fn parses_node_descriptors_of_frontier() {
        assert_eq!(descriptor("16 -1 frontier:excl:2x56"), Some((2, 56, true)));
        assert_eq!(descriptor("-1 -1 any:shared:9216x64"), Some((9216, 64, true)));
        assert_eq!(descriptor("128 -1 frontier:excl:9216x64"), Some((9216, 64, false)));
        assert_eq!(descriptor("17 -1 frontier:excl:2x56"), Some((2, 56, false)));
        assert_eq!(descriptor("18 -1 frontier:excl:2x56"), Some((2, 56, false)));
        for text in [
            "",
            "16 -1",
            "1 1 excl:2x56",
            "1 1 a:b:c:2x56",
            "1 1 frontier:excl:unknown",
            "1 1 f:e:2x",
            "1 1 f:e:x5",
            "1 1 f:e:-2x5",
            "1 1 f:e:99999999999999999999x5",
        ] {
            assert_eq!(descriptor(text), None, "{text}");
        }
    }

    #[test]
    fn parses_node_lists_and_requests_of_cerit() {
        let extra = Extra::new(b"{1262,1262,1259} q_4d 2:ppn=12+1:ppn=16cl_zewura#excl");
        assert_eq!(extra.nodes().map(|ids| ids.collect::<Vec<_>>()), Some(vec![1262, 1262, 1259]));
        assert_eq!((extra.distinct_nodes(), extra.processors_per_node()), (Some(2), Some(16)));
        let ppn = |request: &str| {
            Extra::new(format!("{{1}} q {request}").as_bytes()).processors_per_node()
        };
        assert_eq!(
            (ppn("1:ncpus=4.5:mem=2"), ppn("1:brno"), ppn("3:ppn=x")),
            (Some(4), None, None)
        );
        for text in ["", "1262", "{1262", "{} q", "{1,} q", "{-1} q", "{1,a} q", "{4294967296}"] {
            assert!(Extra::new(text.as_bytes()).nodes().is_none(), "{text}");
        }
    }

    #[test]
    fn counts_records_by_content() {
        let mut fields = ExtraFields::default();
        for text in ["16 -1 f:e:2x56", "17 -1 f:e:2x56", "1 2 f:e:3x1", "x"] {
            fields.count(Extra::new(text.as_bytes()));
        }
        let expected = "1 record with 19 fields, 3 records with 21 fields: node descriptor 3, other text 1 \
                     (GPUs contradict nodes 2); ignored (--policy frontier counts nodes)";
        assert_eq!(fields.to_string(), expected);
        fields.used = true;
        for (sizes, words) in [
            (0, "; no size found in these fields, all sizes taken from field 5"),
            (3, "; sizes of 3 records taken from these fields, all others from field 5"),
            (4, "; sizes taken from these fields"),
        ] {
            fields.sizes = sizes;
            assert!(fields.to_string().ends_with(words), "{fields}");
        }
    }
}
