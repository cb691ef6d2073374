"""Evaluations: each published shape on a real service, what is wrong in a file, what goes on after a kill, and that a
fault of the service is no failure of a sample."""

from __future__ import annotations

import base64
import gzip
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request
import uuid
import zlib
from pathlib import Path
from typing import Any
from unittest import mock

from runledger import Client, EvaluationProgress, InvalidTasks, RunledgerError, evaluate
from runledger.evaluation.javascript import spell
from runledger.evaluation.shape import read_asked
from support import KEY, RESTART, URL, Answers, with_service

PROBLEM = {
    "task_id": "HumanEval/0",
    "prompt": 'def double(n):\n    """Twice n."""\n',
    "entry_point": "double",
    "canonical_solution": "    return 2 * n\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(0) == 0\n",
}
MBPP = {
    "task_id": 11,
    "text": "Write a function to add.",
    "code": "def add(a, b):\n    return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(ZERO, 0) == 0"],
    "test_setup_code": "ZERO = 0",
}
HIDDEN = json.dumps([{"input": "0.5 0.5", "output": "1.0\n", "testtype": "stdin"}])
STDIN = {
    "question_id": "abc1",
    "public_test_cases": json.dumps([{"input": "1 2\n", "output": "3", "testtype": "stdin"}]),
    "private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(HIDDEN))).decode(),
    "metadata": "{}",
}
CALL = {
    "question_id": "lc1",
    "public_test_cases": json.dumps([{"input": '[3, 1]\n"é"', "output": '[1, 3, "é", true, null]'}]),
    "metadata": json.dumps({"func_name": "order"}),
}
SUM = "a, b = map(float, input().split())\nprint(a + b)"
ORDER = """class Solution:
    def order(self, numbers: List[int], word: str):
        return [*sorted(numbers), word, True, None]"""
PLAIN = {
    "task": "echo",
    "language": "python",
    "code": "print(input())",
    "tests": [{"stdin": "one", "expected_stdout": "one\n"}],
}
DONE = {
    "id": "a",
    "status": "completed",
    "verdict": "AC",
    "fault": None,
    "limit": None,
    "message": None,
    "stderr": "",
    "compile_output": None,
}
LOST = {**DONE, "status": "failed", "verdict": "IE", "fault": "platform"}


def answer(*items: dict[str, Any]) -> Any:
    return (200, {}, b"".join(json.dumps({**item, "index": n}).encode() + b"\n" for n, item in enumerate(items)))


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, *lines: Any) -> Path:
        file = self.folder / name
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return file

    def run_module(self, *parameters: Any, key: str = KEY) -> tuple[int, str, str]:
        environment = {**os.environ, "RUNLEDGER_API_KEY": key}
        line = [sys.executable, "-m", "runledger", *map(str, parameters)]
        ended = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
        return ended.returncode, ended.stdout, ended.stderr


@with_service
class Evaluations(Folder):
    def evaluate(self, tasks: Any, **options: Any) -> Any:
        with Client(URL, KEY) as client:
            return evaluate(tasks, client=client, **options)

    def test_right_solutions_of_each_shape_pass(self) -> None:
        progress: list[EvaluationProgress] = []
        lines = [PROBLEM, MBPP, {**STDIN, "code_list": [SUM]}, {**CALL, "code_list": [ORDER]}, PLAIN]
        report = self.evaluate(self.write("right.jsonl.gz", *lines), on_progress=progress.append)
        self.assertEqual([report[name] for name in ("tasks", "samples", "passed", "not_judged")], [5, 5, 5, 0])  # type: ignore[literal-required]
        self.assertEqual([report["pass_at"], report["verdicts"]], [{1: 1}, {"AC": 5}])
        self.assertEqual([progress[-1].done, progress[-1].passed, progress[-1].remaining], [5, 5, 0])
        again = self.evaluate(lines)
        self.assertEqual(
            [one["id"] for one in again["results"]], [one["id"] for one in report["results"]], "nothing runs twice"
        )

    def test_wrong_ones_do_not_and_the_report_says_where_and_why(self) -> None:
        file = self.write(
            "faulty.jsonl",
            {**PROBLEM, "completion": "    return 3 * n\n"},
            {**MBPP, "completion": "def add(a, b):\n    return a - b"},
            {**STDIN, "code_list": [SUM, "print(3)", "while True: pass"]},
            {**CALL, "code_list": [ORDER.replace("sorted", "list")]},
            {**PLAIN, "code": "print(1"},
        )
        written = self.folder / "report.json"
        status, out, _ = self.run_module("evaluate", file, "--url", URL, "--report", written)
        self.assertEqual(status, 0)
        report = json.loads(written.read_text())
        self.assertEqual(json.loads(out), {name: report[name] for name in report if name != "results"})
        self.assertEqual([report["tasks"], report["samples"], report["pass_at"]], [5, 7, {"1": 0.0667}])
        results = report["results"]
        self.assertEqual([one["verdict"] for one in results], ["RE", "RE", "AC", "WA", "TLE", "WA", "RE"])
        self.assertEqual([one["line"] for one in results], [1, 2, 3, 3, 3, 4, 5])
        self.assertEqual([one["sample"] for one in results[2:5]], [0, 1, 2])
        self.assertEqual([results[0]["task"], results[2]["fault"]], ["HumanEval/0", None])
        self.assertEqual({one["fault"] for one in results if one["verdict"] != "AC"}, {"program"})
        self.assertRegex(results[0]["message"], "AssertionError")
        self.assertRegex(results[4]["limit"], "time")

    def test_an_item_that_is_refused_is_not_judged(self) -> None:
        status, out, _ = self.run_module(
            "evaluate", self.write("refused.jsonl", PLAIN, {**PLAIN, "language": "latin"}), "--url", URL
        )
        report = json.loads(out)
        self.assertEqual([status, report["not_judged"], report["passed"], report["pass_at"]], [1, 1, 1, {"1": 1}])

    def test_long_texts_go_up_as_blobs(self) -> None:
        long = f"{uuid.uuid4()}\n" * 30_000
        line = {**PLAIN, "tests": [{"stdin": long, "expected_stdout": f"{long[:36]}\n"}]}
        self.assertEqual(self.evaluate([line])["passed"], 1)

    def test_it_goes_on_after_a_kill(self) -> None:
        tag = str(uuid.uuid4())
        code = "import time; time.sleep(0.3); print(input())  #"
        lines = [{**PLAIN, "task": str(n), "code": f"{code} {n}", "tag": tag} for n in range(24)]
        file = self.write("killed.jsonl", *lines)
        line = [sys.executable, "-m", "runledger", "evaluate", str(file), "--url", URL, "--batch", "3"]
        with subprocess.Popen(line, env={**os.environ, "RUNLEDGER_API_KEY": KEY}) as killed, Client(URL, KEY) as client:
            while not client.list(tag=tag)["submissions"]:
                self.assertIsNone(killed.poll())
            killed.kill()
        report = self.evaluate(file, batch=3)
        self.assertEqual(report["passed"], 24)
        submitted: list[str] = []
        with Client(URL, KEY) as client:
            page = client.list(tag=tag)
            while page["next_cursor"] is not None:
                submitted += [one["id"] for one in page["submissions"]]
                page = client.list(tag=tag, cursor=page["next_cursor"])
        submitted += [one["id"] for one in page["submissions"]]
        self.assertEqual(sorted(submitted), sorted(str(one["id"]) for one in report["results"]), "nothing twice")

    def test_a_service_that_goes_away(self) -> None:
        code = f"import time; time.sleep(0.2); print(input())  # {uuid.uuid4()}"
        lines = [{**PLAIN, "task": str(n), "code": f"{code} {n}"} for n in range(30)]
        restart: list[threading.Thread] = []

        def kill(progress: EvaluationProgress) -> None:
            if progress.done == 3:
                restart.append(threading.Thread(target=lambda: urllib.request.urlopen(f"{RESTART}/4", b"").close()))
                restart[0].start()

        with Client(URL, KEY, retries=60) as client:
            report = evaluate(lines, client=client, batch=5, on_progress=kill)
        restart[0].join()
        self.assertEqual([report["passed"], report["not_judged"]], [30, 0])


class Mistakes(Folder):
    def test_they_are_listed_by_their_lines_before_anything_is_submitted(self) -> None:
        file = self.write(
            "wrong.jsonl",
            PROBLEM,
            '{"task_id":',
            {"a": 1},
            "[]",
            {**PLAIN, "tests": []},
            {**PLAIN, "code": 1},
            {**PROBLEM, "test": "other"},
            {**STDIN, "code_list": [SUM], "private_test_cases": "AAAA"},
            '{"task": NaN}',
            {"task_id": 1, "test_list": []},
            "[" * 100_000,
            {**CALL, "code_list": [ORDER], "metadata": "[]"},
        )
        with Answers((500, {}, {})) as service, Client(service.url, "k") as client:
            with self.assertRaises(InvalidTasks) as wrong:
                evaluate(file, client=client)
            self.assertEqual(service.asked, [])
        lines = str(wrong.exception).split("\n")
        for line, (number, message) in zip(
            lines,
            [
                (2, "is no JSON"),
                (3, "has no shape that is known"),
                (4, "is no JSON object"),
                (5, "tests has no tests"),
                (6, "has no solution"),
                (7, "has other tests than line 1"),
                (8, "private_test_cases is no packed list"),
                (9, "is no JSON"),
                (10, "test_list has no tests"),
                (11, "is no JSON"),
                (12, "metadata must be an object"),
            ],
        ):
            self.assertRegex(line, f"^{file}:{number}: ({message})")
        self.assertEqual(len(lines), 11)
        twice = self.write("twice.jsonl", PROBLEM, PROBLEM)
        samples = [{"task_id": "HumanEval/0", "completion": ""}, {"task_id": "none", "completion": ""}]
        with self.assertRaises(InvalidTasks) as wrong:
            evaluate(samples, problems=twice)
        self.assertEqual(
            str(wrong.exception).split("\n"),
            [f"{twice}:2: the task HumanEval/0 is there twice", "tasks:2: is of a task that is no problem: none"],
        )
        with self.assertRaises(InvalidTasks) as wrong:
            evaluate([{}] * 25)
        self.assertRegex(str(wrong.exception), r"\nand 5 more$")

    def test_each_ends_the_module_with_a_status_of_its_own(self) -> None:
        right = self.write("right.jsonl", PLAIN)
        nowhere = ["--url", "http://localhost:1"]
        for status, parameters, message in (
            (65, [self.write("empty.jsonl", ""), *nowhere], "there is nothing in it"),
            (66, [self.folder / "absent.jsonl", *nowhere], "No such file"),
            (66, [self.write("cut.jsonl", "a").rename(self.folder / "cut.jsonl.gz"), *nowhere], "gzip"),
            (64, [right, "--batch", "0"], "from 1 to 1000"),
            (64, [right, "--url", "http://example.com"], "https"),
            (66, [right, "--key-file", self.folder / "absent"], "No such file"),
        ):
            ended, _, err = self.run_module("evaluate", *parameters, key="k")
            self.assertEqual(ended, status, err)
            self.assertRegex(err, message)
        self.assertEqual(self.run_module("evaluate", right, *nowhere, key="")[0], 64)
        with Answers((401, {}, {"error": "unauthorized", "message": "no\033[2J"})) as service:
            ended, _, err = self.run_module("evaluate", right, "--url", service.url, key="k")
            self.assertEqual([ended, "\033" in err, "no" in err], [69, False, True])


class Faults(unittest.TestCase):
    def test_what_the_service_lost_is_run_again_under_another_key(self) -> None:
        lines = [{**PLAIN, "task": str(n)} for n in range(3)]
        with Answers(answer(DONE, LOST, LOST), answer(LOST, DONE), answer(DONE)) as service:
            with Client(service.url, "k") as client:
                report = evaluate(lines, client=client)
            self.assertEqual([report["passed"], report["not_judged"]], [3, 0])
            self.assertEqual([len(json.loads(body)["submissions"]) for _, _, _, body in service.asked], [3, 2, 1])
            self.assertEqual({one["priority"] for one in json.loads(service.asked[0][3])["submissions"]}, {"low"})
            self.assertEqual(len({headers["idempotency-key"] for _, _, headers, _ in service.asked}), 3)

    def test_and_never_counted(self) -> None:
        with Answers(answer(LOST)) as service, Client(service.url, "k") as client:
            report = evaluate([PLAIN], client=client)
            self.assertEqual([report["not_judged"], report["pass_at"], len(service.asked)], [1, {}, 6])
            self.assertEqual(report["verdicts"], {"not judged": 1})

    def test_a_service_that_stays_away_is_an_error(self) -> None:
        with Client("http://localhost:1", "k", retries=1) as client, self.assertRaises(RunledgerError):
            evaluate([PLAIN], client=client)
        with mock.patch.dict(os.environ, {"RUNLEDGER_API_KEY": ""}):
            self.assertRaisesRegex(ValueError, "RUNLEDGER_API_KEY", evaluate, [PLAIN])

    def test_pass_at_k_is_the_mean_over_tasks_without_bias(self) -> None:
        def some(task: str, passing: int, of: int) -> list[Any]:
            return [{**PLAIN, "task": task, "tag": "AC" if n < passing else "WA"} for n in range(of)]

        lines = [*some("a", 1, 5), *some("b", 5, 5)]
        ends = [DONE if line["tag"] == "AC" else {**DONE, "verdict": "WA", "fault": "program"} for line in lines]
        with Answers(answer(*ends)) as service, Client(service.url, "k") as client:
            self.assertEqual(evaluate(lines, client=client)["pass_at"], {1: 0.6, 5: 1})

    def test_a_task_without_a_judged_sample_leaves_no_pass_at_k(self) -> None:
        lines = [PLAIN, {**PLAIN, "task": "lost"}]
        with Answers(answer(DONE, LOST), answer(LOST)) as service, Client(service.url, "k") as client:
            report = evaluate(lines, client=client)
        self.assertEqual([report["tasks"], report["not_judged"], report["pass_at"]], [2, 1, {}])


class JavaScript(unittest.TestCase):
    def test_json_is_spelled_as_there(self) -> None:
        for given, spelled in (
            ("[1, 1.0, -0.0, -1.5, 0.1]", "[1,1,0,-1.5,0.1]"),
            ("[1e-9, 1.5e300, 1e21, 0.00001, 1e-7]", "[1e-9,1.5e+300,1e+21,0.00001,1e-7]"),
            ("[12345678901234567890, 1e20, 1e999]", "[12345678901234567000,100000000000000000000,null]"),
            ('{"b": "é\\u2028\\ud800", "10": 0, "2": {}}', '{"2":{},"10":0,"b":"é\u2028\\ud800"}'),
        ):
            self.assertEqual(spell(json.loads(given)), spelled)
        self.assertEqual(spell("é\x7f", ascii=True), '"\\u00e9\\u007f"')

    def test_fields_stand_in_the_order_of_the_command_line(self) -> None:
        asked = read_asked(
            {"code": "1", "task": 1.0, "tests": [{}], "completion": "2", "language": "python", "tag": "t"}
        )
        self.assertEqual([asked.task, list(asked.requests[0])], ["1", ["language", "tests", "code", "tag"]])
        self.assertEqual(asked.requests[0]["code"], "2")


if __name__ == "__main__":
    unittest.main()
