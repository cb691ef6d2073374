"""Rewards, called as TRL and verl call a reward function; never one for what the service failed at."""

from __future__ import annotations

import inspect
import json
import os
import unittest
from unittest import mock

from runledger import Client, PlatformError, RequestError, SubmissionFailed
from runledger.rewards import (
    batch_reward,
    compute_score,
    compute_scores,
    default_client,
    extract_code,
    read_tests,
    trl_reward,
)
from support import KEY, URL, Answers, with_service

DOUBLE = [{"stdin": "2", "expected_stdout": "4"}, {"stdin": "3", "expected_stdout": "6"}]
RIGHT, HALF, WRONG = "print(int(input()) * 2)", "print(4)", "print('no')"
DONE = {"id": "a", "status": "completed", "verdict": "AC", "fault": None, "retry": "never", "tests": None}
LOST = {**DONE, "status": "failed", "verdict": "IE", "fault": "platform", "retry": "new_key"}


def answer(text: str) -> str:
    return f"Let me think: ```2 * 2```.\n```python\nprint(0)\n```\nNo:\n```python\n{text}\n```\nDone."


@with_service
class Rewards(unittest.TestCase):
    def setUp(self) -> None:
        settings = mock.patch.dict(os.environ, {"RUNLEDGER_URL": URL, "RUNLEDGER_API_KEY": KEY})
        settings.start()
        default_client.cache_clear()
        self.addCleanup(settings.stop)
        self.addCleanup(lambda: default_client().close())

    def test_batch_reward(self) -> None:
        programs = [RIGHT, HALF, WRONG, "raise Exception", "while True: pass", "x" * 70_000, "syntax error"]
        tests = [DOUBLE] * len(programs)
        self.assertEqual(batch_reward(programs, tests, limits={"cpu_time": 1}), [1, 0, 0, 0, 0, 0, 0])
        self.assertEqual(batch_reward(programs[:3], tests[:3], partial=True), [1, 0.5, 0])
        self.assertEqual(batch_reward([], []), [])

    def test_trl(self) -> None:
        # As GRPOTrainer calls it: by name, the data set's columns among the arguments.
        rewards = trl_reward(
            prompts=["p", "p", "p"],
            completions=[[{"role": "assistant", "content": answer(RIGHT)}], answer(WRONG), RIGHT],
            completion_ids=[[1], [2], [3]],
            tests=[DOUBLE, DOUBLE, json.dumps(DOUBLE)],
            trainer_state=None,
        )
        self.assertEqual(rewards, [1.0, 0.0, 1.0])
        self.assertEqual([type(reward) for reward in rewards], [float, float, float])
        self.assertEqual(list(inspect.signature(trl_reward).parameters)[:2], ["prompts", "completions"])

    def test_verl(self) -> None:
        ground_truth = json.dumps({"inputs": ["2", "3"], "outputs": ["4", "6"]})
        self.assertEqual(compute_score("apps", answer(RIGHT), ground_truth, {"split": "train"}), 1.0)
        given = dict(data_source="apps", solution_str=answer(HALF), ground_truth=ground_truth, extra_info=None)
        self.assertEqual(compute_score(**given), 0.0)
        many = compute_scores(["a", "a"], [answer(RIGHT), "nothing"], [ground_truth] * 2, [None, {}])
        self.assertEqual(many, [1.0, 0.0])

    def test_a_checker_of_ones_own_that_fails_is_no_reward(self) -> None:
        checker = {"type": "program", "language": "python", "code": "raise SystemExit(9)"}
        with self.assertRaises(RequestError):
            batch_reward([RIGHT], [DOUBLE], checker=checker)


class Faults(unittest.TestCase):
    def test_what_the_service_lost_is_run_again(self) -> None:
        # Three tries of `run`, then the whole again.
        with Answers(*[(200, {}, LOST)] * 4, (200, {}, DONE)) as service, Client(service.url, "k") as client:
            self.assertEqual(batch_reward([RIGHT], [DOUBLE], client=client), [1.0])
            self.assertEqual(len({headers["idempotency-key"] for _, _, headers, _ in service.asked}), 5)

    def test_or_raised_but_never_a_reward(self) -> None:
        with Answers((200, {}, LOST)) as service, Client(service.url, "k") as client:
            with self.assertRaises(SubmissionFailed):
                batch_reward([RIGHT], [DOUBLE], client=client)
            self.assertEqual(len(service.asked), 9)
        with Answers((200, {}, {**DONE, "status": "cancelled", "verdict": None})) as service:
            with Client(service.url, "k") as client, self.assertRaises(SubmissionFailed):
                batch_reward([RIGHT], [DOUBLE], client=client)
        with Answers(
            (500, {}, {"error": "internal", "message": "m", "fault": "platform", "retry": "never"})
        ) as service:
            with Client(service.url, "k") as client, self.assertRaises(PlatformError):
                batch_reward([RIGHT], [DOUBLE], client=client)

    def test_bad_input(self) -> None:
        with Client("http://localhost:1", "k") as client:
            for tests in ([], [[]], [[{"stdin": "1"}]], [{"inputs": ["1"], "outputs": []}], ["no JSON"]):
                with self.assertRaises(ValueError):
                    batch_reward([RIGHT], tests, client=client)
        with mock.patch.dict(os.environ, {"RUNLEDGER_API_KEY": ""}):
            default_client.cache_clear()
            self.assertRaisesRegex(ValueError, "RUNLEDGER_API_KEY", batch_reward, [RIGHT], [DOUBLE])
        self.assertEqual(extract_code("print(1)"), "print(1)")
        self.assertEqual(extract_code(answer("print(1)")), "print(1)\n")
        self.assertEqual(read_tests({"inputs": ["1"], "outputs": ["2"]}), [{"stdin": "1", "expected_stdout": "2"}])


if __name__ == "__main__":
    unittest.main()
