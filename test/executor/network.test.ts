// Boxes of one slot have a network one after another; what one did in it the next one does not find.
import t from 'tap'
import { box, execute, startExecutor, timeFactor } from '../helper/executor.ts'

t.setTimeout(120_000 * timeFactor)

/** What there is to be seen of a network: which one it is, its counters, its sockets. */
const look = `
import os
print(os.readlink('/proc/self/ns/net'))
for name in ['snmp', 'snmp6', 'netstat', 'dev', 'unix', 'tcp', 'udp', 'tcp6', 'udp6', 'igmp', 'sockstat6', 'ipv6_route', 'rt6_stats']:
  try: print(name, ''.join(line for line in open('/proc/net/' + name) if not line.startswith('Tcp:')))
  except FileNotFoundError: pass
`

const uses: Readonly<Record<string, string>> = {
  'a datagram to itself': `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('127.0.0.1', 5000)); s.sendto(b'x', ('127.0.0.1', 5000)); s.recv(1)`,
  'a datagram to nobody': `
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 5000))`,
  'a datagram over IPv6': `
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('::1', 5000))`,
  'a connection that waits for its last packets': `
s = socket.socket(); s.bind(('127.0.0.1', 5000)); s.listen()
c = socket.create_connection(('127.0.0.1', 5000)); d, _ = s.accept()
d.close(); c.close()`,
  'a connection over IPv6': `
s = socket.socket(socket.AF_INET6); s.bind(('::1', 5000)); s.listen()
c = socket.create_connection(('::1', 5000))`,
  'a connection that is refused': `
try: socket.create_connection(('127.0.0.1', 5000))
except OSError: pass`,
  'a host that cannot be reached': `
try: socket.create_connection(('192.0.2.1', 80))
except OSError: pass`,
  'a host that cannot be reached over IPv6': `
try: socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))
except OSError: pass`,
  'a datagram socket that is connected over IPv6, and sends nothing': `
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.connect(('::1', 5000))`,
  'ports that are taken by sockets on their way': `
import array
send = lambda s, *sent: s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [x.fileno() for x in sent]))])
taken = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(100)]
for n, s in enumerate(taken): s.bind(('127.0.0.1', 5000 + n))
a, b = socket.socketpair(); c, d = socket.socketpair()
send(a, *taken); send(c, a, b, c, d); send(d, a, b, c, d)
del a, b, c, d, taken
socket.socketpair()`,
  'sockets on their way through each other, with a name': `
import array
a = socket.socket(socket.AF_UNIX); a.bind('\\0left behind'); a.listen()
b, c = socket.socketpair()
for s in (b, c): s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [a.fileno(), b.fileno(), c.fileno()]))])`,
}

t.test('what a program does with its network leaves nothing to the next', async (t) => {
  const executor = await startExecutor(t, { slots: 1 })
  const run = async (code: string): Promise<string> => {
    const { run: phase } = await execute(executor, 'python', code)
    t.match(phase, { exitCode: 0, stderr: '' }, code)
    return phase?.stdout ?? ''
  }
  const describe = (seen: string): string => seen.slice(seen.indexOf('\n'))
  const first = describe(await run(look))
  t.match(first, /lo:/)
  for (const [name, use] of Object.entries(uses)) {
    await run(`import socket${use}`)
    t.equal(describe(await run(look)), first, name)
  }
})

t.test('a network in which nothing was done is used again, and no other', async (t) => {
  if (box === 'bubblewrap') {
    t.pass('each box makes its own')
    return
  }
  const executor = await startExecutor(t, { slots: 1 })
  const run = async (code: string): Promise<string> =>
    (await execute(executor, 'python', code)).run?.stdout ?? ''
  const which = "import os\nprint(os.readlink('/proc/self/ns/net'))"
  const first = await run(which)
  t.match(first, /^net:/)
  t.equal(await run(which), first)
  for (const [name, use] of Object.entries(uses)) {
    const before = await run(which)
    await run(`import socket${use}`)
    t.not(await run(which), before, name)
  }
})
