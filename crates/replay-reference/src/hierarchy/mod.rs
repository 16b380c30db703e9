//! Reference implementations of the placement rules for trees and blocks. The implementations follow their rules step
//! by step and keep no state between decisions.

pub mod kueue;
pub mod slurm_block;
pub mod slurm_tree;
pub mod tree_fit;
