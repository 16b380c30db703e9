//! Names of scheduling disciplines.

use super::{Conservative, Easy, OutOfOrder, QueueOrder, Scheduler, Strict};
use crate::naming::{Description, NameError, Parameter, StrategyName, nearest};

const KIND: &str = "scheduler";

/// A scheduling discipline as chosen by a user: canonical and comparable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SchedulerSpec {
    rule: Rule,
    order: QueueOrder,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rule {
    Strict,
    Easy,
    Conservative,
    OutOfOrder,
}

impl SchedulerSpec {
    /// First Come First Served.
    pub const FCFS: Self = Self { rule: Rule::Strict, order: QueueOrder::Fifo };
    /// EASY backfilling in arrival order.
    pub const EASY: Self = Self { rule: Rule::Easy, order: QueueOrder::Fifo };

    /// Whether it looks at the estimates of jobs, to backfill or to order them.
    pub fn uses_estimates(self) -> bool {
        let by_rule = matches!(self.rule, Rule::Easy | Rule::Conservative);
        let by_order = matches!(
            self.order,
            QueueOrder::Longest | QueueOrder::Shortest | QueueOrder::LeastWork
        );
        by_rule || by_order
    }

    /// The discipline with an empty queue, for a machine of `processors`.
    pub fn build(self, processors: u32) -> Box<dyn Scheduler> {
        match self.rule {
            Rule::Strict => Box::new(Strict::new(self.order)),
            Rule::Easy => Box::new(Easy::new(self.order)),
            Rule::Conservative => Box::new(Conservative::new(self.order, processors)),
            Rule::OutOfOrder => Box::new(OutOfOrder::new(self.order)),
        }
    }
}

impl TryFrom<&StrategyName> for SchedulerSpec {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let order = |default| name.choice(KIND, "order", default, &QueueOrder::ALL);
        let with_order = |rule| {
            name.expect_keys(KIND, &["order"])?;
            Ok(Self { rule, order: order(QueueOrder::Fifo)? })
        };
        match name.name.as_str() {
            "fcfs" => {
                name.expect_keys(KIND, &[])?;
                Ok(Self::FCFS)
            }
            "priority" => with_order(Rule::Strict),
            "easy" => with_order(Rule::Easy),
            "backfill" | "easy-backfill" => with_order(Rule::Easy),
            "conservative" | "cons" => with_order(Rule::Conservative),
            "out-of-order" | "oo" => with_order(Rule::OutOfOrder),
            other => {
                let short = match other {
                    "sjf" | "shortest-job-first" | "ssd" => "shortest",
                    "ljf" => "longest",
                    other => other.strip_suffix("-first").unwrap_or(other),
                };
                let by_order = QueueOrder::ALL.iter().skip(1).find(|(order, _)| *order == short);
                if let Some(&(_, order)) = by_order {
                    name.expect_keys(KIND, &[])?;
                    return Ok(Self { rule: Rule::Strict, order });
                }
                let known = [
                    "fcfs",
                    "easy",
                    "conservative",
                    "out-of-order",
                    "priority",
                    "largest",
                    "smallest",
                    "longest",
                    "shortest",
                    "least-work",
                ];
                let hint = nearest(other, known.into_iter())
                    .map(|near| format!("unknown; did you mean \"{near}\"?"))
                    .unwrap_or_else(|| format!("unknown; known are {}", known.join(", ")));
                Err(name.error(KIND, hint))
            }
        }
    }
}

impl std::str::FromStr for SchedulerSpec {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name: StrategyName =
            text.parse().map_err(|e: NameError| NameError { kind: KIND, ..e })?;
        Self::try_from(&name)
    }
}

impl std::fmt::Display for SchedulerSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = QueueOrder::ALL.iter().find(|(_, order)| *order == self.order);
        let order = order.map_or("fifo", |(name, _)| name);
        match (self.rule, self.order) {
            (Rule::Strict, QueueOrder::Fifo) => f.write_str("fcfs"),
            (Rule::Easy, QueueOrder::Fifo) => f.write_str("easy"),
            (Rule::Conservative, QueueOrder::Fifo) => f.write_str("conservative"),
            (Rule::OutOfOrder, QueueOrder::Fifo) => f.write_str("out-of-order"),
            (Rule::Strict, _) => write!(f, "priority[order={order}]"),
            (Rule::Easy, _) => write!(f, "easy[order={order}]"),
            (Rule::Conservative, _) => write!(f, "conservative[order={order}]"),
            (Rule::OutOfOrder, _) => write!(f, "out-of-order[order={order}]"),
        }
    }
}

/// All disciplines with their definitions.
pub fn descriptions() -> Vec<Description> {
    let order = |about| Parameter {
        key: "order",
        values: QueueOrder::ALL.map(|(name, _)| name).join("|"),
        default: "fifo",
        about,
    };
    let entry =
        |name: &str, aliases: &[&'static str], source, about: &str, parameters| Description {
            name: name.to_string(),
            aliases: aliases.to_vec(),
            about: about.to_string(),
            source,
            parameters,
        };
    vec![
        entry(
            "fcfs",
            &[],
            "",
            "First Come First Served: strictly the head of the queue, no backfilling.",
            vec![],
        ),
        entry(
            "easy",
            &[],
            "Lifka 1995; Mu'alem, Feitelson 2001",
            "EASY (aggressive) backfilling. A head of queue that does not fit has a shadow time: the \
             estimated end of the running job (walked by estimated end, then job) whose processors make \
             it fit. A later job that fits now starts if now + estimate <= shadow time, or if the head \
             still fits beside it at the shadow time. First such job in queue order, then again from the \
             head. Nothing is backfilled while a running job's estimated end equals the present instant. \
             A head that fits by count but is refused by the allocator has missed its reservation: until \
             it starts, its shadow time is the last estimated end of all running jobs and nothing fits \
             beside it, so that it starts on an empty machine at the latest. Where the allocator rounds \
             up, a running job counts with what it holds and a waiting job with the most it can be given.",
            vec![order("order of the queue; estimates for longest and shortest")],
        ),
        entry(
            "conservative",
            &["cons"],
            "Mu'alem, Feitelson 2001",
            "Conservative backfilling: every job reserves at its arrival the earliest start for its whole \
             estimate; when a job completes early, each waiting job in queue order takes the earliest \
             reservation it can have now (compression); a job starts when its reservation is due. Only \
             for allocators that never refuse and never round up.",
            vec![order("order in which reservations are compressed")],
        ),
        entry(
            "out-of-order",
            &["oo"],
            "Bani-Mohammad 2008, section 4.5",
            "Out of order: at every arrival and completion the queue is walked once from its head, and \
             every job that can be placed starts. Nothing is reserved: large jobs may starve.",
            vec![order("order of the queue")],
        ),
        entry(
            "priority",
            &["largest", "smallest", "longest", "shortest", "ssd", "sjf", "least-work"],
            "",
            "Strict head of a priority queue, ties in arrival order; priority[order=largest] may be \
             written largest, and so on. ssd (shortest service demand) and sjf are shortest.",
            vec![order(
                "who stands first: most or fewest processors, longest or shortest estimate, least processors \
                 times estimate",
            )],
        ),
    ]
}
