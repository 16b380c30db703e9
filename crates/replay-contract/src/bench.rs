//! An allocator on its machine.

use replay_engine::allocator::{
    Allocator, Bounds, Census, MachineEvent, Refusal, Request, RunSetup,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid, NodeId, Topology};

use crate::history::{Event, pick};
use crate::oracle::{Oracle, Unchecked};

/// A running job.
struct Job {
    nodes: Vec<NodeId>,
    /// Number of its units; 0 if the allocator counts no units.
    blocks: u32,
}

/// A machine, its allocator and the running jobs. Every method panics if the allocator violates the contract.
pub struct Bench<A: ?Sized, O = Unchecked> {
    /// The machine in its current state. Processors that a test occupies here belong to no job of the bench.
    pub machine: Machine,
    /// The allocator.
    pub allocator: Box<A>,
    /// The oracle.
    pub oracle: O,
    /// All requests since the begin of the run, with their outcomes.
    pub decisions: Vec<(Request, Result<Vec<NodeId>, Refusal>)>,
    /// Name of the allocator in messages.
    name: String,
    jobs: Vec<Job>,
    down: Vec<NodeId>,
    /// Requests that have been refused since processors became free, with the reasons.
    refused: Vec<(Request, Refusal)>,
}

impl<A: Allocator> Bench<A> {
    /// Returns a bench without jobs.
    pub fn new(machine: Machine, allocator: A) -> Self {
        Self::boxed(machine, Box::new(allocator))
    }

    /// Returns a bench without jobs on the grid with this name.
    pub fn on_grid(name: &str, allocator: impl FnOnce(&Grid) -> A) -> Self {
        let topology: Topology = name.parse().expect("a machine");
        let allocator = allocator(topology.grid().expect("a grid"));
        Self::new(Machine::new(topology), allocator)
    }
}

impl<A: Allocator + ?Sized> Bench<A> {
    /// Returns a bench without jobs.
    pub fn boxed(machine: Machine, allocator: Box<A>) -> Self {
        Self {
            machine,
            allocator,
            oracle: Unchecked,
            decisions: Vec::new(),
            name: String::new(),
            jobs: Vec::new(),
            down: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Compares every outcome with the outcome that `oracle` expects. The oracle must be in the state of the allocator.
    pub fn with_oracle<O: Oracle>(self, oracle: O) -> Bench<A, O> {
        let Self { machine, allocator, decisions, name, jobs, down, refused, .. } = self;
        Bench { machine, allocator, oracle, decisions, name, jobs, down, refused }
    }

    /// Sets the name of the allocator in messages.
    #[must_use]
    pub fn named(self, name: impl ToString) -> Self {
        Self { name: name.to_string(), ..self }
    }
}

impl<A: Allocator + ?Sized, O: Oracle> Bench<A, O> {
    /// Requests processors for a job. If the request is served, the job runs.
    ///
    /// # Errors
    /// The allocator's refusal.
    #[track_caller]
    pub fn start(&mut self, request: Request) -> Result<Vec<NodeId>, Refusal> {
        let busy_list = self.busy_list();
        let bounds = self.allocator.bounds(request);
        let expected = self.oracle.expect(&self.machine, request);
        let mut chosen = Vec::new();
        let outcome = self.allocator.allocate(&self.machine, request, &mut chosen);
        match outcome {
            Ok(()) => self.check_choice(request, &chosen),
            Err(refusal) => self.check_refusal(request, refusal, bounds, &chosen),
        }
        let outcome = outcome.map(|()| chosen);
        let asked = self.describe(request);
        assert!(expected.allows(&outcome), "{asked}: {outcome:?}, but expected {expected:?}");
        if let Ok(nodes) = &outcome {
            let length = nodes.len() as u64;
            assert!(bounds.servable, "{asked}: serves a request that is not servable");
            assert!(length <= bounds.max_processors, "{asked}: {length} exceed {bounds:?}");
            assert!(length >= bounds.min_processors_now.into(), "{asked}: {length} of {bounds:?}");
            let blocks = self.allocator.stats().census.map_or(0, |census| census.blocks);
            assert!(blocks > 0 || busy_list.is_none(), "{asked}: no units");
            assert_eq!(self.busy_list(), busy_list.map(|list| list + blocks), "{asked}: busy list");
            self.machine.occupy(nodes);
            self.jobs.push(Job { nodes: nodes.clone(), blocks });
        } else {
            assert_eq!(self.busy_list(), busy_list, "{asked}: busy list after a refusal");
        }
        self.decisions.push((request, outcome.clone()));
        outcome
    }

    fn describe(&self, request: Request) -> String {
        format!("{} on {}: {request:?}", self.name, self.machine.topology())
    }

    #[track_caller]
    fn check_choice(&self, request: Request, chosen: &[NodeId]) {
        let asked = self.describe(request);
        let capabilities = self.allocator.capabilities();
        let busy = chosen.iter().find(|&&node| !self.machine.is_free(node));
        assert!(busy.is_none(), "{asked}: {busy:?} is not free");
        let mut distinct = chosen.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), chosen.len(), "{asked}: a processor is chosen twice");
        let reduction = self.allocator.stats().reduction;
        assert!(reduction.is_none() || capabilities.folds, "{asked}: folds undeclared");
        let size = reduction.map_or(request, |reduction| reduction.request).size as usize;
        assert!(chosen.len() >= size, "{asked}: only {} processors", chosen.len());
        assert!(!capabilities.keeps_schedule || chosen.len() == size, "{asked}: rounds up");
        let earlier = self.refused.iter().find(|(refused, _)| *refused == request);
        let lasts = |refusal: Refusal| match refusal {
            Refusal::TooFewFree => true,
            Refusal::Fragmented => capabilities.refusals_last,
            _ => false,
        };
        assert!(
            earlier.is_none_or(|&(_, refusal)| !lasts(refusal)),
            "{asked}: served after {earlier:?} although no processor has become free"
        );
    }

    #[track_caller]
    fn check_refusal(
        &mut self,
        request: Request,
        refusal: Refusal,
        bounds: Bounds,
        chosen: &[NodeId],
    ) {
        let asked = self.describe(request);
        assert!(chosen.is_empty(), "{asked}: a refused request gets processors");
        let capabilities = self.allocator.capabilities();
        let is_too_large = request.size as usize > self.machine.free_count();
        match refusal {
            Refusal::TooFewFree => {
                assert!(!capabilities.keeps_schedule || is_too_large, "{asked}: {refusal:?}");
            }
            Refusal::Fragmented => {
                assert!(!capabilities.keeps_schedule, "{asked}: {refusal:?}");
                // The reason is free for a request that even the empty machine cannot serve.
                let is_servable =
                    bounds.servable && bounds.max_processors <= self.machine.processors() as u64;
                let is_wrong = is_too_large && is_servable && !capabilities.folds;
                assert!(!is_wrong, "{asked}: {refusal:?}");
            }
            Refusal::Postponed { until } => {
                assert!(until > request.times.now, "{asked}: postponed until {until}");
            }
            Refusal::Cancelled(_) => panic!("{asked}: the run was not cancelled"),
        }
        let mut again = Vec::new();
        let repeated = self.allocator.allocate(&self.machine, request, &mut again);
        assert_eq!((repeated, again.len()), (Err(refusal), 0), "{asked}: repeated");
        self.refused.push((request, refusal));
    }

    /// Starts a job that must be served, and returns its processors.
    #[track_caller]
    pub fn serve(&mut self, request: Request) -> Vec<NodeId> {
        let outcome = self.start(request);
        outcome.unwrap_or_else(|refusal| panic!("{}: {refusal}", self.describe(request)))
    }

    /// Ends the job with these processors.
    #[track_caller]
    pub fn end(&mut self, nodes: &[NodeId]) {
        let job = self.jobs.iter().position(|job| job.nodes == nodes).expect("the job runs");
        self.end_at(job);
    }

    #[track_caller]
    fn end_at(&mut self, job: usize) -> Vec<NodeId> {
        let Job { nodes, blocks } = self.jobs.swap_remove(job);
        let busy_list = self.busy_list();
        self.machine.release(&nodes);
        self.report(MachineEvent::Released(&nodes));
        self.refused.clear();
        assert_eq!(
            self.busy_list(),
            busy_list.map(|list| list - blocks),
            "{}: busy list after an end",
            self.name
        );
        nodes
    }

    fn report(&mut self, event: MachineEvent<'_>) {
        self.allocator.on_event(&self.machine, event);
        self.oracle.on_event(&self.machine, event);
    }

    /// Takes free processors out of service.
    #[track_caller]
    pub fn withdraw(&mut self, nodes: &[NodeId]) {
        let is_supported = self.allocator.capabilities().supports_outages;
        assert!(is_supported, "{}: outages are not supported", self.name);
        self.machine.withdraw(nodes);
        self.down.extend(nodes);
        self.report(MachineEvent::NodesDown(nodes));
    }

    /// Returns processors to service.
    pub fn restore(&mut self, nodes: &[NodeId]) {
        self.machine.restore(nodes);
        self.down.retain(|node| !nodes.contains(node));
        self.report(MachineEvent::NodesUp(nodes));
        self.refused.clear();
    }

    /// Runs a history. `request` returns the request of a job from two numbers in 0..1; `step` checks the state after
    /// each event.
    #[track_caller]
    pub fn run(
        &mut self,
        history: &[Event],
        request: impl Fn(&Machine, f64, f64) -> Request,
        mut step: impl FnMut(&mut Self),
    ) {
        for &event in history {
            match event {
                Event::End(share) if !self.jobs.is_empty() => {
                    self.end_at(pick(share, self.jobs.len()));
                }
                Event::End(_) => {}
                Event::Down(first, count) => {
                    let free: Vec<NodeId> = self.machine.free_nodes().collect();
                    let from = pick(first, free.len());
                    self.withdraw(&free[from..free.len().min(from + 1 + pick(count, 6))]);
                }
                Event::Up(share) => {
                    let back = self.down[pick(share, self.down.len())..].to_vec();
                    self.restore(&back);
                }
                Event::Start(a, b) => {
                    let _ = self.start(request(&self.machine, a, b));
                }
            }
            step(self);
        }
    }

    /// Ends all jobs and returns all processors to service. Then no processor is busy and no unit is allocated.
    #[track_caller]
    pub fn end_all(&mut self) {
        while !self.jobs.is_empty() {
            self.end_at(self.jobs.len() - 1);
        }
        let down = std::mem::take(&mut self.down);
        if !down.is_empty() {
            self.restore(&down);
        }
        assert_eq!(self.machine.free_count(), self.machine.processors());
        let busy_list = self.busy_list();
        assert!(matches!(busy_list, None | Some(0)), "{}: {busy_list:?} units", self.name);
    }

    /// Ends all jobs, and checks that one job, with these sides if it has a shape, then gets the whole machine; if jobs
    /// share hosts, one job gets a slot of every host.
    #[track_caller]
    pub fn gets_whole(&mut self, sides: Option<[u16; 3]>) {
        self.end_all();
        let size = match self.allocator.capabilities().shares_hosts {
            true => self.machine.topology().processors(),
            false => self.machine.processors(),
        };
        let nodes = self.serve(Request::shaped(size as u32, sides));
        assert!(
            self.allocator.capabilities().folds || nodes.len() == size,
            "{} nodes",
            nodes.len()
        );
        self.end(&nodes);
    }

    /// Begins another run on an empty machine.
    #[track_caller]
    pub fn begin(&mut self) {
        self.allocator.begin(&RunSetup::default()).expect("the allocator works without jobs");
        self.oracle.begin();
        assert!(self.allocator.stats().census.is_none_or(|census| census == Census::default()));
        self.machine = Machine::new(self.machine.topology().clone());
        self.jobs.clear();
        self.down.clear();
        self.refused.clear();
        self.decisions.clear();
    }

    /// Returns the number of running jobs.
    pub fn running(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the processors of the running jobs.
    pub fn held(&self) -> impl Iterator<Item = &[NodeId]> {
        self.jobs.iter().map(|job| &job.nodes[..])
    }

    /// Checks that the last request, if more processors were requested than are free, was refused for this reason, even
    /// if no machine could serve it.
    #[track_caller]
    pub fn refuses_by_count(&self) {
        if let Some((request, Err(refusal))) = self.decisions.last() {
            let is_too_large = request.size as usize > self.machine.free_count();
            assert!(
                !is_too_large || *refusal == Refusal::TooFewFree,
                "{}",
                self.describe(*request)
            );
        }
    }

    /// Returns the allocator's units and operations.
    pub fn census(&self) -> Census {
        self.allocator.stats().census.expect("the allocator counts units")
    }

    /// Returns the number of units in the last allocation and of all allocated units.
    pub fn units(&self) -> (u32, u32) {
        let Census { blocks, busy_list, .. } = self.census();
        (blocks, busy_list)
    }

    fn busy_list(&self) -> Option<u32> {
        self.allocator.stats().census.map(|census| census.busy_list)
    }

    /// Returns the machine's grid.
    pub fn grid(&self) -> &Grid {
        self.machine.topology().grid().expect("a grid")
    }

    /// Returns the positions of processors of a grid.
    pub fn coords(&self, nodes: &[NodeId]) -> Vec<Coord> {
        nodes.iter().map(|&node| self.grid().coord(node)).collect()
    }
}
