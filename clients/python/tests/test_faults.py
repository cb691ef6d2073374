"""What a client does when the service, or the way to it, fails."""

from __future__ import annotations

import os
import pickle
import socket
import ssl
import threading
import time
import unittest
import urllib.request
from typing import Any

from runledger import Client, PlatformError, RequestError, RunledgerError, Unreachable
from support import (
    CERTIFICATES,
    RESTART,
    URL,
    Answers,
    Proxy,
    both,
    cut,
    cut_body,
    until,
    with_certificates,
    with_service,
)

PRINT = {"language": "python", "code": "print(1)"}
DONE = {"id": "a", "status": "completed", "verdict": "AC", "fault": None, "retry": "never"}
LOST = {"id": "b", "status": "failed", "verdict": "IE", "fault": "platform", "retry": "new_key"}
BUSY = (503, {"Retry-After": "1"}, {"error": "queue_full", "message": "full", "fault": "platform", "retry": "after"})


def keys(service: Answers) -> list[str]:
    return [headers["idempotency-key"] for _, _, headers, _ in service.asked]


class Faults:
    client: Any
    assertEqual: Any
    assertRaises: Any
    assertRegex: Any
    assertTrue: Any
    assertLess: Any

    def test_it_asks_again_under_the_same_key(self) -> None:
        with Answers(cut, BUSY, cut_body, (202, {}, {"id": "x"})) as service:
            start = time.monotonic()
            self.assertEqual(self.client(service.url).submit(PRINT), "x")
            self.assertTrue(time.monotonic() - start >= 1, "Retry-After was honoured")
            self.assertEqual([len(keys(service)), len(set(keys(service)))], [4, 1])
            self.assertEqual(len({body for _, _, _, body in service.asked}), 1)

    def test_a_router_and_a_rate_limit_are_asked_again(self) -> None:
        router = (502, {}, b"<html>bad gateway</html>")
        limited = (429, {"Retry-After": "0"}, {"error": "rate_limited", "message": "m", "retry": "after"})
        with Answers(router, limited, (200, {}, DONE)) as service:
            self.assertEqual(self.client(service.url).read("a"), DONE)

    def test_it_gives_up(self) -> None:
        with Answers(BUSY) as service:
            with self.assertRaises(PlatformError) as busy:
                self.client(service.url, retries=0).submit(PRINT)
            error = busy.exception
            self.assertEqual(
                [error.status, error.code, error.retry, error.retry_after], [503, "queue_full", "after", 1]
            )
            with self.assertRaises(PlatformError):
                self.client(service.url, retries=1).submit(PRINT)
            self.assertEqual(len(service.asked), 3)

    def test_what_is_the_callers_fault_is_not_asked_again(self) -> None:
        with Answers((400, {}, {"error": "invalid_request", "message": "m", "issues": [{"path": "code"}]})) as service:
            with self.assertRaises(RequestError) as refused:
                self.client(service.url).run(PRINT)
            self.assertEqual([refused.exception.fault, refused.exception.issues], ["caller", [{"path": "code"}]])
            self.assertEqual(len(service.asked), 1)

    def test_the_word_of_the_service_counts(self) -> None:
        never = (500, {}, {"error": "internal", "message": "m", "fault": "platform", "retry": "never"})
        with Answers(never) as service:
            with self.assertRaises(PlatformError):
                self.client(service.url).read("a")
            self.assertEqual(len(service.asked), 1)

    def test_what_was_lost_is_submitted_again_under_another_key(self) -> None:
        with Answers((200, {}, LOST), (200, {}, LOST), (200, {}, DONE)) as service:
            self.assertEqual(self.client(service.url).run(PRINT), DONE)
            self.assertEqual(len(set(keys(service))), 3)
        with Answers((200, {}, LOST)) as service:
            client = self.client(service.url)
            self.assertEqual(client.run(PRINT), LOST)
            self.assertEqual(len(service.asked), 3)
            own = "0190a1b2-0000-7000-8000-000000000000"
            self.assertEqual(client.run(PRINT, idempotency_key=own), LOST)
            self.assertEqual([len(service.asked), keys(service)[3]], [4, own])

    def test_a_submission_that_goes_on_is_waited_for(self) -> None:
        late = (408, {}, {"error": "timeout", "message": "m", "fault": "platform", "retry": "same_key", "id": "a"})
        running = (200, {}, {**DONE, "status": "running"})
        with Answers(late, running, (200, {}, DONE)) as service:
            self.assertEqual(self.client(service.url).run(PRINT), DONE)
            asked = [(method, path) for method, path, _, _ in service.asked]
            again = ("GET", "/api/result/a?wait=true")
            self.assertEqual(asked, [("POST", "/api/submit?wait=true"), again, again])

    def test_connections_are_kept_and_those_that_ended_replaced(self) -> None:
        with Answers((200, {}, DONE)) as service:
            client = self.client(service.url, retries=0)
            for _ in range(5):
                client.read("a")
            self.assertEqual(service.connections, 1)
            service.script = [cut, (200, {}, DONE)]
            self.assertEqual(client.read("a"), DONE)
            self.assertEqual(service.connections, 2)

    def test_no_answer_names_the_service_and_the_cause(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
            with self.assertRaises(Unreachable) as silent:
                self.client(url, retries=0).read("a")
            with self.assertRaises(Unreachable) as streamed:
                next(iter(self.client(url, retries=0).stream("a")))
        for error in (silent.exception, streamed.exception):
            self.assertEqual(str(error), f"no answer from {url} (Connection refused)")
            self.assertEqual(
                [error.status, error.code, error.fault, error.retry], [0, "unreachable", "platform", "same_key"]
            )
            self.assertTrue(isinstance(error.__cause__, ConnectionRefusedError))
        with Answers(lambda handler: time.sleep(3)) as service:
            with self.assertRaises(Unreachable) as late:
                self.client(service.url, retries=0, timeout=0.2).read("a")
            self.assertRegex(str(late.exception), r"nothing came in time")

    @with_certificates
    def test_certificates(self) -> None:
        trusted = ssl.create_default_context(cafile=f"{CERTIFICATES}/authority.pem")
        causes = {"self": "self.signed certificate", "other": "(not valid for|mismatch)", "old": "expired"}
        for name, cause in causes.items():
            with Answers((200, {}, DONE), certificate=name) as service:
                with self.assertRaises(Unreachable) as error:
                    self.client(service.url, retries=0, tls=trusted).read("a")
                self.assertRegex(str(error.exception), f"no answer from {service.url} .*{cause}")
                self.assertEqual(service.asked, [])
        with Answers((200, {}, DONE), certificate="good") as service:
            self.assertEqual(self.client(service.url, tls=trusted).read("a"), DONE)
            with self.assertRaises(Unreachable):
                self.client(service.url, retries=0).read("a")

    def test_a_redirect_is_not_followed(self) -> None:
        with Answers((200, {}, DONE)) as other, Answers((307, {"Location": other.url}, b"")) as service:
            with self.assertRaises(RunledgerError) as error:
                self.client(service.url, retries=0).read("a")
            self.assertEqual([error.exception.status, other.asked], [307, []])

    def test_the_key_goes_in_the_clear_to_this_machine_only(self) -> None:
        for url in (
            "http://example.com",
            "http://localhost.example.com",
            "ftp://x",
            "http://127.0.0.1.example.com",
            "x",
        ):
            with self.assertRaises(ValueError):
                Client(url, "k")
        for key in ("a b", "a\r\nX-Other: 1"):
            with self.assertRaises(ValueError):
                Client("https://example.com", key)
        with self.assertRaises(ValueError):
            self.client("http://localhost").submit(PRINT, idempotency_key="a\nb")

    def test_a_broken_stream_goes_on(self) -> None:
        first = b'id: 1\nevent: submitted\ndata: {"id":"a"}\n\nid: 2\nevent: stdout\ndata: {"off'
        second = b'id: 2\nevent: stdout\ndata: {"offset":0,"text":"x"}\n\n: still here\n\n'
        third = b'id: 3\nevent: result\ndata: {"id":"a"}\n\n'

        def tell(text: bytes, ends_well: bool) -> Any:
            def step(handler: Any) -> None:
                chunk = b"%x\r\n%s\r\n" % (len(text), text)
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
                if ends_well:
                    handler.wfile.write(b"0\r\n\r\n")

            return step

        with Answers(tell(first, False), BUSY, tell(second, True), tell(third, False)) as service:
            told = list(self.client(service.url).stream("a"))
            self.assertEqual([one["event"] for one in told], ["submitted", "stdout", "result"])
            after = [headers.get("last-event-id") for _, _, headers, _ in service.asked]
            self.assertEqual(after, [None, "1", "1", "2"])
        with Answers(tell(b": nothing\n\n", False)) as service:
            with self.assertRaises(Unreachable):
                list(self.client(service.url, retries=1).stream("a"))
            self.assertEqual(len(service.asked), 2)

    @with_service
    def test_an_answer_that_is_cut_off_runs_nothing_twice(self) -> None:
        tag = f"cut {type(self).__name__} {time.time()}"
        with Proxy(URL, 1, 40) as proxy:
            result = self.client(proxy.url).run({**PRINT, "tag": tag})
            self.assertEqual([result["stdout"], proxy.connections >= 3], ["1\n", True])
        stored = self.client().list(tag=tag)["submissions"]
        self.assertEqual([one["id"] for one in stored], [result["id"]])

    @with_service
    def test_a_stream_that_is_cut_off_tells_each_event_once(self) -> None:
        client = self.client()
        id = client.submit({"language": "python", "code": "print('ü' * 60_000)"})
        client.wait(id)
        whole = list(client.stream(id))
        with Proxy(URL, 300, 700, 70_000, 100_000) as proxy:
            self.assertEqual(list(self.client(proxy.url, retries=10).stream(id)), whole)
            self.assertTrue(proxy.connections >= 4)

    @with_service
    @unittest.skipUnless(RESTART, "RUNLEDGER_TEST_RESTART names nothing that restarts the service")
    def test_a_web_process_that_is_killed_is_waited_for(self) -> None:
        client = self.client(retries=60)
        code = "import time\nprint('up', flush=True)\ntime.sleep(2)\nprint('end')"
        id = client.submit({"language": "python", "code": code})
        told: list[Any] = []
        follower = self.client(retries=60)
        following = threading.Thread(target=lambda: told.extend(follower.stream(id)))
        following.start()
        until(lambda: client.read(id)["status"] != "queued")
        urllib.request.urlopen(urllib.request.Request(RESTART, method="POST")).close()
        self.assertEqual(client.wait(id)["stdout"], "up\nend\n")
        following.join()
        text = "".join(one["data"]["text"] for one in told if one["event"] == "stdout")
        self.assertEqual([text, told[-1]["event"]], ["up\nend\n", "result"])


FaultsSync, FaultsAsync = both(Faults)
del Faults


class Rest(unittest.TestCase):
    def test_errors_cross_processes(self) -> None:
        error = pickle.loads(pickle.dumps(RequestError("m", status=400, code="invalid_request", fault="caller")))
        self.assertEqual([str(error), error.status, error.code, error.fault], ["m", 400, "invalid_request", "caller"])

    def test_a_fork_leaves_the_connections_to_its_parent(self) -> None:
        with Answers((200, {}, DONE)) as service, Client(service.url, "k") as client:
            client.read("a")
            child = os.fork()
            if child == 0:
                os._exit(0 if client._transport.take() is None else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            # What the child closed is open here.
            client.read("a")
            self.assertEqual(service.connections, 1)


if __name__ == "__main__":
    unittest.main()
