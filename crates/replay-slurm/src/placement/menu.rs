//! Menus: the boxes that jobs may get on machines without a configuration file.

use std::fmt;
use std::str::FromStr;

use crate::placement::ties::spread;
use crate::placement::torus::{Layout, Steps, Torus};
use crate::placement::tpu_v4::SLICES;
use replay_engine::allocator::submesh::{factorisations, parse_sides, permutations};
use replay_engine::topology::{Grid, Topology, TorusPart};

/// Size of the largest machine for which the menu may contain all boxes.
const MAX_ALL_BOXES: usize = 512;

/// A rule that determines the boxes that jobs may get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Menu {
    /// All boxes in which every side is a power of two or equals the side of the machine along the same axis.
    Powers,
    /// All boxes, on machines of up to 512 processors.
    All,
    /// The shapes of slices of TPU v4 pods that fit, in all orientations.
    TpuV4,
    /// The most compact boxes for every size of the trace, in all orientations.
    Trace,
    /// A list of boxes.
    List(Vec<[u16; 3]>),
}

impl FromStr for Menu {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let list = match text {
            "pow2" => return Ok(Menu::Powers),
            "all" => return Ok(Menu::All),
            "tpu-v4" => return Ok(Menu::TpuV4),
            "trace" => return Ok(Menu::Trace),
            other => other.strip_prefix("list:"),
        };
        let Some(list) = list else {
            return Err(
                "write pow2, all, tpu-v4, trace, or a list of boxes such as list:2x2x1+2x2x2"
                    .to_string(),
            );
        };
        let shape = |text: &str| {
            parse_sides(text).ok_or(format!("\"{text}\" in the menu is not a box such as 2x2x1"))
        };
        list.split('+').map(shape).collect::<Result<_, _>>().map(Menu::List)
    }
}

impl fmt::Display for Menu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Menu::Powers => f.write_str("pow2"),
            Menu::All => f.write_str("all"),
            Menu::TpuV4 => f.write_str("tpu-v4"),
            Menu::Trace => f.write_str("trace"),
            Menu::List(boxes) => {
                f.write_str("list:")?;
                for (index, [x, y, z]) in boxes.iter().enumerate() {
                    let between = if index > 0 { "+" } else { "" };
                    write!(f, "{between}{x}x{y}x{z}")?;
                }
                Ok(())
            }
        }
    }
}

/// The spacing of positions of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchors {
    /// The spacing along each axis is the side of the box.
    Aligned,
    /// The spacing along each axis is half of the side of the box, rounded down, but at least 1.
    Half,
    /// A spacing of 1.
    All,
}

impl Anchors {
    /// All spacings with their names.
    pub const ALL: [(&'static str, Anchors); 3] =
        [("aligned", Anchors::Aligned), ("half", Anchors::Half), ("all", Anchors::All)];

    fn spacing(self, side: u16) -> u16 {
        match self {
            Anchors::Aligned => side,
            Anchors::Half => (side / 2).max(1),
            Anchors::All => 1,
        }
    }
}

/// The rule for positions of boxes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnchorRule {
    /// The spacing of positions.
    pub anchors: Anchors,
    /// Whether an axis that does not wrap gets an additional position, at which the box ends at the end of the axis.
    pub flush: bool,
}

impl Menu {
    /// Returns the boxes on a machine, sorted by size, then by sides. With `turned`, the boxes of a list are included
    /// in all orientations. `sizes` are the job sizes, for [`Menu::Trace`].
    ///
    /// # Errors
    /// A description of why the machine does not support the menu.
    pub fn boxes(&self, grid: &Grid, turned: bool, sizes: &[u32]) -> Result<Vec<[u16; 3]>, String> {
        let most = grid.axes().map(|axis| axis.extent);
        let fits = |sides: &[u16; 3]| (0..3).all(|axis| sides[axis] <= most[axis]);
        let every = |legal: &dyn Fn(u16, u16) -> bool| {
            let along = |axis: usize| {
                (1..=most[axis]).filter(|&side| legal(side, most[axis])).collect::<Vec<_>>()
            };
            let [xs, ys, zs] = [along(0), along(1), along(2)];
            let mut all = Vec::new();
            for &x in &xs {
                for &y in &ys {
                    all.extend(zs.iter().map(|&z| [x, y, z]));
                }
            }
            all
        };
        let mut all = match self {
            Menu::Powers => every(&|side, most| side.is_power_of_two() || side == most),
            Menu::All if grid.processors() > MAX_ALL_BOXES => {
                return Err(format!(
                    "menu=all supports machines of up to {MAX_ALL_BOXES} processors"
                ));
            }
            Menu::All => every(&|_, _| true),
            Menu::TpuV4 => {
                orientations(&SLICES.map(|slice| slice.0)).into_iter().filter(fits).collect()
            }
            Menu::Trace => sizes.iter().flat_map(|&size| compact(grid, size)).collect(),
            Menu::List(boxes) => {
                let boxes = if turned { orientations(boxes) } else { boxes.clone() };
                if let Some([x, y, z]) = boxes.iter().find(|sides| !turned && !fits(sides)) {
                    return Err(format!(
                        "the box {x}x{y}x{z} of the menu is larger than the machine"
                    ));
                }
                boxes.into_iter().filter(fits).collect()
            }
        };
        all.sort_by_key(|&sides| (sides.map(u64::from).iter().product::<u64>(), sides));
        all.dedup();
        match all.is_empty() {
            true => Err("no box of the menu fits the machine".to_string()),
            false => Ok(all),
        }
    }

    /// Returns a grid as a torus with these boxes.
    ///
    /// # Errors
    /// A description of why the torus cannot be built.
    pub fn torus(&self, grid: &Grid, anchors: Anchors, turned: bool) -> Result<Torus, String> {
        let place = AnchorRule { anchors, flush: true };
        self.add_boxes(bare("torus", grid, |_| true)?, grid, place, turned, &[])
    }

    /// Returns the tori of a machine. Each torus gets the boxes of the menu that fit into it. `sizes` are the job
    /// sizes, for [`Menu::Trace`]; this menu is empty if there are no sizes.
    ///
    /// # Errors
    /// A description of why the layout cannot be built.
    pub fn layout(
        &self,
        machine: &Topology,
        place: AnchorRule,
        turned: bool,
        sizes: &[u32],
    ) -> Result<Layout, String> {
        let mut bares = match machine {
            Topology::Grid(grid) => vec![(grid, bare("torus", grid, |_| true)?)],
            Topology::MultiTorus(all) => {
                let of = |(number, part): (usize, &TorusPart)| {
                    bare(&format!("torus{number}"), &part.grid, |cell| part.node(cell).is_some())
                };
                let bares = (1..).zip(all.parts()).map(of).collect::<Result<Vec<_>, _>>()?;
                all.parts().iter().map(|part| &part.grid).zip(bares).collect()
            }
            _ => return Err(format!("{machine} is not a mesh or torus")),
        };
        if *self == Menu::Trace && sizes.is_empty() {
            return Ok(Layout::new(bares.into_iter().map(|(_, torus)| torus)));
        }
        let (mut toruses, mut why) = (Vec::new(), None);
        for (grid, torus) in bares.drain(..) {
            toruses.push(match self.add_boxes(torus.clone(), grid, place, turned, sizes) {
                Ok(torus) => torus,
                // A larger torus may have these boxes.
                Err(problem) => {
                    why.get_or_insert(problem);
                    torus
                }
            });
        }
        match (why, toruses.iter().all(|torus| torus.placements().is_empty())) {
            (Some(why), true) => Err(why),
            _ => Ok(Layout::new(toruses)),
        }
    }

    /// Adds the boxes of the menu to a torus.
    fn add_boxes(
        &self,
        mut torus: Torus,
        grid: &Grid,
        place: AnchorRule,
        turned: bool,
        sizes: &[u32],
    ) -> Result<Torus, String> {
        let wrapped = wrapped(grid);
        let AnchorRule { anchors, flush } = place;
        for sides in self.boxes(grid, turned, sizes)? {
            let spacing = sides.map(|side| anchors.spacing(side));
            torus.allow(sides, &Steps { spacing, seed: [0; 3], wrapped, flush })?;
        }
        Ok(torus)
    }
}

/// Creates a torus without boxes.
fn bare(name: &str, grid: &Grid, has_node: impl Fn(u32) -> bool) -> Result<Torus, String> {
    let sides = grid.axes().map(|axis| axis.extent);
    let torus = Torus::new(name.to_string(), sides, has_node);
    torus.ok_or_else(|| "the machine has too many processors".to_string())
}

/// Returns the axes along which boxes wrap around the edge. On a torus, boxes also wrap along an axis of two positions,
/// although wrap-around adds no links to this axis.
pub fn wrapped(grid: &Grid) -> [bool; 3] {
    let axes = grid.axes();
    let is_torus = axes.iter().any(|axis| axis.wrapped)
        && axes.iter().all(|axis| axis.wrapped || axis.extent <= 2);
    axes.map(|axis| axis.wrapped || is_torus)
}

/// Returns the most compact boxes of exactly this size that fit: the boxes with the smallest sum of distances over all
/// pairs of cells, in every orientation that fits. If no box of this size fits, returns the most compact boxes of the
/// next larger size for which a box fits.
fn compact(grid: &Grid, size: u32) -> Vec<[u16; 3]> {
    let axes = grid.axes();
    let (lengths, wrapped) = (axes.map(|axis| axis.extent), wrapped(grid));
    let fits = |sides: &[u16; 3]| (0..3).all(|axis| sides[axis] <= lengths[axis]);
    for volume in size..=grid.processors() as u32 {
        let mut all = factorisations(volume, grid);
        let sums = all.iter().map(|&sides| spread(sides, lengths, wrapped));
        if let Some(least) = sums.min() {
            all.retain(|&sides| spread(sides, lengths, wrapped) == least);
            all = orientations(&all);
            all.retain(fits);
            return all;
        }
    }
    Vec::new()
}

/// Returns boxes in all their orientations, without duplicates.
fn orientations(boxes: &[[u16; 3]]) -> Vec<[u16; 3]> {
    let mut all: Vec<_> = boxes.iter().flat_map(|&sides| permutations(sides, 3)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Grid {
        let topology: Topology = text.parse().expect("a machine");
        topology.grid().expect("a grid").clone()
    }

    /// On a torus of 16 x 16 x 16, the slices are 61 placements with 15,810 anchors.
    #[test]
    fn slices_of_a_pod_are_61_placements() {
        let torus = Menu::TpuV4.torus(&grid("torus:16x16x16"), Anchors::Aligned, false);
        let torus = torus.expect("fits");
        assert_eq!(torus.placements().len(), 61);
        let anchors: usize = torus.placements().iter().map(|one| one.anchors()).sum();
        assert_eq!(anchors, 15_810);
    }

    #[test]
    fn menus_contain_the_specified_boxes() {
        let boxes = |menu: &str, machine: &str, turned| {
            let menu: Menu = menu.parse().expect(menu);
            assert_eq!(menu.to_string().parse(), Ok(menu.clone()));
            menu.boxes(&grid(machine), turned, &[3, 7, 8])
        };
        let pow2 = boxes("pow2", "6x2x1", false).expect("some");
        assert_eq!(pow2[..3], [[1, 1, 1], [1, 2, 1], [2, 1, 1]]);
        assert_eq!(pow2.last(), Some(&[6, 2, 1]));
        assert_eq!(pow2.len(), 4 * 2);
        assert_eq!(boxes("all", "3x2x2", false).expect("some").len(), 12);
        assert!(boxes("all", "16x16x16", false).is_err());
        assert_eq!(boxes("list:2x1x1", "4x4", true), Ok(vec![[1, 2, 1], [2, 1, 1]]));
        assert_eq!(boxes("list:2x2x2+2x1x1+2x1x1", "4x4x4", false), Ok(vec![[2, 1, 1], [2, 2, 2]]));
        assert!(boxes("list:5x1x1", "4x4x4", false).expect_err("larger").contains("5x1x1"));
        // A job of size 3 gets a row in three orientations. No box of size 7 fits into 4 x 4 x 4. A job of size 8 gets
        // a cube.
        let rows = [[1, 1, 3], [1, 3, 1], [3, 1, 1]];
        let all = [&rows[..], &[[2, 2, 2]]].concat();
        assert_eq!(boxes("trace", "4x4x4", false), Ok(all));
        // The ends of a ring of 4 are neighbours, so a square is not more compact.
        assert_eq!(compact(&grid("torus:4x2"), 4), [[2, 2, 1], [4, 1, 1]]);
        assert_eq!(compact(&grid("3x2"), 5), [[3, 2, 1]]);
        assert!(compact(&grid("3x2"), 7).is_empty());
        assert!("list:2x2".parse::<Menu>().expect_err("two sides").contains("2x2"));
        assert!("lists".parse::<Menu>().is_err());
    }
}
