//! Fitting of tables to a line width.

use super::sheet::{Align, GAP, Heading, Sheet};

/// Minimum width of a text column.
const MIN_TEXT_WIDTH: usize = 14;

/// A table from which some columns may have been omitted.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The remaining columns. A row may span several lines if text is wrapped.
    pub sheet: Sheet,
    /// Titles and values of omitted columns with the same value in every row.
    pub constant: Vec<String>,
    /// Titles of all other omitted columns.
    pub left_out: Vec<String>,
}

impl Fitted {
    /// Returns the table with all its columns.
    pub fn whole(sheet: &Sheet) -> Self {
        Self { sheet: sheet.clone(), ..Self::default() }
    }

    /// Returns notes about omitted columns.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.constant.is_empty() {
            notes.push(format!("in all rows: {}", self.constant.join(", ")));
        }
        if !self.left_out.is_empty() {
            notes
                .push(format!("columns left out (--wide shows all): {}", self.left_out.join(", ")));
        }
        notes
    }
}

impl Sheet {
    /// Fits the table to lines of at most `width` characters, as far as this is possible by omitting columns and
    /// wrapping text. Columns with the same value in every row are omitted first, then the columns with the lowest
    /// [rank](Sheet::ranked). Among columns of equal rank, number columns are omitted first, from last to first, then
    /// text columns. The first column is never omitted. If no number column has a rank, the first number column is
    /// omitted only if it has the same value in every row. Before a column with a rank is omitted, text is wrapped.
    pub fn fitted(&self, width: usize) -> Fitted {
        let mut widths = self.widths();
        let columns = self.header.len();
        let is_number = |i: usize| self.header[i].align == Align::Right;
        let rank = |i: usize| self.header[i].rank;
        let is_constant = |i: usize| {
            self.rows.len() > 1 && self.rows.windows(2).all(|pair| pair[0][i] == pair[1][i])
        };
        let has_ranks = (0..columns).any(|i| is_number(i) && rank(i) > 0);
        let first_number = (0..columns).find(|&i| is_number(i)).filter(|_| !has_ranks);
        let constant: Vec<usize> = (1..columns).filter(|&i| is_constant(i)).collect();
        let numbers = (1..columns).rev().filter(|&i| is_number(i) && Some(i) != first_number);
        let words = (1..columns).rev().filter(|&i| !is_number(i));
        let mut others: Vec<usize> = numbers.chain(words).collect();
        others.sort_by_key(|&i| rank(i));
        let mut keeps = vec![true; columns];
        let (mut constant_left_out, mut left_out) = (Vec::new(), Vec::new());
        let unranked = others.iter().filter(|&&i| rank(i) == 0).count();
        let order = constant.into_iter().chain(others).zip(1..);
        let ranked_from = (1..columns).filter(|&i| is_constant(i)).count() + unranked;
        for (i, place) in order {
            if needed(&widths, &keeps) <= width {
                break;
            }
            if place > ranked_from && self.wrapped(&mut widths, &keeps, width) {
                break;
            }
            if !std::mem::replace(&mut keeps[i], false) {
                continue;
            }
            let title = &self.header[i].title;
            match is_constant(i) {
                // An omitted column without values is not mentioned in the notes.
                true if self.rows[0][i] == "-" => {}
                true => constant_left_out.push(format!("{title} {}", self.rows[0][i])),
                false => left_out.push(i),
            }
        }
        left_out.sort_unstable();
        let kept: Vec<usize> = (0..columns).filter(|&i| keeps[i]).collect();
        let header: Vec<Heading> = kept.iter().map(|&i| self.header[i].clone()).collect();
        let mut sheet = Sheet { header, ..Sheet::default() };
        for row in &self.rows {
            let cells: Vec<Vec<String>> =
                kept.iter().map(|&i| lines(&row[i], widths[i], is_number(i))).collect();
            let high = cells.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..high {
                sheet.rows.push(
                    cells.iter().map(|cell| cell.get(line).cloned().unwrap_or_default()).collect(),
                );
            }
        }
        Fitted {
            sheet,
            constant: constant_left_out,
            left_out: left_out.into_iter().map(|i| self.header[i].title.clone()).collect(),
        }
    }

    /// Makes text columns narrower until the table fits, beginning with the widest column. Changes nothing if the table
    /// cannot be made to fit.
    fn wrapped(&self, widths: &mut Vec<usize>, keeps: &[bool], width: usize) -> bool {
        let mut narrower = widths.clone();
        // Words are not split.
        let least = |i: usize| {
            let fields = self.rows.iter().map(|row| row[i].as_str());
            let words = fields.chain([self.header[i].title.as_str()]);
            let longest = words.flat_map(str::split_whitespace).map(|word| word.chars().count());
            longest.max().unwrap_or(0).max(MIN_TEXT_WIDTH)
        };
        let least: Vec<usize> = (0..narrower.len()).map(least).collect();
        while needed(&narrower, keeps) > width {
            let words = (0..narrower.len())
                .filter(|&i| keeps[i] && self.header[i].align == Align::Left)
                .filter(|&i| narrower[i] > least[i]);
            let Some(widest) = words.max_by_key(|&i| narrower[i]) else { return false };
            narrower[widest] -= 1;
        }
        *widths = narrower;
        true
    }
}

/// Returns the width of a line in characters.
fn needed(widths: &[usize], keeps: &[bool]) -> usize {
    let of: Vec<usize> =
        widths.iter().zip(keeps).filter(|(_, keeps)| **keeps).map(|(width, _)| *width).collect();
    of.iter().sum::<usize>() + GAP * of.len().saturating_sub(1)
}

/// Splits a field into lines of at most `width` characters.
fn lines(field: &str, width: usize, is_number: bool) -> Vec<String> {
    if is_number || field.chars().count() <= width {
        return vec![field.to_string()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in field.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omits_columns_to_fit_a_width() {
        let titles = ["trace", "machine", "tie", "wait s", "slowdown"];
        let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right];
        let header: Vec<_> = titles.into_iter().zip(aligns).collect();
        let mut sheet = Sheet::new(&header);
        for row in [["a", "10x10", "-", "12", "3.5"], ["b", "10x10", "-", "7", "2.5"]] {
            sheet.push(row.map(str::to_string).to_vec());
        }
        let fitted = |width| {
            let fitted = sheet.fitted(width);
            let titles: Vec<_> = fitted.sheet.header.iter().map(|one| one.title.clone()).collect();
            let widest = fitted.sheet.widths().iter().sum::<usize>() + GAP * (titles.len() - 1);
            assert!(widest <= width || titles.len() <= 2, "{width}: {titles:?}");
            assert!(fitted.sheet.rows.iter().all(|row| row.len() == titles.len()));
            (titles.join(" "), fitted.notes())
        };
        assert_eq!(fitted(37), (titles.join(" "), vec![]));
        let constant = "in all rows: machine 10x10".to_string();
        assert_eq!(fitted(36), ("trace tie wait s slowdown".into(), vec![constant.clone()]));
        // The omitted column without values is not mentioned in the notes.
        assert_eq!(fitted(23), ("trace wait s slowdown".into(), vec![constant.clone()]));
        let without = "columns left out (--wide shows all): slowdown".to_string();
        assert_eq!(fitted(22), ("trace wait s".into(), vec![constant.clone(), without.clone()]));
        assert_eq!(fitted(3), ("trace wait s".into(), vec![constant, without]));
        // If the table has a single row, no column is treated as constant.
        sheet.rows.truncate(1);
        let notes = vec!["columns left out (--wide shows all): slowdown".to_string()];
        assert_eq!(sheet.fitted(30).notes(), notes);
    }

    #[test]
    fn wraps_text_to_keep_ranked_columns() {
        let titles = ["run", "jobs", "what it is", "base", "change %", "verdict"];
        let aligns =
            [Align::Left, Align::Right, Align::Left, Align::Right, Align::Right, Align::Left];
        let header: Vec<_> = titles.into_iter().zip(aligns).collect();
        let ranks = [("what it is", 1), ("change %", 2), ("verdict", 2)];
        let mut sheet = Sheet::new(&header).ranked(&ranks);
        let what = "mean wait of all the jobs on the machine";
        sheet.push(["fcfs", "10", what, "12.5", "-4.0", "better"].map(str::to_string).to_vec());
        sheet.push(["easy", "11", "wait", "7.5", "3.0", "worse"].map(str::to_string).to_vec());
        let plain = |width| {
            let fitted = sheet.fitted(width);
            let mut out = Vec::new();
            fitted.sheet.write_plain(&mut out).expect("memory");
            (String::from_utf8(out).expect("text"), fitted.left_out.join(" "))
        };
        let (text, left_out) = plain(60);
        assert_eq!(left_out, "jobs base");
        let expected = [
            "run   what it is                          change %  verdict",
            "----  ----------------------------------  --------  -------",
            "fcfs  mean wait of all the jobs on the        -4.0  better",
            "      machine",
            "easy  wait                                     3.0  worse",
        ];
        let trimmed: Vec<&str> = text.lines().collect();
        assert_eq!(trimmed.len(), expected.len(), "{text}");
        assert!(trimmed.iter().all(|line| line.chars().count() <= 60), "{text}");
        for (line, expected) in trimmed.iter().zip(expected) {
            let words =
                |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            if !line.starts_with("--") {
                assert_eq!(words(line), words(expected), "{text}");
            }
        }
        // The width is too small even for wrapped text, so the text column is omitted before the number columns.
        assert_eq!(plain(30).1, "jobs what it is base");
        assert_eq!(plain(3).1, "jobs what it is base change % verdict");
    }
}
