//! The header of a trace: lines `; Key: value`, stored both as raw bytes and as a list of entries.

/// An entry `Key: value` of the header, including its continuation lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key as written in the file, e.g. `MaxProcs`.
    pub key: String,
    /// The value without surrounding blanks; lines of a continued value are joined by `\n`.
    pub value: String,
}

/// The comment lines of a trace.
///
/// A line is an entry `; Key: value` if its first word is a key. A key begins with a letter and consists of letters,
/// digits, `_` or `-`. The key is followed by a colon, and the colon is followed by a blank or the end of the line. The
/// line `; http://host/` is therefore not an entry. A `;` line without a key continues the previous value. An empty `;`
/// line is ignored. Keys may be repeated.
///
/// ```
/// use replay_workload::swf::Header;
///
/// let header = Header::parse(b"; MaxNodes: 400 (48 interactive, 352 batch)\n; MaxProcs: 1024\n");
/// assert_eq!(header.max_nodes(), Some(400));
/// assert_eq!(header.max_procs(), Some(1024));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    raw: Vec<u8>,
    entries: Vec<Entry>,
}

impl Header {
    /// Parses header text, one or more `;` lines. Any bytes are accepted; invalid UTF-8 is replaced in the values.
    pub fn parse(text: &[u8]) -> Header {
        let mut header = Header::default();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            header.push_line(line);
        }
        header
    }

    /// Adds a line (including its line end, if present) to the raw text and to the entries.
    pub(super) fn push_line(&mut self, line: &[u8]) {
        self.raw.extend_from_slice(line);
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let text = text.strip_prefix(';').unwrap_or(text).trim();
        if let Some((key, value)) = split_key(text) {
            self.entries.push(Entry { key: key.to_owned(), value: value.to_owned() });
        } else if let (false, Some(last)) = (text.is_empty(), self.entries.last_mut()) {
            if !last.value.is_empty() {
                last.value.push('\n');
            }
            last.value.push_str(text);
        }
    }

    /// Returns the `;` lines as in the file, including line ends, in file order.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Returns all entries in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the first value of `key`, ignoring case.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|e| e.key.eq_ignore_ascii_case(key)).map(|e| e.value.as_str())
    }

    /// Returns the integer at the beginning of the first value of `key`, such as 400 for `400 (48 interactive, 352
    /// batch)` and 1024 for `1,024`; `None` if the text continues the number in another way (`1.5`, `1 024`).
    pub fn integer(&self, key: &str) -> Option<i64> {
        leading_integer(self.get(key)?)
    }

    /// Returns `MaxProcs`: the number of processors of the machine.
    pub fn max_procs(&self) -> Option<u32> {
        self.count("MaxProcs")
    }

    /// Returns `MaxNodes`: the number of nodes of the machine.
    pub fn max_nodes(&self) -> Option<u32> {
        self.count("MaxNodes")
    }

    /// Returns `UnixStartTime`: time 0 of the log in seconds since 1970-01-01 UTC.
    pub fn unix_start_time(&self) -> Option<i64> {
        self.integer("UnixStartTime")
    }

    /// Returns `TimeZone`: the seconds to add to UTC for local time (superseded by `TimeZoneString` in SWF 2.2).
    pub fn time_zone(&self) -> Option<i64> {
        self.integer("TimeZone")
    }

    /// Returns the first value of `key` if its first word has digits but the value has no [integer](Self::integer).
    pub fn unreadable(&self, key: &str) -> Option<&str> {
        let value = self.get(key).filter(|text| leading_integer(text).is_none())?;
        let word = value.split_whitespace().next()?;
        word.bytes().any(|byte| byte.is_ascii_digit()).then_some(value)
    }

    fn count(&self, key: &str) -> Option<u32> {
        u32::try_from(self.integer(key)?).ok().filter(|&n| n > 0)
    }
}

/// Splits `Key: value`; `None` if the text does not start with a key.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let key = key.trim_end();
    let well_formed = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (well_formed && (value.is_empty() || value.starts_with(char::is_whitespace)))
        .then(|| (key, value.trim()))
}

/// Returns the integer at the beginning of `text`. Commas may separate groups of three digits: `1,024`.
///
/// Text that continues the number in another way has no integer: `1.5`, `1e3`, `10,24`, `2x512`. Blanks that separate
/// groups of three digits are ambiguous, because `48 352` may be one number or two, and have no integer either.
fn leading_integer(text: &str) -> Option<i64> {
    let is_number = |c: char| c.is_ascii_digit() || c == ',';
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let length = unsigned.find(|c| !is_number(c)).unwrap_or(unsigned.len());
    // The last commas may belong to the text after the number: `1024, of these 16 down`.
    let number = unsigned[..length].trim_end_matches(',');
    let after = &unsigned[number.len()..];
    let groups: Vec<&str> = number.split(',').collect();
    let is_grouped = matches!(groups[..], [first, _, ..] if (1..=3).contains(&first.len()))
        && groups[1..].iter().all(|group| group.len() == 3);
    let is_at_end = match after.strip_prefix(['.', ',', ';', ':']) {
        Some(after) => after.is_empty() || after.starts_with(char::is_whitespace),
        None => after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || c == '('),
    };
    let next = after.split_whitespace().next().unwrap_or("");
    let next = next.trim_end_matches(|c: char| c.is_ascii_punctuation());
    let is_split = after.starts_with(char::is_whitespace)
        && groups.last().is_some_and(|group| group.len() <= 3)
        && next.split(',').next().is_some_and(|group| group.len() == 3)
        && next.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    if !is_at_end || is_split || (groups.len() > 1 && !is_grouped) {
        return None;
    }
    let value: i64 = groups.concat().parse().ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "; Computer: Intel iPSC/860\r\n;\n; Information: http://www.nas.nasa.gov/\n\
        ;              http://www.cs.huji.ac.il/\n; Queue:  0  interactive    \n; Queue:  1  batch\n;TimeZone: -28800\n";

    #[test]
    fn keys_repeat_and_lines_without_key_continue() {
        let header = Header::parse(TEXT.as_bytes());
        assert_eq!(header.raw(), TEXT.as_bytes());
        assert_eq!(header.get("computer"), Some("Intel iPSC/860"));
        assert_eq!(
            header.get("information"),
            Some("http://www.nas.nasa.gov/\nhttp://www.cs.huji.ac.il/")
        );
        let queues = header.entries().iter().filter(|entry| entry.key == "Queue");
        assert!(queues.map(|entry| &*entry.value).eq(["0  interactive", "1  batch"]));
        assert_eq!(header.time_zone(), Some(-28800));
        assert_eq!(header.max_procs(), None);
    }

    #[test]
    fn invalid_values_are_not_numbers() {
        let header = Header::parse(
            b"; MaxProcs: -1\n; MaxJobs: many\n; MaxNodes: 99999999999\n; Note:\n; MaxRecords: -\n",
        );
        assert_eq!(header.max_procs(), None);
        assert_eq!(header.integer("MaxJobs"), None);
        assert_eq!(header.max_nodes(), None);
        assert_eq!(header.integer("MaxRecords"), None);
        assert_eq!(header.get("Note"), Some(""));
    }

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        for (text, expected) in [
            ("1024", Some(1024)),
            ("1024 (512 nodes)", Some(1024)),
            ("1024(512 nodes)", Some(1024)),
            ("1024 processors", Some(1024)),
            ("1024, of these 16 down", Some(1024)),
            ("1024 512 nodes", Some(1024)),
            ("400 (48 interactive, 352 batch)", Some(400)),
            ("128 8-way nodes", Some(128)),
            ("1,024", Some(1024)),
            ("1,024 (512 nodes)", Some(1024)),
            ("1,108,771,200 Sat", Some(1_108_771_200)),
            ("-28,800", Some(-28_800)),
            ("+3600", Some(3600)),
            ("1 024", None),
            ("1\u{a0}024", None),
            ("12 345 678", None),
            ("1'024", None),
            ("1_024", None),
            ("1.024", None),
            ("10,24", None),
            ("1024,512", None),
            ("1,0244", None),
            (",512", None),
            ("1e3", None),
            ("0x400", None),
            ("2x512", None),
            ("64-128", None),
            ("~1024", None),
            ("--5", None),
        ] {
            for key in ["MaxProcs", "MaxNodes", "MaxJobs", "UnixStartTime"] {
                let header = Header::parse(format!("; {key}: {text}\n").as_bytes());
                assert_eq!(header.integer(key), expected, "{key}: {text}");
            }
        }
    }

    #[test]
    fn bytes_outside_utf8_stay_in_the_raw_text() {
        let header = Header::parse(b"; Installation: KTH \xd6\n");
        assert_eq!(header.raw(), b"; Installation: KTH \xd6\n");
        assert_eq!(header.get("Installation"), Some("KTH \u{fffd}"));
    }
}
