//! Decisions at random, and their rows.

use super::{Drawn, MACHINES, Machine, Nodes, Placement, ranges};

/// A decision to be made.
pub struct Case {
    pub machine: usize,
    pub free: Nodes,
    pub required: Nodes,
    pub size: u32,
    pub segment: Option<u32>,
    pub weights: Vec<u64>,
    pub weighted: bool,
}

impl Case {
    /// One on some of the machines, on which much, little or nothing is busy.
    pub fn draw(drawn: &mut Drawn, machines: &[Machine]) -> Self {
        let index = drawn.below(MACHINES as u32) as usize;
        let machine = &machines[index];
        let share = [0, 5, 15, 30, 50][drawn.below(5) as usize];
        let mut free: Nodes = (0..machine.nodes).collect();
        // Some nodes alone, and some boxes.
        free.retain(|_| !drawn.percent(share / 2));
        let placements: Vec<&Placement> =
            machine.toruses.iter().flat_map(|torus| &torus.placements).collect();
        for _ in 0..drawn.below(1 + share / 5) {
            let anchors = &placements[drawn.below(placements.len() as u32) as usize].anchors;
            free = &free - &anchors[drawn.below(anchors.len() as u32) as usize].nodes;
        }
        let one = placements[drawn.below(placements.len() as u32) as usize];
        let (mut size, mut segment) = (one.size, None);
        match drawn.below(10) {
            0 => size = 1 + drawn.below(20),
            1..=4 => {
                segment = Some(one.size);
                size *= 1 + drawn.below(4);
            }
            5 => segment = Some(1 + drawn.below(2 * size)),
            _ => {}
        }
        let mut required = Nodes::new();
        match drawn.below(8) {
            0 => {
                let count = 1 + drawn.below(4);
                required = (0..count).map(|_| drawn.below(machine.nodes)).collect();
            }
            1 if !free.is_empty() => {
                let all: Vec<u32> = free.iter().copied().collect();
                required.insert(all[drawn.below(all.len() as u32) as usize]);
            }
            // The whole of some boxes: enough for a job in parts.
            2 => {
                for _ in 0..size / one.size.max(1) {
                    let anchor = &one.anchors[drawn.below(one.anchors.len() as u32) as usize];
                    required.extend(&anchor.nodes);
                }
            }
            _ => {}
        }
        let weighted = drawn.percent(25);
        let weight = |_| if weighted { 1 + u64::from(drawn.below(3)) } else { 1 };
        let weights = (0..machine.nodes).map(weight).collect();
        Self { machine: index, free, required, size, segment, weights, weighted }
    }

    /// The fields of the row.
    pub fn fields(&self) -> [String; 6] {
        let weights = self.weights.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        [
            format!("m{}", self.machine),
            if self.weighted { weights } else { String::new() },
            ranges(&self.free),
            ranges(&self.required),
            self.size.to_string(),
            self.segment.map_or(String::new(), |part| part.to_string()),
        ]
    }
}

/// A row of CSV.
pub fn row(fields: &[String]) -> String {
    let quoted =
        |field: &String| if field.contains(',') { format!("\"{field}\"") } else { field.clone() };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",")
}
