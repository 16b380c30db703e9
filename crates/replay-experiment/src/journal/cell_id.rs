use std::fmt;
use std::str::FromStr;

/// What a cell computes, as a digest: the same jobs on the same machine under the same
/// strategies, measured in the same way, have the same id in every grid.
///
/// Names do not count: a trace that moved is the same trace, and tie vectors of one
/// ratio are one strategy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId([u8; 16]);

impl CellId {
    /// The id of a configuration, which a text says unmistakably: its first line names the kind of
    /// cell and the format of the text.
    pub fn of(configuration: &str) -> Self {
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(configuration.as_bytes()).as_bytes()[..16]);
        Self(id)
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CellId({self})")
    }
}

/// A text that is not 32 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is no cell id")]
pub struct CellIdError(String);

impl FromStr for CellId {
    type Err = CellIdError;

    fn from_str(text: &str) -> Result<Self, CellIdError> {
        let error = || CellIdError(text.to_string());
        let legal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 32 || !text.bytes().all(legal) {
            return Err(error());
        }
        u128::from_str_radix(text, 16).map(|id| Self(id.to_be_bytes())).map_err(|_| error())
    }
}
