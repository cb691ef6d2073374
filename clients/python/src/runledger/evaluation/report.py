"""What an evaluation comes to: how many of each verdict, and pass@k. What was not judged is counted apart."""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from typing import Dict, List, Optional, Sequence, TypedDict

from .run import Evaluated

_KS = (1, 5, 10, 100)


class ReportedSample(TypedDict):
    line: int
    task: str
    sample: int
    id: Optional[str]
    #: None: it was not judged.
    verdict: Optional[str]
    limit: Optional[str]
    fault: Optional[str]
    message: Optional[str]


class Report(TypedDict):
    """The same that `runledger evaluate --report` writes."""

    tasks: int
    samples: int
    #: AC.
    passed: int
    #: Refused, or failed by the service's fault in every round.
    not_judged: int
    #: By k, where every task has k judged samples: the mean over tasks of the chance that one of k passes.
    pass_at: Dict[int, float]
    verdicts: Dict[str, int]
    results: List[ReportedSample]


def make_report(evaluated: Sequence[Evaluated]) -> Report:
    results = [_describe(one) for one in evaluated]
    by_task: Dict[str, List[ReportedSample]] = {}
    for result in results:
        # A task without a judged sample counts, too: without it, the mean would be over other tasks than the caller's.
        judged = by_task.setdefault(result["task"], [])
        if result["verdict"] is not None:
            judged.append(result)
    least = min((len(some) for some in by_task.values()), default=0)
    return {
        "tasks": len(by_task),
        "samples": len(results),
        "passed": _count_passed(results),
        "not_judged": sum(result["verdict"] is None for result in results),
        "pass_at": {
            k: _round(sum(_estimate_pass(some, k) for some in by_task.values()) / len(by_task))
            for k in _KS
            if k <= least
        },
        "verdicts": dict(Counter(result["verdict"] or "not judged" for result in results).most_common()),
        "results": results,
    }


def _describe(evaluated: Evaluated) -> ReportedSample:
    sample, outcome = evaluated
    result, error = outcome.result, outcome.error
    is_judged = result is not None and result["status"] == "completed" and result["fault"] in (None, "program")
    message = None if error is None else error.message
    if result is not None:
        is_compiled = result["verdict"] != "CE"
        text = result["stderr"] if is_compiled else result["compile_output"]
        message = result["message"] or (_last_line(text) if is_compiled else _first_line(text))
    return {
        "line": sample.line,
        "task": sample.task,
        "sample": sample.number,
        "id": None if result is None else result["id"],
        "verdict": result["verdict"] if result is not None and is_judged else None,
        "limit": None if result is None else result["limit"],
        "fault": error.fault if error is not None else None if result is None else result["fault"],
        "message": message,
    }


def _count_passed(results: Sequence[ReportedSample]) -> int:
    return sum(result["verdict"] == "AC" for result in results)


def _estimate_pass(samples: Sequence[ReportedSample], k: int) -> float:
    """Without bias (Chen et al., "Evaluating Large Language Models Trained on Code"): 1 - C(n - c, k) / C(n, k)."""
    n = len(samples)
    none = 1.0
    for i in range(n - _count_passed(samples) + 1, n + 1):
        none *= max(0.0, 1 - k / i)
    return 1 - none


def _round(share: float) -> float:
    return float(Decimal(share).quantize(Decimal("0.0001"), ROUND_HALF_UP))


def _first_line(text: Optional[str]) -> Optional[str]:
    return next((line for line in (text or "").split("\n") if line.strip()), None)


def _last_line(text: Optional[str]) -> Optional[str]:
    return None if text is None else text.rstrip().split("\n")[-1]
