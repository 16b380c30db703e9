//! The eighteen fields of a record with their numbers and names.

use std::fmt;

/// A field of an SWF record; the variants are in file order.
///
/// Source: Standard Workload Format 2.2 (Chapin et al., "Benchmarks and standards for the evaluation
/// of parallel job schedulers", JSSPP 1999; field definitions of the Parallel Workloads Archive).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Field {
    /// Field 1: job number.
    JobNumber = 1,
    /// Field 2: submit time in seconds.
    SubmitTime,
    /// Field 3: wait time in seconds.
    WaitTime,
    /// Field 4: run time in seconds.
    RunTime,
    /// Field 5: allocated processors.
    AllocatedProcessors,
    /// Field 6: average CPU time in seconds.
    AverageCpuTime,
    /// Field 7: used memory in kilobytes per processor.
    UsedMemory,
    /// Field 8: requested processors.
    RequestedProcessors,
    /// Field 9: requested time in seconds.
    RequestedTime,
    /// Field 10: requested memory in kilobytes per processor.
    RequestedMemory,
    /// Field 11: status.
    Status,
    /// Field 12: user.
    User,
    /// Field 13: group.
    Group,
    /// Field 14: executable.
    Executable,
    /// Field 15: queue.
    Queue,
    /// Field 16: partition.
    Partition,
    /// Field 17: preceding job.
    PrecedingJob,
    /// Field 18: think time in seconds.
    ThinkTime,
}

impl Field {
    /// Number of fields in a complete record.
    pub const COUNT: usize = 18;

    /// All fields in file order.
    pub const ALL: [Field; Field::COUNT] = [
        Field::JobNumber,
        Field::SubmitTime,
        Field::WaitTime,
        Field::RunTime,
        Field::AllocatedProcessors,
        Field::AverageCpuTime,
        Field::UsedMemory,
        Field::RequestedProcessors,
        Field::RequestedTime,
        Field::RequestedMemory,
        Field::Status,
        Field::User,
        Field::Group,
        Field::Executable,
        Field::Queue,
        Field::Partition,
        Field::PrecedingJob,
        Field::ThinkTime,
    ];

    /// Returns the field's number, from 1, as in the definition of the format.
    ///
    /// ```
    /// assert_eq!(replay_workload::swf::Field::RequestedTime.number(), 9);
    /// ```
    pub const fn number(self) -> usize {
        self as usize
    }

    /// Returns the field's name as used in error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Field::JobNumber => "job number",
            Field::SubmitTime => "submit time",
            Field::WaitTime => "wait time",
            Field::RunTime => "run time",
            Field::AllocatedProcessors => "allocated processors",
            Field::AverageCpuTime => "average CPU time",
            Field::UsedMemory => "used memory",
            Field::RequestedProcessors => "requested processors",
            Field::RequestedTime => "requested time",
            Field::RequestedMemory => "requested memory",
            Field::Status => "status",
            Field::User => "user",
            Field::Group => "group",
            Field::Executable => "executable",
            Field::Queue => "queue",
            Field::Partition => "partition",
            Field::PrecedingJob => "preceding job",
            Field::ThinkTime => "think time",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
