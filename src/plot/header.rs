use plotters::prelude::DrawingBackend;

use super::style::{Colour, INK, MARGIN, MUTED, PAGE, SUBTITLE, TICK, TITLE, WHITE};
use super::{Align, Canvas, PlotError, Text};

/// What a legend shows beside a label.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A filled square.
    Box(Colour),
    /// An upright cross.
    Cross(Colour),
    /// A line with a dot.
    Line(Colour),
    /// A line with a ring: the same colours for a second time.
    Ring(Colour),
    /// A dashed line.
    Dashes(Colour),
    /// A thick line.
    Thick(Colour),
    /// A number.
    Number(Colour),
}

impl Mark {
    fn width(self) -> f64 {
        match self {
            Mark::Box(_) | Mark::Cross(_) | Mark::Number(_) => 12.0,
            Mark::Line(_) | Mark::Ring(_) | Mark::Thick(_) => 22.0,
            // Three dashes.
            Mark::Dashes(_) => 25.0,
        }
    }
}

/// Gaps after a mark and after its label.
const MARK_GAP: f64 = 7.0;
const ENTRY_GAP: f64 = 24.0;

/// Draws a title, below it the parts of a subtitle, and a legend, each wrapped where the
/// page ends. Returns where the figure below may begin.
pub fn header<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    subtitle: &[String],
    legend: &[(Mark, String)],
) -> Result<f64, PlotError> {
    let mut y = 34.0;
    canvas.text(title, (MARGIN, y), Text::of_size(TITLE).bold())?;
    y += 4.0;
    let look = Text::of_size(SUBTITLE).colour(MUTED);
    for line in wrapped(subtitle, look)? {
        y += 22.0;
        canvas.text(&line, (MARGIN, y), look)?;
    }
    if !legend.is_empty() {
        y += 28.0;
        let (mut x, look) = (MARGIN, Text::of_size(TICK).colour(INK));
        for (mark, label) in legend {
            let label_at = mark.width() + MARK_GAP;
            let width = label_at + look.width(label)?;
            if x > MARGIN && x + width > PAGE.0 - MARGIN {
                (x, y) = (MARGIN, y + 21.0);
            }
            draw_mark(canvas, *mark, x, y)?;
            canvas.text(label, (x + label_at, y), look)?;
            x += width + ENTRY_GAP;
        }
    }
    Ok(y + 28.0)
}

fn draw_mark<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    mark: Mark,
    x: f64,
    y: f64,
) -> Result<(), PlotError> {
    let (width, middle) = (mark.width(), x + mark.width() / 2.0);
    match mark {
        Mark::Box(colour) => {
            canvas.rectangle((middle - 6.0, y - 6.0), (middle + 6.0, y + 6.0), colour)
        }
        Mark::Cross(colour) => canvas.cross((middle, y), 5.0, 0.75, colour),
        Mark::Line(colour) => {
            canvas.line(&[(x, y), (x + width, y)], 2.0, colour)?;
            canvas.disc((middle, y), 3.5, colour)
        }
        Mark::Ring(colour) => {
            canvas.line(&[(x, y), (x + width, y)], 2.0, colour)?;
            canvas.disc((middle, y), 4.5, colour)?;
            canvas.disc((middle, y), 2.5, WHITE)
        }
        Mark::Dashes(colour) => canvas.dashes((x, y), (x + width, y), 1.5, colour),
        Mark::Thick(colour) => canvas.rectangle((x, y - 1.75), (x + width, y + 1.75), colour),
        Mark::Number(colour) => {
            let look = Text::of_size(TICK).bold().align(Align::Centre);
            canvas.text("3", (middle, y), look.colour(colour))
        }
    }
}

/// Parts joined by dots into lines that fit the page. A part that is wider than the page is broken at blanks.
fn wrapped(parts: &[String], look: Text) -> Result<Vec<String>, PlotError> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        if let Some(line) = lines.last_mut() {
            let joined = format!("{line} \u{B7} {part}");
            if look.width(&joined)? <= PAGE.0 - 2.0 * MARGIN {
                *line = joined;
                continue;
            }
        }
        lines.extend(broken(part, look)?);
    }
    Ok(lines)
}

/// A part in lines that fit the page, as far as breaks at blanks do it.
fn broken(part: &str, look: Text) -> Result<Vec<String>, PlotError> {
    if look.width(part)? <= PAGE.0 - 2.0 * MARGIN {
        return Ok(vec![part.to_string()]);
    }
    let mut lines: Vec<String> = Vec::new();
    for word in part.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            let joined = format!("{line} {word}");
            if look.width(&joined)? <= PAGE.0 - 2.0 * MARGIN {
                *line = joined;
                continue;
            }
        }
        lines.push(word.to_string());
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::style::register;

    #[test]
    fn what_is_wider_than_the_page_is_broken_at_blanks() {
        register().expect("the font");
        let look = Text::of_size(SUBTITLE);
        let long = "links that leave a processor; ".repeat(12).trim_end().to_string();
        let parts = ["KTH-SP2, 10x10".to_string(), long.clone(), "the end".to_string()];
        let lines = wrapped(&parts, look).expect("the font");
        assert!(lines.len() > 3, "{lines:?}");
        for line in &lines {
            assert!(look.width(line).expect("the font") <= PAGE.0 - 2.0 * MARGIN, "{line}");
        }
        // Nothing is lost, and what follows stands behind the rest of it.
        assert_eq!(lines[0], parts[0]);
        assert_eq!(lines[1..].join(" "), format!("{long} \u{B7} the end"));
    }
}
