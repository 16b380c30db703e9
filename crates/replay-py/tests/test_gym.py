import warnings

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import replay  # noqa: E402


def episode(env, policy, **reset):
    observation, info = env.reset(**reset)
    total, done = 0.0, False
    while not done:
        observation, reward, done, truncated, info = env.step(policy(info["action_mask"]))
        assert env.observation_space.contains(observation) and not truncated
        total += reward
    return total


@pytest.mark.parametrize("choose", ["job", "placement"])
def test_the_checker_of_gymnasium_passes(trace, choose):
    env = replay.gym.make(trace, machine="10x10", choose=choose, jobs=50, render_mode="ansi")
    with warnings.catch_warnings():
        # The checker warns that the environment has no spec, because traces are objects.
        warnings.simplefilter("ignore", UserWarning)
        check_env(env)


def test_fcfs_as_a_policy_is_fcfs(trace):
    env = replay.gym.make(trace, machine="10x10", window=4)
    total = episode(env, lambda mask: 0 if mask[0] else 4)
    run = replay.run(trace, machine="10x10", sched="fcfs", alloc="mc1x1")[0]
    assert env.simulation.jobs["start"].equals(run.jobs["start"])
    assert np.isclose(total, -run.metrics["mean_wait"])


def test_a_choice_of_placements_keeps_the_schedule(trace):
    run = replay.run(trace, machine="10x10", sched="fcfs", alloc="mc1x1")[0]
    env = replay.gym.make(trace, machine="10x10", choose="placement")
    random = np.random.default_rng(0)
    episode(env, lambda mask: int(random.integers(3)))
    assert env.simulation.jobs["start"].equals(run.jobs["start"])
    first = episode(env, lambda mask: 0)
    assert np.isclose(first, -run.metrics["mean_pairwise_l1"])


def test_a_random_agent_is_reproduced_by_its_seed(trace):
    env = replay.gym.make(trace, machine="10x10", jobs=300)

    def starts(seed):
        env.action_space.seed(seed)
        episode(env, env.action_space.sample, seed=seed)
        return env.simulation.jobs["start"].to_list()

    assert starts(3) == starts(3) != starts(4)


def test_invalid_actions_are_reported(trace):
    env = replay.gym.make(trace, machine="10x10", jobs=20, window=4)
    _, info = env.reset(seed=0)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    *_, info = env.step(wrong)
    assert info["illegal"]
    with pytest.raises(replay.UsageError, match="choose"):
        replay.gym.make(trace, choose="both")


def test_episodes_begin_at_jobs_of_the_trace(trace):
    few = replay.Trace.from_arrow(pa.table({"submit": range(40), "run": [9] * 40, "size": [30] * 40}), processors=100)
    env = replay.gym.make(few, machine="10x10", jobs=6)
    episode(env, lambda mask: int(mask.argmax()), options={"first": 34})
    assert env.simulation.jobs["job"].to_list() == list(range(35, 41))
    for first in (35, 38, 40, -1):
        with pytest.raises(replay.UsageError, match=f"first: {first} is not an integer from 0 to 34"):
            env.reset(options={"first": first})


def test_wrong_values_are_named(trace):
    for name, value in {"window": 0, "jobs": 0, "seed": -1}.items():
        with pytest.raises(replay.UsageError, match=f"{name}: {value} is not an integer"):
            replay.gym.make(trace, machine="10x10", **{name: value})
    for name, value in {"window": -1, "jobs": -5}.items():
        with pytest.raises(replay.UsageError, match=f"{name}: {value} is not an integer of at least 1"):
            replay.gym.make(trace, machine="10x10", **{name: value})
    with pytest.raises(TypeError, match="window: 'x' is not an integer"):
        replay.gym.make(trace, machine="10x10", window="x")
    env = replay.gym.make(trace, machine="10x10", jobs=3, window=4)
    with pytest.raises(replay.UsageError, match="call reset"):
        env.step(0)
    env.reset(seed=0)
    for action in (-1, 5):
        with pytest.raises(replay.UsageError, match=f"action: {action} is not an integer from 0 to 4"):
            env.step(action)
    episode(env, lambda mask: int(mask.argmax()))
    with pytest.raises(replay.UsageError, match="call reset"):
        env.step(0)
