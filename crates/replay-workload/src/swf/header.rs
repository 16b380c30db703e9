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
    /// batch)`.
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

fn leading_integer(text: &str) -> Option<i64> {
    let signed = text.strip_prefix('-').unwrap_or(text);
    let digits = signed.bytes().take_while(u8::is_ascii_digit).count();
    text[..text.len() - signed.len() + digits].parse().ok()
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
    fn bytes_outside_utf8_stay_in_the_raw_text() {
        let header = Header::parse(b"; Installation: KTH \xd6\n");
        assert_eq!(header.raw(), b"; Installation: KTH \xd6\n");
        assert_eq!(header.get("Installation"), Some("KTH \u{fffd}"));
    }
}
