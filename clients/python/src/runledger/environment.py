"""Which service is meant where nobody names one."""

from __future__ import annotations

import os

from .client import Client


def client_of_environment(*, retries: int = 5) -> Client:
    """Of RUNLEDGER_URL (http://localhost:3000) and RUNLEDGER_API_KEY. Raises ValueError without a key."""
    key = os.environ.get("RUNLEDGER_API_KEY")
    if not key:
        raise ValueError("RUNLEDGER_API_KEY is not set")
    return Client(os.environ.get("RUNLEDGER_URL") or "http://localhost:3000", key, retries=retries)
