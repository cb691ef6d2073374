// Makes the executor run a static binary. No source can make g++ link statically, so the executor first compiles another
// program, and this module replaces that program's binary in the cache. The next executor with that cache runs the static one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Phase } from '#executor'
import { createArtefactCache } from '../../src/executor/artefact-cache.ts'
import { cacheBytes, cacheScope, startExecutor } from './box.ts'
import type { BenchExecutor } from './box.ts'

const stdout = 'static\n'

// The binary has a few kilobytes only, so that its size does not count as a cost of the box. It has no C start-up code, so it
// makes the system calls itself.
const source = `#include <sys/syscall.h>
#include <unistd.h>
extern "C" void _start() {
  syscall(SYS_write, 1, "static\\n", 7);
  syscall(SYS_exit_group, 0);
}
`

const replaced = '#include <cstdio>\nint main() { std::puts("shared"); }\n'

/** An executor that runs `binary` for the source `code`; `stdout` is what it prints. */
export interface StaticExecutor extends AsyncDisposable {
  readonly executor: BenchExecutor
  readonly binary: Buffer
  readonly code: string
  readonly stdout: string
}

/** Starts the executor. @param directory an existing directory of the bench. */
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
  // Two slots, like a worker on two cores: they alternate, and one prepares its next box while the other runs.
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
