"""Batches whose items come as they end: on a real service, over ways that break, and what a broken item is."""

from __future__ import annotations

import json
import threading
import unittest
import urllib.request
import uuid
from typing import Any

from runledger import PlatformError, RequestError
from support import RESTART, URL, Answers, Proxy, both, with_service

PRINT = {"language": "python", "code": "print(6 * 7)"}
DONE = {"id": "a", "status": "completed", "verdict": "AC", "fault": None, "retry": "never"}
REFUSED = {
    "error": "invalid_request",
    "message": "m",
    "fault": "caller",
    "retry": "never",
    "issues": [{"path": "code"}],
}
STREAM = {"Content-Type": "application/x-ndjson"}


def lines(*items: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


def cut_after(*items: dict[str, Any]) -> Any:
    """Sends these, begins a line, and ends the connection."""

    def answer(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        data = lines(*items) + b'{"index": 0, "id"'
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    return answer


@with_service
class Batches:
    client: Any
    assertEqual: Any
    assertRaises: Any
    assertTrue: Any

    def test_each_item_comes_once(self) -> None:
        late = {"language": "python", "code": "import time; time.sleep(0.5); print('late')"}
        first, *others = self.client().run_batch([late, PRINT, {"language": "latin", "code": ""}])
        with self.assertRaises(RequestError) as refused:
            first.get()
        error = refused.exception
        self.assertEqual([first.index, error.code, error.fault], [2, "invalid_request", "caller"])
        self.assertEqual(error.issues[0]["path"], "language")
        others.sort(key=lambda one: one.index)
        self.assertEqual([one.get()["stdout"] for one in others], ["late\n", "42\n"])
        self.assertEqual(others[1].request, PRINT)

    def test_a_hundred_over_a_way_that_breaks(self) -> None:
        with Proxy(URL, 0, 5000, 20_000, 20_000) as proxy:
            requests = [{"language": "python", "code": f"print({n})"} for n in range(100)]
            outcomes = list(self.client(proxy.url).run_batch(requests))
            self.assertEqual(sorted(one.index for one in outcomes), list(range(100)))
            for one in outcomes:
                self.assertEqual(one.get()["stdout"], f"{one.index}\n")
            self.assertTrue(proxy.connections > 4)

    def test_what_was_left_goes_on_under_its_key(self) -> None:
        client = self.client()
        key = str(uuid.uuid4())
        batch = [PRINT, {"language": "python", "code": "import time; time.sleep(1); print('late')"}]
        outcomes = client.run_batch(batch, idempotency_key=key)
        first = next(outcomes)
        outcomes.close()
        again = {one.index: one.get()["id"] for one in client.run_batch(batch, idempotency_key=key)}
        self.assertEqual([sorted(again), again[first.index]], [[0, 1], first.get()["id"]])

    def test_a_service_that_dies_and_comes_back(self) -> None:
        batch = [{"language": "python", "code": f"import time; time.sleep(0.5); print({n})"} for n in range(12)]
        for seconds in (0, 4):
            outcomes = self.client(retries=60).run_batch(batch)
            seen = [next(outcomes)]
            restart = threading.Thread(target=lambda s=seconds: urllib.request.urlopen(f"{RESTART}/{s}", b"").close())
            restart.start()
            seen += outcomes
            restart.join()
            self.assertEqual(sorted(one.get()["stdout"] for one in seen), sorted(f"{n}\n" for n in range(12)))

    def test_what_was_submitted_has_the_id_of_its_webhook(self) -> None:
        webhook = {"webhook_url": "https://hook.invalid/", "webhook_secret": "a secret of some length"}
        client = self.client()
        bad = {"language": "latin", "code": ""}
        good, refused = batch = client.submit_batch([PRINT, bad], **webhook)
        self.assertEqual(refused["error"], "invalid_request")
        self.assertEqual(client.events(good["id"])[0]["data"]["batch"], batch.id)
        self.assertEqual(client.submit_batch([bad], **webhook).id, None)
        self.assertEqual(client.submit_batch([PRINT]).id, None)

    def test_one_too_many_is_refused(self) -> None:
        with self.assertRaises(RequestError) as refused:
            list(self.client().run_batch([PRINT] * 1001))
        self.assertEqual(refused.exception.code, "invalid_request")
        self.assertEqual(list(self.client().run_batch([])), [])


class Broken:
    client: Any
    assertEqual: Any
    assertRaises: Any

    def test_it_asks_again_for_what_it_has_not(self) -> None:
        batch = [{**PRINT, "tag": str(n)} for n in range(5)]
        with Answers(
            (503, {"Retry-After": "0"}, {"error": "unavailable", "message": "m", "retry": "after"}),
            cut_after({**REFUSED, "index": 4}, {**DONE, "index": 1}),
            (200, STREAM, lines({**DONE, "index": 2})),
            cut_after(),
            (200, STREAM, lines({**DONE, "index": 0}, {**DONE, "index": 3})),
        ) as service:
            outcomes = list(self.client(service.url).run_batch(batch))
            self.assertEqual([one.index for one in outcomes], [4, 1, 2, 0, 3])
            self.assertEqual([one.error and one.error.code for one in outcomes[:2]], ["invalid_request", None])
            have = [path.partition("?")[2] for _, path, _, _ in service.asked]
            self.assertEqual(have, ["", "", "have=1,4", "have=1-2,4", "have=1-2,4"])
            self.assertEqual(len({headers["idempotency-key"] for _, _, headers, _ in service.asked}), 1)
            self.assertEqual(len({body for _, _, _, body in service.asked}), 1)

    def test_its_webhook_is_asked_for_beside_the_items(self) -> None:
        webhook = {"webhook_url": "https://example.com/", "webhook_secret": "a secret of some length"}
        answered = (202, {}, {"id": "b", "submissions": [{"id": "a"}]})
        with Answers((200, STREAM, lines({**DONE, "index": 0})), answered) as service:
            client = self.client(service.url)
            self.assertEqual(len(list(client.run_batch([PRINT], **webhook))), 1)
            submitted = client.submit_batch([PRINT], **webhook)
            self.assertEqual([submitted, submitted.id], [[{"id": "a"}], "b"])
            for _, _, _, body in service.asked:
                self.assertEqual(json.loads(body), {"submissions": [PRINT], **webhook})

    def test_it_gives_up(self) -> None:
        with Answers(cut_after()) as service:
            with self.assertRaises(PlatformError):
                list(self.client(service.url, retries=1).run_batch([PRINT]))
            self.assertEqual(len(service.asked), 2)
        with Answers((413, {}, {"error": "too_large", "message": "m"})) as service:
            with self.assertRaises(RequestError):
                list(self.client(service.url).run_batch([PRINT]))
            self.assertEqual(len(service.asked), 1)

    def test_silence_is_no_end(self) -> None:
        def silent(handler: Any) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            handler.wfile.flush()
            handler.rfile.read(1)

        with Answers(silent, silent, silent, (200, STREAM, lines({**DONE, "index": 0}))) as service:
            outcomes = self.client(service.url, retries=0, timeout=0.3).run_batch([PRINT])
            self.assertEqual([one.get()["verdict"] for one in outcomes], ["AC"])


BatchesSync, BatchesAsync = both(Batches)
BrokenSync, BrokenAsync = both(Broken)
del Batches, Broken


if __name__ == "__main__":
    unittest.main()
