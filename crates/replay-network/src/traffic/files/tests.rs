use super::*;
use proptest::prelude::*;

fn matrix_of(text: &str) -> Result<List<u32>, TableError> {
    matrix(text.as_bytes(), "m.csv", 0..=9, "an integer from 0 to 9")
}

fn weights_of(text: &str) -> Result<List<f64>, TableError> {
    matrix(text.as_bytes(), "m.csv", 0.0..=MOST_WEIGHT, "a number from 0 to 1e100")
}

fn phases_of(text: &str) -> Result<List<u32>, TableError> {
    read_phases(text.as_bytes(), "p.csv")
}

fn message<T: std::fmt::Debug>(result: Result<T, TableError>) -> String {
    result.expect_err("illegal").to_string()
}

#[test]
fn reads_a_matrix() {
    let list = matrix_of(" 3, 2,0\r\n\n1,0,1\n0,4,0").expect("legal");
    let entries: Vec<_> = list.entries.iter().map(|e| (e.step, e.src, e.dst, e.value)).collect();
    assert_eq!(
        (list.ranks, entries),
        (3, vec![(0, 0, 1, 2), (0, 1, 0, 1), (0, 1, 2, 1), (0, 2, 1, 4)])
    );
    let list = weights_of("0,.5\n1e3,-0").expect("legal");
    assert_eq!(list.entries.iter().map(|e| e.value).collect::<Vec<_>>(), [0.5, 1000.0]);
}

#[test]
fn reads_phases() {
    let text = "phase, src_rank,dst_rank,packets\n\n4,0,1,2\n1, 2,2,7\n1,5,0,0\n 1,2,0,1 \n";
    let list = phases_of(text).expect("legal");
    let entries: Vec<_> = list.entries.iter().map(|e| (e.step, e.src, e.dst, e.value)).collect();
    // Rank 5 is counted, although it sends nothing.
    assert_eq!((list.ranks, entries), (6, vec![(4, 0, 1, 2), (1, 2, 0, 1)]));
}

#[test]
fn ignores_a_byte_order_mark() {
    assert_eq!(
        matrix_of("\u{feff}0,2\n1,0").expect("legal"),
        matrix_of("0,2\n1,0").expect("legal")
    );
    let phases = "phase,src_rank,dst_rank,packets\n0,0,1,2\n";
    let marked = format!("\u{feff}{phases}");
    assert_eq!(phases_of(&marked).expect("legal"), phases_of(phases).expect("legal"));
    // Except at the beginning of the file, a byte order mark is part of the text.
    assert!(matrix_of("0,2\n\u{feff}1,0").is_err());
}

#[test]
fn errors_of_a_matrix_name_line_and_field() {
    for (text, expected) in [
        ("0,1\n1,x", "m.csv:2: entry \"x\" is not an integer from 0 to 9 (field 2 of 2)"),
        ("0,1\n\n10,0", "m.csv:3: entry \"10\" is not an integer from 0 to 9 (field 1 of 2)"),
        ("0,1.5\n1,0", "m.csv:1: entry \"1.5\" is not an integer from 0 to 9 (field 2 of 2)"),
        ("0,1\n1,0,1", "m.csv:2: the line has 3 fields, but must have 2"),
        ("0,1,2\n1,0,1", "m.csv: the matrix has 2 lines of 3 fields, but must be square"),
        ("0\n", "m.csv: no rank sends packets to another rank"),
        ("", "m.csv: no rank sends packets to another rank"),
        ("1,0\n0,1", "m.csv: no rank sends packets to another rank"),
    ] {
        assert_eq!(message(matrix_of(text)), expected);
    }
    for text in ["nan", "-1", "inf", "1e101"] {
        let expected =
            format!("m.csv:1: entry \"{text}\" is not a number from 0 to 1e100 (field 2 of 2)");
        assert_eq!(message(weights_of(&format!("0,{text}\n0,0"))), expected);
    }
    let wide = vec!["0"; MAX_RANKS + 1].join(",");
    assert_eq!(
        message(matrix_of(&wide)),
        "m.csv:1: the line has 65,536 fields, but must have 65,535"
    );
}

#[test]
fn errors_of_phases_name_line_and_field() {
    let header = "phase,src_rank,dst_rank,packets\n";
    for (line, expected) in [
        (
            "-1,0,1,1",
            "p.csv:2: phase \"-1\" is not an integer from 0 to 18446744073709551615 (field 1 of 4)",
        ),
        (
            "0,65535,1,1",
            "p.csv:2: src_rank \"65535\" is not an integer from 0 to 65534 (field 2 of 4)",
        ),
        ("0,0,,1", "p.csv:2: dst_rank \"\" is not an integer from 0 to 65534 (field 3 of 4)"),
        (
            "0,0,1,4294967296",
            "p.csv:2: packets \"4294967296\" is not an integer from 0 to 4294967295 (field 4 of 4)",
        ),
        ("0,0,1", "p.csv:2: the line has 3 fields, but must have 4"),
        ("0,0,1,1,1", "p.csv:2: the line has 5 fields, but must have 4"),
        ("", "p.csv: no rank sends packets to another rank"),
        ("0,1,1,5", "p.csv: no rank sends packets to another rank"),
    ] {
        assert_eq!(message(phases_of(&format!("{header}{line}"))), expected);
    }
    let expected =
        "p.csv:2: the header is \"0,0,1,1\", but must be \"phase,src_rank,dst_rank,packets\"";
    assert_eq!(message(phases_of("\n0,0,1,1")), expected);
    let expected = "p.csv:1: the header is \"\", but must be \"phase,src_rank,dst_rank,packets\"";
    assert_eq!(message(phases_of("")), expected);
}

#[test]
fn a_missing_file_is_named() {
    assert!(message(packets("no/such.csv")).starts_with("no/such.csv: "));
}

proptest! {
    #[test]
    fn any_input_gives_a_list_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..60), text in "[0-9,.\n -]{0,30}") {
        for input in [&bytes[..], text.as_bytes()] {
            for list in [matrix(input, "m", 0..=u32::MAX, "x"), read_phases(input, "p")].into_iter().flatten() {
                prop_assert!(list.entries.iter().all(|e| e.src.max(e.dst) < list.ranks && e.src != e.dst));
            }
        }
    }
}
