use replay_engine::number::{fixed, grouped};
use replay_engine::table::{Align, Sheet, Shown};
use replay_experiment::search::{Candidate, GapToBest, Origin, Portability, SearchRow};
use replay_experiment::shaken::Significance;

/// Returns a table of search results for the terminal. `objective` is the title of the objective with its unit. Columns
/// without values are omitted.
pub fn search_summary(objective: &str, rows: &[SearchRow]) -> Sheet {
    let mut shown = Vec::new();
    if rows.windows(2).any(|pair| pair[0].searched != pair[1].searched) {
        shown.push(Shown::column(SearchRow::SEARCHED, "searched", 0));
    }
    shown.extend([
        Shown::text("rank", |row: &SearchRow| match row.origin {
            Origin::Given => Some("given".to_string()),
            _ => row.rank.map(grouped),
        })
        .right(),
        Shown::text("tie", |row: &SearchRow| row.candidate.map(|one| one.to_string())).rank(1),
        Shown::text("AF : WF : BF", |row: &SearchRow| row.candidate.map(ratios)),
        Shown::column(SearchRow::VALUE, objective, 3).rank(1),
        Shown::text("better %", |row: &SearchRow| {
            let half_width = row.shaken.map(|mean| mean.half_width);
            Some(with_interval(row.improvement_percent, half_width))
        })
        .right()
        .rank(1),
        Shown::text("behind the best", |row: &SearchRow| {
            let GapToBest { percent, verdict } = row.behind?;
            let doubt = if verdict == Significance::Yes { "" } else { "~ " };
            Some(format!("{doubt}{}", with_interval(percent.mean, Some(percent.half_width))))
        })
        .right()
        .optional(),
        Shown::text("test %", |row: &SearchRow| {
            let half_width = row.test_shaken.map(|mean| mean.half_width);
            Some(with_interval(row.test_improvement_percent?, half_width))
        })
        .right()
        .optional(),
    ]);
    if rows.iter().any(|row| row.feasible == Some(false)) {
        shown.push(Shown::column(SearchRow::EXCESS_PERCENT, "over limit %", 2));
    }
    shown.extend([
        Shown::column(SearchRow::WORST_SIZE, "worst size", 0),
        Shown::column(SearchRow::WORST_JOBS, "its jobs", 0),
        Shown::column(SearchRow::WORST_PERCENT, "worse %", 2),
    ]);
    Sheet::of(rows, shown)
}

/// Formats a percentage with half the width of its confidence interval, if present.
fn with_interval(percent: f64, half_width: Option<f64>) -> String {
    let half_width = half_width.map_or(String::new(), |width| format!(" ± {}", fixed(width, 3)));
    fixed(percent, 3) + &half_width
}

/// Formats the ratios of the factors to the absolute value of the first nonzero factor, as in Fig. 8 of Johnson, Bunde
/// and Leung. Signs are kept.
fn ratios(Candidate { vector, .. }: Candidate) -> String {
    let factors = vector.factors().map(f64::from);
    let unit = factors.iter().copied().find(|&factor| factor != 0.0).unwrap_or(1.0).abs();
    factors.iter().map(|factor| fixed(factor / unit, 3)).collect::<Vec<_>>().join(" : ")
}

/// Returns a table of the improvements in percent by vector and trace.
pub fn portability_summary(matrix: &Portability) -> Sheet {
    let mut header = vec![("tie", Align::Left), ("found on", Align::Left)];
    header.extend(matrix.parts.iter().map(|part| (part.name.as_str(), Align::Right)));
    let mut sheet = Sheet::new(&header);
    for (found, cells) in matrix.found.iter().zip(&matrix.cells) {
        let mut row = vec![found.candidate.to_string(), found.on.clone()];
        row.extend(cells.iter().map(|cell| {
            let half_width = cell.estimate().map(|mean| mean.half_width);
            let improvement = with_interval(cell.improvement_percent, half_width);
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
