use super::figure_style::Page;
use super::style::{Colour, INK, MARGIN, MUTED, PAGE, SUBTITLE, TICK, TITLE, WHITE};
use super::{Align, Canvas, PlotError, Text};

/// Symbol of a legend entry.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A filled square.
    Box(Colour),
    /// An upright cross.
    Cross(Colour),
    /// A line with a dot.
    Line(Colour),
    /// A line with a ring, for lines with a repeated colour.
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
    /// Returns the colour and the shape as words, for a caption.
    fn name(self) -> String {
        let (colour, shape) = match self {
            Self::Box(colour) => (colour, "bar"),
            Self::Cross(colour) => (colour, "cross"),
            Self::Line(colour) => (colour, "line"),
            Self::Ring(colour) => (colour, "line with rings"),
            Self::Dashes(colour) => (colour, "dashed line"),
            Self::Thick(colour) => (colour, "thick line"),
            Self::Disc(colour) => (colour, "disc"),
            Self::Circle(colour) => (colour, "circle"),
            Self::Triangle(colour) => (colour, "triangle"),
            Self::Number(colour) => (colour, "number"),
            Self::Tick(colour) => (colour, "stroke"),
        };
        match colour.name() {
            Some(colour) => format!("{colour} {shape}"),
            None => shape.to_string(),
        }
    }
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
            // A mark of this width has three dashes.
            Mark::Dashes(_) => 25.0,
        }
    }
}

/// Gap after a mark.
const MARK_GAP: f64 = 7.0;
/// Gap after a legend entry.
const ENTRY_GAP: f64 = 24.0;

/// Distance between the lines of one legend entry.
const ENTRY_LINE: f64 = 17.0;

/// Maximum number of subtitle lines on a page narrower than the default page.
const SUBTITLE_LINES: usize = 3;
/// Words that every clause about omitted parts of a figure contains.
pub(super) const NOT_SHOWN: &str = "not shown";

/// Minimum distance of the first line from the upper edge.
const FIRST: f64 = 20.0;
/// Room below the last line of the head.
const BELOW: f64 = 24.0;

/// Head of a figure: title, subtitle clauses and legend, each wrapped to the page width.
///
/// A page narrower than the default has at most three subtitle lines. Later clauses that do not fit are dropped,
/// except clauses that state what the figure omits.
#[derive(Clone, Debug, Default)]
pub struct Head {
    title: String,
    subtitle: Vec<String>,
    legend: Vec<(Mark, String)>,
}

/// A head with the positions of its lines.
struct HeadLayout {
    title: Vec<(f64, String)>,
    subtitle: Vec<(f64, String)>,
    legend: Vec<(f64, f64, Mark, Vec<String>)>,
    /// Upper end of the area for the figure.
    bottom: f64,
}

impl Head {
    /// Returns a head without a legend.
    pub fn new(title: &str, subtitle: &[String]) -> Self {
        Self { title: title.to_string(), subtitle: subtitle.to_vec(), legend: Vec::new() }
    }

    /// Sets the legend.
    pub fn legend(self, legend: impl IntoIterator<Item = (Mark, String)>) -> Self {
        Self { legend: legend.into_iter().collect(), ..self }
    }

    /// Returns the title, the subtitle and the legend as text for a caption, which explains the figure if it is drawn
    /// without a head.
    pub fn caption(&self) -> String {
        let mut parts = vec![self.title.clone()];
        parts.extend(Some(self.subtitle.join("; ")).filter(|text| !text.is_empty()));
        let legend: Vec<String> =
            self.legend.iter().map(|(mark, text)| format!("{}: {text}", mark.name())).collect();
        parts.extend(Some(legend.join("; ")).filter(|text| !text.is_empty()));
        parts.join(". ") + ".\n"
    }

    /// Returns the height of the head on a page, in units of the layout.
    pub(super) fn height(&self, page: &Page) -> Result<f64, PlotError> {
        Ok(self.layout(page.width, page.titles)?.bottom)
    }

    fn layout(&self, width: f64, titles: bool) -> Result<HeadLayout, PlotError> {
        let room = width - 2.0 * MARGIN;
        let (mut title, mut subtitle, mut legend) = (Vec::new(), Vec::new(), Vec::new());
        let mut y = 0.0;
        if titles && !self.title.is_empty() {
            for line in break_lines(&self.title, Text::of_size(TITLE).bold(), room)? {
                y = if y == 0.0 { 34.0 } else { y + 26.0 };
                title.push((y, line));
            }
            y += 4.0;
        }
        if titles {
            let look = Text::of_size(SUBTITLE);
            let lines = match width < PAGE.0 {
                true => fit_subtitle(&self.subtitle, look, room)?,
                false => join_parts(&self.subtitle, look, room)?,
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
                let lines = break_lines(label, look, room - before)?;
                let mut needed: f64 = 0.0;
                for line in &lines {
                    needed = needed.max(before + look.width(line)?);
                }
                if x > MARGIN && (lines.len() > 1 || x + needed > width - MARGIN) {
                    (x, y) = (MARGIN, y + 21.0);
                }
                let more = lines.len().saturating_sub(1);
                legend.push((x, y, *mark, lines));
                // An entry of several lines occupies the full width.
                x += if more > 0 { width } else { needed + ENTRY_GAP };
                y += ENTRY_LINE * more as f64;
            }
        }
        let bottom = if y == 0.0 { FIRST } else { y + BELOW };
        Ok(HeadLayout { title, subtitle, legend, bottom })
    }

    /// Draws the head. Returns the upper end of the area for the figure.
    pub(super) fn draw(&self, canvas: &Canvas<'_>) -> Result<f64, PlotError> {
        let layout = self.layout(canvas.width(), canvas.has_titles())?;
        for (y, line) in &layout.title {
            canvas.text(line, (MARGIN, *y), Text::of_size(TITLE).bold())?;
        }
        for (y, line) in &layout.subtitle {
            canvas.text(line, (MARGIN, *y), Text::of_size(SUBTITLE).colour(MUTED))?;
        }
        for (x, y, mark, lines) in &layout.legend {
            draw_mark(canvas, *mark, *x, *y)?;
            for (line, text) in lines.iter().enumerate() {
                let at = (x + mark.width() + MARK_GAP, y + ENTRY_LINE * line as f64);
                canvas.text(text, at, Text::of_size(TICK).colour(INK))?;
            }
        }
        Ok(layout.bottom)
    }
}

fn draw_mark(canvas: &Canvas<'_>, mark: Mark, x: f64, y: f64) -> Result<(), PlotError> {
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

/// Returns the corners of a triangle around the point `(x, y)`. The tip of the triangle is in the direction of the unit
/// vector `(dx, dy)`.
pub(super) fn triangle((x, y): (f64, f64), size: f64, (dx, dy): (f64, f64)) -> [(f64, f64); 3] {
    [
        (x + size * dx, y + size * dy),
        (x - size * (dx + dy) * 0.8, y - size * (dy - dx) * 0.8),
        (x - size * (dx - dy) * 0.8, y - size * (dy + dx) * 0.8),
    ]
}

/// Joins the parts with dots into lines of at most the width `room`. A part that is wider than `room` is broken at
/// spaces.
fn join_parts(parts: &[String], look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        if let Some(line) = lines.last_mut() {
            let joined = format!("{line} \u{B7} {part}");
            if look.width(&joined)? <= room {
                *line = joined;
                continue;
            }
        }
        lines.extend(break_lines(part, look, room)?);
    }
    Ok(lines)
}

/// Selects the parts that fit into [`SUBTITLE_LINES`] lines, and lays these parts out. The first part and the parts
/// that state what is not shown are always selected. The other parts are selected in their order while there is room.
fn fit_subtitle(parts: &[String], look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    let mut kept: Vec<bool> = parts.iter().map(|part| part.contains(NOT_SHOWN)).collect();
    let lines = |kept: &[bool]| {
        let parts = parts.iter().zip(kept).filter(|(_, kept)| **kept);
        join_parts(&parts.map(|(part, _)| part.clone()).collect::<Vec<_>>(), look, room)
    };
    for place in 0..parts.len() {
        if !std::mem::replace(&mut kept[place], true) {
            kept[place] = place == 0 || lines(&kept)?.len() <= SUBTITLE_LINES;
        }
    }
    lines(&kept)
}

/// Splits a word that is wider than a line. The word is split before brackets and after commas. Pieces that are still
/// too wide are split after hyphens, underscores, equals signs and slashes.
fn split_word(word: &str, look: Text, room: f64) -> Result<Vec<String>, PlotError> {
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

/// Breaks a text into lines of at most `room` width at spaces. A word that is wider than a line is broken into the
/// pieces of [`split_word`]. A piece that is still too wide is shortened in its middle.
pub(super) fn break_lines(text: &str, look: Text, room: f64) -> Result<Vec<String>, PlotError> {
    if look.width(text)? <= room {
        return Ok(vec![text.to_string()]);
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        for (place, piece) in split_word(word, look, room)?.into_iter().enumerate() {
            if let Some(line) = lines.last_mut() {
                let joined = format!("{line}{}{piece}", if place == 0 { " " } else { "" });
                if look.width(&joined)? <= room {
                    *line = joined;
                    continue;
                }
            }
            lines.push(shorten(&piece, look, room)?);
        }
    }
    Ok(lines)
}

/// Shortens a text to a width by replacing its middle with an ellipsis.
pub(super) fn shorten(text: &str, look: Text, room: f64) -> Result<String, PlotError> {
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
    fn text_wider_than_the_page_is_broken_at_spaces() {
        register().expect("the font");
        let look = Text::of_size(SUBTITLE);
        let long = "links that leave a processor; ".repeat(12).trim_end().to_string();
        let parts = ["KTH-SP2, 10x10".to_string(), long.clone(), "the end".to_string()];
        let room = Page::default().width - 2.0 * MARGIN;
        let lines = join_parts(&parts, look, room).expect("the font");
        assert!(lines.len() > 3, "{lines:?}");
        for line in &lines {
            assert!(look.width(line).expect("the font") <= room, "{line}");
        }
        // No words are lost, and the next part begins on the last line of the long part.
        assert_eq!(lines[0], parts[0]);
        assert_eq!(lines[1..].join(" "), format!("{long} \u{B7} the end"));
    }

    #[test]
    fn a_head_stays_within_the_edges_of_a_narrow_page() {
        register().expect("the font");
        let long =
            "KTH-SP2-1996-2.1-cln on torus[x]:16x24, conservative, shuffled-row-major-best-fit";
        let parts = [long.to_string(), "x".repeat(90), "the end".to_string()];
        let legend = ["short".to_string(), "y".repeat(90)].map(|name| (Mark::Box(INK), name));
        let head = Head::new(long, &parts).legend(legend);
        let layout = head.layout(406.0, true).expect("the font");
        let within = |x: f64, line: &str, look: Text| {
            let end = x + look.width(line).expect("the font");
            assert!(end <= 406.0 - MARGIN + 0.5, "{line} ends at {end}");
        };
        layout.title.iter().for_each(|(_, line)| within(MARGIN, line, Text::of_size(TITLE).bold()));
        layout.subtitle.iter().for_each(|(_, line)| within(MARGIN, line, Text::of_size(SUBTITLE)));
        let label = |x: f64, mark: Mark| x + mark.width() + MARK_GAP;
        for (x, _, mark, lines) in &layout.legend {
            lines.iter().for_each(|line| within(label(*x, *mark), line, Text::of_size(TICK)));
        }
        let without = head.layout(406.0, false).expect("the font");
        assert!(without.title.is_empty() && without.subtitle.is_empty());
        assert_eq!(without.legend.len(), 2);
        assert!(without.bottom < layout.bottom);
    }

    #[test]
    fn a_legend_entry_wider_than_the_page_is_broken_into_lines() {
        register().expect("the font");
        let name = "easy: 12 strategies with the schedule of shuffled-row-major-best-fit[order=scan,ties=first,guard=place] (mean 4)";
        let head = Head::new("", &[]).legend([(Mark::Box(INK), name.to_string())]);
        let layout = head.layout(406.0, true).expect("the font");
        let lines = &layout.legend[0].3;
        assert!(lines.len() > 1 && !lines.iter().any(|line| line.contains('…')), "{lines:?}");
        let joined: String = lines.concat();
        assert_eq!(joined.replace(' ', ""), name.replace(' ', ""));
        let below =
            head.legend([(Mark::Box(INK), name.to_string()), (Mark::Box(INK), "b".to_string())]);
        let layout = below.layout(406.0, true).expect("the font");
        assert!(layout.legend[1].1 >= layout.legend[0].1 + 17.0 * (lines.len() - 1) as f64 + 21.0);
    }

    #[test]
    fn a_narrow_page_has_at_most_three_subtitle_lines() {
        register().expect("the font");
        let clause = |i: usize| format!("clause {i} of a subtitle that is rather long");
        let mut parts: Vec<String> = (0..8).map(clause).collect();
        parts.push("5 more strategies are not shown".to_string());
        let head = Head::new("", &parts);
        let lines = |width: f64| {
            let layout = head.layout(width, true).expect("the font");
            layout.subtitle.into_iter().map(|(_, line)| line).collect::<Vec<_>>()
        };
        let column = lines(406.0);
        assert_eq!(column.len(), SUBTITLE_LINES, "{column:?}");
        assert!(column[0].contains("clause 0") && column[1].contains("clause 1"), "{column:?}");
        assert!(column[2].contains("5 more strategies"), "{column:?}");
        let usual = lines(PAGE.0).join(" ");
        assert!(parts.iter().all(|part| usual.contains(part.as_str())), "{usual}");
    }
}
