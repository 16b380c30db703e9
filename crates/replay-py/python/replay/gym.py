"""Gymnasium environments in which an agent selects the waiting job that starts, or the processors of a job.

    env = replay.gym.make(trace, machine="10x10", jobs=200)
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))

The environments are adapters of `replay.Simulation`. They require gymnasium and numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ._allocator import Allocator, Allocators, listed
from ._checks import LARGEST_SEED, integer
from ._engine import UsageError
from ._simulation import Simulation
from ._trace import Trace, example

Observation = dict[str, NDArray[np.float32]]

# Observed times are scaled logarithmically, such that this time, about three years in seconds, becomes 1.
_LONGEST = 1e8


def make(
    trace: Trace | None = None,
    *,
    machine: str | Sequence[int] | None = None,
    choose: Literal["job", "placement"] = "job",
    alloc: Allocators | None = None,
    window: int = 16,
    jobs: int | None = None,
    seed: int = 0,
    render_mode: str | None = None,
) -> ReplayEnv:
    """Create an environment.

    With `choose="job"`, an action from 0 to `window` - 1 starts the waiting job at this position of the queue, and the
    action `window` waits until the next job ends or arrives. The sum of the rewards of an episode is the negative mean wait
    in seconds.

    With `choose="placement"`, jobs start in order of arrival (FCFS), and an action selects the allocator of the list
    `alloc` that places the head of the queue. The sum of the rewards of an episode is the negative mean pairwise L1
    distance in hops.

    An episode consists of `jobs` successive jobs of the trace, by default all. `reset` draws the first job with its seed.
    The default of `alloc` is `mc1x1` for `choose="job"`, and `mc1x1`, `hilbert-best-fit` and `random` for
    `choose="placement"`. `seed` is the seed of the allocators.
    """
    trace = example() if trace is None else Trace._checked(trace)
    if alloc is None:
        alloc = "mc1x1" if choose == "job" else ["mc1x1", "hilbert-best-fit", "random"]
    window = integer("window", window, 1)
    jobs = None if jobs is None else integer("jobs", jobs, 1)
    seed = integer("seed", seed, 0, LARGEST_SEED)
    return ReplayEnv(trace, machine, choose, listed(alloc), window, jobs, seed, render_mode)


class ReplayEnv(gymnasium.Env[dict[str, Any], Any]):
    """An environment of `make`.

    All values of observations are from 0 to 1. `free` is 1 for each free processor. `queue` has a row for each of the first
    waiting jobs: its size as a share of the machine, and its estimate and its current wait on a logarithmic scale. `ahead`
    is the share of the waiting jobs that are in the window. With `choose="placement"`, `proposals` is 1 for each processor
    that an allocator would choose.

    `info["action_mask"]` is 1 for each valid action. An invalid action is replaced by waiting, or by the first valid
    action if waiting is invalid; `info["illegal"]` is then true.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        trace: Trace,
        machine: str | Sequence[int] | None,
        choose: str,
        allocators: Sequence[str | Allocator],
        window: int,
        jobs: int | None,
        seed: int,
        render_mode: str | None,
    ) -> None:
        if choose not in ("job", "placement"):
            raise UsageError(f"choose: unknown value {choose!r}; use job or placement")
        if choose == "placement" and len(allocators) < 2:
            raise UsageError("alloc: choose='placement' requires a list of at least two allocators")
        self.render_mode = render_mode
        self._options: dict[str, Any] = {"machine": machine, "alloc": list(allocators), "seed": seed}
        self._trace, self._window, self._places = trace, window, choose == "placement"
        self._count = min(jobs or len(trace), len(trace))
        self._sim = self._simulation(0)
        # An episode begins with `reset`.
        self._started, self._over = 0, True
        self._proposals: list[list[int] | None] = []
        processors = self._sim.processors
        boxes: dict[str, tuple[int, ...]] = {"free": (processors,), "queue": (window, 3), "ahead": (1,)}
        if self._places:
            boxes["proposals"] = (len(allocators), processors)
        self._boxes = boxes
        self.observation_space = spaces.Dict({name: spaces.Box(0, 1, shape, np.float32) for name, shape in boxes.items()})
        self._actions = len(allocators) if self._places else window + 1
        self.action_space = spaces.Discrete(self._actions)

    def _simulation(self, first: int) -> Simulation:
        return Simulation(self._trace, first=first, count=self._count, **self._options)

    @property
    def simulation(self) -> Simulation:
        """Simulation of the current episode; `simulation.jobs` contains the start times."""
        return self._sim

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode at a random job of the trace, or at the job with index `options["first"]`, from 0."""
        super().reset(seed=seed)
        last = len(self._trace) - self._count
        drawn = int(self.np_random.integers(last + 1))
        self._sim = self._simulation(integer("first", (options or {}).get("first", drawn), 0, last))
        self._started, self._over = 0, False
        self._skip()
        return self._observation(), self._info(False)

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply an action and advance to the next instant at which an action is required."""
        if self._over:
            raise UsageError("step: no episode is running; call reset")
        action = integer("action", action, 0, self._actions - 1)
        mask = self.action_masks()
        illegal = not mask[action]
        if illegal:
            action = self._window if not self._places and mask[self._window] else int(mask.argmax())
        if self._places:
            processors = self._proposals[action]
            assert processors is not None
            reward = -float(self._sim.pairwise_l1(processors)) / self._count
            self._started += self._sim.start(0, processors)
        elif action == self._window:
            reward = -self._advance()
        else:
            reward, started = 0.0, self._sim.start(action)
            self._started += started
            illegal = illegal or not started
            if not started:
                # The allocator refused the job.
                reward = -self._advance()
        waited = self._skip()
        if not self._places:
            reward -= waited
        return self._observation(), float(reward), self._over, False, self._info(illegal)

    def action_masks(self) -> NDArray[np.int8]:
        """Return 1 for each valid action, 0 for each invalid action."""
        if self._places:
            return np.array([proposal is not None for proposal in self._proposals], dtype=np.int8)
        mask = np.zeros(self._window + 1, dtype=np.int8)
        for position, job in enumerate(self._sim.queue[: self._window]):
            mask[position] = job.size <= self._sim.free_count
        # Waiting is valid only if a job is running or will arrive.
        mask[self._window] = bool(self._sim.running) or self._pending
        return mask

    def render(self) -> str | None:
        """Return time, queue length and free processors in one line."""
        if self.render_mode != "ansi":
            return None
        sim = self._sim
        return f"{sim.now} s: {sim.waiting_count} waiting, {sim.free_count} of {sim.processors} processors free\n"

    @property
    def _pending(self) -> bool:
        return not self._over and self._started + self._sim.waiting_count < self._count

    def _advance(self) -> float:
        """Advance to the next instant. Return the wait of all jobs in the meantime, divided by the number of jobs."""
        before, waiting = self._sim.now, self._sim.waiting_count
        # Without a further instant, the episode ends.
        self._over = not self._sim.advance()
        return waiting * (self._sim.now - before) / self._count

    def _skip(self) -> float:
        """Advance while no action is possible. Return the wait of all jobs in the meantime, divided by the number of jobs."""
        waited = 0.0
        while not self._over:
            if self._started == self._count:
                self._over = True
                break
            queue = self._sim.queue[: 1 if self._places else self._window]
            if any(job.size <= self._sim.free_count for job in queue):
                if not self._places:
                    break
                self._proposals = self._sim.propose(0)
                if any(proposal is not None for proposal in self._proposals):
                    break
            waited += self._advance()
        return waited

    def _observation(self) -> Observation:
        sim = self._sim
        observation = {name: np.zeros(shape, np.float32) for name, shape in self._boxes.items()}
        observation["free"][sim.free] = 1
        queue = sim.queue
        for row, job in zip(observation["queue"], queue):
            row[:] = job.size / sim.processors, _scaled(job.estimate), _scaled(sim.now - job.submit)
        observation["ahead"][0] = min(self._window / max(len(queue), self._window), 1)
        if self._places and not self._over:
            for row, proposal in zip(observation["proposals"], self._proposals):
                row[proposal or []] = 1
        return observation

    def _info(self, illegal: bool) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "illegal": illegal, "now": self._sim.now}


def _scaled(seconds: int) -> float:
    return float(min(np.log1p(max(seconds, 0)) / np.log1p(_LONGEST), 1))
