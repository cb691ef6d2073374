// Python: no compiler; a syntax error is the program's own end, with CPython's traceback on stderr.
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Toolchain } from '../definition.ts'
import { endsQuietly } from './quiet-end.ts'
import { readVersion } from '../version.ts'

/** The system's CPython. */
export const pythonInterpreter = '/usr/bin/python3'

/**
 * Ends the list of a zip archive, which CPython runs like a script. It looks for that when it starts, so an interpreter
 * that has started cannot tell any more.
 */
const archiveMark = Buffer.from('PK\x05\x06', 'latin1')

/** Finds the system's CPython. @throws when `/usr/bin/python3` cannot be run. */
export async function findPython(): Promise<Toolchain> {
  const version = await readVersion(pythonInterpreter, '--version')
  const standardLibrary = dirname(
    await readVersion(pythonInterpreter, '-I', '-c', 'import os; print(os.__file__)'),
  )
  return {
    version,
    compiler: null,
    commandLine: ['python3', 'main.py'],
    paths: [],
    warmPaths: [
      realpathSync(pythonInterpreter),
      standardLibrary,
      `${standardLibrary}/lib-dynload`,
      `${standardLibrary}/encodings`,
      `${standardLibrary}/collections`,
    ].flatMap((path) => [path, `${path}/__pycache__`]),
    run: ({ content }) => ({
      argv: [pythonInterpreter, 'main.py'],
      files: [{ path: '/box/main.py', content, executable: false }],
      unlimitedStack: true,
      endsQuietly: endsQuietly(content),
      ...(Buffer.from(content).includes(archiveMark) ? {} : { forks: true }),
    }),
    ranOutOfMemory: () => false,
  }
}
