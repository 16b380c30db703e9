//! Search strategy in an external program, which communicates through lines of JSON.
//!
//! The command is run once by the shell. Each line is a JSON object. The standard error of the program appears
//! unchanged on the standard error of this process.
//!
//! 1. The program receives the search problem on its standard input:
//!
//! ```json
//! {"begin":{"protocol":1,"objective":"mean_pairwise_l1","goal":"min","constraints":[],
//!  "parts":["KTH-SP2-1996-2"],"baseline":[575.3997],"scan_radius":[1,9],"factor":[0,100],
//!  "slack":[0],"evaluations":200,"seed":0}}
//! ```
//!
//! 2. The program requests any number of vectors (SR, AF, WF, BF) on its standard output. The vectors of one request
//!    are evaluated in parallel. An optional fifth number is the slack; the default is the first number in `slack`:
//!
//! ```json
//! {"ask":[[2,13,20,6],[2,1,1,0,0.05]]}
//! ```
//!
//! 3. The program receives the results in the order of the request, and may send another request. `improvement_percent`
//!    is relative to no tie-breaking, and larger values are better. `values` contains the objective for each part.
//!    `excess_percent` is 0 if all constraints are satisfied. For an evaluation that was stopped early (`complete` is
//!    false), the improvement is an upper bound, and `values` is empty. The result is `null` for a vector that was not
//!    evaluated because it breaks no ties, or because the limit of evaluations was reached:
//!
//! ```json
//! {"tell":[{"vector":[2,13,20,6],"slack":0,"improvement_percent":1.83,"values":[564.865],
//!  "excess_percent":0.0,"complete":true},null]}
//! ```
//!
//! 4. The program ends the search by closing its standard output and exiting with code 0. The program receives
//!    `{"end":true}` instead of an answer when the limit of evaluations is reached, or after a thousand consecutive
//!    requests without a new vector. The standard input of the program is then closed, and the program has five seconds
//!    to exit. After Ctrl-C, after a deadline, or after an invalid line, the program has less than one second to exit.
//!
//! The program runs in its own process group, so that it does not receive Ctrl-C. The process group is killed when the
//! search ends for any reason. The length of a line is limited to [`LONGEST_LINE`](replay_engine::lines::LONGEST_LINE).
//! Output that has not been read yet remains in the pipe.

mod program;

use serde_json::{Value, json};

use self::program::{MOST_UNREAD, Output, Program};
use super::{Archive, SearchError, SearchStrategy};
use crate::search::Candidate;
use crate::search::objective::Goal;
use crate::search::problem::{Evaluation, Extent, Problem};
use crate::search::space::Space;
use replay_engine::allocator::ties::{Slack, SlackError, TieVector, TieVectorError};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::sanitize::excerpt;

/// Search strategy in an external program. The program is stopped when the value is dropped.
pub struct External {
    command: String,
    program: Program,
    line: u64,
    requested: Option<Vec<Candidate>>,
    usual: Slack,
    stop: CancelToken,
}

impl External {
    /// Starts a shell command and sends the search problem to it. After `stop` is raised, the output of the command is
    /// ignored.
    ///
    /// # Errors
    /// [`SearchError::Command`] if the command cannot be started.
    pub fn start(
        command: &str,
        problem: &Problem,
        space: &Space,
        evaluations: Option<u64>,
        seed: u64,
        stop: &CancelToken,
    ) -> Result<Self, SearchError> {
        let error = |source| SearchError::Command { command: command.to_string(), source };
        let mut external = Self {
            command: command.to_string(),
            program: Program::start(command, json!({"end": true}).to_string(), stop)
                .map_err(error)?,
            line: 0,
            requested: None,
            usual: space.slacks[0],
            stop: stop.clone(),
        };
        let begin = json!({"begin": {
            "protocol": 1,
            "objective": problem.objective.to_string(),
            "goal": if problem.objective.goal == Goal::Max { "max" } else { "min" },
            "constraints": problem.constraints.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "parts": problem.parts.iter().map(|part| &part.name).collect::<Vec<_>>(),
            "baseline": problem.baseline_values(),
            "scan_radius": space.scan_radii.ends(),
            "factor": [0, space.largest],
            "slack": space.slacks.iter().map(|slack| slack.share()).collect::<Vec<_>>(),
            "evaluations": evaluations,
            "seed": seed,
        }});
        external.send(&begin)?;
        Ok(external)
    }

    /// Sends a message to the program.
    ///
    /// # Errors
    /// [`SearchError::Protocol`] if the program has not read earlier messages.
    fn send(&mut self, message: &Value) -> Result<(), SearchError> {
        match self.program.send_line(message.to_string()) {
            true => Ok(()),
            false => {
                self.program.shorten_grace();
                Err(self.error(format!(
                    "the program sends requests, but has not read the answers to earlier requests \
                     ({} MiB); read an answer after each request",
                    MOST_UNREAD >> 20
                )))
            }
        }
    }

    fn error(&self, problem: impl Into<String>) -> SearchError {
        SearchError::Protocol {
            command: self.command.clone(),
            line: self.line,
            problem: problem.into(),
        }
    }

    /// Reads the next request. Returns an empty list if the program makes no further request.
    fn next_request(&mut self) -> Result<Vec<Candidate>, SearchError> {
        self.line += 1;
        let text = match self.program.next_line()?.map_err(|e| self.error(e.to_string()))? {
            Output::Line(text) => text,
            Output::Closed => return self.wait_for_exit(),
        };
        let shown_line = || excerpt(text.trim_end());
        let message: Value = serde_json::from_str(&text)
            .map_err(|e| self.error(format!("\"{}\" is not JSON: {e}", shown_line())))?;
        let vectors = message["ask"].as_array().filter(|vectors| !vectors.is_empty());
        let vectors = vectors.ok_or_else(|| {
            self.error(format!("\"{}\" is not {{\"ask\":[[SR,AF,WF,BF],...]}}", shown_line()))
        })?;
        // A request may contain a million vectors, so cancellation is checked for each vector.
        let candidate =
            |vector| self.stop.check().map_err(Into::into).and_then(|()| self.candidate(vector));
        vectors.iter().map(candidate).collect()
    }

    /// Waits for the exit of the program, which has already closed its standard output. An exit code other than 0 is an
    /// error.
    fn wait_for_exit(&mut self) -> Result<Vec<Candidate>, SearchError> {
        let status = self.program.wait_for_exit()?.map_err(|e| self.error(e.to_string()))?;
        match status.success() {
            true => Ok(Vec::new()),
            false => Err(self.error(format!("the program ended with {status}"))),
        }
    }

    fn candidate(&self, value: &Value) -> Result<Candidate, SearchError> {
        let numbers = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let text: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let (vector, slack) = match &text[..] {
            [vector @ .., slack] if vector.len() == 4 => (vector, slack.parse()),
            [_, _, _, _] => (&text[..], Ok(self.usual)),
            _ => {
                return Err(
                    self.error(format!("{} is not [SR,AF,WF,BF]", excerpt(&value.to_string())))
                );
            }
        };
        let vector = vector.join(",").parse();
        Ok(Candidate {
            vector: vector.map_err(|e: TieVectorError| self.error(e.to_string()))?,
            slack: slack.map_err(|e: SlackError| self.error(e.to_string()))?,
        })
    }
}

fn answer(one: &Evaluation) -> Value {
    let TieVector { scan_radius, available, wall, border } = one.candidate.vector;
    json!({
        "vector": [i64::from(scan_radius), i64::from(available), i64::from(wall), i64::from(border)],
        "slack": one.candidate.slack.share(),
        "improvement_percent": one.improvement_percent,
        "values": one.values,
        "excess_percent": one.excess_percent,
        "complete": one.extent == Extent::Whole,
    })
}

impl SearchStrategy for External {
    fn ask(&mut self, archive: &Archive) -> Result<Vec<Candidate>, SearchError> {
        if let Some(requested) = self.requested.take() {
            let known = |&one: &Candidate| self.stop.check().map(|()| archive.get(one).map(answer));
            let Ok(answers) = requested.iter().map(known).collect::<Result<Vec<_>, Cancelled>>()
            else {
                return Ok(Vec::new());
            };
            self.send(&json!({"tell": answers}))?;
        }
        let candidates = match self.next_request() {
            Err(SearchError::Cancelled(Cancelled)) => Vec::new(),
            // An invalid line is reported immediately, so the program gets only the short time to exit.
            request => request.inspect_err(|_| self.program.shorten_grace())?,
        };
        self.requested = Some(candidates.clone());
        Ok(candidates)
    }
}
