//! Output of experiments: tables ([`frame`]), figures ([`plot`]), and text, pages and manifests ([`report`]).

pub mod frame;
pub mod plot;
pub mod report;
