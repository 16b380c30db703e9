use crate::machine::DiamondCounts;

/// The rows and columns of the mesh that a diamond reaches, first and last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    x: [u16; 2],
    y: [u16; 2],
}

impl Window {
    /// Of the diamond of this radius around (x, y).
    pub fn new(counts: &DiamondCounts, (x, y): (usize, usize), radius: usize) -> Self {
        let span = |centre: usize, extent: usize| {
            [centre.saturating_sub(radius) as u16, (centre + radius).min(extent - 1) as u16]
        };
        Self { x: span(x, counts.width()), y: span(y, counts.height()) }
    }

    /// First and last row.
    #[inline]
    pub fn x(self) -> [u16; 2] {
        self.x
    }

    /// First and last column.
    #[inline]
    pub fn y(self) -> [u16; 2] {
        self.y
    }

    /// Whether nothing of a shell is beyond the mesh.
    pub fn has_all(self, radius: usize) -> bool {
        let long = |span: [u16; 2]| usize::from(span[1] - span[0]) == 2 * radius;
        long(self.x) && long(self.y)
    }

    /// The position of the window nearest to (x, y).
    #[inline]
    pub fn clamp(self, [x, y]: [u16; 2]) -> [u16; 2] {
        [x.clamp(self.x[0], self.x[1]), y.clamp(self.y[0], self.y[1])]
    }
}
