"""Programs to run, one or many. Written once: `AsyncClient` is this over asyncio, `Client` over what blocks."""

from __future__ import annotations

import time
from typing import AsyncGenerator, Dict, Iterable, List, Optional, Sized, cast

from .batch import Batches
from .bulk import Counter, OnProgress, Outcome
from .caller import new_key
from .errors import RunledgerError, WaitTimeout
from .reading import result_path
from .retry import Deadline, back_off
from .types import Result, SubmissionRequest

#: Tries of a submission beyond the attempts of the service's own.
PLATFORM_RETRIES = 2


class Core(Batches):
    """What a client does."""

    async def submit(self, request: SubmissionRequest, *, idempotency_key: Optional[str] = None) -> str:
        """Submits a program. Returns its id, when the service has it on disk."""
        answer = await self.call("POST", "api/submit", body=request, idempotency_key=idempotency_key or new_key())
        return cast(str, answer["id"])

    async def wait(self, id: str, *, timeout: Optional[float] = None) -> Result:
        """The record when it is final. Raises WaitTimeout after `timeout` seconds; it goes on then."""
        return await self._wait(id, Deadline(timeout))

    async def _wait(self, id: str, deadline: Deadline) -> Result:
        quick = 0
        while True:
            if deadline.left <= 0:
                raise WaitTimeout("the submission goes on", code="wait_timeout", id=id)
            start = time.monotonic()
            prefer = {"Prefer": deadline.hold(self._timeout)}
            answer = await self.call("GET", result_path(id, "?wait=true"), headers=prefer, deadline=deadline)
            result = cast(Result, answer)
            if result["status"] not in ("queued", "running"):
                return result
            # For a service that does not hold the request.
            quick = quick + 1 if time.monotonic() - start < 0.9 else 0
            if quick > 0:
                await self._transport.sleep(min(back_off(quick), deadline.left))

    async def run(
        self,
        request: SubmissionRequest,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Result:
        """Submits and waits for the record.

        What failed by the service's fault is submitted again, twice at most, unless it has the caller's own
        key, which names this one submission, whatever became of it.
        """
        deadline = Deadline(timeout)
        tried = 0
        while True:
            result = await self._run_once(request, idempotency_key or new_key(), deadline)
            is_over = result["fault"] != "platform" or idempotency_key is not None
            if is_over or tried >= PLATFORM_RETRIES:
                return result
            tried += 1

    async def _run_once(self, request: SubmissionRequest, key: str, deadline: Deadline) -> Result:
        try:
            answer = await self.call(
                "POST",
                "api/submit?wait=true",
                body=request,
                idempotency_key=key,
                headers={"Prefer": deadline.hold(self._timeout)},
                deadline=deadline,
            )
        except RunledgerError as error:
            if error.id is None:
                raise
            return await self._wait(error.id, deadline)
        if answer["status"] in ("queued", "running"):
            return await self._wait(answer["id"], deadline)
        return cast(Result, answer)

    async def map(
        self,
        requests: Iterable[SubmissionRequest],
        *,
        concurrency: int = 16,
        timeout: Optional[float] = None,
        on_progress: Optional[OnProgress] = None,
    ) -> AsyncGenerator[Outcome, None]:
        """Runs many, `concurrency` at once, and tells each as it ends; takes requests no faster than that.

        `timeout` is that of each. An error of one is told in its outcome, and ends no other.
        """
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        counter = Counter(len(requests) if isinstance(requests, Sized) else None, on_progress)
        bulk = self._transport.bulk(concurrency)
        running = 0

        async def attempt(index: int, request: SubmissionRequest) -> Outcome:
            try:
                return Outcome(index, request, await self.run(request, timeout=timeout), None)
            except RunledgerError as error:
                return Outcome(index, request, None, error)

        async def take() -> Outcome:
            outcome = cast(Outcome, await bulk.take())
            counter.count(outcome)
            return outcome

        try:
            for index, request in enumerate(requests):
                bulk.start(lambda index=index, request=request: attempt(index, request))  # type: ignore[misc]
                running += 1
                if running >= concurrency:
                    yield await take()
                    running -= 1
            while running > 0:
                yield await take()
                running -= 1
        finally:
            bulk.stop()

    async def run_many(
        self,
        requests: Iterable[SubmissionRequest],
        *,
        concurrency: int = 16,
        timeout: Optional[float] = None,
        on_progress: Optional[OnProgress] = None,
    ) -> List[Result]:
        """Runs many, `concurrency` at once. Returns their records in order, or raises the first error."""
        results: Dict[int, Result] = {}
        told = self.map(requests, concurrency=concurrency, timeout=timeout, on_progress=on_progress)
        try:
            async for outcome in told:
                results[outcome.index] = outcome.get()
        finally:
            await told.aclose()
        return [results[index] for index in range(len(results))]
