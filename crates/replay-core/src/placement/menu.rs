//! Menus: which boxes jobs may have where no file says so.

use std::fmt;
use std::str::FromStr;

use super::ties::spread;
use super::torus::{Layout, Steps, Torus};
use super::tpu_v4::SLICES;
use crate::topology::{Grid, Topology, TorusPart};

/// The largest machine for which all boxes are a menu.
const SMALL: usize = 512;

/// A menu as it is named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Menu {
    /// All boxes whose every side is a power of two or the machine's.
    Powers,
    /// All boxes, on machines of up to 512 processors.
    All,
    /// Shapes of slices of TPU v4 pods that fit, turned in every way.
    TpuV4,
    /// For every size of the trace the most compact boxes, turned in every way.
    Trace,
    /// These boxes.
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
            return Err("a menu is pow2, all, tpu-v4, trace or list:2x2x1+2x2x2".to_string());
        };
        let shape = |text: &str| {
            let sides: Option<Vec<u16>> =
                text.split('x').map(|side| side.parse().ok().filter(|&side| side > 0)).collect();
            let sides = sides.and_then(|sides| <[u16; 3]>::try_from(sides).ok());
            sides.ok_or(format!("\"{text}\" in the menu is no box such as 2x2x1"))
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

/// Cells between two positions of a box, as it is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchors {
    /// The sides of the box.
    Aligned,
    /// Half the sides, rounded down, at least 1.
    Half,
    /// Every position.
    All,
}

impl Anchors {
    /// All with their names.
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

/// Where boxes may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Where {
    /// Cells between two positions.
    pub anchors: Anchors,
    /// Whether the last position on an axis that does not wrap is flush with its end.
    pub flush: bool,
}

impl Menu {
    /// The boxes on a machine, ascending by size, those of one size by their sides. With `turned` also
    /// a list's boxes stand in every way. `sizes` are those of the jobs to come, for a menu that goes by them.
    ///
    /// # Errors
    /// Why the machine has no such menu, in words.
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
            Menu::All if grid.processors() > SMALL => {
                return Err(format!("menu=all is for machines of up to {SMALL} processors"));
            }
            Menu::All => every(&|_, _| true),
            Menu::TpuV4 => turns(&SLICES.map(|slice| slice.0)).into_iter().filter(fits).collect(),
            Menu::Trace => sizes.iter().flat_map(|&size| compact(grid, size)).collect(),
            Menu::List(boxes) => {
                let boxes = if turned { turns(boxes) } else { boxes.clone() };
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

    /// A grid as a torus with these boxes.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    pub fn torus(&self, grid: &Grid, anchors: Anchors, turned: bool) -> Result<Torus, String> {
        let place = Where { anchors, flush: true };
        self.allowed(bare("torus", grid, |_| true)?, grid, place, turned, &[])
    }

    /// The tori of a machine with these boxes, those that fit each; for jobs of these sizes, if the menu goes by them: as long
    /// as nobody knows any it is empty.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    pub fn layout(
        &self,
        machine: &Topology,
        place: Where,
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
            _ => return Err(format!("{machine} is no mesh or torus")),
        };
        if *self == Menu::Trace && sizes.is_empty() {
            return Ok(Layout::new(bares.into_iter().map(|(_, torus)| torus)));
        }
        let (mut toruses, mut why) = (Vec::new(), None);
        for (grid, torus) in bares.drain(..) {
            toruses.push(match self.allowed(torus.clone(), grid, place, turned, sizes) {
                Ok(torus) => torus,
                // Another may have what is too large here.
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

    /// A torus on which these boxes are allowed.
    fn allowed(
        &self,
        mut torus: Torus,
        grid: &Grid,
        place: Where,
        turned: bool,
        sizes: &[u32],
    ) -> Result<Torus, String> {
        let wrapped = wrapped(grid);
        let Where { anchors, flush } = place;
        for sides in self.boxes(grid, turned, sizes)? {
            let spacing = sides.map(|side| anchors.spacing(side));
            torus.allow(sides, &Steps { spacing, seed: [0; 3], wrapped, flush })?;
        }
        Ok(torus)
    }
}

/// A torus without boxes.
fn bare(name: &str, grid: &Grid, has_node: impl Fn(u32) -> bool) -> Result<Torus, String> {
    let sides = grid.axes().map(|axis| axis.extent);
    let torus = Torus::new(name.to_string(), sides, has_node);
    torus.ok_or_else(|| "the machine has too many processors".to_string())
}

/// Along which axes boxes run over the edge. A grid has no second way along an axis of two; on a torus boxes go around
/// there as on the others.
pub fn wrapped(grid: &Grid) -> [bool; 3] {
    let axes = grid.axes();
    let is_torus = axes.iter().any(|axis| axis.wrapped)
        && axes.iter().all(|axis| axis.wrapped || axis.extent <= 2);
    axes.map(|axis| axis.wrapped || is_torus)
}

/// Of the boxes that fit and hold exactly a size, those with the least sum of distances over all pairs of
/// cells, in every orientation that fits; if none fits, those of the next larger size that has one.
fn compact(grid: &Grid, size: u32) -> Vec<[u16; 3]> {
    let axes = grid.axes();
    let (lengths, wrapped) = (axes.map(|axis| axis.extent), wrapped(grid));
    let fits = |sides: &[u16; 3]| (0..3).all(|axis| sides[axis] <= lengths[axis]);
    for volume in size..=grid.processors() as u32 {
        let mut all = Vec::new();
        for x in (1..=lengths[0]).filter(|&x| volume.is_multiple_of(x.into())) {
            let rest = volume / u32::from(x);
            for y in (1..=lengths[1]).filter(|&y| rest.is_multiple_of(y.into())) {
                let z = u16::try_from(rest / u32::from(y)).unwrap_or(u16::MAX);
                all.push([x, y, z]);
            }
        }
        all.retain(fits);
        let sums = all.iter().map(|&sides| spread(sides, lengths, wrapped));
        if let Some(least) = sums.min() {
            all.retain(|&sides| spread(sides, lengths, wrapped) == least);
            all = turns(&all);
            all.retain(fits);
            return all;
        }
    }
    Vec::new()
}

/// Boxes in all their orientations, each once.
fn turns(boxes: &[[u16; 3]]) -> Vec<[u16; 3]> {
    let of =
        |&[a, b, c]: &[u16; 3]| [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
    let mut all: Vec<_> = boxes.iter().flat_map(of).collect();
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

    /// Spec: 61 placements with 15,810 anchors on a torus of 16 x 16 x 16.
    #[test]
    fn slices_of_a_pod_are_61_placements() {
        let torus = Menu::TpuV4.torus(&grid("torus:16x16x16"), Anchors::Aligned, false);
        let torus = torus.expect("fits");
        assert_eq!(torus.placements().len(), 61);
        let anchors: usize = torus.placements().iter().map(|one| one.anchors()).sum();
        assert_eq!(anchors, 15_810);
    }

    #[test]
    fn menus_are_what_they_say() {
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
        // 3 is a row in each of three ways, 7 is no box of 4 x 4 x 4, and 8 is a cube.
        let rows = [[1, 1, 3], [1, 3, 1], [3, 1, 1]];
        let all = [&rows[..], &[[2, 2, 2]]].concat();
        assert_eq!(boxes("trace", "4x4x4", false), Ok(all));
        // A ring of 4 has its ends beside each other: no shorter way in a square.
        assert_eq!(compact(&grid("torus:4x2"), 4), [[2, 2, 1], [4, 1, 1]]);
        assert_eq!(compact(&grid("3x2"), 5), [[3, 2, 1]]);
        assert!(compact(&grid("3x2"), 7).is_empty());
        assert!("list:2x2".parse::<Menu>().expect_err("two sides").contains("2x2"));
        assert!("lists".parse::<Menu>().is_err());
    }
}
