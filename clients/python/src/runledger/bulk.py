"""Many submissions at once: what came of each, and how far it all is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Callable, Optional

from .errors import RunledgerError
from .types import Result, SubmissionRequest


@dataclass(frozen=True)
class Outcome:
    """What a request of many came to: a result, or the error that its call has raised."""

    #: In the order of the requests, from 0.
    index: int
    request: SubmissionRequest
    result: Optional[Result]
    error: Optional[RunledgerError]

    def get(self) -> Result:
        """The result. Raises the error instead where there is one."""
        if self.result is None:
            raise self.error or RuntimeError("neither a result nor an error")
        return self.result


@dataclass(frozen=True)
class Progress:
    """How far many submissions are; what `on_progress` is called with after each that ends."""

    done: int
    #: None where the requests have no length.
    total: Optional[int]
    #: Of those done: without a result, or by the service's fault without a verdict.
    failed: int
    seconds: float

    @property
    def rate(self) -> float:
        """Submissions a second since the start."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> Optional[float]:
        """Seconds until the end at this rate; None where that is not known."""
        if self.total is None or self.done == 0:
            return None
        return (self.total - self.done) * self.seconds / self.done


OnProgress = Callable[[Progress], None]


class Counter:
    def __init__(self, total: Optional[int], on_progress: Optional[OnProgress]) -> None:
        self._total = total
        self._on_progress = on_progress
        self._start = time.monotonic()
        self._done = self._failed = 0

    def count(self, outcome: Outcome) -> None:
        self._done += 1
        if outcome.result is None or outcome.result["fault"] == "platform":
            self._failed += 1
        if self._on_progress is not None:
            seconds = time.monotonic() - self._start
            self._on_progress(Progress(self._done, self._total, self._failed, seconds))
