"""Batches: many submissions in one request, and each as it ends."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any, AsyncGenerator, Dict, List, Mapping, Optional, Sequence, Set, cast

from .bulk import Outcome
from .caller import encode, new_key
from .errors import RunledgerError, read_error
from .events import Splitter
from .reading import Reading
from .retry import back_off
from .transport import BROKEN, Request, demand_printable
from .types import Result, SubmissionRequest

_SILENT = (socket.timeout, TimeoutError, asyncio.TimeoutError)


class SubmittedBatch(List[Dict[str, Any]]):
    """For each item, in order, `{"id"}`, or what is wrong with it."""

    def __init__(self, items: Sequence[Dict[str, Any]], id: Optional[str]) -> None:
        super().__init__(items)
        #: The batch's, which its webhook tells; None without a webhook, and where no item was accepted.
        self.id = id


class Batches(Reading):
    async def submit_batch(
        self,
        requests: Sequence[SubmissionRequest],
        *,
        idempotency_key: Optional[str] = None,
        webhook_url: Optional[str] = None,
        webhook_secret: Optional[str] = None,
    ) -> SubmittedBatch:
        """Submits several at once. Returns a list: for each, in order, `{"id"}`, or what is wrong with it.

        `webhook_url` and `webhook_secret`, both or none, ask for one webhook when all have ended; the list's `id` is
        then that of the batch.
        """
        answer = await self.call(
            "POST",
            "api/submit/batch",
            body=_describe(requests, webhook_url, webhook_secret),
            idempotency_key=idempotency_key or new_key(),
        )
        return SubmittedBatch(answer["submissions"], answer.get("id"))

    async def run_batch(
        self,
        requests: Sequence[SubmissionRequest],
        *,
        idempotency_key: Optional[str] = None,
        webhook_url: Optional[str] = None,
        webhook_secret: Optional[str] = None,
    ) -> AsyncGenerator[Outcome, None]:
        """Submits several at once, as many as the key's tier allows, and yields each once, as it ends.

        A connection that breaks is made anew. A refused one comes with its error, and ends no other. To stop
        iterating takes nothing back: under the same key it goes on. `webhook_url` and `webhook_secret`, both or none,
        ask for one webhook when all have ended.
        """
        requests = list(requests)
        body = _describe(requests, webhook_url, webhook_secret)
        ask = _Ask(body, idempotency_key or new_key(), self._timeout)
        have: Set[int] = set()
        failed = 0
        while len(have) < len(requests):
            before = len(have)
            asked = 0.0
            is_vain = True
            try:
                connection, answer = await self._transport.open(ask.without(have))
                try:
                    if answer.status != 200:
                        raise read_error(answer.status, await answer.read(), answer.headers.get("Retry-After"))
                    lines = Splitter(b"\n")
                    while piece := await answer.read_some():
                        for line in lines.feed(piece):
                            outcome = _read_line(line, requests)
                            have.add(outcome.index)
                            yield outcome
                except _SILENT:
                    # Nothing has ended for a while. If the way is broken, that is found by asking again.
                    is_vain = False
                finally:
                    connection.close()
            except (RunledgerError, *BROKEN) as cause:
                error = cause if isinstance(cause, RunledgerError) else self._transport.describe(cause)
                is_enough = failed >= self._retries and len(have) == before
                if not error.is_worth_another or is_enough:
                    raise error from cause.__cause__ if error is cause else cause
                asked = error.retry_after or 0
            if len(have) < len(requests):
                failed = failed + 1 if is_vain and len(have) == before else 0
                await self._transport.sleep(max(asked, back_off(failed)))


class _Ask:
    def __init__(self, body: Mapping[str, Any], key: str, timeout: float) -> None:
        demand_printable("the idempotency key", key)
        self._body = encode(body)
        self._timeout = timeout
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/x-ndjson",
            "Idempotency-Key": key,
        }

    def without(self, have: Set[int]) -> Request:
        query = f"?have={_describe_ranges(have)}" if have else ""
        return Request("POST", f"api/submit/batch{query}", self._headers, self._body, self._timeout)


def _describe(
    requests: Sequence[SubmissionRequest], webhook_url: Optional[str], webhook_secret: Optional[str]
) -> Dict[str, Any]:
    webhook = {"webhook_url": webhook_url, "webhook_secret": webhook_secret}
    given = {name: value for name, value in webhook.items() if value is not None}
    return {"submissions": list(requests), **given}


def _read_line(line: bytes, requests: Sequence[SubmissionRequest]) -> Outcome:
    item: Dict[str, Any] = json.loads(line)
    index: int = item.pop("index")
    if "error" in item:
        return Outcome(index, requests[index], None, read_error(0, line, None))
    return Outcome(index, requests[index], cast(Result, item), None)


def _describe_ranges(numbers: Set[int]) -> str:
    """Such as `0-4,9`."""
    ranges: List[List[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
