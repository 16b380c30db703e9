//! Output of experiments: figures ([`plot`]), and text, pages and manifests ([`report`]).

pub mod plot;
pub mod report;
