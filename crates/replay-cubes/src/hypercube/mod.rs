//! Strategies for hypercubes.
//!
//! A job requests a mesh: its own shape, or a mesh that a rule selects. The mesh is embedded in a
//! subcube by Gray codes.
//! Subcubes are written as ternary strings such as `0**10*`, highest dimension first. Most strategies are described
//! in S. W. Turner, "Processor scheduling in a distributed-memory computing environment", PhD thesis, Michigan State
//! University, 1995. Strategies that the thesis only mentions follow the papers that it cites; each file states its
//! source.
//!
//! | module | strategy | recognised subcubes of k dimensions |
//! |---|---|---|
//! | [`block_search`]: buddy | aligned ranges of addresses | 2^(n-k) |
//! | [`block_search`]: Gray code | ranges along a Gray code | 2^(n-k+1) for 0 < k < n |
//! | [`block_search`]: modified buddy | an aligned range and one partner of this range | (n-k+1) 2^(n-k) for k > 0 |
//! | `multiple_gray_code` | ranges along several Gray codes | all, with all codes |
//! | [`free_list`] | lists of free subcubes (FL) | all, C(n,k) 2^(n-k) |
//! | `maximal_set` | best fit in a maximal set of free subcubes (MSS) | all |
//! | `auxiliary` | unused parts of allocated subcubes, on top of any of these strategies (AFL) | |
//! | `non_cubic` | a job in several adjacent subcubes of the free list | |
//!
//! | module | concept |
//! |---|---|
//! | [`subcube`](replay_engine::allocator::subcube) | subcubes, Gray codes; the mesh of a job and its embedding in a subcube |
//! | [`cubic`] | common code of strategies with one subcube per job |
//! | `block_tree`, `lists`, `node_set` | free processors: by aligned block, as lists of subcubes (and merging them), as a set |
//! | `chains` | cubes by owner |
//! | `names` | names and parameters |
//! | `recognition` | finding every free subcube |

mod auxiliary;
pub mod block_search;
mod block_tree;
mod chains;
pub mod cubic;
pub mod free_list;
mod lists;
mod maximal_set;
mod multiple_gray_code;
pub(crate) mod names;
mod node_set;
mod non_cubic;
mod recognition;

#[cfg(test)]
mod tests;
