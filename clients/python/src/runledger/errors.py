"""What a failed call raises: whose fault it is, and whether to ask again."""

from __future__ import annotations

import json
from typing import Any, List, Literal, Optional, TypedDict, cast

Fault = Literal["caller", "platform"]
Retry = Literal["never", "same_key", "after"]


class RequestIssue(TypedDict):
    """One mistake of a request: where it is, and what it is."""

    path: str
    message: str


class RunledgerError(Exception):
    """Of every error here. `RequestError` is the caller's, `PlatformError` the service's or the way to it."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "unexpected",
        fault: Fault = "platform",
        retry: Retry = "never",
        issues: Optional[List[RequestIssue]] = None,
        id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: Of HTTP; 0 without an answer, and of an item of a batch.
        self.status = status
        #: Such as `invalid_request` (docs/api.md lists them); `unreachable` without an answer.
        self.code = code
        self.fault = fault
        #: `same_key`: at once, under the same idempotency key; `after`: the same, after `retry_after`.
        self.retry = retry
        self.issues = issues or []
        #: The submission that goes on although the answer is an error.
        self.id = id
        #: Seconds that the service asks for.
        self.retry_after = retry_after

    @property
    def is_worth_another(self) -> bool:
        """False also for a submission that goes on: its end can be waited for."""
        return self.retry != "never" and self.id is None


class RequestError(RunledgerError):
    """The request has to change."""


class PlatformError(RunledgerError):
    """The service failed, or the way to it."""


class Unreachable(PlatformError):
    """No answer; the message names the service and the cause."""


class SubmissionFailed(PlatformError):
    """The service could not run the program, though it was submitted again. `id` is the last try's."""


class WaitTimeout(RunledgerError, TimeoutError):
    """The caller's own `timeout` is over; the submission `id` goes on, and can be waited for again."""


def read_error(status: int, body: bytes, retry_after: Optional[str]) -> RunledgerError:
    """The error that an answer is; one that is not the service's (a router's) is judged by its status."""
    try:
        answer: Any = json.loads(body)
    except ValueError:
        answer = None
    fields = answer if isinstance(answer, dict) else {}

    def text(name: str) -> Optional[str]:
        value = fields.get(name)
        return value if isinstance(value, str) else None

    is_callers = 400 <= status < 500 and status != 408
    fault = text("fault")
    if fault not in ("caller", "platform"):
        fault = "caller" if is_callers else "platform"
    retry = text("retry")
    if retry not in ("never", "same_key", "after"):
        retry = "after" if status in (429, 503) else "never" if is_callers else "same_key"
    try:
        seconds = None if retry_after is None else float(retry_after)
    except ValueError:
        seconds = None
    issues = fields.get("issues")
    message = text("message") or f"the service answered {status}"
    return (RequestError if fault == "caller" else PlatformError)(
        message,
        status=status,
        code=text("error") or "unexpected",
        fault=cast(Fault, fault),
        retry=cast(Retry, retry),
        issues=issues if isinstance(issues, list) else None,
        id=text("id"),
        retry_after=seconds if seconds is not None and 0 <= seconds < float("inf") else None,
    )
