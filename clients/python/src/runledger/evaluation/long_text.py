"""What is too long to stand in a request is uploaded first, and named in it: the same texts as the command line's."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Dict, List, Mapping, Protocol, Sequence, Tuple

from .javascript import spell

#: Bytes of a submission's own stdin or expected_stdout, and of the texts of all tests.
_TEXT_MOST = 65_536
_TESTS_MOST = 1024 * 1024
#: Bytes of a request as JSON: a little less than the service takes.
_REQUEST_MOST = int(1.9 * 1024 * 1024)

_FIELDS = ("stdin", "expected_stdout")


class Blobs(Protocol):
    """Of a client, what is needed here."""

    def has_blob(self, sha256: str) -> bool: ...

    def put_blob(self, data: bytes) -> str: ...


def upload_long_texts(client: Blobs, request: Mapping[str, Any]) -> Dict[str, Any]:
    """The request with blobs in the places of what is too long; of tests, of the longest texts until the others fit."""
    moved = _move(client, request, [name for name in _FIELDS if _size(request.get(name)) > _TEXT_MOST])
    tests: Sequence[Mapping[str, Any]] = request.get("tests") or []
    if tests:
        room = _REQUEST_MOST - len(_encode(spell({**moved, "tests": []})))
        chosen = _choose(tests, room)
        moved["tests"] = [_move(client, test, chosen[index]) for index, test in enumerate(tests)]
    return moved


def _choose(tests: Sequence[Mapping[str, Any]], room: int) -> List[List[str]]:
    """For each test the names of its texts that have to move; `room` is that of all tests as JSON."""
    texts: List[Tuple[int, int, str]] = [
        (_size(test[name]), index, name) for index, test in enumerate(tests) for name in _FIELDS if name in test
    ]
    left = sum(size for size, _, _ in texts)
    spelled_left = len(_encode(spell(tests)))
    chosen: List[List[str]] = [[] for _ in tests]
    for size, index, name in sorted(texts, key=lambda text: -text[0]):
        if left <= _TESTS_MOST and spelled_left <= room:
            break
        left -= size
        # A name stands in its place.
        spelled_left -= len(_encode(spell(tests[index][name]))) - 100
        chosen[index].append(name)
    return chosen


def _move(client: Blobs, texts: Mapping[str, Any], names: Sequence[str]) -> Dict[str, Any]:
    moved = dict(texts)
    for name in names:
        data = _encode(moved.pop(name))
        sha256 = hashlib.sha256(data).hexdigest()
        if not client.has_blob(sha256):
            client.put_blob(data)
        moved[f"{name}_sha256"] = sha256
    return moved


def _size(text: Any) -> int:
    return len(_encode(text)) if isinstance(text, str) else 0


def _encode(text: str) -> bytes:
    # Half of a pair becomes what JavaScript makes of it.
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
