use super::{Archive, Batch, SearchError, Strategy};
use crate::allocator::centre::TieVector;

/// Vectors written down beforehand, such as [`Space::grid`](crate::experiment::search::Space::grid).
#[derive(Clone, Debug)]
pub struct List {
    vectors: Vec<TieVector>,
}

impl List {
    /// These vectors, all at once.
    pub fn new(vectors: Vec<TieVector>) -> Self {
        Self { vectors }
    }
}

impl Strategy for List {
    fn ask(&mut self, _archive: &Archive) -> Result<Batch, SearchError> {
        Ok(Batch::whole(std::mem::take(&mut self.vectors)))
    }

    fn is_done(&self, _archive: &Archive) -> bool {
        self.vectors.is_empty()
    }
}
