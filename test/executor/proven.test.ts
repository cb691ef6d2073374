// A language is offered when a program of it has run as it should, and no longer than its files are the same.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Language } from '#language'
import { proveLanguages } from '../../src/executor/proven.ts'
import type { ProofOptions, ProvenLanguages } from '../../src/executor/proven.ts'
import type { Toolchain } from '../../src/executor/toolchain/toolchain.ts'

interface Bench {
  readonly directory: string
  readonly toolchain: (name: string, version?: string) => Toolchain
  readonly tried: string[]
  readonly refused: string[]
  prove(
    languages: Partial<Record<Language, Toolchain>>,
    options?: Partial<ProofOptions>,
  ): ProvenLanguages
}

function open(t: Test): Bench {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-proven-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'trial'))
  const tried: string[] = []
  const refused: string[] = []
  const toolchain = (name: string, version = '1'): Toolchain => {
    const file = join(directory, name)
    if (!existsSync(file)) writeFileSync(file, '')
    return {
      version,
      location: file,
      compiler: null,
      commandLine: [name],
      paths: [],
      files: [file],
      warmPaths: [],
      run: () => ({ argv: [name], files: [], unlimitedStack: false }),
      ranOutOfMemory: () => false,
      accelerators: [],
    }
  }
  return {
    directory,
    toolchain,
    tried,
    refused,
    prove: (languages, options = {}) =>
      proveLanguages({
        toolchains: new Map(Object.entries(languages)) as ReadonlyMap<Language, Toolchain>,
        directory: join(directory, 'trial'),
        circumstances: 'here',
        tryOut: async (language) => void tried.push(language),
        lookAgain: async () => null,
        signal: new AbortController().signal,
        onChange: () => {},
        onRefused: (language, reason) => refused.push(`${language}: ${reason}`),
        ...options,
      }),
  }
}

t.test('a language whose trial ends badly is not offered, and the reason is told', async (t) => {
  const { prove, toolchain, refused } = open(t)
  const proven = prove(
    { lua: toolchain('lua'), go: toolchain('go') },
    {
      tryOut: async (language) => {
        if (language === 'go') throw new Error('it prints nonsense')
      },
    },
  )
  t.notOk(proven.has('lua'), 'nothing is offered before its trial')
  t.ok(proven.awaits('lua') && proven.awaits('go'))
  await proven.settled
  t.notOk(proven.awaits('lua') || proven.awaits('go'))
  t.ok(proven.has('lua'))
  t.notOk(proven.has('go'))
  t.strictSame(refused, ['go: it prints nonsense'])
  t.ok(await proven.any)
})

t.test('a worker of which no language passes is told so', async (t) => {
  const { prove, toolchain } = open(t)
  const proven = prove({ lua: toolchain('lua') }, { tryOut: () => Promise.reject(new Error('no')) })
  t.notOk(await proven.any)
})

t.test(
  'what has passed is offered at once by the next worker, unless something is another',
  async (t) => {
    const { prove, toolchain, tried, directory } = open(t)
    await prove({ lua: toolchain('lua') }).settled
    t.ok(prove({ lua: toolchain('lua') }).has('lua'))
    t.strictSame(tried, ['lua'])
    t.equal(readdirSync(join(directory, 'trial')).length, 1)
    t.notOk(prove({ lua: toolchain('lua', '2') }).has('lua'), 'another version')
    t.notOk(prove({ lua: toolchain('lua') }, { circumstances: 'there' }).has('lua'), 'another box')
    writeFileSync(join(directory, 'lua'), 'other')
    t.notOk(prove({ lua: toolchain('lua') }).has('lua'), 'another file')
  },
)

t.test('a language whose file is replaced is looked at and tried anew', async (t) => {
  const { prove, toolchain, tried, directory } = open(t)
  const changes: number[] = []
  const proven = prove(
    { lua: toolchain('lua') },
    {
      lookAgain: async () => toolchain('lua', '2'),
      onChange: () => void changes.push(changes.length),
    },
  )
  await proven.settled
  t.ok(proven.isUnchanged('lua'))
  writeFileSync(join(directory, 'lua'), 'other')
  t.notOk(proven.isUnchanged('lua'))
  proven.doubt('lua')
  t.notOk(proven.has('lua'), 'it is not offered meanwhile')
  await proven.settled
  t.ok(proven.has('lua'))
  t.ok(proven.isUnchanged('lua'))
  t.strictSame(tried, ['lua', 'lua'])
  t.equal(changes.length, 3)
})

t.test('one that is gone when it is looked at anew is refused, and waits no more', async (t) => {
  const { prove, toolchain, refused } = open(t)
  let changes = 0
  const proven = prove({ lua: toolchain('lua') }, { onChange: () => void (changes += 1) })
  await proven.settled
  proven.doubt('lua')
  t.ok(proven.awaits('lua'))
  await proven.settled
  t.notOk(proven.awaits('lua') || proven.has('lua'))
  t.match(refused, [/^lua: .*not there/])
  t.equal(changes, 3)
})

t.test('one that is replaced during its trial is not offered', async (t) => {
  const { prove, toolchain, directory, refused } = open(t)
  const proven = prove(
    { lua: toolchain('lua') },
    { tryOut: async () => writeFileSync(join(directory, 'lua'), 'other') },
  )
  await proven.settled
  t.notOk(proven.has('lua'))
  t.match(refused, [/replaced/])
})
