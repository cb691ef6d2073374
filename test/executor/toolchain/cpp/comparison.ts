// Compares a submission's C++ compiler, with precompiled headers, with plain g++ on the command line: what it accepts and
// refuses, its messages byte for byte, and the binary. The sources are in a separate file.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Executor } from '#executor'
import { defaultSettings } from '#language'
import { ordinaryToolHost } from '#toolchain'
import { createArtefactCache, hashSource } from '../../../../src/executor/artefact-cache.ts'
import { findCpp } from '../../../../src/executor/toolchain/cpp/cpp.ts'
import { makeDirectory } from '../../../helper/directory.ts'
import { cacheScope, execute, patientLimits, startExecutor } from '../../../helper/executor.ts'

/** Sources by what is special about them. */
export type Examples = ReadonlyMap<string, string | Buffer>

interface Compilation {
  readonly exitCode: number | null
  readonly stderr: string
  /** SHA-256 of the binary; null when there is none. */
  readonly binary: string | null
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
/** GCC names its temporary object at random. */
const nameTemporaries = (text: string): string => text.replace(/\/tmp\/cc\w{6}\b/g, '/tmp/cc')
/** The part of the messages that a submission's record keeps. */
const messageBytes = 64 * 1024
const cacheBytes = 256 * 1024 * 1024

/** An executor that may use precompiled headers, and the directories that go with it. */
export interface Workshop {
  readonly executor: Executor
  readonly directory: string
  readonly cacheDirectory: string
}

/** Opens a workshop for a test file. */
export async function openWorkshop(t: Test): Promise<Workshop> {
  // The users of programs must be able to reach the headers in it.
  const directory = makeDirectory(t, 0o711)
  const cacheDirectory = join(directory, 'cache')
  const executor = await startExecutor(t, {
    cacheDirectory,
    cacheBytes,
    accelerators: ['preparation'],
  })
  return { executor, directory, cacheDirectory }
}

/** Returns the smallest program that begins with a header. */
export const include = (header: string): string => `#include <${header}>\nint main() {}\n`

/** Compares the examples, two at a time. Returns each result, such as `0 silent` or `1 talking`. */
export async function compareWithPlain(
  t: Test,
  { executor, directory, cacheDirectory }: Workshop,
  examples: Examples,
): Promise<string[]> {
  const { compiler } = await findCpp(ordinaryToolHost, defaultSettings)
  const command = executor.runtimes.cpp?.compile ?? []
  let compilations = 0

  /**
   * Compiles outside, with the command line that users see. Stdout goes to stderr, because the assembler can be made to
   * write to it.
   */
  async function compilePlainly(code: Uint8Array): Promise<Compilation> {
    const at = join(directory, String((compilations += 1)))
    mkdirSync(at)
    writeFileSync(join(at, 'main.cpp'), code)
    const child = spawn('/bin/sh', ['-c', 'exec "$@" 1>&2', 'sh', ...command], {
      cwd: at,
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const chunks: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve))
    const binary = exitCode === 0 ? hash(readFileSync(join(at, 'main'))) : null
    rmSync(at, { recursive: true })
    const stderr = Buffer.concat(chunks).subarray(0, messageBytes)
    return { exitCode, stderr: nameTemporaries(stderr.toString()), binary }
  }

  /** Compiles in a box. The result is read from the cache, which keeps what the box returned. */
  async function compileInBox(code: Uint8Array): Promise<Compilation> {
    const outcome = await execute(executor, 'cpp', code)
    const source = { code, files: [], arguments: [] }
    const sourceKey = hashSource('cpp', compiler!.identity, source, patientLimits.cpp.compile!)
    const key = { owner: cacheScope, key: sourceKey }
    const cache = createArtefactCache(join(cacheDirectory, 'artefact'), cacheBytes)
    const missing = (): never => {
      throw new Error('not in the cache')
    }
    const { compiled } = await cache.compile(key, missing, () => true)
    const { artefact, phase } = compiled
    return {
      exitCode: outcome.compile!.exitCode,
      stderr: nameTemporaries(Buffer.from(phase.stderr).toString()),
      binary: artefact && hash(artefact.content),
    }
  }

  const ends: string[] = []
  const waiting = [...examples]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, code] = next
      const bytes = Buffer.from(code)
      const plain = await compilePlainly(bytes)
      t.strictSame(await compileInBox(bytes), plain, name)
      ends.push(`${plain.exitCode} ${plain.stderr === '' ? 'silent' : 'talking'}`)
    }
  }
  await Promise.all([work(), work()])
  return ends
}
