//! Candidates chosen by another program, which speaks JSON lines.
//!
//! The command is started by the shell, once. Each line is one JSON object; the program's
//! standard error is passed through.
//!
//! 1. It is told what is searched, on its standard input:
//!
//! ```json
//! {"begin":{"protocol":1,"objective":"mean_pairwise_l1","goal":"min","constraints":[],
//!  "parts":["KTH-SP2-1996-2"],"baseline":[575.3997],"scan_radius":[1,9],"factor":[0,100],
//!  "slack":[0],"evaluations":200,"seed":0}}
//! ```
//!
//! 2. It asks, on its standard output, for as many vectors (SR, AF, WF, BF) as it likes;
//!    those of one question are evaluated in parallel. A fifth number is the slack, else it
//!    is the first of `slack`:
//!
//! ```json
//! {"ask":[[2,13,20,6],[2,1,1,0,0.05]]}
//! ```
//!
//! 3. It is told what they come to, in the order of the question, and may ask again.
//!    `improvement_percent` is against no tie-breaking, larger is better; `values` are the
//!    objective by part; `excess_percent` is 0 if all constraints hold. Of a vector that
//!    was stopped early (`complete` is false) the improvement is an upper bound, and
//!    `values` is empty. `null` stands for a vector that was not evaluated, because it
//!    breaks no tie or the evaluations were used up:
//!
//! ```json
//! {"tell":[{"vector":[2,13,20,6],"slack":0,"improvement_percent":1.83,"values":[564.865],
//!  "excess_percent":0.0,"complete":true},null]}
//! ```
//!
//! 4. It ends by closing its standard output with exit code 0. When the evaluations are
//!    used up it is told `{"end":true}` instead of a next answer, its standard input is
//!    closed, and it has five seconds to end. The same if a thousand questions in a row hold
//!    nothing new. After Ctrl-C, when the time is up, or after a mistake of its own, it has less
//!    than one.
//!
//! It runs in a process group of its own: Ctrl-C does not reach it, and when the search ends,
//! in whatever way, the group is ended. A line has a longest length
//! ([`LONGEST_LINE`](replay_core::lines::LONGEST_LINE)), and what the program says too early waits in
//! its pipe.

mod program;

use serde_json::{Value, json};

use self::program::{Program, Said};
use super::{Archive, SearchError, SearchStrategy};
use crate::search::Candidate;
use crate::search::objective::Goal;
use crate::search::problem::{Evaluation, Extent, Problem};
use crate::search::space::Space;
use replay_core::allocator::centre::{Slack, SlackError, TieVector, TieVectorError};
use replay_core::cancel::{CancelToken, Cancelled};
use replay_core::sanitize::excerpt;

/// A program that asks. It is ended with the value.
pub struct External {
    command: String,
    program: Program,
    line: u64,
    asked: Option<Vec<Candidate>>,
    usual: Slack,
    stop: CancelToken,
}

impl External {
    /// Starts a command of the shell and tells it what is searched. It has said its last
    /// word when `stop` is raised.
    ///
    /// # Errors
    /// [`SearchError::Command`] if it cannot be started.
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
            asked: None,
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
        external.program.say(begin.to_string());
        Ok(external)
    }

    fn error(&self, problem: impl Into<String>) -> SearchError {
        SearchError::Protocol {
            command: self.command.clone(),
            line: self.line,
            problem: problem.into(),
        }
    }

    /// The next question; none at the end.
    fn listen(&mut self) -> Result<Vec<Candidate>, SearchError> {
        self.line += 1;
        let text = match self.program.hear()?.map_err(|e| self.error(e.to_string()))? {
            Said::Line(text) => text,
            Said::Nothing => return self.hang_up(),
        };
        let said = || excerpt(text.trim_end());
        let message: Value = serde_json::from_str(&text)
            .map_err(|e| self.error(format!("\"{}\" is not JSON: {e}", said())))?;
        let vectors = message["ask"].as_array().filter(|vectors| !vectors.is_empty());
        let vectors = vectors.ok_or_else(|| {
            self.error(format!("\"{}\" is not {{\"ask\":[[SR,AF,WF,BF],...]}}", said()))
        })?;
        // A program may ask for a million at once.
        let candidate =
            |vector| self.stop.check().map_err(Into::into).and_then(|()| self.candidate(vector));
        vectors.iter().map(candidate).collect()
    }

    /// The program has closed its standard output: it must end by itself, and well.
    fn hang_up(&mut self) -> Result<Vec<Candidate>, SearchError> {
        let status = self.program.hang_up()?.map_err(|e| self.error(e.to_string()))?;
        match status.success() {
            true => Ok(Vec::new()),
            false => Err(self.error(format!("it ended with {status}"))),
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
        if let Some(asked) = self.asked.take() {
            let known = |&one: &Candidate| self.stop.check().map(|()| archive.get(one).map(answer));
            let Ok(answers) = asked.iter().map(known).collect::<Result<Vec<_>, Cancelled>>() else {
                return Ok(Vec::new());
            };
            self.program.say(json!({"tell": answers}).to_string());
        }
        let candidates = match self.listen() {
            Err(SearchError::Cancelled(Cancelled)) => Vec::new(),
            // The user hears of a mistake at once.
            heard => heard.inspect_err(|_| self.program.dismiss())?,
        };
        self.asked = Some(candidates.clone());
        Ok(candidates)
    }
}
