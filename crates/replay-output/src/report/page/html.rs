use std::fmt::Write;

use replay_engine::number::{fixed, grouped};
use replay_engine::table::{ColumnInfo, SHARE, Value};
use replay_results::ResultTable;

/// Escapes text for HTML. Control characters are replaced with U+FFFD, except line feeds and tabs.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(printable(c)),
        }
    }
    out
}

fn printable(c: char) -> char {
    match c.is_control() && !matches!(c, '\n' | '\t') {
        true => char::REPLACEMENT_CHARACTER,
        false => c,
    }
}

/// Embeds a figure as an image, in which scripts cannot run. Without a caption, the parts of the file stem are the
/// caption.
pub fn figure(stem: &str, svg: &str, caption: Option<&str>) -> String {
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
            c => data.push(printable(c)),
        }
    }
    let name = escape(caption.unwrap_or(&stem.replace("--", ", ")));
    // Captions can wrap after the comma between two parts.
    let parts: Vec<String> = stem.split("--").map(escape).collect();
    let caption = match caption {
        Some(caption) => escape(caption),
        None => format!("<span>{}</span>", parts.join(",</span> <span>")),
    };
    format!(
        "<figure><img loading=\"lazy\" alt=\"{name}\" src=\"data:image/svg+xml;charset=utf-8,{data}\">\
         <figcaption>{caption}</figcaption></figure>\n"
    )
}

/// Writes a sortable table with at most `most` rows, initially expanded if `open` is true. Columns with the same value
/// in all rows are listed above the table, and empty columns are omitted.
pub fn table(of: &ResultTable, most: usize, open: bool) -> String {
    let rows = of.frame.height();
    let (mut varied, mut same) = (Vec::new(), Vec::new());
    for (name, info, values) in of.columns() {
        let Some(first) = values.first() else { return String::new() };
        match (rows > 1 && values.iter().all(|value| value == first), first) {
            (false, _) => varied.push((name, info, values)),
            (true, Value::Null) => {}
            (true, _) => same.push((name, info, values)),
        }
    }
    let name = &of.name;
    let about = of.info.as_ref().map_or(String::new(), |info| format!(": {}", info.row));
    let summary = format!("{name}{about}");
    let mut out = format!(
        "<details{}><summary>{}</summary>\n",
        if open { " open" } else { "" },
        escape(&summary)
    );
    if !same.is_empty() {
        let constants = same.iter().map(|(name, info, values)| {
            format!("{} {}", escape(&heading(name, *info)), escape(&in_unit(&values[0], *info)))
        });
        let _ = writeln!(
            out,
            "<p class=\"same\">The same in all rows: {}.</p>",
            constants.collect::<Vec<_>>().join("; ")
        );
    }
    out += "<div class=\"wide\"><table class=\"sortable\">\n<thead><tr>";
    let class = |values: &[Value<'_>]| match values.iter().all(is_numeric) {
        true => " class=\"number\"",
        false => "",
    };
    let classes: Vec<&str> = varied.iter().map(|(_, _, values)| class(values)).collect();
    for ((name, info, _), class) in varied.iter().zip(&classes) {
        let meaning = info.map_or("", |info| info.meaning);
        let _ = write!(
            out,
            "<th scope=\"col\"{class} title=\"{}\">{}</th>",
            escape(meaning),
            escape(&heading(name, *info))
        );
    }
    out += "</tr></thead>\n<tbody>\n";
    for at in 0..rows.min(most) {
        out += "<tr>";
        for ((_, info, values), class) in varied.iter().zip(&classes) {
            let value = &values[at];
            let (short, full) = (in_unit(value, *info), value.to_string());
            let full = match short == full {
                true => String::new(),
                false => format!(" data-value=\"{}\"", escape(&full)),
            };
            let _ = write!(out, "<td{class}{full}>{}</td>", escape(&short));
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if rows > most {
        let all = grouped(rows as u64);
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

/// Formats a value with [`format_value`] in the unit that [`heading`] gives.
fn in_unit(value: &Value<'_>, info: Option<&ColumnInfo>) -> String {
    match (info.map_or("", |info| info.unit), value.number()) {
        (SHARE, Some(share)) => rounded(100.0 * share),
        _ => format_value(value),
    }
}

/// Returns whether a value can be in a column that is aligned as numbers.
fn is_numeric(value: &Value<'_>) -> bool {
    match value {
        Value::I64(_) | Value::U64(_) | Value::F64(_) | Value::Null => true,
        Value::Text(_) | Value::List(_) => {
            value.to_string().parse::<f64>().is_ok_and(f64::is_finite)
        }
    }
}

/// Formats numbers with about four digits, and formats whole numbers in groups of three digits. Text that is a number,
/// such as a printed number of a paper or a number in an undeclared column, is formatted as a number.
pub fn format_value(value: &Value<'_>) -> String {
    let text = match *value {
        Value::I64(whole) => return grouped(whole),
        Value::F64(real) => return rounded(real),
        ref other => other.to_string(),
    };
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) => grouped(whole),
        (_, Ok(real)) if real.is_finite() && text.contains(['.', 'e']) => rounded(real),
        _ => text,
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
