// A box has Unix sockets: what programs do with them works, and no run finds another run's sockets.
// test/hostile/attack/escape-network.ts tests that it has no others.
import t from 'tap'
import type { Test } from 'tap'
import { run, startExecutor } from '../../helper/executor.ts'

const executor = await startExecutor(t, { slots: 1, languages: ['python', 'java'] })
const print = async (t: Test, code: string): Promise<string> => {
  const phase = await run(executor, 'python', code)
  t.match(phase, { exitCode: 0, stderr: '' }, code)
  return phase.stdout
}

const programs: readonly [name: string, printed: string, program: string][] = [
  ['a pair of sockets and a selector', "[True] b'x'\n", `
import selectors, socket
a, b = socket.socketpair(); s = selectors.DefaultSelector(); s.register(b, selectors.EVENT_READ)
a.send(b'x'); print([key.fileobj is b for key, _ in s.select(5)], b.recv(1))`],
  ['a named server', "b'HELLO'\n", `
import socket, threading
s = socket.socket(socket.AF_UNIX); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind('/tmp/s'); s.listen()
def serve(): c, _ = s.accept(); c.sendall(c.recv(5).upper())
threading.Thread(target=serve).start()
c = socket.socket(socket.AF_UNIX); c.settimeout(5); c.connect('/tmp/s'); c.sendall(b'hello'); print(c.recv(5))`],
  ['datagrams and packets in order', "b'one' b'two'\nb'one' b'two'\n", `
import socket
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
  a, b = socket.socketpair(socket.AF_UNIX, kind); a.send(b'one'); a.send(b'two'); print(b.recv(9), b.recvmsg(9)[0])`],
  ['a loop of events, with a server and a process', "b'HELLO\\n'\n(b'cat', None)\n", `
import asyncio
async def serve(r, w): w.write((await r.readline()).upper()); w.close()
async def main():
  s = await asyncio.start_unix_server(serve, '/tmp/s')
  r, w = await asyncio.open_unix_connection('/tmp/s'); w.write(b'hello\\n'); print(await r.read()); w.close(); s.close()
  p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1); print(await p.communicate(b'cat'))
asyncio.run(main())`],
  ['processes that are forked, spawned and managed', '[1, 4, 9]\n[1]\n[1, 4, 9]\n[1]\n', `
import multiprocessing as m
def work(n): return n * n
def add(store): store.append(1)
if __name__ == '__main__':
  for way in ('fork', 'spawn'):
    context = m.get_context(way)
    with context.Pool(2) as pool: print(pool.map(work, [1, 2, 3]))
    with context.Manager() as manager:
      store = manager.list(); p = context.Process(target=add, args=(store,)); p.start(); p.join(); print(list(store))`],
] // prettier-ignore

t.test('programs talk within their box over Unix sockets', async (t) => {
  for (const [name, printed, program] of programs) t.equal(await print(t, program), printed, name)
})

t.test('Java waits for channels and talks over Unix sockets', async (t) => {
  const code = `
import java.net.*; import java.nio.*; import java.nio.channels.*; import java.util.concurrent.*;
class Main { public static void main(String[] a) throws Exception {
  var address = UnixDomainSocketAddress.of("/tmp/s");
  try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX); var selector = Selector.open(); var pool = Executors.newCachedThreadPool()) {
    server.bind(address); server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
    var said = pool.submit(() -> { try (var c = SocketChannel.open(address)) { c.write(ByteBuffer.wrap("hello".getBytes())); } return 1; });
    System.out.print(selector.select());
    var pipe = Pipe.open(); pipe.source().configureBlocking(false).register(selector, SelectionKey.OP_READ);
    pipe.sink().write(ByteBuffer.wrap(new byte[1]));
    System.out.print(selector.selectNow() + selector.selectedKeys().size());
    try (var c = server.accept()) { var b = ByteBuffer.allocate(9); while (c.read(b) >= 0); System.out.print(new String(b.array(), 0, b.position())); }
    System.out.print(said.get());
  }
  try { new ServerSocket(0); } catch (java.io.IOException error) { System.out.print(" no others"); }
} }`
  const told = { exitCode: 0, stderr: '', stdout: /^1\d+hello1 no others$/ }
  t.match(await run(executor, 'java', code), told)
})

/** Prints what a program sees of a network. */
const look = `
import os
for name in ['snmp', 'snmp6', 'netstat', 'dev', 'unix', 'sockstat6', 'ipv6_route', 'rt6_stats']:
  try: print(name, ''.join(line for line in open('/proc/self/net/' + name) if not line.startswith('Tcp:')))
  except FileNotFoundError: pass
`

t.test('what a program does with its sockets leaves nothing to the next', async (t) => {
  const use = `
import socket
held = []
for n in range(100):
  s = socket.socket(socket.AF_UNIX); s.bind(f'\\0left behind {n}'); s.listen(); held.append(s)
  c = socket.socket(socket.AF_UNIX); c.connect(f'\\0left behind {n}'); c.send(b'x' * 9999); held.append(c)
a = socket.socketpair(); a[0].send(b'unread')`
  t.match(await print(t, 'print(open("/proc/self/net/dev").read().count(":"))'), /^1\n/)
  const first = await print(t, look)
  t.match(first, /lo:/)
  await print(t, use)
  t.equal(await print(t, look), first)
  // The names are available again.
  await print(t, use)
})
