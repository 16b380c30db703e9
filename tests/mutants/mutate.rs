//! Random changes of the kinds that break parsers, determined by a seed, a name and a number.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Maximum length of a mutant in bytes.
const LONGEST: usize = 1 << 20;

const NUMBERS: [&str; 32] = [
    "-1",
    "0",
    "1",
    "65535",
    "65536",
    "1048576",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "-inf",
    "0.5",
    "1e3",
    "0x10",
    "+5",
    "007",
    "1..",
    "..3",
    "9..1",
    "1-1000000000",
    "",
    " ",
    "none",
    "2038-01-19T03:14:08",
    "9999999999999999999999999999999999999999",
    "00:00:00",
];

const PIECES: [&[u8]; 36] = [
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n\n",
    b"\t",
    b" ",
    b"%s",
    b"../",
    b";",
    b",",
    b"[",
    b"]",
    b"=",
    b"\"",
    b"\\",
    b"#",
    b"-",
    b":",
    b"@",
    b"x",
    b"e",
    b".",
    b"|",
    b"{",
    b"}",
    b"'",
    b"<script>",
    b"&amp;",
    b"# trace blake3:",
    "é".as_bytes(),
    "日本".as_bytes(),
    "\u{202e}".as_bytes(),
    b"\x1b[31m",
    b"null",
    b"n[1-9]",
];

/// Returns the random number generator of a mutant.
pub fn random(seed: u64, name: &str, number: u64) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&number.to_le_bytes()).update(name.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// Returns a random element.
pub fn one_of<'a, T>(random: &mut ChaCha8Rng, of: &'a [T]) -> &'a T {
    &of[random.random_range(0..of.len())]
}

/// Returns `text` with one to eight changes.
pub fn mutant(random: &mut ChaCha8Rng, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..*one_of(random, &[1, 1, 1, 2, 3, 8]) {
        change(random, &mut text);
        text.truncate(LONGEST);
    }
    text
}

fn change(random: &mut ChaCha8Rng, text: &mut Vec<u8>) {
    let at = random.random_range(0..=text.len());
    let until = |length: usize| (at + length).min(text.len());
    match random.random_range(0..10) {
        0 => {
            let end = until(1);
            text.splice(at..end, [random.random_range(0..=255u8)]);
        }
        1 => {
            let piece = one_of(random, &PIECES).repeat(*one_of(random, &[1, 1, 1, 2, 50]));
            text.splice(at..at, piece);
        }
        2 => {
            let end = until(*one_of(random, &[1, 1, 2, 5, 30, 1000]));
            text.drain(at..end);
        }
        3 => text.truncate(at),
        4 => {
            let piece = text[at..until(*one_of(random, &[1, 4, 30, 300]))].to_vec();
            text.splice(at..at, piece.repeat(*one_of(random, &[1, 1, 2, 99])));
        }
        5 | 6 => another_number(random, text),
        7 => {
            let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            let [one, other] = [0, 1].map(|_| random.random_range(0..lines.len()));
            lines.swap(one, other);
            *text = lines.join(&b"\n"[..]);
        }
        _ => another_field(random, text),
    }
}

/// Replaces a number in the text with an unusual number.
fn another_number(random: &mut ChaCha8Rng, text: &mut Vec<u8>) {
    let is_part = |byte: u8| byte.is_ascii_digit() || b".-+eE".contains(&byte);
    let begins: Vec<usize> = (0..text.len())
        .filter(|&at| text[at].is_ascii_digit() && (at == 0 || !is_part(text[at - 1])))
        .collect();
    let number = one_of(random, &NUMBERS).bytes();
    match begins.is_empty() {
        true => text.extend(number),
        false => {
            let begin = *one_of(random, &begins);
            let length = text[begin..].iter().take_while(|&&byte| is_part(byte)).count();
            text.splice(begin..begin + length, number);
        }
    }
}

/// Removes, doubles or clears a field of a line, or replaces it with an adjacent field.
fn another_field(random: &mut ChaCha8Rng, text: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = random.random_range(0..lines.len());
    let line = &lines[at];
    let mark = b",|; ".iter().copied().find(|mark| line.contains(mark)).unwrap_or(b' ');
    let mut fields: Vec<&[u8]> = line.split(|&byte| byte == mark).collect();
    let field = random.random_range(0..fields.len());
    let own = fields[field];
    match random.random_range(0..4) {
        0 => {
            fields.remove(field);
        }
        1 => fields.insert(field, own),
        2 => fields[field] = b"",
        _ => fields[field] = fields[(field + 1) % fields.len()],
    }
    lines[at] = fields.join(&mark);
    *text = lines.join(&b'\n');
}
