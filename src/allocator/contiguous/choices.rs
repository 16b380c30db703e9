//! What the parameters of the contiguous strategies choose between.

/// What Best Fit calls best.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Measure {
    /// [`Surroundings`](super::best_fit::Surroundings).
    Surroundings,
    /// [`Candidates`](super::best_fit::Candidates).
    #[default]
    Candidates,
    /// [`SmallestBox`](super::best_fit::SmallestBox).
    SmallestBox,
}

impl Measure {
    /// Every measure with its name.
    pub const ALL: [(&'static str, Measure); 3] = [
        ("surroundings", Measure::Surroundings),
        ("candidates", Measure::Candidates),
        ("smallest-box", Measure::SmallestBox),
    ];
}

/// How First Fit finds a frame; the choice is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// Rows of bits.
    #[default]
    Fast,
    /// The published loops.
    Literal,
}

impl Engine {
    /// Every engine with its name.
    pub const ALL: [(&'static str, Engine); 2] =
        [("fast", Engine::Fast), ("literal", Engine::Literal)];
}

/// Where a row of frames begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// The first row begins at the first frame, the others at the left wall. A frame that
    /// would leave the mesh to the right is moved back against the wall and ends its row.
    #[default]
    Walls,
    /// All rows begin at the x of the first frame (a reading of Bani-Mohammad 2008, section
    /// 2.2.1). Frames that leave the mesh are passed over.
    First,
}

impl Rows {
    /// Every reading with its name.
    pub const ALL: [(&'static str, Rows); 2] = [("walls", Rows::Walls), ("first", Rows::First)];
}
