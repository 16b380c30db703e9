//! Measures.
pub mod locality;
