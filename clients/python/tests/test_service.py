"""Both clients against a real service: each call, and what comes of it."""

from __future__ import annotations

import base64
import urllib.request
import uuid
from typing import Any

from runledger import InvalidReceipt, Progress, RequestError, WaitTimeout, verify_receipt
from support import URL, both, with_service

PRINT = {"language": "python", "code": "print(6 * 7)"}
SLEEP = {
    "language": "python",
    "code": "import time; print('up', flush=True); time.sleep(90)",
    "limits": {"wall_time": 100},
}


@with_service
class Service:
    client: Any
    assertEqual: Any
    assertRaises: Any
    assertIn: Any
    assertTrue: Any
    assertRegex: Any

    def test_run(self) -> None:
        result = self.client().run({"language": "python", "code": "print(input()[::-1])", "stdin": "grüße"})
        self.assertEqual([result["status"], result["verdict"], result["stdout"]], ["completed", "AC", "eßürg\n"])
        self.assertEqual([result["fault"], result["retry"]], [None, "never"])

    def test_submit_wait_and_read(self) -> None:
        client = self.client()
        key = str(uuid.uuid4())
        id = client.submit(PRINT, idempotency_key=key)
        self.assertEqual(client.submit(PRINT, idempotency_key=key), id)
        self.assertEqual(client.run(PRINT, idempotency_key=key)["id"], id)
        self.assertEqual(client.wait(id)["stdout"], "42\n")
        self.assertEqual(client.read(id)["verdict"], "AC")
        self.assertEqual(client.request(id)["request"], PRINT)
        self.assertEqual(client.events(id)[0]["type"], "submission.received")

    def test_tests_and_checkers(self) -> None:
        client = self.client()
        request = {
            "language": "python",
            "code": "print(float(input()) / 3)",
            "tests": [
                {"name": "close", "stdin": "1", "expected_stdout": "0.333333"},
                {"name": "far", "stdin": "1", "expected_stdout": "0.34"},
            ],
            "checker": {"type": "floats", "absolute": 1e-3},
        }
        result = client.run(request)
        self.assertEqual([test["verdict"] for test in result["tests"]], ["AC", "WA"])
        self.assertEqual(result["difference"]["line"], 1)
        judge = "import sys; sys.exit(0 if open(sys.argv[2]).read() > '0.3' else 1)"
        request["checker"] = {"type": "program", "language": "python", "code": judge}
        self.assertEqual(client.run(request)["verdict"], "AC")

    def test_files(self) -> None:
        result = self.client().run(
            {
                "language": "python",
                "code": "open('out.txt', 'w').write(open('data/in.txt').read() * 2)",
                "files": [{"name": "data/in.txt", "content": "ab"}],
                "output_files": ["out.txt"],
            }
        )
        [left] = result["files"]
        self.assertEqual([left["name"], base64.b64decode(left["content"])], ["out.txt", b"abab"])

    def test_blobs(self) -> None:
        client = self.client()
        data = uuid.uuid4().hex.encode() * 10_000
        name = client.put_blob(data)
        self.assertTrue(client.has_blob(name))
        self.assertEqual(client.has_blob("0" * 64), False)
        code = "import sys; print(len(sys.stdin.read()))"
        result = client.run({"language": "python", "code": code, "stdin_sha256": name})
        self.assertEqual(result["stdout"], "320000\n")

    def test_batches_results_and_lists(self) -> None:
        client = self.client()
        tag = str(uuid.uuid4())
        good, bad = client.submit_batch([{**PRINT, "tag": tag}, {"language": "latin", "code": ""}])
        self.assertEqual([bad["error"], bad["issues"][0]["path"]], ["invalid_request", "language"])
        client.wait(good["id"])
        absent = str(uuid.uuid4())
        told = client.results([absent, good["id"]])
        self.assertEqual([told[0]["error"], told[1]["stdout"]], ["not_found", "42\n"])
        page = client.list(tag=tag, verdict="AC", limit=1, preview=True)
        self.assertEqual([one["id"] for one in page["submissions"]], [good["id"]])
        self.assertEqual(client.list(tag=tag, verdict="WA")["submissions"], [])
        self.assertIn("python", [language["name"] for language in client.languages()])

    def test_cancel_and_rerun(self) -> None:
        client = self.client()
        id = client.submit(SLEEP)
        for event in client.stream(id):
            if event["event"] == "stdout":
                break
        with self.assertRaises(WaitTimeout) as late:
            client.wait(id, timeout=0.3)
        self.assertEqual([late.exception.id, isinstance(late.exception, TimeoutError)], [id, True])
        with self.assertRaises(RequestError) as early:
            client.rerun(id)
        self.assertEqual([early.exception.status, early.exception.code], [409, "not_final"])
        client.cancel(id)
        ended = client.wait(id)
        self.assertEqual([ended["status"], ended["stdout"]], ["cancelled", "up\n"])
        again = client.rerun(id)
        self.assertEqual(client.cancel(again)["rerun_of"], id)

    def test_stream(self) -> None:
        client = self.client()
        id = client.submit({"language": "python", "code": "print('ü' * 70_000)"})
        told = list(client.stream(id))
        self.assertEqual([told[0]["event"], told[-1]["event"]], ["submitted", "result"])
        self.assertEqual(told[-1]["data"]["verdict"], "AC")
        text = "".join(one["data"]["text"] for one in told if one["event"] == "stdout")
        self.assertEqual(text, "ü" * 70_000 + "\n")
        # What has ended is told in larger pieces than what goes on.
        told = list(client.stream(id))
        rest = list(client.stream(id, last_event_id=told[1]["position"]))
        self.assertEqual(rest, told[2:])
        self.assertEqual(list(client.stream(id, last_event_id=told[-1]["position"])), [])

    def test_receipt(self) -> None:
        client = self.client()
        id = client.run(PRINT)["id"]
        receipt = client.receipt(id)
        with urllib.request.urlopen(f"{URL}/receipt-key") as answer:
            pem = answer.read()
        try:
            import cryptography  # noqa: F401
        except ImportError:
            with self.assertRaises(ImportError) as missing:
                verify_receipt(receipt, pem)
            self.assertRegex(str(missing.exception), r"pip install 'runledger\[receipts\]'")
            return
        said = verify_receipt(receipt, pem)
        self.assertEqual([said["submission"], said["end"]["verdict"]], [id, "AC"])
        forged = base64.b64encode(base64.b64decode(receipt["payload"]).replace(b'"AC"', b'"WA"')).decode()
        for bad in ({**receipt, "payload": forged}, {**receipt, "signatures": []}, "no", {}):
            with self.assertRaises(InvalidReceipt):
                verify_receipt(bad, pem)

    def test_refusals(self) -> None:
        client = self.client()
        with self.assertRaises(RequestError) as refused:
            client.run({"language": "latin", "code": "\ud800"})
        error = refused.exception
        self.assertEqual(
            [error.status, error.code, error.fault, error.retry], [400, "invalid_request", "caller", "never"]
        )
        with self.assertRaises(RequestError) as refused:
            client.submit({"language": "latin", "code": ""})
        self.assertEqual(refused.exception.issues[0]["path"], "language")
        with self.assertRaises(RequestError) as refused:
            client.read("a/../b")
        self.assertEqual([refused.exception.status, refused.exception.code], [404, "not_found"])
        with self.assertRaises(RequestError) as refused:
            next(iter(client.stream(str(uuid.uuid4()))))
        self.assertEqual(refused.exception.status, 404)
        with self.assertRaises(RequestError) as refused:
            self.client(key="rl_live_nothing").languages()
        self.assertEqual(refused.exception.code, "unauthorized")

    def test_many(self) -> None:
        client = self.client()
        told: list[Progress] = []
        requests = [{"language": "python", "code": f"print({number})"} for number in range(12)]
        results = client.run_many(requests, concurrency=4, on_progress=told.append)
        self.assertEqual([result["stdout"] for result in results], [f"{number}\n" for number in range(12)])
        self.assertEqual([one.done for one in told], list(range(1, 13)))
        self.assertEqual([told[-1].total, told[-1].failed, told[-1].remaining], [12, 0, 0])
        self.assertTrue(told[-1].rate > 0)

    def test_an_error_of_one_ends_no_other(self) -> None:
        client = self.client()
        requests = [PRINT, {"language": "latin", "code": ""}, PRINT]
        outcomes = sorted(client.map(iter(requests), concurrency=2), key=lambda one: one.index)
        self.assertEqual([one.error and one.error.code for one in outcomes], [None, "invalid_request", None])
        self.assertEqual(outcomes[2].get()["stdout"], "42\n")
        with self.assertRaises(RequestError):
            outcomes[1].get()
        with self.assertRaises(RequestError):
            client.run_many(requests)


ServiceSync, ServiceAsync = both(Service)
del Service
