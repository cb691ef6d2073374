// Attacks through what a request can ask for: compilers and their output, tests, checkers, outputs, streams, bodies.
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { call } from '../../faults/load.ts'
import { writeClass } from '../../linear/class-file.ts'
import { attack, c, program, wide } from '../attack.ts'
import type { Body, NeighbourAttack, Target } from '../attack.ts'
import { processorClass } from '../processor.ts'

const mebibyte = 1024 * 1024

/** Java whose annotation processor writes any files where classes are looked for. */
const processed = (files: readonly { name: string; content: string }[]): Body => ({
  language: 'java',
  code: 'class Other {}\n',
  compile_args: ['-proc:full', '-processor', 'P', '-processorpath', '.'],
  files: [{ name: 'P.class', content: processorClass() }, ...files].map((file) => ({
    ...file,
    encoding: 'base64',
  })),
})

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64')

const named = (name: string): Body =>
  processed([
    { name: 'made.bin', content: base64(writeClass(name, 'java/lang/Object', { main: true })) },
  ])

const tests = (count: number): readonly object[] =>
  Array.from({ length: count }, () => ({ stdin: '', expected_stdout: '1' }))

const judged = (code: string): Body =>
  program('python', 'print(1)', {
    tests: tests(3),
    checker: { type: 'program', language: 'python', code },
    limits: { ...wide, wall_time: 1 },
  })

/** Two programs that talk to each other. The interactor has its language's default limits. */
const pair = (one: Body, other: Body): Body => ({
  ...one,
  interactor: { language: other.language, code: other.code },
  tests: tests(1),
})

const flood = c('static char x[65536]; memset(x, 10, sizeof x); for (;;) write(1, x, sizeof x);')
const floodAndRead = c('static char x[65536]; for (int i = 0;; i++) { write(1, x, 4096); if (i & 1) read(0, x, sizeof x); }') // prettier-ignore
const echo = c('char x = 10; for (;;) { write(1, &x, 1); read(0, &x, 1); }')

/** Repeats an action with `clients` at once, until the time is over. */
async function repeat(
  { signal }: Target,
  clients: number,
  once: (agent: Agent) => Promise<unknown>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (!signal.aborted) {
        await once(agent)
        await sleep(1)
      }
    }),
  )
  agent.destroy()
}

/** Opens `count` connections, sends the same start on each and then further pieces, until the time is over. */
async function hold(
  { port, signal }: Target,
  count: number,
  first: Buffer | string,
  piece: string,
): Promise<void> {
  const open: Socket[] = []
  for (let made = 0; made < count && !signal.aborted; made += 1) {
    const socket = connect(port, '127.0.0.1', () => socket.write(first))
    socket.on('error', () => {})
    socket.resume()
    open.push(socket)
    if (made % 50 === 49) await sleep(10)
  }
  while (!signal.aborted) {
    for (const socket of open) if (socket.writable && piece !== '') socket.write(piece)
    await sleep(250)
  }
  for (const socket of open) socket.destroy()
}

const head = (method: string, path: string, lines: readonly string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n')

async function submitAndCancel({ port, key }: Target, agent: Agent): Promise<void> {
  const headers = { 'X-API-Key': key }
  const body = { language: 'python', code: 'import time; time.sleep(2)' }
  const answer = await call(port, 'POST', '/api/submit', headers, body, agent)
  const id = String(answer.body['id'])
  await call(port, 'POST', `/api/result/${id}/cancel`, headers, undefined, agent)
}

async function openStreams(target: Target, count: number): Promise<void> {
  const { port, key } = target
  const headers = { 'X-API-Key': key }
  const code = 'import time; time.sleep(4)'
  const { body } = await call(port, 'POST', '/api/submit', headers, { language: 'python', code })
  const path = `/api/result/${String(body['id'])}/stream`
  await hold(target, count, head('GET', path, [`X-API-Key: ${key}`]), '')
}

const slowBody = (key: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      head('POST', '/api/submit', [
        `X-API-Key: ${key}`,
        'Content-Type: application/json',
        'Content-Length: 2000000',
      ]),
    ),
    Buffer.alloc(1_500_000, 'x'),
  ])

export const requests: readonly NeighbourAttack[] = [
  attack('Java classes with a NUL in their name', [named('A\0B')], { seconds: 4 }),
  attack('Java classes whose name is 65,200 long', [named('x'.repeat(65_200))], { seconds: 4 }),
  attack(
    'Java classes of 65,530 empty constants',
    [processed([{ name: 'count.txt', content: base64('42') }])],
    { seconds: 4 },
  ),
  attack(
    'constants that javac doubles',
    [
      program(
        'java',
        `class Main { static final String s0 = "0123456789abcdef"; ${Array.from({ length: 24 }, (_, n) => `static final String s${n + 1} = s${n} + s${n};`).join(' ')} public static void main(String[] a) { System.out.println(s24.length()); } }`,
      ),
    ],
    { seconds: 4 },
  ),
  attack(
    'templates that have no end',
    [
      program(
        'cpp',
        'template <int n> struct A { A<n + 1> a; A<n + 2> b; }; template struct A<0>;\nint main() {}',
        {
          compile_limits: { wall_time: 2, cpu_time: 2 },
          compile_args: ['-ftemplate-depth=100000'],
        },
      ),
    ],
    { seconds: 4 },
  ),
  attack(
    'tests that sleep, in both slots',
    [1, 2].map((n) =>
      program('python', `import time\ntime.sleep(0.4)\nprint(${n})`, { tests: tests(200) }),
    ),
    // One second of wall time, and the test during which it ends.
    { seconds: 6, holdsSeconds: 1.4 },
  ),
  attack('two hundred tests at once', [program('python', 'print(1)', { tests: tests(200) })]),
  attack('a checker that hangs', [judged('import time\ntime.sleep(60)')], { mayFail: true }),
  attack('a checker that is a fork bomb', [judged('import os\nwhile True:\n  try: os.fork()\n  except OSError: pass')], { mayFail: true }), // prettier-ignore
  attack('a checker that is a memory bomb', [judged('x = []\nwhile True: x.append(bytes(1 << 20))')], { mayFail: true }), // prettier-ignore
  attack('a checker that writes without end', [judged('import sys\nwhile True: sys.stdout.write("x" * 65536); sys.stderr.write("x" * 65536)')], { mayFail: true }), // prettier-ignore
  attack('a program and its interactor that flood each other', [pair(flood, flood)], { mayFail: true }), // prettier-ignore
  attack('a program and its interactor that flood each other and read', [pair(floodAndRead, floodAndRead)], { mayFail: true }), // prettier-ignore
  attack('a program and its interactor that answer each other byte by byte', [pair(echo, echo)], { mayFail: true }), // prettier-ignore
  attack('outputs of four megabytes', [
    program(
      'python',
      'import os, sys\nsys.stdout.buffer.write(os.urandom(2 << 20)); sys.stderr.buffer.write(os.urandom(1 << 20))\nopen("f", "wb").write(os.urandom(1 << 20))',
      {
        limits: { ...wide, stdout: 2 * mebibyte, stderr: mebibyte },
        output_files: ['f'],
        output_encoding: 'base64',
      },
    ),
  ]),
  attack('output files that are links, pipes and holes', [
    c(
      `symlink("/proc/self/environ", "a"); socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}); int f = open("b", O_CREAT | O_WRONLY, 0600); ftruncate(f, 1L << 40);
  symlink("c", "c"); mkdir("d", 0); if (fork() == 0) for (;;) { rename("a", "e"); rename("b", "a"); rename("e", "b"); } usleep(300000);`,
      { output_files: ['a', 'b', 'c', 'd', 'e'] },
    ),
  ]),
  attack('submissions that are taken back at once', [], {
    tier: 'unlimited',
    act: (target) => repeat(target, 6, (agent) => submitAndCancel(target, agent)),
  }),
  attack('batches of twenty', [], {
    tier: 'unlimited',
    holdsSeconds: 0.3,
    act: (target) =>
      repeat(target, 2, async (agent) => {
        const one = { language: 'python', code: 'import time; time.sleep(0.2)' }
        const submissions = Array.from({ length: 20 }, () => one)
        const headers = { 'X-API-Key': target.key }
        await call(target.port, 'POST', '/api/submit/batch', headers, { submissions }, agent)
        await sleep(200)
      }),
  }),
  attack('JSON of three hundred thousand parts', [], {
    tier: 'unlimited',
    act: (target) =>
      repeat(target, 4, async (agent) => {
        const code = Array.from({ length: 100_000 }, () => [[], {}])
        await call(target.port, 'POST', '/api/submit', { 'X-API-Key': target.key }, { code }, agent)
        await sleep(50)
      }),
  }),
  attack('requests that never end', [], {
    act: (target) => hold(target, 1500, 'POST /api/submit HTTP/1.1\r\nHost: localhost\r\n', 'X: y\r\n'), // prettier-ignore
    descriptors: 4000,
  }),
  attack('more streams than the process may have', [], {
    tier: 'unlimited',
    act: (target) => openStreams(target, 5200),
    seconds: 5,
    descriptors: 14_000,
  }),
  attack('slow bodies of one key', [], {
    tier: 'unlimited',
    act: (target) => hold(target, 400, slowBody(target.key), 'x'),
    seconds: 4,
    descriptors: 2000,
    webBytesMost: 700 * mebibyte,
  }),
]
