//! Defines an allocation strategy outside the crate, gives it a name and a parameter, and adds it to the strategies of
//! the project. The result is the whole program, in which every command knows the strategy.
//!
//! `cargo run --release --example own_strategy -- [ARGUMENTS OF replay]`

use std::process::ExitCode;

use replay::allocator::registry::AllocatorSpec;
use replay::allocator::{
    Allocator, AllocatorOptions, Capabilities, Refusal, Request, require_free,
};
use replay::machine::Machine;
use replay::naming::{Entry, Table, kind};
use replay::registries::Registries;
use replay::topology::{NodeId, Topology};

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
        require_free(machine, request.size.into())?;
        chosen.extend(machine.free_nodes());
        // The sort is stable: equally near processors stay in scan order.
        chosen.sort_by_key(|node| machine.topology().hops(NodeId(self.to), *node));
        chosen.truncate(request.size as usize);
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
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

/// Adds this strategy to the strategies of a program.
pub fn add_to(registries: Registries) -> Registries {
    let nearest = Entry::new("nearest", Nearest { to: 0 })
        .about("The free processors that are nearest to one processor.")
        .param("to", kind::integer(0..=u32::MAX), "number of that processor", |it| &mut it.to);
    let table = Table::new("allocator", [nearest]);
    registries.with_allocators(|all| all.with(table, AllocatorSpec::parse))
}

fn main() -> ExitCode {
    replay::cli::main_with(add_to(replay::strategies::standard().clone()))
}
