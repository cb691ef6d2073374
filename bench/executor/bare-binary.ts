// The floor of running a compiled C++ program: its binary, built with the executor's command line and run without a box.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { BareRunner } from '../bare.ts'
import type { Case } from '../measure.ts'
import { scaleIterations } from '../report.ts'
import type { BenchExecutor } from './box.ts'

/** Compiles a program and returns the case `bare binary`. @param code a program that prints 0 for empty input. */
export function bareBinary({ runtimes }: BenchExecutor, bare: BareRunner, code: string): Case {
  const build = `${bare.directory}/binary`
  mkdirSync(build)
  writeFileSync(`${build}/main.cpp`, code)
  const [gcc = '', ...options] = runtimes.cpp?.compile ?? []
  execFileSync(gcc, options, { cwd: build })
  return {
    name: 'bare binary',
    iterations: scaleIterations(100),
    batch: bare.prepare({
      commands: [['./main']],
      files: { main: readFileSync(`${build}/main`) },
      stdout: '0\n',
    }),
  }
}
