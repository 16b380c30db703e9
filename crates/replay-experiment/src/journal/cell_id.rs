use std::fmt;
use std::str::FromStr;

/// Digest of the computation of a cell: equal jobs on the same machine under the same strategies with the same
/// measurements have the same id in every grid.
///
/// Names do not matter: the path of a trace is irrelevant, and tie vectors with equal ratios are equal strategies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId([u8; 16]);

impl CellId {
    /// Id of a configuration, given as an unambiguous text whose first line states the kind of cell and the format of
    /// the text.
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

/// Error from parsing a text that is not 32 lowercase hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is not a cell id: expected 32 lowercase hexadecimal digits")]
pub struct CellIdError(String);

impl FromStr for CellId {
    type Err = CellIdError;

    fn from_str(text: &str) -> Result<Self, CellIdError> {
        let error = || CellIdError(text.to_string());
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 32 || !text.bytes().all(is_digit) {
            return Err(error());
        }
        u128::from_str_radix(text, 16).map(|id| Self(id.to_be_bytes())).map_err(|_| error())
    }
}
