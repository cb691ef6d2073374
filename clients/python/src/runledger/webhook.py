"""Whether a webhook is the service's: the signature of Standard Webhooks 1.0."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import List, Literal, Mapping, Optional, TypedDict, Union, cast

from .types import Result, Status, Verdict

_TOLERANCE_SECONDS = 300


class SubmissionPayload(TypedDict):
    """`data` is the record without `webhook`, `limits`, `message`, `attempt` and `cancel_requested_at`."""

    type: Literal["submission.completed", "submission.failed", "submission.cancelled"]
    timestamp: str
    data: Result


class BatchItem(TypedDict):
    id: str
    status: Status
    verdict: Optional[Verdict]


class BatchEnd(TypedDict):
    """The items that were accepted, in their order."""

    id: str
    submissions: List[BatchItem]


class BatchPayload(TypedDict):
    """When all of a batch has ended."""

    type: Literal["batch.completed"]
    timestamp: str
    data: BatchEnd


#: Its `type` says which.
WebhookPayload = Union[SubmissionPayload, BatchPayload]


def verify_webhook(
    headers: Mapping[str, str],
    body: Union[bytes, str],
    secret: str,
    *,
    now: Optional[float] = None,
) -> Optional[WebhookPayload]:
    """The payload if the secret signed it within five minutes of now, else None.

    `headers` in any case, as any framework has them; `body` exactly as received, before any parsing.
    """
    given = {name.lower(): value for name, value in headers.items()}
    id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    if id == "" or re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        return None
    if abs((time.time() if now is None else now) - int(timestamp)) > _TOLERANCE_SECONDS:
        return None
    content = body.encode() if isinstance(body, str) else body
    signed = f"{id}.{timestamp}.".encode("utf-8", "surrogateescape") + content
    expected = "v1," + base64.b64encode(hmac.new(_key_of(secret), signed, hashlib.sha256).digest()).decode("ascii")
    signatures = given.get("webhook-signature", "").split(" ")
    # Bytes, as compare_digest refuses text that is not ASCII.
    wanted = expected.encode()
    if not any([hmac.compare_digest(one.encode("utf-8", "replace"), wanted) for one in signatures]):
        return None
    return cast(WebhookPayload, json.loads(content))


def _key_of(secret: str) -> bytes:
    """`whsec_` + base64 stands for its bytes, other text for its UTF-8."""
    encoded = re.fullmatch(r"whsec_([A-Za-z0-9+/]+)={0,2}", secret)
    if encoded is None or len(encoded[1]) % 4 == 1:
        return secret.encode()
    try:
        return base64.b64decode(encoded[1] + "=" * (-len(encoded[1]) % 4))
    except binascii.Error:
        return secret.encode()
