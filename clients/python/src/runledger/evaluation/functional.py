"""Programs around solutions that are a function or a method, as LiveCodeBench has them: arguments come as lines of
JSON, and the value goes out as tokens of JSON, which compare as numbers and words do."""

from __future__ import annotations

import json
import re

from .javascript import spell

#: As the benchmark's own runner imports them before a solution.
_MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
).split()
#: As the program has it, and as Python likes it.
_TOKEN = r'"(?:[^"\\]|\\.)*"|[^\s[\]{},:"]+|[[\]{},:]'
_READ_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+|[\[\]{},:]')


def functional_program(solution: str, called: str) -> str:
    """`called` is the name of the function, or of a method of `class Solution`."""
    return "\n".join(
        [
            *(f"from {module} import *" for module in _MODULES),
            f"import {', '.join(_MODULES)}",
            solution,
            "import json, re, sys",
            f"_call = Solution().{called} if 'Solution' in globals() else {called}",
            '_value = _call(*[json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()])',
            f"print(' '.join(re.findall(r'''{_TOKEN}''', json.dumps(_value))))",
            "",
        ]
    )


def read_json_tokens(text: str) -> str:
    """Raises ValueError when it is no JSON."""
    return " ".join(_READ_TOKEN.findall(spell(json.loads(text), ascii=True))) + "\n"
