"""Runs a workflow with so many sessions on the development server of Temporal, and prints the seconds that it took.

A session is an activity, which any worker could execute. For each line of the input, `parallel N` or `sequential N`, one run is
executed and one line is printed.
"""

import asyncio
import sys
import time
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

SLOTS = 64


@activity.defn
async def session(prompt: str) -> str:
    return f"A reply to {prompt}"


async def ask(prompt: str) -> str:
    return await workflow.execute_activity(session, prompt, start_to_close_timeout=timedelta(minutes=5))


@workflow.defn
class Parallel:
    @workflow.run
    async def run(self, sessions: int) -> int:
        return len(await asyncio.gather(*(ask(f"work on {number}") for number in range(sessions))))


@workflow.defn
class Sequential:
    @workflow.run
    async def run(self, sessions: int) -> int:
        for number in range(sessions):
            await ask(f"next {number}")
        return sessions


async def main() -> None:
    client = await connected(sys.argv[1])
    worker = Worker(
        client,
        task_queue="sessions",
        workflows=[Parallel, Sequential],
        activities=[session],
        max_concurrent_activities=SLOTS,
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    async with worker:
        print("ready", flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            kind, sessions = line.split()
            begin = time.perf_counter()
            flow = {"parallel": Parallel, "sequential": Sequential}[kind]
            name = f"{kind}-{time.time_ns()}"
            assert await client.execute_workflow(flow.run, int(sessions), id=name, task_queue="sessions") == int(sessions)
            print(time.perf_counter() - begin, flush=True)


async def connected(address: str) -> Client:
    # It logs to the standard output otherwise, where only the seconds belong.
    runtime = Runtime(telemetry=TelemetryConfig(logging=None))
    for _ in range(300):
        try:
            return await Client.connect(address, runtime=runtime)
        except RuntimeError:
            await asyncio.sleep(0.1)
    raise RuntimeError(f"nothing answers at {address}")


asyncio.run(main())
