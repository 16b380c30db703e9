use std::fmt::Write;

use super::folder::Csv;
use replay_core::number::{fixed, grouped};
use replay_core::table::{ColumnInfo, SHARE, TableInfo};

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}

/// Embeds a figure as an image, in which scripts cannot run.
pub fn figure(stem: &str, svg: &str) -> String {
    let mut data = String::with_capacity(svg.len() + svg.len() / 8);
    for c in svg.chars() {
        match c {
            '%' => data += "%25",
            '#' => data += "%23",
            '"' => data.push('\''),
            '\'' => data += "%27",
            '&' => data += "&amp;",
            '<' => data += "%3C",
            '>' => data += "%3E",
            '\n' | '\r' | '\t' => data.push(' '),
            c => data.push(c),
        }
    }
    let name = escape(&stem.replace("--", ", "));
    // Captions can wrap after the comma between two parts.
    let parts: Vec<String> = stem.split("--").map(escape).collect();
    let caption = format!("<span>{}</span>", parts.join(",</span> <span>"));
    format!(
        "<figure><img loading=\"lazy\" alt=\"{name}\" src=\"data:image/svg+xml;charset=utf-8,{data}\">\
         <figcaption>{caption}</figcaption></figure>\n"
    )
}

/// A table, and the options for writing the table to the page.
pub struct TableSection<'a> {
    /// Name of the table.
    pub name: &'a str,
    /// Contents of the table.
    pub csv: &'a Csv,
    /// Descriptions of the tables of replay.
    pub known: &'a [TableInfo],
    /// Maximum number of rows.
    pub most: usize,
    /// Whether the table is initially expanded.
    pub open: bool,
}

/// Writes a sortable table. Columns with the same value in all rows are listed above the table, and empty columns are
/// omitted.
pub fn table(of: &TableSection<'_>) -> String {
    let TableSection { name, csv, known, most, open } = of;
    let info = known.iter().find(|table| table.name == *name);
    let about = |column: &str| info?.columns.iter().find(|one| one.name == column);
    let (mut varied, mut same) = (Vec::new(), Vec::new());
    for column in 0..csv.header.len() {
        let first = &csv.rows[0][column];
        let is_same = csv.rows.len() > 1 && csv.rows.iter().all(|row| row[column] == *first);
        match (is_same, first.is_empty()) {
            (false, _) => varied.push(column),
            (true, false) => same.push(column),
            (true, true) => {}
        }
    }
    let mut out = format!(
        "<details{}><summary>{}</summary>\n",
        if *open { " open" } else { "" },
        escape(&info.map_or_else(|| name.to_string(), |info| format!("{name}: {}", info.row)))
    );
    if !same.is_empty() {
        let constants = same.iter().map(|&column| {
            let name = &csv.header[column];
            format!(
                "{} {}",
                escape(&heading(name, about(name))),
                escape(&in_unit(&csv.rows[0][column], about(name)))
            )
        });
        let _ = writeln!(
            out,
            "<p class=\"same\">The same in all rows: {}.</p>",
            constants.collect::<Vec<_>>().join("; ")
        );
    }
    out += "<div class=\"wide\"><table class=\"sortable\">\n<thead><tr>";
    let numeric: Vec<bool> = varied
        .iter()
        .map(|&column| csv.rows.iter().all(|row| is_number(&row[column]) || row[column].is_empty()))
        .collect();
    for (&column, numeric) in varied.iter().zip(&numeric) {
        let name = &csv.header[column];
        let meaning = about(name).map_or("", |info| info.meaning);
        let _ = write!(
            out,
            "<th scope=\"col\"{} title=\"{}\">{}</th>",
            if *numeric { " class=\"number\"" } else { "" },
            escape(meaning),
            escape(&heading(name, about(name)))
        );
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in csv.rows.iter().take(*most) {
        out += "<tr>";
        for (&column, numeric) in varied.iter().zip(&numeric) {
            let field = &row[column];
            let short = in_unit(field, about(&csv.header[column]));
            let full = match short == *field {
                true => String::new(),
                false => format!(" data-value=\"{}\"", escape(field)),
            };
            let class = if *numeric { " class=\"number\"" } else { "" };
            let _ = write!(out, "<td{class}{full}>{}</td>", escape(&short));
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if csv.rows.len() > *most {
        let all = grouped(csv.rows.len() as u64);
        let _ = writeln!(out, "<p>The first {most} of {all} rows; {name}.csv has all.</p>");
    }
    out += "</details>\n";
    out
}

/// Returns a column name with its unit, as a table heading.
fn heading(name: &str, info: Option<&ColumnInfo>) -> String {
    let words = name.replace('_', " ");
    match info.map_or("", |info| info.unit) {
        "" => words,
        SHARE => format!("{words} (%)"),
        unit if unit == words => words,
        unit => format!("{words} ({unit})"),
    }
}

/// Formats a field with [`format_field`] in the unit that [`heading`] gives.
fn in_unit(field: &str, info: Option<&ColumnInfo>) -> String {
    match (info.map_or("", |info| info.unit), field.parse::<f64>()) {
        (SHARE, Ok(share)) if share.is_finite() => rounded(100.0 * share),
        _ => format_field(field),
    }
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Formats numbers with about four digits and whole numbers in groups of three digits; other text is unchanged.
pub fn format_field(field: &str) -> String {
    if let Ok(whole) = field.parse::<i64>() {
        return grouped(whole);
    }
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() && field.contains(['.', 'e']) => rounded(value),
        _ => field.to_string(),
    }
}

/// Formats a number with about four digits.
pub fn rounded(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size == 0.0 => 0,
        _ if size >= 1000.0 => 0,
        _ => (3 - size.log10().floor() as i32).clamp(1, 8) as usize,
    };
    fixed(value, decimals)
}
