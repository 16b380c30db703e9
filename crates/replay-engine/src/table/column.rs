use std::borrow::Cow;

use super::Name;

/// The type of a column. Every column may contain nulls; the meaning of the column states when a value is null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// 64-bit float.
    F64,
    /// List of signed 64-bit integers, in a significant order.
    List,
}

impl Kind {
    /// Returns whether the type is numeric, so that its values can be compared and averaged.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::I64 | Kind::U64 | Kind::F64)
    }
}

/// The unit of shares from 0 to 1. Text output shows shares in percent.
pub const SHARE: &str = "share";

/// The documentation of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct ColumnInfo {
    /// Name in the files.
    pub name: Name,
    /// The type of the column.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Unit of the values. The unit is empty for names, numbers and ratios, and it is [`SHARE`] for values from 0 to 1.
    pub unit: &'static str,
    /// Meaning, including the condition for a null value.
    #[serde(rename = "about")]
    pub meaning: &'static str,
}

type Reader<Row, T> = Box<dyn Fn(&Row) -> Option<T> + Send + Sync>;
type TextReader<Row> = Box<dyn for<'a> Fn(&'a Row) -> Option<Cow<'a, str>> + Send + Sync>;

/// Reads a value from a row. The result `None` means a null value.
pub enum Get<Row> {
    /// Text.
    Text(TextReader<Row>),
    /// Signed integers.
    I64(Reader<Row, i64>),
    /// Unsigned integers.
    U64(Reader<Row, u64>),
    /// Floats.
    F64(Reader<Row, f64>),
    /// Lists of signed integers.
    List(Reader<Row, Vec<i64>>),
}

/// One value of a row.
#[derive(Clone, PartialEq, Debug)]
pub enum Value<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// A signed integer.
    I64(i64),
    /// An unsigned integer.
    U64(u64),
    /// A real number.
    F64(f64),
    /// Signed integers.
    List(Vec<i64>),
    /// Null.
    Null,
}

/// A column of a table with rows of type `Row`.
pub struct Column<Row> {
    /// Name in the files.
    pub name: Name,
    /// Unit of the values. The unit is empty for names, numbers and ratios, and it is [`SHARE`] for values from 0 to 1.
    pub unit: &'static str,
    /// Meaning, including the condition for a null value.
    pub meaning: &'static str,
    /// Whether larger values are better. For most metrics, smaller values are better.
    pub rises: bool,
    /// Reads the values of the column and determines its type.
    pub get: Get<Row>,
}

/// A type of values from which a column can be created: numbers, text and lists of numbers, each optional or required.
/// Integers become signed; a number that is not finite becomes null.
pub trait Readable: 'static {
    /// Returns the reader of a column's values.
    fn get<Row>(read: impl Fn(&Row) -> Self + Send + Sync + 'static) -> Get<Row>;
}

macro_rules! readable {
    ($($type:ty => $kind:ident $value:expr,)*) => {$(
        impl Readable for $type {
            fn get<Row>(read: impl Fn(&Row) -> Self + Send + Sync + 'static) -> Get<Row> {
                Get::$kind(Box::new(move |row| $value(read(row))))
            }
        }

        impl Readable for Option<$type> {
            fn get<Row>(read: impl Fn(&Row) -> Self + Send + Sync + 'static) -> Get<Row> {
                Get::$kind(Box::new(move |row| read(row).and_then($value)))
            }
        }
    )*};
}

readable! {
    f64 => F64 |value: f64| value.is_finite().then_some(value),
    i64 => I64 Some,
    u64 => I64 |value| Some(value as i64),
    u32 => I64 |value| Some(i64::from(value)),
    usize => I64 |value| Some(value as i64),
    String => Text |text| Some(Cow::Owned(text)),
    Vec<i64> => List Some,
}

/// Puts a reader of borrowed text into a `Box`; type inference needs the explicit lifetime.
fn text<Row, F>(read: F) -> TextReader<Row>
where
    F: for<'a> Fn(&'a Row) -> Option<Cow<'a, str>> + Send + Sync + 'static,
{
    Box::new(read)
}

impl<Row> Column<Row> {
    /// Creates a column of numbers, lists or owned text.
    pub fn new<T: Readable>(
        name: impl Into<Name>,
        unit: &'static str,
        meaning: &'static str,
        read: impl Fn(&Row) -> T + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), unit, meaning, rises: false, get: T::get(read) }
    }

    /// Creates a column of numbers that need all 64 bits, such as seeds.
    pub fn unsigned(
        name: impl Into<Name>,
        meaning: &'static str,
        read: impl Fn(&Row) -> u64 + Send + Sync + 'static,
    ) -> Self {
        let get = Get::U64(Box::new(move |row| Some(read(row))));
        Self { name: name.into(), unit: "", meaning, rises: false, get }
    }

    /// Declares that larger values are better.
    pub fn rising(self) -> Self {
        Self { rises: true, ..self }
    }

    /// Creates a column of text that is borrowed from the row.
    pub fn text(
        name: impl Into<Name>,
        meaning: &'static str,
        read: impl for<'a> Fn(&'a Row) -> Option<&'a str> + Send + Sync + 'static,
    ) -> Self {
        let get = Get::Text(text(move |row| read(row).map(Cow::Borrowed)));
        Self { name: name.into(), unit: "", meaning, rises: false, get }
    }

    /// Returns the type of the column.
    pub fn kind(&self) -> Kind {
        match self.get {
            Get::Text(_) => Kind::Text,
            Get::I64(_) => Kind::I64,
            Get::U64(_) => Kind::U64,
            Get::F64(_) => Kind::F64,
            Get::List(_) => Kind::List,
        }
    }

    /// Returns the documentation of the column.
    pub fn info(&self) -> ColumnInfo {
        let &Self { name, unit, meaning, .. } = self;
        ColumnInfo { name, kind: self.kind(), unit, meaning }
    }

    /// Returns the value of the column in a row.
    pub fn value<'a>(&self, row: &'a Row) -> Value<'a> {
        match &self.get {
            Get::Text(read) => read(row).map(Value::Text),
            Get::I64(read) => read(row).map(Value::I64),
            Get::U64(read) => read(row).map(Value::U64),
            Get::F64(read) => read(row).map(Value::F64),
            Get::List(read) => read(row).map(Value::List),
        }
        .unwrap_or(Value::Null)
    }
}

impl<Part: 'static> Column<Part> {
    /// Converts the column to a column of another table. Each row of the other table contains a row of the current
    /// table as a part. Values are null for rows without this part.
    pub fn of<Row>(
        self,
        part: impl for<'a> Fn(&'a Row) -> Option<&'a Part> + Send + Sync + 'static,
    ) -> Column<Row> {
        let Self { name, unit, meaning, rises, get } = self;
        let get = match get {
            Get::Text(read) => Get::Text(text(move |row| read(part(row)?))),
            Get::I64(read) => Get::I64(Box::new(move |row| read(part(row)?))),
            Get::U64(read) => Get::U64(Box::new(move |row| read(part(row)?))),
            Get::F64(read) => Get::F64(Box::new(move |row| read(part(row)?))),
            Get::List(read) => Get::List(Box::new(move |row| read(part(row)?))),
        };
        Column { name, unit, meaning, rises, get }
    }
}

impl Value<'_> {
    /// Returns the value as a number; `None` if the value is not numeric.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Value::I64(value) => Some(value as f64),
            Value::U64(value) => Some(value as f64),
            Value::F64(value) => Some(value),
            Value::Text(_) | Value::List(_) | Value::Null => None,
        }
    }
}

impl<Row> std::fmt::Debug for Column<Row> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info().fmt(f)
    }
}
