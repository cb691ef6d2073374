// Where no keeper is available the worker does not start, and reports the cause and the remedy. Without a resident
// interpreter it starts and reports that. Each incomplete host is real: made in a mount namespace, or by files in the cache
// directory.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { builtDirectory, buildKeeper } from '../../../../src/executor/box/keeper/build.ts'
import { makeDirectory } from '../../../helper/directory.ts'
import { firstUid, run, startExecutor, timeFactor } from '../../../helper/executor.ts'
import { hello } from '../../../helper/program.ts'
import { isForked } from './python-fork/program.ts'

const source = join(import.meta.dirname, '../../../../src')

/** A script that opens an executor, runs a program and prints the result as JSON. */
const program = `
import { createExecutor } from ${JSON.stringify(join(source, 'executor/executor.ts'))}
import { defaultLimits } from ${JSON.stringify(join(source, 'language/language.ts'))}
const reasons = []
try {
  const executor = await createExecutor({ slots: 1, firstUid: ${firstUid}, limits: defaultLimits, languages: ['python', 'cpp', 'java'], proves: false, cacheBytes: 0, accelerators: ['fork-server'],
    cacheDirectory: process.argv[1], onFallback: (reason) => reasons.push(reason) })
  const code = Buffer.from('print("hello")')
  const { run } = await executor.execute({ language: 'python', code, stdin: Buffer.alloc(0), cacheScope: 'test' })
  console.log(JSON.stringify({ box: executor.isolation.box, stdout: Buffer.from(run.stdout).toString(), reasons }))
  await executor.close()
} catch (error) { console.log(JSON.stringify({ step: error.step, message: error.message, reasons })) }
`

function openAfter(t: Test, setUp: string): unknown {
  const script = `${setUp}\nexec "$@"`
  const node = [process.execPath, '--input-type=module', '-e', program, makeDirectory(t)]
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '/bin/sh', '-ec', script, 'sh', ...node],
    { encoding: 'utf8' },
  )
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const needsRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }

/** A shell command that hides what `make keeper` has built. */
const unbuilt = existsSync(builtDirectory) ? `mount -t tmpfs none ${builtDirectory}\n` : ''

t.test('without a C compiler', needsRoot, (t) => {
  const hide = 'mount --bind /dev/null /usr/bin/gcc'
  t.match(openAfter(t, unbuilt + hide), {
    step: 'keeper.compile',
    message: /make keeper/,
    reasons: [],
  })
  t.end()
})

t.test("without the C library's headers", needsRoot, (t) => {
  const hide = 'mount -t tmpfs none /usr/include'
  t.match(openAfter(t, unbuilt + hide), { step: 'keeper.compile', message: /No such file/ })
  t.end()
})

t.test('a library that does not make the interpreter a keeper', async (t) => {
  const directory = makeDirectory(t)
  mkdirSync(`${directory}/keeper`, { mode: 0o700 })
  const { forkLibrary } = await buildKeeper(`${directory}/keeper`)
  renameSync(forkLibrary, `${forkLibrary}.kept`)
  writeFileSync(forkLibrary, 'no library')
  const reasons: string[] = []
  const executor = await startExecutor(t, {
    slots: 2,
    cacheDirectory: directory,
    onFallback: (reason) => reasons.push(reason),
  })
  t.equal(executor.isolation.box, 'keeper', 'programs are still started by keepers')
  t.match(reasons, [/^no resident Python: keeper\.start: /])
  t.match(await run(executor, 'python', hello.python), { stdout: 'hello\n', exitCode: 0 })

  // Long enough for a second attempt to start the interpreter, if there were one.
  renameSync(`${forkLibrary}.kept`, forkLibrary)
  await delay(12_000 * timeFactor)
  for (let round = 0; round < 2; round += 1)
    t.match(await run(executor, 'python', isForked), { stdout: 'False\n' }, 'given up for good')
})
