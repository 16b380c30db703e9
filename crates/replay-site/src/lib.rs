//! A site's queue: partitions, priorities, fair share, limits, and the two loops of Slurm's scheduler.
//!
//! The rules are those of Slurm 26.05 for whole, equal nodes and jobs of a fixed size. Functions of Slurm are named with
//! their file.
//!
//! | module | contents |
//! |---|---|
//! | [`site`](mod@site) | a site: machine, partitions, QOS, associations and settings; reader of its files |
//! | [`conf`] | `slurm.conf` |
//! | [`qos`], [`assoc`] | `qos.txt` and `assoc.txt`, as `sacctmgr -P` prints them |
//! | [`sidecar`], [`jobs`] | users, accounts, partitions and QOS of the jobs of a trace |
//! | [`priority`] | the multifactor priority |
//! | [`usage`], [`fairshare`] | usage with decay; the fair tree and the classic rule |
//! | [`limits`] | limits of QOS and associations |
//! | [`placement`] | the choice of nodes |
//! | [`plan`] | the plan of the backfill |
//! | [`scheduler`] | main loop and backfill as a state machine |
//! | [`replay`](mod@replay) | a replay of a list of jobs |
//! | [`state`] | the present state, planned and expected starts |
//! | [`blocking`] | what keeps a waiting job from starting |
//! | [`strategy`], [`partitions`] | the scheduler and partitions on the command line |
//! | [`outcome`] | jobs and runs of a replay as rows of tables |
//! | [`explain`](mod@explain) | why a job of a replay started when it did |
//! | [`cases`] | priorities and fair shares of tables, for comparison with a controller |

pub mod assoc;
pub mod blocking;
pub mod cases;
pub mod conf;
pub mod csv_table;
pub mod dump;
pub mod error;
pub mod explain;
pub mod fairshare;
pub mod job;
pub mod jobs;
pub mod limits;
pub mod node_set;

pub mod outcome;
pub mod partitions;
pub mod placement;
pub mod plan;
pub mod priority;
pub mod qos;
pub mod reason;
pub mod replay;
pub mod scheduler;
pub mod sidecar;
pub mod site;
pub mod state;
pub mod strategy;
pub mod times;
pub mod tres;
pub mod usage;
