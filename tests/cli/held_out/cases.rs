//! Random decisions and their CSV rows.

use super::{MACHINES, Machine, Nodes, Placement, Rng, ranges};

/// A placement request.
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
    /// Generates a random request on a random machine. At most about half of the nodes of the machine are busy.
    pub fn draw(rng: &mut Rng, machines: &[Machine]) -> Self {
        let index = rng.below(MACHINES as u32) as usize;
        let machine = &machines[index];
        let share = [0, 5, 15, 30, 50][rng.below(5) as usize];
        let mut free: Nodes = (0..machine.nodes).collect();
        // Make single nodes busy, then boxes of nodes.
        free.retain(|_| !rng.percent(share / 2));
        let placements: Vec<&Placement> =
            machine.toruses.iter().flat_map(|torus| &torus.placements).collect();
        for _ in 0..rng.below(1 + share / 5) {
            let anchors = &placements[rng.below(placements.len() as u32) as usize].anchors;
            free = &free - &anchors[rng.below(anchors.len() as u32) as usize].nodes;
        }
        let one = placements[rng.below(placements.len() as u32) as usize];
        let (mut size, mut segment) = (one.size, None);
        match rng.below(10) {
            0 => size = 1 + rng.below(20),
            1..=4 => {
                segment = Some(one.size);
                size *= 1 + rng.below(4);
            }
            5 => segment = Some(1 + rng.below(2 * size)),
            _ => {}
        }
        let mut required = Nodes::new();
        match rng.below(8) {
            0 => {
                let count = 1 + rng.below(4);
                required = (0..count).map(|_| rng.below(machine.nodes)).collect();
            }
            1 if !free.is_empty() => {
                let all: Vec<u32> = free.iter().copied().collect();
                required.insert(all[rng.below(all.len() as u32) as usize]);
            }
            // Require all nodes of random boxes, one box for each segment of the job.
            2 => {
                for _ in 0..size / one.size.max(1) {
                    let anchor = &one.anchors[rng.below(one.anchors.len() as u32) as usize];
                    required.extend(&anchor.nodes);
                }
            }
            _ => {}
        }
        let weighted = rng.percent(25);
        let weight = |_| if weighted { 1 + u64::from(rng.below(3)) } else { 1 };
        let weights = (0..machine.nodes).map(weight).collect();
        Self { machine: index, free, required, size, segment, weights, weighted }
    }

    /// Returns the input fields of the CSV row.
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

/// Joins fields to a CSV row, with quotes around fields that contain commas.
pub fn row(fields: &[String]) -> String {
    let quoted =
        |field: &String| if field.contains(',') { format!("\"{field}\"") } else { field.clone() };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",")
}
