"""The asyncio transport: HTTP/1.1 over asyncio's streams, a task for each that runs at once."""

from __future__ import annotations

import asyncio
import http.client
import io
from typing import Any, Awaitable, Callable, Mapping, Set

from .transport import Answer, Bulk, Connection, Request, Transport


class _Answer(Answer):
    def __init__(self, reader: asyncio.StreamReader, request: Request, head: bytes) -> None:
        first, _, rest = head.partition(b"\r\n")
        version, _, status = first.decode("latin-1").partition(" ")
        if not version.startswith("HTTP/1.") or not status[:3].isdigit():
            raise http.client.BadStatusLine(repr(first[:80]))
        self._reader = reader
        self._timeout = request.timeout
        self.status = int(status[:3])
        self.headers = http.client.parse_headers(io.BytesIO(rest))
        ends = self.headers.get("Connection", "").lower()
        self._is_kept = version != "HTTP/1.0" and ends != "close"
        self._is_chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
        #: Bytes to come of the body, or of its present chunk; None: until the connection ends.
        self._left: int | None = 0
        if request.method == "HEAD" or self.status in (204, 304):
            self._is_chunked = False
        elif not self._is_chunked:
            length = self.headers.get("Content-Length")
            self._left = None if length is None else _parse_size(length.encode(), 10)
        self._is_over = self._left == 0 and not self._is_chunked

    async def read(self) -> bytes:
        return await asyncio.wait_for(self._read_all(), self._timeout)

    async def read_some(self) -> bytes:
        return await asyncio.wait_for(self._read_some(), self._timeout)

    @property
    def is_reusable(self) -> bool:
        return self._is_over and self._is_kept and self._left is not None

    async def _read_all(self) -> bytes:
        pieces = []
        while piece := await self._read_some():
            pieces.append(piece)
        return b"".join(pieces)

    async def _read_some(self) -> bytes:
        if self._is_over:
            return b""
        if self._is_chunked and self._left == 0:
            self._left = _parse_size(await self._line(), 16)
            if self._left == 0:
                while await self._line():
                    pass  # trailers
                self._is_over = True
                return b""
        piece = await self._reader.read(65_536 if self._left is None else min(self._left, 65_536))
        if self._left is None:
            self._is_over = piece == b""
            return piece
        if piece == b"":
            raise EOFError
        self._left -= len(piece)
        if self._left == 0:
            if self._is_chunked:
                await self._line()
            else:
                self._is_over = True
        return piece

    async def _line(self) -> bytes:
        return (await _read_until(self._reader, b"\r\n"))[:-2]


async def _read_until(reader: asyncio.StreamReader, end: bytes) -> bytes:
    try:
        return await reader.readuntil(end)
    except asyncio.LimitOverrunError as error:
        raise http.client.LineTooLong("line") from error


def _parse_size(text: bytes, base: int) -> int:
    try:
        return int(text.split(b";")[0], base)
    except ValueError as error:
        raise http.client.HTTPException("this is no HTTP") from error


class _Connection(Connection):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, request: Request, target: str, headers: Mapping[str, str]) -> Answer:
        lines = [f"{request.method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        return await asyncio.wait_for(self._exchange(request, head + (request.body or b"")), request.timeout)

    async def _exchange(self, request: Request, data: bytes) -> Answer:
        self._writer.write(data)
        try:
            await self._writer.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # what was refused early was answered
        while True:
            head = await _read_until(self._reader, b"\r\n\r\n")
            answer = _Answer(self._reader, request, head)
            if answer.status >= 200:
                return answer

    def close(self) -> None:
        self._writer.close()


class AsyncTransport(Transport):
    async def connect(self, timeout: float) -> Connection:
        service = self.service
        connecting = asyncio.open_connection(service.host, service.port, ssl=self.tls)
        return _Connection(*await asyncio.wait_for(connecting, timeout))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def bulk(self, concurrency: int) -> Bulk:
        return _Tasks()


class _Tasks(Bulk):
    def __init__(self) -> None:
        self._ended: asyncio.Queue[asyncio.Future[Any]] = asyncio.Queue()
        self._running: Set[asyncio.Future[Any]] = set()

    def start(self, work: Callable[[], Awaitable[Any]]) -> None:
        task = asyncio.ensure_future(work())
        self._running.add(task)
        task.add_done_callback(self._ended.put_nowait)

    async def take(self) -> Any:
        task = await self._ended.get()
        self._running.discard(task)
        return task.result()

    def stop(self) -> None:
        for task in self._running:
            task.cancel()
