//! Sheets as LaTeX tables.

use std::io::{self, Write};

use super::sheet::{Align, Sheet};

impl Sheet {
    /// Writes the table as an environment `tabular` with the rules of the package booktabs. Text is escaped, so that
    /// LaTeX prints names as they are. The lead and the legend are comments, for the caption. Characters outside ASCII
    /// that are not replaced need a font that has them.
    ///
    /// # Errors
    /// [`io::Error`] if writing fails.
    pub fn write_latex(&self, out: &mut dyn Write) -> io::Result<()> {
        let comment = |text: Option<&str>, out: &mut dyn Write| {
            let text = text.unwrap_or_default().replace(char::is_control, " ");
            if text.is_empty() { Ok(()) } else { writeln!(out, "% {text}") }
        };
        comment(self.lead(), out)?;
        writeln!(out, "% \\usepackage{{booktabs}}")?;
        let aligned: String = self
            .header
            .iter()
            .map(|heading| if heading.align == Align::Left { 'l' } else { 'r' })
            .collect();
        writeln!(out, "\\begin{{tabular}}{{{aligned}}}\n\\toprule")?;
        let titles = self.header.iter().map(|heading| escape(&heading.title, false));
        writeln!(out, "{} \\\\\n\\midrule", titles.collect::<Vec<_>>().join(" & "))?;
        for row in &self.rows {
            let field = |(text, heading): (&String, &super::sheet::Heading)| {
                escape(text.trim_end(), heading.align == Align::Right)
            };
            let fields: Vec<String> = row.iter().zip(&self.header).map(field).collect();
            writeln!(out, "{} \\\\", fields.join(" & "))?;
        }
        writeln!(out, "\\bottomrule\n\\end{{tabular}}")?;
        comment(self.legend(), out)
    }
}

/// Escapes text for LaTeX. In columns of numbers, a hyphen before a digit is printed as a minus sign.
fn escape(text: &str, is_number: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        let follows = |is: fn(&char) -> bool| chars.get(i + 1).is_some_and(is);
        let begins = i == 0 || chars[i - 1] == ' ';
        match c {
            '\\' => out += "\\textbackslash{}",
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', c]),
            '^' => out += "\\textasciicircum{}",
            '~' => out += "\\textasciitilde{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            '"' => out += "''",
            '`' => out += "\\textasciigrave{}",
            // After the end of a row, LaTeX reads these characters as an argument.
            '[' => out += "{[}",
            '*' => out += "{*}",
            '-' if is_number && begins && follows(char::is_ascii_digit) => out += "$-$",
            // Two hyphens are a ligature.
            '-' if follows(|next| *next == '-') => out += "-{}",
            '±' => out += "$\\pm$",
            '×' => out += "$\\times$",
            '−' => out += "$-$",
            '–' => out += "--",
            '·' => out += "$\\cdot$",
            '…' => out += "\\ldots{}",
            'μ' | 'µ' => out += "$\\mu$",
            '₁' => out += "$_1$",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_latex_commands_are_printed_as_text() {
        let mut sheet = Sheet::new(&[("mean_wait %", Align::Left), ("wait s", Align::Right)])
            .led_by(Some("100 %\n\\input{x}".to_string()));
        sheet.push(vec!["\\input{/etc/passwd} 5% & $x^2~#1_a".into(), "-1.50 ± 0.20 *".into()]);
        sheet.push(vec!["[w=1] a--b".into(), "~ -2".into()]);
        let mut out = Vec::new();
        sheet.write_latex(&mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        let expected = "% 100 % \\input{x}\n% \\usepackage{booktabs}\n\\begin{tabular}{lr}\n\\toprule\n\
            mean\\_wait \\% & wait s \\\\\n\\midrule\n\
            \\textbackslash{}input\\{/etc/passwd\\} 5\\% \\& \\$x\\textasciicircum{}2\\textasciitilde{}\\#1\\_a \
            & $-$1.50 $\\pm$ 0.20 {*} \\\\\n\
            {[}w=1] a-{}-b & \\textasciitilde{} $-$2 \\\\\n\\bottomrule\n\\end{tabular}\n";
        assert_eq!(text, expected);
    }
}
