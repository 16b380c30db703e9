//! The candidates of a decision as text: a map for each, side by side.

use super::machine::Sheets;
use replay_core::allocator::candidate_set::ScoredCandidate;
use replay_core::topology::{NodeId, Topology};

/// Between maps.
const GAP: usize = 4;

/// A symbol for a shell: its number, then letters.
fn symbol(shell: u32) -> char {
    char::from_digit(shell, 36).unwrap_or('+')
}

/// Maps of candidates in lines of at most `width` characters, but one map is never cut: the number of
/// its shell where a candidate takes a processor, `#` where it is a box, `.` where one is free, `x` where one is busy, `-` where one is out of
/// service. Walls are drawn; where the machine wraps there are colons. `free` and `down` ascend.
pub fn candidate_maps(
    topology: &Topology,
    [free, down]: [&[NodeId]; 2],
    rivals: &[ScoredCandidate],
    width: usize,
) -> Vec<String> {
    let maps: Vec<Vec<String>> =
        rivals.iter().enumerate().map(|(i, one)| map(topology, free, down, one, i == 0)).collect();
    let wide = maps.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let across = ((width + GAP) / (wide + GAP).max(1)).max(1);
    let mut lines = Vec::new();
    for row in maps.chunks(across) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let high = row.iter().map(Vec::len).max().unwrap_or(0);
        for i in 0..high {
            let part = |map: &Vec<String>| {
                let line = map.get(i).map_or("", String::as_str);
                format!("{line}{}", " ".repeat(wide + GAP - line.chars().count()))
            };
            let line: String = row.iter().map(part).collect();
            lines.push(line.trim_end().to_string());
        }
    }
    lines
}

/// What is said of a candidate above its map.
pub fn candidate_words(topology: &Topology, one: &ScoredCandidate, wins: bool) -> Vec<String> {
    let dimensions = topology.grid().map_or(3, |grid| grid.dimensions());
    let centre: Vec<String> = one.centre[..dimensions].iter().map(u16::to_string).collect();
    let mut lines = vec![
        format!("candidate {}{}", one.number, if wins { " wins" } else { "" }),
        match one.is_box() {
            true => format!("box at ({}), {}", centre.join(", "), one.worth()),
            false => format!("centre ({}), set {}, {}", centre.join(", "), one.set, one.worth()),
        },
    ];
    lines.extend(one.tie.filter(|_| !one.is_box()).map(|tie| format!("tie value {tie}")));
    lines
}

fn map(
    topology: &Topology,
    free: &[NodeId],
    down: &[NodeId],
    one: &ScoredCandidate,
    wins: bool,
) -> Vec<String> {
    let sheets = Sheets::of(topology);
    let [columns, rows, slices] = sheets.sides;
    let wall = |axis: usize| topology.grid().is_some_and(|grid| !grid.axes()[axis].wrapped);
    let mut taken = vec![false; topology.processors()];
    one.nodes.iter().for_each(|node| taken[node.index()] = true);
    let is_in =
        |nodes: &[NodeId], processor: usize| nodes.binary_search(&NodeId(processor as u32)).is_ok();
    let cell = |at: [usize; 3]| match sheets.processor(at) {
        processor if taken[processor] => one.shells.get(processor).map_or('#', |&it| symbol(it)),
        processor if is_in(down, processor) => '-',
        processor if is_in(free, processor) => '.',
        _ => 'x',
    };
    let side = if wall(0) { '|' } else { ':' };
    let rule = match wall(1) {
        true => format!("+{}+", "-".repeat(2 * columns + 1)),
        false => format!("+{}+", " :".repeat(columns) + " "),
    };
    let mut lines = candidate_words(topology, one, wins);
    for z in 0..slices {
        if slices > 1 {
            lines.push(format!("z = {z}"));
        }
        lines.push(rule.clone());
        for y in (0..rows).rev() {
            let row: Vec<String> = (0..columns).map(|x| cell([x, y, z]).to_string()).collect();
            lines.push(format!("{side} {} {side}", row.join(" ")));
        }
        lines.push(rule.clone());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_stand_side_by_side_as_far_as_they_fit() {
        let rival = |number: usize, nodes: [u32; 2]| ScoredCandidate {
            number,
            centre: [0, 1, 0],
            score: 1,
            tie: Some(-3),
            set: number,
            nodes: nodes.map(NodeId).to_vec(),
            shells: vec![1, 0, 1, 1, 1, 1, 1, 1, 1],
            weights: Vec::new(),
        };
        let nodes = |ids: &[u32]| ids.iter().map(|&id| NodeId(id)).collect::<Vec<_>>();
        let (free, down) = (nodes(&[0, 1, 3]), nodes(&[2]));
        let rivals = [rival(7, [1, 0]), rival(9, [1, 3])];
        let lines = |machine: &str, width| {
            let machine = machine.parse().expect("a machine");
            candidate_maps(&machine, [&free, &down], &rivals, width)
        };
        let beside = lines("2x2", 80);
        assert_eq!(beside[0], "candidate 7 wins                 candidate 9");
        assert_eq!(
            beside[3..],
            [
                "+-----+                          +-----+",
                "| 0 . |                          | 0 1 |",
                "| 1 - |                          | . - |",
                "+-----+                          +-----+"
            ]
        );
        // One under the other, and a torus has no walls.
        let under = lines("torus:3x3", 30);
        assert_eq!(under.len(), 17);
        assert_eq!(under[3..5], ["+ : : : +", ": - x x :"]);
    }
}
