// A static binary behind the executor's door. No source can ask g++ to link statically, so a program is compiled
// through the door once and what the cache keeps of it is replaced: the next executor on that cache runs the static one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Phase } from '#executor'
import { createArtefactCache } from '../../src/executor/artefact-cache.ts'
import { cacheBytes, cacheScope, startExecutor } from './box.ts'
import type { BenchExecutor } from './box.ts'

const stdout = 'static\n'

// A few kilobytes: what a program weighs is not what a box costs. Without the C library's start it must do what that does.
const source = `#include <sys/syscall.h>
#include <unistd.h>
extern "C" void _start() {
  syscall(SYS_write, 1, "static\\n", 7);
  syscall(SYS_exit_group, 0);
}
`

const replaced = '#include <cstdio>\nint main() { std::puts("shared"); }\n'

/** An executor that runs `binary` when it is given `code`, and what that prints. */
export interface StaticExecutor extends AsyncDisposable {
  readonly executor: BenchExecutor
  readonly binary: Buffer
  readonly code: string
  readonly stdout: string
}

/** @param directory of the bench's own. */
export async function startStaticExecutor(directory: string): Promise<StaticExecutor> {
  const file = join(directory, 'static.cpp')
  const program = join(directory, 'static')
  writeFileSync(file, source)
  execFileSync('/usr/bin/g++', ['-O2', '-static', '-nostartfiles', '-o', program, file])
  const binary = readFileSync(program)

  const cacheDirectory = join(directory, 'cache')
  const compile = await compileThroughDoor(cacheDirectory)
  const artefacts = join(cacheDirectory, 'artefact')
  const [name = '', ...more] = readdirSync(artefacts)
  assert(compile !== null && name !== '' && more.length === 0, 'one program is in the cache')
  rmSync(join(artefacts, name))
  await createArtefactCache(artefacts, cacheBytes).compile(
    { owner: cacheScope, key: name.slice(name.indexOf('-') + 1) },
    () => Promise.resolve({ phase: compile, artefact: { content: binary, entry: '' } }),
    () => true,
  )
  // As a worker on two cores has them: the slots take turns, and one makes its next box while the other runs.
  const executor = await startExecutor(2, {}, { cacheDirectory })
  return {
    executor,
    binary,
    code: replaced,
    stdout,
    [Symbol.asyncDispose]: () => executor[Symbol.asyncDispose](),
  }
}

async function compileThroughDoor(cacheDirectory: string): Promise<Phase | null> {
  await using executor = await startExecutor(1, {}, { cacheDirectory })
  const request = {
    language: 'cpp',
    code: Buffer.from(replaced),
    stdin: new Uint8Array(),
    cacheScope,
  } as const
  const { compile } = await executor.execute(request)
  return compile
}
