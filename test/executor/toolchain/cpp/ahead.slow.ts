// GCC that was up before its source: one compiles one program, and what becomes of that is what plain g++ makes of it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { ExecutionRequest, Executor } from '#executor'
import { findWorkerGroups } from '../../../helper/control-group.ts'
import { execute, firstUid, scaleLimits, startExecutor } from '../../../helper/executor.ts'
import type { TextOutcome } from '../../../helper/executor.ts'
import { findOne, findWaiting } from '../../box/keeper/ahead/compare.ts'

const mebibyte = 1024 * 1024
const limits = scaleLimits(
  {},
  {
    cpuSeconds: 6,
    wallSeconds: 120,
    memoryBytes: 1024 * mebibyte,
    stdoutBytes: 8 * mebibyte,
    diskBytes: 64 * mebibyte,
  },
)
const options = { slots: 1, box: 'keeper', languages: ['cpp'], cacheBytes: 0, limits } as const
const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
// Programs' users must get to the headers in it.
chmodSync(directory, 0o711)
t.teardown(() => rmSync(directory, { recursive: true }))
const ready = await startExecutor(t, {
  ...options,
  cacheDirectory: join(directory, 'cache'),
  accelerators: ['preparation', 'ahead-start'],
})
const alone = await startExecutor(t, { ...options, firstUid: firstUid + 4, accelerators: [] })
const compiler = /^cc1plus$/

const compile = (
  executor: Executor,
  code: string,
  more: Partial<ExecutionRequest> = {},
): Promise<TextOutcome> => execute(executor, 'cpp', code, '', undefined, undefined, more)

const hello = (header = 'iostream'): string =>
  `#include <${header}>\nint main() { std::cout << "hello\\n"; }`

/** What a user sees; the assembler's input has a name of its own each time. */
function describe({ compile: compiled, run }: TextOutcome): unknown {
  return {
    ending: compiled?.ending,
    exitCode: compiled?.exitCode,
    messages: compiled?.stderr.replaceAll(/\/tmp\/cc\w{6}/g, '/tmp/cc'),
    stdout: run?.stdout,
    exit: run?.exitCode,
  }
}

/** Until then the headers are being made; of all these the first two are enough here. */
async function awaitHeaders(): Promise<void> {
  const plain = await compile(alone, hello())
  const isQuick = async (): Promise<boolean> =>
    (await compile(ready, hello())).compile!.usage.cpuSeconds < plain.compile!.usage.cpuSeconds / 2
  while (!(await isQuick())) await delay(100)
}

t.test('it was up before its source, and serves one', async (t) => {
  await awaitHeaders()
  for (const header of ['iostream', 'bits/stdc++.h']) {
    const waiting = await findOne(compiler)
    await delay(1000)
    const outcome = await compile(ready, hello(header))
    t.equal(outcome.run?.stdout, 'hello\n')
    t.notOk(findWaiting(compiler).includes(waiting), header)
    const plain = await compile(alone, hello(header))
    t.ok(outcome.compile!.usage.cpuSeconds < plain.compile!.usage.cpuSeconds / 2, header)
  }
})

const programs: Readonly<Record<string, string>> = {
  'with nothing to be said': hello(),
  'with another header first': hello().replace('#', '#include <vector>\n#'),
  'with a header that is not precompiled': hello('iostream>\n#include <random'),
  'that uses what is made in its header': '#include <bits/stdc++.h>\nint main() { std::cout << std::filesystem::path("a/b").filename(); }', // prettier-ignore
  'with a warning': `${hello()}\n#warning careful`,
  'with an error': `${hello()} here`,
  'that names itself': '#include <iostream>\nint main() { std::cout << __FILE__ << __LINE__ << __BASE_FILE__ << __INCLUDE_LEVEL__; }', // prettier-ignore
  'that includes itself': '#include <iostream>\n#ifndef AGAIN\n#define AGAIN\n#include "main.cpp"\nint main() { std::cout << 1; }\n#endif', // prettier-ignore
  'without main': '#include <iostream>\n',
  'whose assembler complains': `${hello()}\nasm("nonsense");`,
  'whose object is too large': `${hello()}\nasm(".data\\n.space 100000000, 1");`,
  'whose compilation does not end': `#include <iostream>
constexpr bool slow(long n) { for (long i = 0; i < 10000; ++i) n += i; return n != 1; }
${Array.from({ length: 20_000 }, (_, n) => `static_assert(slow(${n}));`).join('\n')}
int main() {}`,
}
for (const [what, code] of Object.entries(programs))
  t.test(`a program ${what}: as by plain g++`, async (t) => {
    await findOne(compiler)
    await delay(300)
    t.strictSame(describe(await compile(ready, code)), describe(await compile(alone, code)))
  })

t.test('the program’s files, and its words, are seen as by plain g++', async (t) => {
  const code = '#include <iostream>\n#include "own.h"\nint main() { std::cout << own; }'
  const own = { name: 'own.h', content: Buffer.from('int own = 5;') }
  const others: Partial<ExecutionRequest>[] = [
    { files: [own] },
    { files: [own, { name: 'main.cpp.gch', content: Buffer.from('no header') }] },
    { files: [own, { name: 'iostream', content: Buffer.from('#error not this') }] },
    { files: [own, { name: 'more.cpp', content: Buffer.from('int more;') }] },
    { files: [own], compileArguments: ['-DX'] },
  ]
  for (const more of others) {
    await findOne(compiler)
    t.strictSame(describe(await compile(ready, code, more)), describe(await compile(alone, code, more))) // prettier-ignore
  }
})

t.test('one that is killed while it waits is replaced, and no program hears of it', async (t) => {
  const waiting = await findOne(compiler)
  process.kill(waiting, 'SIGKILL')
  t.equal((await compile(ready, hello())).run?.stdout, 'hello\n')
  while (findWaiting(compiler).includes(waiting)) await delay(20)
  t.equal((await compile(ready, hello())).run?.stdout, 'hello\n')
})

t.test('nothing of those that wait is left behind', async (t) => {
  await findOne(compiler)
  await Promise.all([ready, alone].map((executor) => executor.close()))
  t.same(findWaiting(/^(.*cc1plus|driver|as|g\+\+)$/), [])
  t.same(findWorkerGroups(process.pid), [])
})
