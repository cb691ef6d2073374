"""Events of a stream, and the reader that finds them in its bytes."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, Literal, Optional, TypedDict, Union, cast

from .types import Result


class SubmittedEvent(TypedDict):
    position: str
    event: Literal["submitted"]
    data: Dict[str, str]


class StatusEvent(TypedDict):
    """After `queued` again, what was lost with its worker begins anew, and offsets begin at 0."""

    position: str
    event: Literal["status"]
    data: Dict[str, str]


class CompileEvent(TypedDict):
    position: str
    event: Literal["compile"]
    data: Dict[str, str]


class Output(TypedDict, total=False):
    """The offset counts bytes; `base64` instead of `text` when the submission asked for it."""

    offset: int
    text: str
    base64: str


class OutputEvent(TypedDict):
    position: str
    event: Literal["stdout", "stderr"]
    data: Output


class TestEvent(TypedDict):
    """Of a test that has ended: a `TestResult` without its outputs, and its `index`."""

    position: str
    event: Literal["test"]
    data: Dict[str, Any]


class ResultEvent(TypedDict):
    """The last one."""

    position: str
    event: Literal["result"]
    data: Result


StreamEvent = Union[SubmittedEvent, StatusEvent, CompileEvent, OutputEvent, TestEvent, ResultEvent]


class Splitter:
    """Puts together what comes in pieces, and cuts it where it is separated, whatever the pieces are."""

    def __init__(self, separator: bytes) -> None:
        self._separator = separator
        self._rest = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        self._rest += piece
        length = len(self._separator)
        while True:
            end = self._rest.find(self._separator, self._searched)
            if end < 0:
                # A long part comes in many pieces: what was searched once is not searched again.
                self._searched = max(0, len(self._rest) - length + 1)
                return
            part = bytes(self._rest[:end])
            del self._rest[: end + length]
            self._searched = 0
            yield part


class EventReader:
    """Finds each event once."""

    def __init__(self) -> None:
        self._blocks = Splitter(b"\n\n")

    def feed(self, piece: bytes) -> Iterator[StreamEvent]:
        for block in self._blocks.feed(piece):
            event = _parse(block)
            if event is not None:
                yield event


def _parse(block: bytes) -> Optional[StreamEvent]:
    """None for a comment."""
    fields: Dict[str, str] = {}
    for line in block.decode("utf-8").split("\n"):
        name, _, value = line.partition(": ")
        fields.setdefault(name, value)
    if "data" not in fields:
        return None
    event = {
        "position": fields.get("id", ""),
        "event": fields.get("event", ""),
        "data": json.loads(fields["data"]),
    }
    return cast(StreamEvent, event)
