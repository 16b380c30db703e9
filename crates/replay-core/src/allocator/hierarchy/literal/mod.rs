//! The rules step by step, as their sources state them, without any state kept between decisions. Tests compare the
//! allocators with them.

pub mod kueue;
pub mod slurm_block;
pub mod slurm_tree;
