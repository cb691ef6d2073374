"""The blocking transport: http.client, and threads for what runs at once."""

from __future__ import annotations

import http.client
import os
import queue
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Awaitable, Callable, Coroutine, Mapping, Optional, TypeVar, cast

from .transport import Answer, Bulk, Connection, Request, Transport

T = TypeVar("T")


def block(work: Awaitable[T]) -> T:
    """Runs a coroutine of the core to its end. It never waits for a loop, as the transport blocks."""
    try:
        cast(Coroutine[Any, Any, T], work).send(None)
    except StopIteration as end:
        return cast(T, end.value)
    raise RuntimeError("the blocking transport has waited for a loop")


class _Answer(Answer):
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers = response.headers

    async def read(self) -> bytes:
        return self._response.read()

    async def read_some(self) -> bytes:
        return self._response.read1(65_536)

    @property
    def is_reusable(self) -> bool:
        return self._response.isclosed() and not self._response.will_close


class _Connection(Connection):
    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    async def send(self, request: Request, target: str, headers: Mapping[str, str]) -> Answer:
        self._connection.sock.settimeout(request.timeout)
        self._connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            self._connection.putheader(name, value)
        try:
            self._connection.endheaders(request.body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # what was refused early was answered
        return _Answer(self._connection.getresponse())

    def close(self) -> None:
        self._connection.close()


class BlockingTransport(Transport):
    _process = os.getpid()

    def take(self) -> Optional[Connection]:
        if os.getpid() != self._process:
            # After a fork the connections are the parent's; closed here they stay open there.
            self._process = os.getpid()
            self.close_kept()
        return super().take()

    async def connect(self, timeout: float) -> Connection:
        service = self.service
        connection = (
            http.client.HTTPConnection(service.host, service.port, timeout=timeout)
            if self.tls is None
            else http.client.HTTPSConnection(service.host, service.port, timeout=timeout, context=self.tls)
        )
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return _Connection(connection)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def bulk(self, concurrency: int) -> Bulk:
        return _Threads(concurrency)


class _Threads(Bulk):
    def __init__(self, concurrency: int) -> None:
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._executor = ThreadPoolExecutor(concurrency, thread_name_prefix="runledger")

    def start(self, work: Callable[[], Awaitable[Any]]) -> None:
        self._executor.submit(lambda: block(work())).add_done_callback(self._ended.put)

    async def take(self) -> Any:
        return self._ended.get().result()

    def stop(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)
