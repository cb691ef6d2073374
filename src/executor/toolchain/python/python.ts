// Python: no compiler. A syntax error ends the program with CPython's traceback on stderr.
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { python } from '#language'
import type { FindToolchain } from '../definition.ts'
import { findTool } from '../tool.ts'
import { readVersion } from '../version.ts'
import { createForkServer } from './fork-server.ts'

/**
 * Marks a zip archive, which CPython runs like a script. It checks when it starts, so a resident interpreter cannot.
 */
const archiveMark = Buffer.from('PK\x05\x06', 'latin1')

export const findPython: FindToolchain = async (host) => {
  const { path: interpreter } = await findTool(host, python.tools[0])
  const standardLibrary = dirname(
    await readVersion(interpreter, '-I', '-c', 'import os; print(os.__file__)'),
  )
  return {
    version: await readVersion(interpreter, '--version'),
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
      ...(Buffer.from(content).includes(archiveMark) ? {} : { forks: true }),
    }),
    ranOutOfMemory: () => false,
    accelerators: [createForkServer(interpreter)],
  }
}
