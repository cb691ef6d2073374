"""JSON as JavaScript writes it, so that the command line and this package give one batch the same idempotency key."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any, Iterable, List, Mapping

#: Greater integers are floats in JavaScript.
_EXACT = 2**53


def spell(value: Any, ascii: bool = False) -> str:
    """What `JSON.stringify` makes of a value that was read from JSON; with `ascii` nothing else is in it."""
    if isinstance(value, str):
        return _spell_text(value, ascii)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return _spell_number(value)
    if isinstance(value, Mapping):
        pairs = [f"{_spell_text(name, ascii)}:{spell(value[name], ascii)}" for name in _order(value)]
        return "{" + ",".join(pairs) + "}"
    return "[" + ",".join(spell(one, ascii) for one in value) + "]"


def _spell_text(text: str, ascii: bool) -> str:
    spelled = json.dumps(text, ensure_ascii=ascii)
    # Half of a pair cannot be encoded.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", spelled)


def _order(names: Iterable[str]) -> List[str]:
    """Names that are an array's indices come first."""
    texts = list(names)
    indices = [name for name in texts if re.fullmatch(r"0|[1-9][0-9]{0,9}", name) and int(name) < 2**32 - 1]
    return sorted(indices, key=int) + [name for name in texts if name not in indices]


def _spell_number(number: float) -> str:
    if isinstance(number, int) and abs(number) <= _EXACT:
        return str(number)
    try:
        exact = float(number)
    except OverflowError:
        return "null"
    if not math.isfinite(exact):
        return "null"
    if exact == 0:
        return "0"
    # The same shortest digits as Python's, otherwise arranged.
    sign, given, exponent = Decimal(repr(exact)).as_tuple()
    digits = "".join(map(str, given))
    point = len(digits) + int(exponent)
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        text = digits.ljust(point, "0")
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{rest}e{point - 1:+d}"
    return f"-{text}" if sign else text
