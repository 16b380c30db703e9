//! Calls the Parquet reader safely. Damaged files cause errors, never panics, and cannot make the reader allocate more
//! memory than the size of the file justifies.

use std::cell::Cell;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use polars_error::PolarsResult;
use polars_parquet::read::{FileMetadata, read_metadata};

thread_local! {
    /// Whether panics of this thread are expected.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Number of rows that is accepted in every row group, even if the group has few bytes: writers put at most 64 Mi rows
/// into a group.
const PLAUSIBLE_ROWS: u64 = 1 << 26;

/// Runs code of the Parquet reader, which may panic on damaged files, and returns a panic as an
/// error. Panics of this thread are not printed; panics of other threads are printed as usual.
///
/// # Errors
/// A message if the reader returns an error or panics.
pub fn caught<T>(run: impl FnOnce() -> PolarsResult<T>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                before(info);
            }
        }));
    });
    let outer = EXPECTED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    EXPECTED.set(outer);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("damaged or unsupported: {error}")),
        Err(_) => Err("damaged or unsupported".to_string()),
    }
}

/// Reads the footer of a file and checks that its counts agree with each other and with the size of the file. The check
/// is necessary because readers allocate memory according to these counts before they read any value.
///
/// # Errors
/// A message that describes the fault of the footer.
pub fn footer(file: &mut (impl Read + Seek)) -> Result<FileMetadata, String> {
    let bytes =
        file.seek(SeekFrom::End(0)).map_err(|error| format!("cannot read the file: {error}"))?;
    let metadata = caught(|| read_metadata(file))?;
    caught(|| Ok(counts(&metadata, bytes)))??;
    Ok(metadata)
}

/// Checks the counts in the footer of a file of `bytes` bytes.
///
/// # Errors
/// A message about the first wrong count.
pub fn counts(metadata: &FileMetadata, bytes: u64) -> Result<(), String> {
    let mut rows = 0_u64;
    for group in &metadata.row_groups {
        let of_group = group.num_rows() as u64;
        // Writers do not exceed `PLAUSIBLE_ROWS`; a larger group is accepted only if the file has at least one bit per
        // row.
        if of_group > PLAUSIBLE_ROWS.max(bytes.saturating_mul(8)) {
            return Err(format!(
                "damaged: a row group of {of_group} rows, which is impossible in a file of {bytes} bytes"
            ));
        }
        for column in group.parquet_columns() {
            let values = column.num_values();
            let flat = column.descriptor().descriptor.max_rep_level == 0;
            if values < 0 || (flat && values as u64 != of_group) {
                let name = column.descriptor().path_in_schema.join(".");
                return Err(format!(
                    "damaged: column {name} has {values} values in {of_group} rows"
                ));
            }
        }
        rows = rows.saturating_add(of_group);
    }
    match rows == metadata.num_rows as u64 {
        true => Ok(()),
        false => {
            let all = metadata.num_rows;
            Err(format!("damaged: {all} rows according to the file, but {rows} in its row groups"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_messages() {
        let error = caught(|| -> PolarsResult<()> { panic!("as expected") });
        assert!(error.is_err_and(|what| what.starts_with("damaged")));
        assert_eq!(caught(|| Ok(3)), Ok(3));
        assert!(!EXPECTED.get());
    }
}
