use std::fmt;

/// The name of a column. Each table declares the names of its columns where it declares the columns. Code that uses a
/// column of a table refers to a constant of the table's rows, so code with a wrong name does not compile:
/// [`measures!`](crate::measures) declares the constants of all its columns, and [`names!`](crate::names) declares
/// single constants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(transparent)]
pub struct Name(&'static str);

impl Name {
    /// Creates a column name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the text.
    pub const fn text(self) -> &'static str {
        self.0
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self(name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// Declares constants for the names of columns that code outside of the table uses. The macro is called in an `impl`
/// block of the type of the rows.
#[macro_export]
macro_rules! names {
    ($($NAME:ident = $text:literal),* $(,)?) => {$(
        #[doc = concat!("Name of the column `", $text, "`.")]
        pub const $NAME: $crate::table::Name = $crate::table::Name::new($text);
    )*};
}
