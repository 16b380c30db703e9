use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::candidate::{Candidate, CandidateError};
use super::strategy::{List, Random, questions};
use super::{Constraint, Numbers, Objective, Problems, SearchError, Space};
use crate::compatibility::{reject_outages, reject_partitions};
use crate::grid::{GridFile, ParameterGrid};
use crate::sweep::Shard;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::ties::{Slack, TieVector};
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::workload::Shake;

/// Number of evaluations of [`Strategy::Random`] if the user specifies no number.
pub const RANDOM_EVALUATIONS: u64 = 500;
/// Number of evaluations that [`Strategy::Local`] makes after the evaluation of its starts, if the user specifies no
/// number.
const LOCAL_EVALUATIONS: u64 = 1000;
/// Largest number of combinations of the lists of a grid.
const MOST_POINTS: u64 = 100_000_000;

/// The settings of a search. [`Problems::new`] checks the settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchSpec {
    /// The searched traces, with one scheduler, one allocator and one seed.
    pub grid: GridFile,
    /// Names of test traces: the vectors that the search finds are tried on these traces.
    pub test: Vec<String>,
    /// The objective.
    pub objective: Objective,
    /// The constraints.
    pub constraints: Vec<Constraint>,
    /// Choice of the vectors.
    pub strategy: Strategy,
    /// Vectors that are evaluated in addition, after the search.
    pub given: Vec<Candidate>,
    /// Scan radii; `None` for the default.
    pub scan_radii: Option<Numbers>,
    /// Factors AF, WF and BF of the exhaustive grid; `None` for the default.
    pub factors: Option<[Numbers; 3]>,
    /// Largest factor of vectors that are not in the exhaustive grid; `None` for the default.
    pub largest: Option<u32>,
    /// Slacks in ascending order. There is at least one slack.
    #[serde(serialize_with = "slack_texts", deserialize_with = "slacks_of_texts")]
    pub slacks: Vec<Slack>,
    /// Largest number of evaluations, including those of the starts; `None` for the default of the strategy.
    pub evaluations: Option<u64>,
    /// Time after which the search stops.
    pub time: Option<Duration>,
    /// Share of each trace's duration that lies in the searched part. Vectors are tried on the rest of each trace.
    pub split: Option<f64>,
    /// Whether each trace is searched separately.
    pub each: bool,
    /// Whether scan radii are scaled with the width of the machine on which a vector is tried.
    pub scale_sr: bool,
    /// Perturbed copies that are searched instead of the traces.
    pub shake: Option<Shake>,
    /// Number of best vectors to print.
    pub top: u32,
    /// Number of best vectors that early stopping must keep; 0 stops no evaluation early, and `None` selects the
    /// default of the strategy.
    pub spare: Option<u32>,
}

/// Choice of the vectors of a search.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Strategy {
    /// Every ratio of the grid, once.
    Exhaustive,
    /// Ratios near the best ratio so far. The strategy first evaluates the listed starts or, if there are no starts, the
    /// vector 2,1,1,1, with the nearest scan radius to 2 that the settings allow.
    Local(Vec<Start>),
    /// Random ratios.
    Random,
    /// Vectors chosen by this shell command.
    External(String),
}

/// A starting point of the strategy [`Strategy::Local`]: the exhaustive grid, random ratios or a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The exhaustive grid.
    Exhaustive,
    /// Random ratios.
    Random,
    /// A candidate.
    Candidate(Candidate),
}

impl Strategy {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Local(_) => "local",
            Self::Random => "random",
            Self::External(_) => "external",
        }
    }

    /// Returns whether the strategy evaluates the exhaustive grid.
    fn takes_grid(&self) -> bool {
        match self {
            Self::Exhaustive => true,
            Self::Local(starts) => starts.contains(&Start::Exhaustive),
            Self::Random | Self::External(_) => false,
        }
    }

    /// Returns the default number of evaluations if the strategy does not end by itself.
    pub fn usual_evaluations(&self) -> u64 {
        match self {
            Self::Local(_) => LOCAL_EVALUATIONS,
            _ => RANDOM_EVALUATIONS,
        }
    }
}

impl Start {
    /// Names of the starts that are not vectors.
    pub const NAMES: [(&'static str, Self); 2] =
        [("exhaustive", Self::Exhaustive), ("random", Self::Random)];
}

impl FromStr for Start {
    type Err = CandidateError;

    fn from_str(text: &str) -> Result<Self, CandidateError> {
        let named = Self::NAMES.into_iter().find(|(name, _)| *name == text);
        named.map_or_else(|| text.parse().map(Self::Candidate), |(_, start)| Ok(start))
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhaustive => f.write_str("exhaustive"),
            Self::Random => f.write_str("random"),
            Self::Candidate(candidate) => candidate.fmt(f),
        }
    }
}

fn slack_texts<S: Serializer>(slacks: &[Slack], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(slacks.iter().map(ToString::to_string))
}

fn slacks_of_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Slack>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

fn refuse<T>(message: impl Into<String>) -> Result<T, SearchError> {
    Err(SearchError::Settings(message.into()))
}

impl SearchSpec {
    /// Returns the number of best vectors that early stopping must keep; `None` if no evaluation is stopped early.
    pub fn keep(&self) -> Option<usize> {
        let usual = match self.strategy {
            Strategy::Random => 10,
            // All strategies except `Random` print or use the value of every evaluation.
            _ => 0,
        };
        let keep = self.spare.unwrap_or(usual);
        (keep > 0).then_some(keep.max(self.top) as usize)
    }

    /// Returns the starts of the strategy [`Strategy::Local`]; empty for all other strategies.
    pub fn starts(&self) -> Vec<Start> {
        match &self.strategy {
            Strategy::Local(starts) if starts.is_empty() => {
                let [least, most] = self.space().scan_radii.ends();
                let scan_radius = 2.clamp(least, most);
                let vector = TieVector { scan_radius, available: 1, wall: 1, border: 1 };
                let slack = self.slacks.first().copied().unwrap_or_default();
                vec![Start::Candidate(Candidate { vector, slack })]
            }
            Strategy::Local(starts) => starts.clone(),
            Strategy::Exhaustive | Strategy::Random | Strategy::External(_) => Vec::new(),
        }
    }

    /// Returns the exhaustive grid.
    pub fn space(&self) -> Space {
        let usual = Space::johnson();
        Space {
            scan_radii: self.scan_radii.clone().unwrap_or(usual.scan_radii),
            factors: self.factors.clone().unwrap_or(usual.factors),
            largest: self.largest.unwrap_or(usual.largest),
            slacks: self.slacks.clone(),
        }
    }

    /// Returns the scheduler and the allocator of the search. `grid` is [the grid](Self::grid) with its names looked up.
    ///
    /// # Errors
    /// [`SearchError`] if the grid does not have one scheduler, one seed, and one allocator with a tie vector that is
    /// not set.
    pub fn strategies(
        &self,
        grid: &ParameterGrid,
    ) -> Result<(SchedulerSpec, AllocatorSpec), SearchError> {
        let ([scheduler], 1) = (&grid.schedulers[..], grid.strategies.len()) else {
            return refuse("a search takes one scheduler (--sched) and one allocator (--alloc)");
        };
        let allocator = grid.strategies.get(0)?;
        if !allocator.takes_tie() || allocator.tie().is_some() {
            // The grid has the name as the user typed it.
            let typed = grid.file.allocator.first().map(|entry| entry.name.clone());
            return Err(SearchError::NoTie(typed.unwrap_or_else(|| allocator.to_string())));
        }
        match &grid.seeds[..] {
            [_] => Ok((scheduler.clone(), allocator)),
            _ => refuse("--seed: a search takes one seed"),
        }
    }

    /// Checks all settings that do not depend on the jobs of the traces. `grid` is [the grid](Self::grid) with its names
    /// looked up.
    ///
    /// # Errors
    /// [`SearchError`] under the conditions of [`strategies`](Self::strategies), and [`SearchError::Settings`] for
    /// settings that contradict each other or are out of range.
    pub fn check(&self, grid: &ParameterGrid) -> Result<(), SearchError> {
        let GridFile { down, node_map, strict, partitions, .. } = &self.grid;
        reject_partitions(partitions.is_some()).or_else(|error| refuse(error.to_string()))?;
        reject_outages(down.is_some(), node_map.is_some(), *strict)
            .or_else(|error| refuse(error.to_string()))?;
        self.strategies(grid)?;
        if self.slacks.is_empty() || !self.slacks.is_sorted_by(|one, next| one < next) {
            return refuse("--slack: needs at least one slack, in ascending order");
        }
        if self.factors.is_some() && !self.strategy.takes_grid() {
            let grid = match self.strategy {
                Strategy::Local(_) => ", and --start exhaustive adds the grid",
                _ => "",
            };
            return refuse(format!(
                "--factors: this search has no grid; --largest limits the factors{grid}"
            ));
        }
        if self.largest.is_some() && self.strategy == Strategy::Exhaustive {
            return refuse(
                "--largest: this search evaluates only a grid; --factors sets the factors of the grid",
            );
        }
        if self.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
            return refuse("--split: the share must be between 0 and 1");
        }
        if let Strategy::Local(starts) = &self.strategy {
            for start in starts {
                let Start::Candidate(Candidate { vector, .. }) = start else { continue };
                if vector.factors().iter().any(|&factor| factor < 0) || vector.is_indifferent() {
                    return refuse(format!(
                        "--start {vector}: --strategy local needs factors that are not negative and break ties"
                    ));
                }
            }
        }
        self.check_space()
    }

    /// Checks the lists of the exhaustive grid.
    fn check_space(&self) -> Result<(), SearchError> {
        let space = self.space();
        let largest = |list: &Numbers| list.ends()[1];
        if let [0, _] = space.scan_radii.ends() {
            return refuse(
                "--sr: scan radii must be from 1 to 1,000,000; a scan radius of 0 breaks no tie",
            );
        }
        if space.factors.iter().all(|list| largest(list) == 0) {
            return refuse("--factors: all factors are 0, so no vector breaks a tie");
        }
        let mut lists = space.factors.iter().chain([&space.scan_radii]);
        if lists.any(|list| largest(list) > TieVector::MAX as u32) {
            return refuse("--sr, --factors: entries must not exceed 1,000,000");
        }
        if space.grid_points() > MOST_POINTS {
            return refuse(
                "--sr, --factors and --slack make a grid of more than 100,000,000 vectors",
            );
        }
        Ok(())
    }

    /// Checks that the search has shards that are independent of each other.
    ///
    /// # Errors
    /// [`SearchError::Settings`] if vectors depend on earlier results or on time, or if a trace can be read only once.
    pub fn check_shard(&self, shard: Shard) -> Result<(), SearchError> {
        if !matches!(self.strategy, Strategy::Exhaustive | Strategy::Random) {
            return refuse(format!(
                "--shard {shard}: {} chooses vectors by the results of earlier vectors and has no independent parts; \
                 exhaustive and random have shards, and searches with several --seed are independent",
                self.strategy.name()
            ));
        }
        if self.keep().is_some() {
            return refuse(format!(
                "--shard {shard}: early stopping depends on all earlier evaluations; add --spare 0"
            ));
        }
        if self.time.is_some() {
            return refuse(format!(
                "--shard {shard}: with --time the evaluated vectors depend on the computer; leave out --time"
            ));
        }
        match shard.problem(&self.grid.traces).or_else(|| shard.problem(&self.test)) {
            Some(problem) => refuse(problem),
            None => Ok(()),
        }
    }

    /// Returns all vectors of a search that has shards.
    ///
    /// # Errors
    /// [`SearchError`] under the conditions of [`check_shard`](Self::check_shard), or if the strategy fails.
    pub fn vectors(&self, problems: &Problems) -> Result<Vec<Candidate>, SearchError> {
        self.check_shard(Shard::WHOLE)?;
        match self.strategy {
            Strategy::Random => {
                let most = self.evaluations.unwrap_or(RANDOM_EVALUATIONS);
                questions(&mut Random::new(problems.free.clone(), problems.seed), Some(most))
            }
            _ => questions(&mut List::new(problems.grid.grid()), self.evaluations),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> SearchSpec {
        let start = |text: &str| text.parse::<Start>().expect("a start");
        let slack = |text: &str| text.parse::<Slack>().expect("a slack");
        SearchSpec {
            grid: GridFile { schedulers: vec!["easy".to_string()], ..GridFile::default() },
            test: Vec::new(),
            objective: "mean_pairwise_l1[weights=size]".parse().expect("an objective"),
            constraints: vec!["worst-class[jobs=20]<=1".parse().expect("a constraint")],
            strategy: Strategy::Local(vec![start("exhaustive"), start("2,13,20,6@0.1")]),
            given: Vec::new(),
            scan_radii: Some([1, 2, 5].into_iter().collect()),
            factors: None,
            largest: Some(7),
            slacks: vec![slack("0"), slack("0.1")],
            evaluations: None,
            time: Some(Duration::from_millis(1500)),
            split: Some(0.5),
            each: false,
            scale_sr: false,
            shake: Some(Shake::of(3)),
            top: 10,
            spare: None,
        }
    }

    #[test]
    fn writing_and_reading_settings_are_inverse() {
        let json = serde_json::to_value(local()).expect("JSON");
        let read: SearchSpec = serde_json::from_value(json.clone()).expect("settings");
        assert_eq!((&read.slacks, &read.strategy), (&local().slacks, &local().strategy));
        assert_eq!(serde_json::to_value(read).expect("JSON"), json);
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        type Change = fn(&mut SearchSpec);
        let problem = |change: Change| {
            let mut spec = local();
            change(&mut spec);
            let grid =
                ParameterGrid::resolve(&spec.grid, replay_strategies::standard()).expect("a grid");
            spec.check(&grid)
                .and_then(|()| spec.check_shard(Shard::WHOLE))
                .map_err(|e| e.to_string())
        };
        let changes: [(Change, &str); 8] = [
            (|_| (), "--shard 1/1: local chooses vectors by the results"),
            (|spec| spec.strategy = Strategy::Random, "add --spare 0"),
            (|spec| spec.strategy = Strategy::Exhaustive, "--largest: this search"),
            (
                |spec| spec.strategy = Strategy::Local(vec!["2,-1,1,1".parse().expect("a start")]),
                "not negative",
            ),
            (|spec| spec.scan_radii = Some([0].into_iter().collect()), "0 breaks no tie"),
            (|spec| spec.slacks.reverse(), "in ascending order"),
            (|spec| spec.split = Some(1.0), "between 0 and 1"),
            (|spec| spec.grid.schedulers.push("fcfs".to_string()), "one scheduler"),
        ];
        for (change, words) in changes {
            let problem = problem(change).expect_err(words);
            assert!(problem.contains(words), "{problem}");
        }
    }
}
