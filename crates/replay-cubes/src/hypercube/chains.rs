//! Linked lists of the members of each owner. Members and owners are numbers.

/// Value that marks the absence of a number.
const NONE: u32 = u32::MAX;

/// A chain of members for each owner, in the order of insertion. Every operation takes constant
/// time.
#[derive(Clone, Debug)]
pub struct Chains {
    links: Vec<Link>,
    /// First and last member by owner.
    ends: Vec<[u32; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    owner: u32,
    before: u32,
    after: u32,
}

impl Chains {
    /// Creates empty chains for members below `members` and owners below `owners`.
    pub fn new(members: usize, owners: usize) -> Self {
        let alone = Link { owner: NONE, before: NONE, after: NONE };
        Self { links: vec![alone; members], ends: vec![[NONE; 2]; owners] }
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        *self = Self::new(self.links.len(), self.ends.len());
    }

    /// Returns the owner of a member.
    #[cfg(test)]
    pub fn owner(&self, member: u32) -> Option<u32> {
        some(self.links[member as usize].owner)
    }

    /// Returns the first member of an owner.
    pub fn first(&self, owner: u32) -> Option<u32> {
        some(self.ends[owner as usize][0])
    }

    /// Returns the member after a member of the same owner.
    pub fn after(&self, member: u32) -> Option<u32> {
        some(self.links[member as usize].after)
    }

    /// Appends a member, which must not have an owner.
    pub fn push(&mut self, member: u32, owner: u32) {
        let [first, last] = &mut self.ends[owner as usize];
        let before = std::mem::replace(last, member);
        match before {
            NONE => *first = member,
            before => self.links[before as usize].after = member,
        }
        self.links[member as usize] = Link { owner, before, after: NONE };
    }

    /// Removes a member and returns its owner.
    pub fn remove(&mut self, member: u32) -> Option<u32> {
        let Link { owner, before, after } = self.links[member as usize];
        let [first, last] = &mut self.ends[some(owner)? as usize];
        match before {
            NONE => *first = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => *last = before,
            after => self.links[after as usize].before = before,
        }
        self.links[member as usize].owner = NONE;
        Some(owner)
    }
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let mut chains = Chains::new(8, 8);
        for member in [3, 1, 4] {
            chains.push(member, 5);
        }
        chains.push(2, 6);
        assert_eq!((chains.first(5), chains.first(6), chains.first(7)), (Some(3), Some(2), None));
        assert_eq!((chains.remove(1), chains.remove(1), chains.owner(4)), (Some(5), None, Some(5)));
        assert_eq!((chains.remove(3), chains.first(5)), (Some(5), Some(4)));
        chains.push(3, 5);
        assert_eq!((chains.remove(4), chains.first(5)), (Some(5), Some(3)));
        chains.clear();
        assert_eq!((chains.first(5), chains.owner(3)), (None, None));
    }
}
