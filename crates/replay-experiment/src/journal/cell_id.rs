use std::fmt;
use std::str::FromStr;

/// Digest of everything that determines the result of a cell: the jobs, the machine, the strategies and the
/// measurements. Cells with equal jobs, machine, strategies and measurements have the same id in every grid.
///
/// The id does not depend on names: the path of a trace is irrelevant, and tie vectors with equal ratios give the same
/// id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId([u8; 16]);

impl CellId {
    /// Computes the id of a configuration, which is given as an unambiguous text. The first line of the text contains
    /// the kind of the cell and the number of the text format.
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
