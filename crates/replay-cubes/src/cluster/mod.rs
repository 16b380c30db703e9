//! Time sharing of workstations among parallel jobs.
//!
//! Source: S. W. Turner, "Processor Scheduling in a Distributed-Memory Computing Environment", PhD thesis, Michigan
//! State University, 1995, chapters 5 and 6. The machine of the thesis consists of six workstations on a crossbar. The
//! daemon of the thesis, Elmer, may give a job hosts that other jobs already use. The new job then has a lower priority
//! than the jobs that already use these hosts. [`HostSelection`](crate::elmer::HostSelection) chooses the hosts;
//! this module computes the speed of each job.
//!
//! | module | concept |
//! |---|---|
//! | [`application`] | processor use of a job: even, EP, Barrier |
//! | [`equations`] | equations 5.1 to 5.5: run time of a Barrier job that shares hosts with another job |
//! | [`kernel`] | preemptive and non-preemptive kernels |
//! | [`Slots`](replay_engine::machine::Slots) | the job in each slot of a host |
//! | [`rates`] | speed of each job on shared hosts |
//! | `monitor` | recent utilization of each processor |
//! | [`elmer`] | the costs of Elmer itself |
//! | [`time_sharing`] | the [`Service`](replay_engine::simulation::Service) that combines these modules in a simulation |
//!
//! The thesis reports measurements but states few numbers, and its curves are not available. The equations are taken
//! from the thesis. The rates and the constants of EP and Barrier are a model developed for `replay`. The model agrees
//! with every number and trend that the thesis states for a preemptive kernel.

pub mod application;
pub mod elmer;
pub mod equations;
pub mod kernel;
mod monitor;
pub mod rates;
pub mod time_sharing;

pub use application::Application;
pub use kernel::Kernel;
pub use time_sharing::TimeSharing;
