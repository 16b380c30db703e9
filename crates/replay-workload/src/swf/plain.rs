//! Fast path for lines of eighteen plain integers, the form of nearly all lines of the archive.
//!
//! Eight bytes are examined at a time, without a branch for each byte. Every line that is not of this form (decimal
//! numbers, tabs, missing or additional fields, errors) is left to the parser in `parse`, which alone creates messages.

use super::{Field, Record};

/// Maximum length of a line in bytes; the lines of the archive have about 90 bytes.
const LONGEST: usize = 240;

/// A line, followed by blanks, so that eight bytes can be read at each position of the line.
const PADDED: usize = LONGEST + 16;

const BLANKS: u64 = u64::from_ne_bytes([b' '; 8]);
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// Maximum number of digits. Such an integer is exact in `f64`.
const MOST_DIGITS: usize = 15;

/// Parses a line (without line end) into `record`. Returns `false`, and leaves `record` unchanged, unless the line
/// consists of eighteen integers of at most fifteen digits that are separated by blanks. Field 6 may have zeros after a
/// decimal point.
pub(super) fn record(line: &[u8], record: &mut Record) -> bool {
    let Some(values) = integers(line) else { return false };
    let time = |field: Field| values[field.number() - 1] as f64;
    let integer = |field: Field| values[field.number() - 1];
    *record = Record {
        job_number: integer(Field::JobNumber),
        submit_time: time(Field::SubmitTime),
        wait_time: time(Field::WaitTime),
        run_time: time(Field::RunTime),
        allocated_processors: integer(Field::AllocatedProcessors),
        average_cpu_time: time(Field::AverageCpuTime),
        used_memory: integer(Field::UsedMemory),
        requested_processors: integer(Field::RequestedProcessors),
        requested_time: time(Field::RequestedTime),
        requested_memory: integer(Field::RequestedMemory),
        status: integer(Field::Status),
        user: integer(Field::User),
        group: integer(Field::Group),
        executable: integer(Field::Executable),
        queue: integer(Field::Queue),
        partition: integer(Field::Partition),
        preceding_job: integer(Field::PrecedingJob),
        think_time: time(Field::ThinkTime),
    };
    true
}

/// Returns the eighteen integers of a line; `None` if the line has another form.
fn integers(line: &[u8]) -> Option<[i64; Field::COUNT]> {
    let mut padded = [b' '; PADDED];
    if line.len() > LONGEST {
        return None;
    }
    padded[..line.len()].copy_from_slice(line);
    let mut values = [0; Field::COUNT];
    let mut at = 0;
    for (value, field) in values.iter_mut().zip(Field::ALL) {
        at = skip_blanks(&padded, at)?;
        let negative = padded[at] == b'-';
        at += usize::from(negative);
        let (high, count) = digits(word(&padded, at)?);
        at += count;
        let mut number = high;
        if count == 8 {
            let (low, more) = digits(word(&padded, at)?);
            at += more;
            number = high * POWERS[more] + low;
            if more > MOST_DIGITS - 8 {
                return None;
            }
        }
        // The archive writes whole CPU times as `489.00`.
        if padded[at] == b'.' && field == Field::AverageCpuTime && (1..=8).contains(&count) {
            let (fraction, places) = digits(word(&padded, at + 1)?);
            at += 1 + places;
            if fraction != 0 || places > MOST_DIGITS - 8 || number >= POWERS[8] {
                return None;
            }
        }
        if count == 0 || padded[at] != b' ' {
            return None;
        }
        let number = number as i64;
        *value = if negative { -number } else { number };
    }
    padded[at..].iter().all(|&byte| byte == b' ').then_some(values)
}

const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Returns the eight bytes from a position on; the first byte is the lowest.
#[inline]
fn word(padded: &[u8; PADDED], at: usize) -> Option<u64> {
    padded.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Returns the position of the first byte that is not a blank; `None` at the end of the line.
#[inline]
fn skip_blanks(padded: &[u8; PADDED], mut at: usize) -> Option<usize> {
    loop {
        let others = word(padded, at)? ^ BLANKS;
        if others != 0 {
            return Some(at + others.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
}

/// Returns the value and the number of the digits at the beginning of a word.
#[inline]
fn digits(word: u64) -> (u64, usize) {
    let values = word ^ ZEROS;
    // The upper half of a byte is zero before and after the addition of 6 only if the byte is a digit. A carry changes
    // only bytes after the first byte that is not a digit.
    let others = (values | values.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // Moves the digits to the end of the word; zeros precede them. Then adds neighbours: two, four and eight digits.
    let values = values << (64 - 8 * count);
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let first = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let second = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    (first.wrapping_add(second) >> 32, count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::swf::parse;

    /// Compares the fast path with the parser of all lines. Returns whether the line has the form of the fast path.
    fn compare(line: &[u8]) -> bool {
        let (mut fast, mut plain) = (Record::default(), Record::default());
        if !record(line, &mut fast) {
            return false;
        }
        let parsed = parse::by_field(line, &mut plain, &mut Vec::new());
        assert_eq!(parsed, Ok((Field::COUNT, &b""[..])), "{}", line.escape_ascii());
        // The output of a float distinguishes 0 and -0.
        assert_eq!(format!("{fast:?}"), format!("{plain:?}"), "{}", line.escape_ascii());
        true
    }

    #[test]
    fn only_lines_of_eighteen_integers_are_parsed() {
        let line = "  2   465 5 3362 32 -1 988 32 123456789012345 1024 1 3 -0 3 007 12345678 -1 -1";
        assert!(compare(line.as_bytes()) && compare(format!("{line}   ").as_bytes()));
        for cpu in ["489.00", "0.", "-0.0", "12345678.0000000"] {
            assert!(compare(line.replace("32 -1", &format!("32 {cpu}")).as_bytes()), "{cpu}");
        }
        for other in [
            line.replace("465", "4.5"),
            line.replace("32 -1", "32 9.50"),
            line.replace("988", "988.00"),
            line.replace("465", "1234567890123456"),
            line.replace("465", "4-5"),
            line.replace("465", "-"),
            line.replace("465", "--1"),
            line.replace("465", "/"),
            line.replace("465", ":"),
            line.replace(" 465", "\t465"),
            line.replace("12345678", "1&2"),
            format!("{line} x"),
            format!("{line} 1"),
            format!("{line}.5"),
            line.trim_end_matches(" -1").to_string(),
            format!("{line}{}", " ".repeat(LONGEST)),
            String::new(),
        ] {
            assert!(!compare(other.as_bytes()), "{other}");
        }
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_parser_of_all_lines(
            fields in proptest::collection::vec("[ ]{1,9}-?[0-9]{1,16}", 17..20),
        ) {
            let line = fields.concat();
            let plain = fields.len() == Field::COUNT
                && line.len() <= LONGEST
                && fields.iter().all(|field| field.trim().trim_start_matches('-').len() <= MOST_DIGITS);
            prop_assert_eq!(compare(line.as_bytes()), plain);
        }

        #[test]
        fn other_lines_agree_with_the_parser_of_all_lines(
            fields in proptest::collection::vec("[ ]{1,3}(-?[0-9]{1,9}|[ -~\t]{0,2}[0-9][!-~]?)", 18),
        ) {
            compare(fields.concat().as_bytes());
        }

        #[test]
        fn any_bytes_agree_with_the_parser_of_all_lines(line in proptest::collection::vec(any::<u8>(), 0..120)) {
            compare(&line);
        }
    }
}
