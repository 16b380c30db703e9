//! The registry of scheduling disciplines.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Capabilities, Scheduler, SchedulerOptions, WhenFull, conservative, easy, out_of_order, strict};
use crate::naming::{NameError, Registry, StrategyName, Table, Value};

/// Returns the registry of the disciplines that no plug-in defines.
pub(crate) fn common() -> Registry<SchedulerSpec> {
    Registry::new("scheduler")
        .with(strict::table(), SchedulerSpec::parse)
        .with(easy::table(), SchedulerSpec::parse)
        .with(conservative::table(), SchedulerSpec::parse)
        .with(out_of_order::table(), SchedulerSpec::parse)
}

/// Options that a [`Table`] can parse and print.
pub trait Options: SchedulerOptions + Value {}

impl<O: SchedulerOptions + Value> Options for O {}

/// A scheduling discipline as chosen by a user: its options and their canonical name. Two specs are
/// equal if their canonical names are equal.
#[derive(Clone)]
pub struct SchedulerSpec {
    name: Arc<str>,
    options: Arc<dyn SchedulerOptions>,
    capabilities: Capabilities,
}

impl SchedulerSpec {
    /// Returns First Come First Served.
    pub fn fcfs() -> Self {
        Self::new(&strict::table(), strict::StrictOptions::default())
    }

    /// Returns EASY backfilling in arrival order.
    pub fn easy() -> Self {
        Self::new(&easy::table(), easy::EasyOptions::default())
    }

    /// Returns the discipline with these options, named by `table`.
    pub fn new<O: Options>(table: &Table<O>, options: O) -> Self {
        Self {
            name: table.name(&options).to_string().into(),
            // The capabilities are the same on every machine.
            capabilities: options.build(1).capabilities(),
            options: Arc::new(options),
        }
    }

    /// Parses the name of a discipline of `table`. [`Registry`] uses this function.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`Table::parse`].
    pub fn parse<O: Options>(
        table: &Arc<Table<O>>,
        name: &StrategyName,
    ) -> Result<Self, NameError> {
        Ok(Self::new(table, table.parse(name)?))
    }

    /// Returns whether the discipline uses estimates of jobs, for backfilling or for the order of the queue.
    pub fn uses_estimates(&self) -> bool {
        self.options.uses_estimates()
    }

    /// Returns the treatment of jobs for which too few processors were free, if the discipline
    /// replays recorded starts; otherwise `None`.
    pub fn recorded(&self) -> Option<WhenFull> {
        self.options.recorded()
    }

    /// Returns the capabilities of every scheduler that [`build`](Self::build) returns.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Builds the scheduler with an empty queue, for a machine with `processors` processors.
    pub fn build(&self, processors: u32) -> Box<dyn Scheduler> {
        self.options.build(processors)
    }
}

impl fmt::Display for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchedulerSpec({self})")
    }
}

impl PartialEq for SchedulerSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SchedulerSpec {}

impl Hash for SchedulerSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Result<String, String> {
        text.parse::<SchedulerSpec>().map(|spec| spec.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn names_have_one_canonical_form() {
        for (text, expected) in [
            ("fcfs", "fcfs"),
            ("FCFS", "fcfs"),
            ("priority", "fcfs"),
            ("priority[order=fifo]", "fcfs"),
            ("largest", "priority[order=largest]"),
            ("least_work", "priority[order=least-work]"),
            ("ssd", "priority[order=shortest]"),
            ("easy[order=fifo]", "easy"),
            ("easy-backfill[order=largest]", "easy[order=largest]"),
            ("cons", "conservative"),
            ("oo[order=smallest]", "out-of-order[order=smallest]"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(canonical("fcfs"), Ok(SchedulerSpec::fcfs().to_string()));
        assert_eq!("easy".parse(), Ok(SchedulerSpec::easy()));
    }

    /// Every accepted alias is listed and has the listed meaning.
    #[test]
    fn lists_all_aliases() {
        let words = "backfill easy-backfill cons oo largest smallest longest shortest ssd sjf \
                     least-work largest-first smallest-first longest-first shortest-first \
                     least-work-first shortest-job-first ljf";
        let listed: Vec<_> = descriptions().into_iter().flat_map(|entry| entry.aliases).collect();
        assert!(words.split_whitespace().all(|word| listed.contains(&word)), "{listed:?}");
        for entry in descriptions() {
            let name = if entry.name == "priority" { "fcfs" } else { &entry.name };
            assert_eq!(canonical(&entry.name).as_deref(), Ok(name));
            assert!(entry.aliases.iter().all(|alias| canonical(alias).is_ok()), "{entry:?}");
        }
    }

    #[test]
    fn invalid_names_get_suggestions() {
        for (text, advice) in [
            ("esay", "did you mean \"easy\"?"),
            ("largst", "did you mean \"largest\"?"),
            ("quarks", "known are fcfs, priority, easy, "),
            ("fcfs[order=fifo]", "unknown parameter \"order\"; this name has no parameters"),
            ("largest[order=smallest]", "\"largest\" already sets order=largest"),
            ("easy[order=sideways]", "is not one of fifo, largest, smallest"),
        ] {
            let error = canonical(text).expect_err(text);
            assert!(error.contains(advice), "{error}");
        }
    }

    #[test]
    fn knows_which_disciplines_use_estimates() {
        let uses = |text: &str| text.parse::<SchedulerSpec>().expect(text).uses_estimates();
        for text in ["easy", "conservative", "ssd", "least-work", "oo[order=longest]"] {
            assert!(uses(text), "{text}");
        }
        for text in
            ["fcfs", "largest", "smallest", "out-of-order", "scan", "lazy", "fchp", "recorded"]
        {
            assert!(!uses(text), "{text}");
        }
    }
}
