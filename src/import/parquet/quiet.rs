//! A library that panics on damaged files, made to return errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use polars::prelude::PolarsResult;

thread_local! {
    /// Whether a panic of this thread is expected.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs what may panic on this thread. Neither error nor panic leaves more than words; a panic is
/// not told on standard error.
pub(super) fn caught<T>(run: impl FnOnce() -> PolarsResult<T>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                before(info);
            }
        }));
    });
    EXPECTED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    EXPECTED.set(false);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("damaged, or of a kind that is not read: {error}")),
        Err(_) => Err("damaged, or of a kind that is not read".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn panics_are_words() {
        let error = caught(|| -> polars::prelude::PolarsResult<()> { panic!("as expected") });
        assert!(error.is_err_and(|what| what.starts_with("damaged")));
        assert_eq!(caught(|| Ok(3)), Ok(3));
    }
}
