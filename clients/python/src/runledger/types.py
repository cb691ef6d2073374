"""What the service takes and tells, as docs/api.md describes it: JSON objects as typed dictionaries.

Times are in seconds, sizes in bytes, dates RFC 3339 in UTC; None is what is not known yet, or not to be known.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

Verdict = Literal["AC", "WA", "CE", "RE", "TLE", "MLE", "OLE", "IE"]
Status = Literal["queued", "running", "completed", "failed", "cancelled"]
Encoding = Literal["utf8", "base64"]


class Limits(TypedDict, total=False):
    """What is left out is the language's default."""

    cpu_time: float
    wall_time: float
    memory: int
    stdout: int
    stderr: int
    disk: int
    processes: int


class _SubmittedFile(TypedDict):
    name: str
    content: str


class SubmittedFile(_SubmittedFile, total=False):
    """Stands beside the main file."""

    encoding: Encoding


class Test(TypedDict, total=False):
    """One run of the program; the `_sha256` name what `put_blob` uploaded."""

    name: str
    stdin: str
    expected_stdout: str
    stdin_sha256: str
    expected_stdout_sha256: str
    args: Sequence[str]
    points: float
    group: str


class _Group(TypedDict):
    name: str
    points: float


class Group(_Group, total=False):
    """Of tests; its points are given when all of them pass."""

    require_pass: Sequence[str]


class PlainChecker(TypedDict):
    type: Literal["lines", "exact", "tokens", "unordered_lines"]


class _FloatsChecker(TypedDict):
    type: Literal["floats"]


class FloatsChecker(_FloatsChecker, total=False):
    absolute: float
    relative: float


class _ProgramChecker(TypedDict):
    type: Literal["program"]
    language: str
    code: str


class ProgramChecker(_ProgramChecker, total=False):
    compile_args: Sequence[str]
    files: Sequence[SubmittedFile]


#: How an output is held against the expected one.
Checker = Union[PlainChecker, FloatsChecker, ProgramChecker]


class _SubmissionRequest(TypedDict):
    language: str
    code: str


class SubmissionRequest(_SubmissionRequest, total=False):
    """A program to run."""

    stdin: str
    expected_stdout: str
    stdin_sha256: str
    expected_stdout_sha256: str
    files: Sequence[SubmittedFile]
    args: Sequence[str]
    compile_args: Sequence[str]
    env: Mapping[str, str]
    limits: Limits
    compile_limits: Limits
    tests: Sequence[Test]
    stop_on_failure: bool
    groups: Sequence[Group]
    checker: Checker
    interactor: ProgramChecker
    stdin_encoding: Encoding
    output_encoding: Encoding
    output_files: Sequence[str]
    merge_stderr: bool
    network: Literal["none", "loopback"]
    priority: Literal["normal", "low"]
    tag: str
    webhook_url: str
    webhook_secret: str


class AttemptLimits(TypedDict):
    compile: Optional[Limits]
    run: Limits


class Difference(TypedDict):
    """Where the output is not what was expected."""

    line: int
    expected: Optional[str]
    got: Optional[str]


class TestResult(TypedDict):
    """All but the name is None of a test that was not run."""

    name: Optional[str]
    verdict: Optional[Verdict]
    exit_code: Optional[int]
    signal: Optional[str]
    cpu_time: Optional[float]
    wall_time: Optional[float]
    memory_peak: Optional[int]
    stdout: Optional[str]
    stderr: Optional[str]
    stdout_truncated: Optional[bool]
    stderr_truncated: Optional[bool]
    limit: Optional[str]
    difference: Optional[Difference]
    message: Optional[str]


class LeftFile(TypedDict):
    """Content is base64; None when it did not fit."""

    name: str
    size: int
    sha256: Optional[str]
    content: Optional[str]


class CompileFigures(TypedDict):
    exit_code: int
    cpu_time: float
    wall_time: float
    memory_peak: int
    cached: bool


class WebhookProgress(TypedDict):
    id: str
    state: Literal["waiting", "pending", "delivered", "abandoned"]
    attempts: int
    next_attempt_at: Optional[str]
    last_error: Optional[str]


class GroupResult(TypedDict):
    """`passed`: all of its tests have."""

    name: str
    passed: bool
    score: float
    max_score: float


class _Scored(TypedDict, total=False):
    """There where tests or groups have points."""

    score: float
    max_score: float
    groups: Optional[List[GroupResult]]


class ResultSummary(_Scored):
    """A record without what the program wrote, as lists have it."""

    id: str
    status: Status
    verdict: Optional[Verdict]
    fault: Optional[Literal["program", "checker", "platform"]]
    retry: Optional[Literal["never", "new_key"]]
    exit_code: Optional[int]
    signal: Optional[str]
    stdout_truncated: Optional[bool]
    stderr_truncated: Optional[bool]
    cpu_time: Optional[float]
    wall_time: Optional[float]
    memory_peak: Optional[int]
    language: str
    runtime: Optional[str]
    created_at: str
    started_at: Optional[str]
    finished_at: Optional[str]
    purged_at: Optional[str]
    compile: Optional[CompileFigures]
    limit: Optional[str]
    tag: Optional[str]
    rerun_of: Optional[str]
    message: Optional[str]


class Result(ResultSummary):
    """The record of a submission."""

    stdout: Optional[str]
    stderr: Optional[str]
    compile_output: Optional[str]
    difference: Optional[Difference]
    tests: Optional[List[TestResult]]
    files: Optional[List[LeftFile]]
    limits: Optional[AttemptLimits]
    attempt: Optional[int]
    cancel_requested_at: Optional[str]
    webhook: Optional[WebhookProgress]


class ResultPage(TypedDict):
    """`next_cursor` is None on the last page; a page may be empty and have a next one."""

    submissions: List[ResultSummary]
    next_cursor: Optional[str]


class Language(TypedDict):
    name: str
    title: str
    aliases: List[str]
    extensions: List[str]
    runtime: str
    compile: Optional[List[str]]
    run: List[str]
    limits: Optional[AttemptLimits]
    example: Optional[str]
    workers: int


class LedgerEvent(TypedDict):
    """`version` counts within the submission, or its webhook; `hash` is over the event and all before it."""

    position: int
    version: int
    type: str
    at: str
    hash: str
    data: Dict[str, Any]


class ReceivedRequest(TypedDict):
    """What was submitted; `request` can be submitted again as it is."""

    id: str
    request: SubmissionRequest
    limits: Optional[AttemptLimits]
