"""Runs an evaluation's samples: in batches, at low priority, each batch under an idempotency key that follows from
what is in it. So an evaluation that was killed goes on when it is called again, and nothing runs twice in a day."""

from __future__ import annotations

import hashlib
import queue
import threading
from typing import Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple, Union, cast

from ..bulk import Outcome
from ..client import Client
from ..types import SubmissionRequest
from .javascript import spell
from .long_text import upload_long_texts
from .sample import Sample

#: How often what failed by the service's fault is run again.
_FURTHER_ROUNDS = 5
#: Bytes of a batch as JSON, a little less than any key may send.
_BATCH_MOST = 1.9 * 1024 * 1024


class Evaluated(NamedTuple):
    """What became of a sample."""

    sample: Sample
    outcome: Outcome


def run_samples(
    client: Client,
    samples: Sequence[Sample],
    items: int,
    at_once: int,
    on_end: Callable[[Outcome], None],
) -> List[Evaluated]:
    """In the order of the samples; a fault of the service is left where no round was without it."""
    ended: Dict[int, Outcome] = {}
    left = list(range(len(samples)))
    for round in range(_FURTHER_ROUNDS + 1):
        again: List[int] = []
        batches = [[left[place] for place in batch] for batch in _divide([samples[index] for index in left], items)]
        for index, outcome in _run_batches(client, samples, batches, at_once, round):
            ended[index] = outcome
            if round < _FURTHER_ROUNDS and is_fault_of_service(outcome):
                again.append(index)
            else:
                on_end(outcome)
        left = sorted(again)
        if not left:
            break
    return [Evaluated(sample, ended[index]) for index, sample in enumerate(samples)]


def is_fault_of_service(outcome: Outcome) -> bool:
    fault = outcome.error.fault if outcome.error is not None else outcome.get()["fault"]
    return fault == "platform"


#: An end, what was raised, or None: a thread is done.
_News = Union[Tuple[int, Outcome], BaseException, None]


def _run_batches(
    client: Client, samples: Sequence[Sample], batches: Sequence[Sequence[int]], at_once: int, round: int
) -> Iterator[Tuple[int, Outcome]]:
    """In threads that end with the process: whoever stops it does not wait for the service."""
    left = iter(batches)
    lock = threading.Lock()
    news: queue.SimpleQueue[_News] = queue.SimpleQueue()
    has_stopped = threading.Event()

    def work() -> None:
        try:
            while True:
                with lock:
                    batch = next(left, None)
                if batch is None:
                    return news.put(None)
                requests, key = _describe([samples[index] for index in batch], client, round)
                for outcome in client.run_batch(requests, idempotency_key=key):
                    if has_stopped.is_set():
                        return
                    news.put((batch[outcome.index], outcome))
        except BaseException as error:
            news.put(error)

    threads = min(at_once, len(batches))
    for number in range(threads):
        threading.Thread(target=work, name=f"runledger-evaluate-{number}", daemon=True).start()
    try:
        while threads > 0:
            end = news.get()
            if isinstance(end, BaseException):
                raise end
            if end is None:
                threads -= 1
            else:
                yield end
    finally:
        has_stopped.set()


def _describe(batch: Sequence[Sample], client: Client, round: int) -> Tuple[List[SubmissionRequest], str]:
    """A batch's requests, and their idempotency key."""
    requests = [{**upload_long_texts(client, sample.request), "priority": "low"} for sample in batch]
    return cast(List[SubmissionRequest], requests), name_content(spell([round, requests]))


def _divide(samples: Sequence[Sample], items: int) -> Iterator[List[int]]:
    """Places, by their number and by their bytes."""
    batch: List[int] = []
    bytes = 0
    for place, sample in enumerate(samples):
        own = len(spell(sample.request).encode())
        if len(batch) == items or (batch and bytes + own > _BATCH_MOST):
            yield batch
            batch = []
            bytes = 0
        batch.append(place)
        bytes += own
    if batch:
        yield batch


def name_content(content: str) -> str:
    """A UUID (version 8) that follows from the text."""
    text = hashlib.sha256(f"evaluate:{content}".encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-8{text[13:16]}-8{text[17:20]}-{text[20:32]}"
