//! The eighteen fields of a record with their numbers and names.

use crate::naming::texts;

texts! {
    /// A field of an SWF record; the variants are in file order.
    ///
    /// Source: Standard Workload Format 2.2 (Chapin et al., "Benchmarks and standards for the evaluation
    /// of parallel job schedulers", JSSPP 1999; field definitions of the Parallel Workloads Archive).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum Field {
        /// Field 1: job number.
        JobNumber = 1 => "job number",
        /// Field 2: submit time in seconds.
        SubmitTime => "submit time",
        /// Field 3: wait time in seconds.
        WaitTime => "wait time",
        /// Field 4: run time in seconds.
        RunTime => "run time",
        /// Field 5: allocated processors.
        AllocatedProcessors => "allocated processors",
        /// Field 6: average CPU time in seconds.
        AverageCpuTime => "average CPU time",
        /// Field 7: used memory in kilobytes per processor.
        UsedMemory => "used memory",
        /// Field 8: requested processors.
        RequestedProcessors => "requested processors",
        /// Field 9: requested time in seconds.
        RequestedTime => "requested time",
        /// Field 10: requested memory in kilobytes per processor.
        RequestedMemory => "requested memory",
        /// Field 11: status.
        Status => "status",
        /// Field 12: user.
        User => "user",
        /// Field 13: group.
        Group => "group",
        /// Field 14: executable.
        Executable => "executable",
        /// Field 15: queue.
        Queue => "queue",
        /// Field 16: partition.
        Partition => "partition",
        /// Field 17: preceding job.
        PrecedingJob => "preceding job",
        /// Field 18: think time in seconds.
        ThinkTime => "think time",
    }
}

impl Field {
    /// Number of fields in a complete record.
    pub const COUNT: usize = 18;

    /// Returns the field's number, from 1, as in the definition of the format.
    ///
    /// ```
    /// assert_eq!(replay_workload::swf::Field::RequestedTime.number(), 9);
    /// ```
    pub const fn number(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_file_order() {
        for (index, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field.number(), index + 1, "{field}");
        }
    }
}
