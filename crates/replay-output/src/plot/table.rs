/// Data of a figure as CSV (RFC 4180, with line feeds).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    text: String,
}

impl Table {
    /// Creates a table with these columns.
    pub fn new(columns: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(columns);
        table
    }

    /// Appends a row.
    pub fn row<T: ToString>(&mut self, cells: &[T]) {
        for (i, cell) in cells.iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            let cell = cell.to_string();
            if cell.contains([',', '"', '\n', '\r']) {
                self.text.push('"');
                self.text.push_str(&cell.replace('"', "\"\""));
                self.text.push('"');
            } else {
                self.text.push_str(&cell);
            }
        }
        self.text.push('\n');
    }

    /// Returns the table as CSV.
    pub fn csv(&self) -> &str {
        &self.text
    }
}
