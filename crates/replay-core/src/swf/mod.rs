//! The Standard Workload Format: reader and writer.
//!
//! ```text
//! trace    = { line end-of-line }
//! line     = blanks | comment | record
//! comment  = blanks ";" text                      -- `; Key: value`, see [`Header`]
//! record   = field { blanks field } [ extra ]     -- 5 to 18 fields; those missing are unknown
//! extra    = blanks text                          -- after field 18, whatever it is
//! field    = [ "-" ] digits                       -- -1 = unknown
//!          | [ "-" ] decimal                      -- in fields 2, 3, 4, 6, 9, 18 (seconds)
//! ```
//!
//! Format: SWF 2.2, Parallel Workloads Archive. A [`Reader`] takes any `BufRead`; [`Reader::open`] takes
//! a path and decompresses gzip by content. This room knows neither jobs nor machines: it hands out
//! [`Record`]s as the file has them, and errors with line, column and field. Some sites write
//! more than 18 fields; a reader keeps what follows as text ([`Reader::extra`]), and a writer
//! puts it back.
//!
//! Odd on purpose: a line that is no record is an error by default, since a trace that silently loses
//! lines gives plausible wrong results; a collecting mode ([`ReadOptions`]) skips, counts and gives up.
//! Binary data are one error, also in the collecting mode.

mod decode;
mod error;
mod field;
mod header;
mod parse;
mod reader;
mod record;
pub mod snippet;
mod tally;
mod writer;

#[cfg(test)]
mod tests;

pub use decode::{Decoder, GzipFault};
pub use error::{Error, Reason, RecordError};
pub use field::Field;
pub use header::{Entry, Header};
pub use reader::{OtherLines, Reader};
pub use record::Record;
pub use tally::{ErrorTally, ReadOptions};
pub use writer::{Writer, header_fields};
