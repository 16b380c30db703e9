//! Plain versions of fast code, written as their definitions read. Tests and benches compare with them; no program uses
//! them.

pub mod hierarchy;
pub mod network;
pub mod scheduler;
