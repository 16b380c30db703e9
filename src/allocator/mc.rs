//! mc
