"""The published shapes of a benchmark's line, and what each asks of the service. A line is a task with its tests; its
solution stands in it (`completion`, or the published one) or in a line of its own."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from .functional import functional_program, read_json_tokens
from .javascript import spell

Line = Mapping[str, Any]

#: Bytes of hidden tests, at most.
_MOST = 256 * 1024 * 1024


class Asked(NamedTuple):
    """Solutions of a task, as submissions."""

    task: str
    #: Equal for lines that have the same tests.
    tests: str
    requests: List[Dict[str, Any]]


def read_asked(line: Line) -> Asked:
    """Raises ValueError that says what is wrong with it."""
    for is_of, read in _SHAPES:
        if is_of(line):
            return read(line)
    raise ValueError(
        "has no shape that is known: HumanEval (entry_point, test), MBPP (test_list), LiveCodeBench (question_id, "
        "public_test_cases), or task, language, code, tests"
    )


def read_human_eval(line: Line) -> Asked:
    """Of https://github.com/openai/human-eval."""
    _demand(line, task_id=_name, prompt=_text, test=_text, entry_point=_text)
    solution = _read_solution(line, "canonical_solution")
    code = f"{line['prompt']}{solution}\n{line['test']}\ncheck({line['entry_point']})\n"
    return Asked(_spell_name(line["task_id"]), line["test"], [{"language": "python", "code": code}])


def read_mbpp(line: Line) -> Asked:
    """Of https://github.com/google-research/google-research/tree/master/mbpp, whole or sanitized."""
    line = {"test_imports": [], "test_setup_code": "", **line}
    _demand(line, task_id=_name, test_list=_some, test_imports=_texts, test_setup_code=_text)
    tests = line["test_list"]
    parts = [*line["test_imports"], line["test_setup_code"], _read_solution(line, "code"), *tests, ""]
    request = {"language": "python", "code": "\n".join(parts)}
    return Asked(_spell_name(line["task_id"]), "\n".join(tests), [request])


def read_live_code_bench(line: Line) -> Asked:
    """Of https://huggingface.co/datasets/livecodebench/code_generation_lite; its runner writes `code_list`."""
    line = {"private_test_cases": "[]", "metadata": "{}", **line}
    if "code_list" not in line:
        line["code_list"] = [_read_solution(line, "code")]
    kinds = {"public_test_cases": _text, "private_test_cases": _text, "metadata": _text, "code_list": _texts}
    _demand(line, question_id=_name, **kinds)
    public, private = line["public_test_cases"], line["private_test_cases"]
    tests = [test for packed in (public, private) for test in _read_tests(packed)]
    if not tests:
        raise ValueError("has no tests")
    metadata = json.loads(line["metadata"])
    if not isinstance(metadata, dict):
        raise ValueError("metadata must be an object")
    called = metadata.get("func_name")
    asked = {
        "tests": [
            {
                "stdin": test["input"],
                "expected_stdout": test["output"] if called is None else read_json_tokens(test["output"]),
            }
            for test in tests
        ],
        "checker": {"type": "floats", "absolute": 1e-9, "relative": 1e-9},
        "stop_on_failure": True,
    }
    codes = [code if called is None else functional_program(code, called) for code in line["code_list"]]
    requests = [{"language": "python", "code": code, **asked} for code in codes]
    return Asked(_spell_name(line["question_id"]), public + private, requests)


def read_plain(line: Line) -> Asked:
    """`task`, `language`, `code`, `tests`, and what else a submission may have."""
    _demand(line, task=_name, language=_text, tests=_tests)
    # In the command line's order.
    first = {"language": line["language"], "tests": line["tests"]}
    rest = {name: value for name, value in line.items() if name not in ("task", "completion", *first)}
    request = {**first, **rest, "code": _read_solution(line, "code")}
    return Asked(_spell_name(line["task"]), spell(line["tests"]), [request])


_SHAPES: List[Tuple[Callable[[Line], bool], Callable[[Line], Asked]]] = [
    (lambda line: "entry_point" in line and "test" in line, read_human_eval),
    (lambda line: "test_list" in line, read_mbpp),
    (lambda line: "question_id" in line and "public_test_cases" in line, read_live_code_bench),
    (lambda line: "task" in line, read_plain),
]

#: What is wrong with a value; None: nothing.
_Kind = Callable[[Any], Optional[str]]


def _demand(line: Line, **kinds: _Kind) -> None:
    wrong = [
        f"{name} {flaw}"
        for name, kind in kinds.items()
        if (flaw := kind(line[name]) if name in line else "is missing") is not None
    ]
    if wrong:
        raise ValueError("; ".join(wrong))


def _text(value: Any) -> Optional[str]:
    return None if isinstance(value, str) else "must be a string"


def _name(value: Any) -> Optional[str]:
    is_name = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return None if is_name else "must be a name"


def _texts(value: Any) -> Optional[str]:
    is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return None if is_list else "must be a list of strings"


def _some(value: Any) -> Optional[str]:
    return "has no tests" if value == [] else _texts(value)


def _tests(value: Any) -> Optional[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(test, Mapping) for test in value):
        return "must be a list of objects"
    return None if value else "has no tests"


def _spell_name(name: Any) -> str:
    return name if isinstance(name, str) else spell(name)


def _read_solution(line: Line, published: str) -> str:
    solution = line.get("completion")
    solution = line.get(published) if solution is None else solution
    if isinstance(solution, str):
        return solution
    raise ValueError(f"has no solution: neither completion nor {published} is a string")


def _read_tests(text: str) -> List[Dict[str, str]]:
    tests = json.loads(text if text.startswith("[") else _unpack(text))
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise ValueError("the test cases must be a list of tests")
    for test in tests:
        _demand(test, input=_text, output=_text)
    return tests


def _unpack(packed: str) -> str:
    """LiveCodeBench's hidden tests: a pickled string, deflated, in base64. Raises ValueError for any other pickle."""
    flaw = "private_test_cases is no packed list of tests"
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(packed), _MOST)
    except (zlib.error, binascii.Error) as error:
        raise ValueError(flaw) from error
    # Protocol 2 or later; a frame's length from 4 on; then the string, whose length takes 1, 4 or 8 bytes.
    start = 11 if data[2:3] == b"\x95" else 2
    size = {b"\x8c": 1, b"X": 4, b"\x8d": 8}.get(data[start : start + 1])
    if size is None or data[:1] != b"\x80":
        raise ValueError(flaw)
    begin = start + 1 + size
    length = int.from_bytes(data[start + 1 : begin], "little")
    return data[begin : begin + length].decode("utf-8", "replace")
