// The command and the answers of the resident javac, which is Compiler.java.
import { readFileSync } from 'node:fs'
import type { BoxFile } from '#contract'
import type { ResidentCompiler } from '../definition.ts'
import { startCompiler } from './compiler.ts'
import type { Jvm } from './jvm.ts'

/** Number of practice compilations at the start. After them a compilation takes half as long as after one. */
const practiceRounds = 15

/** Compiler.java itself: a program of usual size, so that the JVM loads and compiles the parts of javac that submissions need. */
const practice = readFileSync(new URL('Compiler.java', import.meta.url), 'utf8')

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
