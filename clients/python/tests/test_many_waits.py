"""Two thousand submissions' worth of waits at once, over asyncio."""

from __future__ import annotations

import asyncio
import resource
import threading
import unittest

from runledger import AsyncClient
from support import KEY, URL, with_service

COUNT = 2000
SLEEP = {"language": "python", "code": "import time; time.sleep(90)", "limits": {"wall_time": 100}}


@with_service
class ManyWaits(unittest.TestCase):
    def test_two_thousand_waits(self) -> None:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(COUNT + 500, most[1]), most[1]))
        asyncio.run(self.wait_often())

    async def wait_often(self) -> None:
        async with AsyncClient(URL, KEY, retries=20) as client:
            id = await client.submit(SLEEP)
            before = threading.active_count()
            waits = [asyncio.ensure_future(client.wait(id)) for _ in range(COUNT)]
            # Some seconds, so that most of them wait at the service; whoever comes later is answered at once.
            await asyncio.wait(waits, timeout=3)
            self.assertLess(threading.active_count() - before, 10)
            await client.cancel(id)
            ended = await asyncio.gather(*waits)
        self.assertEqual({one["status"] for one in ended}, {"cancelled"})


if __name__ == "__main__":
    unittest.main()
