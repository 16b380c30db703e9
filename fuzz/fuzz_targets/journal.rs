//! Any lines with correct or wrong checksums as a journal: complete records are read or refused, no valid record
//! is lost, and the journal can be continued.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::fs;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use replay_experiment::journal::{HEADER, JOURNAL_FILE, Journal, Outcome};
use replay_experiment::RunResult;
use replay_experiment::sweep::CellId;
use replay_experiment::files::Dir;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    header: Option<&'a [u8]>,
    lines: Vec<Line<'a>>,
    torn: &'a [u8],
}

#[derive(Arbitrary, Debug)]
enum Line<'a> {
    Raw(&'a [u8]),
    Failed { cell: u8, why: &'a str },
    Done { cell: u8, json: &'a str },
    Odd { body: &'a [u8] },
}

fn cell(number: u8) -> String {
    format!("{:032x}", u128::from(number) % 5)
}

/// Returns a line with the correct checksum.
fn checked_line(body: &[u8]) -> Vec<u8> {
    let sum = blake3::hash(body).to_hex();
    [&sum.as_bytes()[..16], b" ", body, b"\n"].concat()
}

impl Line<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Line::Raw(bytes) => [bytes, &b"\n"[..]].concat(),
            Line::Failed { cell: number, why } => {
                let why = serde_json::to_string(why).expect("text is JSON");
                checked_line(format!("{} failed {why}", cell(*number)).as_bytes())
            }
            Line::Done { cell: number, json } => {
                checked_line(format!("{} done {}", cell(*number), json.replace('\n', " ")).as_bytes())
            }
            Line::Odd { body } => {
                let body: Vec<u8> = body.iter().copied().filter(|&byte| byte != b'\n').collect();
                checked_line(&body)
            }
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    let mut text = input.header.unwrap_or(HEADER).to_vec();
    text.extend(input.lines.iter().flat_map(Line::bytes));
    text.extend(input.torn);
    let path = scratch::file(JOURNAL_FILE, &text);
    let dir = &Dir::open(path.parent().expect("a folder")).expect("a folder");

    let cells: Vec<CellId> = (0..5).filter_map(|number| cell(number).parse().ok()).collect();
    let states = |journal: &mut Journal<RunResult>| -> Vec<Option<String>> {
        let state = |&id| match journal.read(id) {
            Ok(None) => None,
            Ok(Some(Outcome::Failed(why))) => Some(why),
            Ok(Some(Outcome::Done(result))) => Some(format!("{:?}", result.metrics)),
            Err(error) => Some(error.to_string()),
        };
        cells.iter().map(state).collect()
    };
    let Ok(mut journal) = Journal::<RunResult>::read_only(dir) else {
        assert!(Journal::<RunResult>::open(dir, true).is_err());
        assert_eq!(fs::read(&path).expect("the file"), text, "refused, but changed");
        return;
    };
    let before = states(&mut journal);
    drop(journal);
    assert_eq!(fs::read(&path).expect("the file"), text, "read, but changed");

    let mut journal = Journal::<RunResult>::open(dir, true).expect("a journal that could be read");
    assert_eq!(states(&mut journal), before);
    let (Some(&id), damaged) = (cells.first(), journal.damaged().len()) else { return };
    journal.append(id, Err("made to fail")).expect("a record");
    drop(journal);
    let mut journal = Journal::<RunResult>::open(dir, true).expect("a written journal can be read");
    let after = states(&mut journal);
    assert_eq!(after[0].as_deref(), Some("made to fail"));
    assert_eq!((&after[1..], journal.damaged().len()), (&before[1..], damaged));
});
