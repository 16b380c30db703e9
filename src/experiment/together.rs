use crate::allocator::centre::TieRule;
use crate::allocator::centre::mc1x1::{Many, Mc1x1, Way};
use crate::allocator::registry::AllocatorSpec;
use crate::simulation::{Placed, ReplayError, Scene, Timeline, lockstep};
use crate::topology::Topology;

/// Strategies that differ in how they break ties alone, to be replayed in [`lockstep`].
#[derive(Debug)]
pub struct Together {
    many: Many,
    narrow: bool,
}

impl Together {
    /// These, if there are several and they can be: MC1x1 with vectors that look at no estimates.
    pub fn new<'a>(
        specs: impl Iterator<Item = &'a AllocatorSpec> + Clone,
        topology: &Topology,
    ) -> Option<Self> {
        let shared = specs.clone().next()?.shared(topology)?;
        if specs.clone().nth(1).is_none() {
            return None;
        }
        let way = |spec: &AllocatorSpec| {
            let breaking = spec.tie_breaking().filter(|_| spec.shared(topology) == Some(shared))?;
            Way::new(breaking.tie.vector(), breaking.slack.fixed())
                .filter(|_| breaking.tie != TieRule::Auto)
        };
        let ways = specs.map(way).collect::<Option<_>>()?;
        let grid = topology.grid()?;
        let many = Many::new(grid, shared, ways)?;
        Some(Self { many, narrow: Mc1x1::<u16>::takes(grid) })
    }

    /// Replays the timeline of a scene; `observe` hears of strategies by number.
    ///
    /// # Errors
    /// As [`lockstep`].
    pub fn replay(
        self,
        timeline: &Timeline,
        scene: Scene<'_>,
        observe: impl FnMut(Placed<'_>),
    ) -> Result<u64, ReplayError> {
        match self.narrow {
            true => lockstep::<u16>(timeline, scene, self.many, observe),
            false => lockstep::<u32>(timeline, scene, self.many, observe),
        }
    }
}
