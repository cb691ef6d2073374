// Submits every mistake of every field, alone and together with those of other fields. One answer names exactly these.
import * as fc from 'fast-check'
import t from 'tap'
import { seed } from '../helper/seed.ts'
import { startFreshServer } from '../helper/server.ts'

const { call } = await startFreshServer(t)

/** A value of a field, and the paths of the issues that it causes. A valid value has no paths. */
type Choice = readonly [value: unknown, ...paths: string[]]

const absent = undefined
const digest = '0123456789abcdef'.repeat(4)
const list = (length: number, one: (index: number) => unknown): unknown[] =>
  Array.from({ length }, (_, index) => one(index))
const named = (name: unknown, more: object = {}): unknown[] => [{ name, content: '', ...more }]

/** Names that both `files` and `output_files` refuse. */
const badNames = ['', '.', '/a', '../a', 'a/..', 'a/../b', './a', 'a\n', 'a//b', 'a/', 'a\\b', 'a b', 'a\0', 'é', 'e\u0301', 'ａ', '%2e', 'a/'.repeat(8) + 'a', 'a'.repeat(256), 7, null, {}] // prettier-ignore

const noDigest = ['', digest.slice(1), `${digest}0`, digest.toUpperCase(), `${digest.slice(1)}g`, 7, null, [digest]] // prettier-ignore

const fields: Readonly<Record<string, readonly Choice[]>> = {
  language: [['cpp'], [absent, 'language'], ['latin', 'language'], [7, 'language'], [null, 'language']],
  code: [[''], [absent, 'code'], [7, 'code'], ['\ud800', 'code'], ['x'.repeat(65_537), 'code']],
  stdin: [[absent], ['x'], [7, 'stdin'], ['x'.repeat(65_537), 'stdin'], [null, 'stdin']],
  expected_stdout_sha256: [
    [absent],
    ...noDigest.map((value): Choice => [value, 'expected_stdout_sha256']),
  ],
  priority: [
    [absent],
    ['low'],
    ['normal'],
    ...['high', 'LOW', '', 0, null, ['low']].map((value): Choice => [value, 'priority']),
  ],
  output_files: [
    [absent],
    [[]],
    [['a', 'b/c', '.d', 'e-f_g.h']],
    [list(16, (n) => `f${n}`)],
    ...badNames.map((name): Choice => [['z', name], 'output_files.1']),
    ...['a', null, {}].map((value): Choice => [value, 'output_files']),
    [list(17, (n) => `f${n}`), 'output_files'],
    [['a', 'a'], 'output_files.1'],
    [['a', 'b', 'A'], 'output_files.2'],
    [['a', 'a/b'], 'output_files.1'],
    [['A/b', 'a'], 'output_files.1'],
    [['a', '..', 'a'], 'output_files.1'],
  ],
  files: [
    [absent],
    [named('in.txt')],
    ...badNames.map((name): Choice => [named(name), 'files.0.name']),
    [named('x', { mode: 7, owner: 7 }), 'files.0.mode', 'files.0.owner'],
    [[...named('x', { mode: 7 }), ...named('X')], 'files.0.mode', 'files.1.name'],
    [named('x', { content: 7 }), 'files.0.content'],
    [[...named('x'), ...named('X')], 'files.1.name'],
    [list(65, (n) => ({ name: `f${n}`, content: '' })), 'files'],
  ],
  args: [[absent], [['a']], ['a', 'args'], [[1, '\0', 'a'], 'args.0', 'args.1'], [list(65, () => ''), 'args']],
  env: [
    [absent],
    [{ NAME: 'value', _x1: '', NODE_ENV: 'test', ENV: 'é', [`N${'x'.repeat(16_000)}`]: 'x'.repeat(354) }],
    [Object.fromEntries(list(64, (n) => [`N${n}`, '']) as [string, string][])],
    [Object.fromEntries(list(65, (n) => [`N${n}`, '']) as [string, string][]), 'env'],
    [{ A: 'é'.repeat(8192) }, 'env'],
    ...['', '1A', 'a b', 'a=b', 'a-b', 'é', 'a\0', 'PATH', 'HOME', 'LD_PRELOAD', 'LD_X', 'PYTHONPATH', 'NODE_OPTIONS',
      'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'PERL5OPT', 'RUBYOPT', 'GCONV_PATH', 'LOCPATH',
      'MALLOC_CHECK_', 'GLIBC_TUNABLES', 'BASH_ENV', 'IFS', 'TMPDIR', 'USER', 'LANG', 'GODEBUG', 'DOTNET_STARTUP_HOOKS', 'MONO_PATH',
      'LUA_INIT', 'PHPRC', 'R_PROFILE', 'GHCRTS', 'ERL_FLAGS'].map((name): Choice => [{ [name]: 'x' }, `env.${name}`]),
    [{ A: 'a\0', B: 7, C: '\ud800', D: null, PATH: '' }, 'env.A', 'env.B', 'env.C', 'env.D', 'env.PATH'],
    ...[[], ['A=b'], 'A=b', 7, null, { constructor: 'x' }].map((value): Choice => [value, 'env']),
  ],
  limits: [
    [absent],
    [{ cpu_time: 1 }],
    [{ cpu_time: 0 }, 'limits.cpu_time'],
    [{ cpu: 1, wall_time: -1 }, 'limits.cpu', 'limits.wall_time'],
    [{ cpu: 1, gpu: 1 }, 'limits.cpu', 'limits.gpu'],
    [null, 'limits'],
  ],
  tag: [[absent], ['a'], ['', 'tag'], ['é'.repeat(65), 'tag'], [7, 'tag']],
  network: [[absent], ['none'], ['loopback'], ['host', 'network'], [null, 'network']],
  merge_stderr: [[absent], [true], [false], ['true', 'merge_stderr'], [null, 'merge_stderr']],
  output_encoding: [[absent], ['base64'], ['hex', 'output_encoding'], [null, 'output_encoding']],
  checker: [
    [absent],
    [7, 'checker'],
    [null, 'checker'],
    [{ type: 'program', language: 'c', code: 7, mode: 7, owner: 7 }, 'checker.code', 'checker.mode', 'checker.owner'],
  ],
  outputfiles: [[absent], [[], 'outputfiles']],
  prototype: [[absent], [7, 'prototype']],
} // prettier-ignore

const names = Object.keys(fields)
const good = names.map((name) => fields[name]![0]!)

/** Submits these choices, one for each field. @returns the status and the paths of the issues. */
async function submit(choices: readonly Choice[]): Promise<{ status: number; paths: string[] }> {
  const body = Object.fromEntries(names.map((name, index) => [name, choices[index]?.[0]]))
  const answer = await call('POST', '/api/submit', { body })
  const issues = (answer.body.issues ?? []) as readonly { readonly path: string }[]
  return { status: answer.status, paths: issues.map(({ path }) => path).toSorted() }
}

const expectedOf = (choices: readonly Choice[]): { status: number; paths: string[] } => {
  const paths = choices.flatMap(([, ...found]) => found).toSorted()
  return { status: paths.length === 0 ? 202 : 400, paths }
}

t.test('each alone', async (t) => {
  for (const [index, name] of names.entries()) {
    for (const choice of fields[name]!) {
      const choices = good.with(index, choice)
      t.strictSame(await submit(choices), expectedOf(choices), `${name} ${JSON.stringify(choice)}`.slice(0, 200))
    }
  }
}) // prettier-ignore

t.test('any of them together', async (t) => {
  const some = fc.tuple(...names.map((name) => fc.constantFrom(...fields[name]!)))
  await fc.assert(
    fc.asyncProperty(some, async (choices) => {
      const [found, expected] = [await submit(choices), expectedOf(choices)].map((one) => JSON.stringify(one))
      if (found !== expected) throw new Error(`${found} in place of ${expected}`)
    }),
    { numRuns: 300, seed },
  )
  t.pass('all are named')
}) // prettier-ignore
