//! Reference implementations that follow the definitions directly. Tests and benchmarks compare the fast
//! implementations with them; no program uses them.

pub mod hierarchy;
pub mod network;
pub mod scheduler;
