//! Side lengths by size, computed once.

/// The sides that a rule gave to the sizes seen so far.
#[derive(Clone, Debug, Default)]
pub(in crate::allocator) struct Shapes {
    /// By size; unknown sizes have no sides.
    known: Vec<Option<[u16; 3]>>,
}

impl Shapes {
    /// The sides for `size` by a rule, which must be the same one every time. `None` if
    /// the rule has none.
    pub fn of(
        &mut self,
        size: u32,
        rule: impl FnOnce(u32) -> Option<[u16; 3]>,
    ) -> Option<[u16; 3]> {
        let index = size as usize;
        if index >= self.known.len() {
            self.known.resize(index + 1, None);
        }
        if self.known[index].is_none() {
            self.known[index] = rule(size);
        }
        self.known[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_worked_out_once() {
        let mut shapes = Shapes::default();
        let mut asked = 0;
        for _ in 0..3 {
            let sides = shapes.of(6, |size| {
                asked += 1;
                Some([3, size as u16 / 3, 1])
            });
            assert_eq!(sides, Some([3, 2, 1]));
        }
        assert_eq!(asked, 1);
        assert_eq!(shapes.of(2, |_| None), None);
    }
}
