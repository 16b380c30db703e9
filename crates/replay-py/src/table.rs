//! Tables with the Arrow PyCapsule interface.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use polars::prelude::{
    Column, CompatLevel, DataFrame, DataType, Field, ParquetReader, PolarsError, SerReader,
};
use polars_arrow::array::{Array, PrimitiveArray, StructArray};
use polars_arrow::datatypes::{ArrowDataType, Field as ArrowField};
use polars_arrow::ffi::{ArrowSchema, export_field_to_c, export_iterator};
use polars_arrow::record_batch::RecordBatch;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyString};
use replay_core::table::{Align, Sheet, Table as Rows, TableInfo, ranges};
use replay_output::frame::frame;

/// Maximum number of rows in `repr` and HTML.
const MAX_ROWS: usize = 10;
/// Maximum number of characters of a line of `repr`.
const WIDTH: usize = 120;

/// A table of results. Columns contain text, integers, floats or lists of integers; every value may be null.
#[pyclass(frozen, module = "replay")]
pub struct Table {
    frame: DataFrame,
    /// Unit and meaning of each column; empty if unknown.
    about: Vec<[String; 2]>,
}

/// Converts a polars error to an exception.
fn failed(error: PolarsError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

impl Table {
    /// Creates a table of the given rows.
    pub fn of<Row: Rows>(rows: &[Row]) -> PyResult<Self> {
        let frame = frame(rows).map_err(failed)?;
        let columns = TableInfo::of::<Row>().columns;
        let about =
            columns.iter().map(|it| [it.unit.to_string(), it.meaning.to_string()]).collect();
        Ok(Self { frame, about })
    }

    /// Creates a table of a data frame, with unit and meaning of each column.
    pub fn new(frame: DataFrame, about: Vec<[String; 2]>) -> Self {
        Self { frame, about }
    }

    /// Returns the value in row `row` of a column as text; `None` if the value is null.
    fn text(column: &Column, row: usize) -> Option<String> {
        let number =
            |text: Result<String, _>| text.unwrap_or_else(|_: serde_json::Error| String::new());
        match column.dtype() {
            DataType::String => column.str().ok()?.get(row).map(str::to_string),
            DataType::Int64 => column.i64().ok()?.get(row).map(|value| value.to_string()),
            DataType::UInt64 => column.u64().ok()?.get(row).map(|value| value.to_string()),
            DataType::Float64 => {
                column.f64().ok()?.get(row).map(|it| number(serde_json::to_string(&it)))
            }
            _ => integers(column, row).map(|values| ranges(&values)),
        }
    }

    /// Returns the value in row `row` of a column for display: floats with at most four decimals, long text truncated.
    fn display_text(column: &Column, row: usize) -> Option<String> {
        match column.dtype() {
            DataType::Float64 => {
                let text = format!("{:.4}", column.f64().ok()?.get(row)?);
                Some(text.trim_end_matches('0').trim_end_matches('.').to_string())
            }
            _ => Self::text(column, row).map(truncated),
        }
    }

    fn fields(&self) -> Vec<ArrowField> {
        let fields = self.frame.columns().iter().map(|column| {
            let field = Field::new(column.name().clone(), column.dtype().clone());
            field.to_arrow(CompatLevel::oldest())
        });
        fields.collect()
    }

    fn sheet(&self) -> Sheet {
        let columns = self.frame.columns();
        let align = |column: &Column| match column.dtype() {
            DataType::String | DataType::List(_) => Align::Left,
            _ => Align::Right,
        };
        let header: Vec<_> = columns.iter().map(|it| (it.name().as_str(), align(it))).collect();
        let mut sheet = Sheet::new(&header);
        for row in 0..self.frame.height().min(MAX_ROWS) {
            let text = |column| Self::display_text(column, row).unwrap_or_else(|| "-".to_string());
            sheet.push(columns.iter().map(text).collect());
        }
        sheet
    }
}

/// Truncates long text.
fn truncated(text: String) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Returns the integers in a row of a list column.
fn integers(column: &Column, row: usize) -> Option<Vec<i64>> {
    let values = column.list().ok()?.get(row)?;
    let values = values.as_any().downcast_ref::<PrimitiveArray<i64>>()?;
    Some(values.values_iter().copied().collect())
}

/// Returns the chunks of a data frame as struct arrays.
fn batches(frame: &DataFrame, dtype: &ArrowDataType) -> Vec<Result<Box<dyn Array>, PolarsError>> {
    let batch = |batch: RecordBatch| {
        let (rows, arrays) = (batch.len(), batch.into_arrays());
        StructArray::try_new(dtype.clone(), rows, arrays, None).map(StructArray::boxed)
    };
    frame.iter_chunks(CompatLevel::oldest(), false).map(batch).collect()
}

#[pymethods]
impl Table {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.frame.height()
    }

    /// Names of the columns in order.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.frame.columns().iter().map(|column| column.name().as_str()).collect()
    }

    /// Unit of each column, such as `s`, `hops`, `processors` or `%`; empty for names and for numbers without a unit.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.documentation(py, 0)
    }

    /// Meaning of each column, and the reason for null values.
    #[getter]
    fn meanings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.documentation(py, 1)
    }

    /// Values of a column as a list; null values are `None`.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let name = &self.known(name)?;
        let unknown = |_| PyKeyError::new_err(name.to_string());
        let column = self.frame.column(name).map_err(unknown)?;
        let rows = 0..self.frame.height();
        match column.dtype() {
            DataType::String => PyList::new(py, column.str().map_err(failed)?.iter()),
            DataType::Int64 => {
                PyList::new(py, column.i64().map_err(failed)?.iter().collect::<Vec<_>>())
            }
            DataType::UInt64 => {
                PyList::new(py, column.u64().map_err(failed)?.iter().collect::<Vec<_>>())
            }
            DataType::Float64 => {
                PyList::new(py, column.f64().map_err(failed)?.iter().collect::<Vec<_>>())
            }
            _ => PyList::new(py, rows.map(|row| integers(column, row)).collect::<Vec<_>>()),
        }
    }

    /// Columns by name, as lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for name in self.columns() {
            columns.set_item(name, self.__getitem__(py, PyString::new(py, name).as_any())?)?;
        }
        Ok(columns)
    }

    /// Writes the table as CSV to the file `path`, with the same bytes as the CSV files of the program. Returns the text
    /// if `path` is `None`.
    #[pyo3(signature = (path=None))]
    fn to_csv(&self, path: Option<PathBuf>) -> PyResult<Option<String>> {
        let mut text = String::new();
        let mut line = |fields: &mut dyn Iterator<Item = String>| {
            let fields: Vec<String> = fields.map(quoted).collect();
            text.push_str(&fields.join(","));
            text.push('\n');
        };
        line(&mut self.columns().into_iter().map(str::to_string));
        for row in 0..self.frame.height() {
            let field = |column| Self::text(column, row).unwrap_or_default();
            line(&mut self.frame.columns().iter().map(field));
        }
        let Some(path) = path else { return Ok(Some(text)) };
        File::create(path)?.write_all(text.as_bytes())?;
        Ok(None)
    }

    /// Arrow schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let field = ArrowField::new("".into(), ArrowDataType::Struct(self.fields()), false);
        let schema: ArrowSchema = export_field_to_c(&field);
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Arrow stream of the table as a PyCapsule, which pandas, polars, pyarrow and duckdb read. Numbers are shared with the
    /// table without a copy; text is copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore the requested schema; the consumer then converts the data.
        drop(requested_schema);
        let mut frame = self.frame.clone();
        frame.align_chunks();
        let dtype = ArrowDataType::Struct(self.fields());
        let batches = batches(&frame, &dtype);
        let field = ArrowField::new("".into(), dtype, false);
        let stream = export_iterator(Box::new(batches.into_iter()), field);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> PyResult<String> {
        let fitted = self.sheet().fitted(WIDTH);
        let mut text = Vec::new();
        fitted.sheet.write_plain(&mut text)?;
        let mut text =
            String::from_utf8(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (rows, columns) = (self.frame.height(), self.frame.width());
        text += &format!("{rows} rows, {columns} columns");
        if rows > MAX_ROWS {
            text += &format!(" (first {MAX_ROWS} rows)");
        }
        if !fitted.constant.is_empty() {
            text += &format!("; in all rows: {}", fitted.constant.join(", "));
        }
        if !fitted.left_out.is_empty() {
            text += &format!("; not shown: {}", fitted.left_out.join(", "));
        }
        Ok(text)
    }

    fn _repr_html_(&self) -> String {
        let mut html = String::from("<table><thead><tr>");
        for (column, [unit, meaning]) in self.frame.columns().iter().zip(&self.about) {
            let title = escaped(&match unit.as_str() {
                "" => meaning.clone(),
                unit => format!("{meaning} ({unit})"),
            });
            html += &format!("<th title=\"{title}\">{}</th>", escaped(column.name()));
        }
        html += "</tr></thead><tbody>";
        for row in 0..self.frame.height().min(MAX_ROWS) {
            html += "<tr>";
            for column in self.frame.columns() {
                let text = Self::display_text(column, row).unwrap_or_default();
                html += &format!("<td>{}</td>", escaped(&text));
            }
            html += "</tr>";
        }
        html += &format!(
            "</tbody></table><p>{} rows, {} columns</p>",
            self.frame.height(),
            self.frame.width()
        );
        html
    }
}

impl Table {
    /// Returns the name of a column that the table has.
    fn known(&self, name: &Bound<'_, PyAny>) -> PyResult<String> {
        let Ok(name) = name.extract::<String>() else {
            return Err(no_rows());
        };
        let columns = self.columns();
        if columns.contains(&name.as_str()) {
            return Ok(name);
        }
        let columns = columns.join(", ");
        Err(PyKeyError::new_err(format!("no column {name}; the table has {columns}")))
    }

    fn documentation<'py>(&self, py: Python<'py>, which: usize) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        for (name, about) in self.columns().into_iter().zip(&self.about) {
            known.set_item(name, &about[which])?;
        }
        Ok(known)
    }
}

/// Returns the error for code that reads a table row by row.
fn no_rows() -> PyErr {
    PyTypeError::new_err(
        "a table has columns by name, such as table[\"job\"]; for rows, convert the table, such as \
         polars.DataFrame(table).rows(named=True)",
    )
}

/// Quotes a CSV field if necessary.
fn quoted(text: String) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Reads a Parquet file of the program with units and meanings of its columns.
#[pyfunction]
pub fn read_parquet(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| {
        let mut reader = ParquetReader::new(File::open(path)?);
        let metadata = reader.get_metadata().map_err(failed)?.key_value_metadata().clone();
        let pairs = metadata.unwrap_or_default();
        let value = |key: String| {
            let pair = pairs.iter().find(|pair| pair.key.as_str() == key);
            pair.and_then(|pair| pair.value.as_ref()).map(ToString::to_string).unwrap_or_default()
        };
        let frame = reader.finish().map_err(failed)?;
        let about = |column: &Column| {
            ["unit", "about"].map(|kind| value(format!("{kind}:{}", column.name())))
        };
        let about = frame.columns().iter().map(about).collect();
        Ok(Table::new(frame, about))
    })
}

/// Reads CSV of the program. A column has integers if all its values are integers, floats if all its values are numbers,
/// and text otherwise.
#[pyfunction]
pub fn read_csv(text: &str) -> PyResult<Table> {
    let wrong = |error: csv::Error| PyValueError::new_err(error.to_string());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().map_err(wrong)?.clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().map_err(wrong)?;
    let columns = names.iter().enumerate().map(|(place, name)| {
        let fields = || rows.iter().map(|row| row.get(place).filter(|field| !field.is_empty()));
        let all = |reads: fn(&str) -> bool| fields().flatten().all(reads);
        if all(|field| field.parse::<i64>().is_ok()) {
            Column::new(name.into(), fields().map(|it| it?.parse::<i64>().ok()).collect::<Vec<_>>())
        } else if all(|field| field.parse::<f64>().is_ok()) {
            Column::new(name.into(), fields().map(|it| it?.parse::<f64>().ok()).collect::<Vec<_>>())
        } else {
            Column::new(name.into(), fields().collect::<Vec<_>>())
        }
    });
    let frame = DataFrame::new(rows.len(), columns.collect()).map_err(failed)?;
    let about = vec![[String::new(), String::new()]; names.len()];
    Ok(Table::new(frame, about))
}
