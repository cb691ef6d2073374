// Compiler.java, the program that compiles Java submissions: its class file, which is made once for each JDK, because running
// it from its source would double its time, and the resident that runs it for many sources.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BoxFile } from '#contract'
import type { ResidentCompiler } from '../definition.ts'
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

/** Number of practice compilations at the start. After them a compilation takes half as long as after one. */
const practiceRounds = 15

/** Compiler.java itself: a program of usual size, so that the JVM loads and compiles the parts of javac that submissions need. */
const practice = readFileSync(source, 'utf8')

/**
 * Without this option some versions of javac reuse their table of identifiers in the next compilation. It changes nothing else.
 */
const ownNames = '-XDuseUnsharedTable=true'

/**
 * @param program class file of Compiler.java.
 * @param options of javac.
 */
export function createResidentJavac(
  jvm: Jvm,
  program: BoxFile,
  options: readonly string[],
): ResidentCompiler {
  return {
    command: (memoryBytes) => ({
      argv: [
        ...startCompiler(jvm, memoryBytes),
        '--resident',
        String(practiceRounds),
        practice,
        ...options,
        ownNames,
      ],
      files: [program],
      unlimitedStack: false,
    }),
    readAnswer(answer) {
      const exitCode = answer.readInt32BE(0)
      const programStart = 8 + answer.readUInt32BE(4)
      if (programStart > answer.length) throw new RangeError('the answer ends early')
      // Statuses 2 to 4 are failures of javac itself (command line, memory, crash), which may have damaged it.
      if (exitCode !== 0 && exitCode !== 1) return null
      return {
        exitCode,
        stderr: answer.subarray(8, programStart),
        stdout: answer.subarray(programStart),
      }
    },
  }
}
