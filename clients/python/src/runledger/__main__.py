"""`python -m runledger evaluate FILE.jsonl`: as `./runledger evaluate`, with its options and exit statuses."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any, Dict, NoReturn, Optional, Sequence

from . import EvaluationProgress, InvalidTasks, Report, RunledgerError, evaluate
from .client import Client
from .evaluation import RETRIES

#: Of sysexits, as the command line's.
_USAGE, _REFUSED, _NO_INPUT, _UNAVAILABLE, _NO_OUTPUT, _INTERRUPTED = 64, 65, 66, 69, 73, 130


class _Failure(Exception):
    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Failure(f"{message}\n{self.format_usage().rstrip()}", _USAGE)


def main(parameters: Optional[Sequence[str]] = None) -> int:
    """Returns the exit status: 0 all were judged, 1 some were not, 65 a line is wrong."""
    try:
        given = _read_arguments(parameters)
        with _make_client(given) as client:
            return _evaluate(given, client)
    except InvalidTasks as error:
        return _complain(str(error), _REFUSED)
    except RunledgerError as error:
        return _complain(error.message, _UNAVAILABLE)
    except OSError as error:
        return _complain(str(error), _NO_INPUT)
    except _Failure as failure:
        return _complain(str(failure), failure.status)
    except KeyboardInterrupt:
        return _complain("interrupted; called again, it goes on", _INTERRUPTED)


def _evaluate(given: argparse.Namespace, client: Client) -> int:
    if given.report is not None:
        _write(given.report, "", "a")  # one that cannot be written is refused before the work of hours
    progress = _Progress()
    try:
        report = evaluate(
            given.file,
            problems=given.problems,
            client=client,
            batch=given.batch,
            at_once=given.at_once,
            on_progress=progress.note,
        )
    finally:
        progress.end()
    if given.report is not None:
        _write(given.report, json.dumps(report, indent=2, ensure_ascii=False) + "\n", "w")
    _present(report)
    return 0 if report["not_judged"] == 0 else 1


def _read_arguments(parameters: Optional[Sequence[str]]) -> argparse.Namespace:
    def number(most: int) -> Any:
        def read(text: str) -> int:
            if text.isdecimal() and 1 <= int(text) <= most:
                return int(text)
            raise argparse.ArgumentTypeError(f"is a number from 1 to {most}")

        return read

    parser = _Parser(prog="python -m runledger", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("evaluate", help="run the solutions of a benchmark, and print pass@k")
    command.add_argument("file", metavar="FILE.jsonl")
    command.add_argument("--problems", metavar="FILE", help="the tasks, where FILE.jsonl has solutions alone")
    command.add_argument("--report", metavar="FILE", help="writes every sample's result there, as JSON")
    command.add_argument("--batch", metavar="N", type=number(1000), default=20, help="samples of a request (20)")
    command.add_argument("--at-once", metavar="N", type=number(64), default=4, help="requests at once (4)")
    command.add_argument("--url", metavar="URL", help="address of the service (RUNLEDGER_URL)")
    command.add_argument("--key-file", metavar="FILE", help="file with the key (RUNLEDGER_API_KEY)")
    return parser.parse_args(parameters)


def _make_client(given: argparse.Namespace) -> Client:
    key = os.environ.get("RUNLEDGER_API_KEY", "")
    if given.key_file is not None:
        with open(given.key_file, encoding="utf-8") as file:
            key = file.read().strip()
    if not key:
        raise _Failure("there is no key: set RUNLEDGER_API_KEY, or name a file that holds one with --key-file", _USAGE)
    url = given.url or os.environ.get("RUNLEDGER_URL") or "http://localhost:3000"
    try:
        return Client(url, key, retries=RETRIES)
    except ValueError as error:
        raise _Failure(str(error), _USAGE) from error


class _Progress:
    """A line on standard error: one that is written over on a terminal, else one every five seconds."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._pause = 0.2 if self._is_shown else 5.0
        self._next = time.monotonic() + self._pause
        self._last: Optional[EvaluationProgress] = None

    def note(self, progress: EvaluationProgress) -> None:
        self._last = progress
        if time.monotonic() >= self._next:
            self._print(progress)
            self._next = time.monotonic() + self._pause

    def end(self) -> None:
        if self._last is not None:
            self._print(self._last)
            sys.stderr.write("\n" if self._is_shown else "")

    def _print(self, progress: EvaluationProgress) -> None:
        left = "" if progress.remaining is None else f", {progress.remaining:.0f} s left"
        counts = f"{progress.done} of {progress.total} ended, {progress.passed} passed"
        line = f"{counts}, {progress.rate:.1f}/s{left}"
        sys.stderr.write(f"\r\033[K{line}" if self._is_shown else f"{line}\n")
        sys.stderr.flush()


def _write(path: str, text: str, mode: str) -> None:
    try:
        with open(path, mode, encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise _Failure(f"--report: {error}", _NO_OUTPUT) from error


def _present(report: Report) -> None:
    verdicts, pass_at = report["verdicts"], report["pass_at"]
    if not sys.stdout.isatty():
        counts: Dict[str, Any] = {
            name: report[name] for name in ("tasks", "samples", "passed", "not_judged", "pass_at", "verdicts")
        }
        print(json.dumps(counts))
        return
    width = max(len("VERDICT"), *map(len, verdicts))
    print(f"{'VERDICT'.ljust(width)}  SAMPLES")
    for verdict, count in verdicts.items():
        print(f"{verdict.ljust(width)}  {count}")
    for k, share in pass_at.items():
        print(f"pass@{k}  {100 * share:.1f} %")


def _complain(message: str, status: int) -> int:
    """What strangers wrote must not steer a terminal."""
    visible = "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in message)
    print(f"runledger: {visible}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
