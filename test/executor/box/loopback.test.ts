// A program with `network: loopback` has its own network, and no more of sockets than servers and clients need.
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
import { patientLimits, run, startExecutor } from '../../helper/executor.ts'

const executor = await startExecutor(t, { slots: 2, limits: patientLimits })
const start = (language: 'python' | 'cpp', code: string) =>
  run(executor, language, code, '', { network: 'loopback' })
const print = async (t: Test, code: string): Promise<string> => {
  const phase = await start('python', code)
  t.match(phase, { exitCode: 0, stderr: '' }, code)
  return phase.stdout
}

/** Prints what a program sees of its network, without files that hold the host's figures or addresses of the kernel. */
const look = `
import os
for name in sorted(os.listdir('/proc/self/net')):
  try:
    if os.path.isfile('/proc/self/net/' + name) and name not in ('protocols', 'ptype', 'softnet_stat', 'sockstat', 'netlink', 'packet', 'unix'): print(name, open('/proc/self/net/' + name).read())
  except OSError: pass
`

t.test('each run has a network that no run had before', async (t) => {
  const use = `
import socket
held = []
for n in range(100):
  s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); c = socket.create_connection(s.getsockname()); c.send(b'x' * 9999)
  a, _ = s.accept(); held += [s, c] if n % 2 else [s]; (a if n % 3 else c).close()
  u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); u.sendto(b'unread', ('::1', 9)); held.append(u)`
  const first = await print(t, look)
  t.match(first, /dev Inter[^]* lo: +0 /)
  await print(t, use)
  t.equal(await print(t, look), first)
})

t.test('two programs at once have the same port, and do not meet', async (t) => {
  const code = `
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 5000)); s.listen(); s.settimeout(1); time.sleep(1)
with open('/proc/self/net/tcp') as f: print(len(f.readlines()))
try: s.accept(); print('met')
except TimeoutError: print('alone')`
  const both = await Promise.all([print(t, code), print(t, code)])
  t.strictSame(both, ['2\nalone\n', '2\nalone\n'])
})

t.test('only loopback is there', async (t) => {
  const code = `
import socket
print([l.split(':')[0].strip() for l in open('/proc/self/net/dev').readlines()[2:]])
for address in ('10.0.0.1', '8.8.8.8', '169.254.169.254', '127.1.2.3'):
  s = socket.socket(); s.settimeout(5)
  try: s.connect((address, 80)); print('met')
  except OSError as error: print(error.errno, end=' ')
s = socket.socket(socket.AF_INET6); s.settimeout(5)
try: s.connect(('2001:db8::1', 80)); print('met')
except OSError as error: print(error.errno)`
  t.equal(await print(t, code), "['lo']\n101 101 101 111 101\n")
})

t.test('what no server needs is refused', async (t) => {
  const code = `
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def said(name, call, *wanted):
  try: result = call()
  except OSError as error: result = error.errno
  if result not in wanted: print(name, result)
T, U = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for family, kind, protocol, wanted in (
  (16, 3, 0, 97), (17, 3, 0, 97), (38, 5, 0, 97), (40, 1, 0, 97), (2, 3, 1, 94), (2, 3, 255, 94), (10, 3, 58, 94), (2, 5, 0, 94), (2, 5, 132, 94),
  (2, 1, 262, 93), (2, 1, 132, 93), (2, 1, 256, 93), (2, 1, 17, 93), (2, 2, 1, 93), (2, 2, 136, 93), (10, 2, 58, 93), (10, 2, 115, 93)):
  said(('socket', family, kind, protocol), lambda: socket.socket(family, kind, protocol) and 'made', wanted)
said('socketpair', lambda: socket.socketpair(2, 1), 97, 95)
for s, level, option, wanted in (
  (T, 1, 26, 92), (T, 1, 50, 92), (T, 1, 51, 92), (T, 1, 15, 92), (T, 1, 18, 92), (T, 1, 25, 92), (T, 1, 33, 92), (T, 1, 32, 92), (T, 1, 60, 92), (T, 1, 37, 92),
  (T, 6, 2, 92), (T, 6, 10, 92), (T, 6, 13, 92), (T, 6, 14, 92), (T, 6, 19, 92), (T, 6, 23, 92), (T, 6, 31, 92), (T, 6, 30, 92),
  (U, 0, 11, 92), (U, 0, 35, 92), (U, 0, 4, 92), (U, 0, 10, 92), (U, 41, 25, 92), (U, 41, 32, 92), (U, 41, 20, 92), (U, 17, 1, 92), (U, 17, 103, 92), (U, 17, 100, 92)):
  said(('setsockopt', level, option), lambda: s.setsockopt(level, option, bytes(64)), wanted)
said('ZEROCOPY_RECEIVE', lambda: T.getsockopt(6, 35, 64), 92)
before = T.getsockopt(1, 8); T.setsockopt(1, 8, 1 << 20); T.setsockopt(1, 7, 1 << 20)
if T.getsockopt(1, 8) != before: print('RCVBUF')
T.bind(('127.0.0.1', 0)); T.listen(); c = socket.create_connection(T.getsockname()); a, _ = T.accept()
for flag in (1, 0x8000, 0x20000000, 0x4000000): said(('send', flag), lambda: c.send(b'x', flag), 95)
said('sendmsg', lambda: c.sendmsg([b'x']), 1)
said('SCM_RIGHTS', lambda: socket.send_fds(socket.socketpair()[0], [b'x'], [0]), 1)
said('sendfile', lambda: os.sendfile(c.fileno(), os.open('/usr/bin/env', os.O_RDONLY), 0, 9), 22)
said('splice', lambda: os.splice(os.pipe()[0], c.fileno(), 9), 38)
def number(*words):
  if libc.syscall(*words) < 0: raise OSError(ctypes.get_errno(), '')
  return 'done'
said('setns', lambda: number(308, os.open('/proc/self/ns/net', os.O_RDONLY), 0), 1)
said('unshare', lambda: number(272, 0x40000000), 1)
said('io_uring', lambda: number(425, 8, 0), 38)
import fcntl
for request in (0x8914, 0x8916, 0x8922, 0x890b): said(('ioctl', request), lambda: fcntl.ioctl(T, request, struct.pack('16s24x', b'lo')) and 'done', 1)
print('end')`
  t.equal(await print(t, code), 'end\n')
})

t.test('sockets that nobody accepts have an end of their own, and leave nothing', async (t) => {
  const code = `
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
int main() {
  static char data[65536];
  for (int p = 0; p < 30; p++) if (fork() == 0) {
    int s = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in a{}; a.sin_family = AF_INET; socklen_t l = sizeof a;
    bind(s, (sockaddr *)&a, l); getsockname(s, (sockaddr *)&a, &l); listen(s, 4096);
    for (;;) { int c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); if (c < 0) break; connect(c, (sockaddr *)&a, l); while (send(c, data, sizeof data, 0) > 0); }
    pause();
  }
  pause();
}`
  t.match(await start('cpp', code), { ending: 'memory_limit' })
  const count = (): number =>
    Number(/alloc (\d+)/.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1])
  while (count() >= 4000) await new Promise((resolve) => void setTimeout(resolve, 100))
  t.pass('the sockets are gone')
})

t.test('without a network there is none, before and after one', async (t) => {
  const code = `
import socket
try: socket.socket(); print('made')
except OSError as error: print(error.errno)`
  t.match(await run(executor, 'python', code), { exitCode: 0, stdout: '97\n' })
})
