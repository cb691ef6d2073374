"""How long a client waits before it asks again, and until when it asks."""

from __future__ import annotations

import math
import random
import time
from typing import Optional

_SHORTEST = 0.25
_LONGEST = 5.0
#: Seconds for which the service holds a request that waits, at most.
_LONGEST_HOLD = 30


def back_off(tried: int) -> float:
    """Seconds, from 0 failures on; a fifth more or less, so that clients that failed together come apart."""
    exact = min(_SHORTEST * 2.0 ** min(tried, 10), _LONGEST)
    return exact * random.uniform(0.8, 1.2)


class Deadline:
    """The caller's own `timeout`, which None makes endless."""

    def __init__(self, timeout: Optional[float]) -> None:
        self._end = math.inf if timeout is None else time.monotonic() + timeout

    @property
    def left(self) -> float:
        """Seconds; never below 0."""
        return max(0.0, self._end - time.monotonic())

    def hold(self, silence: float) -> str:
        """The header `Prefer`: a request is answered before the client takes it for lost, and by the end."""
        seconds = min(_LONGEST_HOLD, silence / 2, self.left)
        return f"wait={max(1, math.ceil(seconds))}"
