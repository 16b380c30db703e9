import warnings

import numpy as np
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
    assert env.simulation.jobs["start"] == run.jobs["start"]
    assert np.isclose(total, -run.metrics["mean_wait"])


def test_a_choice_of_placements_keeps_the_schedule(trace):
    run = replay.run(trace, machine="10x10", sched="fcfs", alloc="mc1x1")[0]
    env = replay.gym.make(trace, machine="10x10", choose="placement")
    random = np.random.default_rng(0)
    episode(env, lambda mask: int(random.integers(3)))
    assert env.simulation.jobs["start"] == run.jobs["start"]
    first = episode(env, lambda mask: 0)
    assert np.isclose(first, -run.metrics["mean_pairwise_l1"])


def test_a_random_agent_is_reproduced_by_its_seed(trace):
    env = replay.gym.make(trace, machine="10x10", jobs=300)

    def starts(seed):
        env.action_space.seed(seed)
        episode(env, env.action_space.sample, seed=seed)
        return env.simulation.jobs["start"]

    assert starts(3) == starts(3) != starts(4)


def test_invalid_actions_are_reported(trace):
    env = replay.gym.make(trace, machine="10x10", jobs=20, window=4)
    _, info = env.reset(seed=0)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    *_, info = env.step(wrong)
    assert info["illegal"]
    with pytest.raises(replay.UsageError, match="choose"):
        replay.gym.make(trace, choose="both")
