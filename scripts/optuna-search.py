#!/usr/bin/env python3
"""Chooses the vectors of `replay search` with Optuna.

    pip install optuna
    replay search --trace KTH-SP2 --strategy external --evaluations 400 \\
        --ask-command 'python3 scripts/optuna-search.py --batch 8'

Implements the protocol of `--strategy external`: JSON lines on standard input and output, one
answer for each question. Optuna suggests scan radius, wall share WF / (AF + WF), border share
BF / (AF + WF + BF) and, if there are several slacks, the slack. Each suggestion is rounded to the nearest
vector of integers. The excess over a constraint is subtracted from the improvement.
"""

import argparse
import json
import sys
from math import gcd

import optuna


def nearest_vector(radius, wall, border, largest):
    """Returns the integer factors up to `largest` whose ratio is nearest to these shares."""
    factors = [(1 - wall) * (1 - border), wall * (1 - border), border]
    unit = [factor / max(factors) for factor in factors]

    def error(scale):
        return max(abs(part * scale - round(part * scale)) / scale for part in unit)

    scale = min(range(1, largest + 1), key=lambda scale: (error(scale), scale))
    whole = [round(part * scale) for part in unit]
    common = gcd(*whole)
    return [radius] + [factor // common for factor in whole]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=8, help="vectors per question, evaluated in parallel [8]")
    parser.add_argument("--trials", type=int, help="vectors to ask for [as many as the search evaluates, else 400]")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    begin = json.loads(sys.stdin.readline())["begin"]
    trials = options.trials or begin["evaluations"] or 400
    sampler = optuna.samplers.TPESampler(seed=begin["seed"], multivariate=True, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    asked = 0
    while asked < trials:
        batch = [study.ask() for _ in range(min(options.batch, trials - asked))]
        asked += len(batch)
        vectors = [
            nearest_vector(
                trial.suggest_int("radius", *begin["scan_radius"]),
                trial.suggest_float("wall", 0, 1),
                trial.suggest_float("border", 0, 1),
                begin["factor"][1],
            )
            + [trial.suggest_categorical("slack", begin["slack"]) if len(begin["slack"]) > 1 else begin["slack"][0]]
            for trial in batch
        ]
        print(json.dumps({"ask": vectors}), flush=True)
        answer = json.loads(sys.stdin.readline() or '{"end":true}')
        if "end" in answer:
            return
        for trial, result in zip(batch, answer["tell"]):
            if result is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, result["improvement_percent"] - result["excess_percent"])


if __name__ == "__main__":
    main()
