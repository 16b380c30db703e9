//! Names of allocation strategies.

pub use super::spec::{AllocatorSpec, ParameterValue};
