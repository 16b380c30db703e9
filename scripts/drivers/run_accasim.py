"""Runs AccaSim on a file of jobs, and writes starts.txt: the start of each job. Used by scripts/peers.py.

Arguments: file of jobs, output folder, scheduler (fcfs, easy, or reject, which rejects all jobs), number of nodes.
"""

import collections
import collections.abc
import json
import os
import sys

# Python 3.10 removed these names; numpy and matplotlib of that time use them.
for name in collections.abc.__all__:
    setattr(collections, name, getattr(collections.abc, name))
from accasim.base.allocator_class import FirstFit
from accasim.base.event_class import EventManager
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut, JobVerification
from accasim.base.simulator_class import Simulator

jobs, folder, scheduler, nodes = sys.argv[1:]
os.chdir(folder)
system = {"groups": {"g": {"core": 100 // int(nodes)}}, "resources": {"g": int(nodes)},
          "equivalence": {"processor": {"core": 1}}, "system_name": "s", "start_time": 0}
with open("system.json", "w") as file:
    json.dump(system, file)
finish = EventManager.finish_event
with open("starts.txt", "w") as starts:
    def finish_event(self, job):
        finish(self, job)
        starts.write(f"{job.id} {job.start_time}\n")
    EventManager.finish_event = finish_event
    if scheduler == "reject":
        dispatcher = FirstInFirstOut(FirstFit(), job_check=JobVerification.REJECT)
    else:
        dispatcher = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}[scheduler](FirstFit())
    Simulator(jobs, "system.json", dispatcher, scheduling_output=False, statistics_output=False,
              show_statistics=False, RESULTS_FOLDER_PATH=".").start_simulation()
