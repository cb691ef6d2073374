// What programs and their interactors do wrong, in one table. misbehaviour.test.ts judges each case over HTTP, and
// residue.test.ts counts what the case leaves behind.

/** A program's language and source. */
export type Program = readonly ['python' | 'cpp', string]

const includes =
  '#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n#include <string.h>\n#include <sys/socket.h>\n'

export const python = (code: string): Program => ['python', code]
/** @param body of its `main`. */
export const c = (body: string): Program => [
  'cpp',
  `${includes}int main(int n, char **a) { ${body} }`,
]

/** An interactor: reads the number from the input file, ends with testlib's exit statuses and writes a message for people. */
export const judge = python(`
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
sys.exit(1)`)
export const judgeC = c(
  'FILE *in = fopen(a[1], "r"); int x, g; fscanf(in, "%d", &x); for (int i = 0; i < 10; i++) { if (scanf("%d", &g) != 1) return 2; ' +
    'if (g == x) { puts("="); fflush(stdout); fputs("found", stderr); return 0; } puts(x < g ? "<" : ">"); fflush(stdout); } return 1;',
)
export const halve = python(`
low, high = 1, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    if answer == '=': break
    if answer == '<': high = middle - 1
    else: low = middle + 1`)
export const halveC = c(
  'int l = 1, h = 1000; char s[8]; for (;;) { int m = (l + h) / 2; printf("%d\\n", m); fflush(stdout); if (scanf("%7s", s) != 1) return 3; ' +
    "if (*s == '=') return 0; if (*s == '<') h = m - 1; else l = m + 1; }",
)

export interface Way {
  readonly name: string
  readonly program: Program
  readonly interactor: Program
  /** Fields of the record. */
  readonly expected: object
  /** Limits of the request. The default is more time than any machine needs. */
  readonly limits?: object
}

const patient = { cpu_time: 20, wall_time: 60 }
/** For programs that would wait forever. */
const brief = { wall_time: 1.5 }
/** For programs that compute forever, however little of a core they get. */
const briefCpu = { ...patient, cpu_time: 0.5 }

const sleeps = python('import time; time.sleep(1000)')
const flood = c('for (;;) puts("1");')
const readsAll = python('import sys\nfor line in sys.stdin: pass\nsys.exit(1)')

/** Misbehaving programs; their interactor is correct unless the name says otherwise. */
const byPrograms: readonly Way[] = [
  { name: 'asks in vain', program: python('for i in range(10): print(1, flush=True); input()'), interactor: judge, expected: { verdict: 'WA' } },
  { name: 'says nothing', program: python(''), interactor: judge, expected: { verdict: 'WA' } },
  { name: 'says nonsense', program: c('puts("x"); return 0;'), interactor: judgeC, expected: { verdict: 'WA' } },
  { name: 'crashes', program: c('abort();'), interactor: judge, expected: { verdict: 'RE', signal: 'SIGABRT' } },
  { name: 'fails', program: python('import sys; sys.exit(3)'), interactor: judge, expected: { verdict: 'RE', exit_code: 3 } },
  { name: 'loops', program: c('for (;;);'), interactor: judge, expected: { verdict: 'TLE', limit: 'cpu_time' }, limits: briefCpu },
  { name: 'sleeps', program: c('pause();'), interactor: judge, expected: { verdict: 'TLE', limit: 'wall_time' }, limits: brief },
  { name: 'waits for a word', program: python('input()'), interactor: judge, expected: { verdict: 'TLE', limit: 'wall_time' }, limits: brief },
  { name: 'closes its output and sleeps', program: c('close(1); sleep(100);'), interactor: judge, expected: { verdict: 'TLE' }, limits: brief },
  { name: 'closes its input', program: c('close(0); puts("700"); return 0;'), interactor: judge, expected: { verdict: 'AC', fault: null } },
  { name: 'shuts both streams down', program: c('shutdown(0, SHUT_RDWR); shutdown(1, SHUT_RDWR); sleep(100);'), interactor: judge, expected: { verdict: 'WA' } },
  { name: 'writes into its input', program: c('for (;;) write(0, "12345678", 8);'), interactor: judge, expected: { verdict: 'TLE' }, limits: brief },
  { name: 'leaves processes that hold its streams', program: c('if (fork()) { puts("700"); return 0; } signal(SIGHUP, SIG_IGN); setsid(); sleep(100);'), interactor: judge, expected: { verdict: 'AC', fault: null } },
  { name: 'leaves names that the kernel remembers', program: c('char name[64]; for (int i = 0; i < 200000; i++) { sprintf(name, "/usr/lib/%d.nothing", i); access(name, 0); } return 0;'), interactor: judge, expected: { verdict: 'WA' } },
  { name: 'takes all memory', program: python('x = bytearray(1 << 40 >> 6)'), interactor: judge, expected: { verdict: /MLE|RE/ } },
  { name: 'is right and fails then', program: python('import sys; print(700, flush=True); input(); sys.exit(1)'), interactor: judge, expected: { verdict: 'RE' } },
  { name: 'is right and loops then', program: python('print(700, flush=True)\nwhile True: pass'), interactor: judge, expected: { verdict: 'TLE' }, limits: briefCpu },
  { name: 'floods', program: flood, interactor: readsAll, expected: { verdict: 'OLE', limit: 'stdout', stdout_truncated: true }, limits: { ...patient, stdout: 100_000 } },
  { name: 'writes more than its interactor reads', program: c('for (int i = 0; i < 400000; i++) puts("1"); pause();'), interactor: sleeps, expected: { verdict: 'TLE' }, limits: brief },
] // prettier-ignore

/** Misbehaving interactors; their program is correct unless the name says otherwise. */
const byInteractors: readonly Way[] = [
  { name: 'says fail', program: halve, interactor: c('return 3;'), expected: { verdict: 'IE', fault: 'checker' } },
  { name: 'gives points', program: halve, interactor: c('return 7;'), expected: { verdict: 'IE', fault: 'checker' } },
  { name: 'crashes', program: halve, interactor: c('abort();'), expected: { verdict: 'IE', fault: 'checker' } },
  { name: 'loops', program: halve, interactor: c('for (;;);'), expected: { verdict: /IE|TLE/ }, limits: brief },
  { name: 'sleeps for ever', program: halve, interactor: sleeps, expected: { verdict: 'TLE', fault: 'program' }, limits: brief },
  { name: 'never reads and says no', program: halve, interactor: c('return 1;'), expected: { verdict: 'WA', fault: 'program' } },
  { name: 'closes its streams and says no', program: halve, interactor: c('close(0); close(1); usleep(300000); return 1;'), expected: { verdict: 'WA', fault: 'program' } },
  { name: 'does not compile', program: halve, interactor: ['cpp', 'int main( {'], expected: { verdict: 'IE', fault: 'checker' } },
  { name: 'floods one that does not read', program: c('pause();'), interactor: flood, expected: { verdict: /TLE|IE/ }, limits: brief },
  { name: 'floods one that reads', program: python('input()\nwhile input(): pass'), interactor: flood, expected: { verdict: 'IE', fault: 'checker' }, limits: { cpu_time: 60, wall_time: 60 } },
  { name: 'floods one that floods', program: flood, interactor: flood, expected: { verdict: /OLE|IE|TLE/ }, limits: brief },
  { name: 'leaves processes that hold its streams', program: halveC, interactor: c('if (fork()) return 1; signal(SIGHUP, SIG_IGN); setsid(); sleep(100);'), expected: { verdict: 'WA', fault: 'program' } },
] // prettier-ignore

/** All ways, each with its limits. */
export const ways: readonly Required<Way>[] = [
  ...byPrograms.map((way) => ({ ...way, name: `a program that ${way.name}` })),
  ...byInteractors.map((way) => ({ ...way, name: `an interactor that ${way.name}` })),
].map((way) => ({ ...way, limits: way.limits ?? patient }))
