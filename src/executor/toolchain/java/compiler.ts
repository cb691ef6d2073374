// Compiles Compiler.java, the program that compiles Java submissions, once for each JDK. Running it from its source would
// double its time.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BoxFile } from '#contract'
import { identifyFile, plainEnvironment } from '../version.ts'
import { clientCompiler, compilerOptions } from './jvm.ts'
import type { Jvm } from './jvm.ts'

const source = fileURLToPath(new URL('Compiler.java', import.meta.url))

/** The directory in the box for our files. No file of a submission can be below `out`. */
export const ownDirectory = 'out/.own'

/** Returns the command line that starts Compiler.java. */
export function startCompiler(jvm: Jvm, memoryBytes: number): string[] {
  return [jvm.java, ...compilerOptions(memoryBytes), '-cp', ownDirectory, 'Compiler']
}

const compiled = new Map<string, Promise<BoxFile>>()

/** Compiles Compiler.java, unless that was done for this JDK. @returns the class file. @throws when javac fails. */
export function compileCompiler(home: string): Promise<BoxFile> {
  const key = `${identifyFile(`${home}/bin/javac`)} ${identifyFile(`${home}/lib/modules`)}`
  const known = compiled.get(key) ?? compile(home)
  compiled.set(key, known)
  known.catch(() => compiled.delete(key))
  return known
}

async function compile(home: string): Promise<BoxFile> {
  const directory = await mkdtemp(`${tmpdir()}/runledger-javac-`)
  try {
    const ownOptions = clientCompiler.map((option) => `-J${option}`)
    const options = [...ownOptions, '-proc:none', '-d', directory]
    await promisify(execFile)(`${home}/bin/javac`, [...options, source], {
      env: plainEnvironment,
      timeout: 180_000,
    })
    const content = await readFile(`${directory}/Compiler.class`)
    return { path: `/box/${ownDirectory}/Compiler.class`, content, executable: false }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
