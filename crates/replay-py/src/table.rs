//! Tables with the Arrow PyCapsule interface.

use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::path::PathBuf;

use polars_arrow::array::{
    Array, ListArray, PrimitiveArray, StaticArray, StructArray, Utf8Array, Utf8ViewArray,
};
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema as Schema, Field};
use polars_arrow::ffi::{ArrowSchema, export_field_to_c, export_iterator};
use polars_arrow::record_batch::RecordBatch;
use polars_arrow::types::NativeType;
use polars_parquet::write::{
    CompressionOptions, FileWriter, KeyValue, StatisticsOptions, Version, WriteOptions,
    get_dtype_encoding, row_group_iter, schema_to_metadata_key,
};
use pyo3::exceptions::{PyImportError, PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyString, PyTuple};
use replay_engine::table::{Align, Name, Sheet, Table as Rows, TableInfo, ranges};
use replay_experiment::RunResult;
use replay_import::columns::Footer;
use replay_output::frame::frame;
use replay_output::report::summary_order;

/// Maximum number of rows in `repr` and HTML.
const MAX_ROWS: usize = 10;
/// Maximum number of characters of a line of `repr`.
const WIDTH: usize = 120;

/// A table of results. Columns contain text, integers, floats or lists of integers; every value may be null.
#[pyclass(frozen, module = "replay")]
pub struct Table {
    /// Name of the table, such as `runs`; empty if unknown.
    name: String,
    batch: RecordBatch,
    /// Unit and meaning of each column; empty if unknown.
    about: Vec<[String; 2]>,
}

/// Converts an error of the Arrow or Parquet library to an exception.
fn failed(error: impl ToString) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Returns the values of a column of the type `A`.
fn typed<A: Array + 'static>(column: &dyn Array) -> Option<&A> {
    column.as_any().downcast_ref()
}

impl Table {
    /// Creates a table of the given rows.
    pub fn of<Row: Rows>(rows: &[Row]) -> PyResult<Self> {
        let batch = frame(rows).map_err(failed)?;
        let columns = TableInfo::of::<Row>().columns;
        let about =
            columns.iter().map(|it| [it.unit.to_string(), it.meaning.to_string()]).collect();
        Ok(Self { name: Row::NAME.to_string(), batch, about })
    }

    /// Returns the indices of the columns in the order of display, and the number of columns that are shown as long as
    /// possible. Tables of runs begin with the columns of the command line's table.
    fn display_order(&self) -> (Vec<usize>, usize) {
        let columns = self.columns();
        let mut order = Vec::new();
        if self.name == RunResult::NAME {
            let place = |name: Name| columns.iter().position(|column| *column == name.text());
            order.extend(summary_order().into_iter().filter_map(place));
        }
        let first = order.len();
        let rest: Vec<usize> = (0..columns.len()).filter(|it| !order.contains(it)).collect();
        order.extend(rest);
        (order, first)
    }

    /// Returns the table as a Parquet file with the name of the table and the documentation of its columns.
    fn parquet(&self) -> PyResult<Vec<u8>> {
        let schema = self.batch.schema();
        let options = WriteOptions {
            statistics: StatisticsOptions::empty(),
            version: Version::V1,
            compression: CompressionOptions::Zstd(None),
            data_page_size: None,
        };
        let mut file = Vec::new();
        let mut writer = FileWriter::try_new(&mut file, schema.clone(), options).map_err(failed)?;
        if self.batch.height() > 0 {
            let encodings = schema.iter_values().map(|it| get_dtype_encoding(&it.dtype)).collect();
            let fields = writer.parquet_schema().fields().to_vec();
            let group = row_group_iter(self.batch.clone(), encodings, fields, options);
            writer.write(self.batch.height() as u64, group).map_err(failed)?;
        }
        let pair = |key: String, value: &str| KeyValue { key, value: Some(value.to_string()) };
        let mut pairs = vec![schema_to_metadata_key(schema), pair("table".into(), &self.name)];
        for (name, [unit, meaning]) in self.columns().into_iter().zip(&self.about) {
            pairs.push(pair(format!("unit:{name}"), unit));
            pairs.push(pair(format!("about:{name}"), meaning));
        }
        writer.end(Some(pairs)).map_err(failed)?;
        Ok(file)
    }

    /// Reads a Parquet file with the units and meanings of its columns.
    fn of_parquet(file: &mut (impl Read + Seek)) -> PyResult<Self> {
        let footer = Footer::read(file).map_err(failed)?;
        let names: Vec<&str> = footer.schema.iter_names().map(|name| name.as_str()).collect();
        let batch = footer.batch(file, &names, 0..footer.rows()).map_err(failed)?;
        let pairs = footer.metadata.key_value_metadata().as_deref().unwrap_or_default();
        let value = |key: &str| {
            let pair = pairs.iter().find(|pair| pair.key == key);
            pair.and_then(|pair| pair.value.clone()).unwrap_or_default()
        };
        let about = |name| ["unit", "about"].map(|kind| value(&format!("{kind}:{name}")));
        let about = names.into_iter().map(about).collect();
        Ok(Self { name: value("table"), batch, about })
    }

    /// Returns the value of a column in row `row` as text; `None` if the value is null.
    fn text(column: &dyn Array, row: usize) -> Option<String> {
        let number =
            |text: Result<String, _>| text.unwrap_or_else(|_: serde_json::Error| String::new());
        match column.dtype() {
            ArrowDataType::Utf8View => typed::<Utf8ViewArray>(column)?.get(row).map(str::to_string),
            ArrowDataType::Int64 => {
                typed::<PrimitiveArray<i64>>(column)?.get(row).map(|value| value.to_string())
            }
            ArrowDataType::UInt64 => {
                typed::<PrimitiveArray<u64>>(column)?.get(row).map(|value| value.to_string())
            }
            ArrowDataType::Float64 => typed::<PrimitiveArray<f64>>(column)?
                .get(row)
                .map(|it| number(serde_json::to_string(&it))),
            _ => integers(column, row).map(|values| ranges(&values)),
        }
    }

    /// Returns the value of a column in row `row` for display: floats with at most four decimals, long text truncated.
    fn display_text(column: &dyn Array, row: usize) -> Option<String> {
        match column.dtype() {
            ArrowDataType::Float64 => {
                let text = format!("{:.4}", typed::<PrimitiveArray<f64>>(column)?.get(row)?);
                Some(text.trim_end_matches('0').trim_end_matches('.').to_string())
            }
            _ => Self::text(column, row).map(truncated),
        }
    }

    /// Columns with their names.
    fn named(&self) -> impl Iterator<Item = (&str, &dyn Array)> {
        self.columns().into_iter().zip(self.batch.columns().iter().map(AsRef::as_ref))
    }

    /// Returns the columns for export to other Arrow libraries. String views are converted to large strings, which
    /// every Arrow library reads.
    fn exported(&self) -> (Vec<Field>, Vec<Box<dyn Array>>) {
        let column = |(name, array): (&str, &dyn Array)| {
            let array = match typed::<Utf8ViewArray>(array) {
                Some(text) => text.iter().collect::<Utf8Array<i64>>().boxed(),
                None => array.to_boxed(),
            };
            (Field::new(name.into(), array.dtype().clone(), true), array)
        };
        self.named().map(column).unzip()
    }

    fn sheet(&self) -> Sheet {
        let align = |column: &dyn Array| match column.dtype() {
            ArrowDataType::Utf8View | ArrowDataType::LargeList(_) => Align::Left,
            _ => Align::Right,
        };
        let (order, first) = self.display_order();
        let named: Vec<_> = self.named().collect();
        let named: Vec<_> = order.into_iter().map(|at| named[at]).collect();
        let header: Vec<_> = named.iter().map(|(name, column)| (*name, align(*column))).collect();
        let ranks: Vec<_> = named[..first].iter().map(|(name, _)| (*name, 1)).collect();
        let mut sheet = Sheet::new(&header).ranked(&ranks);
        for row in 0..self.batch.height().min(MAX_ROWS) {
            let text = |(_, column): &(&str, &dyn Array)| {
                Self::display_text(*column, row).unwrap_or_else(|| "-".into())
            };
            sheet.push(named.iter().map(text).collect());
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
fn integers(column: &dyn Array, row: usize) -> Option<Vec<i64>> {
    let values = typed::<ListArray<i64>>(column)?.get(row)?;
    Some(typed::<PrimitiveArray<i64>>(values.as_ref())?.values_iter().copied().collect())
}

/// Returns the values of a column of numbers as a Python list.
fn numbers<'py, N>(py: Python<'py>, column: &dyn Array) -> PyResult<Bound<'py, PyList>>
where
    N: NativeType + IntoPyObject<'py>,
{
    let values = typed::<PrimitiveArray<N>>(column).into_iter().flatten();
    PyList::new(py, values.map(|value| value.copied()).collect::<Vec<_>>())
}

#[pymethods]
impl Table {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batch.height()
    }

    /// Names of the columns in order.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.batch.schema().iter_names().map(|name| name.as_str()).collect()
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
        let column = self.named().find(|(known, _)| known == name);
        let (_, column) = column.ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
        match column.dtype() {
            ArrowDataType::Utf8View => {
                let values = typed::<Utf8ViewArray>(column).into_iter().flatten();
                PyList::new(py, values.collect::<Vec<_>>())
            }
            ArrowDataType::Int64 => numbers::<i64>(py, column),
            ArrowDataType::UInt64 => numbers::<u64>(py, column),
            ArrowDataType::Float64 => numbers::<f64>(py, column),
            _ => {
                let values = (0..column.len()).map(|row| integers(column, row));
                PyList::new(py, values.collect::<Vec<_>>())
            }
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
        for row in 0..self.batch.height() {
            let field = |(_, column)| Self::text(column, row).unwrap_or_default();
            line(&mut self.named().map(field));
        }
        let Some(path) = path else { return Ok(Some(text)) };
        File::create(path)?.write_all(text.as_bytes())?;
        Ok(None)
    }

    /// Arrow schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new("".into(), ArrowDataType::Struct(self.exported().0), false);
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
        // The interface allows an exporter to ignore the requested schema; the consumer then converts the data.
        drop(requested_schema);
        let (fields, arrays) = self.exported();
        let dtype = ArrowDataType::Struct(fields);
        let batch = StructArray::try_new(dtype.clone(), self.batch.height(), arrays, None);
        let field = Field::new("".into(), dtype, false);
        let batches = std::iter::once(batch.map(StructArray::boxed));
        let stream = export_iterator(Box::new(batches), field);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Converts the table to a data frame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        library(slf.py(), "pandas")?.getattr("DataFrame")?.call_method1("from_arrow", (slf,))
    }

    /// Converts the table to a data frame of polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        library(slf.py(), "polars")?.getattr("DataFrame")?.call1((slf,))
    }

    /// Returns the rows of one run, which are successive.
    fn of_run(&self, run: i64) -> PyResult<Self> {
        let runs = self.named().find(|(name, _)| *name == RunResult::RUN.text());
        let runs = runs.and_then(|(_, column)| typed::<PrimitiveArray<i64>>(column));
        let runs = runs.ok_or_else(|| PyKeyError::new_err("no column run"))?;
        let is_of_run = |row: &usize| runs.get(*row) == Some(run);
        let first = (0..runs.len()).find(is_of_run).unwrap_or(0);
        let rows = (first..runs.len()).take_while(is_of_run).count();
        let columns = self.batch.columns().iter().map(|column| column.sliced(first, rows));
        let batch =
            RecordBatch::try_new(rows, self.batch.schema().clone().into(), columns.collect());
        let batch = batch.map_err(failed)?;
        Ok(Self { name: self.name.clone(), batch, about: self.about.clone() })
    }

    /// Pickles the table as a Parquet file.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let read = py.import("replay._engine")?.getattr("table_of_parquet")?;
        let bytes = PyBytes::new(py, &slf.get().parquet()?);
        Ok((read, PyTuple::new(py, [bytes])?))
    }

    fn __repr__(&self) -> PyResult<String> {
        let fitted = self.sheet().fitted(WIDTH);
        let mut text = Vec::new();
        fitted.sheet.write_plain(&mut text)?;
        let mut text =
            String::from_utf8(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (rows, columns) = (self.batch.height(), self.batch.width());
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
        let (order, _) = self.display_order();
        let named: Vec<_> = self.named().collect();
        let mut html = String::from("<table><thead><tr>");
        for &at in &order {
            let ((name, _), [unit, meaning]) = (named[at], &self.about[at]);
            let title = escaped(&match unit.as_str() {
                "" => meaning.clone(),
                unit => format!("{meaning} ({unit})"),
            });
            html += &format!("<th title=\"{title}\">{}</th>", escaped(name));
        }
        html += "</tr></thead><tbody>";
        for row in 0..self.batch.height().min(MAX_ROWS) {
            html += "<tr>";
            for &at in &order {
                let text = Self::display_text(named[at].1, row).unwrap_or_default();
                html += &format!("<td>{}</td>", escaped(&text));
            }
            html += "</tr>";
        }
        html += &format!(
            "</tbody></table><p>{} rows, {} columns</p>",
            self.batch.height(),
            self.batch.width()
        );
        html
    }
}

impl Table {
    /// Returns `name` as text; fails if the table does not have a column with this name.
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

/// Reads a Parquet file that the program wrote, with the units and meanings of its columns.
#[pyfunction]
pub fn read_parquet(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| Table::of_parquet(&mut File::open(path)?))
}

/// Reads the bytes of a Parquet file, as [`read_parquet`] does.
#[pyfunction]
pub fn table_of_parquet(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Table> {
    py.detach(|| Table::of_parquet(&mut Cursor::new(bytes)))
}

/// Imports a library of data frames.
fn library<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| {
        let text = format!("to_{name} needs {name}: pip install {name}");
        let missing = PyImportError::new_err(text);
        missing.set_cause(py, Some(error));
        missing
    })
}

/// Reads CSV text that the program wrote. A column has integers if all its values are integers, floats if all its
/// values are numbers, and text otherwise.
#[pyfunction]
pub fn read_csv(text: &str) -> PyResult<Table> {
    let wrong = |error: csv::Error| PyValueError::new_err(error.to_string());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().map_err(wrong)?.clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().map_err(wrong)?;
    let column = |place: usize| {
        let fields = || rows.iter().map(|row| row.get(place).filter(|field| !field.is_empty()));
        let all = |reads: fn(&str) -> bool| fields().flatten().all(reads);
        if all(|field| field.parse::<i64>().is_ok()) {
            fields().map(|it| it?.parse().ok()).collect::<PrimitiveArray<i64>>().boxed()
        } else if all(|field| field.parse::<f64>().is_ok()) {
            fields().map(|it| it?.parse().ok()).collect::<PrimitiveArray<f64>>().boxed()
        } else {
            Utf8ViewArray::from_slice(fields().collect::<Vec<_>>()).boxed()
        }
    };
    let arrays: Vec<Box<dyn Array>> = (0..names.len()).map(column).collect();
    let fields = names.iter().zip(&arrays);
    let fields = fields.map(|(name, it)| Field::new(name.into(), it.dtype().clone(), true));
    let schema: Schema = fields.collect();
    let batch = RecordBatch::try_new(rows.len(), schema.into(), arrays).map_err(failed)?;
    let about = vec![[String::new(), String::new()]; names.len()];
    Ok(Table { name: String::new(), batch, about })
}
