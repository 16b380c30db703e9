"""A simple hill climber for `replay search --strategy external`.

It shows the complete protocol: JSON lines, with one answer to each question.
"""

import json
import sys


def main():
    begin = json.loads(sys.stdin.readline())["begin"]
    low, high = begin["scan_radius"]
    best, value = [low, 1, 1, 1], float("-inf")
    question = [best]
    while True:
        print(json.dumps({"ask": question}), flush=True)
        answer = json.loads(sys.stdin.readline() or '{"end":true}')
        if "end" in answer:
            return
        complete = [one for one in answer["tell"] if one and one["complete"]]
        top = max(complete, key=lambda one: one["improvement_percent"], default=None)
        if top is None or top["improvement_percent"] <= value:
            return
        best, value = top["vector"], top["improvement_percent"]
        question = [
            [best[i] + (step if i == place else 0) for i in range(4)] for place in range(4) for step in (-1, 1)
        ]
        question = [v for v in question if low <= v[0] <= high and min(v) >= 0 and any(v[1:])]


if __name__ == "__main__":
    main()
