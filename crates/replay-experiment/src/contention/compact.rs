//! Converts the times of jobs to cycles, and computes the most compact placements of a job on the empty machine.

use super::input::{LONGEST, TraceError, check_scale};
use replay_engine::allocator::Request;
use replay_engine::allocator::subcube::{Cube, Sides, SidesRule, mesh_of};
use replay_engine::allocator::submesh::{ShapeRule, SubMesh, turned};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::Job;

/// The properties of a job that determine its placement on the empty machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct PlacementKey {
    pub size: u32,
    pub shape: Option<[u16; 3]>,
}

/// Converts the times of jobs to cycles. The first arrival is cycle 0.
pub(super) fn scaled(jobs: &[Job], scale: f64) -> Result<Vec<Job>, TraceError> {
    check_scale(scale)?;
    let first = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
    let latest = jobs.iter().map(|job| job.submit).max().unwrap_or(0);
    let work: f64 = jobs.iter().map(|job| job.run.max(job.estimate) as f64).sum();
    let longest = (work + latest.abs_diff(first) as f64) * scale;
    if longest > LONGEST {
        return Err(TraceError::Scale { scale, longest });
    }
    let cycles = |seconds: i64| (seconds as f64 * scale).round() as i64;
    let scaled = |job: &Job| Job {
        submit: cycles(job.submit - first),
        run: cycles(job.run).max(1),
        estimate: cycles(job.estimate).max(1),
        ..*job
    };
    Ok(jobs.iter().map(scaled).collect())
}

/// Returns candidate placements of a job on the empty machine. A job with a shape is placed in this shape at the first
/// corner of the machine. For a job without a shape, the most compact box is tried in every orientation that fits. On a
/// hypercube, the box is a mesh that is embedded into the first subcube by Gray codes; if the mesh needs more
/// dimensions than the machine has, the first processors are used.
pub(super) fn compact(topology: &Topology, place: PlacementKey) -> Vec<Vec<NodeId>> {
    let mut places = match topology {
        Topology::Grid(grid) => {
            let inside = |sides: &[u16; 3]| {
                sides.iter().zip(grid.axes()).all(|(&side, axis)| side <= axis.extent)
            };
            let boxed = |sides: [u16; 3]| {
                let mut nodes = Vec::new();
                SubMesh { base: [0; 3], sides }.append_to(grid, &mut nodes);
                nodes
            };
            let holds = |sides: &[u16; 3]| {
                inside(sides) && SubMesh { base: [0; 3], sides: *sides }.volume() >= place.size
            };
            match place.shape.filter(holds) {
                Some(own) => vec![boxed(own)],
                None => {
                    let compact = ShapeRule::NearSquare.shape(place.size, grid);
                    let dimensions = grid.dimensions();
                    let turned = compact.map(|sides| turned(sides, dimensions, true));
                    turned.into_iter().flatten().filter(inside).map(boxed).collect()
                }
            }
        }
        Topology::Hypercube(cube) => {
            let n = u32::from(cube.dimensions());
            let request = Request::shaped(place.size, place.shape);
            let mut nodes = Vec::new();
            match mesh_of(&mut Sides::new(n, SidesRule::Exact), n, request, cube.processors()) {
                Ok(mesh) => mesh.append_to(Cube::whole(mesh.dimension()), &mut nodes),
                Err(_) => nodes.extend(topology.nodes()),
            }
            vec![nodes]
        }
        Topology::Cluster(_) | Topology::MultiTorus(_) | Topology::Hierarchy(_) => {
            vec![topology.nodes().collect()]
        }
    };
    places.iter_mut().for_each(|nodes| nodes.truncate(place.size as usize));
    places
}
