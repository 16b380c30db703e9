use super::*;
use crate::Settings;

fn machine(text: &str) -> Topology {
    text.parse().expect("legal")
}

fn replayed(topology: &str, list: &str) -> String {
    let topology = machine(topology);
    let packets = read(list.as_bytes(), "packets.csv", &topology).expect("a list");
    let mut network = Network::new(&topology, Settings::LO).expect("a preset");
    let mut text = Vec::new();
    write(&replay(&mut network, &packets).expect("no deadlock"), &mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

/// The list contains two packets back to back from one sender (vector V5), and two later packets
/// that share a link (V6). The lines are not sorted by time.
#[test]
fn replays_the_vectors_as_a_list() {
    let list = "id,src,dst,flits,inject_cycle\n\
                7,2,4,8,1004\n\
                5,0,1,8,0\n\
                6, 0, 4, 8, 0\n\
                8,0,5,8,1000\n";
    assert_eq!(
        replayed("16x16", list),
        "id,inject,head_at_destination,delivered,latency,blocked,hops\n\
         7,1004,1018,1039,35,0,2\n\
         5,0,10,31,31,0,1\n\
         6,0,51,72,45,0,4\n\
         8,1000,1053,1074,74,27,5\n"
    );
}

#[test]
fn nodes_are_numbered_x_fastest() {
    let grid = machine("3x4x2");
    let place = |number| grid.grid().expect("a grid").coord(node(&grid, number));
    assert_eq!([0, 1, 3, 12, 23].map(place), [[0; 3], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 3, 1]]);
    assert_eq!(node(&machine("hypercube:3"), 5), NodeId(5));
    // On a mesh of width 16, nodes 0 and 18 are (0,0) and (2,1).
    let text = replayed("16x16", "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n");
    assert!(text.ends_with("\n0,0,18,39,39,0,3\n"), "{text}");
}

#[test]
fn errors_name_file_line_and_field() {
    let message = |text: &str| match read(text.as_bytes(), "p.csv", &machine("4x4")) {
        Ok(_) => "fine".to_string(),
        Err(error) => error.to_string(),
    };
    let head = "id,src,dst,flits,inject_cycle\n";
    assert_eq!(message(head), "fine");
    assert_eq!(
        message(&format!("{head}0,0,1,8,0\n\n1,0,16,8,0\n")),
        "p.csv:4: dst \"16\" is not an integer of 0 to 15 (field 3 of 5)"
    );
    assert_eq!(
        message(&format!("{head}0,0,1,0,0\n")),
        "p.csv:2: flits \"0\" is not an integer of 1 to 65536 (field 4 of 5)"
    );
    assert_eq!(
        message(&format!("{head}0,0,1,8\n")),
        "p.csv:2: the line has 4 fields, but must have 5: id,src,dst,flits,inject_cycle"
    );
    assert_eq!(
        message("0,0,1,8,0\n"),
        "p.csv:1: the header is \"0,0,1,8,0\", but must be \"id,src,dst,flits,inject_cycle\""
    );
    for bad in ["", "id\n", "\n\n"] {
        assert!(message(bad).starts_with("p.csv:"), "{bad:?}");
    }
    for bad in
        ["-1,0,1,8,0", "0,x,1,8,0", "0,0,1,8,1e3", "0,0,1,8,99999999999999999", "0,0,1,99999,0"]
    {
        assert!(message(&format!("{head}{bad}\n")).starts_with("p.csv:2: "), "{bad}");
    }
    let mut bytes = head.as_bytes().to_vec();
    bytes.extend(b"0,\xff,1,8,0\n");
    assert!(read(bytes.as_slice(), "p.csv", &machine("4x4")).is_err());
}

#[test]
fn bad_fields_are_sanitised_in_messages() {
    let text = format!("id,src,dst,flits,inject_cycle\n0,\u{1b}[2J{},1,8,0\n", "9".repeat(100));
    let message = read(text.as_bytes(), "p.csv", &machine("4x4")).expect_err("illegal").to_string();
    assert!(message.contains("src \"\u{fffd}[2J999") && message.contains("...\""), "{message}");
    assert!(!message.contains('\u{1b}') && message.len() < 140, "{message}");
}

#[test]
fn ignores_a_byte_order_mark() {
    let list = "id,src,dst,flits,inject_cycle\n0,0,18,8,0\n";
    assert_eq!(replayed("16x16", &format!("\u{feff}{list}")), replayed("16x16", list));
}

#[test]
fn refuses_repeated_names() {
    let list = "id,src,dst,flits,inject_cycle\n7,0,1,8,0\n\n7,1,0,8,5\n";
    let error = read(list.as_bytes(), "p.csv", &machine("4x4")).expect_err("illegal");
    assert_eq!(error.to_string(), "p.csv:4: id 7 already occurs in line 2 (field 1 of 5)");
}

/// The packets deadlock on a ring of four nodes with a single virtual channel.
#[test]
fn a_deadlock_names_packets_by_their_names_in_the_list() {
    let torus = machine("torus:4x1");
    let list = "id,src,dst,flits,inject_cycle\n90,0,2,8,0\n91,1,3,8,0\n92,2,0,8,0\n93,3,1,8,0\n";
    let list = read(list.as_bytes(), "p.csv", &torus).expect("a list");
    let mut network = Network::without_dateline(&torus, Settings::LO).expect("legal");
    let message = replay(&mut network, &list).expect_err("a deadlock").to_string();
    assert!(message.contains("packet 93 waits for +x(0,0), held by packet 90"), "{message}");
}

/// Packets of the list are sent far after the last event, and the gaps between them are longer than
/// the ring of the event queue.
#[test]
fn long_gaps_do_not_change_results() {
    let last = LAST_CYCLE - 3;
    let list = format!("id,src,dst,flits,inject_cycle\n0,0,1,8,0\n1,0,1,8,5000\n2,0,1,8,{last}\n");
    let text = replayed("2x2", &list);
    assert!(text.ends_with(&format!("\n2,{last},{},{},31,0,1\n", last + 10, last + 31)), "{text}");
    assert!(text.contains("\n1,5000,5010,5031,31,0,1\n"), "{text}");
}

/// Concurrent replays give the same bytes as a single replay.
#[test]
fn threads_give_equal_bytes() {
    let mut list = String::from("id,src,dst,flits,inject_cycle\n");
    for i in 0..2000u64 {
        let random = i.wrapping_mul(6364136223846793005) >> 33;
        list += &format!("{i},{},{},{},{}\n", random % 36, random / 36 % 36, 1 + i % 9, i / 8);
    }
    let alone = replayed("6x6", &list);
    for threads in [2, 5] {
        std::thread::scope(|scope| {
            let runs: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| replayed("6x6", &list))).collect();
            for run in runs {
                assert_eq!(run.join().expect("no panic"), alone);
            }
        });
    }
}
