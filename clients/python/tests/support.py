"""What the tests run against: a real service, one that answers by a script, and a way to it that breaks.

The real service is named by RUNLEDGER_TEST_URL and RUNLEDGER_TEST_KEY; `make test-python` starts one and sets them.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import os
import socket
import socketserver
import ssl
import threading
import time
import unittest
from typing import Any, Callable, Dict, List, Optional, Tuple

from runledger import AsyncClient, Client

URL = os.environ.get("RUNLEDGER_TEST_URL", "")
KEY = os.environ.get("RUNLEDGER_TEST_KEY", "")
#: POST there kills the web process and starts another, so many seconds later as the path says.
RESTART = os.environ.get("RUNLEDGER_TEST_RESTART", "")
#: A folder of certificates: NAME.key and NAME.pem, and authority.pem.
CERTIFICATES = os.environ.get("RUNLEDGER_TEST_CERTIFICATES", "")

with_service = unittest.skipUnless(URL and KEY, "RUNLEDGER_TEST_URL and RUNLEDGER_TEST_KEY name no service")
with_certificates = unittest.skipUnless(CERTIFICATES, "RUNLEDGER_TEST_CERTIFICATES names no folder")


class Looped:
    """An AsyncClient that is called as a Client is, by a loop in a thread of its own."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.client = AsyncClient(*args, **options)

    def do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)
        if name in ("stream", "map", "run_batch"):
            return lambda *args, **options: self.iterate(method(*args, **options))
        return lambda *args, **options: self.do(method(*args, **options))

    def iterate(self, told: Any) -> Any:
        try:
            while True:
                try:
                    yield self.do(told.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self.do(told.aclose())

    def close(self) -> None:
        self.do(self.client.aclose())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class Case(unittest.TestCase):
    """A test of both clients: a subclass for each sets `make`."""

    make: Callable[..., Any] = Client

    def client(self, url: str = URL, key: str = KEY, **options: Any) -> Any:
        client = type(self).make(url, key, **options)
        self.addCleanup(client.close)
        return client


def both(case: type) -> Tuple[type, type]:
    """The test case for `Client` and for `AsyncClient`."""
    members = {"__module__": case.__module__}
    return (
        type(case.__name__ + "Sync", (case, Case), {**members, "make": Client}),
        type(case.__name__ + "Async", (case, Case), {**members, "make": Looped}),
    )


class Answers:
    """A service that answers by a script: (status, headers, body) each, or what else to do with the connection."""

    def __init__(self, *script: Any, certificate: Optional[str] = None) -> None:
        self.script = list(script)
        #: Method, path, headers, body of each request.
        self.asked: List[Tuple[str, str, Dict[str, str], bytes]] = []
        self.connections = 0
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                service.connections += 1

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                service.asked.append((self.command, self.path, headers, body))
                step = service.script.pop(0) if len(service.script) > 1 else service.script[0]
                if callable(step):
                    step(self)
                    self.close_connection = True
                    return
                status, more, content = step
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_HEAD = answer

            def log_message(self, *_: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate is not None:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*[f"{CERTIFICATES}/{certificate}.{end}" for end in ("pem", "key")])
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def cut(handler: Any) -> None:
    """Takes the request, and ends the connection without an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut_body(handler: Any) -> None:
    """Ends the connection in the middle of the answer."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"id":')
    handler.connection.shutdown(socket.SHUT_RDWR)


class Proxy:
    """A way to the service on which the first connections break: each after so many bytes of answers."""

    def __init__(self, target: str, *limits: int) -> None:
        host, _, port = target.rpartition("//")[2].partition(":")
        self.limits = list(limits)
        self.connections = 0
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy.connections += 1
                left = proxy.limits.pop(0) if proxy.limits else None
                with socket.create_connection((host, int(port))) as upstream:
                    there = threading.Thread(target=pass_on, args=(self.request, upstream, None))
                    there.start()
                    pass_on(upstream, self.request, left)
                    there.join()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def pass_on(source: socket.socket, sink: socket.socket, left: Optional[int]) -> None:
    """Passes bytes on until either end is gone, or so many were; then both are."""
    with contextlib.suppress(OSError):
        while left != 0:
            data = source.recv(65_536)
            if not data:
                break
            if left is not None:
                data = data[:left]
                left -= len(data)
            sink.sendall(data)
    for one in (source, sink):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def until(is_so: Callable[[], bool]) -> None:
    """Waits until it is so, as long as the suite may take."""
    while not is_so():
        time.sleep(0.02)
