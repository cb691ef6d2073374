"""Benchmarks of generated programs: HumanEval, MBPP, LiveCodeBench, or tasks of one's own; the same shapes, report and
requests as those of the command line's `evaluate`, so that either goes on with what the other has begun."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Callable, Optional

from ..bulk import Outcome, Progress
from ..client import Client
from ..environment import client_of_environment
from .report import Report, ReportedSample, make_report
from .run import run_samples
from .sample import InvalidTasks, Lines, read_samples

__all__ = ["EvaluationProgress", "InvalidTasks", "Lines", "Report", "ReportedSample", "evaluate"]

#: Each is after five seconds at most: the service may be away for some ten minutes.
RETRIES = 120


@dataclass(frozen=True)
class EvaluationProgress(Progress):
    """How far an evaluation is."""

    passed: int


def evaluate(
    tasks: Lines,
    *,
    problems: Optional[Lines] = None,
    client: Optional[Client] = None,
    batch: int = 20,
    at_once: int = 4,
    on_progress: Optional[Callable[[EvaluationProgress], None]] = None,
) -> Report:
    """Runs the solutions of a benchmark: a file of JSON lines, or their objects (docs/evaluate.md has their shapes).

    `problems` has the tasks where `tasks` has solutions alone. Solutions run at low priority, `batch` of them a
    request, `at_once` requests at once. What fails by the service's fault is run again, five times at most, and never
    counted. Called again within a day, it goes on where it was. Without a `client` the service is that of
    RUNLEDGER_URL and RUNLEDGER_API_KEY, and may be away for some ten minutes; a `client` has its own `retries`.

    Raises InvalidTasks, before anything is submitted, with everything that is wrong in the lines; OSError for a file
    that cannot be read; RunledgerError where the service refuses a batch, or stays away.
    """
    if batch < 1 or at_once < 1:
        raise ValueError("batch and at_once must be at least 1")
    samples = read_samples(tasks, problems)
    start = time.monotonic()
    done = failed = passed = 0

    def count(outcome: Outcome) -> None:
        nonlocal done, failed, passed
        result = outcome.result
        done += 1
        failed += result is None or result["fault"] == "platform"
        passed += result is not None and result["verdict"] == "AC"
        if on_progress is not None:
            on_progress(EvaluationProgress(done, len(samples), failed, time.monotonic() - start, passed))

    with ExitStack() as stack:
        client = client or stack.enter_context(client_of_environment(retries=RETRIES))
        return make_report(run_samples(client, samples, batch, at_once, count))
