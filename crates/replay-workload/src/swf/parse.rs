//! Parses a line to a [`Record`] with small parsers that use the library nom.
//!
//! Digits are parsed by hand-written loops inside the nom parsers: nearly every field is a short integer, and a general
//! number parser would dominate the run time. Input that a loop cannot parse exactly (exponents, more than fifteen
//! digits) is passed to the standard library.

use nom::error::{ErrorKind, ParseError};
use nom::{IResult, Parser, bytes::complete::take_while, sequence::preceded};

use super::{Field, Reason, Record};

/// Minimum number of fields of a line. Field 5 is the size, and a job without a size cannot be replayed.
pub(super) const REQUIRED_FIELDS: usize = 5;

/// Upper limit of times in seconds. Integers below this limit are exact in `f64`.
const EXACT: u64 = 1 << 53;

/// Powers of ten that are exact in `f64`, for the fast path.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The reason why a line is malformed, and the position of the offending text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) reason: Reason,
    pub(super) field: Field,
    /// Byte range of the offending text in the line.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A malformed token: the reason, and the input from the beginning of the token.
#[derive(Debug)]
struct Bad<'a> {
    rest: &'a [u8],
    reason: Reason,
}

impl<'a> ParseError<&'a [u8]> for Bad<'a> {
    fn from_error_kind(rest: &'a [u8], _: ErrorKind) -> Self {
        Bad { rest, reason: Reason::NotANumber }
    }

    fn append(_: &'a [u8], _: ErrorKind, other: Self) -> Self {
        other
    }
}

type Parsed<'a, T> = IResult<&'a [u8], T, Bad<'a>>;

/// Parses a line (without line end) into `record`; missing fields become `-1`. If field 17 contains several job numbers
/// (`1&2&3`), the record has the first, and `others` the other numbers; otherwise, `others` becomes empty. Returns the
/// number of fields, and the text after the last field, which is usually empty.
pub(super) fn record<'a>(
    line: &'a [u8],
    record: &mut Record,
    others: &mut Vec<i64>,
) -> Result<(usize, &'a [u8]), Fault> {
    others.clear();
    let mut fields = Fields { line, rest: line, read: 0 };
    record.job_number = fields.integer(Field::JobNumber)?;
    record.submit_time = fields.time(Field::SubmitTime)?;
    record.wait_time = fields.time(Field::WaitTime)?;
    record.run_time = fields.time(Field::RunTime)?;
    record.allocated_processors = fields.integer(Field::AllocatedProcessors)?;
    record.average_cpu_time = fields.time(Field::AverageCpuTime)?;
    record.used_memory = fields.integer(Field::UsedMemory)?;
    record.requested_processors = fields.integer(Field::RequestedProcessors)?;
    record.requested_time = fields.time(Field::RequestedTime)?;
    record.requested_memory = fields.integer(Field::RequestedMemory)?;
    record.status = fields.integer(Field::Status)?;
    record.user = fields.integer(Field::User)?;
    record.group = fields.integer(Field::Group)?;
    record.executable = fields.integer(Field::Executable)?;
    record.queue = fields.integer(Field::Queue)?;
    record.partition = fields.integer(Field::Partition)?;
    record.preceding_job = fields.integers(Field::PrecedingJob, others)?;
    record.think_time = fields.time(Field::ThinkTime)?;
    fields.finish()
}

/// A cursor over the fields of a line.
struct Fields<'a> {
    line: &'a [u8],
    rest: &'a [u8],
    /// Number of fields parsed so far.
    read: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    fn integer(&mut self, field: Field) -> Result<i64, Fault> {
        self.next(field, integer, -1)
    }

    /// Parses integers that are separated by `&`, as in workloads of Alea. Returns the first integer; the others are
    /// pushed to `others`.
    #[inline]
    fn integers(&mut self, field: Field, others: &mut Vec<i64>) -> Result<i64, Fault> {
        let text = skip_blanks(self.rest);
        let token = &text[..token_len(text)];
        if !token.contains(&b'&') {
            return self.integer(field);
        }
        let mut first = None;
        for part in token.split(|&byte| byte == b'&') {
            match integer(part) {
                Ok((_, value)) if first.is_none() => first = Some(value),
                Ok((_, value)) => others.push(value),
                Err(error) => {
                    self.rest = text;
                    let reason = match error {
                        nom::Err::Error(bad) | nom::Err::Failure(bad) => bad.reason,
                        nom::Err::Incomplete(_) => Reason::NotANumber,
                    };
                    return Err(self.fault(reason, field));
                }
            }
        }
        self.rest = &text[token.len()..];
        self.read += 1;
        Ok(first.unwrap_or(-1))
    }

    #[inline]
    fn time(&mut self, field: Field) -> Result<f64, Fault> {
        self.next(field, time, -1.0)
    }

    #[inline]
    fn next<T>(
        &mut self,
        field: Field,
        value: fn(&'a [u8]) -> Parsed<'a, T>,
        missing: T,
    ) -> Result<T, Fault> {
        match preceded(blanks, value).parse(self.rest) {
            Ok((rest, value)) => {
                self.rest = rest;
                self.read += 1;
                Ok(value)
            }
            Err(nom::Err::Error(bad) | nom::Err::Failure(bad)) => {
                self.rest = bad.rest;
                if bad.rest.is_empty() { Ok(missing) } else { Err(self.fault(bad.reason, field)) }
            }
            // `complete` parsers never return `Incomplete`.
            Err(nom::Err::Incomplete(_)) => Ok(missing),
        }
    }

    /// Returns the number of fields and the remaining text; fails if there are too few fields.
    fn finish(self) -> Result<(usize, &'a [u8]), Fault> {
        if self.read < REQUIRED_FIELDS {
            return Err(self.fault(Reason::TooFewFields, Field::ALL[self.read]));
        }
        Ok((self.read, skip_blanks(self.rest)))
    }

    /// Creates a fault for the token at the beginning of `rest`.
    #[cold]
    fn fault(&self, reason: Reason, field: Field) -> Fault {
        let start = self.line.len() - self.rest.len();
        Fault { reason, field, start, end: start + token_len(self.rest) }
    }
}

/// Returns whether the byte separates fields.
#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[inline]
fn skip_blanks(mut input: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = input {
        if !is_blank(*first) {
            break;
        }
        input = rest;
    }
    input
}

#[inline]
fn blanks(input: &[u8]) -> Parsed<'_, ()> {
    Ok((skip_blanks(input), ()))
}

fn token_len(input: &[u8]) -> usize {
    input.iter().take_while(|&&byte| !is_blank(byte)).count()
}

/// Parses a whole token, for the slow paths.
fn token(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_while(|byte| !is_blank(byte)).parse(input)
}

fn bad<T>(rest: &[u8], reason: Reason) -> Parsed<'_, T> {
    Err(nom::Err::Error(Bad { rest, reason }))
}

/// Parses the leading digits, and returns their value and their number. Values of more than 18 digits wrap around, so
/// callers must check the number of digits.
#[inline]
fn digits(input: &[u8]) -> (u64, usize) {
    let mut value = 0u64;
    let mut count = 0;
    while let Some(digit) = input.get(count).map(|byte| byte.wrapping_sub(b'0')).filter(|&d| d < 10)
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    (value, count)
}

#[inline]
fn sign(input: &[u8]) -> (bool, &[u8]) {
    match input {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, input),
    }
}

#[inline]
fn ends_token(rest: &[u8]) -> bool {
    rest.first().is_none_or(|&byte| is_blank(byte))
}

#[inline]
fn integer(input: &[u8]) -> Parsed<'_, i64> {
    let (negative, unsigned) = sign(input);
    let (value, count) = digits(unsigned);
    let rest = &unsigned[count..];
    if (1..=18).contains(&count) && ends_token(rest) {
        // Eighteen digits fit in an i64.
        let value = value as i64;
        return Ok((rest, if negative { -value } else { value }));
    }
    slow_integer(input)
}

#[cold]
fn slow_integer(input: &[u8]) -> Parsed<'_, i64> {
    let (rest, text) = token(input)?;
    let text = std::str::from_utf8(text).unwrap_or("");
    match text.parse::<i64>() {
        Ok(value) if !text.starts_with('+') => Ok((rest, value)),
        _ if text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_digit())
            && text.len() > 1 =>
        {
            bad(input, Reason::OutOfRange)
        }
        _ if decimal(text).is_some() => bad(input, Reason::NotAnInteger),
        _ => bad(input, Reason::NotANumber),
    }
}

#[inline]
fn time(input: &[u8]) -> Parsed<'_, f64> {
    let (negative, unsigned) = sign(input);
    let (whole, count) = digits(unsigned);
    let rest = &unsigned[count..];
    if (1..=15).contains(&count) {
        if ends_token(rest) {
            // The value is below 2^53, so the conversion is exact. The value is first converted to i64, so that `-0`
            // becomes 0.
            let value = whole as i64;
            return Ok((rest, (if negative { -value } else { value }) as f64));
        }
        if let [b'.', fraction @ ..] = rest {
            let (part, places) = digits(fraction);
            let rest = &fraction[places..];
            if count + places <= 15 && ends_token(rest) {
                // A single correctly rounded division of two exact numbers gives the nearest f64 (Clinger 1990).
                let scale = POWERS[places];
                let mantissa = whole as f64 * scale + part as f64;
                let value = mantissa / scale;
                return Ok((rest, if negative && mantissa > 0.0 { -value } else { value }));
            }
        }
    }
    slow_time(input)
}

#[cold]
fn slow_time(input: &[u8]) -> Parsed<'_, f64> {
    let (rest, text) = token(input)?;
    match std::str::from_utf8(text).ok().and_then(decimal) {
        // `+ 0.0` converts -0 to 0.
        Some(value) if value.abs() < EXACT as f64 => Ok((rest, value + 0.0)),
        Some(_) => bad(input, Reason::OutOfRange),
        None => bad(input, Reason::NotANumber),
    }
}

/// Parses a decimal number. Exponents are accepted (some writers print `1e+06`); `inf`, `nan` and `+1` are not.
fn decimal(text: &str) -> Option<f64> {
    let plain =
        text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    if plain && !text.starts_with('+') { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &str) -> Result<Record, Fault> {
        let mut out = Record::UNKNOWN;
        record(line.as_bytes(), &mut out, &mut Vec::new()).map(|_| out)
    }

    #[test]
    fn parses_a_line_of_the_archive() {
        let r = parse("    2      465      5   3362   32 489.00   988   32    900  1024  1   3   3   3  1 -1 -1 -1").unwrap();
        assert_eq!(
            (r.job_number, r.submit_time, r.run_time, r.allocated_processors),
            (2, 465.0, 3362.0, 32)
        );
        assert_eq!((r.average_cpu_time, r.requested_time, r.status, r.queue), (489.0, 900.0, 1, 1));
        assert_eq!((r.partition, r.think_time), (-1, -1.0));
    }

    #[test]
    fn missing_trailing_fields_are_unknown() {
        let r = parse("1 2 3 4 5").unwrap();
        assert_eq!(r.allocated_processors, 5);
        assert_eq!(r.average_cpu_time, -1.0);
        let fault = parse("1 2 3 4  ").unwrap_err();
        assert_eq!((fault.reason, fault.field), (Reason::TooFewFields, Field::AllocatedProcessors));
    }

    #[test]
    fn faults_have_field_and_position() {
        let at = |line| {
            parse(line).map_err(|f| (f.reason, f.field.number(), f.start, f.end)).unwrap_err()
        };
        assert_eq!(at("1 2 3 4 5 6 7 8 12x 1"), (Reason::NotANumber, 9, 16, 19));
        assert_eq!(at("1 2 3 4 5.5"), (Reason::NotAnInteger, 5, 8, 11));
        assert_eq!(at("1 2 3 4 99999999999999999999"), (Reason::OutOfRange, 5, 8, 28));
        assert_eq!(at("1 9007199254740992 3 4 5"), (Reason::OutOfRange, 2, 2, 18));
        assert_eq!(at("1 nan 3 4 5"), (Reason::NotANumber, 2, 2, 5));
        assert_eq!(at("1 +2 3 4 5"), (Reason::NotANumber, 2, 2, 4));
        assert_eq!(at("- 2 3 4 5"), (Reason::NotANumber, 1, 0, 1));
    }

    #[test]
    fn returns_the_text_after_the_last_field() {
        let mut out = Record::UNKNOWN;
        let eighteen = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18";
        for (more, extra) in [("", ""), (" \t ", ""), (" xx 20", "xx 20"), ("\t{7,7} q", "{7,7} q")]
        {
            let line = format!("{eighteen}{more}");
            assert_eq!(
                record(line.as_bytes(), &mut out, &mut Vec::new()),
                Ok((18, extra.as_bytes())),
                "{line}"
            );
            assert_eq!(out.think_time, 18.0);
        }
    }

    #[test]
    fn field_17_may_have_several_numbers() {
        let sixteen = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        let parse = |rest: &str| {
            let (mut out, mut others) = (Record::UNKNOWN, vec![99]);
            let line = format!("{sixteen} {rest}");
            let fields = record(line.as_bytes(), &mut out, &mut others).map(|found| found.0);
            (fields, out.preceding_job, others)
        };
        assert_eq!(parse("3"), (Ok(17), 3, vec![]));
        assert_eq!(parse("1&2&3 5"), (Ok(18), 1, vec![2, 3]));
        assert_eq!(parse("1&2\t5 x"), (Ok(18), 1, vec![2]));
        for bad in ["1&", "&", "1&&2", "1&x", "1&2.5", "1& 2", "1&99999999999999999999"] {
            let fault = parse(bad).0.unwrap_err();
            assert_eq!((fault.field, fault.start), (Field::PrecedingJob, 39), "{bad}");
        }
        // Other fields have one number.
        assert_eq!(super::tests::parse("1 2 3 4 5&6").unwrap_err().reason, Reason::NotANumber);
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_standard_library(value: i64) {
            let line = format!("{value} 0 0 0 {value}");
            let r = parse(&line).unwrap();
            prop_assert_eq!((r.job_number, r.allocated_processors), (value, value));
        }

        #[test]
        fn times_agree_with_the_standard_library(text in "-?[0-9]{1,9}(\\.[0-9]{0,12})?(e[+-]?[0-3])?") {
            let r = parse(&format!("1 {text} 0 0 1")).unwrap();
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(r.submit_time, expected);
        }

        #[test]
        fn any_line_gives_a_record_or_a_fault_position(line in proptest::collection::vec(any::<u8>(), 0..120)) {
            let mut out = Record::UNKNOWN;
            match record(&line, &mut out, &mut Vec::new()) {
                Ok((fields, extra)) => prop_assert!((5..=18).contains(&fields) && line.ends_with(extra)),
                Err(fault) => prop_assert!(fault.start <= fault.end && fault.end <= line.len()),
            }
        }
    }
}
