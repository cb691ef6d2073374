"""Reads an evaluation's lines: everything that is wrong in them is found before anything is submitted."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, NoReturn, Optional, Tuple, Union

from .shape import Line, read_asked

#: A file of JSON lines, gzipped if its name ends so; or the lines' objects.
Lines = Union[str, "os.PathLike[str]", Iterable[Line]]

#: Mistakes that are listed; the others are counted.
_LISTED = 20


class Sample(NamedTuple):
    """One solution of one task."""

    #: From 1.
    line: int
    task: str
    #: Of its task, from 0.
    number: int
    request: Dict[str, Any]


class InvalidTasks(ValueError):
    """Everything that is wrong, by lines. Nothing was submitted."""


def read_samples(tasks: Lines, problems: Optional[Lines] = None) -> List[Sample]:
    """`problems` has the tasks, where `tasks` has solutions alone. Raises InvalidTasks, or OSError."""
    mistakes: List[str] = []
    known = None if problems is None else _read_problems(problems, mistakes)
    samples: List[Sample] = []
    first: Dict[str, Tuple[int, str]] = {}
    counts: Dict[str, int] = {}
    for place, number, line in _read_lines(tasks, mistakes):
        try:
            task, tests, requests = read_asked(line if known is None else _add_problem(line, known))
            line_before, tests_before = first.setdefault(task, (number, tests))
            if tests != tests_before:
                raise ValueError(f"has other tests than line {line_before}, which is the same task")
        except (ValueError, RecursionError) as error:
            mistakes.append(f"{place}: {error}")
            continue
        for request in requests:
            count = counts.get(task, 0)
            samples.append(Sample(number, task, count, request))
            counts[task] = count + 1
    if not samples and not mistakes:
        mistakes.append(f"{_describe(tasks)}: there is nothing in it")
    if mistakes:
        more = len(mistakes) - _LISTED
        raise InvalidTasks("\n".join(mistakes[:_LISTED]) + (f"\nand {more} more" if more > 0 else ""))
    return samples


def _read_problems(problems: Lines, mistakes: List[str]) -> Dict[str, Line]:
    """Lines by their task."""
    tasks: Dict[str, Line] = {}
    for place, _, line in _read_lines(problems, mistakes):
        id = _read_id(line)
        if id is None:
            mistakes.append(f"{place}: has no task_id, question_id or task")
        elif id in tasks:
            mistakes.append(f"{place}: the task {id} is there twice")
        else:
            tasks[id] = line
    return tasks


def _add_problem(line: Line, problems: Mapping[str, Line]) -> Line:
    id = _read_id(line)
    if id is None or id not in problems:
        raise ValueError(f"is of a task that is no problem: {id or 'it has none'}")
    return {**problems[id], **line}


def _read_id(line: Line) -> Optional[str]:
    ids = [line[name] for name in ("task_id", "question_id", "task") if line.get(name) is not None]
    return str(ids[0]) if ids and isinstance(ids[0], (str, int, float)) else None


def _read_lines(lines: Lines, mistakes: List[str]) -> Iterator[Tuple[str, int, Line]]:
    """With their places, such as `FILE:1`, and their numbers."""
    name = _describe(lines)
    if not isinstance(lines, (str, os.PathLike)):
        for number, line in enumerate(lines, 1):
            if isinstance(line, Mapping):
                yield f"{name}:{number}", number, line
            else:
                mistakes.append(f"{name}:{number}: is no object")
        return
    for number, text in enumerate(_read_text(name).split("\n"), 1):
        if text.strip() == "":
            continue
        place = f"{name}:{number}"
        try:
            line = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            mistakes.append(f"{place}: is no JSON")
            continue
        if isinstance(line, dict):
            yield place, number, line
        else:
            mistakes.append(f"{place}: is no JSON object")


def _describe(lines: Lines) -> str:
    return os.fspath(lines) if isinstance(lines, (str, os.PathLike)) else "tasks"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _read_text(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            data = opened.read()
        return (gzip.decompress(data) if file.endswith(".gz") else data).decode("utf-8", "replace")
    except (EOFError, zlib.error) as error:
        raise OSError(f"{file}: {error}") from error
