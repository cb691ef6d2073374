"""Rewards for training: programs that a model wrote, judged by their tests, as TRL and verl call a reward function.

A reward tells of the program alone. What failed by the service's fault is run again, and raised if it fails again.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union, cast

from .bulk import Outcome
from .client import Client
from .environment import client_of_environment
from .errors import PlatformError, RequestError, RunledgerError, SubmissionFailed
from .types import Result, SubmissionRequest, Test

#: Tests, or `{"inputs": […], "outputs": […]}`, or either as JSON.
Tests = Union[Sequence[Test], Mapping[str, Any], str]

#: How often all that failed by the service's fault is run again, beyond the tries of `run`.
_ROUNDS = 2


def batch_reward(
    programs: Sequence[str],
    tests: Sequence[Tests],
    *,
    client: Optional[Client] = None,
    language: str = "python",
    concurrency: int = 64,
    partial: bool = False,
    **options: Any,
) -> List[float]:
    """A reward for each program, in order: 1 if it passes its tests, else 0; with `partial` the share that it passes.

    `options` are further fields of the requests, such as `limits`, `checker` or `priority`. Without a `client`
    the service is that of RUNLEDGER_URL and RUNLEDGER_API_KEY. Raises RunledgerError where the service, or the
    caller's own checker, has no verdict.
    """
    if len(programs) != len(tests):
        raise ValueError(f"{len(programs)} programs have tests for {len(tests)}")
    client = client or default_client()
    requests = [
        cast(
            SubmissionRequest,
            {
                "language": language,
                "code": program,
                "tests": read_tests(given),
                "stop_on_failure": not partial,
                **options,
            },
        )
        for program, given in zip(programs, tests)
    ]
    rewards: Dict[int, float] = {}
    left = list(range(len(requests)))
    for round in range(_ROUNDS + 1):
        failed: List[int] = []
        for outcome in client.map([requests[index] for index in left], concurrency=concurrency):
            index = left[outcome.index]
            try:
                rewards[index] = _reward(outcome, partial)
            except PlatformError:
                if round == _ROUNDS:
                    raise
                failed.append(index)
        left = failed
        if not left:
            break
    return [rewards[index] for index in range(len(requests))]


def trl_reward(prompts: Sequence[Any], completions: Sequence[Any], *, tests: Sequence[Tests], **_: Any) -> List[float]:
    """For TRL's `reward_funcs`: `tests` is a column of the data set; completions are texts or conversations."""
    del prompts
    return batch_reward([extract_code(_text(completion)) for completion in completions], tests)


def compute_score(
    data_source: Any, solution_str: str, ground_truth: Tests, extra_info: Optional[Mapping[str, Any]] = None, **_: Any
) -> float:
    """For verl's `custom_reward_function`: the tests are `ground_truth`, the language may be in `extra_info`."""
    return compute_scores([data_source], [solution_str], [ground_truth], [extra_info])[0]


def compute_scores(
    data_sources: Sequence[Any],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Tests],
    extra_infos: Sequence[Optional[Mapping[str, Any]]],
    **_: Any,
) -> List[float]:
    """The same for verl's batch reward manager, of one language: all at once."""
    del data_sources
    languages = {str((info or {}).get("language", "python")) for info in extra_infos} or {"python"}
    if len(languages) > 1:
        raise ValueError("a batch has one language")
    return batch_reward([extract_code(text) for text in solution_strs], ground_truths, language=languages.pop())


def extract_code(text: str) -> str:
    """The last fenced block of an answer; all of it without one."""
    blocks = re.findall(r"^```[^\n`]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return cast(str, blocks[-1]) if blocks else text


def read_tests(given: Tests) -> List[Test]:
    """Raises ValueError where there are none: a program without tests has shown nothing."""
    value: Any = json.loads(given) if isinstance(given, str) else given
    if isinstance(value, Mapping):
        inputs, outputs = value["inputs"], value["outputs"]
        if len(inputs) != len(outputs):
            raise ValueError(f"{len(inputs)} inputs have {len(outputs)} outputs")
        value = [{"stdin": stdin, "expected_stdout": stdout} for stdin, stdout in zip(inputs, outputs)]
    if not value or not all(_expects(test) for test in value):
        raise ValueError("each program needs tests with an expected output")
    return list(value)


def _expects(test: Mapping[str, Any]) -> bool:
    return test.get("expected_stdout") is not None or test.get("expected_stdout_sha256") is not None


@cache
def default_client() -> Client:
    """The client of RUNLEDGER_URL (http://localhost:3000) and RUNLEDGER_API_KEY."""
    return client_of_environment()


def _reward(outcome: Outcome, partial: bool) -> float:
    if outcome.error is not None:
        if _is_of_program(outcome.error):
            return 0.0
        raise outcome.error
    result = outcome.get()
    if result["fault"] == "checker":
        raise RequestError(f"the checker failed on submission {result['id']}", id=result["id"], fault="caller")
    if result["fault"] == "platform" or result["verdict"] is None:
        raise SubmissionFailed(f"submission {result['id']} ended without a verdict", id=result["id"])
    return _share(result) if partial else float(result["verdict"] == "AC")


def _is_of_program(error: RunledgerError) -> bool:
    """A source that is too long, or no text, is the program's own fault."""
    return error.code == "invalid_request" and {issue["path"] for issue in error.issues} == {"code"}


def _share(result: Result) -> float:
    tests = result["tests"] or []
    return sum(test["verdict"] == "AC" for test in tests) / len(tests) if tests else 0.0


def _text(completion: Any) -> str:
    """A conversation's last message, as TRL has it, or a text."""
    return completion if isinstance(completion, str) else str(completion[-1]["content"])
