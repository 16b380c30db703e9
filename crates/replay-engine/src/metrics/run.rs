//! The measures of runs and their metrics.

use serde::{Deserialize, Serialize};

use super::block_fragmentation::BlockFragmentation;
use super::leaves::LeafSums;
use super::measure::measure_list;
use super::outages::OutageRecorder;
use super::pairwise::PairwiseSums;
use super::schedule::ScheduleMeasure;
use super::shape::ShapeSums;
use super::system::SystemMeasures;
use super::ties::TieStatistics;

measure_list! {
    /// Metrics of one run. Times are in trace seconds; means are over jobs.
    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct RunMetrics;

    /// The measures that observe a run. The columns of the table of runs are in this order.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Measures {
        #[serde(flatten)]
        pairwise: PairwiseSums;
        ties: TieStatistics;
        placements: ShapeSums;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hierarchy: LeafSums;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block_fragmentation: BlockFragmentation;
        schedule: ScheduleMeasure;
        system: SystemMeasures;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outages: OutageRecorder;
    }
}
