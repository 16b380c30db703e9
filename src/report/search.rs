use super::format::{Align, Sheet, Shown};
use crate::experiment::search::{Candidate, Origin, Portability, SearchRow};
use crate::number::{fixed, grouped};

/// The table for people. Columns that say nothing are left out.
pub fn search_summary(objective: &str, rows: &[SearchRow]) -> Sheet {
    let mut shown = Vec::new();
    if rows.windows(2).any(|pair| pair[0].searched != pair[1].searched) {
        shown.push(Shown::column("searched", "searched", 0));
    }
    shown.extend([
        Shown::text("rank", |row: &SearchRow| match row.origin {
            Origin::Given => Some("given".to_string()),
            _ => row.rank.map(grouped),
        })
        .right(),
        Shown::text("tie", |row: &SearchRow| row.candidate.map(|one| one.to_string())),
        Shown::text("AF : WF : BF", |row: &SearchRow| row.candidate.map(ratios)),
        Shown::column("value", objective, 3),
        Shown::column("improvement_percent", "better %", 3),
        Shown::column("test_improvement_percent", "test %", 3).optional(),
    ]);
    if rows.iter().any(|row| row.feasible == Some(false)) {
        shown.push(Shown::column("excess_percent", "over limit %", 2));
    }
    shown.extend([
        Shown::column("worst_size", "worst size", 0),
        Shown::column("worst_jobs", "its jobs", 0),
        Shown::column("worst_percent", "worse %", 2),
    ]);
    Sheet::of(rows, shown)
}

/// The factors over the first that is not 0, as the paper's Fig. 8 gives them; signs stay.
fn ratios(Candidate { vector, .. }: Candidate) -> String {
    let factors = [vector.available, vector.wall, vector.border].map(f64::from);
    let unit = factors.iter().copied().find(|&factor| factor != 0.0).unwrap_or(1.0).abs();
    factors.map(|factor| fixed(factor / unit, 3)).join(" : ")
}

/// Improvements in percent by vector and trace.
pub fn portability_summary(matrix: &Portability) -> Sheet {
    let mut header = vec![("tie", Align::Left), ("found on", Align::Left)];
    header.extend(matrix.parts.iter().map(|part| (part.name.as_str(), Align::Right)));
    let mut sheet = Sheet::new(&header);
    for (found, cells) in matrix.found.iter().zip(&matrix.cells) {
        let mut row = vec![found.candidate.to_string(), found.on.clone()];
        row.extend(cells.iter().map(|cell| {
            let improvement = fixed(cell.improvement_percent, 3);
            let radius = cell.candidate.vector.scan_radius;
            match radius == found.candidate.vector.scan_radius {
                true => improvement,
                false => format!("{improvement} (SR {radius})"),
            }
        }));
        sheet.push(row);
    }
    sheet
}
