//! Reference implementations that follow the definitions directly. Tests and benchmarks compare the fast
//! implementations with the reference implementations. The `replay` program does not use this crate.

pub mod hierarchy;
pub mod network;
pub mod scheduler;
pub mod site;
