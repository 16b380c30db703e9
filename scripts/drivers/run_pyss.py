"""Runs pyss on a file of jobs, and writes starts.txt: the start of each job. Used by scripts/peers.py.

Arguments: converted sources, file of jobs, output folder, scheduler, rule. With the rule `event`, pyss is unchanged.
With the rule `second`, decisions are taken once per second, after all completions and then all submissions of this second.
"""

import sys

sources, lines, folder, scheduler, rule = sys.argv[1:]
sys.path.insert(0, sources)
from base import prototype as base
from base.workload_parser import parse_lines
from schedulers.conservative_scheduler import ConservativeScheduler
from schedulers.easy_scheduler import EasyBackfillScheduler
from schedulers.fcfs_scheduler import FcfsScheduler
from schedulers.simulator import Simulator

base.JobEvent.__lt__ = lambda self, other: self._cmp_tuple < other._cmp_tuple  # Python 3 ignores __cmp__.
base.JobEvent.__hash__ = object.__hash__
if rule == "second":
    base.JobEvent.EVENTS_ORDER = [base.JobPredictionIsOverEvent, base.JobTerminationEvent, base.JobSubmissionEvent,
                                  base.JobStartEvent]
    def once(decide, kinds):
        def decide_once(self, now):
            events = simulator.event_queue._events_heap.contents
            more = events and events[0][0] == now and isinstance(events[0][1], kinds)
            return [] if more else decide(self, now)
        return decide_once
    end, submission = base.JobTerminationEvent, base.JobSubmissionEvent
    EasyBackfillScheduler._schedule_jobs = once(EasyBackfillScheduler._schedule_jobs, (end, submission))
    ConservativeScheduler._reschedule_jobs = once(ConservativeScheduler._reschedule_jobs, end)
chosen = {"fcfs": FcfsScheduler, "easy": EasyBackfillScheduler, "conservative": ConservativeScheduler}[scheduler]
with open(lines) as file:
    jobs = list(base._job_inputs_to_jobs(parse_lines(file), 100))
simulator = Simulator(jobs, 100, chosen(100))
simulator.run()
with open(folder + "/starts.txt", "w") as file:
    for job in simulator.terminated_jobs:
        file.write(f"{job.id} {job.start_to_run_at_time}\n")
