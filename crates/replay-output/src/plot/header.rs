use plotters::prelude::DrawingBackend;

use super::look::Page;
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
    /// A disc.
    Disc(Colour),
    /// A circle.
    Circle(Colour),
    /// A triangle.
    Triangle(Colour),
    /// A number.
    Number(Colour),
    /// A short upright line.
    Tick(Colour),
}

impl Mark {
    fn width(self) -> f64 {
        match self {
            Mark::Box(_)
            | Mark::Cross(_)
            | Mark::Number(_)
            | Mark::Tick(_)
            | Mark::Disc(_)
            | Mark::Circle(_)
            | Mark::Triangle(_) => 12.0,
            Mark::Line(_) | Mark::Ring(_) | Mark::Thick(_) => 22.0,
            // Three dashes.
            Mark::Dashes(_) => 25.0,
        }
    }
}

/// Gaps after a mark and after its label.
const MARK_GAP: f64 = 7.0;
const ENTRY_GAP: f64 = 24.0;

/// Between the lines of one legend entry.
const ENTRY_LINE: f64 = 17.0;

/// The most lines of a subtitle on a page narrower than the default one.
const SUBTITLE_LINES: usize = 3;
/// Words of every clause that states what a figure leaves out.
pub(super) const NOT_SHOWN: &str = "not shown";

/// Least distance of the first line from the upper edge, and room below the last one.
const FIRST: f64 = 20.0;
const BELOW: f64 = 24.0;

/// What stands above a figure: a title, the parts of a subtitle, and a legend, each wrapped where the page ends.
///
/// A page narrower than the default one has three lines of subtitle at most: later clauses that do
/// not fit are dropped, except those that state what the figure leaves out.
#[derive(Clone, Debug, Default)]
pub struct Head {
    title: String,
    subtitle: Vec<String>,
    legend: Vec<(Mark, String)>,
}

/// A head with everything in its place.
struct Laid {
    title: Vec<(f64, String)>,
    subtitle: Vec<(f64, String)>,
    legend: Vec<(f64, f64, Mark, Vec<String>)>,
    /// Where the figure below may begin.
    bottom: f64,
}

impl Head {
    /// A title with a subtitle and without a legend.
    pub fn new(title: &str, subtitle: &[String]) -> Self {
        Self { title: title.to_string(), subtitle: subtitle.to_vec(), legend: Vec::new() }
    }

    /// The same with a legend.
    pub fn legend(self, legend: impl IntoIterator<Item = (Mark, String)>) -> Self {
        Self { legend: legend.into_iter().collect(), ..self }
    }

    /// Height on a page.
    pub(super) fn height(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.laid(page.width, page.titles)?.bottom)
    }

    fn laid(&self, width: f64, titles: bool) -> Result<Laid, PlotError> {
        let room = width - 2.0 * MARGIN;
        let (mut title, mut subtitle, mut legend) = (Vec::new(), Vec::new(), Vec::new());
        let mut y = 0.0;
        if titles && !self.title.is_empty() {
            for line in broken(&self.title, Text::of_size(TITLE).bold(), room)? {
                y = if y == 0.0 { 34.0 } else { y + 26.0 };
                title.push((y, line));
            }
            y += 4.0;
        }
        if titles {
            let look = Text::of_size(SUBTITLE);
            let lines = match width < PAGE.0 {
                true => fitted(&self.subtitle, look, room)?,
                false => wrapped(&self.subtitle, look, room)?,
            };
            for line in lines {
                y = if y == 0.0 { FIRST } else { y + 22.0 };
                subtitle.push((y, line));
            }
        }
        if !self.legend.is_empty() {
            y = if y == 0.0 { FIRST } else { y + 28.0 };
            let (mut x, look) = (MARGIN, Text::of_size(TICK));
            for (mark, label) in &self.legend {
                let before = mark.width() + MARK_GAP;
                let lines = broken(label, look, room - before)?;
                let mut needed: f64 = 0.0;
                for line in &lines {
                    needed = needed.max(before + look.width(line)?);
                }
                if x > MARGIN && (lines.len() > 1 || x + needed > width - MARGIN) {
                    (x, y) = (MARGIN, y + 21.0);
                }
                let more = lines.len().saturating_sub(1);
                legend.push((x, y, *mark, lines));
                // Nothing stands beside an entry of several lines.
                x += if more > 0 { width } else { needed + ENTRY_GAP };
                y += ENTRY_LINE * more as f64;
            }
        }
        let bottom = if y == 0.0 { FIRST } else { y + BELOW };
        Ok(Laid { title, subtitle, legend, bottom })
    }

    /// Draws it. Returns where the figure below may begin.
    pub(super) fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<f64, PlotError> {
        let laid = self.laid(canvas.width(), canvas.has_titles())?;
        for (y, line) in &laid.title {
            canvas.text(line, (MARGIN, *y), Text::of_size(TITLE).bold())?;
        }
        for (y, line) in &laid.subtitle {
            canvas.text(line, (MARGIN, *y), Text::of_size(SUBTITLE).colour(MUTED))?;
        }
        for (x, y, mark, lines) in &laid.legend {
            draw_mark(canvas, *mark, *x, *y)?;
            for (line, text) in lines.iter().enumerate() {
                let at = (x + mark.width() + MARK_GAP, y + ENTRY_LINE * line as f64);
                canvas.text(text, at, Text::of_size(TICK).colour(INK))?;
            }
        }
        Ok(laid.bottom)
    }
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
        Mark::Disc(colour) => canvas.disc((middle, y), 3.5, colour),
        Mark::Circle(colour) => {
            canvas.disc((middle, y), 3.5, colour)?;
            canvas.disc((middle, y), 2.0, WHITE)
        }
        Mark::Triangle(colour) => canvas.polygon(&triangle((middle, y), 5.0, (0.0, -1.0)), colour),
        Mark::Tick(colour) => {
            canvas.rectangle((middle - 1.0, y - 6.0), (middle + 1.0, y + 6.0), colour)
        }
        Mark::Number(colour) => {
            let look = Text::of_size(TICK).bold().align(Align::Centre);
            canvas.text("3", (middle, y), look.colour(colour))
        }
    }
}

/// The corners of a triangle around a point, which points in a direction of length 1.
pub(super) fn triangle((x, y): (f64, f64), size: f64, (dx, dy): (f64, f64)) -> [(f64, f64); 3] {
    [
        (x + size * dx, y + size * dy),
        (x - size * (dx + dy) * 0.8, y - size * (dy - dx) * 0.8),
        (x - size * (dx - dy) * 0.8, y - size * (dy + dx) * 0.8),
    ]
}

/// Parts joined by dots into lines of a width. A part that is wider is broken at blanks.
fn wrapped(parts: &[String], look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        if let Some(line) = lines.last_mut() {
            let joined = format!("{line} \u{B7} {part}");
            if look.width(&joined)? <= room {
                *line = joined;
                continue;
            }
        }
        lines.extend(broken(part, look, room)?);
    }
    Ok(lines)
}

/// Those of the parts that [`SUBTITLE_LINES`] lines of a width have room for, as [`wrapped`] lays them out: the first
/// one, those that state what is not shown, and of the others the earlier ones.
fn fitted(parts: &[String], look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    let mut kept: Vec<bool> = parts.iter().map(|part| part.contains(NOT_SHOWN)).collect();
    let lines = |kept: &[bool]| {
        let parts = parts.iter().zip(kept).filter(|(_, kept)| **kept);
        wrapped(&parts.map(|(part, _)| part.clone()).collect::<Vec<_>>(), look, room)
    };
    for place in 0..parts.len() {
        if !std::mem::replace(&mut kept[place], true) {
            kept[place] = place == 0 || lines(&kept)?.len() <= SUBTITLE_LINES;
        }
    }
    lines(&kept)
}

/// Where a word that is wider than a line is broken: before a bracket and after a comma, or else after a hyphen, an
/// underscore, an equals sign or a slash.
fn pieces(word: &str, look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    let cut = |word: &str, is_end: &dyn Fn(char, Option<char>) -> bool| {
        let mut pieces = vec![String::new()];
        let mut chars = word.chars().peekable();
        while let Some(c) = chars.next() {
            if let Some(piece) = pieces.last_mut() {
                piece.push(c);
            }
            if chars.peek().is_some() && is_end(c, chars.peek().copied()) {
                pieces.push(String::new());
            }
        }
        pieces
    };
    let brackets = |c: char, next: Option<char>| c == ',' || matches!(next, Some('[' | '('));
    let hyphens = |c: char, _: Option<char>| matches!(c, '-' | '_' | '=' | '/');
    let mut all = Vec::new();
    if look.width(word)? <= room {
        return Ok(vec![word.to_string()]);
    }
    for piece in cut(word, &brackets) {
        match look.width(&piece)? <= room {
            true => all.push(piece),
            false => all.extend(cut(&piece, &hyphens)),
        }
    }
    Ok(all)
}

/// A text in lines of a width, broken at blanks; a word that is wider is broken at its [`pieces`], and what is wider
/// even so is cut in its middle.
pub(super) fn broken(text: &str, look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    if look.width(text)? <= room {
        return Ok(vec![text.to_string()]);
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        for (place, piece) in pieces(word, look, room)?.into_iter().enumerate() {
            if let Some(line) = lines.last_mut() {
                let joined = format!("{line}{}{piece}", if place == 0 { " " } else { "" });
                if look.width(&joined)? <= room {
                    *line = joined;
                    continue;
                }
            }
            lines.push(shortened(&piece, look, room)?);
        }
    }
    Ok(lines)
}

/// A text cut in the middle to a width.
pub(super) fn shortened(text: &str, look: Text, room: f64) -> Result<String, PlotError> {
    let chars: Vec<char> = text.chars().collect();
    let mut kept = chars.len();
    let mut text = text.to_string();
    while kept > 2 && look.width(&text)? > room {
        kept -= 1;
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        text = chars[..head].iter().chain(&['…']).chain(&chars[chars.len() - tail..]).collect();
    }
    Ok(text)
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
        let room = Page::default().width - 2.0 * MARGIN;
        let lines = wrapped(&parts, look, room).expect("the font");
        assert!(lines.len() > 3, "{lines:?}");
        for line in &lines {
            assert!(look.width(line).expect("the font") <= room, "{line}");
        }
        // Nothing is lost, and what follows stands behind the rest of it.
        assert_eq!(lines[0], parts[0]);
        assert_eq!(lines[1..].join(" "), format!("{long} \u{B7} the end"));
    }

    #[test]
    fn a_column_has_all_of_a_head_within_its_edges() {
        register().expect("the font");
        let long =
            "KTH-SP2-1996-2.1-cln on torus[x]:16x24, conservative, shuffled-row-major-best-fit";
        let parts = [long.to_string(), "x".repeat(90), "the end".to_string()];
        let legend = ["short".to_string(), "y".repeat(90)].map(|name| (Mark::Box(INK), name));
        let head = Head::new(long, &parts).legend(legend);
        let laid = head.laid(406.0, true).expect("the font");
        let within = |x: f64, line: &str, look: Text| {
            let end = x + look.width(line).expect("the font");
            assert!(end <= 406.0 - MARGIN + 0.5, "{line} ends at {end}");
        };
        laid.title.iter().for_each(|(_, line)| within(MARGIN, line, Text::of_size(TITLE).bold()));
        laid.subtitle.iter().for_each(|(_, line)| within(MARGIN, line, Text::of_size(SUBTITLE)));
        let label = |x: f64, mark: Mark| x + mark.width() + MARK_GAP;
        for (x, _, mark, lines) in &laid.legend {
            lines.iter().for_each(|line| within(label(*x, *mark), line, Text::of_size(TICK)));
        }
        let without = head.laid(406.0, false).expect("the font");
        assert!(without.title.is_empty() && without.subtitle.is_empty());
        assert_eq!(without.legend.len(), 2);
        assert!(without.bottom < laid.bottom);
    }

    #[test]
    fn a_legend_entry_wider_than_the_page_is_broken_not_cut() {
        register().expect("the font");
        let name = "easy: 12 strategies with the schedule of shuffled-row-major-best-fit[order=scan,ties=first,guard=place] (mean 4)";
        let head = Head::new("", &[]).legend([(Mark::Box(INK), name.to_string())]);
        let laid = head.laid(406.0, true).expect("the font");
        let lines = &laid.legend[0].3;
        assert!(lines.len() > 1 && !lines.iter().any(|line| line.contains('…')), "{lines:?}");
        let joined: String = lines.concat();
        assert_eq!(joined.replace(' ', ""), name.replace(' ', ""));
        let below =
            head.legend([(Mark::Box(INK), name.to_string()), (Mark::Box(INK), "b".to_string())]);
        let laid = below.laid(406.0, true).expect("the font");
        assert!(laid.legend[1].1 >= laid.legend[0].1 + 17.0 * (lines.len() - 1) as f64 + 21.0);
    }

    #[test]
    fn a_column_has_three_lines_of_subtitle() {
        register().expect("the font");
        let clause = |i: usize| format!("clause {i} of a subtitle that is rather long");
        let mut parts: Vec<String> = (0..8).map(clause).collect();
        parts.push("5 more strategies are not shown".to_string());
        let head = Head::new("", &parts);
        let lines = |width: f64| {
            let laid = head.laid(width, true).expect("the font");
            laid.subtitle.into_iter().map(|(_, line)| line).collect::<Vec<_>>()
        };
        let column = lines(406.0);
        assert_eq!(column.len(), SUBTITLE_LINES, "{column:?}");
        assert!(column[0].contains("clause 0") && column[1].contains("clause 1"), "{column:?}");
        assert!(column[2].contains("5 more strategies"), "{column:?}");
        let usual = lines(PAGE.0).join(" ");
        assert!(parts.iter().all(|part| usual.contains(part.as_str())), "{usual}");
    }
}
