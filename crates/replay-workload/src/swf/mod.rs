//! The Standard Workload Format: reader and writer.
//!
//! ```text
//! trace    = { line end-of-line }
//! line     = blanks | comment | record
//! comment  = blanks ";" text                      -- `; Key: value`, see [`Header`]
//! record   = field { blanks field } [ extra ]     -- 5 to 18 fields; missing fields are unknown
//! extra    = blanks text                          -- any text after field 18
//! field    = [ "-" ] digits                       -- -1 = unknown
//!          | [ "-" ] decimal                      -- in fields 2, 3, 4, 6, 9, 18 (seconds)
//! ```
//!
//! Format: SWF 2.2, Parallel Workloads Archive. A [`Reader`] reads any `BufRead`. [`Reader::open`] opens a path and
//! decompresses gzip, which is detected by content. This module does not interpret the contents of records. A reader
//! returns each record as a [`Record`] with the values in the file. An error contains the line, the column and the
//! field. Some sites write more than 18 fields; a reader returns the rest of the line as text ([`Reader::extra`]), and
//! a writer writes this text unchanged.
//!
//! By default, a line that is not a record is an error, because results computed without this line would be plausible
//! but wrong. A collecting mode ([`ReadOptions`]) skips and counts bad lines up to a limit. Binary data are an error in
//! both modes.

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
pub(crate) use writer::write_generated;
pub use writer::{Writer, header_fields};
