"""Runs a workflow with so many sessions on DBOS Transact, and prints the seconds that it took.

A session is a workflow of its own in a queue, so that any process of the application could execute it. The arguments are the database and how
often it is looked into the queue, in seconds. For each line of the input, `parallel N` or `sequential N`, one run is executed and one line is
printed.
"""

import sys
import time

from dbos import DBOS

SLOTS = 64

DBOS(
    config={
        "name": "sessions",
        "system_database_url": sys.argv[1],
        "sys_db_pool_size": SLOTS,
        "log_level": "ERROR",
    }
)


@DBOS.workflow()
def session(prompt: str) -> str:
    return f"A reply to {prompt}"


@DBOS.workflow()
def parallel(sessions: int) -> int:
    handles = [DBOS.enqueue_workflow("sessions", session, f"work on {number}") for number in range(sessions)]
    return len([handle.get_result(polling_interval_sec=0.01) for handle in handles])


@DBOS.workflow()
def sequential(sessions: int) -> int:
    for number in range(sessions):
        DBOS.enqueue_workflow("sessions", session, f"next {number}").get_result(polling_interval_sec=0.01)
    return sessions


DBOS.launch()
DBOS.register_queue("sessions", worker_concurrency=SLOTS, polling_interval_sec=float(sys.argv[2]))
print("ready", flush=True)
for line in sys.stdin:
    kind, sessions = line.split()
    begin = time.perf_counter()
    assert {"parallel": parallel, "sequential": sequential}[kind](int(sessions)) == int(sessions)
    print(time.perf_counter() - begin, flush=True)
