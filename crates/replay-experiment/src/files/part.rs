//! Temporary names of incomplete files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Text between the name of a file and the process id in a temporary name.
const MARK: &[u8] = b".replay-";
/// End of a temporary name.
const END: &[u8] = b".part";
/// Maximum number of bytes of the name of the file in a temporary name. A whole temporary name has at most 255 bytes.
const LONGEST: usize = 210;

/// Returns a temporary name for the incomplete file `name`: `NAME.replay-PID-N.part`. N is different in each call.
pub(super) fn part_name(name: &OsStr) -> OsString {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let number = CALLS.fetch_add(1, Ordering::Relaxed);
    let numbers = format!("{}-{number}", process::id());
    OsString::from_vec([stem(name), MARK, numbers.as_bytes(), END].concat())
}

/// Returns whether `part` is a temporary name of the file `name`.
pub(super) fn is_part_of(part: &OsStr, name: &OsStr) -> bool {
    let numbers = part.as_bytes().strip_prefix(stem(name));
    let numbers = numbers.and_then(|rest| rest.strip_prefix(MARK)?.strip_suffix(END));
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    numbers.is_some_and(|numbers| {
        let parts: Vec<&[u8]> = numbers.split(|byte| *byte == b'-').collect();
        parts.len() == 2 && parts.into_iter().all(is_number)
    })
}

fn stem(name: &OsStr) -> &[u8] {
    let name = name.as_bytes();
    let mut end = name.len().min(LONGEST);
    // Do not split a character of UTF-8.
    while end < name.len() && name[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &name[..end]
}
