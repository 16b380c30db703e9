use crate::topology::Coord;

/// Numbers that are looked at together.
const TOGETHER: usize = 8;

/// Processors of a shell of which only some are taken, while the carried order decides which.
///
/// The same narrowing as [`Cut::take_by`](crate::allocator::centre::Cut::take_by). Most earlier centres tell
/// nobody apart, so what counts is how fast distances are seen to be all the same: positions are kept by
/// dimension, eight beside each other.
#[derive(Debug)]
pub struct Undecided {
    /// By dimension, positions; those behind the last are like the first.
    places: [Vec<[i16; TOGETHER]>; 3],
    /// Which processor of the shell each is.
    numbers: Vec<u32>,
    distances: Vec<[i16; TOGETHER]>,
    histogram: Vec<u32>,
    /// By dimension, how long it is if it wraps, else 0.
    around: [i16; 3],
}

impl Undecided {
    /// On a grid whose dimensions are so long if they wrap, else 0.
    pub fn new(around: [i16; 3]) -> Self {
        Self {
            places: [(); 3].map(|()| Vec::new()),
            numbers: Vec::new(),
            distances: Vec::new(),
            histogram: Vec::new(),
            around,
        }
    }

    /// Begins with a shell, at these positions, less than 16,384 along any dimension.
    pub fn start(&mut self, shell: impl ExactSizeIterator<Item = Coord>) {
        let count = shell.len();
        self.numbers.clear();
        self.numbers.extend(0..count as u32);
        for places in &mut self.places {
            places.clear();
            places.resize(count.div_ceil(TOGETHER), [0; TOGETHER]);
        }
        for (i, position) in shell.enumerate() {
            for (places, place) in self.places.iter_mut().zip(position) {
                places[i / TOGETHER][i % TOGETHER] = place as i16;
            }
        }
        self.fill_up();
    }

    /// Those of whom nothing is decided yet, by number in the shell, in its order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Of `need` that are to be taken, less than there are, those nearer to an earlier centre than the last of them
    /// are taken now; those farther away never. Returns how many of the others are still to be taken.
    pub fn narrow(&mut self, centre: Coord, mut need: usize, mut take: impl FnMut(usize)) -> usize {
        let [least, most] = self.measure(0..3, centre);
        if least == most {
            return need;
        }
        let cut = self.distance_at_cut([least, most], need);
        let distances = self.distances.as_flattened();
        let mut kept = 0;
        for i in 0..self.numbers.len() {
            let number = self.numbers[i];
            if distances[i] < cut {
                take(number as usize);
                need -= 1;
            } else if distances[i] == cut {
                self.numbers[kept] = number;
                for places in &mut self.places {
                    let places = places.as_flattened_mut();
                    places[kept] = places[i];
                }
                kept += 1;
            }
        }
        self.numbers.truncate(kept);
        self.places.iter_mut().for_each(|places| places.truncate(kept.div_ceil(TOGETHER)));
        self.fill_up();
        need
    }

    /// Whether no centre on the line through this one along a dimension tells anybody apart: all are at one position along
    /// it, and equally far from it, as those are that mirror each other.
    pub fn is_deaf(&mut self, centre: Coord, along: usize) -> bool {
        let first = self.places[along].first().map_or(0, |eight| eight[0]);
        let places = self.places[along].iter().flatten();
        if places.fold(false, |any, &place| any | (place != first)) {
            return false;
        }
        let [least, most] = self.measure((0..3).filter(|&dimension| dimension != along), centre);
        least == most
    }

    /// Distances from a position, along some dimensions; the least of them, and the largest.
    fn measure(&mut self, dimensions: impl Iterator<Item = usize>, from: Coord) -> [i16; 2] {
        let Self { places, distances, around, .. } = self;
        distances.clear();
        distances.resize(places[0].len(), [0; TOGETHER]);
        for dimension in dimensions {
            let (from, around) = (from[dimension] as i16, around[dimension]);
            for (distances, places) in distances.iter_mut().zip(&places[dimension]) {
                for i in 0..TOGETHER {
                    let straight = (places[i] - from).abs();
                    let other = if around > 0 { around - straight } else { straight };
                    distances[i] += straight.min(other);
                }
            }
        }
        let (mut least, mut most) = ([i16::MAX; TOGETHER], [0; TOGETHER]);
        for distances in &*distances {
            for i in 0..TOGETHER {
                least[i] = least[i].min(distances[i]);
                most[i] = most[i].max(distances[i]);
            }
        }
        [least.into_iter().min().unwrap_or(0), most.into_iter().max().unwrap_or(0)]
    }

    /// The distance of the `need`-th nearest, of distances between these.
    fn distance_at_cut(&mut self, [least, most]: [i16; 2], need: usize) -> i16 {
        let Self { distances, numbers, histogram, .. } = self;
        histogram.clear();
        histogram.resize((most - least) as usize + 1, 0);
        for &distance in &distances.as_flattened()[..numbers.len()] {
            histogram[(distance - least) as usize] += 1;
        }
        let mut below = 0;
        let reaches = |&count: &u32| {
            below += count as usize;
            below >= need
        };
        least + histogram.iter().position(reaches).unwrap_or(0) as i16
    }

    fn fill_up(&mut self) {
        let count = self.numbers.len();
        for places in &mut self.places {
            let places = places.as_flattened_mut();
            if let Some(&first) = places.first() {
                places[count..].fill(first);
            }
        }
    }
}
