//! Frequencies of box sizes, from which the worth of a box is computed.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use replay_engine::lines;

/// Factor by which the size of a box is multiplied to compute its worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frequencies {
    /// Frequency of the size in thousandths, among the jobs that have started so far and the requesting job.
    Seen,
    /// The same factor for every size.
    One,
    /// Weights by size, sorted by ascending size. Sizes that are not in the list have weight 0.
    Listed(Arc<[(u32, u64)]>),
}

impl Frequencies {
    /// The largest weight.
    const MAX: u64 = 1_000_000;

    /// Returns the factor for a size. Only [`Frequencies::Seen`] uses `seen` and `all`: the number of jobs that
    /// requested this size, and the number of all jobs.
    pub fn of(&self, size: u32, seen: u64, all: u64) -> u64 {
        match self {
            Self::Seen => 1000 * seen / all.max(1),
            Self::One => 1,
            Self::Listed(weights) => weights
                .binary_search_by_key(&size, |&(size, _)| size)
                .map_or(0, |place| weights[place].1),
        }
    }

    fn listed(pairs: impl Iterator<Item = Result<(u32, u64), String>>) -> Result<Self, String> {
        let mut weights = pairs.collect::<Result<Vec<_>, _>>()?;
        weights.sort_unstable();
        match weights.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(twice) => Err(format!("size {} is listed twice", twice[0].0)),
            None if weights.is_empty() => Err("no size is listed".to_string()),
            None => Ok(Self::Listed(weights.into())),
        }
    }

    /// Reads lines `size,weight` from a file; a header, empty lines and text after `#` are ignored.
    fn read(path: &Path) -> Result<Self, String> {
        let within = |why: String| format!("{}: {why}", path.display());
        let text = File::open(path).and_then(lines::whole).map_err(|e| within(e.to_string()))?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let mut lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty()).peekable();
        lines.next_if(|(_, line)| line.starts_with(|first: char| first.is_ascii_alphabetic()));
        let of = |(number, line): (u32, &str)| {
            pair(line, ',').map_err(|why| format!("line {number}: {why}"))
        };
        Self::listed(lines.map(of)).map_err(within)
    }
}

fn pair(text: &str, between: char) -> Result<(u32, u64), String> {
    let parts = text.split_once(between).map(|(size, weight)| (size.trim(), weight.trim()));
    let (size, weight) = parts.ok_or_else(|| format!("\"{text}\" is not SIZE{between}WEIGHT"))?;
    let size = match size.parse() {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(format!("size \"{size}\" is not a whole number above 0")),
    }?;
    match weight.parse() {
        Ok(weight) if weight <= Frequencies::MAX => Ok((size, weight)),
        _ => Err(format!("weight \"{weight}\" is not a whole number from 0 to 1,000,000")),
    }
}

/// Parses `seen`, `one`, or a list written with `:` and `+`; any other text without `:` is the path of a file.
impl FromStr for Frequencies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "seen" => Ok(Self::Seen),
            "one" => Ok(Self::One),
            "" => Err("no size is listed".to_string()),
            _ if text.contains(':') && !Path::new(text).exists() => {
                Self::listed(text.split('+').map(|one| pair(one, ':')))
            }
            _ => Self::read(Path::new(text)),
        }
    }
}

/// Writes the parsed form. The content of a file is written as a list, so that the name does not depend on the file.
impl fmt::Display for Frequencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seen => f.write_str("seen"),
            Self::One => f.write_str("one"),
            Self::Listed(weights) => {
                let texts: Vec<String> =
                    weights.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
                f.write_str(&texts.join("+"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Frequencies, String> {
        text.parse()
    }

    #[test]
    fn parses_a_list_of_weights() {
        let listed = read("64:5+8:1000").expect("a list");
        assert_eq!([8, 16, 64].map(|size| listed.of(size, 1, 2)), [1000, 0, 5]);
        assert_eq!(listed.to_string(), "8:1000+64:5");
        assert_eq!(read(&listed.to_string()), Ok(listed));
        assert_eq!(read("seen").map(|seen| seen.of(8, 1, 4)), Ok(250));
        assert_eq!(read("one").map(|one| one.of(8, 1, 4)), Ok(1));
        for (bad, why) in [
            ("8:1+8:2", "size 8 is listed twice"),
            ("8:x", "weight \"x\""),
            ("0:1", "size \"0\""),
            ("8:1000001", "1,000,000"),
            ("8:1+", "\"\" is not SIZE:WEIGHT"),
            ("no-such-file.csv", "no-such-file.csv: "),
        ] {
            let error = read(bad).expect_err(bad);
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn reads_weights_from_a_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("sizes.csv");
        let file = |text: &str| {
            std::fs::write(&path, text).expect("written");
            read(path.to_str().expect("a path"))
        };
        let known = file("size,weight\n# by last year\n64, 5\n\n8,1000 # most\n").expect("a file");
        assert_eq!(known.to_string(), "8:1000+64:5");
        for (text, why) in [
            ("size,weight\n8;1\n", "line 2: \"8;1\" is not SIZE,WEIGHT"),
            ("8,1\n8,2\n", "sizes.csv: size 8 is listed twice"),
            ("size,weight\n", "no size is listed"),
        ] {
            let error = file(text).expect_err(text);
            assert!(error.contains(why) && error.contains("sizes.csv"), "{error}");
            assert_eq!(error.matches("sizes.csv").count(), 1, "{error}");
        }
    }
}
