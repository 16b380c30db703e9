//! Defines an allocation strategy outside the crate, gives it a name and a parameter, adds it to the registry
//! of the project, and replays a trace with it.
//!
//! `cargo run --release --example own_strategy [NAME[KEY=VALUE,...]]...`

use std::error::Error;
use std::sync::Arc;

use replay::allocator::registry::{AllocatorSpec, standard};
use replay::allocator::{Allocator, AllocatorOptions, Refusal, Request};
use replay::cancel::CancelToken;
use replay::experiment::{Cell, Measure, RunContext, Trace, run_cell};
use replay::machine::Machine;
use replay::naming::{Entry, Registry, Table, kind};
use replay::scheduler::registry::SchedulerSpec;
use replay::topology::{NodeId, Topology};
use replay::workload::{Policy, Window, Workload};

/// Allocates the free processors that are nearest to one processor of the machine.
#[derive(Clone, PartialEq)]
struct Nearest {
    to: u32,
}

impl Allocator for Nearest {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        if size > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        chosen.extend(machine.free_nodes());
        // The sort is stable: equally near processors stay in scan order.
        chosen.sort_by_key(|node| machine.topology().hops(NodeId(self.to), *node));
        chosen.truncate(size);
        Ok(())
    }
}

impl AllocatorOptions for Nearest {
    fn build(&self, machine: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        if self.to as usize >= machine.processors() {
            return Err(format!("nearest: {machine} has no processor {}", self.to));
        }
        Ok(Box::new(self.clone()))
    }
}

/// Returns the registry of the project with this strategy added.
fn allocators() -> Registry<AllocatorSpec> {
    let entry = Entry::new("nearest", Nearest { to: 0 })
        .about("The free processors that are nearest to one processor.")
        .param("to", kind::integer(0..=u32::MAX), "number of that processor", |it| &mut it.to);
    standard().clone().with(Table::new("allocator", [entry]), AllocatorSpec::parse)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ["nearest", "nearest[to=55]", "mc1x1", "random"].map(str::to_string).into();
    }
    let file = "traces/lublin-10x10.swf";
    let jobs = Workload::load(file, &Policy::JOHNSON, &Window::ALL, Default::default())?;
    let fcfs: SchedulerSpec = "fcfs".parse()?;
    let trace =
        Trace::new(Arc::new(jobs), "10x10".parse()?, "johnson", std::slice::from_ref(&fcfs));
    let trace = Arc::new(trace);

    let allocators = allocators();
    for name in names {
        let allocator = allocators.read(&name)?;
        let cell = Cell { trace: Arc::clone(&trace), scheduler: fcfs.clone(), allocator, seed: 0 };
        let result = run_cell(0, &cell, Measure::default(), RunContext::new(&CancelToken::new()))?;
        println!("{name}: {:.3} hops", result.metrics.pairwise.mean_pairwise_l1);
    }
    Ok(())
}
