"""The clients: `AsyncClient` is the core itself over asyncio, `Client` runs the same to its end and returns."""

from __future__ import annotations

import asyncio
import ssl
from typing import (
    Any,
    AsyncGenerator,
    Dict,
    Generator,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

from .asynchronous import AsyncTransport
from .batch import SubmittedBatch
from .blocking import BlockingTransport, block
from .bulk import OnProgress, Outcome
from .core import Core
from .events import StreamEvent
from .receipt import Receipt
from .transport import parse_service_url
from .types import Language, LedgerEvent, ReceivedRequest, Result, ResultPage, SubmissionRequest

T = TypeVar("T")


class AsyncClient(Core):
    """For asyncio; of the loop that it is first used in. Takes what `Client` takes."""

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        retries: int = 5,
        timeout: float = 90.0,
        tls: Optional[ssl.SSLContext] = None,
        kept: int = 64,
    ) -> None:
        transport = AsyncTransport(parse_service_url(url), api_key, tls, kept)
        super().__init__(transport, retries, timeout)

    async def aclose(self) -> None:
        """Closes the connections that are kept."""
        self._transport.close()
        await asyncio.sleep(0)  # in which the loop closes them

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Client:
    """Calls a service. Threads may share one; every method raises RunledgerError."""

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        retries: int = 5,
        timeout: float = 90.0,
        tls: Optional[ssl.SSLContext] = None,
        kept: int = 64,
    ) -> None:
        """`url` is https:, http: only for this machine, as the key goes along. `retries` follow 429, 503 or
        no answer; `timeout` is the seconds of silence after which there is none; `kept` connections stay open.
        """
        transport = BlockingTransport(parse_service_url(url), api_key, tls, kept)
        self._core = Core(transport, retries, timeout)
        self._transport = transport

    def run(
        self,
        request: SubmissionRequest,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Result:
        """Submits and waits for the record; what failed by the service's fault is submitted again."""
        return block(self._core.run(request, idempotency_key=idempotency_key, timeout=timeout))

    def submit(self, request: SubmissionRequest, *, idempotency_key: Optional[str] = None) -> str:
        """Submits a program. Returns its id, when the service has it on disk."""
        return block(self._core.submit(request, idempotency_key=idempotency_key))

    def submit_batch(
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
        return block(
            self._core.submit_batch(
                requests,
                idempotency_key=idempotency_key,
                webhook_url=webhook_url,
                webhook_secret=webhook_secret,
            )
        )

    def run_batch(
        self,
        requests: Sequence[SubmissionRequest],
        *,
        idempotency_key: Optional[str] = None,
        webhook_url: Optional[str] = None,
        webhook_secret: Optional[str] = None,
    ) -> Generator[Outcome, None, None]:
        """Submits several at once, as many as the key's tier allows, and yields each once, as it ends, over
        connections that may break. A refused one comes with its error, and ends no other. To stop iterating
        takes nothing back: under the same key it goes on. `webhook_url` and `webhook_secret`, both or none, ask for
        one webhook when all have ended.
        """
        return _iterate(
            self._core.run_batch(
                requests,
                idempotency_key=idempotency_key,
                webhook_url=webhook_url,
                webhook_secret=webhook_secret,
            )
        )

    def wait(self, id: str, *, timeout: Optional[float] = None) -> Result:
        """The record when it is final. Raises WaitTimeout after `timeout` seconds; it goes on then."""
        return block(self._core.wait(id, timeout=timeout))

    def stream(self, id: str, *, last_event_id: Optional[str] = None) -> Generator[StreamEvent, None, None]:
        """What happens until the end, as it happens, each event once, over connections that may break."""
        return _iterate(self._core.stream(id, last_event_id=last_event_id))

    def map(
        self,
        requests: Iterable[SubmissionRequest],
        *,
        concurrency: int = 16,
        timeout: Optional[float] = None,
        on_progress: Optional[OnProgress] = None,
    ) -> Generator[Outcome, None, None]:
        """Runs many in `concurrency` threads, and tells each as it ends; takes requests no faster."""
        return _iterate(self._core.map(requests, concurrency=concurrency, timeout=timeout, on_progress=on_progress))

    def run_many(
        self,
        requests: Iterable[SubmissionRequest],
        *,
        concurrency: int = 16,
        timeout: Optional[float] = None,
        on_progress: Optional[OnProgress] = None,
    ) -> List[Result]:
        """Runs many, `concurrency` at once. Returns their records in order, or raises the first error."""
        return block(self._core.run_many(requests, concurrency=concurrency, timeout=timeout, on_progress=on_progress))

    def read(self, id: str) -> Result:
        """The record as it stands."""
        return block(self._core.read(id))

    def results(self, ids: Sequence[str]) -> List[Dict[str, Any]]:
        """Up to 100 records in their order; `{id, error, message}` in place of one that is not to be had."""
        return block(self._core.results(ids))

    def request(self, id: str) -> ReceivedRequest:
        """What was submitted, while it is kept."""
        return block(self._core.request(id))

    def events(self, id: str) -> List[LedgerEvent]:
        """What happened to a submission, oldest first."""
        return block(self._core.events(id))

    def receipt(self, id: str) -> Receipt:
        """A signed receipt of what has ended; `verify_receipt` checks it."""
        return block(self._core.receipt(id))

    def cancel(self, id: str) -> Result:
        """Takes a submission back. Returns its record as it stands; `wait` tells when what ran is dead."""
        return block(self._core.cancel(id))

    def rerun(self, id: str, *, idempotency_key: Optional[str] = None) -> str:
        """Submits what has ended once more. Returns the new id."""
        return block(self._core.rerun(id, idempotency_key=idempotency_key))

    def put_blob(self, data: bytes) -> str:
        """Uploads a long input or expected output. Returns its name, when it is on disk."""
        return block(self._core.put_blob(data))

    def has_blob(self, sha256: str) -> bool:
        """Whether it was uploaded and is there still."""
        return block(self._core.has_blob(sha256))

    def languages(self) -> List[Language]:
        """What can be submitted now."""
        return block(self._core.languages())

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        data: Optional[bytes] = None,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        """Asks for any path of the service, without a slash before it. Returns the JSON of the answer."""
        return block(
            self._core.call(
                method,
                path,
                body=body,
                data=data,
                idempotency_key=idempotency_key,
                headers=headers,
            )
        )

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Last, as within the class its name is no longer that of the type.
    def list(self, **filter: Union[str, int, bool, None]) -> ResultPage:
        """A page of the account's own, newest first; `next_cursor` is the next one's `cursor`.

        Filters: status, verdict, language, tag, since, until, preview, limit (50), cursor.
        """
        return block(self._core.list(**filter))


def _iterate(told: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    try:
        while True:
            try:
                yield block(told.__anext__())
            except StopAsyncIteration:
                return
    finally:
        block(told.aclose())
