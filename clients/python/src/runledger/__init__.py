"""A client of a Runledger service: run programs, wait for verdicts, evaluate, verify webhooks and receipts."""

from .batch import SubmittedBatch
from .bulk import Outcome, Progress
from .client import AsyncClient, Client
from .errors import (
    PlatformError,
    RequestError,
    RequestIssue,
    RunledgerError,
    SubmissionFailed,
    Unreachable,
    WaitTimeout,
)
from .evaluation import EvaluationProgress, InvalidTasks, Report, ReportedSample, evaluate
from .events import StreamEvent
from .receipt import InvalidReceipt, Receipt, verify_receipt
from .transport import VERSION as __version__
from .types import (
    Checker,
    Language,
    LedgerEvent,
    Limits,
    ReceivedRequest,
    Result,
    ResultPage,
    ResultSummary,
    SubmissionRequest,
    SubmittedFile,
    Test,
    TestResult,
    Verdict,
)
from .webhook import BatchPayload, SubmissionPayload, WebhookPayload, verify_webhook

__all__ = [
    "AsyncClient",
    "BatchPayload",
    "Checker",
    "Client",
    "EvaluationProgress",
    "InvalidReceipt",
    "InvalidTasks",
    "Language",
    "LedgerEvent",
    "Limits",
    "Outcome",
    "PlatformError",
    "Progress",
    "Receipt",
    "ReceivedRequest",
    "Report",
    "ReportedSample",
    "RequestError",
    "RequestIssue",
    "Result",
    "ResultPage",
    "ResultSummary",
    "RunledgerError",
    "StreamEvent",
    "SubmissionFailed",
    "SubmissionPayload",
    "SubmissionRequest",
    "SubmittedBatch",
    "SubmittedFile",
    "Test",
    "TestResult",
    "Unreachable",
    "Verdict",
    "WaitTimeout",
    "WebhookPayload",
    "__version__",
    "evaluate",
    "verify_receipt",
    "verify_webhook",
]
