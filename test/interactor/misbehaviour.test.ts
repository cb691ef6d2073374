// Interactors: a program that speaks with the solution in each test. Whatever either does, the test ends with the verdict of who
// broke off first, nothing is left behind, and neither reaches the other's box.
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
t.setTimeout(900_000)
await startWorkerProcess(t, url)
const { call } = await startServer(t, sql, { url, syncWaitSeconds: 300 })

const includes = '#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n#include <string.h>\n' // prettier-ignore
const c = (body: string): string => `${includes}int main(int n, char **a) { ${body} }`

// The number is in the input file; testlib's exit statuses; a word for people.
const judge = `
import sys
number = int(open(sys.argv[1]).read())
low, high = 1, 1000
for question in range(10):
    line = sys.stdin.readline()
    if not line: print('no question', file=sys.stderr); sys.exit(2)
    guess = int(line)
    if guess == number:
        print('=', flush=True)
        open(sys.argv[2], 'w').write(str(question))
        print('found', file=sys.stderr)
        sys.exit(0)
    print('<' if number < guess else '>', flush=True)
print('too many questions', file=sys.stderr)
sys.exit(1)`
const judgeC = c(
  'FILE *in = fopen(a[1], "r"); int x, g; fscanf(in, "%d", &x); for (int i = 0; i < 10; i++) { if (scanf("%d", &g) != 1) return 2; ' +
    'if (g == x) { puts("="); fflush(stdout); fputs("found", stderr); return 0; } puts(x < g ? "<" : ">"); fflush(stdout); } return 1;',
)
const halve = `
low, high = 1, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    if answer == '=': break
    if answer == '<': high = middle - 1
    else: low = middle + 1`
const halveC = c(
  'int l = 1, h = 1000; char s[8]; for (;;) { int m = (l + h) / 2; printf("%d\\n", m); fflush(stdout); if (scanf("%7s", s) != 1) return 3; ' +
    "if (*s == '=') return 0; if (*s == '<') h = m - 1; else l = m + 1; }",
)

type Program = readonly ['python' | 'cpp', string]
interface Asked {
  readonly program: Program
  readonly interactor: Program
  readonly tests?: readonly object[]
  readonly more?: object
}
async function run({
  program,
  interactor,
  tests = [{ stdin: '700' }],
  more,
}: Asked): Promise<Answer['body']> {
  const [[language, code], [its, other]] = [program, interactor]
  const body = { language, code, interactor: { language: its, code: other }, tests, ...more }
  const answer = await call('POST', '/api/submit?wait=true', { body })
  t.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500))
  return answer.body
}
const python = (code: string): Program => ['python', code]
const cpp = (code: string): Program => ['cpp', code]

t.test('a game is won, in either language, with several tests', async (t) => {
  for (const program of [python(halve), cpp(halveC)])
    for (const interactor of [python(judge), cpp(judgeC)]) {
      const tests = [{ stdin: '1' }, { stdin: '700' }, { stdin: '1000' }]
      const record = await run({ program, interactor, tests })
      t.match(record, { verdict: 'AC', fault: null, exit_code: 0 }, JSON.stringify(record.tests))
      t.strictSame(record.tests.map(({ message }: { message: string }) => message.trim()), ['found', 'found', 'found']) // prettier-ignore
      t.match(record.tests[0].stdout, /^500\n250\n/)
    }
})

t.test('the answer is a file of the interactor’s', async (t) => {
  const interactor = python('import sys\nsys.exit(0 if input() == open(sys.argv[3]).read() else 1)')
  const tests = [{ expected_stdout: 'x' }, { expected_stdout: 'y' }]
  const record = await run({ program: python('print("x")'), interactor, tests })
  t.strictSame(
    record.tests.map(({ verdict }: { verdict: string }) => verdict),
    ['AC', 'WA'],
  )
})

// What programs do wrong, held against an interactor that is right.
const few = { limits: { cpu_time: 0.5, wall_time: 1.5 } }
for (const [name, program, expected] of [
  ['asks in vain', python('for i in range(10): print(1, flush=True); input()'), { verdict: 'WA' }],
  ['says nothing', python(''), { verdict: 'WA' }],
  ['says nonsense', cpp(c('puts("x"); return 0;')), { verdict: 'WA', via: 'cpp' }],
  ['crashes', cpp(c('abort();')), { verdict: 'RE', signal: 'SIGABRT' }],
  ['fails', python('import sys; sys.exit(3)'), { verdict: 'RE', exit_code: 3 }],
  ['loops', cpp(c('for (;;);')), { verdict: 'TLE', limit: 'cpu_time' }],
  ['sleeps', cpp(c('pause();')), { verdict: 'TLE', limit: 'wall_time' }],
  ['waits for a word', python('input()'), { verdict: 'TLE', limit: 'wall_time' }],
  ['closes its output and sleeps', cpp(c('close(1); sleep(100);')), { verdict: 'TLE' }],
  ['closes its input', cpp(c('close(0); puts("700"); return 0;')), { verdict: 'AC' }],
  ['takes all memory', python('x = bytearray(1 << 40 >> 6)'), { verdict: /MLE|RE/ }],
  [
    'is right and fails then',
    python('import sys; print(700, flush=True); input(); sys.exit(1)'),
    { verdict: 'RE' },
  ],
  [
    'is right and loops then',
    python('print(700, flush=True)\nwhile True: pass'),
    { verdict: 'TLE' },
  ],
] as const)
  // prettier-ignore
  t.test(`a program that ${name}`, async (t) => {
    const interactor = 'via' in expected ? cpp(judgeC) : python(judge)
    const pattern: object = 'via' in expected ? { verdict: expected.verdict } : expected
    const record = await run({ program, interactor, more: few })
    t.match(record, { status: 'completed', fault: record.verdict === 'AC' ? null : 'program', ...pattern }, JSON.stringify(record.tests)) // prettier-ignore
  })

t.test(
  'one that floods is ended at its output’s limit, and one that nobody reads waits',
  async (t) => {
    const flood = cpp(c('for (;;) puts("1");'))
    const reads = python('import sys\nfor line in sys.stdin: pass\nsys.exit(1)')
    const limits = { limits: { stdout: 100_000, wall_time: 5 } }
    const record = await run({ program: flood, interactor: reads, more: limits })
    t.match(record, { verdict: 'OLE', limit: 'stdout', stdout_truncated: true })
    t.equal(record.stdout.length, 100_000)
    const idle = python('import time; time.sleep(100)')
    t.match(await run({ program: cpp(c('for (int i = 0; i < 400000; i++) puts("1"); pause();')), interactor: idle, more: few }), { verdict: 'TLE' }) // prettier-ignore
  },
)

// What interactors do wrong, held against a program that is right.
for (const [name, interactor, expected] of [
  ['says fail', cpp(c('return 3;')), { verdict: 'IE' }],
  ['crashes', cpp(c('abort();')), { verdict: 'IE' }],
  ['loops', cpp(c('for (;;);')), { verdict: /IE|TLE/ }],
  [
    'sleeps for ever',
    python('import time; time.sleep(1000)'),
    { verdict: 'TLE', fault: 'program' },
  ],
  ['never reads and says no', cpp(c('return 1;')), { verdict: 'WA', fault: 'program' }],
  [
    'closes its streams and says no',
    cpp(c('close(0); close(1); usleep(300000); return 1;')),
    { verdict: 'WA' },
  ],
  ['does not compile', cpp('int main( {'), { verdict: 'IE', fault: 'checker' }],
] as const)
  // prettier-ignore
  t.test(`an interactor that ${name}`, async (t) => {
    const record = await run({ program: python(halve), interactor, more: few })
    t.match(record, { status: 'completed', ...expected }, JSON.stringify(record.tests))
  })

t.test('one that floods a program that does not read ends without a deadlock', async (t) => {
  const interactor = cpp(c('for (;;) puts("1");'))
  t.match(await run({ program: python('input()\nwhile input(): pass'), interactor, more: { limits: { cpu_time: 60, wall_time: 60 } } }), { verdict: 'IE' }) // prettier-ignore
  t.match(await run({ program: cpp(c('pause();')), interactor, more: few }), { verdict: /TLE|IE/ })
})

t.test('neither sees the other: not its files, not its processes', async (t) => {
  const spy = python(`
import os, sys
found = [name for name in os.listdir('/proc') if name.isdigit()]
files = [os.path.join(d, f) for d, _, names in os.walk('/box') for f in names]
try: os.kill(-1, 9)
except OSError: pass
print(len(found), [f for f in files if f.endswith(('input', 'answer'))], flush=True)`)
  const interactor = python('import sys\nline = input()\nprint(line, file=sys.stderr)\nsys.exit(0 if line.endswith("[]") and int(line.split()[0]) <= 3 else 1)') // prettier-ignore
  const record = await run({ program: spy, interactor })
  t.match(record, { verdict: 'AC' }, JSON.stringify(record.tests))
})

t.test('a cancelled one ends, and the next is as before', async (t) => {
  const body = { language: 'python', code: 'input()', interactor: { language: 'python', code: 'input()' }, tests: [{}], limits: { wall_time: 60 } } // prettier-ignore
  const { id } = (await call('POST', '/api/submit', { body })).body
  await call('POST', `/api/result/${id}/cancel`)
  const ended = await call('GET', `/api/result/${id}?wait=true`)
  t.equal(ended.body.status, 'cancelled')
  t.match(await run({ program: python(halve), interactor: python(judge) }), { verdict: 'AC' })
  t.strictSame([...(await sql`select * from audit.drift`)], [])
})

t.test('what is wrong with a request is told', async (t) => {
  const interactor = { language: 'python', code: '' }
  for (const [more, path] of [
    [{}, 'interactor'],
    [{ tests: [{}], checker: { type: 'lines' } }, 'checker'],
    [{ tests: [{}], interactor: { ...interactor, compile_args: ['-O2'] } }, 'interactor.compile_args'],
    [{ tests: [{}], interactor: { ...interactor, files: [{ name: 'input', content: '' }] } }, 'interactor.files.0.name'],
    [{ tests: [{}], interactor: { code: '' } }, 'interactor.language'],
    [{ tests: [{}], interactor: { ...interactor, type: 'lines' } }, 'interactor.type'],
  ] as const) {
    const body = { language: 'python', code: '', interactor, ...more }
    const answer = await call('POST', '/api/submit', { body })
    t.equal(answer.status, 400)
    t.match(answer.body.issues, [{ path }])
  } // prettier-ignore
})
