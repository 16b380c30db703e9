//! Candidates of a decision as text maps side by side.

use super::machine::Sheets;
use replay_engine::allocator::candidate_set::ScoredCandidate;
use replay_engine::topology::{NodeId, Topology};

/// Number of spaces between maps.
const GAP: usize = 4;

/// Returns the symbol of a shell: a digit for a number up to 9, and a letter for a larger number.
fn symbol(shell: u32) -> char {
    char::from_digit(shell, 36).unwrap_or('+')
}

/// Returns maps of candidates as lines of text. Maps are placed side by side if the line has at most `width`
/// characters; otherwise, the next map begins a new line. A processor that the candidate allocates is shown as its
/// shell number, or as `#` if the candidate is a box. A free processor is shown as `.`, a busy processor as `x`, and a
/// processor out of service as `-`. Walls are drawn as lines, and edges that wrap around as colons. `free` and `down`
/// must be in ascending order.
pub fn candidate_maps(
    topology: &Topology,
    [free, down]: [&[NodeId]; 2],
    candidates: &[ScoredCandidate],
    width: usize,
) -> Vec<String> {
    let maps: Vec<Vec<String>> = candidates
        .iter()
        .enumerate()
        .map(|(i, candidate)| map(topology, free, down, candidate, i == 0))
        .collect();
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

/// Returns the text lines above the map of a candidate.
pub fn candidate_lines(
    topology: &Topology,
    candidate: &ScoredCandidate,
    wins: bool,
) -> Vec<String> {
    let dimensions = topology.grid().map_or(3, |grid| grid.dimensions());
    let centre: Vec<String> = candidate.centre[..dimensions].iter().map(u16::to_string).collect();
    let mut lines = vec![
        format!("candidate {}{}", candidate.number, if wins { " wins" } else { "" }),
        match candidate.is_box() {
            true => format!("box at ({}), {}", centre.join(", "), candidate.label()),
            false => format!(
                "centre ({}), set {}, {}",
                centre.join(", "),
                candidate.set,
                candidate.label()
            ),
        },
    ];
    lines.extend(
        candidate.tie.filter(|_| !candidate.is_box()).map(|tie| format!("tie value {tie}")),
    );
    lines
}

fn map(
    topology: &Topology,
    free: &[NodeId],
    down: &[NodeId],
    candidate: &ScoredCandidate,
    wins: bool,
) -> Vec<String> {
    let sheets = Sheets::of(topology);
    let [columns, rows, slices] = sheets.sides;
    let wall = |axis: usize| topology.grid().is_some_and(|grid| !grid.axes()[axis].wrapped);
    let mut taken = vec![false; topology.processors()];
    candidate.nodes.iter().for_each(|node| taken[node.index()] = true);
    let is_in =
        |nodes: &[NodeId], processor: usize| nodes.binary_search(&NodeId(processor as u32)).is_ok();
    let cell = |at: [usize; 3]| match sheets.processor(at) {
        processor if taken[processor] => {
            candidate.shells.get(processor).map_or('#', |&it| symbol(it))
        }
        processor if is_in(down, processor) => '-',
        processor if is_in(free, processor) => '.',
        _ => 'x',
    };
    let side = if wall(0) { '|' } else { ':' };
    let rule = match wall(1) {
        true => format!("+{}+", "-".repeat(2 * columns + 1)),
        false => format!("+{}+", " :".repeat(columns) + " "),
    };
    let mut lines = candidate_lines(topology, candidate, wins);
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
    fn maps_are_side_by_side_if_they_fit() {
        let candidate = |number: usize, nodes: [u32; 2]| ScoredCandidate {
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
        let candidates = [candidate(7, [1, 0]), candidate(9, [1, 3])];
        let lines = |machine: &str, width| {
            let machine = machine.parse().expect("a machine");
            candidate_maps(&machine, [&free, &down], &candidates, width)
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
        // The maps are placed one below the other; a torus has no walls.
        let under = lines("torus:3x3", 30);
        assert_eq!(under.len(), 17);
        assert_eq!(under[3..5], ["+ : : : +", ": - x x :"]);
    }
}
