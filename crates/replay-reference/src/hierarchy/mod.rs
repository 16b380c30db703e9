//! Placement rules of trees and blocks step by step, as their sources state them, without state kept between decisions.

pub mod kueue;
pub mod slurm_block;
pub mod slurm_tree;
