//! Lines and `key=value` pairs of Slurm's configuration files (`src/common/parse_config.c`).
//!
//! * `#` begins a comment, also inside quotation marks. `\#` is a `#`, `\\` is a `\`.
//! * A line that ends with `\` is joined with the next line, without a blank between them.
//! * Blanks may precede and follow the `=` of a pair.
//! * A value in quotation marks may contain blanks. The quotation marks are not part of the value.

use replay_engine::sanitize::excerpt;

/// Calls `visit` with the text and the number of each line that is not blank. Continued lines are joined; their number
/// is the number of the first of them, from 1. The text contains neither comments nor escape characters.
///
/// # Errors
/// The first error of `visit`, with the number of the line.
pub fn for_lines(
    text: &str,
    mut visit: impl FnMut(&str, usize) -> Result<(), String>,
) -> Result<(), (usize, String)> {
    let (mut joined, mut first) = (String::new(), 1);
    let mut end = |joined: &mut String, line: usize| {
        let visited = match joined.trim().is_empty() {
            true => Ok(()),
            false => visit(&without_escapes(joined), line).map_err(|problem| (line, problem)),
        };
        joined.clear();
        visited
    };
    let mut is_continued = false;
    for (line, text) in (1..).zip(text.lines()) {
        if !is_continued {
            first = line;
        }
        let text = without_comment(text);
        let trimmed = text.trim_end();
        let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
        is_continued = backslashes % 2 == 1;
        match is_continued {
            true => joined.push_str(&trimmed[..trimmed.len() - 1]),
            false => {
                joined.push_str(text);
                end(&mut joined, first)?;
            }
        }
    }
    end(&mut joined, first)
}

/// Returns the text before the first `#` that no `\` precedes.
fn without_comment(text: &str) -> &str {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'#' if !escaped => return &text[..at],
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text
}

/// Removes each `\` and keeps the character after it.
fn without_escapes(text: &str) -> String {
    let mut chars = text.chars();
    let mut kept = String::with_capacity(text.len());
    while let Some(char) = chars.next() {
        kept.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    kept
}

/// Returns the keys and values of a line. A key without a value has an empty value.
///
/// # Errors
/// A message if a part of the line is not a pair, or if a quotation mark is not closed.
pub fn pairs(line: &str) -> Result<Vec<(&str, &str)>, String> {
    let mut all = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = key_of(rest) else {
            let word = rest.split_whitespace().next().unwrap_or_default();
            return Err(match word.eq_ignore_ascii_case("include") {
                true => "Include is not supported; put all entries into one file".to_string(),
                false => format!("\"{}\" is not a pair key=value", excerpt(word)),
            });
        };
        let (value, after) = value_of(key, after)?;
        all.push((key, value));
        rest = after.trim_start();
    }
    Ok(all)
}

/// Splits a text after its key and the `=` that follows the key; `None` if the text does not begin with a key.
fn key_of(text: &str) -> Option<(&str, &str)> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.');
    let key = text.len() - text.trim_start_matches(is_part).len();
    let after = text[key..].trim_start().strip_prefix('=')?;
    (key > 0).then(|| (&text[..key], after))
}

/// Splits the text after a `=` into the value and the rest of the line.
fn value_of<'a>(key: &str, text: &'a str) -> Result<(&'a str, &'a str), String> {
    let begin = text.trim_start();
    if let Some(quoted) = begin.strip_prefix('"') {
        let Some((value, rest)) = quoted.split_once('"') else {
            return Err(format!("{}: a quotation mark is not closed", excerpt(key)));
        };
        return match rest.is_empty() || rest.starts_with(char::is_whitespace) {
            true => Ok((value, rest)),
            false => Err(format!("{}: text follows a closing quotation mark", excerpt(key))),
        };
    }
    // The next key, after blanks, is not the value of this key.
    if begin.len() < text.len() && key_of(begin).is_some() {
        return Ok(("", begin));
    }
    let end = begin.find(char::is_whitespace).unwrap_or(begin.len());
    let (value, rest) = begin.split_at(end);
    match value.contains('"') {
        true => Err(format!("{}: a quotation mark inside a value", excerpt(key))),
        false => Ok((value, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        let visit = |text: &str, line| {
            all.push((line, text.trim().to_string()));
            Ok(())
        };
        for_lines(text, visit).expect("no errors");
        all
    }

    #[test]
    fn lines_are_joined_without_comments() {
        let text = "a\\\n\\ # c\\\n  b # d\\\n\n # e\nc \\\nd\\\\\ne\\#f\\";
        let expected = [(1, "a  b"), (6, "c d\\"), (8, "e#f")];
        let expected = expected.map(|(line, text)| (line, text.to_string()));
        assert_eq!(lines(text), expected);
        let failed = for_lines("a\n\nb\\\nc", |text, _| match text {
            "bc" => Err("no".to_string()),
            _ => Ok(()),
        });
        assert_eq!(failed, Err((3, "no".to_string())));
    }

    #[test]
    fn pairs_have_blanks_and_quotation_marks() {
        for (line, expected) in [
            (
                "A=1\tb_c.2 = 2  D= \"x y\" E=\"\"",
                &[("A", "1"), ("b_c.2", "2"), ("D", "x y"), ("E", "")][..],
            ),
            ("A= B=1 C=", &[("A", ""), ("B", "1"), ("C", "")]),
            ("A=b=c", &[("A", "b=c")]),
            (" ", &[]),
        ] {
            assert_eq!(pairs(line).expect(line), expected, "{line}");
        }
        for (line, problem) in [
            ("A=1 n2 B=2", "\"n2\" is not a pair key=value"),
            ("A=1, =2", "\"=2\" is not a pair key=value"),
            ("A+=1", "\"A+=1\" is not a pair key=value"),
            ("A=\"1 B=2", "A: a quotation mark is not closed"),
            ("A=\"1\"B=2", "A: text follows a closing quotation mark"),
            ("A=n\"1\"", "A: a quotation mark inside a value"),
            ("iNCLUDE x", "Include is not supported; put all entries into one file"),
        ] {
            assert_eq!(pairs(line).expect_err(line), problem, "{line}");
        }
    }
}
