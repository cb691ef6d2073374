"""One call of the service, asked again as long as the answers say that this is worth it."""

from __future__ import annotations

import json
import uuid
from typing import Any, Mapping, Optional

from .errors import RunledgerError, read_error
from .retry import Deadline, back_off
from .transport import Request, Transport, demand_printable


def new_key() -> str:
    """An idempotency key."""
    return str(uuid.uuid4())


def encode(body: Any) -> bytes:
    """As JSON."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


class Caller:
    def __init__(self, transport: Transport, retries: int, timeout: float) -> None:
        self._transport = transport
        self._retries = retries
        self._timeout = timeout

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        data: Optional[bytes] = None,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        deadline: Optional[Deadline] = None,
    ) -> Any:
        """Asks for any path of the service, without a slash before it, and asks again as all else does.

        `body` is sent as JSON, `data` as it is. Returns the JSON of the answer.
        """
        deadline = deadline or Deadline(None)
        demand_printable("the path", path)
        given = dict(headers or {})
        if body is not None:
            data = encode(body)
            given["Content-Type"] = "application/json"
        elif data is not None:
            given["Content-Type"] = "application/octet-stream"
        if idempotency_key is not None:
            demand_printable("the idempotency key", idempotency_key)
            given["Idempotency-Key"] = idempotency_key
        tried = 0
        while True:
            timeout = min(self._timeout, deadline.left + 5)
            try:
                return await self._once(Request(method, path, given, data, timeout))
            except RunledgerError as error:
                pause = max(error.retry_after or 0, back_off(tried))
                is_enough = tried >= self._retries or pause > deadline.left
                if not error.is_worth_another or is_enough:
                    raise
            await self._transport.sleep(pause)
            tried += 1

    async def _once(self, request: Request) -> Any:
        reply = await self._transport.ask(request)
        if 200 <= reply.status < 300:
            if request.method == "HEAD":
                return None
            try:
                answer = json.loads(reply.body)
                if isinstance(answer, dict):
                    return answer
            except ValueError:
                pass
        raise read_error(reply.status, reply.body, reply.headers.get("Retry-After"))
