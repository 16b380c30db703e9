use super::shadow::Shadow;
use crate::allocator::Request;
use crate::allocator::centre::fleet::{Fleet, Guest};
use crate::allocator::centre::mc1x1::{Many, Mc1x1, Way};
use crate::allocator::centre::options::CentreOptions;
use crate::machine::Machine;
use crate::stop::{Stop, Stopped};
use crate::topology::{Grid, NodeId, PairDistances};

/// The shadow machines. Wherever they stand before the same free processors they decide as one; each by itself
/// where the order of a last shell needs every candidate built (`greedy`).
#[derive(Debug)]
pub struct Shadows {
    /// The point of each in the map.
    points: Vec<usize>,
    /// What each has lost since they were last looked at.
    losses: Vec<u64>,
    machines: Machines,
}

#[derive(Debug)]
enum Machines {
    /// One way for each shadow, and one more for the real machine.
    Together(Box<Fleet<u16>>),
    Apart(Vec<Shadow>, Box<PairDistances>),
}

/// The way of MC1x1 with these options.
fn way(options: CentreOptions) -> Way {
    Way::new(options.tie, options.slack)
}

impl Shadows {
    /// Shadows of `machine`, on which no job runs: the point of each, and its options. `real` are those of the real machine.
    /// `apart` lets each decide by itself in any case.
    pub fn new(
        machine: &Machine,
        grid: &Grid,
        shadows: &[(usize, CentreOptions)],
        real: CentreOptions,
        apart: bool,
    ) -> Self {
        let ways = shadows.iter().map(|&(_, options)| options).chain([real]).map(way).collect();
        let machines = match Many::new(grid, real, ways).filter(|_| !apart) {
            Some(many) => {
                let fleet = Fleet::new(machine, many.with_walls(), shadows.len() as u32);
                Machines::Together(Box::new(fleet))
            }
            None => {
                let engine = |&(_, options): &_| Shadow::new(machine, Mc1x1::new(grid, options));
                let distances = PairDistances::new(machine.topology());
                Machines::Apart(shadows.iter().map(engine).collect(), Box::new(distances))
            }
        };
        let points = shadows.iter().map(|&(point, _)| point).collect();
        Self { points, losses: vec![0; shadows.len()], machines }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// By shadow, its point and what it has lost since this was last asked: the pairwise L1 of all jobs started.
    pub fn take_losses(&mut self) -> Vec<(usize, f64)> {
        let losses = self.losses.iter_mut().map(std::mem::take);
        self.points.iter().copied().zip(losses.map(|loss| loss as f64)).collect()
    }

    /// One goes on with the vector and slack at another point.
    pub fn turn(&mut self, shadow: usize, point: usize, grid: &Grid, options: CentreOptions) {
        let Some(at) = self.points.get_mut(shadow) else { return };
        *at = point;
        match &mut self.machines {
            Machines::Together(fleet) => fleet.turn(shadow as u32, way(options)),
            Machines::Apart(shadows, _) => shadows[shadow].turn(Mc1x1::new(grid, options)),
        }
    }

    /// The real machine goes on with other options.
    pub fn turn_real(&mut self, options: CentreOptions) {
        if let Machines::Together(fleet) = &mut self.machines {
            fleet.turn(self.points.len() as u32, way(options));
        }
    }

    /// Where shadows stand that have the same processors free as the real machine.
    pub fn like(&self, machine: &Machine) -> Option<usize> {
        match &self.machines {
            Machines::Together(fleet) => fleet.like(machine),
            Machines::Apart(..) => None,
        }
    }

    /// All serve a request, for the job in `slot`. Without enough free processors, which only
    /// a caller can bring about who does not occupy what it was given, a shadow passes. With a place that is
    /// [like](Self::like) the real machine, what that chooses is appended to `chosen`.
    ///
    /// # Errors
    /// [`Stopped`] if the flag is raised.
    pub fn start(
        &mut self,
        slot: usize,
        request: Request,
        real: Option<(usize, &mut Vec<NodeId>)>,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        let Self { losses, machines, points } = self;
        match machines {
            Machines::Together(fleet) => {
                stop.check()?;
                let way = points.len() as u32;
                let guest = real.map(|(ground, chosen)| Guest { way, ground, chosen });
                // Who has too few passes.
                let _ = fleet.start(slot, request.size, guest, |berth| {
                    for &mut way in berth.ways {
                        losses[way as usize] += berth.pairwise_l1;
                    }
                });
            }
            Machines::Apart(shadows, distances) => {
                for (shadow, loss) in shadows.iter_mut().zip(losses) {
                    stop.check()?;
                    *loss += shadow.start(slot, request, distances);
                }
            }
        }
        Ok(())
    }

    /// The job in `slot` ends.
    pub fn end(&mut self, slot: usize) {
        match &mut self.machines {
            Machines::Together(fleet) => fleet.end(slot),
            Machines::Apart(shadows, _) => shadows.iter_mut().for_each(|shadow| shadow.end(slot)),
        }
    }

    /// Processors have left the real machine.
    pub fn withdraw(&mut self, nodes: &[NodeId]) {
        match &mut self.machines {
            Machines::Together(fleet) => fleet.withdraw(nodes),
            Machines::Apart(shadows, _) => shadows.iter_mut().for_each(|one| one.withdraw(nodes)),
        }
    }

    /// They have returned to it.
    pub fn restore(&mut self, nodes: &[NodeId]) {
        match &mut self.machines {
            Machines::Together(fleet) => fleet.restore(nodes),
            Machines::Apart(shadows, _) => shadows.iter_mut().for_each(|one| one.restore(nodes)),
        }
    }

    /// Lets a flag break off their decisions.
    pub fn stopped_by(&mut self, stop: &Stop) {
        if let Machines::Apart(shadows, _) = &mut self.machines {
            shadows.iter_mut().for_each(|shadow| shadow.stopped_by(stop));
        }
    }

    /// By shadow: processors that are free, those that are out of service, and those that are to leave.
    #[cfg(test)]
    pub fn counts(&self) -> Vec<[usize; 3]> {
        match &self.machines {
            Machines::Together(fleet) => fleet.counts(),
            Machines::Apart(shadows, _) => shadows.iter().map(Shadow::counts).collect(),
        }
    }
}
