# Uses the system as Python submissions do. All of it must work under the filter.
import asyncio
import mmap
import multiprocessing
import os
import shutil
import subprocess
import threading


def square(number):
    return number * number


async def talk():
    child = await asyncio.create_subprocess_exec('/usr/bin/true')
    assert await child.wait() == 0

    async def answer(_, writer):
        writer.write(b'hello')
        writer.close()

    server = await asyncio.start_unix_server(answer, '/tmp/talk')
    reader, writer = await asyncio.open_unix_connection('/tmp/talk')
    assert await reader.read() == b'hello'
    writer.close()
    server.close()


if __name__ == '__main__':
    done = []
    threads = [threading.Thread(target=done.append, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(8))
    assert subprocess.run(['echo', 'x'], capture_output=True).stdout == b'x\n'
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, range(4)) == [0, 1, 4, 9]
    asyncio.run(talk())
    with open('/box/a', 'wb') as file:
        file.write(b'x' * 300_000)
    shutil.copy2('/box/a', '/box/b')
    assert os.path.getsize('/box/b') == 300_000
    with open('/box/a', 'r+b') as file:
        os.fsync(file.fileno())
        with mmap.mmap(file.fileno(), 0) as mapping:
            mapping.flush()
    print('threads subprocess pool asyncio copy flush')
