// Python: CPython, without a compile phase. A syntax error ends the run with CPython's traceback on stderr.
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command, ForkServer } from '#contract'
import { python } from '#language'
import type { FindToolchain } from '../definition.ts'
import { findTool } from '../tool.ts'
import { readVersion } from '../version.ts'

export const findPython: FindToolchain = async (host) => {
  const { path: interpreter } = await findTool(host, python.tools[0])
  const standardLibrary = dirname(
    await readVersion(interpreter, ['-I', '-c', 'import os; print(os.__file__)']),
  )
  return {
    version: await readVersion(interpreter, ['--version']),
    location: interpreter,
    compiler: null,
    commandLine: ['python3', 'main.py'],
    paths: [],
    files: [interpreter],
    warmPaths: [
      realpathSync(interpreter),
      standardLibrary,
      `${standardLibrary}/lib-dynload`,
      `${standardLibrary}/encodings`,
      `${standardLibrary}/collections`,
    ].flatMap((path) => [path, `${path}/__pycache__`]),
    run: ({ content }) => ({
      argv: [interpreter, 'main.py'],
      files: [{ path: '/box/main.py', content, executable: false }],
      unlimitedStack: true,
    }),
    accelerators: { 'fork-server': createForkServer(interpreter) },
  }
}

/** A program that prints its /proc status on stdout and its network interfaces on stderr. */
const probe = `import sys
sys.stdout.write(open('/proc/self/status').read())
sys.stderr.write(open('/proc/self/net/dev').read())
`

/** Programs that must give the same result in a fork as in a fresh interpreter. */
const ends: readonly (readonly [source: string, stdout: string, exitCode: number])[] = [
  ['print(__name__, __file__)', '__main__ /box/main.py\n', 0],
  ['exec("print(1, end=\'\')")', '1', 0],
  ['file = open(1, "w", closefd=False)\nfile.write("late")', 'late', 0],
  ['print(1)\nraise SystemExit(3)', '1\n', 3],
  ['1 / 0', '', 1],
  ['import os\nprint(1)\nos.close(1)', '', 120],
]

/**
 * Describes the fork server: a keeper inside an interpreter forks it for each program (keeper/python.c). The worker tests it at
 * its start, before any submission.
 * @param interpreter path of the system's interpreter.
 */
export function createForkServer(interpreter: string): ForkServer {
  const argv = [interpreter, 'main.py']
  const command = (source: string): Command => ({
    argv,
    files: [{ path: '/box/main.py', content: Buffer.from(source), executable: false }],
    unlimitedStack: true,
  })
  return {
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
