// The resident interpreter: a keeper in it forks programs (keeper/python.c). It is proved here when a worker starts,
// before any submission.
import type { Command, ForkServer } from '#contract'

/** Prints its /proc status on stdout and its interfaces on stderr. */
const probe = `import sys
sys.stdout.write(open('/proc/self/status').read())
sys.stderr.write(open('/proc/self/net/dev').read())
`

/** Programs that must end in a fork as they do otherwise. */
const ends: readonly (readonly [source: string, stdout: string, exitCode: number])[] = [
  ['print(__name__, __file__)', '__main__ /box/main.py\n', 0],
  ['exec("print(1, end=\'\')")', '1', 0],
  ['file = open(1, "w", closefd=False)\nfile.write("late")', 'late', 0],
  ['print(1)\nraise SystemExit(3)', '1\n', 3],
  ['1 / 0', '', 1],
  ['import os\nprint(1)\nos.close(1)', '', 120],
]

/** @param interpreter of the system. */
export function createForkServer(interpreter: string): ForkServer {
  const argv = [interpreter, 'main.py']
  const command = (source: string): Command => ({
    argv,
    files: [{ path: '/box/main.py', content: Buffer.from(source), executable: false }],
    unlimitedStack: true,
    forks: true,
  })
  return {
    kind: 'fork-server',
    name: 'Python',
    argv,
    probe: command(probe),
    proofs: ends.map(([source, stdout, exitCode]) => ({
      command: command(source),
      stdout,
      exitCode,
    })),
  }
}
