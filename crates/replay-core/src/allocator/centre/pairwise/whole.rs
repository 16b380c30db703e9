use super::window::Window;
use crate::topology::Coord;

/// The score around a centre with all of its shells free and on the mesh, the last one
/// included.
///
/// Such surroundings are alike, so that the score is a question of the earlier centres
/// which decided the part, as seen from the centre: if around another one the same are
/// heard, the score is the same. On an empty machine most centres are of this kind.
#[derive(Debug, Default)]
pub struct Whole {
    /// Shell number, processors needed of it, and the score.
    last: Option<(usize, usize, u64)>,
    /// Where the earlier centres are, from the centre.
    heard: Vec<[i32; 2]>,
}

impl Whole {
    /// The score around `centre`, if it is known. `earlier` as the carried order has them.
    pub fn recall(
        &self,
        (outermost, need): (usize, usize),
        centre: Coord,
        window: Window,
        earlier: impl Iterator<Item = Coord>,
    ) -> Option<u64> {
        let (_, _, score) = self.last.filter(|&(l, n, _)| (l, n) == (outermost, need))?;
        let mut expected = self.heard.iter().peekable();
        let mut before = None;
        for [x, y, _] in earlier {
            let Some(&&next) = expected.peek() else { break };
            let seen = window.clamp([x, y]);
            if before.replace(seen) == Some(seen) {
                continue;
            }
            if from(centre, seen) != next {
                return None;
            }
            expected.next();
        }
        expected.next().is_none().then_some(score)
    }

    /// Remembers a score and the positions `heard` on the way to it; `None` if there were
    /// too few, so that one more could have changed it.
    pub fn remember(
        &mut self,
        (outermost, need): (usize, usize),
        centre: Coord,
        heard: Option<&[[u16; 2]]>,
        score: u64,
    ) {
        self.last = heard.map(|_| (outermost, need, score));
        self.heard.clear();
        self.heard.extend(heard.into_iter().flatten().map(|&seen| from(centre, seen)));
    }
}

fn from(centre: Coord, seen: [u16; 2]) -> [i32; 2] {
    [0, 1].map(|axis| i32::from(seen[axis]) - i32::from(centre[axis]))
}
