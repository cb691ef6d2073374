"""One request and its answer over kept connections: what the blocking and the asyncio transport share."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import socket
import ssl
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from email.message import Message
from typing import Any, Awaitable, Callable, Deque, Dict, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from .errors import Unreachable

VERSION = "0.1.0"
#: What says that there is no answer, or only a part of one.
BROKEN = (OSError, EOFError, http.client.HTTPException, asyncio.TimeoutError)
#: What a kept connection says whose other end has gone.
_STALE = (ConnectionError, EOFError, http.client.HTTPException)


@dataclass(frozen=True)
class Service:
    """Where the service is. Built by `parse_service_url`."""

    secure: bool
    host: str
    port: int
    #: With the final slash that paths need.
    path: str
    origin: str


@dataclass(frozen=True)
class Request:
    method: str
    #: Below the service's own path, without a slash before it.
    path: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    #: Seconds of silence after which there is no answer.
    timeout: float


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Message
    body: bytes


class Answer(ABC):
    """An answer whose body has yet to be read."""

    status: int
    headers: Message

    @abstractmethod
    async def read(self) -> bytes:
        """All that is left of the body."""

    @abstractmethod
    async def read_some(self) -> bytes:
        """What has come, at least a byte; nothing at the end."""

    @property
    @abstractmethod
    def is_reusable(self) -> bool:
        """Whether the connection can be kept, once all was read."""


class Connection(ABC):
    @abstractmethod
    async def send(self, request: Request, target: str, headers: Mapping[str, str]) -> Answer:
        """Sends it; resolves when the answer's head is there."""

    @abstractmethod
    def close(self) -> None: ...


def parse_service_url(url: str) -> Service:
    """Raises ValueError when it is no URL, or would send the key in the clear."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_own_machine = re.fullmatch(r"localhost|127(\.\d{1,3}){3}|::1", host) is not None
    if parts.scheme != "https" and not (parts.scheme == "http" and is_own_machine):
        raise ValueError("the URL must be https: (http: only for this machine)")
    if host == "" or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("the URL must be an address and a path, such as https://judge.example.com")
    path = parts.path if parts.path.endswith("/") else parts.path + "/"
    demand_printable("the URL", path + host)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    return Service(secure, host, port, path, f"{parts.scheme}://{parts.netloc}")


def demand_printable(name: str, text: str) -> None:
    """Raises ValueError for what would break a line of HTTP."""
    if re.fullmatch(r"[!-~]*", text) is None:
        raise ValueError(f"{name} may have visible ASCII characters only")


class Transport(ABC):
    """Keeps connections that are done, and takes them again. Threads may share it."""

    def __init__(self, service: Service, api_key: str, tls: Optional[ssl.SSLContext], kept: int) -> None:
        demand_printable("the API key", api_key)
        self.service = service
        self.tls = (tls or ssl.create_default_context()) if service.secure else None
        self.kept: Deque[Connection] = deque()
        self._kept_most = kept
        self._is_closed = False
        default = 443 if service.secure else 80
        name = f"[{service.host}]" if ":" in service.host else service.host
        self._headers: Dict[str, str] = {
            "Host": name if service.port == default else f"{name}:{service.port}",
            "X-API-Key": api_key,
            "User-Agent": f"runledger-python/{VERSION}",
            "Accept-Encoding": "identity",
        }

    @abstractmethod
    async def connect(self, timeout: float) -> Connection: ...

    @abstractmethod
    async def sleep(self, seconds: float) -> None: ...

    @abstractmethod
    def bulk(self, concurrency: int) -> Bulk:
        """What runs several at once."""

    async def ask(self, request: Request) -> Reply:
        """The whole answer. Raises Unreachable."""
        try:
            connection, answer = await self._send(request)
            try:
                body = await answer.read()
            except BaseException:
                connection.close()
                raise
        except BROKEN as error:
            raise self.describe(error) from error
        if answer.is_reusable and len(self.kept) < self._kept_most:
            self.kept.append(connection)
            if self._is_closed:
                self.close_kept()
        else:
            connection.close()
        return Reply(answer.status, answer.headers, body)

    async def open(self, request: Request) -> Tuple[Connection, Answer]:
        """An answer to be read as it comes; who reads it closes the connection. Raises Unreachable."""
        try:
            return await self._send(request)
        except BROKEN as error:
            raise self.describe(error) from error

    def close(self) -> None:
        """What is under way ends, and leaves no connection."""
        self._is_closed = True
        self.close_kept()

    async def _send(self, request: Request) -> Tuple[Connection, Answer]:
        headers = {**self._headers, **request.headers}
        if request.body is not None or request.method in ("POST", "PUT"):
            headers["Content-Length"] = str(len(request.body or b""))
        target = self.service.path + request.path
        while True:
            kept = self.take()
            connection = kept or await self.connect(request.timeout)
            try:
                return connection, await connection.send(request, target, headers)
            except BaseException as error:
                connection.close()
                # The service closes what was idle; all requests can be sent twice, by their keys.
                if kept is None or not isinstance(error, _STALE):
                    raise

    def take(self) -> Optional[Connection]:
        """A kept connection."""
        try:
            return self.kept.pop()
        except IndexError:
            return None

    def close_kept(self) -> None:
        while (connection := Transport.take(self)) is not None:
            connection.close()

    def describe(self, error: BaseException) -> Unreachable:
        """No answer: from where, and why."""
        return Unreachable(
            f"no answer from {self.service.origin} ({_describe_cause(error)})",
            code="unreachable",
            retry="same_key",
        )


class Bulk(ABC):
    """Work that goes on beside other work."""

    @abstractmethod
    def start(self, work: Callable[[], Awaitable[Any]]) -> None: ...

    @abstractmethod
    async def take(self) -> Any:
        """What some work has come to, as soon as it has; what it raised is raised here."""

    @abstractmethod
    def stop(self) -> None:
        """Begins nothing more."""


def _describe_cause(error: BaseException) -> str:
    if isinstance(error, (socket.timeout, TimeoutError, asyncio.TimeoutError)):
        return "nothing came in time"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.verify_message}, {error.reason}"
    if isinstance(error, ConnectionError) and error.errno is not None:
        return os.strerror(error.errno)
    if isinstance(error, (EOFError, http.client.IncompleteRead, http.client.RemoteDisconnected)):
        return "the connection ended before the answer did"
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
