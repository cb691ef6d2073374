"""Webhooks: what the published library signs is taken, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unittest
from typing import Dict

from runledger import verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = json.dumps({"type": "submission.completed", "timestamp": "", "data": {"id": "ä"}}, ensure_ascii=False)


def sign(at: int, secret: bytes = base64.b64decode(SECRET[6:]), body: str = BODY) -> Dict[str, str]:
    digest = hmac.new(secret, f"msg_1.{at}.{body}".encode(), hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(digest).decode()
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature}


class Webhooks(unittest.TestCase):
    def test_the_vector_that_standard_webhooks_publishes(self) -> None:
        headers = {
            "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "Webhook-Timestamp": "1614265330",
            "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        body = '{"test": 2432232314}'
        self.assertEqual(verify_webhook(headers, body, SECRET, now=1614265330), {"test": 2432232314})

    def test_what_is_signed(self) -> None:
        headers = sign(int(time.time()))
        for given in (BODY, BODY.encode()):
            payload = verify_webhook(headers, given, SECRET)
            self.assertEqual(payload and payload["data"]["id"], "ä")
        headers["webhook-signature"] = "v1,AAAA v1,ü " + headers["webhook-signature"]
        self.assertIsNotNone(verify_webhook(headers, BODY, SECRET))
        plain = sign(int(time.time()), b"a plain secret")
        self.assertIsNotNone(verify_webhook(plain, BODY, "a plain secret"))

    def test_what_is_not(self) -> None:
        headers = sign(int(time.time()))
        signature = headers["webhook-signature"]
        bad = [
            (headers, BODY + " ", SECRET),
            (headers, BODY, "whsec_AAAA"),
            ({**headers, "webhook-id": "msg_2"}, BODY, SECRET),
            ({**headers, "webhook-signature": signature.replace("v1,", "v2,")}, BODY, SECRET),
            ({**headers, "webhook-signature": ""}, BODY, SECRET),
            ({**headers, "webhook-timestamp": "٣"}, BODY, SECRET),
            ({}, BODY, SECRET),
        ]
        for received in bad:
            self.assertIsNone(verify_webhook(*received))

    def test_five_minutes(self) -> None:
        now = 1_800_000_000
        for seconds, is_taken in ((-301, False), (-300, True), (300, True), (301, False)):
            payload = verify_webhook(sign(now + seconds), BODY, SECRET, now=now)
            self.assertEqual(payload is not None, is_taken, seconds)


if __name__ == "__main__":
    unittest.main()
