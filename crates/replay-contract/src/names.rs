//! Names of allocators.

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::NameError;

/// Checks names of allocators. In `canonical`, the second name is the canonical form of the first; in `invalid`, the
/// error of a name contains the text beside it.
pub fn check_names(
    read: impl Fn(&str) -> Result<AllocatorSpec, NameError>,
    canonical: &[(&str, &str)],
    invalid: &[(&str, &str)],
) {
    for &(name, expected) in canonical {
        for text in [name, expected] {
            let read = read(text).map(|spec| spec.to_string()).map_err(|error| error.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
    }
    for &(text, problem) in invalid {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(problem), "{error}");
    }
}
