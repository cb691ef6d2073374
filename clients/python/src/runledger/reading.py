"""What the service has: records, streams, lists, receipts, blobs; and what ends or repeats a submission."""

from __future__ import annotations

import hashlib
import time
from typing import Any, AsyncGenerator, Dict, List, Optional, Sequence, Union, cast
from urllib.parse import quote, urlencode

from .caller import Caller, new_key
from .errors import RunledgerError, read_error
from .events import EventReader, StreamEvent
from .receipt import Receipt
from .retry import back_off
from .transport import BROKEN, Request, demand_printable
from .types import Language, LedgerEvent, ReceivedRequest, Result, ResultPage

#: A stream says something every 15 s.
_LONGEST_SILENCE = 45.0


def result_path(id: str, more: str = "") -> str:
    return f"api/result/{quote(id, safe='')}{more}"


class Reading(Caller):
    async def read(self, id: str) -> Result:
        """The record as it stands."""
        return cast(Result, await self.call("GET", result_path(id)))

    async def results(self, ids: Sequence[str]) -> List[Dict[str, Any]]:
        """Up to 100 records in their order; `{id, error, message}` in place of one that is not to be had."""
        answer = await self.call("GET", "api/results?ids=" + quote(",".join(ids), safe=""))
        return cast(List[Dict[str, Any]], answer["results"])

    async def list(self, **filter: Union[str, int, bool, None]) -> ResultPage:
        """A page of the account's own, newest first; `next_cursor` is the next one's `cursor`.

        Filters: status, verdict, language, tag, since, until, preview, limit (50), cursor.
        """
        words = {True: "true", False: "false"}
        query = {
            name: words[value] if isinstance(value, bool) else str(value)
            for name, value in filter.items()
            if value is not None
        }
        return cast(ResultPage, await self.call("GET", "api/submissions?" + urlencode(query)))

    async def languages(self) -> List[Language]:
        """What can be submitted now."""
        return cast(List[Language], (await self.call("GET", "api/languages"))["languages"])

    async def request(self, id: str) -> ReceivedRequest:
        """What was submitted, while it is kept; afterwards 410 `purged` is raised."""
        return cast(ReceivedRequest, await self.call("GET", result_path(id, "/request")))

    async def events(self, id: str) -> List[LedgerEvent]:
        """What happened to a submission, and to its webhook, oldest first."""
        answer = await self.call("GET", result_path(id, "/events"))
        return cast(List[LedgerEvent], answer["events"])

    async def receipt(self, id: str) -> Receipt:
        """A signed receipt of what has ended; `verify_receipt` checks it."""
        return cast(Receipt, await self.call("GET", result_path(id, "/receipt")))

    async def cancel(self, id: str) -> Result:
        """Takes a submission back. Returns its record as it stands; `wait` tells when what ran is dead."""
        return cast(Result, await self.call("POST", result_path(id, "/cancel")))

    async def rerun(self, id: str, *, idempotency_key: Optional[str] = None) -> str:
        """Submits what has ended once more, as it was, but without its webhook. Returns the new id."""
        answer = await self.call("POST", result_path(id, "/rerun"), idempotency_key=idempotency_key or new_key())
        return cast(str, answer["id"])

    async def put_blob(self, data: bytes) -> str:
        """Uploads a long input or expected output. Returns its name, when it is on disk."""
        sha256 = hashlib.sha256(data).hexdigest()
        await self.call("PUT", f"api/blobs/{sha256}", data=data)
        return sha256

    async def has_blob(self, sha256: str) -> bool:
        """Whether it was uploaded and is there still."""
        try:
            await self.call("HEAD", f"api/blobs/{quote(sha256, safe='')}")
        except RunledgerError as error:
            if error.status == 404:
                return False
            raise
        return True

    async def stream(self, id: str, *, last_event_id: Optional[str] = None) -> AsyncGenerator[StreamEvent, None]:
        """What happens until the end, as it happens, each event once; a connection that breaks is made anew.

        `last_event_id` is the `position` of an event: only what follows it.
        """
        position = last_event_id
        failed = 0
        while True:
            start = time.monotonic()
            before = position
            asked = 0.0
            has_failed = False
            try:
                connection, answer = await self._transport.open(_ask_stream(id, position))
                try:
                    if answer.status == 204:
                        return
                    if answer.status != 200:
                        retry_after = answer.headers.get("Retry-After")
                        raise read_error(answer.status, await answer.read(), retry_after)
                    reader = EventReader()
                    while piece := await answer.read_some():
                        for event in reader.feed(piece):
                            position = event["position"]
                            yield event
                            if event["event"] == "result":
                                return
                finally:
                    connection.close()
            except (RunledgerError, *BROKEN) as cause:
                error = cause if isinstance(cause, RunledgerError) else self._transport.describe(cause)
                is_enough = failed >= self._retries and position == before
                if not error.is_worth_another or is_enough:
                    raise error from cause.__cause__ if error is cause else cause
                asked = error.retry_after or 0
                has_failed = True
            # A connection that was open for a while and told nothing has not failed.
            is_vain = has_failed or time.monotonic() - start < 1
            failed = failed + 1 if is_vain and position == before else 0
            await self._transport.sleep(max(asked, back_off(failed)))


def _ask_stream(id: str, position: Optional[str]) -> Request:
    headers = {"Accept": "text/event-stream"}
    if position is not None:
        demand_printable("last_event_id", position)
        headers["Last-Event-ID"] = position
    return Request("GET", result_path(id, "/stream"), headers, None, _LONGEST_SILENCE)
