//! Parses the README and the pages of the book.

use std::io;
use std::path::{Path, PathBuf};

/// A document in Markdown.
#[derive(Clone)]
pub struct Page {
    /// Path in the repository.
    pub name: String,
    /// Content.
    pub text: String,
}

/// A command on a page.
#[derive(Clone)]
pub struct Command {
    /// The line without its comment.
    pub line: String,
    /// Lines of the `text` block that follows the command: its expected output.
    pub shows: Vec<String>,
}

/// Reads the README and the pages of the book, sorted by path.
pub fn all(root: &Path) -> io::Result<Vec<Page>> {
    let mut files = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        Ok(Page { name: name.replace('\\', "/"), text: std::fs::read_to_string(path)? })
    };
    files.into_iter().map(page).collect()
}

/// A part of a page: a fenced block, or a line outside of blocks.
enum Part<'a> {
    Block(&'a str, Vec<&'a str>),
    Line(&'a str),
}

impl Page {
    /// Returns whether this is a page of the book that is not generated.
    pub fn is_of_book(&self) -> bool {
        self.name.starts_with("docs/src/") && !self.is_reference()
    }

    /// Returns whether this is a page generated from listings of the program.
    pub fn is_reference(&self) -> bool {
        self.name.starts_with("docs/src/reference/")
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            parts.push(match line.strip_prefix("```") {
                Some(kind) => {
                    let inside = lines.by_ref().take_while(|line| !line.starts_with("```"));
                    Part::Block(kind, inside.collect())
                }
                None => Part::Line(line),
            });
        }
        parts
    }

    /// Returns the commands of `sh` blocks, without comments, and those of tables headed `type ...`.
    pub fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        let mut just_ran = false;
        let mut in_table = false;
        for part in self.parts() {
            match part {
                Part::Line(line) if line.starts_with('|') => {
                    in_table |= line.ends_with("| type ... |");
                    just_ran = false;
                    let cell = line.trim_end_matches(" |").rsplit("| ").next().unwrap_or_default();
                    let command = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
                    commands.extend(
                        command.filter(|_| in_table).map(|command| Command {
                            line: command.to_string(),
                            shows: Vec::new(),
                        }),
                    );
                    continue;
                }
                Part::Block("sh", lines) => {
                    commands.extend(lines.iter().map(|line| Command {
                        line: line.split("  #").next().unwrap_or(line).trim().to_string(),
                        shows: Vec::new(),
                    }));
                    just_ran = true;
                }
                Part::Block("text", lines) if just_ran => {
                    if let Some(last) = commands.last_mut() {
                        last.shows = lines.into_iter().map(str::to_string).collect();
                    }
                    just_ran = false;
                }
                Part::Line("") => {}
                _ => just_ran = false,
            }
            in_table = false;
        }
        commands
    }

    /// Returns the `rust` blocks.
    pub fn rust(&self) -> Vec<String> {
        let blocks = self.parts().into_iter().filter_map(|part| match part {
            Part::Block("rust", lines) => Some(lines.join("\n")),
            _ => None,
        });
        blocks.collect()
    }

    /// Returns the targets of links and pictures outside of code.
    pub fn links(&self) -> Vec<String> {
        let lines = self.parts().into_iter().map(|part| match part {
            Part::Line(line) => line,
            Part::Block(..) => "",
        });
        let mut links = Vec::new();
        for paragraph in lines.collect::<Vec<_>>().join("\n").split("\n\n") {
            // Every second piece is code between backticks. The code is replaced with `x`, so that the brackets of a
            // link remain adjacent.
            let pieces = paragraph.split('`').enumerate();
            let prose: String =
                pieces.map(|(index, piece)| if index % 2 == 0 { piece } else { "x" }).collect();
            for piece in prose.split("](").skip(1) {
                links.extend(piece.split(')').next().map(str::to_string));
            }
        }
        links
    }

    /// Returns the anchors of the headings.
    pub fn anchors(&self) -> Vec<String> {
        let headings = self.parts().into_iter().filter_map(|part| match part {
            Part::Line(line) if line.starts_with('#') => Some(anchor(line)),
            _ => None,
        });
        headings.collect()
    }
}

/// Returns the anchor that renderers give a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
